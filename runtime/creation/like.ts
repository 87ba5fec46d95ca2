// Tensors like another: of its shape, and of its type and device where nothing else is asked for.

import { tensorOf } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Options, type RandomOptions, type Sizes, constant, making, unset } from "./create.js";
import { random } from "./random-tensors.js";

/** The tensor `input` and the options of one like it. */
export function like(
  op: string,
  args: readonly unknown[],
  ...names: string[]
): { values: [Tensor, ...unknown[]]; options: Options } {
  const { values, options } = making([op, "input", ...names].join(" "), args),
    input = tensorOf(values[0], op);
  return {
    values: values as [Tensor, ...unknown[]],
    options: { dtype: input.dtype, device: input.device, ...options },
  };
}
/** A function that makes a tensor like another: `make` is told its name, which errors begin with. */
const likeness =
  <O extends Options>(op: string, make: (op: string, args: Sizes<O>) => Tensor) =>
  (...args: [input: Tensor, options?: O]): Tensor => {
    const { values, options } = like(op, args);
    return make(op, [values[0].shape, options as O]);
  };

/**
 * A tensor of `input`'s shape whose values are not set.
 *
 * @example
 * torch.empty_like(torch.ones(2, 3)).shape  // [2, 3]
 */
export const empty_like = /* @__PURE__ */ likeness<Options>("empty_like", unset);
/**
 * Zeros of `input`'s shape.
 *
 * @example
 * torch.zeros_like(torch.tensor([[1, 2], [3, 4]]))  // [[0, 0], [0, 0]]
 */
export const zeros_like = /* @__PURE__ */ likeness<Options>("zeros_like", (op, args) => constant(op, args, 0));
/**
 * Ones of `input`'s shape.
 *
 * @example
 * torch.ones_like(torch.tensor([1.5, 2.5]))  // [1, 1]
 */
export const ones_like = /* @__PURE__ */ likeness<Options>("ones_like", (op, args) => constant(op, args, 1));
/**
 * Random numbers from 0 up to, but without, 1, of `input`'s shape.
 *
 * @example
 * torch.manual_seed(0);
 * torch.rand_like(torch.zeros(3))  // [0.399046, 0.88052, 0.735713]
 */
export const rand_like = /* @__PURE__ */ likeness<RandomOptions>("rand_like", (op, args) => random(op, args, "rand"));
/**
 * Normally distributed random numbers of `input`'s shape.
 *
 * @example
 * torch.manual_seed(0);
 * torch.randn_like(torch.zeros(3))  // [-0.875826, 1.77167, -1.55692]
 */
export const randn_like = /* @__PURE__ */ likeness<RandomOptions>("randn_like", (op, args) =>
  random(op, args, "randn"),
);
