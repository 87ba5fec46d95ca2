// torch.nn.init: starting values, written into tensors in place, unseen by autograd.

import { copy_, fill_ } from "../views/transfer.js";
import { tensor as fromData, zeros } from "../creation/create.js";
import { rand, randn } from "../creation/random-tensors.js";
import type { NumberArray } from "../elements/nested-data.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { count, number, text } from "../base/argument-kinds.js";
import { check } from "../tensor/tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import { type RandomSource, randomPermutation, sourceOf } from "../elements/random.js";
import { numelOf } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import * as linalg from "../../names/linalg.js";
import { add, clamp, erfinv, mul, sign } from "../../names/torch.js";
import * as views from "../views/views.js";

export type FanMode = "fan_in" | "fan_out";
export type Nonlinearity =
  | "linear"
  | "conv1d"
  | "conv2d"
  | "conv3d"
  | "conv_transpose1d"
  | "conv_transpose2d"
  | "conv_transpose3d"
  | "sigmoid"
  | "tanh"
  | "relu"
  | "leaky_relu"
  | "selu";

/** Writes what `values` makes into `tensor`. */
function fill(tensor: Tensor, values: () => Tensor): Tensor {
  unrecorded(() => {
    if (tensor.numel() > 0 && tensor.device !== "meta") copy_(tensor, values());
  });
  return tensor;
}
const like = (tensor: Tensor) => ({ dtype: tensor.dtype, device: tensor.storage.device });
/** Values computed on the host. */
const computed = (tensor: Tensor, data: NumberArray): Tensor =>
  fill(tensor, () => fromData(data, { shape: tensor.shape, ...like(tensor) }));

type Drawn = RandomSource | null;
/** A tensor and arguments after it, by position or by name. */
type Args<P extends unknown[], O> = [tensor: Tensor, ...Partial<P>] | [tensor: Tensor, O] | [Written & O];
type Written = {
  /** It is written to in place, and answered. */
  tensor: Tensor;
};
type Random = {
  /** Draws the numbers; null: the one of `torch.manual_seed`. */
  generator?: Drawn;
};

/**
 * A tensor and what a function takes beside it, by position or by name: of the kinds of the defaults, of which null is a
 * generator's.
 */
function options<T extends (number | string | null)[]>(
  op: string,
  names: readonly string[],
  args: readonly unknown[],
  ...defaults: T
): [tensor: Tensor, ...{ [K in keyof T]: T[K] extends null ? Drawn : T[K] }] {
  const [tensor, ...given] = taken(`${op} tensor ${names.map((name) => `${name}?`).join(" ")}`, args);
  check(tensor, op, "tensor");
  const values = defaults.map((usual, i) => {
    const value: unknown = given[i] ?? usual;
    return usual === null
      ? sourceOf(value, op)
      : typeof usual === "string"
        ? text(value, op, names[i]!)
        : number(value, op, names[i]!);
  });
  return [tensor, ...values] as never;
}

/**
 * Evenly from `a` up to `b`.
 *
 * @example
 * const weight = torch.nn.init.uniform_(torch.empty([100]), 2, 3);
 * [weight.ge(2).all(), weight.lt(3).all()]  // [true, true]
 */
export function uniform_(
  ...args: Args<[a: number, b: number, generator: Drawn], { a?: number; b?: number } & Random>
): Tensor {
  const [tensor, a, b, generator] = options("uniform_", ["a", "b", "generator"], args, 0, 1, null);
  return fill(tensor, () => add(mul(rand(tensor.shape, { ...like(tensor), generator }), b - a), a) as Tensor);
}

/**
 * From the normal distribution.
 *
 * @example
 * torch.manual_seed(0);
 * torch.nn.init.normal_(torch.empty([1000]), 5, 0.1).mean().round()  // 5
 */
export function normal_(
  ...args: Args<[mean: number, std: number, generator: Drawn], { mean?: number; std?: number } & Random>
): Tensor {
  const [tensor, mean, std, generator] = options("normal_", ["mean", "std", "generator"], args, 0, 1, null);
  return fill(tensor, () => add(mul(randn(tensor.shape, { ...like(tensor), generator }), std), mean) as Tensor);
}

