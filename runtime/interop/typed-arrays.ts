// The elements of a tensor on the CPU as they lie in memory: a typed array that is no copy.

import { flag } from "../base/argument-kinds.js";
import { DeviceError, OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { numelOf } from "../base/shape.js";
import type { Elements } from "../program/compiled-op.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * The memory of a contiguous tensor on the CPU as a typed array: no copy, so that a decoder can write into a new tensor,
 * or a loop read one.  The memory grows as tensors are made and moves then, which leaves the array with no elements: use
 * it before the next call, and ask anew after that.  `write`: the elements are going to be changed, which autograd then
 * knows.  float16 and bfloat16 lie there as float32, int64 as BigInts, bools as bytes.
 *
 * @param input contiguous tensor on the CPU
 * @param write whether the program is going to change it
 *
 * @example
 * const x = torch.zeros([3]);
 * torch.typed_array(x, { write: true }).set([1, 2, 3]);
 * x  // [1, 2, 3]
 */
export function typed_array(input: Tensor, options?: { write?: boolean }): Elements;
export function typed_array(...args: unknown[]): Elements {
  const op = "typed_array",
    [input, write = false] = taken(`${op} input * write?`, args);
  check(input, op, "input");
  const { storage, dtype, offset, shape, device } = input;
  if (device !== "cpu")
    throw new DeviceError(`${op}: the tensor is on ${device}; await x.data() reads its elements into an array`);
  if (input.dtype === "complex64") throw new OpError(`${op}: complex numbers are pairs: give it torch.view_as_real(x)`);
  if (!input.is_contiguous()) throw new OpError(`${op}: the tensor must be contiguous; x.contiguous() is`);
  if (flag(write, op, "write")) storage.change();
  return storage.as(dtype).subarray(offset, offset + numelOf(shape)) as Elements;
}
