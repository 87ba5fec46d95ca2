// Views, copies and joins as functions: what `x.transpose(0, 1)` is as `torch.transpose(x, 0, 1)`, with PyTorch's
// argument names in a trailing object where one prefers them.

import * as along from "./along-axes.js";
import { clone as cloneTensor } from "./copy.js";
import { TypeMismatchError, describe } from "./errors.js";
import * as join from "./join.js";
import { named } from "./named.js";
import * as placing from "./placing.js";
import { Tensor } from "./tensor.js";
import * as copies from "./view-copies.js";
import * as views from "./views.js";

type Rest<F> = F extends (x: Tensor, ...rest: infer R) => unknown ? R : never;
type Result<F> = F extends (...args: never[]) => infer R ? R : never;
type Options = Readonly<Record<string, unknown>>;

/** A function of a tensor and of named arguments. */
function viewing<F extends (x: Tensor, ...rest: never[]) => unknown>(op: string, names: readonly string[], f: F):
  (input: Tensor, ...args: Rest<F> | [...Partial<Rest<F>>, Options]) => Result<F> {
  const all = ["input", ...names];
  return ((...args: unknown[]) => {
    const [input, ...rest] = named(op, all, args);
    if (!(input instanceof Tensor)) throw new TypeMismatchError(`${op}: argument 'input' must be a tensor, got ${describe(input)}`);
    return f(input, ...(rest as never[]));
  }) as never;
}

type Size = number | readonly number[];

export const reshape = viewing("reshape", ["shape"], (x, ...shape: Size[]) => views.reshape(x, shape));
export const permute = viewing("permute", ["dims"], (x, ...dims: Size[]) => views.permute(x, dims));
export const transpose = viewing("transpose", ["dim0", "dim1"], (x, dim0: number, dim1: number) => views.transpose(x, dim0, dim1));
export const swapaxes = viewing("swapaxes", ["axis0", "axis1"], (x, axis0: number, axis1: number) => views.transpose(x, axis0, axis1, "swapaxes"));
export const swapdims = viewing("swapdims", ["dim0", "dim1"], (x, dim0: number, dim1: number) => views.transpose(x, dim0, dim1, "swapdims"));
export const movedim = viewing("movedim", ["source", "destination"], (x, source: Size, destination: Size) => views.movedim(x, source, destination));
export const moveaxis = viewing("moveaxis", ["source", "destination"], (x, source: Size, destination: Size) => views.movedim(x, source, destination, "moveaxis"));
export const t = viewing("t", [], (x) => views.t(x));
export const adjoint = viewing("adjoint", [], (x) => views.matrixTranspose(x));
export const broadcast_to = viewing("broadcast_to", ["size"], (x, ...size: Size[]) => views.expand(x, size, "broadcast_to"));
interface Narrow {
  (input: Tensor, dim: number, start: number, length: number): Tensor;
  (input: Tensor, dim: number, start: Tensor, length: number): Promise<Tensor>;
  (input: Tensor, options: Options): Tensor;
}
/** A view of `length` elements along `dim` from `start` on; a promise where a tensor holds the start. */
export const narrow = viewing("narrow", ["dim", "start", "length"], (x, dim: number, start: number, length: number) => x.narrow(dim, start, length)) as Narrow;
export const select = viewing("select", ["dim", "index"], (x, dim: number, index: number) => views.select(x, dim, index));
export const squeeze = viewing("squeeze", ["dim"], (x, dim?: Size) => views.squeeze(x, dim));
export const unsqueeze = viewing("unsqueeze", ["dim"], (x, dim: number) => views.unsqueeze(x, dim));
export const flatten = viewing("flatten", ["start_dim", "end_dim"], (x, start_dim?: number, end_dim?: number) => views.flatten(x, start_dim, end_dim));
export const unflatten = viewing("unflatten", ["dim", "sizes"], (x, dim: number, sizes: readonly number[]) => views.unflatten(x, dim, sizes));
export const ravel = viewing("ravel", [], (x) => views.reshape(x, [-1], "ravel"));
export const as_strided = viewing("as_strided", ["size", "stride", "storage_offset"],
  (x, size: readonly number[], stride: readonly number[], storage_offset?: number) => views.as_strided(x, size, stride, storage_offset));
export const diagonal = viewing("diagonal", ["offset", "dim1", "dim2"], (x, offset?: number, dim1?: number, dim2?: number) => views.diagonal(x, offset, dim1, dim2));
export const chunk = viewing("chunk", ["chunks", "dim"], (x, chunks: number, dim?: number) => views.chunk(x, chunks, dim));
export const split = viewing("split", ["split_size_or_sections", "dim"], (x, split_size_or_sections: Size, dim?: number) => views.split(x, split_size_or_sections, dim));
export const split_with_sizes = viewing("split_with_sizes", ["split_sizes", "dim"],
  (x, split_sizes: readonly number[], dim?: number) => views.split(x, split_sizes, dim, "split_with_sizes"));
