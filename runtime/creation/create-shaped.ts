// Less common new tensors: with strides of one's own, the places of triangles, curves from one number to another, and
// random tensors of a given mean.

import { emptyOn } from "../tensor/allocate.js";
import { cast } from "../tensor/copy.js";
import { type Options, type RandomOptions, checkRoom, fromElements, full, making, tensor, zeros } from "./create.js";
import { randn, randomWhole, spanned } from "./random-tensors.js";
import { toDevice } from "../devices/device.js";
import { isFloat, newElements, toDType } from "../elements/dtype.js";
import { OpError } from "../base/errors.js";
import { isOptions } from "../base/named-arguments.js";
import { count, number, refuse, integer } from "../base/argument-kinds.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { broadcastShapes, checkShape, extent, integers, numelOf, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { as_strided } from "../views/views.js";
import { run } from "../dispatch/call.js";
import { add, mul } from "../../names/torch.js";
import { normal_spreadOp } from "../../ops/random.js";

const isTensor = (value: unknown): value is Tensor => value instanceof Tensor;

/**
 * A tensor with undefined elements, of this shape and these strides.
 *
 * @example
 * torch.empty_strided([2, 3], [1, 2]).stride()  // [1, 2]
 */
export function empty_strided(size: readonly number[], stride: readonly number[], options?: Options): Tensor;
export function empty_strided(options: Options & { size: readonly number[]; stride: readonly number[] }): Tensor;
export function empty_strided(...args: unknown[]): Tensor {
  return stridedOf("empty_strided", args);
}
/** The same for `op`, which was called. */
export function stridedOf(op: string, args: readonly unknown[]): Tensor {
  const { values, options } = making(`${op} size stride`, args);
  const size = integers([values[0]], op),
    stride = integers([values[1]], op, "stride");
  checkShape(size, op);
  if (size.length !== stride.length)
    throw new OpError(
      `${op}: dimensionality of sizes (${size.length}) must match dimensionality of strides (${stride.length})`,
    );
  if (stride.some((n) => n < 0))
    throw new OpError(`${op}: negative strides are not supported, got ${showShape(stride)}`);
  const base = zeros([numelOf(size) === 0 ? 0 : extent(size, stride)], options as Options);
  return as_strided(base, size, stride, 0);
}

/**
 * A tensor with undefined elements whose axes lie in memory in the order that `physical_layout` gives, outermost first.
 *
 * @example
 * torch.empty_permuted([2, 3, 4], [0, 2, 1]).stride()  // [12, 1, 3]
 */
export function empty_permuted(size: readonly number[], physical_layout: readonly number[], options?: Options): Tensor;
export function empty_permuted(
  options: Options & { size: readonly number[]; physical_layout: readonly number[] },
): Tensor;
export function empty_permuted(...args: unknown[]): Tensor {
  const op = "empty_permuted",
    { values, options } = making(`${op} size physical_layout`, args);
  const size = integers([values[0]], op),
    physical_layout = integers([values[1]], op, "physical_layout");
  checkShape(size, op);
  if (size.length !== physical_layout.length) {
    throw new OpError(
      `empty_permuted: Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ${size.length} is not equal to len(physical_layout) = ${physical_layout.length}`,
    );
  }
  const stride = new Array<number>(size.length).fill(0),
    seen = new Set<number>();
  let step = 1;
  for (const d of [...physical_layout].reverse()) {
    if (!(d >= 0 && d < size.length))
      throw new OpError(
        `empty_permuted: Dimension out of range (expected to be between 0 and ${size.length - 1}, but got ${d} at index ${physical_layout.indexOf(d)}).  NB: negative dims not currently supported; file an issue if you want it.`,
      );
    if (seen.has(d)) throw new OpError(`empty_permuted: Duplicate dim not allowed`);
    seen.add(d);
    stride[d] = step;
    step *= Math.max(size[d]!, 1);
  }
  return empty_strided(size, stride, options);
}

/**
 * A tensor without axes.
 *
 * @example
 * torch.scalar_tensor(3.5).shape  // []
 */
export function scalar_tensor(value: number | boolean, options?: Options): Tensor;
export function scalar_tensor(...args: unknown[]): Tensor {
  const {
    values: [value],
    options,
  } = making("scalar_tensor s", args);
  return full([], number(value, "scalar_tensor", "s"), { dtype: "float32", ...options });
}

function triangle(op: string, args: readonly unknown[], lower: boolean): Tensor {
  const { values, options } = making(`${op} row col offset?`, args);
  const row = count(values[0], op, "row"),
    col = count(values[1], op, "col"),
    offset = integer(values[2] ?? 0, op, "offset");
  // Rows grow, or shrink, by one: how many places there are needs no loop over them.
  const n = lengths(row, col, lower ? offset + 1 : col - offset, lower ? 1 : -1);
  const dtype = options.dtype ? toDType(options.dtype, op) : "int64";
  checkRoom([2, n], dtype, options, op);
  // Of int64 the lower halves are written, for there is none that is negative: BigInts would take ten times as long.
  const wide = newElements(dtype === "int32" ? dtype : "int64", 2 * n, op),
    places = dtype === "int32" ? wide : new Int32Array(wide.buffer, wide.byteOffset, 4 * n),
    step = places.length / (2 * n);
  for (let i = lower ? Math.max(-offset, 0) : 0, at = 0; at < n; i++) {
    const from = lower ? 0 : Math.max(i + offset, 0),
      length = (lower ? Math.min(i + offset + 1, col) : col) - from;
    for (let j = 0; j < length; j++, at++) {
      places[step * at] = i;
      places[step * (n + at)] = from + j;
    }
  }
  return dtype === "int32" || dtype === "int64"
    ? fromElements(wide, dtype, [2, n], options, op)
    : tensor(wide, { ...options, dtype, shape: [2, n] });
}

