// ONNX's operators that take numbers one by one: arithmetic, comparisons, activations, casts.

import { OpError } from "../../base/errors.js";
import { isFloat } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Table, axisOf, like, range, reading } from "./definition.js";
import { F, T, cast, create, join, likeAnother, scalar, turned, views } from "./library.js";
import { typeName } from "../types.js";
import { bitsAs, number } from "../values.js";

const one =
  (f: (x: Tensor) => unknown): Compute =>
  ([x]) =>
    f(x);
const two =
  (f: (a: Tensor, b: Tensor) => unknown): Compute =>
  ([a, b]) =>
    f(a, b);
/** Of numbers of 32 bits without a sign, which few operators of the library know: in a type that holds them all. */
const wide =
  (f: (a: Tensor, b: Tensor) => Tensor, back: boolean): Compute =>
  ([a, b]) => {
    if (a.dtype !== "uint32" || a.device !== "cpu") return f(a, b);
    const y = f(cast(a, "float64"), cast(b, "float64"));
    return back ? cast(y, "uint32") : y;
  };
/** Of any number of tensors, two at a time. */
const many =
  (f: (a: Tensor, b: Tensor) => Tensor): Compute =>
  (inputs, ...more) =>
    (inputs as Tensor[]).reduce((a, b) => wide(f, true)([a, b], ...more) as Tensor);

/** Applied to rows: before version 13 every axis from `axis` on was one. */
const alongAxis =
  (f: (x: Tensor, axis: number) => Tensor): Compute =>
  ([x], { axis }, { version }) => {
    if (version >= 13) return f(x, axis ?? -1);
    const from = axisOf(axis ?? 1, x.ndim),
      rows = x.shape.slice(0, from).reduce((a: number, b: number) => a * b, 1);
    return views.reshape(f(views.reshape(x, [rows, -1]), 1), x.shape);
  };

const hardmax = (x: Tensor, axis: number): Tensor =>
  T.scatter(likeAnother.zeros_like(x), axis, T.argmax(x, axis, true), 1) as Tensor;

/** Numbers of four or two bits in bytes: what lies above them is cut off. */
function narrowed(x: Tensor, bits: number, signed: boolean): Tensor {
  const n = 2 ** bits,
    whole = cast(x, "int32"),
    low = T.bitwise_and(whole, n - 1) as Tensor;
  return cast(signed ? T.sub(low, T.mul(T.ge(low, n / 2), n)) : low, signed ? "int8" : "uint8");
}
const NARROW: Readonly<Record<number, readonly [bits: number, signed: boolean]>> = {
  21: [4, false],
  22: [4, true],
  25: [2, false],
  26: [2, true],
};

