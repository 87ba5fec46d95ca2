// Views: other shapes and strides on the same memory, at no cost, with their gradients.

import { contiguous } from "../tensor/copy.js";
import { IndexError, OpError } from "../base/errors.js";
import { isRecording } from "../tape/grad-mode.js";
import { integer } from "../base/argument-kinds.js";
import { FunctionNode, attach } from "../tape/node.js";
import { type Geometry, laid, parts, whole } from "./parts-of-numbers.js";
import { place, sumTo } from "./view-adjoints.js";
import {
  type Shape,
  axesOf,
  axisOf,
  checkShape,
  contiguousStrides,
  extent,
  inferShape,
  integers,
  isContiguous,
  numelOf,
  showShape,
  viewStrides,
} from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";

type Sizes = readonly (number | readonly number[])[];

/** A view of `x`, which keeps `shape` and `strides`; `back` gives the gradient of x from that of the view. */
function makeView(
  x: Tensor,
  op: string,
  shape: Shape,
  strides: Shape,
  offset: number,
  back: (grad: Tensor) => Tensor,
): Tensor {
  x.check(op);
  const out = new Tensor(x.storage, x.dtype, Object.freeze(shape), Object.freeze(strides), offset);
  if (isRecording()) {
    out.base = x.base ?? x;
    out.nodeVersion = x.storage.version;
    out.refresh = refreshNode;
    if (x.requires_grad) attach(out, new FunctionNode(`${op[0]!.toUpperCase()}${op.slice(1)}Backward0`, x, back));
  } else if (x.requires_grad) out.viewRule = "unrecorded";
  return out;
}

export function view(x: Tensor, size: Sizes, op = "view"): Tensor {
  const shape = inferShape(integers(size, op), x.numel(), op);
  const strides = isContiguous(x.shape, x.strides) ? contiguousStrides(shape) : viewStrides(x.shape, x.strides, shape);
  if (!strides) {
    throw new OpError(
      `${op}: view size is not compatible with input tensor's size and stride (at least one dimension spans across two ` +
        `contiguous subspaces). Use .reshape(...) instead. The tensor has size ${showShape(x.shape)} and stride ${showShape(x.strides)}`,
    );
  }
  const before = x.shape;
  return makeView(x, op, shape, strides, x.offset, (grad) => reshape(grad, [before]));
}

/** A view if the strides allow it, else a copy. */
export function reshape(x: Tensor, size: Sizes, op = "reshape"): Tensor {
  const shape = inferShape(integers(size, op, "shape"), x.numel(), op);
  if (isContiguous(x.shape, x.strides) || viewStrides(x.shape, x.strides, shape)) return view(x, [shape], op);
  return owned(view(contiguous(x), [shape], op));
}

/** A view of a copy that nobody else sees: no view to autograd. */
export function owned(view: Tensor): Tensor {
  view.base = view.refresh = view.viewRule = null;
  return view;
}

/** All elements in one row. */
export const row = (x: Tensor): Tensor => (x.ndim === 1 ? x : reshape(x, [-1]));

export function permute(x: Tensor, dims: Sizes, op = "permute"): Tensor {
  const list = integers(dims, op, "dims");
  if (list.length !== x.ndim) {
    throw new OpError(
      `${op}: number of dimensions in the tensor input does not match the length of the desired ordering of dimensions ` +
        `i.e. input.dim() = ${x.ndim} is not equal to len(dims) = ${list.length}`,
    );
  }
  return reorder(x, axesOf(list, x.ndim, op), op);
}

function reorder(x: Tensor, axes: readonly number[], op: string): Tensor {
  const inverse = new Array<number>(axes.length);
  axes.forEach((a, i) => {
    inverse[a] = i;
  });
  return makeView(
    x,
    op,
    axes.map((a) => x.shape[a]!),
    axes.map((a) => x.strides[a]!),
    x.offset,
    (grad) => reorder(grad, inverse, "permute"),
  );
}

export function transpose(x: Tensor, dim0: number, dim1: number, op = "transpose"): Tensor {
  const a = axisOf(dim0, x.ndim, op),
    b = axisOf(dim1, x.ndim, op);
  const axes = x.shape.map((_, i) => (i === a ? b : i === b ? a : i));
  return reorder(x, axes, op);
}

