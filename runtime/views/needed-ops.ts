// The few ops that the runtime itself needs, as functions.  They are generated like all others; the module `needed` of
// the package names them, so that a bundle holds those that its part of the runtime calls.

import {
  accumulateOp,
  addOp,
  flip_oneOp,
  index_addOp,
  index_copyOp,
  index_selectOp,
  neOp,
  place_alongOp,
  rand_likeOp,
  randint_fillOp,
  randn_likeOp,
  roll_oneOp,
  subOp,
  sumOp,
  whereOp,
} from "../../needed.js";
import { run } from "../dispatch/call.js";
import type { RandomSource } from "../elements/random.js";
import type { Tensor } from "../tensor/tensor.js";

/** accumulate(input, other): their sum. */
export const accumulate = (input: Tensor, other: Tensor): Tensor => run(accumulateOp, [input, other]) as Tensor;
/** sum(input, dim, {keepdim}). */
export const sum = (input: Tensor, dim: readonly number[]): Tensor => run(sumOp, [input, dim]) as Tensor;
/**
 * rand_like(input), randn_like(input): uniform and normal numbers in the shape of input; of a generator, where there is
 * one.
 */
export const rand_like = (input: Tensor, generator: RandomSource | null): Tensor =>
  run(rand_likeOp, [input, { generator }]) as Tensor;
export const randn_like = (input: Tensor, generator: RandomSource | null): Tensor =>
  run(randn_likeOp, [input, { generator }]) as Tensor;
/** randint_fill(input, low, last): whole numbers. */
export const randint_fill = (input: Tensor, low: number, last: number, generator: RandomSource | null): Tensor =>
  run(randint_fillOp, [input, low, last, { generator }]) as Tensor;
/**
 * index_select(input, dim, index), index_add(input, dim, index, source): picking slices, and its adjoint; index_copy:
 * replacing them.
 */
export const index_select = (input: Tensor, dim: number, index: Tensor): Tensor =>
  run(index_selectOp, [input, dim, index]) as Tensor;
export const index_add = (input: Tensor, dim: number, index: Tensor, source: Tensor): Tensor =>
  run(index_addOp, [input, dim, index, source]) as Tensor;
export const index_copy = (input: Tensor, dim: number, index: Tensor, source: Tensor): Tensor =>
  run(index_copyOp, [input, dim, index, source]) as Tensor;
/** where(condition, input, other): for masks. */
export const where = (condition: Tensor, input: Tensor, other: Tensor | number): Tensor =>
  run(whereOp, [condition, input, other]) as Tensor;
/** place_along(index, size, before): indices along several axes as one. */
export const place_along = (index: Tensor, size: number, before?: Tensor): Tensor =>
  run(place_alongOp, [index, size, before ?? null]) as Tensor;
/** add(input, other, {alpha}): what is written and added to. */
export const add = (input: Tensor, other: Tensor, alpha: number): Tensor =>
  run(addOp, [input, other, { alpha }]) as Tensor;
/** sub(input, other), ne(input, other): differences of numbers and of bools. */
export const sub = (input: Tensor, other: Tensor): Tensor => run(subOp, [input, other]) as Tensor;
export const ne = (input: Tensor, other: Tensor | number): Tensor => run(neOp, [input, other]) as Tensor;
/** flip_one(input, dim), roll_one(input, shift, dim): one axis of those that `flip` and `roll` go through. */
export const flip_one = (input: Tensor, dim: number): Tensor => run(flip_oneOp, [input, dim]) as Tensor;
export const roll_one = (input: Tensor, shift: number, dim: number): Tensor =>
  run(roll_oneOp, [input, shift, dim]) as Tensor;