export const ARITHMETIC: Table = {
  Abs: one(T.abs),
  Acos: one(T.acos),
  Acosh: one(T.acosh),
  Asin: one(T.asin),
  Asinh: one(T.asinh),
  Atan: one(T.atan),
  Atanh: one(T.atanh),
  Ceil: one(T.ceil),
  Cos: one(T.cos),
  Cosh: one(T.cosh),
  Erf: one(T.erf),
  Exp: one(T.exp),
  Floor: one(T.floor),
  IsNaN: one(T.isnan),
  IsInf: ([x], { detect_negative = 1, detect_positive = 1 }) => {
    if (detect_negative && detect_positive) return T.isinf(x);
    if (detect_positive) return T.isposinf(x);
    return detect_negative ? T.isneginf(x) : T.logical_and(T.isinf(x), false);
  },
  Log: one(T.log),
  Neg: one(T.neg),
  Not: one(T.logical_not),
  Reciprocal: one(T.reciprocal),
  Round: one(T.round),
  Sign: one(T.sign),
  Sin: one(T.sin),
  Sinh: one(T.sinh),
  Sqrt: one(T.sqrt),
  Tan: one(T.tan),
  Tanh: one(T.tanh),
  BitwiseNot: one(T.bitwise_not),
  Identity: one((x) => (Array.isArray(x) ? [x] : x)),

  Add: two(T.add),
  Sub: two(T.sub),
  Mul: two(T.mul),
  Div: (inputs, ...more) =>
    isFloat(inputs[0].dtype)
      ? T.div(inputs[0], inputs[1])
      : wide((a, b) => T.div(a, b, { rounding_mode: "trunc" }), true)(inputs, ...more),
  Mod: (inputs, attributes, context) => wide(attributes.fmod ? T.fmod : T.remainder, true)(inputs, attributes, context),
  Pow: ([a, b]) => {
    const powers = T.pow(isFloat(b.dtype) && !isFloat(a.dtype) ? cast(a, b.dtype) : a, b) as Tensor;
    return cast(powers, a.dtype);
  },
  And: two(T.logical_and),
  Or: two(T.logical_or),
  Xor: two(T.logical_xor),
  Equal: two(T.eq),
  Greater: wide(T.gt, false),
  GreaterOrEqual: wide(T.ge, false),
  Less: wide(T.lt, false),
  LessOrEqual: wide(T.le, false),
  BitwiseAnd: two(T.bitwise_and),
  BitwiseOr: two(T.bitwise_or),
  BitwiseXor: two(T.bitwise_xor),
  BitShift: (inputs, attributes, context) => {
    const [a, b] = inputs as [Tensor, Tensor];
    if (attributes.direction === "LEFT")
      // what is shifted out of 32 bits is lost
      return cast(T.bitwise_left_shift(a.dtype === "int32" ? cast(a, "int64") : a, b) as Tensor, a.dtype);
    return a.dtype === "uint32"
      ? wide((x, n) => T.floor(T.div(x, T.exp2(n))) as Tensor, true)(inputs, attributes, context)
      : T.bitwise_right_shift(a, b);
  },
  Max: many(T.maximum),
  Min: many(T.minimum),
  Sum: many(T.add),
  Mean: (inputs) =>
    T.div(
      (inputs as Tensor[]).reduce((a, b) => T.add(a, b) as Tensor),
      inputs.length,
    ),
  Where: ([condition, a, b]) => T.where(condition, a, b),
  Clip: ([x, low, high], { min, max }) => {
    const least = low ?? (min === undefined ? null : scalar(min, x)),
      most = high ?? (max === undefined ? null : scalar(max, x)),
      raised = least ? T.maximum(x, least) : x;
    return most ? T.minimum(raised, most) : least ? raised : x;
  },

  Relu: one(T.relu),
  LeakyRelu: ([x], { alpha = 0.01 }) => F.leaky_relu(x, alpha),
  PRelu: two((x, slope) => T.where(T.lt(x, 0), T.mul(x, slope), x)),
  Elu: ([x], { alpha = 1 }) => F.elu(x, alpha),
  Celu: ([x], { alpha = 1 }) => F.celu(x, alpha),
  Selu: ([x], { alpha = 1.6732632423543772, gamma = 1.0507009873554805 }) => T.mul(F.elu(x, alpha), gamma),
  Gelu: ([x], { approximate = "none" }) => F.gelu(x, { approximate }),
  Mish: one(F.mish),
  Swish: ([x], { alpha = 1 }) => T.mul(x, T.sigmoid(alpha === 1 ? x : T.mul(x, alpha))),
  SwiGLU: ([a, b], { alpha = 1 }) => T.mul(T.mul(a, T.sigmoid(alpha === 1 ? a : T.mul(a, alpha))), b),
  Sigmoid: one(T.sigmoid),
  HardSigmoid: ([x], { alpha = 0.2, beta = 0.5 }) => T.clamp(T.add(T.mul(x, alpha), beta), 0, 1),
  HardSwish: one(F.hardswish),
  Softplus: one((x) => T.logaddexp(x, likeAnother.zeros_like(x))),
  Softsign: one(F.softsign),
  ThresholdedRelu: ([x], { alpha = 1 }) => T.where(T.gt(x, alpha), x, scalar(0, x)),
  Shrink: ([x], { lambd = 0.5, bias = 0 }) =>
    T.where(T.lt(x, -lambd), T.add(x, bias), T.where(T.gt(x, lambd), T.sub(x, bias), scalar(0, x))),
  Softmax: alongAxis(T.softmax),
  LogSoftmax: alongAxis(T.log_softmax),
  Hardmax: alongAxis(hardmax),

  Cast: ([x], { to }, { dtype }) => {
    const narrow = NARROW[to];
    return narrow ? narrowed(x, ...narrow) : cast(x, dtype(to));
  },
  BitCast: ([x], { to }, { op }) => bitsAs(x, typeName(to), op),
  CastLike: like(([x, other]) => cast(x, other.dtype)),

  Dropout: {
    ...reading([1, 2], ([x, ratio, training], attributes, { op, used, version }) => {
      const on = training ? number(training, op) !== 0 : version < 7,
        p = ratio ? number(ratio, op) : (attributes.ratio ?? 0.5),
        all = () => create.full(x.shape, 1, { dtype: "bool", device: x.device });
      if (!(p >= 0 && p < 1)) throw new OpError(`${op}: expected a ratio from 0 to below 1, got ${p}`);
      if (!on || p === 0) return [x, used[1] ? all() : null];
      const mask = T.ge(likeAnother.rand_like(x), p) as Tensor;
      return [T.mul(T.mul(x, cast(mask, x.dtype)), 1 / (1 - p)), mask];
    }),
    kind: "drawn",
  },
  MatMul: two(T.matmul),
  Gemm: ([a, b, c], { alpha = 1, beta = 1, transA = 0, transB = 0 }) => {
    const left = transA ? views.transpose(a, 0, 1) : a,
      right = transB ? views.transpose(b, 0, 1) : b,
      product = T.matmul(left, right) as Tensor,
      scaled = alpha === 1 ? product : T.mul(product, alpha);
    return c ? T.add(scaled, beta === 1 ? c : T.mul(c, beta)) : scaled;
  },
  Det: one(T.det),
  CumSum: reading([1], (inputs, attributes, context) =>
    running(inputs as [Tensor, Tensor], attributes, context.op, T.cumsum, 0),
  ),
  CumProd: reading([1], (inputs, attributes, context) =>
    running(inputs as [Tensor, Tensor], attributes, context.op, T.cumprod, 1),
  ),
};

/** Sums or products up to each element; `exclusive`: without itself; `reverse`: from the end. */
function running(
  [x, at]: [Tensor, Tensor],
  { exclusive, reverse }: { exclusive?: number; reverse?: number },
  op: string,
  f: (x: Tensor, axis: number) => Tensor,
  empty: number,
): Tensor {
  const axis = axisOf(number(at, op), x.ndim);
  if (!(axis >= 0 && axis < x.ndim)) throw new OpError(`${op}: ${x.ndim} axes have no axis ${number(at, op)}`);
  const turn = (y: Tensor): Tensor => (reverse ? turned(y, [axis]) : y),
    n = x.shape[axis]!;
  let y = turn(x);
  if (exclusive && n > 0) {
    const first = create.full(
      range(x.ndim).map((i) => (i === axis ? 1 : x.shape[i]!)),
      empty,
      { dtype: x.dtype, device: x.device },
    ) as Tensor;
    y = join.cat([first, views.narrow(y, axis, 0, n - 1)], axis) as Tensor;
  }
  return turn(cast(f(y, axis), x.dtype));
}
