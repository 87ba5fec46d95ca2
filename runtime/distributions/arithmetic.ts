// What the formulas of distributions are written with: ops by short names, and what stands between numbers and tensors.

import { empty, full, ones, zeros, tensor } from "../creation/create.js";
import { rand as uniform, randn } from "../creation/random-tensors.js";
import { refuse } from "../base/argument-kinds.js";
import { type Shape, numelOf } from "../base/shape.js";
import type { DType } from "../elements/dtype.js";
import { finfo } from "../functions/type-info.js";
import { broadcast_tensors } from "../functions/grids.js";
import { broadcast_to, narrow } from "../functions/tensor-functions.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import * as transfer from "../views/transfer.js";
import { run } from "../dispatch/call.js";
import { log_gamma_drawOp, log_gamma_slopeOp } from "../../ops/draw.js";
import {
  add,
  clamp as limit,
  lgamma,
  log,
  logical_and,
  logical_or,
  logsumexp,
  mul,
  sub,
  sum as total,
} from "../../names/torch.js";

export {
  abs,
  acos,
  add,
  argmax,
  atan,
  atanh,
  cos,
  cumprod,
  cumsum,
  digamma,
  div,
  eq,
  erf,
  erfc,
  erfinv,
  exp,
  expm1,
  floor,
  ge,
  gather,
  gt,
  igamma,
  igammac,
  isclose,
  le,
  lgamma,
  log,
  log1p,
  log_softmax,
  logical_and,
  logical_not,
  logical_or,
  logsumexp,
  lt,
  matmul,
  mul,
  mvlgamma,
  ne,
  neg,
  pow,
  reciprocal,
  remainder,
  softmax,
  rsqrt,
  sigmoid,
  sign,
  sqrt,
  sub,
  tan,
  tanh,
  tril,
  where,
  xlogy,
} from "../../names/torch.js";
export { binary_cross_entropy_with_logits, logsigmoid, softplus } from "../../names/functional.js";
export { broadcast_tensors } from "../functions/grids.js";
export { stack } from "../functions/join.js";
export {
  broadcast_to,
  diag_embed,
  diagonal,
  narrow,
  reshape,
  select,
  squeeze,
  transpose,
  unsqueeze,
} from "../functions/tensor-functions.js";
export { finfo } from "../functions/type-info.js";

/** A parameter of a distribution: a number stands for a tensor without axes. */
export type Value = Tensor | number;
export type Sizes = readonly number[];

/** What must be a number or a tensor. */
export const valueOf = (value: unknown, op: string, name: string): Value =>
  typeof value === "number" || value instanceof Tensor ? value : refuse(op, name, "a number or a tensor", value);

/** Euler's and Mascheroni's constant. */
export const EULER = 0.5772156649015329;

/** What memory holds everywhere, and its version then: of numbers that became tensors, which a GPU need not be asked for. */
const said = new WeakMap<Storage, readonly [value: number, version: number]>();
function saying(value: number, made: Tensor): Tensor {
  said.set(made.storage, [value, made.storage.version]);
  return made;
}
/** The number that a tensor was made of, if it was made of one and holds it still. */
export function numberOf({ storage }: Tensor): number | undefined {
  const [value, version] = said.get(storage) ?? [];
  return version === storage.version ? value : undefined;
}

/** The values in one shape; numbers become tensors like the first tensor among them. */
export function broadcast_all(...values: Value[]): Tensor[] {
  const like = values.find((v): v is Tensor => v instanceof Tensor),
    options = like ? { dtype: like.dtype, device: like.device } : {};
  const tensors = values.map((v) => (v instanceof Tensor ? v : saying(v, tensor(v, options))));
  return tensors.length === 1 ? tensors : (broadcast_tensors(...tensors) as Tensor[]);
}