interface TensorSplit {
  (input: Tensor, indices_or_sections: Size, dim?: number | views.DimOption): Tensor[];
  (input: Tensor, indices_or_sections: Tensor, dim?: number | views.DimOption): Promise<Tensor[]>;
  (input: Tensor, options: Options): Tensor[];
}
/** Views cut at places, or so many of nearly equal size; a promise where a tensor says which. */
export const tensor_split = viewing("tensor_split", ["indices_or_sections", "dim"],
  (x, indices_or_sections: Size, dim?: number) => x.tensor_split(indices_or_sections, dim)) as TensorSplit;
export const unbind = viewing("unbind", ["dim"], (x, dim?: number) => views.unbind(x, dim));
export const clone = viewing("clone", ["memory_format"], (x) => cloneTensor(x));
export const detach = viewing("detach", [], (x) => x.detach());
export const flip = viewing("flip", ["dims"], (x, ...dims: Size[]) => along.flip(x, dims));
export const roll = viewing("roll", ["shifts", "dims"], (x, shifts: Size, dims?: Size | null) => along.roll(x, shifts, dims));
export const diff = viewing("diff", ["n", "dim", "prepend", "append"], along.diff);
export const tile = viewing("tile", ["dims"], (x, ...dims: Size[]) => join.tile(x, ...dims));

export const hsplit = viewing("hsplit", ["indices_or_sections"], (x, at: Size) => views.hsplit(x, at));
export const vsplit = viewing("vsplit", ["indices_or_sections"], (x, at: Size) => views.vsplit(x, at));
export const dsplit = viewing("dsplit", ["indices_or_sections"], (x, at: Size) => views.dsplit(x, at));
export const unsafe_chunk = viewing("unsafe_chunk", ["chunks", "dim"], (x, chunks: number, dim?: number) => views.chunk(x, chunks, dim, "unsafe_chunk"));
export const unsafe_split = viewing("unsafe_split", ["split_size", "dim"], (x, size: number, dim?: number) => views.split(x, size, dim, "unsafe_split"));
export const unsafe_split_with_sizes = viewing("unsafe_split_with_sizes", ["split_sizes", "dim"],
  (x, sizes: readonly number[], dim?: number) => views.split(x, sizes, dim, "unsafe_split_with_sizes"));
export const alias_copy = viewing("alias_copy", [], copies.alias_copy);
export const as_strided_copy = viewing("as_strided_copy", ["size", "stride", "storage_offset"], copies.as_strided_copy);
export const diagonal_copy = viewing("diagonal_copy", ["offset", "dim1", "dim2"], copies.diagonal_copy);
export const expand_copy = viewing("expand_copy", ["size", "implicit"], (x, ...size: Size[]) => copies.expand_copy(x, ...size));
export const narrow_copy = viewing("narrow_copy", ["dim", "start", "length"], copies.narrow_copy);
export const permute_copy = viewing("permute_copy", ["dims"], copies.permute_copy);
export const squeeze_copy = viewing("squeeze_copy", ["dim"], (x, dim?: Size) => copies.squeeze_copy(x, dim));
export const t_copy = viewing("t_copy", [], copies.t_copy);
export const transpose_copy = viewing("transpose_copy", ["dim0", "dim1"], copies.transpose_copy);
export const unfold_copy = viewing("unfold_copy", ["dimension", "size", "step"], copies.unfold_copy);
export const unsqueeze_copy = viewing("unsqueeze_copy", ["dim"], copies.unsqueeze_copy);
export const view_copy = viewing("view_copy", ["size"], copies.view_copy);
export const split_copy = viewing("split_copy", ["split_size", "dim"], copies.split_copy);
export const split_with_sizes_copy = viewing("split_with_sizes_copy", ["split_sizes", "dim"], copies.split_with_sizes_copy);
export const unbind_copy = viewing("unbind_copy", ["dim"], copies.unbind_copy);

export const diagonal_scatter = viewing("diagonal_scatter", ["src", "offset", "dim1", "dim2"], placing.diagonal_scatter);
export const select_scatter = viewing("select_scatter", ["src", "dim", "index"], placing.select_scatter);
export const slice_scatter = viewing("slice_scatter", ["src", "dim", "start", "end", "step"], placing.slice_scatter);
export const as_strided_scatter = viewing("as_strided_scatter", ["src", "size", "stride", "storage_offset"], placing.as_strided_scatter);
export const diag = viewing("diag", ["diagonal"], (x, offset?: number) => placing.diag(x, offset));
export const diag_embed = viewing("diag_embed", ["offset", "dim1", "dim2"], (x, offset?: number, dim1?: number, dim2?: number) => placing.diag_embed(x, offset, dim1, dim2));
export const diagflat = viewing("diagflat", ["offset"], placing.diagflat);
export const constant_pad_nd = viewing("constant_pad_nd", ["pad", "value"], placing.constant_pad_nd);

/** Of real numbers these are the tensor itself. */
export const real = viewing("real", [], (x) => x);
export const conj = viewing("conj", [], (x) => x);
export const conj_physical = viewing("conj_physical", [], (x) => x);
export const resolve_conj = viewing("resolve_conj", [], (x) => x);
export const resolve_neg = viewing("resolve_neg", [], (x) => x);

export const numel = viewing("numel", [], (x) => x.numel());
export const is_floating_point = viewing("is_floating_point", [], (x) => x.is_floating_point());

export const is_tensor = (value: unknown): value is Tensor => value instanceof Tensor;
