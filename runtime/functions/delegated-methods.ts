// Methods of tensors that are functions of the same names: their types, and which functions they are.

import * as counting from "./counting.js";
import * as dynamic from "./data-dependent.js";
import * as functions from "./tensor-functions.js";
import { index_put, index_put_ } from "./index-put.js";
import type { IndexSpec } from "./indexing.js";
import * as join from "./join.js";
import { taken } from "../base/named-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import type * as views from "../views/views.js";
import type * as splitting from "../views/splitting.js";

/** The functions of these names, of the tensor and the arguments, which they bind. */
export interface Delegated {
  transpose(dim0: number, dim1: number): Tensor;
  t(): Tensor;
  select(dim: number, index: number): Tensor;
  squeeze(dim?: number | readonly number[] | splitting.DimOption): Tensor;
  unsqueeze(dim: number | splitting.DimOption): Tensor;
  swapaxes(axis0: number, axis1: number): Tensor;
  swapdims(dim0: number, dim1: number): Tensor;
  movedim(source: number | readonly number[], destination: number | readonly number[]): Tensor;
  moveaxis(source: number | readonly number[], destination: number | readonly number[]): Tensor;
  flatten(start_dim?: number | views.FlattenOptions, end_dim?: number): Tensor;
  unflatten(dim: number, sizes: readonly number[]): Tensor;
  diagonal(offset?: number | views.DiagonalOptions, dim1?: number, dim2?: number): Tensor;
  chunk(chunks: number, dim?: number | splitting.DimOption): Tensor[];
  split(split_size: number | readonly number[], dim?: number | splitting.DimOption): Tensor[];
  hsplit(indices_or_sections: number | readonly number[]): Tensor[];
  vsplit(indices_or_sections: number | readonly number[]): Tensor[];
  dsplit(indices_or_sections: number | readonly number[]): Tensor[];
  unsafe_chunk(chunks: number, dim?: number | splitting.DimOption): Tensor[];
  unsafe_split(split_size: number, dim?: number | splitting.DimOption): Tensor[];
  split_with_sizes(split_sizes: readonly number[], dim?: number | splitting.DimOption): Tensor[];
  unbind(dim?: number | splitting.DimOption): Tensor[];
  diag(diagonal?: number | { diagonal?: number }): Tensor;
  diag_embed(offset?: number | views.DiagonalOptions, dim1?: number, dim2?: number): Tensor;
  diagflat(offset?: number): Tensor;
  diagonal_scatter(src: Tensor, offset?: number, dim1?: number, dim2?: number): Tensor;
  select_scatter(src: Tensor, dim: number, index: number): Tensor;
  slice_scatter(src: Tensor, dim?: number, start?: number | null, end?: number | null, step?: number): Tensor;
  narrow_copy(dim: number, start: number, length: number): Tensor;
  flip(...dims: (number | readonly number[])[]): Tensor;
  roll(...args: unknown[]): Tensor;
  diff(...args: unknown[]): Tensor;
  tile(...dims: (number | readonly number[])[]): Tensor;
  ravel(): Tensor;
  as_strided_scatter(
    src: Tensor,
    size: readonly number[],
    stride: readonly number[],
    storage_offset?: number | views.StridedOptions,
  ): Tensor;
  as_strided(
    size: readonly number[],
    stride: readonly number[],
    storage_offset?: number | views.StridedOptions,
  ): Tensor;
  narrow(dim: number, start: number, length: number): Tensor;
  narrow(dim: number, start: number | Tensor, length: number | Tensor): Promise<Tensor>;
  tensor_split(indices_or_sections: number | readonly number[], dim?: number | splitting.DimOption): Tensor[];
  tensor_split(indices_or_sections: Tensor, dim?: number | splitting.DimOption): Promise<Tensor[]>;
  /** Promises of what depends on values: see the functions of these names. */
  masked_select(mask: Tensor): Promise<Tensor>;
  nonzero_static(options: { size: number; fill_value?: number }): Promise<Tensor>;
  nonzero(options?: { as_tuple?: boolean }): Promise<Tensor | Tensor[]>;
  equal(other: Tensor): Promise<boolean>;
  allclose(other: Tensor, ...rest: unknown[]): Promise<boolean>;
  repeat_interleave(repeats: number, dim?: number | null): Tensor;
  repeat_interleave(repeats: Tensor, dim?: number | null, options?: { output_size?: number }): Promise<Tensor>;
  unique(...args: unknown[]): Promise<Tensor | Tensor[]>;
  unique_consecutive(...args: unknown[]): Promise<Tensor | Tensor[]>;
  bincount(...args: unknown[]): Promise<Tensor>;
  /**
   * The tensor so many times along each axis, the last one last.
   *
   * @example
   * torch.tensor([1, 2]).repeat(2, 2)  // [[1, 2, 1, 2], [1, 2, 1, 2]]
   */
  repeat(...repeats: (number | readonly number[])[]): Tensor;
  index_put_(indices: readonly IndexSpec[], values: Tensor, accumulate?: boolean | { accumulate?: boolean }): this;
  index_put(indices: readonly IndexSpec[], values: Tensor, accumulate?: boolean | { accumulate?: boolean }): Tensor;
}

// Not `functions[name]`, which would hold all functions there are.
export const delegated: Readonly<Record<keyof Delegated, unknown>> = {
  as_strided: functions.as_strided,
  as_strided_scatter: functions.as_strided_scatter,
  chunk: functions.chunk,
  diag: functions.diag,
  diag_embed: functions.diag_embed,
  diagflat: functions.diagflat,
  diagonal: functions.diagonal,
  diagonal_scatter: functions.diagonal_scatter,
  diff: functions.diff,
  dsplit: functions.dsplit,
  flatten: functions.flatten,
  flip: functions.flip,
  hsplit: functions.hsplit,
  moveaxis: functions.moveaxis,
  movedim: functions.movedim,
  narrow: functions.narrow,
  narrow_copy: functions.narrow_copy,
  ravel: functions.ravel,
  roll: functions.roll,
  select: functions.select,
  select_scatter: functions.select_scatter,
  slice_scatter: functions.slice_scatter,
  split: functions.split,
  split_with_sizes: functions.split_with_sizes,
  squeeze: functions.squeeze,
  swapaxes: functions.swapaxes,
  swapdims: functions.swapdims,
  t: functions.t,
  tensor_split: functions.tensor_split,
  tile: functions.tile,
  transpose: functions.transpose,
  unbind: functions.unbind,
  unflatten: functions.unflatten,
  unsafe_chunk: functions.unsafe_chunk,
  unsafe_split: functions.unsafe_split,
  unsqueeze: functions.unsqueeze,
  vsplit: functions.vsplit,
  masked_select: dynamic.masked_select,
  nonzero_static: dynamic.nonzero_static,
  nonzero: dynamic.nonzero,
  equal: dynamic.equal,
  allclose: dynamic.allclose,
  repeat_interleave: dynamic.repeat_interleave,
  unique: counting.unique,
  unique_consecutive: counting.unique_consecutive,
  bincount: counting.bincount,
  repeat: (...args: unknown[]) => join.repeat(...(taken("repeat input *repeats", args) as [Tensor])),
  index_put_,
  index_put,
};
