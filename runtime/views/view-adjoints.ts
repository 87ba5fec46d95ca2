// The adjoints of views: putting a gradient where the view took its elements from, and summing what was broadcast.

import { copyInto } from "../tensor/copy.js";
import { filledOn } from "../tensor/allocate.js";
import * as kernels from "./needed-ops.js";
import { unrecorded } from "../tape/grad-mode.js";
import { FunctionNode, attach, recording } from "../tape/node.js";
import { OpError } from "../base/errors.js";
import { type Shape, integers, overlaps, sameShape, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "./views.js";

/** A tensor of zeros of `shape` with `grad` at the places that `look` looks at (added up where it looks twice). */
export function place(grad: Tensor, shape: Shape, look: (tensor: Tensor) => Tensor): Tensor {
  const out = unrecorded(() => {
    const target = filledOn(grad.storage.device, shape, 0, grad.dtype, "zeros");
    addTo(look(target), grad);
    return target;
  });
  return recording(grad) ? attach(out, new FunctionNode("PlaceBackward", grad, look)) : out;
}

/** target += grad.  Axes along which places coincide are taken one by one; `fresh`: the target is still zero. */
function addTo(target: Tensor, grad: Tensor, fresh = true): void {
  if (!overlaps(target.shape, target.strides)) {
    if (fresh) {
      copyInto(target, grad);
      return;
    }
    const sum = kernels.accumulate(target, grad);
    copyInto(target, sum);
    sum.dispose();
    return;
  }
  let axis = -1;
  target.shape.forEach((n, i) => {
    if (n > 1 && (axis < 0 || n < target.shape[axis]!)) axis = i;
  });
  for (let i = 0; i < target.shape[axis]!; i++)
    addTo(views.select(target, axis, i), views.select(grad, axis, i), false);
}

/** Sums a gradient over the axes that broadcasting from `shape` added or stretched. */
export function sumTo(grad: Tensor, shape: Shape): Tensor {
  if (sameShape(grad.shape, shape)) return grad;
  const lead = grad.ndim - shape.length,
    axes: number[] = [];
  grad.shape.forEach((n, i) => {
    if (i < lead || (shape[i - lead] === 1 && n !== 1)) axes.push(i);
  });
  return axes.length ? views.reshape(kernels.sum(grad, axes), shape) : views.reshape(grad, shape);
}

/** The sum over what broadcasting from `size` to the tensor's shape stretches. */
export function sumToSize(x: Tensor, size: readonly (number | readonly number[])[]): Tensor {
  const want = integers(size, "sum_to_size"),
    lead = x.ndim - want.length;
  if (lead < 0 || want.some((n, i) => n !== 1 && n !== x.shape[lead + i])) {
    throw new OpError(`sum_to_size: size {${showShape(want)}} is not expandable to size {${showShape(x.shape)}}.`);
  }
  return want.length ? sumTo(x, want) : kernels.sum(x, []);
}
