// Views, copies and types as functions: what `x.transpose(0, 1)` is as `torch.transpose(x, 0, 1)`.

import * as dynamic from "./data-dependent.js";
import * as along from "./along-axes.js";
import * as copying from "../tensor/copy.js";
import * as transfer from "../views/transfer.js";
import type { Device, GpuName } from "../devices/device.js";
import type { DType } from "../elements/dtype.js";
import * as join from "./join.js";
import { conjugate } from "../dispatch/call.js";
import { check } from "../tensor/tensor-arguments.js";
import { OpError } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import { type Options, type Size, viewing } from "./viewing.js";

export * from "./copied-views.js";
export * from "./splitting-functions.js";

/**
 * The same elements in another shape, as a view where that can be; one size may be -1.
 *
 * @param shape integers, one by one or as a list: the new sizes; one of them may be -1, which stands for what is left
 * @example
 * torch.arange(6).reshape(2, -1)  // [[0, 1, 2], [3, 4, 5]]
 */
export const reshape = /* @__PURE__ */ viewing("reshape *shape", (x, ...shape: Size[]) => views.reshape(x, shape));
/**
 * A view with the axes in the order of `dims`.
 *
 * @param dims integers, one by one or as a list: for each axis of the result, which axis of `input` it is
 * @example
 * torch.permute(torch.ones(2, 3, 5), [2, 0, 1]).shape  // [5, 2, 3]
 */
export const permute = /* @__PURE__ */ viewing("permute *dims", (x, ...dims: Size[]) => views.permute(x, dims));
/**
 * A view with two axes exchanged.
 *
 * @param dim0 integer, one of the two axes
 * @param dim1 integer, the other
 * @example
 * torch.transpose(torch.tensor([[1, 2, 3], [4, 5, 6]]), 0, 1)  // [[1, 4], [2, 5], [3, 6]]
 */
export const transpose = /* @__PURE__ */ viewing("transpose dim0 dim1", (x, dim0: number, dim1: number) =>
  views.transpose(x, dim0, dim1),
);
/**
 * A view with two axes exchanged.
 *
 * @param axis0 integer, one of the two axes
 * @param axis1 integer, the other
 * @example
 * torch.swapaxes(torch.tensor([[1, 2, 3], [4, 5, 6]]), 0, 1)  // [[1, 4], [2, 5], [3, 6]]
 */
export const swapaxes = /* @__PURE__ */ viewing("swapaxes axis0 axis1", (x, axis0: number, axis1: number) =>
  views.transpose(x, axis0, axis1, "swapaxes"),
);
/**
 * A view with two axes exchanged.
 *
 * @param dim0 integer, one of the two axes
 * @param dim1 integer, the other
 * @example
 * torch.swapdims(torch.tensor([[1, 2, 3], [4, 5, 6]]), 0, 1)  // [[1, 4], [2, 5], [3, 6]]
 */
export const swapdims = /* @__PURE__ */ viewing("swapdims dim0 dim1", (x, dim0: number, dim1: number) =>
  views.transpose(x, dim0, dim1, "swapdims"),
);
/**
 * A view with axes moved to other places.
 *
 * @param source integer or list of integers: the axes that are moved
 * @param destination integer or list of integers: where each of them stands in the result
 * @example
 * torch.movedim(torch.ones(2, 3, 5), 0, -1).shape  // [3, 5, 2]
 */
export const movedim = /* @__PURE__ */ viewing("movedim source destination", (x, source: Size, destination: Size) =>
  views.movedim(x, source, destination),
);
/**
 * A view with axes moved to other places.
 *
 * @param source integer or list of integers: the axes that are moved
 * @param destination integer or list of integers: where each of them stands in the result
 * @example
 * torch.moveaxis(torch.ones(2, 3, 5), [0, 1], [1, 2]).shape  // [5, 2, 3]
 */
export const moveaxis = /* @__PURE__ */ viewing("moveaxis source destination", (x, source: Size, destination: Size) =>
  views.movedim(x, source, destination, "moveaxis"),
);
/**
 * A matrix with rows and columns exchanged; a vector is itself.
 *
 * @example
 * torch.t(torch.tensor([[1, 2, 3], [4, 5, 6]]))  // [[1, 4], [2, 5], [3, 6]]
 */
export const t = /* @__PURE__ */ viewing("t", views.t);
/**
 * The conjugate transpose of matrices: the last two axes exchanged.
 *
 * @example
 * const x = torch.complex(torch.tensor([[1, 2]]), torch.tensor([[3, 4]]));
 * torch.view_as_real(torch.adjoint(x))  // [[[1, -3]], [[2, -4]]]
 */
export const adjoint = /* @__PURE__ */ viewing("adjoint", (x) => conjugate(views.matrixTranspose(x)));
/**
 * A view in a larger shape, in which axes of length 1 repeat.
 *
 * @param size integers, one by one or as a list: the larger shape
 * @example
 * torch.broadcast_to(torch.tensor([1, 2]), [3, 2])  // [[1, 2], [1, 2], [1, 2]]
 */
