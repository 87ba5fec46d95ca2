// Changing how many elements a tensor has, in place.

import { copyInto } from "../tensor/copy.js";
import { emptyOn } from "../tensor/allocate.js";
import { AutogradError } from "../base/errors.js";
import { type Shape, checkShape, contiguousStrides, integers, numelOf } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { narrow, view } from "./views.js";

/** Gives `x` the shape `size`, row by row; its memory is replaced by a larger one where it is too small. */
export function resize_<T extends Tensor>(x: T, size: readonly (number | readonly number[])[]): T {
  const shape: Shape = integers(size, "resize_");
  x.check("resize_");
  checkShape(shape, "resize_");
  if (x.requires_grad) throw new AutogradError("resize_: cannot resize variables that require grad");
  const { storage } = x,
    room = storage.length - x.offset,
    needed = numelOf(shape);
  if (needed <= room) {
    return x.lay(Object.freeze(shape), contiguousStrides(shape), x.offset);
  }
  const larger = emptyOn(storage.device, [needed], x.dtype, "resize_"),
    old = new Tensor(storage, x.dtype, Object.freeze([room]), Object.freeze([1]), x.offset);
  copyInto(narrow(larger, 0, 0, room), old);
  old.dispose();
  x.set_data(view(larger, shape));
  larger.dispose();
  return x;
}