type Truncated = { mean?: number; std?: number; a?: number; b?: number } & Random;
/**
 * From the normal distribution, as far as it lies between `a` and `b`.
 *
 * @example
 * const weight = torch.nn.init.trunc_normal_(torch.empty([100]), { std: 1, a: -0.5, b: 0.5 });
 * weight.abs().le(0.5).all()  // true
 */
export function trunc_normal_(
  ...args: Args<[mean: number, std: number, a: number, b: number, generator: Drawn], Truncated>
): Tensor {
  const [tensor, mean, std, a, b, generator] = options(
    "trunc_normal_",
    ["mean", "std", "a", "b", "generator"],
    args,
    0,
    1,
    -2,
    2,
    null,
  );
  // Even numbers between the bounds' places in the distribution, turned back into normal ones.
  const low = 2 * below((a - mean) / std) - 1,
    high = 2 * below((b - mean) / std) - 1;
  return fill(tensor, () => {
    const even = add(mul(rand(tensor.shape, { ...like(tensor), generator }), high - low), low) as Tensor;
    return clamp(add(mul(erfinv(even), std * Math.SQRT2), mean) as Tensor, a, b) as Tensor;
  });
}

/** How much of the normal distribution lies below x (Abramowitz and Stegun 26.2.17, error below 7.5e-8). */
function below(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x)),
    density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  const tail =
    density * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x < 0 ? tail : 1 - tail;
}

/** The first of the arguments, a tensor, of which all elements become `value`, or what is given for `val`. */
function constant(op: string, args: ArrayLike<unknown>, value?: number): Tensor {
  const [tensor, given] = taken(`${op} tensor${value === undefined ? " val" : ""}`, args);
  check(tensor, op, "tensor");
  value ??= number(given, op, "val");
  unrecorded(() => {
    fill_(tensor, value);
  });
  return tensor;
}
/**
 * Fills the tensor with `val`.
 *
 * @param val what all elements become
 *
 * @example
 * torch.nn.init.constant_(torch.empty([2, 2]), 0.5)  // [[0.5, 0.5], [0.5, 0.5]]
 */
export function constant_(tensor: Tensor, val: number | { val: number }): Tensor {
  return constant("constant_", arguments);
}
/**
 * Fills the tensor with ones.
 *
 * @example
 * torch.nn.init.ones_(torch.empty([3]))  // [1, 1, 1]
 */
export function ones_(tensor: Tensor): Tensor {
  return constant("ones_", arguments, 1);
}
/**
 * Fills the tensor with zeros.
 *
 * @example
 * const layer = torch.nn.Linear(2, 3);
 * torch.nn.init.zeros_(layer.bias);
 * layer.bias  // [0, 0, 0]
 */
export function zeros_(tensor: Tensor): Tensor {
  return constant("zeros_", arguments, 0);
}

/**
 * Ones on the diagonal of a matrix.
 *
 * @example
 * torch.nn.init.eye_(torch.empty([2, 3]))  // [[1, 0, 0], [0, 1, 0]]
 */
export function eye_(tensor: Tensor): Tensor {
  [tensor] = taken("eye_ tensor", arguments);
  check(tensor, "eye_", "tensor");
  if (tensor.ndim !== 2) throw new OpError("eye_: Only tensors with 2 dimensions are supported");
  const [rows, columns] = tensor.shape as [number, number],
    data = new Float32Array(rows * columns);
  for (let i = 0; i < Math.min(rows, columns); i++) data[i * columns + i] = 1;
  return computed(tensor, data);
}

/**
 * A convolution's weight that passes as many channels as it can unchanged, in each of `groups`.
 *
 * @example
 * const conv = torch.nn.Conv1d(1, 1, 3, { padding: 1, bias: false });
 * torch.nn.init.dirac_(conv.weight);
 * conv(torch.tensor([[5, 7, 9]]))  // [[5, 7, 9]]
 */
export function dirac_(...args: Args<[groups: number], { groups?: number }>): Tensor {
  const [tensor, given] = options("dirac_", ["groups"], args, 1),
    groups = count(given, "dirac_", "groups", 1),
    { shape } = tensor;
  if (shape.length < 3 || shape.length > 5)
    throw new OpError("dirac_: Only tensors with 3, 4, or 5 dimensions are supported");
  const [out, channels, ...kernel] = shape as [number, number, ...number[]];
  if (out % groups !== 0) throw new OpError("dirac_: dim 0 must be divisible by groups");
  const each = numelOf(kernel),
    data = new Float32Array(out * channels * each),
    per = out / groups;
  const middle = kernel.reduce((at, size) => at * size + Math.floor(size / 2), 0);
  for (let g = 0; g < groups; g++) {
    for (let d = 0; d < Math.min(per, channels); d++) data[((g * per + d) * channels + d) * each + middle] = 1;
  }
  return computed(tensor, data);
}

