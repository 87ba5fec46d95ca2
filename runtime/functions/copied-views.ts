// Views as copies, and copies in which something stands where a view would look, as functions.

import * as scattering from "./scatter-views.js";
import * as copies from "../views/view-copies.js";
import { type Size, viewing } from "./viewing.js";

/**
 * A copy of the tensor.
 *
 * @example
 * const x = torch.tensor([1, 2]);
 * torch.alias_copy(x).fill_(0);
 * x  // [1, 2]
 */
export const alias_copy = /* @__PURE__ */ viewing("alias_copy", copies.alias_copy);
/** `as_strided` as a copy. */
export const as_strided_copy = /* @__PURE__ */ viewing(
  "as_strided_copy size stride storage_offset?",
  copies.as_strided_copy,
);
/** `diagonal` as a copy. */
export const diagonal_copy = /* @__PURE__ */ viewing("diagonal_copy offset? dim1? dim2?", copies.diagonal_copy);
/**
 * `expand` as a copy.
 *
 * @param size integers, one by one or as a list: the larger shape; -1 keeps an axis as it is
 * @param implicit not taken here
 * @example
 * torch.expand_copy(torch.tensor([1, 2]), [2, 2])  // [[1, 2], [1, 2]]
 */
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
/**
 * `unfold` as a copy.
 *
 * @param dimension integer, the axis
 * @param size integer, the length of a window
 * @param step integer, from the start of one window to that of the next
 * @example
 * torch.unfold_copy(torch.arange(5), 0, 3, 2)  // [[0, 1, 2], [2, 3, 4]]
 */
export const unfold_copy = /* @__PURE__ */ viewing("unfold_copy dimension size step", copies.unfold_copy);
/** `unsqueeze` as a copy. */
export const unsqueeze_copy = /* @__PURE__ */ viewing("unsqueeze_copy dim", copies.unsqueeze_copy);
/**
 * `view` as a copy.
 *
 * @param dtype not taken here; the new sizes are, one by one or as a list
 * @example
 * torch.view_copy(torch.arange(4), [2, 2])  // [[0, 1], [2, 3]]
 */
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

/**
 * A copy in which `src` stands on a diagonal.
 *
 * @param src tensor, what stands on the diagonal
 * @param offset integer, which diagonal: above 0 to the right of the main one, below 0 under it
 * @param dim1 integer, the axis of the rows
 * @param dim2 integer, the axis of the columns
 * @example
 * torch.diagonal_scatter(torch.zeros(2, 2), torch.tensor([1, 2]))  // [[1, 0], [0, 2]]
 */
export const diagonal_scatter = /* @__PURE__ */ viewing(
  "diagonal_scatter src offset? dim1? dim2?",
  scattering.diagonal_scatter,
);
/**
 * A copy in which `src` stands at one place along an axis.
 *
 * @param src tensor, what stands there: of `input`'s shape without the axis
 * @param dim integer, the axis
 * @param index integer, the place along it
 * @example
 * torch.select_scatter(torch.zeros(2, 2), torch.tensor([1, 2]), 0, 1)  // [[0, 0], [1, 2]]
 */
export const select_scatter = /* @__PURE__ */ viewing("select_scatter src dim index", scattering.select_scatter);
/**
 * A copy in which `src` stands at a slice of an axis.
 *
 * @param src tensor, what stands there: of the shape of the slice
 * @param dim integer, the axis
 * @param start integer, the first place of the slice
 * @param end integer, the place behind its last; without it the end of the axis
 * @param step integer, from one place to the next
 * @example
 * torch.slice_scatter(torch.zeros(5), torch.tensor([1, 2]), 0, 1, 3)  // [0, 1, 2, 0, 0]
 */
export const slice_scatter = /* @__PURE__ */ viewing(
  "slice_scatter src dim? start? end? step?",
  scattering.slice_scatter,
);
/**
 * A copy in which `src` stands where `as_strided` would look.
 *
 * @param src tensor of the shape `size`, what stands there
 * @param size list of integers, the shape of the view
 * @param stride list of integers, for each of its axes how many elements lie between neighbours
 * @param storage_offset integer, where the view begins, in elements
 * @example
 * torch.as_strided_scatter(torch.zeros(5), torch.tensor([1, 2]), [2], [3])  // [1, 0, 0, 2, 0]
 */
export const as_strided_scatter = /* @__PURE__ */ viewing(
  "as_strided_scatter src size stride storage_offset?",
  scattering.as_strided_scatter,
);
/**
 * The diagonal of a matrix, or a matrix with a vector on its diagonal.
 *
 * @param diagonal integer, which diagonal: above 0 to the right of the main one, below 0 under it
 * @example
 * torch.diag(torch.tensor([1, 2]))  // [[1, 0], [0, 2]]
 * @example
 * torch.diag(torch.tensor([[1, 2], [3, 4]]))  // [1, 4]
 */
export const diag = /* @__PURE__ */ viewing("diag diagonal?", scattering.diag);
/**
 * Matrices with the last axis on their diagonals.
 *
 * @param offset integer, which diagonal: above 0 to the right of the main one, below 0 under it
 * @param dim1 integer, the axis of the rows in the result
 * @param dim2 integer, the axis of the columns in the result
 * @example
 * torch.diag_embed(torch.tensor([[1, 2], [3, 4]]))  // [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
 */
export const diag_embed = /* @__PURE__ */ viewing("diag_embed offset? dim1? dim2?", scattering.diag_embed);
/**
 * A matrix with all elements on its diagonal.
 *
 * @param offset integer, which diagonal: above 0 to the right of the main one, below 0 under it
 * @example
 * torch.diagflat(torch.tensor([[1], [2]]), 1)  // [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
 */
export const diagflat = /* @__PURE__ */ viewing("diagflat offset?", scattering.diagflat);
/**
 * The tensor with margins of `value` around its last axes.
 *
 * @param pad list of integers: how many elements before and behind the last axis, then the one before it, and so on
 * @param value number that fills the margins
 * @example
 * torch.constant_pad_nd(torch.tensor([1, 2]), [1, 2], 9)  // [9, 1, 2, 9, 9]
 */
export const constant_pad_nd = /* @__PURE__ */ viewing("constant_pad_nd pad value?", scattering.constant_pad_nd);