type Like = Pick<Tensor, "dtype" | "device">;
const of = ({ dtype, device }: Like): { dtype: DType; device: string } => ({ dtype, device });
export const filled = (shape: Sizes, value: number, like: Like): Tensor => full(shape, value, of(like));
export const zeros_like = (x: Tensor): Tensor => zeros(x.shape, of(x));
export const ones_like = (x: Tensor): Tensor => ones(x.shape, of(x));
export const made_empty = (shape: Sizes, like: Like): Tensor => empty(shape, of(like));
export const standard_normal = (shape: Sizes, like: Like): Tensor => randn(shape, of(like));
/** Uniform numbers from 0 up to 1. */
export const rand = (shape: Sizes, like: Like): Tensor => uniform(shape, of(like));
/** Uniform numbers, neither 0 nor 1. */
export const inner = (shape: Sizes, like: Like): Tensor => between(rand(shape, like), 0.5);
/** Numbers from 0 to 1 as such that are neither: 1 less `gap` times the type's eps is the largest. */
export function between(x: Tensor, gap = 1): Tensor {
  const { tiny, eps } = finfo(x.dtype);
  return limit(x, tiny, 1 - gap * eps);
}

/** As the other one in type. */
export const like = (x: Tensor, other: Like): Tensor =>
  x.dtype === other.dtype ? x : (transfer.to(x, [other.dtype]) as Tensor);
/** No smaller than `least`, no larger than `most`. */
export const clamp = (x: Tensor, least: Value | null, most: Value | null = null): Tensor => limit(x, least, most);

export const sum = (x: Tensor, dim?: number | readonly number[], keepdim = false): Tensor =>
  dim === undefined ? total(x) : total(x, dim, keepdim);
/** The `dims` last axes added up. */
export const sum_rightmost = (x: Tensor, dims: number): Tensor =>
  dims === 0
    ? x
    : total(
        x,
        Array.from({ length: dims }, (_, i) => i - dims),
      );
/** `x[..., from:to]`. */
export function cut(x: Tensor, from: number, to?: number): Tensor {
  const n = x.shape[x.shape.length - 1]!,
    at = (i: number): number => (i < 0 ? i + n : Math.min(i, n));
  return narrow(x, -1, at(from), Math.max(at(to ?? n) - at(from), 0));
}
export const both = logical_and,
  either = logical_or;
export const expand = (x: Tensor, shape: Sizes): Tensor => broadcast_to(x, shape as number[]);
/** How many elements a shape has. */
export const count = (shape: Sizes): number => numelOf(shape as Shape);

/** Probabilities that are neither 0 nor 1. */
export function clamp_probs(probs: Tensor): Tensor {
  const { eps } = finfo(probs.dtype);
  return limit(probs, eps, 1 - eps);
}
/** The logarithm of the beta function. */
export const log_beta = (a: Tensor, b: Tensor): Tensor => sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)));
/** log x!. */
export const log_factorial = (x: Tensor): Tensor => lgamma(add(x, 1));
/** Logarithms of gamma numbers of these shapes, whose gradients keep each number's share of the distribution. */
export function log_gamma_draw(concentration: Tensor, shape: Sizes): Tensor {
  const moving = expand(concentration, shape),
    still = moving.detach(),
    drawn = run(log_gamma_drawOp, [still]) as Tensor;
  if (!moving.requires_grad) return drawn;
  const slope = run(log_gamma_slopeOp, [still, drawn]) as Tensor;
  return add(drawn, mul(slope, sub(moving, still)));
}
/** As large as the smallest number of a type, at least. */
export const above_zero = (x: Tensor): Tensor => limit(x, finfo(x.dtype).tiny);
/** Logarithms of weights, less that of their sum. */
export const normalized = (logits: Tensor): Tensor => sub(logits, logsumexp(logits, -1, true));

/** x log x, 0 at 0. */
export const x_log_x = (x: Tensor): Tensor => mul(x, log(limit(x, finfo(x.dtype).tiny)));