/**
 * Numbers of values that one value depends on, and that depend on one.
 *
 * @example
 * torch.nn.init._calculate_fan_in_and_fan_out(torch.empty([8, 4, 3, 3]))  // [36, 72]
 */
export function _calculate_fan_in_and_fan_out(tensor: Tensor): [fan_in: number, fan_out: number] {
  [tensor] = taken("_calculate_fan_in_and_fan_out tensor", arguments);
  check(tensor, "_calculate_fan_in_and_fan_out", "tensor");
  if (tensor.ndim < 2)
    throw new OpError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  const [out, into, ...kernel] = tensor.shape as [number, number, ...number[]],
    field = numelOf(kernel);
  return [into * field, out * field];
}

/**
 * The factor that keeps the spread of values through a nonlinearity.
 *
 * @param param of a leaky relu the slope below 0; 0.01 without
 *
 * @example
 * ["relu", "tanh"].map((name) => torch.nn.init.calculate_gain(name))  // [1.41421, 1.66667]
 */
export function calculate_gain(nonlinearity: Nonlinearity, param: number | null = null): number {
  [nonlinearity, param = null] = taken("calculate_gain nonlinearity param?", arguments);
  text(nonlinearity, "calculate_gain", "nonlinearity");
  if (/^(linear|conv(_transpose)?[123]d|sigmoid)$/.test(nonlinearity)) return 1;
  if (nonlinearity === "tanh") return 5 / 3;
  if (nonlinearity === "relu") return Math.SQRT2;
  if (nonlinearity === "selu") return 3 / 4;
  if (nonlinearity !== "leaky_relu") throw new OpError(`Unsupported nonlinearity ${String(nonlinearity)}`);
  if (param !== null && typeof param !== "number")
    throw new TypeMismatchError(`negative_slope ${String(param)} not a valid number`);
  return Math.sqrt(2 / (1 + (param ?? 0.01) ** 2));
}

type Gain = {
  /** What the numbers are multiplied by: see `calculate_gain`. */
  gain?: number;
} & Random;
type XavierArgs = Args<[gain: number, generator: Drawn], Gain>;
const xavier = (op: string, args: XavierArgs): [Tensor, number, Drawn] => {
  const [tensor, gain, generator] = options(op, ["gain", "generator"], args, 1, null),
    [into, out] = _calculate_fan_in_and_fan_out(tensor);
  return [tensor, gain * Math.sqrt(2 / (into + out)), generator];
};
/**
 * Glorot's: evenly, with variance `gain² 2 / (fan_in + fan_out)`.
 *
 * @example
 * const weight = torch.nn.init.xavier_uniform_(torch.empty([100, 50]));
 * weight.abs().le(Math.sqrt(6 / (50 + 100))).all()  // true
 */
export function xavier_uniform_(...args: XavierArgs): Tensor {
  const [tensor, std, generator] = xavier("xavier_uniform_", args),
    bound = Math.sqrt(3) * std;
  return uniform_(tensor, -bound, bound, generator);
}
/**
 * Glorot's: normal, with variance `gain² 2 / (fan_in + fan_out)`.
 *
 * @example
 * torch.manual_seed(0);
 * torch.nn.init.xavier_normal_(torch.empty([100, 100])).std().round({ decimals: 2 })  // 0.1
 */
export function xavier_normal_(...args: XavierArgs): Tensor {
  const [tensor, ...drawn] = xavier("xavier_normal_", args);
  return normal_(tensor, 0, ...drawn);
}

type KaimingArgs = Args<
  [a: number, mode: FanMode, nonlinearity: Nonlinearity, generator: Drawn],
  { a?: number; mode?: FanMode; nonlinearity?: Nonlinearity } & Random
