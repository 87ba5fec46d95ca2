// Views, copies and joins as functions: what `x.transpose(0, 1)` is as `torch.transpose(x, 0, 1)`, with PyTorch's
// argument names in a trailing object where one prefers them.

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
import { taken } from "../base/named-arguments.js";
import * as scattering from "./scatter-views.js";
import { Tensor } from "../tensor/tensor.js";
import * as copies from "../views/view-copies.js";
import * as views from "../views/views.js";
import * as splitting from "../views/splitting.js";

type Rest<F> = F extends (x: Tensor, ...rest: infer R) => unknown ? R : never;
type Result<F> = F extends (...args: never[]) => infer R ? R : never;
type Options = Readonly<Record<string, unknown>>;
/** The first arguments by position, all others by name. */
export type Named<R extends readonly unknown[]> = number extends R["length"]
  ? [...R, Options]
  :
      | [Options]
      | (R extends readonly [] ? never : R extends readonly [_?: infer A, ...rest: infer S] ? [A, ...Named<S>] : never);

/** A function of a tensor and of named arguments. */
function viewing<F extends (x: Tensor, ...rest: never[]) => unknown>(
  line: string,
  f: F,
): (input: Tensor, ...args: Rest<F> | Named<Rest<F>>) => Result<F> {
  const [op, own] = line.split(/ (.*)/) as [string, string?],
    all = `${op} input${own ? ` ${own}` : ""}`;
  return ((...args: unknown[]) => {
    const given = taken(all, args);
    check(given[0], op, "input");
    return f(...(given as [Tensor, ...never[]]));
  }) as never;
}

type Size = number | readonly number[];