export const broadcast_to = /* @__PURE__ */ viewing("broadcast_to *size", (x, ...size: Size[]) =>
  views.expand(x, size, "broadcast_to"),
);
interface Narrow {
  (input: Tensor, dim: number, start: number, length: number): Tensor;
  (input: Tensor, dim: number, start: number | Tensor, length: number | Tensor): Promise<Tensor>;
  (input: Tensor, options: Options): Tensor;
}
/**
 * A view of `length` elements along `dim` from `start` on; a promise where a tensor holds the start or the length.
 *
 * @param dim integer, the axis
 * @param start integer, the first place; negative ones count from the end
 * @param length integer, how many places
 * @example
 * torch.narrow(torch.tensor([10, 20, 30, 40]), 0, 1, 2)  // [20, 30]
 */
export const narrow = /* @__PURE__ */ viewing("narrow dim start length", dynamic.narrow) as Narrow;
/**
 * A view of one place along an axis, which the result lacks.
 *
 * @param dim integer, the axis
 * @param index integer, the place; negative ones count from the end
 * @example
 * torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)  // [1, 3]
 */
export const select = /* @__PURE__ */ viewing("select dim index", (x, dim: number, index: number) =>
  views.select(x, dim, index),
);
/**
 * A view without axes of length 1: all, or those of `dim`.
 *
 * @param dim integer or list of integers, the axes that go where their length is 1; null: all of length 1, default null
 * @example
 * torch.squeeze(torch.ones(1, 3, 1)).shape  // [3]
 * @example
 * torch.squeeze(torch.ones(1, 3, 1), 0).shape  // [3, 1]
 */
export const squeeze = /* @__PURE__ */ viewing("squeeze dim?", views.squeeze);
/**
 * A view with one more axis, of length 1, at `dim`.
 *
 * @param dim integer, where the new axis stands in the result
 * @example
 * torch.unsqueeze(torch.tensor([1, 2]), 1)  // [[1], [2]]
 */
export const unsqueeze = /* @__PURE__ */ viewing("unsqueeze dim", views.unsqueeze);
/**
 * The axes from `start_dim` to `end_dim` as one.
 *
 * @param start_dim integer, the first of the axes that become one
 * @param end_dim integer, the last of them
 * @example
 * torch.flatten(torch.ones(2, 3, 4), 1).shape  // [2, 12]
 */
export const flatten = /* @__PURE__ */ viewing("flatten start_dim? end_dim?", views.flatten);
/**
 * One axis as several of these sizes.
 *
 * @param dim integer, the axis that becomes several
 * @param sizes list of integers, the sizes of these; one may be -1
 * @example
 * torch.unflatten(torch.arange(6), 0, [2, -1])  // [[0, 1, 2], [3, 4, 5]]
 */
export const unflatten = /* @__PURE__ */ viewing("unflatten dim sizes", views.unflatten);
/**
 * All elements in a row, as a view where that can be.
 *
 * @example
 * torch.ravel(torch.tensor([[1, 2], [3, 4]]))  // [1, 2, 3, 4]
 */
export const ravel = /* @__PURE__ */ viewing("ravel", (x) => views.reshape(x, [-1], "ravel"));
/**
 * A view of the memory by sizes, strides and an offset.
 *
 * @param size list of integers, the shape of the view
 * @param stride list of integers, for each of its axes how many elements of memory lie between neighbours
 * @param storage_offset integer, where in memory the view begins, in elements; without it where `input` does
 * @example
 * torch.as_strided(torch.arange(5), [3, 3], [1, 1])  // [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
 */
export const as_strided = /* @__PURE__ */ viewing("as_strided size stride storage_offset?", views.as_strided);
/**
 * A view of a diagonal of two axes, as the last axis.
 *
 * @param offset integer, which diagonal: above 0 to the right of the main one, below 0 under it
 * @param dim1 integer, the axis of the rows
 * @param dim2 integer, the axis of the columns
 * @example
 * torch.diagonal(torch.tensor([[1, 2], [3, 4]]))  // [1, 4]
 * @example
 * torch.diagonal(torch.tensor([[1, 2], [3, 4]]), 1)  // [2]
 */
export const diagonal = /* @__PURE__ */ viewing("diagonal offset? dim1? dim2?", views.diagonal);
/**
 * A copy with memory of its own, through which gradients flow.
 *
 * @example
 * const x = torch.tensor([1, 2]), y = torch.clone(x);
 * y.fill_(0);
 * x  // [1, 2]
 */
export const clone = /* @__PURE__ */ viewing("clone * memory_format?", copying.clone);
/**
 * A view that no gradient flows through.
 *
 * @example
 * const x = torch.tensor([1, 2], { requires_grad: true }), y = x.mul(3);
 * [y.requires_grad, torch.detach(y).requires_grad]  // [true, false]
 */
