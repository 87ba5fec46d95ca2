// ONNX's operators of quantised numbers: whole numbers with a scale and a zero point.

import { OpError } from "../../base/errors.js";
import type { DType } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Table, axisOf, range } from "./definition.js";
import { T, cast, scalar, views } from "./library.js";
import { convolved } from "./networks.js";

type Maybe<X> = X | null | undefined;
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65535],
  int16: [-32768, 32767],
};
/** Types that are kept in wider ones, by ONNX's numbers. */
const NARROW: Readonly<Record<number, readonly [number, number]>> = {
  21: [0, 15],
  22: [-8, 7],
  25: [0, 3],
  26: [-2, 1],
};

/** A scale or zero point for one axis, or for blocks of it, as x's shape asks for. */
function spread(s: Tensor, x: Tensor, axis: number, block: number): Tensor {
  if (s.numel() === 1) return views.reshape(s, []);
  if (s.ndim === 1 && !block)
    return views.reshape(
      s,
      range(x.ndim).map((i) => (i === axis ? s.numel() : 1)),
    );
  if (!block) return s;
  const shape = [...s.shape],
    wide = views.expand(views.unsqueeze(s, axis + 1), [...shape.slice(0, axis + 1), block, ...shape.slice(axis + 1)]),
    long = views.reshape(wide, [...shape.slice(0, axis), shape[axis]! * block, ...shape.slice(axis + 1)]);
  return views.narrow(long, axis, 0, x.shape[axis]!);
}

/** Rounded and held in the range of the type. */
function quantised(x: Tensor, zero: Maybe<Tensor>, [least, most]: readonly [number, number], dtype: DType): Tensor {
  const rounded = T.round(x) as Tensor,
    moved = zero ? T.add(rounded, cast(zero, rounded.dtype)) : rounded;
  return cast(T.clamp(moved, least, most) as Tensor, dtype);
}
const rangeOf = (dtype: string, op: string): readonly [number, number] => {
  const found = RANGES[dtype];
  if (!found) throw new OpError(`${op}: numbers cannot be quantised to ${dtype} here`);
  return found;
};

/** Whole numbers less their zero point, as a type in which sums of their products are exact enough. */
const centred = (x: Tensor, zero: Maybe<Tensor>, dtype: string): Tensor =>
  zero ? (T.sub(cast(x, dtype), cast(zero, dtype)) as Tensor) : cast(x, dtype);
/** Where floats of 64 bits are there, products of whole numbers are summed in them. */
const exact = (device: string): string => (device === "cpu" ? "float64" : "float32");

/** A zero point or scale for each row of the matrix on the left, or each column of the right one. */
const ofRows = (s: Maybe<Tensor>): Maybe<Tensor> => (s && s.ndim === 1 && s.numel() > 1 ? views.unsqueeze(s, -1) : s);

/** For each output channel of a convolution's weights. */
const ofChannels = (s: Maybe<Tensor>, rank: number): Maybe<Tensor> =>
  s && s.ndim === 1 ? views.reshape(s, [-1, ...range(rank - 1).map(() => 1)]) : s;

export const QUANTISED: Table = {
  QuantizeLinear: ([x, scale, zero], { axis = 1, block_size = 0, output_dtype = 0, precision = 0 }, { op, dtype }) => {
    const along = axisOf(axis, x.ndim),
      kept = output_dtype ? dtype(output_dtype) : zero ? zero.dtype : "uint8",
      wide = precision ? dtype(precision) : x.dtype === "int32" ? "float32" : x.dtype,
      by = spread(scale, x, along, block_size),
      at = zero ? spread(zero, x, along, block_size) : null;
    return quantised(
      T.div(cast(x, wide), cast(by, wide)) as Tensor,
      at,
      NARROW[output_dtype] ?? rangeOf(kept, op),
      kept as DType,
    );
  },
  DequantizeLinear: ([x, scale, zero], { axis = 1, block_size = 0, output_dtype = 0 }, { dtype }) => {
    const along = axisOf(axis, x.ndim),
      by = spread(scale, x, along, block_size),
      wide = by.dtype === "float64" ? "float64" : "float32",
      values = centred(x, zero ? spread(zero, x, along, block_size) : null, wide);
    return cast(T.mul(values, cast(by, wide)) as Tensor, output_dtype ? dtype(output_dtype) : scale.dtype);
  },
  DynamicQuantizeLinear: ([x]) => {
    const most = T.clamp_min(T.amax(x, range(x.ndim)), 0),
      least = T.clamp_max(T.amin(x, range(x.ndim)), 0),
      step = T.div(T.sub(most, least), 255) as Tensor,
      scale = T.where(T.eq(step, 0), scalar(1, step), step) as Tensor,
      zero = cast(T.clamp(T.round(T.div(T.neg(least), scale)), 0, 255) as Tensor, "uint8");
    return [quantised(T.div(x, scale) as Tensor, zero, [0, 255], "uint8"), scale, zero];
  },
  MatMulInteger: ([a, b, aZero, bZero], _, { device }) => {
    const wide = exact(device);
    return cast(T.matmul(centred(a, ofRows(aZero), wide), centred(b, bZero, wide)) as Tensor, "int32");
  },
  QLinearMatMul: ([a, aScale, aZero, b, bScale, bZero, yScale, yZero], _, { op, device }) => {
    const wide = exact(device),
      sums = T.matmul(centred(a, ofRows(aZero), wide), centred(b, bZero, wide)) as Tensor,
      by = T.div(T.mul(cast(ofRows(aScale)!, wide), cast(bScale, wide)), cast(ofRows(yScale)!, wide));
    return quantised(T.mul(sums, by) as Tensor, ofRows(yZero), rangeOf(yZero.dtype, op), yZero.dtype);
  },
  ConvInteger: ([x, w, xZero, wZero], attributes, { device }) => {
    const wide = exact(device);
    return cast(
      convolved(centred(x, xZero, wide), centred(w, ofChannels(wZero, w.ndim), wide), null, attributes),
      "int32",
    );
  },
  QLinearConv: ([x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias], attributes, { op, device }) => {
    const wide = exact(device),
      sums = convolved(
        centred(x, xZero, wide),
        centred(w, ofChannels(wZero, w.ndim), wide),
        bias ? cast(bias, wide) : null,
        attributes,
      ),
      each = wScale.numel() > 1 ? views.reshape(wScale, [-1, ...range(x.ndim - 2).map(() => 1)]) : wScale,
      by = T.div(T.mul(cast(xScale, wide), cast(each, wide)), cast(yScale, wide));
    return quantised(T.mul(sums, by) as Tensor, yZero, rangeOf(yZero.dtype, op), yZero.dtype);
  },
};
