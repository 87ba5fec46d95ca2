// Views, copies and joins as functions: what `x.transpose(0, 1)` is as `torch.transpose(x, 0, 1)`, with PyTorch's
// argument names in a trailing object where one prefers them.

import { clone as cloneTensor } from "./copy.js";
import { TypeMismatchError, describe } from "./errors.js";
import * as join from "./join.js";
import { named } from "./named.js";
import { Tensor } from "./tensor.js";
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
export const narrow = viewing("narrow", ["dim", "start", "length"], (x, dim: number, start: number, length: number) => views.narrow(x, dim, start, length));
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
export const tensor_split = viewing("tensor_split", ["indices_or_sections", "dim"],
  (x, indices_or_sections: Size, dim?: number) => views.tensor_split(x, indices_or_sections, dim));
export const unbind = viewing("unbind", ["dim"], (x, dim?: number) => views.unbind(x, dim));
export const clone = viewing("clone", ["memory_format"], (x) => cloneTensor(x));
export const detach = viewing("detach", [], (x) => x.detach());
export const tile = viewing("tile", ["dims"], (x, ...dims: Size[]) => join.tile(x, ...dims));
export const numel = viewing("numel", [], (x) => x.numel());
export const is_floating_point = viewing("is_floating_point", [], (x) => x.is_floating_point());

export const is_tensor = (value: unknown): value is Tensor => value instanceof Tensor;
