// What is done along one axis after another: turning round, rolling, and differences taken several times.

import { refuse } from "../base/argument-kinds.js";
import { clone } from "../tensor/copy.js";
import { IndexError, OpError } from "../base/errors.js";
import { joined } from "./join.js";
import * as kernels from "../views/needed-ops.js";
import { type Shape, axesOf, axisOf, integers, numelOf, showShape } from "../base/shape.js";
import { tidy } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { narrow } from "../views/views.js";
import * as views from "../views/views.js";

/** The order along each of `dims` reversed, as a copy. */
export function flip(x: Tensor, dims: readonly (number | readonly number[])[]): Tensor {
  const axes = axesOf(integers(dims, "flip", "dims"), x.ndim, "flip");
  if (x.ndim === 0 || axes.length === 0) return clone(x);
  return axes.reduce((t, axis) => kernels.flip_one(t, axis), x);
}

/**
 * Shifts elements along `dims`, each by its own of `shifts`; those that fall off come back at the other end.
 * Without `dims` the tensor is rolled as if it had one axis.
 */
export function roll(x: Tensor, shifts: number | Shape, dims?: number | Shape | null): Tensor {
  const by = integers([shifts].flat(), "roll", "shifts"),
    along = dims === undefined || dims === null ? [] : integers([dims].flat(), "roll", "dims");
  if (by.length === 0) throw new OpError("roll: `shifts` required");
  if (along.length === 0) {
    if (by.length > 1)
      throw new OpError(`roll: shifts and dimensions must align. shifts: ${by.length}, dims:${along.length}`);
    return tidy(() => views.owned(views.reshape(kernels.roll_one(views.reshape(x, [-1]), by[0]!, 0), x.shape)));
  }
  if (by.length !== along.length)
    throw new OpError(`roll: shifts and dimensions must align. shifts: ${by.length}, dims:${along.length}`);
  if (x.ndim === 0) throw new IndexError(`roll: Dimension specified as ${along[0]} but tensor has no dimensions`);
  if (numelOf(x.shape) === 0) return clone(x); // whatever `dims` says, as in PyTorch
  along.forEach((dim) => axisOf(dim, x.ndim, "roll"));
  return tidy(() => along.reduce((t, dim, i) => kernels.roll_one(t, by[i]!, dim), x));
}

/**
 * The differences of neighbours along `dim`, taken `n` times, after `prepend` and `append` were joined to both ends.
 */
export function diff(x: Tensor, n = 1, dim = -1, prepend?: Tensor | null, append?: Tensor | null): Tensor {
  if (x.ndim === 0) throw new OpError("diff expects input to be at least one-dimensional");
  if (!Number.isInteger(n)) refuse("diff", "n", "an integer", n);
  if (n < 0) throw new OpError(`diff: order must be non-negative but got ${n}`);
  const axis = axisOf(dim, x.ndim, "diff");
  for (const end of [prepend, append]) {
    if (end == null) continue;
    if (!(end instanceof Tensor)) refuse("diff", end === prepend ? "prepend" : "append", "a tensor", end);
    if (end.ndim !== x.ndim || end.shape.some((size, d) => d !== axis && size !== x.shape[d])) {
      throw new OpError(
        `diff: expects the shapes of prepend and append to match that of input except along dimension ${axis}, ` +
          `but got ${showShape(end.shape)} for ${showShape(x.shape)}`,
      );
    }
  }
  const parts = [prepend, x, append].filter((t): t is Tensor => t instanceof Tensor);
  let out = parts.length > 1 ? joined(parts, axis, "diff") : x;
  if (n === 0) return clone(x);
  if (n >= out.shape[axis]!) return clone(narrow(out, axis, 0, 0, "diff"));
  for (let k = 0; k < n; k++) {
    const length = out.shape[axis]! - 1,
      after = narrow(out, axis, 1, length, "diff"),
      before = narrow(out, axis, 0, length, "diff");
    out = out.dtype === "bool" ? kernels.ne(after, before) : kernels.sub(after, before);
  }
  return out;
}