export function movedim(
  x: Tensor,
  source: number | readonly number[],
  destination: number | readonly number[],
  op = "movedim",
): Tensor {
  const from = axesOf(integers([source].flat(), op, "source"), x.ndim, op),
    to = axesOf(integers([destination].flat(), op, "destination"), x.ndim, op);
  if (from.length !== to.length) {
    throw new OpError(
      `${op}: Invalid source or destination dims: source (${showShape(from)} dims) should contain the same number of dims as ` +
        `destination (${showShape(to)} dims)`,
    );
  }
  if (x.ndim === 0) return reorder(x, [], op);
  const axes = new Array<number>(x.ndim).fill(-1);
  to.forEach((t, i) => {
    axes[t] = from[i]!;
  });
  const rest = x.shape.map((_, i) => i).filter((i) => !from.includes(i));
  for (let i = 0; i < axes.length; i++) if (axes[i]! < 0) axes[i] = rest.shift()!;
  return reorder(x, axes, op);
}

export function t(x: Tensor): Tensor {
  if (x.ndim > 2) throw new OpError(`t: t() expects a tensor with <= 2 dimensions, but self is ${x.ndim}D`);
  return reverseAxes(x, "t");
}

export const reverseAxes = (x: Tensor, op = "permute"): Tensor =>
  reorder(
    x,
    x.shape.map((_, i) => x.ndim - 1 - i),
    op,
  );

export function matrixTranspose(x: Tensor): Tensor {
  if (x.ndim < 2)
    throw new OpError(`mT: tensor.mT is only supported on matrices or batches of matrices. Got ${x.ndim}-D tensor.`);
  return transpose(x, -2, -1);
}

export function expand(x: Tensor, size: Sizes, op = "expand"): Tensor {
  const want = integers(size, op),
    lead = want.length - x.ndim;
  const fail = (why: string) =>
    new OpError(`${op}: ${why}. Target sizes: ${showShape(want)}. Tensor sizes: ${showShape(x.shape)}`);
  if (lead < 0)
    throw fail(
      `the number of sizes provided (${want.length}) must be greater or equal to the number of dimensions in the tensor (${x.ndim})`,
    );
  const strides = new Array<number>(want.length).fill(0);
  const shape = want.map((n, i) => {
    if (i < lead) {
      if (n < 0)
        throw fail(`The expanded size of the tensor (${n}) isn't allowed in a leading, non-existing dimension ${i}`);
      return n;
    }
    const own = x.shape[i - lead]!;
    if (n === -1 || n === own) {
      strides[i] = x.strides[i - lead]!;
      return own;
    }
    if (own !== 1 || n < 0)
      throw fail(
        `The expanded size of the tensor (${n}) must match the existing size (${own}) at non-singleton dimension ${i}`,
      );
    return n;
  });
  checkShape(shape, op);
  const before = x.shape;
  return makeView(x, op, shape, strides, x.offset, (grad) => sumTo(grad, before));
}

/** Takes `length` slices of axis `dim` from `start`, every `step`-th. */
export function sliceAxis(x: Tensor, axis: number, start: number, length: number, step: number, op: string): Tensor {
  const shape = [...x.shape],
    strides = [...x.strides],
    before = x.shape;
  shape[axis] = length;
  strides[axis] = strides[axis]! * step;
  const offset = length > 0 ? x.offset + start * x.strides[axis]! : x.offset;
  return makeView(x, op, shape, strides, offset, (grad) =>
    place(grad, before, (t) => sliceAxis(t, axis, start, length, step, op)),
  );
}

export function narrow(x: Tensor, dim: number, start: number, length: number, op = "narrow"): Tensor {
  if (x.ndim === 0) throw new OpError(`${op}: narrow() cannot be applied to a 0-dim tensor.`);
  const axis = axisOf(dim, x.ndim, op),
    n = x.shape[axis]!;
  start = integer(start, op, "start");
  length = integer(length, op, "length");
  if (length < 0) throw new OpError(`${op}: narrow(): length must be non-negative.`);
  if (start < -n || start > n)
    throw new IndexError(`${op}: start out of range (expected to be in range of [${-n}, ${n}], but got ${start})`);
  const from = start < 0 ? start + n : start;
  if (from + length > n)
    throw new OpError(`${op}: start (${from}) + length (${length}) exceeds dimension size (${n}).`);
  return sliceAxis(x, axis, from, length, 1, op);
}

