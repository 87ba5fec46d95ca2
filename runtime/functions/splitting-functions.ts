// Tensors cut into parts, which are views, as functions.

import * as dynamic from "./data-dependent.js";
import type { Tensor } from "../tensor/tensor.js";
import * as splitting from "../views/splitting.js";
import { type Options, type Size, viewing } from "./viewing.js";

/**
 * Views of `chunks` parts along an axis, as even as can be.
 *
 * @param chunks integer, how many parts at most
 * @param dim integer, the axis that is cut
 * @example
 * torch.chunk(torch.arange(5), 2)  // [[0, 1, 2], [3, 4]]
 */
export const chunk = /* @__PURE__ */ viewing("chunk chunks dim?", (x, chunks: number, dim?: number) =>
  splitting.chunk(x, chunks, dim),
);
/**
 * Views of parts of `split_size` along an axis, or of these sizes.
 *
 * @param tensor the tensor
 * @param split_size_or_sections integer, the length of each part but perhaps the last, or a list of the lengths of all
 * @param dim integer, the axis that is cut
 * @example
 * torch.split(torch.arange(5), 2)  // [[0, 1], [2, 3], [4]]
 * @example
 * torch.split(torch.arange(5), [1, 4])  // [[0], [1, 2, 3, 4]]
 */
export const split = /* @__PURE__ */ viewing(
  "split split_size_or_sections dim?",
  (x, split_size_or_sections: Size, dim?: number) => splitting.split(x, split_size_or_sections, dim),
);
/**
 * Views of parts of these sizes along an axis.
 *
 * @param split_sizes list of integers, the lengths of the parts
 * @param dim integer, the axis that is cut
 * @example
 * torch.split_with_sizes(torch.arange(5), [1, 4])  // [[0], [1, 2, 3, 4]]
 */
export const split_with_sizes = /* @__PURE__ */ viewing(
  "split_with_sizes split_sizes dim?",
  (x, split_sizes: readonly number[], dim?: number) => splitting.split(x, split_sizes, dim, "split_with_sizes"),
);
interface TensorSplit {
  (input: Tensor, indices_or_sections: Size, dim?: number | splitting.DimOption): Tensor[];
  (input: Tensor, indices_or_sections: Tensor, dim?: number | splitting.DimOption): Promise<Tensor[]>;
  (input: Tensor, options: Options): Tensor[];
}
/**
 * Views cut at places, or so many of nearly equal size; a promise where a tensor says which.
 *
 * @example
 * torch.tensor_split(torch.arange(5), 2)  // [[0, 1, 2], [3, 4]]
 * @example
 * torch.tensor_split(torch.arange(5), [1, 3])  // [[0], [1, 2], [3, 4]]
 */
export const tensor_split = /* @__PURE__ */ viewing(
  "tensor_split indices_or_sections dim?",
  dynamic.tensor_split,
) as TensorSplit;
/**
 * Views of all places along an axis.
 *
 * @param dim integer, the axis that the parts lack
 * @example
 * const [x, y] = torch.unbind(torch.tensor([[1, 2], [3, 4]]), 1);
 * x  // [1, 3]
 */
export const unbind = /* @__PURE__ */ viewing("unbind dim?", (x, dim?: number) => splitting.unbind(x, dim));
/**
 * Views of parts along the second axis, of a vector along the first.
 *
 * @param sections integer, how many equal parts, or a list of integers, the places to cut at
 * @example
 * torch.hsplit(torch.tensor([[1, 2, 3], [4, 5, 6]]), [1])  // [[[1], [4]], [[2, 3], [5, 6]]]
 */
export const hsplit = /* @__PURE__ */ viewing("hsplit indices_or_sections", splitting.hsplit);
/**
 * Views of parts along the first axis.
 *
 * @param sections integer, how many equal parts, or a list of integers, the places to cut at
 * @example
 * torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2)  // [[[1, 2]], [[3, 4]]]
 */
export const vsplit = /* @__PURE__ */ viewing("vsplit indices_or_sections", splitting.vsplit);
/**
 * Views of parts along the third axis.
 *
 * @param sections integer, how many equal parts, or a list of integers, the places to cut at
 * @example
 * torch.dsplit(torch.tensor([[[1, 2], [3, 4]]]), 2)  // [[[[1], [3]]], [[[2], [4]]]]
 */
export const dsplit = /* @__PURE__ */ viewing("dsplit indices_or_sections", splitting.dsplit);
/**
 * As `chunk`.
 *
 * @param chunks integer, how many parts at most
 * @param dim integer, the axis that is cut
 * @example
 * torch.unsafe_chunk(torch.arange(5), 2)  // [[0, 1, 2], [3, 4]]
 */
export const unsafe_chunk = /* @__PURE__ */ viewing("unsafe_chunk chunks dim?", (x, chunks: number, dim?: number) =>
  splitting.chunk(x, chunks, dim, "unsafe_chunk"),
);
/**
 * As `split`.
 *
 * @param split_size integer, the length of each part but perhaps the last
 * @param dim integer, the axis that is cut
 * @example
 * torch.unsafe_split(torch.arange(5), 2)  // [[0, 1], [2, 3], [4]]
 */
export const unsafe_split = /* @__PURE__ */ viewing("unsafe_split split_size dim?", (x, size: number, dim?: number) =>
  splitting.split(x, size, dim, "unsafe_split"),
);
/**
 * As `split_with_sizes`.
 *
 * @param split_sizes list of integers, the lengths of the parts
 * @param dim integer, the axis that is cut
 * @example
 * torch.unsafe_split_with_sizes(torch.arange(5), [1, 4])  // [[0], [1, 2, 3, 4]]
 */
export const unsafe_split_with_sizes = /* @__PURE__ */ viewing(
  "unsafe_split_with_sizes split_sizes dim?",
  (x, sizes: readonly number[], dim?: number) => splitting.split(x, sizes, dim, "unsafe_split_with_sizes"),
);
