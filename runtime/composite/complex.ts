// Complex numbers, of which there are no tensors: they are pairs of real ones, a last axis of length 2.

import { OpError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { showShape } from "../base/shape.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { titled } from "../base/class-name.js";

/** A tensor of pairs that a function should take for complex numbers, where a plain tensor means real ones. */
export class ComplexView {
  constructor(readonly pairs: Tensor) {}

  /** The shape as complex numbers: that of the pairs without the last axis. */
  get shape(): readonly number[] {
    return this.pairs.shape.slice(0, -1);
  }

  get ndim(): number {
    return this.pairs.ndim - 1;
  }
}
titled(ComplexView, "ComplexView");

function checkPairs(x: Tensor, op: string): Tensor {
  if (!x.is_floating_point())
    throw new TypeMismatchError(
      `${op}: ${op} is only supported for floating point tensors, but got a tensor of ${x.dtype}`,
    );
  if (x.ndim === 0) throw new OpError(`${op}: Input tensor must have one or more dimensions`);
  if (x.shape[x.ndim - 1] !== 2)
    throw new OpError(`${op}: Tensor must have a last dimension of size 2, but its shape is ${showShape(x.shape)}`);
  return x;
}

/** Pairs seen as complex numbers, for the functions of `torch.fft` and `torch.istft`. */
export function view_as_complex(input: Tensor): ComplexView {
  [input] = taken("view_as_complex input", arguments);
  check(input, "view_as_complex", "input");
  return new ComplexView(checkPairs(input, "view_as_complex"));
}

/** Complex numbers as pairs.  What functions answer with is pairs already, and stays as it is. */
export function view_as_real(input: Tensor | ComplexView): Tensor {
  [input] = taken("view_as_real input", arguments);
  if (input instanceof ComplexView) return input.pairs;
  check(input, "view_as_real", "input");
  return checkPairs(input, "view_as_real");
}