export function select(x: Tensor, dim: number, index: number, op = "select"): Tensor {
  if (x.ndim === 0) throw new IndexError(`${op}: select() cannot be applied to a 0-dim tensor.`);
  const axis = axisOf(dim, x.ndim, op),
    n = x.shape[axis]!;
  index = integer(index, op, "index");
  if (index < -n || index >= n) {
    throw new IndexError(
      `${op}: select(): index ${index} out of range for tensor of size ${showShape(x.shape)} at dimension ${axis}`,
    );
  }
  const at = index < 0 ? index + n : index,
    before = x.shape;
  return makeView(x, op, without(x.shape, axis), without(x.strides, axis), x.offset + at * x.strides[axis]!, (grad) =>
    place(grad, before, (t) => select(t, axis, at)),
  );
}

const without = (list: Shape, at: number): number[] => list.filter((_, i) => i !== at);

export function squeeze(x: Tensor, dim: number | readonly number[] | null = null): Tensor {
  const axes = dim === null ? x.shape.map((_, i) => i) : axesOf([dim].flat() as number[], x.ndim, "squeeze");
  const stays = (_: unknown, i: number) => x.shape[i] !== 1 || !axes.includes(i),
    before = x.shape;
  return makeView(x, "squeeze", x.shape.filter(stays), x.strides.filter(stays), x.offset, (grad) =>
    reshape(grad, [before]),
  );
}

export function unsqueeze(x: Tensor, dim: number): Tensor {
  const axis = axisOf(dim, x.ndim + 1, "unsqueeze"),
    shape = [...x.shape],
    strides = [...x.strides];
  strides.splice(axis, 0, axis < x.ndim ? x.strides[axis]! * x.shape[axis]! : 1);
  shape.splice(axis, 0, 1);
  return makeView(x, "unsqueeze", shape, strides, x.offset, (grad) => squeeze(grad, axis));
}

export interface FlattenOptions {
  start_dim?: number;
  end_dim?: number;
  startDim?: number;
  endDim?: number;
}

export function flatten(x: Tensor, start_dim = 0, end_dim = -1): Tensor {
  const a = axisOf(start_dim, x.ndim, "flatten"),
    b = axisOf(end_dim, x.ndim, "flatten");
  if (a > b) throw new OpError("flatten: flatten() has invalid args: start_dim cannot come after end_dim");
  if (x.ndim > 0 && a === b) return x;
  return reshape(x, [[...x.shape.slice(0, a), numelOf(x.shape.slice(a, b + 1)), ...x.shape.slice(b + 1)]], "flatten");
}

export function unflatten(x: Tensor, dim: number, unflattened_size: readonly number[]): Tensor {
  const axis = axisOf(dim, x.ndim, "unflatten"),
    n = x.shape[axis] ?? 1,
    sizes = integers([unflattened_size], "unflatten", "sizes");
  if (sizes.length === 0) throw new OpError("unflatten: sizes must be non-empty");
  const rest = sizes.filter((s) => s !== -1);
  if (rest.length === sizes.length && numelOf(sizes) !== n) {
    throw new OpError(
      `unflatten: Provided sizes ${showShape(sizes)} don't multiply up to the size of dim ${axis} (${n}) in the input tensor`,
    );
  }
  return view(
    x,
    [[...x.shape.slice(0, axis), ...inferShape(sizes, n, "unflatten"), ...x.shape.slice(axis + 1)]],
    "unflatten",
  );
}

export interface StridedOptions {
  storage_offset?: number;
}

