// Sums of gradients: in the engine, and into `.grad` of leaves.

import { AutogradError } from "../base/errors.js";
import { clone, replaceContent } from "../tensor/copy.js";
import { isRecording } from "../tape/grad-mode.js";
import * as kernels from "../views/needed-ops.js";
import { keep } from "../tensor/memory.js";
import { sameShape, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";

/** Gradients made by the engine, which nothing but the engine holds. */
export const temporary = new WeakSet<Tensor>();

/** The sum of two gradients of one tensor. */
export function addGradients(a: Tensor, b: Tensor): Tensor {
  if (!sameShape(a.shape, b.shape)) {
    throw new AutogradError(
      `two gradients of one tensor have the shapes ${showShape(a.shape)} and ${showShape(b.shape)}`,
    );
  }
  return kernels.accumulate(a, b);
}

/** Adds to `variable.grad`; the first gradient becomes it. */
export function accumulateInto(variable: Tensor, grad: Tensor): void {
  if (!sameShape(variable.shape, grad.shape)) {
    throw new AutogradError(
      `the gradient of a tensor of size ${showShape(variable.shape)} has the size ${showShape(grad.shape)}`,
    );
  }
  const before = variable.ownGradient();
  if (!before) {
    if (isRecording()) variable.grad = keep(grad);
    else
      variable.adoptGradient(
        keep(temporary.has(grad) && !grad.storage.shared && grad.is_contiguous() ? grad : clone(grad.detach())),
      );
  } else if (isRecording()) {
    variable.grad = keep(addGradients(before, grad));
  } else {
    const sum = addGradients(before.detach(), grad);
    replaceContent(before, sum);
    sum.dispose();
    if (temporary.has(grad)) grad.dispose();
  }
}
