// Sums of gradients: in the engine, and into `.grad` of leaves.

import { AutogradError } from "../base/errors.js";
import { clone, replaceContent } from "../tensor/copy.js";
import { isRecording } from "../tape/grad-mode.js";
import * as kernels from "../views/needed-ops.js";
import { keep } from "../tensor/memory.js";
import { sameShape, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";

/** Gradients made by the engine, which nothing but the engine holds: at how many places. */
export const held = new WeakMap<Tensor, number>();

/** The engine holds a gradient at one place less. */
export function letGo(grad: Tensor): void {
  const places = held.get(grad);
  if (places! > 1) held.set(grad, places! - 1);
  else if (held.delete(grad)) grad.dispose();
}

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
    else if (held.get(grad) === 1 && !grad.storage.shared && grad.is_contiguous()) variable.adoptGradient(keep(grad));
    else {
      variable.adoptGradient(keep(clone(grad.detach())));
      letGo(grad);
    }
  } else if (isRecording()) {
    variable.grad = keep(addGradients(before, grad));
  } else {
    const sum = addGradients(before.detach(), grad);
    replaceContent(before, sum);
    sum.dispose();
    letGo(grad);
  }
}