/** The sum of `start + i * step`, kept between 0 and `most`, over the i from 0 up to `rows`; `step` is 1 or -1. */
function lengths(rows: number, most: number, start: number, step: 1 | -1): number {
  // Backwards, a falling row is a rising one.
  const low = step === 1 ? start : start - (rows - 1),
    skipped = Math.min(Math.max(-low, 0), rows),
    rising = Math.max(Math.min(rows, most - low) - skipped, 0);
  const begin = low + skipped;
  return rising * begin + (rising * (rising - 1)) / 2 + Math.max(rows - skipped - rising, 0) * most;
}

type Triangle =
  | [row: number, col: number, offset?: number | Options, options?: Options]
  | [options: Options & { row: number; col: number; offset?: number }];
/**
 * The rows and columns of the elements on and below a diagonal of a `row` by `col` matrix.
 *
 * @example
 * torch.tril_indices(2, 3)  // [[0, 1, 1], [0, 0, 1]]
 */
export const tril_indices = (...args: Triangle): Tensor => triangle("tril_indices", args, true);

/**
 * The rows and columns of the elements on and above a diagonal of a `row` by `col` matrix.
 *
 * @example
 * torch.triu_indices(2, 3, 1)  // [[0, 0, 1], [1, 2, 2]]
 */
export const triu_indices = (...args: Triangle): Tensor => triangle("triu_indices", args, false);

/**
 * Whole numbers from `low` up to, but without, `high`, shaped like `input`.
 *
 * @param low integer, the least, default 0
 * @param high integer, below which they stay
 * @param dtype type of the result; null: that of `input`, default null
 *
 * @example
 * torch.manual_seed(0);
 * torch.randint_like(torch.zeros(5), 1, 7)  // [3, 6, 5, 4, 6]
 */
export function randint_like(
  ...args:
    | [input: Tensor, high: number, options?: RandomOptions]
    | [input: Tensor, low: number, high: number, options?: RandomOptions]
    | [input: Tensor, RandomOptions & { low?: number; high: number }]
    | [RandomOptions & { input: Tensor; low?: number; high: number }]
): Tensor {
  const [first, ...rest] = args,
    {
      values: [input, ...values],
      options,
    } = making("randint_like input low? high", isOptions(first) ? args : [first, ...spanned(rest, 1)]),
    x = tensorOf(input, "randint_like");
  const device = options.device ? toDevice(options.device, "randint_like") : x.storage.device;
  return randomWhole("randint_like", values, { dtype: x.dtype, ...options }, (dtype) =>
    emptyOn(device, x.shape, dtype, "randint_like"),
  );
}

/**
 * Normal numbers of this mean and standard deviation: numbers with a size, or tensors that broadcast.
 *
 * @param mean number, or float tensor with a mean for each element, default 0
 * @param std number not below 0, or tensor with a standard deviation for each element, default 1
 * @param size list of integers, the shape where both are numbers; tensors have their own, default null
 * @param generator generator that the numbers come from, in place of the package's own
 * @param dtype type of the result: a floating one
 * @param device where the result is made
 * @param requires_grad true or false: whether operations on the result are recorded for gradients
 * @example
 * torch.manual_seed(0);
 * torch.normal(100, 5, [3])  // [95.6209, 108.858, 92.2154]
 * @example
 * torch.normal(torch.tensor([1.5, 2.5]), 0)  // [1.5, 2.5]
 */
export function normal(...args: unknown[]): Tensor {
  const { values, options } = making("normal mean? std? size?", args),
    random = options as RandomOptions;
  const [mean, std] = [values[0] ?? 0, values[1] ?? 1].map((v, i) =>
    isTensor(v) ? v : number(v, "normal", i === 0 ? "mean" : "std"),
  ) as [Tensor | number, Tensor | number];
  if (typeof std === "number" && !(std >= 0))
    throw new OpError(`normal: normal expects std >= 0.0, but found std ${std}`);
  if (!isTensor(mean) && !isTensor(std)) {
    if (!Array.isArray(values[2])) refuse("normal", "size", "a list of whole numbers", values[2]);
    const drawn = add(mul(randn(values[2] as number[], { ...random, requires_grad: false }), std), mean) as Tensor;
    return random.requires_grad ? drawn.requires_grad_() : drawn;
  }
  for (const x of [mean, std]) if (isTensor(x)) x.check("normal");
  const shape = broadcastShapes(isTensor(mean) ? mean.shape : [], isTensor(std) ? std.shape : []),
    like = isTensor(mean) ? mean : (std as Tensor);
  if (!shape)
    throw new OpError(
      `normal: the shapes of mean ${showShape((mean as Tensor).shape)} and std ${showShape((std as Tensor).shape)} do not broadcast`,
    );
  const { generator = null } = random;
  const noise = randn(shape, { dtype: isFloat(like.dtype) ? like.dtype : "float32", device: like.device, generator });
  const drawn = add(isTensor(std) ? (run(normal_spreadOp, [noise, std]) as Tensor) : mul(noise, std), mean) as Tensor;
  return cast(drawn, noise.dtype, "normal");
}
