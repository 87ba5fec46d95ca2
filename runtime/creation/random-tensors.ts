// New tensors of random numbers.

import { fitting } from "../../host/dtypes.js";
import { count, integer, refuse } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { isOptions } from "../base/named-arguments.js";
import { checkShape, integers } from "../base/shape.js";
import type { DType } from "../elements/dtype.js";
import { type RandomSource, randomPermutation, sourceOf } from "../elements/random.js";
import { emptyOn } from "../tensor/allocate.js";
import type { Tensor } from "../tensor/tensor.js";
import * as kernels from "../views/needed-ops.js";
import {
  type RandomOptions,
  type Sizes,
  checkRoom,
  computed,
  deviceOf,
  dtypeOf,
  finish,
  making,
  splitSizes,
} from "./create.js";
import { drawn } from "./drawn.js";

const sourceIn = (options: RandomOptions, op: string): RandomSource | null => sourceOf(options.generator, op);

/** Random numbers of a kind, for `op`, which was called. */
export function random(op: string, args: Sizes<RandomOptions>, kind: "rand" | "randn"): Tensor {
  const [shape, options] = splitSizes(args, op),
    dtype = dtypeOf(options, "float32");
  return finish(drawn(kind, deviceOf(options), shape, dtype, sourceIn(options, op), op), options);
}
/**
 * Random numbers from 0 up to, but without, 1, each as likely as another.
 *
 * @example
 * torch.manual_seed(0);
 * torch.rand(3)  // [0.399046, 0.88052, 0.735713]
 */
export const rand = (...args: Sizes<RandomOptions>): Tensor => random("rand", args, "rand");
/**
 * Random numbers of the normal distribution with mean 0 and variance 1.
 *
 * @example
 * torch.manual_seed(0);
 * torch.randn(3)  // [-0.875826, 1.77167, -1.55692]
 */
export const randn = (...args: Sizes<RandomOptions>): Tensor => random("randn", args, "randn");

type Span = { low?: number; high: number };
/**
 * randint(high, size) or randint(low, high, size): whole numbers from `low` up to, but without, `high`.
 *
 * @param low integer, the least, default 0
 * @param high integer, below which they stay
 *
 * @example
 * torch.manual_seed(0);
 * torch.randint(1, 7, [5])  // [3, 6, 5, 4, 6]
 */
export function randint(high: number, size: readonly number[], options?: RandomOptions): Tensor;
export function randint(low: number, high: number, size: readonly number[], options?: RandomOptions): Tensor;
export function randint(...options: [RandomOptions & Span & { size: readonly number[] }]): Tensor;
export function randint(...args: unknown[]): Tensor {
  const { values, options } = making("randint low? high size", spanned(args, 2));
  const shape = listed(values[2], "randint");
  return randomWhole("randint", values, options, (dtype) => emptyOn(deviceOf(options), shape, dtype, "randint"));
}

/** The arguments with 0 before the first where there is only one number among those by position: that is `high`. */
export function spanned(args: readonly unknown[], most: number): readonly unknown[] {
  const places = isOptions(args[args.length - 1]) ? args.length - 1 : args.length;
  return places > 0 && typeof args[1] !== "number" && places <= most ? [null, ...args] : args;
}

function listed(size: unknown, op: string): number[] {
  if (!Array.isArray(size)) refuse(op, "size", "a list of whole numbers", size);
  const shape = integers([size], op);
  checkShape(shape, op);
  return shape;
}

export function randomWhole(
  op: string,
  values: readonly unknown[],
  options: RandomOptions,
  place: (dtype: DType) => Tensor,
): Tensor {
  const low = integer(values[0] ?? 0, op, "low"),
    high = integer(values[1], op, "high");
  if (!(low < high))
    throw new OpError(`${op}: random_ expects 'from' to be less than 'to', but got from=${low} >= to=${high}`);
  const dtype = dtypeOf(options, "int64");
  if (dtype === "complex64")
    throw new TypeMismatchError(`${op}: handles only integral, floating-point and boolean types, got ${dtype}`);
  const last = fitting(op, dtype, high - 1);
  return finish(kernels.randint_fill(place(dtype), fitting(op, dtype, low), last, sourceIn(options, op)), options);
}

/**
 * The numbers from 0 up to n in random order.
 *
 * @example
 * torch.manual_seed(0);
 * torch.randperm(5)  // [0, 1, 3, 2, 4]
 */
export function randperm(n: number, options?: RandomOptions): Tensor;
export function randperm(options: RandomOptions & { n: number }): Tensor;
export function randperm(...args: unknown[]): Tensor {
  const { values, options } = making("randperm n", args),
    n = count(values[0], "randperm", "n"),
    dtype = dtypeOf(options, "int64");
  checkRoom([n], dtype, options, "randperm");
  const order = randomPermutation(n, sourceIn(options, "randperm"));
  return computed((i) => order[i]!, dtype, [n], options, "randperm");
}