>;
const kaiming = (op: string, args: KaimingArgs): [Tensor, number, Drawn] => {
  const [tensor, a, mode, nonlinearity, generator] = options(
    op,
    ["a", "mode", "nonlinearity", "generator"],
    args,
    0,
    "fan_in",
    "leaky_relu",
    null,
  );
  const how = mode.toLowerCase();
  if (how !== "fan_in" && how !== "fan_out")
    throw new OpError(`Mode ${how} not supported, please use one of ['fan_in', 'fan_out']`);
  if (tensor.numel() === 0) return [tensor, 0, generator];
  return [
    tensor,
    calculate_gain(nonlinearity as Nonlinearity, a) /
      Math.sqrt(_calculate_fan_in_and_fan_out(tensor)[how === "fan_in" ? 0 : 1]),
    generator,
  ];
};
/**
 * He's: evenly, with variance `gain² / fan`; `a` is the slope of a leaky relu.
 *
 * @example
 * const weight = torch.nn.init.kaiming_uniform_(torch.empty([100, 50]), { nonlinearity: "relu" });
 * weight.abs().le(Math.sqrt(6 / 50)).all()  // true
 */
export function kaiming_uniform_(...args: KaimingArgs): Tensor {
  const [tensor, std, generator] = kaiming("kaiming_uniform_", args),
    bound = Math.sqrt(3) * std;
  return uniform_(tensor, -bound, bound, generator);
}
/**
 * He's: normal, with variance `gain² / fan`.
 *
 * @example
 * torch.manual_seed(0);
 * const weight = torch.nn.init.kaiming_normal_(torch.empty([100, 200]), { nonlinearity: "relu" });
 * weight.std().round({ decimals: 2 })  // 0.1
 */
export function kaiming_normal_(...args: KaimingArgs): Tensor {
  const [tensor, ...drawn] = kaiming("kaiming_normal_", args);
  return normal_(tensor, 0, ...drawn);
}

/**
 * A (semi-)orthogonal matrix of all axes but the first, times `gain`.
 *
 * @example
 * const q = torch.nn.init.orthogonal_(torch.empty([2, 3]));
 * q.mm(q.t()).round().abs()  // [[1, 0], [0, 1]]
 */
export function orthogonal_(...args: XavierArgs): Tensor {
  const [tensor, gain, generator] = options("orthogonal_", ["gain", "generator"], args, 1, null);
  if (tensor.ndim < 2) throw new OpError("orthogonal_: Only tensors with 2 or more dimensions are supported");
  return fill(tensor, () => {
    const rows = tensor.shape[0]!,
      columns = tensor.numel() / rows,
      wide = rows < columns;
    const [q, r] = linalg.qr(
      randn(wide ? [columns, rows] : [rows, columns], { ...like(tensor), generator }),
    ) as unknown as [Tensor, Tensor];
    // With the signs of r's diagonal q is drawn evenly from all such matrices (Mezzadri 2007).
    const signed = mul(q, sign(views.diagonal(r))) as Tensor;
    return views.view(mul(wide ? views.t(signed) : signed, gain), tensor.shape) as Tensor;
  });
}

/**
 * A matrix whose columns have a share `sparsity` of zeros; the others are normal.
 *
 * @example
 * torch.nn.init.sparse_(torch.empty([4, 3]), 0.5).eq(0).sum(0)  // [2, 2, 2]
 */
export function sparse_(
  ...args: Args<[sparsity: number, std: number, generator: Drawn], { sparsity: number; std?: number } & Random>
): Tensor {
  const [tensor, share, std, generator] = options("sparse_", ["sparsity", "std", "generator"], args, NaN, 0.01, null);
  if (!(share >= 0 && share <= 1)) throw new OpError(`sparse_: argument 'sparsity' must be from 0 to 1, got ${share}`);
  if (tensor.ndim !== 2) throw new OpError("sparse_: Only tensors with 2 dimensions are supported");
  const [rows, columns] = tensor.shape as [number, number],
    zeroed = Math.ceil(share * rows),
    kept = new Float32Array(rows * columns).fill(1);
  for (let column = 0; column < columns; column++) {
    for (const row of randomPermutation(rows, generator).subarray(0, zeroed)) kept[row * columns + column] = 0;
  }
  normal_(tensor, 0, std, generator);
  const mask = zeros(tensor.shape, like(tensor));
  computed(mask, kept);
  return fill(tensor, () => mul(tensor, mask) as Tensor);
}
