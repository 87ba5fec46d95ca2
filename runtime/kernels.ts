// The few ops that the runtime itself needs.  They are generated like all others, and handed in here, so that the runtime
// imports no op: the package's index calls registerKernels.

import type { CompiledOp } from "./compiled.js";
import { DeviceError } from "./errors.js";
import type { Tensor } from "./tensor.js";
import { run } from "./call.js";

export interface KernelOps {
  /** copy(input): the same elements; also strided, and in another type. */
  copy: CompiledOp;
  /** accumulate(input, other): their sum. */
  accumulate: CompiledOp;
  /** sum(input, dim, {keepdim}). */
  sum: CompiledOp;
  /** rand_like(input), randn_like(input): uniform and normal numbers in the shape of input. */
  rand_like: CompiledOp;
  randn_like: CompiledOp;
  /** randint_fill(input, low, high): whole numbers. */
  randint_fill: CompiledOp;
  /** index_select(input, dim, index), index_add(input, dim, index, source): picking slices, and its adjoint; index_copy: replacing them. */
  index_select: CompiledOp;
  index_add: CompiledOp;
  index_copy: CompiledOp;
  /** where(condition, input, other): for masks. */
  where: CompiledOp;
  /** add(input, other, {alpha}), remainder(input, other): for indices along several axes. */
  add: CompiledOp;
  remainder: CompiledOp;
  /** sub(input, other), ne(input, other): differences of numbers and of bools. */
  sub: CompiledOp;
  ne: CompiledOp;
  /** flip_one(input, dim), roll_one(input, shift, dim): one axis of those that `flip` and `roll` go through. */
  flip_one: CompiledOp;
  roll_one: CompiledOp;
}

let ops: KernelOps | null = null;

export function registerKernels(given: KernelOps): void {
  ops = given;
}

export function kernelOps(): KernelOps {
  if (!ops) throw new DeviceError("the runtime's own kernels are not registered (registerKernels)");
  return ops;
}

const functions = {
  accumulate: (input: Tensor, other: Tensor): Tensor => run(kernelOps().accumulate, [input, other]) as Tensor,
  sum: (input: Tensor, dim: readonly number[]): Tensor => run(kernelOps().sum, [input, dim]) as Tensor,
  rand_like: (input: Tensor): Tensor => run(kernelOps().rand_like, [input]) as Tensor,
  randn_like: (input: Tensor): Tensor => run(kernelOps().randn_like, [input]) as Tensor,
  randint_fill: (input: Tensor, low: number, high: number): Tensor => run(kernelOps().randint_fill, [input, low, high]) as Tensor,
  index_select: (input: Tensor, dim: number, index: Tensor): Tensor => run(kernelOps().index_select, [input, dim, index]) as Tensor,
  index_add: (input: Tensor, dim: number, index: Tensor, source: Tensor): Tensor =>
    run(kernelOps().index_add, [input, dim, index, source]) as Tensor,
  index_copy: (input: Tensor, dim: number, index: Tensor, source: Tensor): Tensor =>
    run(kernelOps().index_copy, [input, dim, index, source]) as Tensor,
  where: (condition: Tensor, input: Tensor, other: Tensor): Tensor => run(kernelOps().where, [condition, input, other]) as Tensor,
  add: (input: Tensor, other: Tensor, alpha: number): Tensor => run(kernelOps().add, [input, other, { alpha }]) as Tensor,
  remainder: (input: Tensor, other: number): Tensor => run(kernelOps().remainder, [input, other]) as Tensor,
  sub: (input: Tensor, other: Tensor): Tensor => run(kernelOps().sub, [input, other]) as Tensor,
  ne: (input: Tensor, other: Tensor): Tensor => run(kernelOps().ne, [input, other]) as Tensor,
  flip_one: (input: Tensor, dim: number): Tensor => run(kernelOps().flip_one, [input, dim]) as Tensor,
  roll_one: (input: Tensor, shift: number, dim: number): Tensor => run(kernelOps().roll_one, [input, shift, dim]) as Tensor,
};

/** The runtime's own ops as functions, recorded like any other. */
export const kernels = (): typeof functions => functions;
