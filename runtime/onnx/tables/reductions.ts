// ONNX's operators over whole axes: sums, extremes, norms, places.

import { isFloat } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Definition, type Table, axisOf, range, reading } from "./definition.js";
import { T, cast, composite, create, linalg, scalar, turned } from "./library.js";
import { number, numbers } from "../values.js";

interface Reduction {
  readonly over: (x: Tensor, axes: number[], keep: boolean) => Tensor;
  /** What is done to elements before, and to results after; axes that are none leave both. */
  readonly before?: (x: Tensor) => Tensor;
  readonly after?: (x: Tensor) => Tensor;
  /** What nothing amounts to; null: `over` knows it. */
  readonly empty?: (x: Tensor) => number;
}

const LEAST: Readonly<Record<string, readonly [number, number]>> = {
  int64: [-(2 ** 31), 2 ** 31 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int16: [-32768, 32767],
  int8: [-128, 127],
  uint32: [0, 2 ** 32 - 1],
  uint16: [0, 65535],
  uint8: [0, 255],
  bool: [0, 1],
};
const lowest = ({ dtype }: Tensor): number => (isFloat(dtype) ? -Infinity : LEAST[dtype]![0]),
  highest = ({ dtype }: Tensor): number => (isFloat(dtype) ? Infinity : LEAST[dtype]![1]);

/** Elements of truth values are compared as bytes. */
const compared =
  (f: (x: Tensor, axes: number[], keep: boolean) => Tensor) =>
  (x: Tensor, axes: number[], keep: boolean): Tensor =>
    x.dtype === "bool" ? cast(f(cast(x, "uint8"), axes, keep), "bool") : f(x, axes, keep);
/** The type of the elements stays, where PyTorch's sums are wider. */
const sum = (x: Tensor, axes: number[], keep: boolean): Tensor => cast(T.sum(x, axes, keep) as Tensor, x.dtype);
/** One axis after the other, the last first. */
const product = (x: Tensor, axes: number[], keep: boolean): Tensor =>
  [...axes].sort((a, b) => b - a).reduce<Tensor>((y, axis) => cast(T.prod(y, axis, keep) as Tensor, x.dtype), x);
const mean = (x: Tensor, axes: number[], keep: boolean): Tensor =>
  isFloat(x.dtype)
    ? (T.mean(x, axes, keep) as Tensor)
    : cast(
        T.div(
          sum(x, axes, keep),
          axes.reduce((n, axis) => n * x.shape[axis]!, 1),
          { rounding_mode: "trunc" },
        ) as Tensor,
        x.dtype,
      );

/** The slope of no length is 0, as PyTorch's. */
const length = (x: Tensor, axes: number[], keep: boolean): Tensor => {
  const norm = linalg.vector_norm(isFloat(x.dtype) ? x : cast(x, "float32"), 2, axes, keep) as Tensor;
  return cast(norm, x.dtype);
};

/** The axes that are reduced: an attribute in old versions, an input in new ones; none means all, or none at all. */
function axesOf(x: Tensor, given: Tensor | null, attributes: Record<string, unknown>, op: string): number[] {
  const axes = given ? numbers(given, op) : ((attributes["axes"] ?? []) as number[]);
  if (axes.length > 0) return axes.map((axis) => axisOf(axis, x.ndim));
  return attributes["noop_with_empty_axes"] ? [] : range(x.ndim);
}

const reduced = ({ over, before, after, empty }: Reduction): Definition =>
  reading([1], ([x, given], attributes, { op }) => {
    const axes = axesOf(x, given, attributes, op),
      keep = (attributes.keepdims ?? 1) !== 0,
      elements = before ? before(x) : x;
    let y: Tensor;
    if (axes.length === 0) y = elements;
    else if (empty && axes.some((axis) => x.shape[axis] === 0)) {
      const kept = x.shape.map((n: number, i: number) => (axes.includes(i) ? 1 : n));
      y = create.full(keep ? kept : kept.filter((_: number, i: number) => !axes.includes(i)), empty(x), {
        dtype: x.dtype,
        device: x.device,
      });
    } else y = over(elements, axes, keep);
    return after ? after(y) : y;
  });

const squares = (x: Tensor): Tensor => T.mul(x, x) as Tensor;

/** The place of the largest or smallest element; of equal ones the first, or the last. */
const place =
  (f: (x: Tensor, axis: number, keep: boolean) => Tensor): Compute =>
  ([x], { axis = 0, keepdims = 1, select_last_index = 0 }) => {
    const along = axisOf(axis, x.ndim),
      found = f(select_last_index ? turned(x, [along]) : x, along, keepdims !== 0),
      at = select_last_index ? T.sub(x.shape[along] - 1, found) : found;
    return cast(at as Tensor, "int64");
  };

export const REDUCTIONS: Table = {
  ReduceSum: reduced({ over: sum, empty: () => 0 }),
  ReduceMean: reduced({ over: mean }),
  ReduceProd: reduced({ over: product }),
  ReduceMax: reduced({ over: compared(T.amax), empty: lowest }),
  ReduceMin: reduced({ over: compared(T.amin), empty: highest }),
  ReduceL1: reduced({ over: sum, before: T.abs }),
  ReduceL2: reduced({ over: length, before: T.abs }),
  ReduceSumSquare: reduced({ over: sum, before: squares }),
  ReduceLogSum: reduced({ over: sum, after: T.log }),
  ReduceLogSumExp: reading([1], (inputs, attributes, context) => {
    const [x, given] = inputs,
      axes = axesOf(x, given, attributes, context.op);
    if (axes.length === 0) return x;
    if (axes.some((axis) => x.shape[axis] === 0)) return LOG_SUM_OF_NOTHING.compute(inputs, attributes, context);
    return T.logsumexp(x, axes, (attributes.keepdims ?? 1) !== 0);
  }),
  ArgMax: place(T.argmax),
  ArgMin: place(T.argmin),
  MeanVarianceNormalization: ([x], { axes = [0, 2, 3] }) => {
    const middle = T.mean(x, axes, true),
      spread = T.sqrt(T.sub(T.mean(squares(x), axes, true), squares(middle)));
    return T.div(T.sub(x, middle), T.add(spread, 1e-9));
  },
  LpNormalization: ([x], { axis = -1, p = 2 }) => {
    const norm = p === 1 ? T.sum(T.abs(x), [axis], true) : T.sqrt(T.sum(squares(x), [axis], true));
    return T.div(x, T.where(T.eq(norm, 0), scalar(1, norm), norm));
  },
  TopK: reading([1], ([x, k], attributes, { op }) => {
    const { axis = -1, largest = 1, sorted = 1 } = attributes,
      n = k ? number(k, op) : attributes.k,
      { values, indices } = T.topk(x, n, axis, largest !== 0, sorted !== 0);
    return [values, cast(indices, "int64")];
  }),
  Einsum: (inputs, { equation }) => composite.einsum(equation.replaceAll(" ", ""), inputs),
};
const LOG_SUM_OF_NOTHING = reduced({ over: sum, empty: () => -Infinity });
