// What may stand in a tensor's `.grad`, and what is said where nothing ever will.

import { AutogradError, warned } from "../base/errors.js";
import { showShape } from "../base/shape.js";
import type { Tensor } from "./tensor.js";

/** Throws if `grad` cannot be the gradient of `tensor`. */
export function checkGradient(tensor: Tensor, grad: Tensor): void {
  if (grad === tensor) throw new AutogradError("can't assign Variable as its own grad");
  for (const [what, of] of KINDS) {
    if (of(grad) !== of(tensor))
      throw new AutogradError(
        `attempting to assign a gradient ${what} '${of(grad)}' to a tensor ${what} '${of(tensor)}'`,
      );
  }
}
/** What a gradient has in common with its tensor. */
const KINDS: readonly [string, (x: Tensor) => string][] = [
  ["with dtype", (x) => x.dtype],
  ["with device type", (x) => x.device],
  ["of size", (x) => showShape(x.shape)],
];

/** Warns once of who asks for the gradient of a tensor that is no leaf, and keeps none. */
export function warnOfResult(tensor: Tensor): void {
  const node = tensor.currentNode();
  if (!node || node.retained?.get(tensor.outputNumber)?.deref() === tensor) return;
  warned(
    "Warning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). Use .retain_grad() on the non-leaf Tensor.",
  );
}