/** The same elements in another shape, as a view where that can be; one size may be -1. */
export const reshape = /* @__PURE__ */ viewing("reshape *shape", (x, ...shape: Size[]) => views.reshape(x, shape));
/** A view with the axes in the order of `dims`. */
export const permute = /* @__PURE__ */ viewing("permute *dims", (x, ...dims: Size[]) => views.permute(x, dims));
/** A view with two axes exchanged. */
export const transpose = /* @__PURE__ */ viewing("transpose dim0 dim1", (x, dim0: number, dim1: number) =>
  views.transpose(x, dim0, dim1),
);
/** A view with two axes exchanged. */
export const swapaxes = /* @__PURE__ */ viewing("swapaxes axis0 axis1", (x, axis0: number, axis1: number) =>
  views.transpose(x, axis0, axis1, "swapaxes"),
);
/** A view with two axes exchanged. */
export const swapdims = /* @__PURE__ */ viewing("swapdims dim0 dim1", (x, dim0: number, dim1: number) =>
  views.transpose(x, dim0, dim1, "swapdims"),
);
/** A view with axes moved to other places. */
export const movedim = /* @__PURE__ */ viewing("movedim source destination", (x, source: Size, destination: Size) =>
  views.movedim(x, source, destination),
);
/** A view with axes moved to other places. */
export const moveaxis = /* @__PURE__ */ viewing("moveaxis source destination", (x, source: Size, destination: Size) =>
  views.movedim(x, source, destination, "moveaxis"),
);
/** A matrix with rows and columns exchanged; a vector is itself. */
export const t = /* @__PURE__ */ viewing("t", views.t);
/** The conjugate transpose of matrices: the last two axes exchanged. */
export const adjoint = /* @__PURE__ */ viewing("adjoint", (x) => conjugate(views.matrixTranspose(x)));
/** A view in a larger shape, in which axes of length 1 repeat. */
export const broadcast_to = /* @__PURE__ */ viewing("broadcast_to *size", (x, ...size: Size[]) =>
  views.expand(x, size, "broadcast_to"),
);
interface Narrow {
  (input: Tensor, dim: number, start: number, length: number): Tensor;
  (input: Tensor, dim: number, start: number | Tensor, length: number | Tensor): Promise<Tensor>;
  (input: Tensor, options: Options): Tensor;
}
/** A view of `length` elements along `dim` from `start` on; a promise where a tensor holds the start or the length. */
export const narrow = /* @__PURE__ */ viewing("narrow dim start length", dynamic.narrow) as Narrow;
/** A view of one place along an axis, which the result lacks. */
export const select = /* @__PURE__ */ viewing("select dim index", (x, dim: number, index: number) =>
  views.select(x, dim, index),
);
/** A view without axes of length 1: all, or those of `dim`. */
export const squeeze = /* @__PURE__ */ viewing("squeeze dim?", views.squeeze);
/** A view with one more axis, of length 1, at `dim`. */
export const unsqueeze = /* @__PURE__ */ viewing("unsqueeze dim", views.unsqueeze);
/** The axes from `start_dim` to `end_dim` as one. */
export const flatten = /* @__PURE__ */ viewing("flatten start_dim? end_dim?", views.flatten);
/** One axis as several of these sizes. */
export const unflatten = /* @__PURE__ */ viewing("unflatten dim sizes", views.unflatten);
/** All elements in a row, as a view where that can be. */
export const ravel = /* @__PURE__ */ viewing("ravel", (x) => views.reshape(x, [-1], "ravel"));
/** A view of the memory by sizes, strides and an offset. */
export const as_strided = /* @__PURE__ */ viewing("as_strided size stride storage_offset?", views.as_strided);
/** A view of a diagonal of two axes, as the last axis. */
export const diagonal = /* @__PURE__ */ viewing("diagonal offset? dim1? dim2?", views.diagonal);
/** Views of `chunks` parts along an axis, as even as can be. */
export const chunk = /* @__PURE__ */ viewing("chunk chunks dim?", (x, chunks: number, dim?: number) =>
  splitting.chunk(x, chunks, dim),
);
/** Views of parts of `split_size` along an axis, or of these sizes. */
export const split = /* @__PURE__ */ viewing(
  "split split_size_or_sections dim?",
  (x, split_size_or_sections: Size, dim?: number) => splitting.split(x, split_size_or_sections, dim),
);
/** Views of parts of these sizes along an axis. */
export const split_with_sizes = /* @__PURE__ */ viewing(
  "split_with_sizes split_sizes dim?",
  (x, split_sizes: readonly number[], dim?: number) => splitting.split(x, split_sizes, dim, "split_with_sizes"),
);
interface TensorSplit {
  (input: Tensor, indices_or_sections: Size, dim?: number | splitting.DimOption): Tensor[];
  (input: Tensor, indices_or_sections: Tensor, dim?: number | splitting.DimOption): Promise<Tensor[]>;
  (input: Tensor, options: Options): Tensor[];
}
/** Views cut at places, or so many of nearly equal size; a promise where a tensor says which. */
export const tensor_split = /* @__PURE__ */ viewing(
  "tensor_split indices_or_sections dim?",
  dynamic.tensor_split,
) as TensorSplit;
/** Views of all places along an axis. */
export const unbind = /* @__PURE__ */ viewing("unbind dim?", (x, dim?: number) => splitting.unbind(x, dim));
/** A copy with memory of its own, through which gradients flow. */
export const clone = /* @__PURE__ */ viewing("clone * memory_format?", copying.clone);
/** A view that no gradient flows through. */
export const detach = /* @__PURE__ */ viewing("detach", (x) => x.detach());
/** The elements in reverse order along the axes `dims`. */
export const flip = /* @__PURE__ */ viewing("flip *dims", (x, ...dims: Size[]) => along.flip(x, dims));
/** The elements moved by `shifts` along axes, round the end. */
export const roll = /* @__PURE__ */ viewing("roll shifts dims?", along.roll);
/** Differences of neighbours along an axis, `n` times. */
export const diff = /* @__PURE__ */ viewing("diff n? dim? prepend? append?", along.diff);
/** The tensor repeated along each axis. */
export const tile = /* @__PURE__ */ viewing("tile *dims", (x, ...dims: Size[]) => join.tile(x, ...dims));