export const detach = /* @__PURE__ */ viewing("detach", (x) => x.detach());
/**
 * The elements in reverse order along the axes `dims`.
 *
 * @param dims integers, one by one or as a list: the axes that are turned round
 * @example
 * torch.flip(torch.tensor([[1, 2, 3], [4, 5, 6]]), [1])  // [[3, 2, 1], [6, 5, 4]]
 */
export const flip = /* @__PURE__ */ viewing("flip *dims", (x, ...dims: Size[]) => along.flip(x, dims));
/**
 * The elements moved by `shifts` along axes, round the end.
 *
 * @param shifts integer or list of integers, how many places along each axis of `dims`
 * @param dims integer or list of integers, the axes; without them the tensor counts as one row
 * @example
 * torch.roll(torch.tensor([1, 2, 3, 4]), 1)  // [4, 1, 2, 3]
 */
export const roll = /* @__PURE__ */ viewing("roll shifts dims?", along.roll);
/**
 * Differences of neighbours along an axis, `n` times.
 *
 * @param n integer, how often differences are taken
 * @param dim integer, the axis
 * @param prepend tensor that is put in front along `dim` first
 * @param append tensor that is put behind along `dim` first
 * @example
 * torch.diff(torch.tensor([1, 4, 9, 16]))  // [3, 5, 7]
 * @example
 * torch.diff(torch.tensor([1, 4, 9, 16]), 2)  // [2, 2]
 */
export const diff = /* @__PURE__ */ viewing("diff n? dim? prepend? append?", along.diff);
/**
 * The tensor repeated along each axis.
 *
 * @param dims integers, one by one or as a list: how often along each axis, the last number along the last
 * @example
 * torch.tile(torch.tensor([1, 2]), [2, 2])  // [[1, 2, 1, 2], [1, 2, 1, 2]]
 */
export const tile = /* @__PURE__ */ viewing("tile *dims", (x, ...dims: Size[]) => join.tile(x, ...dims));

/**
 * `x.to(…)` where tensors have no such method: in another type, on another device.  From a GPU to the CPU: a promise.
 *
 * @example
 * torch.to(torch.tensor([1.5, -2.5]), torch.int32)  // [1, -2]
 */
export function to(input: Tensor, dtype: DType): Tensor;
export function to(input: Tensor, other: Tensor): Tensor;
export function to(input: Tensor, device: GpuName, dtype?: DType): Tensor;
export function to(input: Tensor, device: string | Device, dtype?: DType): Tensor | Promise<Tensor>;
export function to(input: Tensor, options: transfer.ToOptions): Tensor | Promise<Tensor>;
export function to(input: Tensor, ...args: unknown[]): Tensor | Promise<Tensor> {
  check(input, "to", "input");
  return transfer.to(input, args);
}

/**
 * The tensor itself: nothing is conjugated or negated later.
 *
 * @example
 * const x = torch.conj(torch.complex(torch.tensor([1, 2]), torch.tensor([3, 4])));
 * torch.resolve_conj(x) === x  // true
 */
export const resolve_conj = /* @__PURE__ */ viewing("resolve_conj", (x) => x);
/**
 * The tensor itself: signs are never put off here.
 *
 * @example
 * const x = torch.tensor([1, 2]).neg();
 * torch.resolve_neg(x) === x  // true
 */
export const resolve_neg = /* @__PURE__ */ viewing("resolve_neg", (x) => x);

/**
 * The tensor itself, as Python's `+x`.  Throws where it is of truth values.
 *
 * @example
 * torch.positive(torch.tensor([-1, 2]))  // [-1, 2]
 */
export const positive = /* @__PURE__ */ viewing("positive", (x) => {
  if (x.dtype === "bool") throw new OpError("positive: the `+` operator, on a bool tensor, is not supported");
  return x;
});

/**
 * How many elements the tensor has.
 *
 * @example
 * torch.numel(torch.ones(2, 3))  // 6
 */
export const numel = /* @__PURE__ */ viewing("numel", (x) => x.numel());
/**
 * Whether the type is a float.
 *
 * @example
 * torch.is_floating_point(torch.tensor([1, 2]))  // true
 */
export const is_floating_point = /* @__PURE__ */ viewing("is_floating_point", (x) => x.is_floating_point());

/**
 * Whether the type is complex.
 *
 * @example
 * torch.is_complex(torch.zeros(2, { dtype: torch.complex64 }))  // true
 */
export const is_complex = /* @__PURE__ */ viewing("is_complex", (x) => x.dtype === "complex64");

/**
 * Whether a value is a tensor.
 *
 * @param value anything
 * @example
 * torch.is_tensor([1, 2])  // false
 */
export const is_tensor = (value: unknown): value is Tensor => value instanceof Tensor;