/** Any shape and strides on the tensor's memory; `storage_offset` counts from the start of the storage. */
export function as_strided(
  x: Tensor,
  size: readonly number[],
  stride: readonly number[],
  storage_offset?: number | null,
): Tensor {
  const shape = integers([size], "as_strided"),
    strides = integers([stride], "as_strided", "stride");
  const offset = integer(storage_offset ?? x.offset, "as_strided", "storage_offset");
  checkShape(shape, "as_strided");
  if (shape.length !== strides.length) {
    throw new OpError(
      `as_strided: mismatch in length of strides and shape: ${showShape(strides)} and ${showShape(shape)}`,
    );
  }
  if (strides.some((s) => s < 0))
    throw new OpError(
      `as_strided: Negative strides are not supported at the moment, got strides: ${showShape(strides)}`,
    );
  const span = extent(shape, strides);
  const room = x.dtype === "complex64" ? x.storage.length / 2 : x.storage.length;
  if (offset < 0 || (span > 0 && offset + span > room)) {
    throw new OpError(
      `as_strided: setStorage: sizes ${showShape(shape)}, strides ${showShape(strides)}, storage offset ${offset} requiring a storage of ` +
        `${offset + span} elements are out of bounds for storage of ${room} elements`,
    );
  }
  return makeView(x, "as_strided", shape, strides, offset, stridedBack(x, { shape, strides, offset }));
}

/** The gradient of a tensor from that of any view of its memory. */
function stridedBack(x: Geometry, out: Geometry): (grad: Tensor) => Tensor {
  const { shape, strides } = x,
    low = Math.min(x.offset, out.offset);
  const length = Math.max(x.offset + extent(shape, strides), out.offset + extent(out.shape, out.strides)) - low;
  return (grad) =>
    as_strided(
      place(grad, [length], (t) => as_strided(t, out.shape, out.strides, t.offset + out.offset - low)),
      shape,
      strides,
      x.offset - low,
    );
}

/** The node of a view whose memory was changed in place through another tensor: a view of what the base is now. */
export function refreshNode(tensor: Tensor): void {
  tensor.nodeVersion = tensor.storage.version;
  const base = tensor.base!;
  if (!base.requires_grad || (base.is_leaf && (tensor.node || tensor.viewRule === "unrecorded"))) return;
  const apart = base.dtype !== tensor.dtype,
    back = stridedBack(laid(base, apart), laid(tensor, apart));
  attach(tensor, new FunctionNode("AsStridedBackward0", base, (grad) => whole(back(parts(grad, apart)), base.dtype)));
}

export interface DiagonalOptions {
  offset?: number;
  dim1?: number;
  dim2?: number;
}

export function diagonal(x: Tensor, offset = 0, dim1 = 0, dim2 = 1): Tensor {
  offset = integer(offset, "diagonal", "offset");
  const a = axisOf(dim1, x.ndim, "diagonal"),
    b = axisOf(dim2, x.ndim, "diagonal");
  if (a === b) throw new OpError(`diagonal: diagonal dimensions cannot be identical ${dim1}, ${dim2}`);
  const m = x.shape[a]!,
    n = x.shape[b]!,
    before = x.shape;
  const length = Math.max(offset >= 0 ? Math.min(m, n - offset) : Math.min(m + offset, n), 0);
  const start = length === 0 ? 0 : offset >= 0 ? offset * x.strides[b]! : -offset * x.strides[a]!;
  const rest = (list: Shape) => list.filter((_, i) => i !== a && i !== b);
  return makeView(
    x,
    "diagonal",
    [...rest(x.shape), length],
    [...rest(x.strides), x.strides[a]! + x.strides[b]!],
    x.offset + start,
    (grad) => place(grad, before, (t) => diagonal(t, offset, a, b)),
  );
}

export function unfold(x: Tensor, dimension: number, size: number, step: number): Tensor {
  const axis = axisOf(dimension, x.ndim, "unfold"),
    n = x.shape[axis] ?? 1,
    stride = x.strides[axis] ?? 1,
    before = x.shape;
  size = integer(size, "unfold", "size");
  step = integer(step, "unfold", "step");
  if (step <= 0) throw new OpError(`unfold: step is ${step} but must be > 0`);
  if (size < 0) throw new OpError(`unfold: size is ${size} but must be >= 0`);
  if (size > n) throw new OpError(`unfold: maximum size for tensor at dimension ${axis} is ${n} but size is ${size}`);
  const shape = [...x.shape, size],
    strides = [...x.strides, stride];
  if (x.ndim > 0) {
    shape[axis] = Math.floor((n - size) / step) + 1;
    strides[axis] = stride * step;
  }
  return makeView(x, "unfold", shape, strides, x.offset, (grad) =>
    place(grad, before, (t) => unfold(t, axis, size, step)),
  );
}
