// That arguments are tensors: the checks of base/argument-kinds.ts that need the class.

import { listOf, refuse } from "../base/argument-kinds.js";
import { Tensor } from "./tensor.js";

/** A tensor whose memory was not given back. */
export function check(x: unknown, op: string, name: string): asserts x is Tensor {
  if (!(x instanceof Tensor)) refuse(op, name, "a tensor", x);
  x.check(op);
}
/** The same, to be used as a value. */
export function tensorOf(x: unknown, op: string, name = "input"): Tensor {
  check(x, op, name);
  return x;
}

/** A list of such tensors. */
export function tensorsOf(value: unknown, op: string, name = "tensors"): Tensor[] {
  return listOf(value, op, name, "a list of tensors").map((x) => tensorOf(x, op, name));
}
