// What may stand in a tensor's `.grad`, and what is said where nothing ever will.

import { AutogradError, warned } from "../base/errors.js";
import { sameShape, showShape } from "../base/shape.js";
import type { Tensor } from "./tensor.js";

/** Throws if `grad` cannot be the gradient of `tensor`. */
export function checkGradient(tensor: Tensor, grad: Tensor): void {
  if (grad === tensor) throw new AutogradError("can't assign Variable as its own grad");
  if (grad.dtype !== tensor.dtype) throw mismatch("with dtype", grad.dtype, tensor.dtype);
  if (grad.device !== tensor.device) throw mismatch("with device type", grad.device, tensor.device);
  if (!sameShape(grad.shape, tensor.shape)) throw mismatch("of size", showShape(grad.shape), showShape(tensor.shape));
}

const mismatch = (what: string, given: string, wanted: string): AutogradError =>
  new AutogradError(`attempting to assign a gradient ${what} '${given}' to a tensor ${what} '${wanted}'`);

/** Warns once of who asks for the gradient of a tensor that is no leaf, and keeps none. */
export function warnOfResult(tensor: Tensor): void {
  const node = tensor.currentNode();
  if (!node || node.retained?.get(tensor.outputNumber)?.deref() === tensor) return;
  warned(
    "Warning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. It won't be populated by backward(). Use .retain_grad() on the Tensor.",
  );
}
