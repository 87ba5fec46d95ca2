// `torch.where`: an op of three arguments, and of a condition alone the places where it holds.

import { isOptions, taken } from "../base/named-arguments.js";
import { nonzero } from "./data-dependent.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor, TensorOrNumber } from "../tensor/tensor.js";
import { where as chosen } from "../../names/torch.js";

/** Takes `input` where the condition holds and `other` elsewhere. */
export function where(condition: Tensor, input: TensorOrNumber, other: TensorOrNumber): Tensor;
/** The places where the condition holds, as `nonzero` with `as_tuple`: a tensor of indices for each axis. */
export function where(condition: Tensor): Promise<Tensor[]>;
export function where(...args: unknown[]): Tensor | Promise<Tensor[]> {
  const [one] = args;
  if (args.length !== 1 || (isOptions(one) && Object.keys(one).some((name) => name !== "condition")))
    return (chosen as (...given: unknown[]) => Tensor)(...args);
  const [condition] = taken("where condition", args);
  check(condition, "where", "condition");
  return nonzero(condition, { as_tuple: true }) as Promise<Tensor[]>;
}