/** Views of parts along the second axis, of a vector along the first. */
export const hsplit = /* @__PURE__ */ viewing("hsplit indices_or_sections", splitting.hsplit);
/** Views of parts along the first axis. */
export const vsplit = /* @__PURE__ */ viewing("vsplit indices_or_sections", splitting.vsplit);
/** Views of parts along the third axis. */
export const dsplit = /* @__PURE__ */ viewing("dsplit indices_or_sections", splitting.dsplit);
/** As `chunk`. */
export const unsafe_chunk = /* @__PURE__ */ viewing("unsafe_chunk chunks dim?", (x, chunks: number, dim?: number) =>
  splitting.chunk(x, chunks, dim, "unsafe_chunk"),
);
/** As `split`. */
export const unsafe_split = /* @__PURE__ */ viewing("unsafe_split split_size dim?", (x, size: number, dim?: number) =>
  splitting.split(x, size, dim, "unsafe_split"),
);
/** As `split_with_sizes`. */
export const unsafe_split_with_sizes = /* @__PURE__ */ viewing(
  "unsafe_split_with_sizes split_sizes dim?",
  (x, sizes: readonly number[], dim?: number) => splitting.split(x, sizes, dim, "unsafe_split_with_sizes"),
);
/** A copy of the tensor. */
export const alias_copy = /* @__PURE__ */ viewing("alias_copy", copies.alias_copy);
/** `as_strided` as a copy. */
export const as_strided_copy = /* @__PURE__ */ viewing(
  "as_strided_copy size stride storage_offset?",
  copies.as_strided_copy,
);
/** `diagonal` as a copy. */
export const diagonal_copy = /* @__PURE__ */ viewing("diagonal_copy offset? dim1? dim2?", copies.diagonal_copy);
/** `expand` as a copy. */
export const expand_copy = /* @__PURE__ */ viewing("expand_copy *size", (x, ...size: Size[]) =>
  copies.expand_copy(x, ...size),
);
/** `narrow` as a copy. */
export const narrow_copy = /* @__PURE__ */ viewing("narrow_copy dim start length", copies.narrow_copy);
/** `permute` as a copy. */
export const permute_copy = /* @__PURE__ */ viewing("permute_copy *dims", copies.permute_copy);
/** `squeeze` as a copy. */
export const squeeze_copy = /* @__PURE__ */ viewing("squeeze_copy dim?", (x, dim?: Size) =>
  copies.squeeze_copy(x, dim),
);
/** `t` as a copy. */
export const t_copy = /* @__PURE__ */ viewing("t_copy", copies.t_copy);
/** `transpose` as a copy. */
export const transpose_copy = /* @__PURE__ */ viewing("transpose_copy dim0 dim1", copies.transpose_copy);
/** `unfold` as a copy. */
export const unfold_copy = /* @__PURE__ */ viewing("unfold_copy dimension size step", copies.unfold_copy);
/** `unsqueeze` as a copy. */
export const unsqueeze_copy = /* @__PURE__ */ viewing("unsqueeze_copy dim", copies.unsqueeze_copy);
/** `view` as a copy. */
export const view_copy = /* @__PURE__ */ viewing("view_copy *size", copies.view_copy);
/** `split` as copies. */
export const split_copy = /* @__PURE__ */ viewing("split_copy split_size dim?", copies.split_copy);
/** `split_with_sizes` as copies. */
export const split_with_sizes_copy = /* @__PURE__ */ viewing(
  "split_with_sizes_copy split_sizes dim?",
  copies.split_with_sizes_copy,
);
/** `unbind` as copies. */
export const unbind_copy = /* @__PURE__ */ viewing("unbind_copy dim?", copies.unbind_copy);

/** A copy in which `src` stands on a diagonal. */
export const diagonal_scatter = /* @__PURE__ */ viewing(
  "diagonal_scatter src offset? dim1? dim2?",
  scattering.diagonal_scatter,
);
/** A copy in which `src` stands at one place along an axis. */
export const select_scatter = /* @__PURE__ */ viewing("select_scatter src dim index", scattering.select_scatter);
/** A copy in which `src` stands at a slice of an axis. */
export const slice_scatter = /* @__PURE__ */ viewing(
  "slice_scatter src dim? start? end? step?",
  scattering.slice_scatter,
);
/** A copy in which `src` stands where `as_strided` would look. */
export const as_strided_scatter = /* @__PURE__ */ viewing(
  "as_strided_scatter src size stride storage_offset?",
  scattering.as_strided_scatter,
);
/** The diagonal of a matrix, or a matrix with a vector on its diagonal. */
export const diag = /* @__PURE__ */ viewing("diag diagonal?", scattering.diag);
/** Matrices with the last axis on their diagonals. */
export const diag_embed = /* @__PURE__ */ viewing("diag_embed offset? dim1? dim2?", scattering.diag_embed);
/** A matrix with all elements on its diagonal. */
export const diagflat = /* @__PURE__ */ viewing("diagflat offset?", scattering.diagflat);
/** The tensor with margins of `value` around its last axes. */
export const constant_pad_nd = /* @__PURE__ */ viewing("constant_pad_nd pad value?", scattering.constant_pad_nd);

/**
 * `x.to(…)` where tensors have no such method: in another type, on another device.  From a GPU to the CPU: a promise.
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

/** The tensor itself: nothing is conjugated or negated later. */
export const resolve_conj = /* @__PURE__ */ viewing("resolve_conj", (x) => x);
/** The tensor itself: signs are never put off here. */
export const resolve_neg = /* @__PURE__ */ viewing("resolve_neg", (x) => x);

/** The tensor itself, as Python's `+x`.  Throws where it is of truth values. */
export const positive = /* @__PURE__ */ viewing("positive", (x) => {
  if (x.dtype === "bool") throw new OpError("positive: the `+` operator, on a bool tensor, is not supported");
  return x;
});

/** How many elements the tensor has. */
export const numel = /* @__PURE__ */ viewing("numel", (x) => x.numel());
/** Whether the type is a float. */
export const is_floating_point = /* @__PURE__ */ viewing("is_floating_point", (x) => x.is_floating_point());

/** Whether the type is complex. */
export const is_complex = /* @__PURE__ */ viewing("is_complex", (x) => x.dtype === "complex64");

/** Whether a value is a tensor. */
export const is_tensor = (value: unknown): value is Tensor => value instanceof Tensor;
