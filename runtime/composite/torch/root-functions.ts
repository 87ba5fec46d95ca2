// Functions of PyTorch's root namespace that are a line over what there is, and those of root-layers.ts and
// root-losses.ts, which torch.nn.functional has, too: here they are PyTorch's own operators, with the operators' order of
// arguments, and numbers for reductions.

import * as F from "../../../names/functional.js";
import { add, div, gt, index_copy, index_select, mul, where } from "../../../names/torch.js";
import { count, flag, integer, number, refuse } from "../../base/argument-kinds.js";
import { axisOf } from "../../base/shape.js";
import { ones_like } from "../../creation/like.js";
import { conj } from "../../functions/complex-parts.js";
import { clone } from "../../tensor/copy.js";
import { tensorOf, tensorsOf } from "../../tensor/tensor-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { become } from "../../views/in-place.js";
import { resize_ } from "../../views/resize.js";
import { copy_, fill_ as fill } from "../../views/transfer.js";
import * as views from "../../views/views.js";
import { multi_dot } from "../matrix-chains.js";
import { matrix_norm, p_norm } from "../matrix-norms.js";
import { operator } from "./operator.js";

export { adaptive_avg_pool1d, avg_pool1d, bilinear } from "../../../names/functional.js";
export * from "./root-layers.js";
export * from "./root-losses.js";

type Maybe = Tensor | null;

// --- Norms and products -----------------------------------------------------------------------------

type Axes = number | readonly number[];
/**
 * The root of the sum of squares, of matrices.
 *
 * @param input float tensor of any shape
 * @param dim an axis or two; all unless given
 * @param keepdim whether those axes stay, with length 1
 *
 * @example
 * torch.frobenius_norm(torch.tensor([[1, 1], [1, 1]]))  // 2
 */
export const frobenius_norm = /* @__PURE__ */ operator(
  "frobenius_norm input dim? keepdim?",
  (input: Tensor, dim?: Axes, keepdim?: boolean) => p_norm(input, "fro", dim ?? null, keepdim ?? false),
);
/**
 * The sum of singular values, of matrices; `keepdim` may stand in the place of `dim`.
 *
 * @param input float tensor of two or more axes
 * @param dim the two axes of the matrices; the last two unless given
 * @param keepdim whether those axes stay, with length 1
 *
 * @example
 * torch.nuclear_norm(torch.tensor([[3, 0], [0, -4]]))  // 7
 */
export const nuclear_norm = /* @__PURE__ */ operator(
  "nuclear_norm input dim? keepdim?",
  (input: Tensor, dim?: readonly number[] | boolean, keepdim?: boolean) =>
    typeof dim === "boolean"
      ? matrix_norm(input, "nuc", [-2, -1], dim)
      : matrix_norm(input, "nuc", dim ?? [-2, -1], keepdim ?? false),
);
/**
 * The norm over all axes but `dim`, which are kept with length 1.
 *
 * @param v float tensor of any shape
 * @param pow the order of the norm
 * @param dim the axis whose slices have a norm each
 *
 * @example
 * torch.norm_except_dim(torch.tensor([[3, 4], [6, 8]]))  // [[5], [10]]
 */
export const norm_except_dim = /* @__PURE__ */ operator(
  "norm_except_dim v pow? dim?",
  (v: Tensor, pow?: number, dim?: number) => {
    const at = integer(dim ?? 0, "norm_except_dim", "dim");
    if (at === -1) return p_norm(v, pow ?? 2);
    const others = v.shape.map((_, axis) => axis).filter((axis) => axis !== at);
    return others.length ? p_norm(v, pow ?? 2, others, true) : p_norm(views.unsqueeze(v, 1), pow ?? 2, [1]);
  },
);
/**
 * The product of matrices, in the order that takes the fewest steps.
 *
 * @param matrices tensors of two axes whose sizes fit
 *
 * @example
 * torch.chain_matmul(torch.tensor([[1, 2]]), torch.tensor([[1, 0], [0, 3]]), torch.tensor([[1], [1]]))  // [[7]]
 */
export const chain_matmul = (...matrices: Tensor[]): Tensor => {
  const all = tensorsOf(matrices, "chain_matmul", "matrices");
  return all.length === 1 ? all[0]! : multi_dot(all);
};

/**
 * A convolution of any number of axes, or with `transposed` its counterpart, of as many axes as `input` has beyond its
 * batch and its channels.
 *
 * @param input float tensor [N, C, *sizes]
 * @param weight float tensor [out, C / groups, *kernel]; where `transposed`, [C, out / groups, *kernel]
 * @param bias float tensor [out]
 * @param stride how far windows are apart along each axis
 * @param padding how many zeros are added at each end of each axis
 * @param dilation how far the elements of a window are apart along each axis
 * @param transposed whether it is the counterpart, as `conv_transpose2d`
 * @param output_padding how much longer the result is along each axis; where `transposed` only
 * @param groups into how many parts channels are divided, which know nothing of each other
 *
 * @example
 * const x = torch.tensor([[[1, 2, 3, 4]]]), weight = torch.tensor([[[1, -1]]]);
 * torch.convolution(x, weight, null, [1], [0], [1], false, [0], 1)  // [[[-1, -1, -1]]]
 */
export const convolution = /* @__PURE__ */ operator(
  "convolution input weight bias stride padding dilation transposed output_padding groups",
  (
    input: Tensor,
    weight: Tensor,
    bias: Maybe,
    stride: readonly number[],
    padding: readonly number[],
    dilation: readonly number[],
    transposed: boolean,
    output_padding: readonly number[],
    groups: number,
  ) => {
    const axes = tensorOf(weight, "convolution", "weight").ndim - 2,
      plain = { 1: F.conv1d, 2: F.conv2d, 3: F.conv3d }[axes],
      turned = { 1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d }[axes];
    if (!plain || !turned) refuse("convolution", "weight", "a tensor of 3, 4 or 5 axes", weight);
    const how = { stride, padding, dilation, groups } as object;
    return flag(transposed, "convolution", "transposed")
      ? turned(input, weight, bias, { ...how, output_padding } as object)
      : plain(input, weight, bias, how);
  },
);
/**
 * Scales, in place, those rows of `input` that `indices` name whose norm is more than `max_norm` down to it.
 *
 * @param input float tensor [rows, D]
 * @param indices whole numbers of any shape
 * @param max_norm how long a row may be
 * @param norm_type the order of the norm
 *
 * @example
 * torch.embedding_renorm_(torch.tensor([[3, 4], [6, 8], [6, 8]]), torch.LongTensor([0, 1]), 5, 2).round()  // [[3, 4], [3, 4], [6, 8]]
 */
export const embedding_renorm_ = /* @__PURE__ */ operator(
  "embedding_renorm_ input indices max_norm norm_type",
  (input: Tensor, indices: Tensor, max_norm: number, norm_type: number) => {
    const places = views.reshape(tensorOf(indices, "embedding_renorm_", "indices"), [-1]),
      most = number(max_norm, "embedding_renorm_", "max_norm"),
      order = number(norm_type, "embedding_renorm_", "norm_type"),
      norms = p_norm(index_select(input.detach(), 0, places), order, [1], true),
      scale = where(gt(norms, most) as Tensor, div(most, add(norms, 1e-7) as Tensor) as Tensor, 1) as Tensor,
      all = index_copy(ones_like(views.narrow(input.detach(), 1, 0, 1)), 0, places, scale) as Tensor;
    return copy_(input, mul(input.detach(), all) as Tensor, "embedding_renorm_");
  },
);

// --- Copies, and in place -----------------------------------------------------------------------------

/**
 * A copy that no gradient flows through.
 *
 * @example
 * torch.detach_copy(torch.tensor([1, 2], { requires_grad: true })).requires_grad  // false
 */
export const detach_copy = /* @__PURE__ */ operator("detach_copy input", (input: Tensor) => clone(input.detach()));
/** `select` as a copy. */
export const select_copy = /* @__PURE__ */ operator(
  "select_copy input dim index",
  (input: Tensor, dim: number, index: number) => clone(views.select(input, dim, index)),
);
function slice(x: Tensor, dim: number, start: number, end: number | null | undefined, step: number): Tensor {
  const axis = axisOf(dim, x.ndim, "slice_copy"),
    n = x.shape[axis] ?? 1,
    clip = (at: unknown, name: string) => {
      const place = integer(at, "slice_copy", name);
      return Math.min(Math.max(place < 0 ? place + n : place, 0), n);
    },
    first = clip(start, "start");
  const length = Math.ceil((clip(end ?? n, "end") - first) / count(step, "slice_copy", "step", 1));
  return views.sliceAxis(x, axis, first, Math.max(length, 0), step, "slice_copy");
}
/**
 * A slice as a copy.
 *
 * @param input tensor of one axis or more
 * @param dim the axis
 * @param start the first place; negative ones count from the end
 * @param end the place behind the last; the axis's end unless given
 * @param step takes each so-and-so-many-th
 *
 * @example
 * torch.slice_copy(torch.arange(6), 0, 1, 5, 2)  // [1, 3]
 */
export const slice_copy = /* @__PURE__ */ operator(
  "slice_copy input dim? start? end? step?",
  (input: Tensor, dim?: number, start?: number | null, end?: number | null, step?: number) =>
    clone(slice(input, dim ?? 0, start ?? 0, end, step ?? 1)),
);
/** Sets all elements to `value`. */
export const fill_ = /* @__PURE__ */ operator("fill_ input value", (input: Tensor, value: Tensor | number) =>
  fill(input, value),
);
/**
 * Sets all elements to zero.
 *
 * @param input tensor of any shape
 *
 * @example
 * torch.zero_(torch.tensor([1, 2]))  // [0, 0]
 */
export const zero_ = /* @__PURE__ */ operator("zero_ input", (input: Tensor) => fill(input, 0));
/** Takes the tensor out of the graph of gradients. */
export const detach_ = /* @__PURE__ */ operator("detach_ input", (input: Tensor) => input.detach_());
/**
 * Gives the tensor the shape of another.
 *
 * @param input tensor of any shape
 * @param the_template tensor that has the shape
 *
 * @example
 * torch.resize_as_(torch.tensor([1, 2, 3, 4]), torch.zeros([2, 2]))  // [[1, 2], [3, 4]]
 */
export const resize_as_ = /* @__PURE__ */ operator(
  "resize_as_ input the_template",
  (input: Tensor, the_template: Tensor) => resize_(input, [tensorOf(the_template, "resize_as_", "the_template").shape]),
);
/** Makes the tensor the view that `as_strided` gives. */
export const as_strided_ = /* @__PURE__ */ operator(
  "as_strided_ input size stride storage_offset?",
  (input: Tensor, size: readonly number[], stride: readonly number[], storage_offset?: number) =>
    become(input, "as_strided_", (x) => views.as_strided(x, size, stride, storage_offset)),
);
/** Conjugates the elements in place. */
export const conj_physical_ = /* @__PURE__ */ operator("conj_physical_ input", (input: Tensor) =>
  copy_(input, conj(input), "conj_physical_"),
);

// --- Questions ----------------------------------------------------------------------------------------

/**
 * Whether it was made in inference mode.
 *
 * @param input any tensor
 *
 * @example
 * torch.inference_mode(() => torch.is_inference(torch.tensor([1])))  // true
 */
export const is_inference = /* @__PURE__ */ operator("is_inference input", (input: Tensor) => input.storage.inference);
/**
 * Whether a conjugate is put off: never here.
 *
 * @param input any tensor
 *
 * @example
 * torch.is_conj(torch.conj(torch.complex(torch.tensor([1]), torch.tensor([2]))))  // false
 */
export const is_conj = /* @__PURE__ */ operator("is_conj input", (input: Tensor) => false);
/**
 * Whether a sign is put off: never here.
 *
 * @param input any tensor
 *
 * @example
 * torch.is_neg(torch.tensor([-1]))  // false
 */
export const is_neg = /* @__PURE__ */ operator("is_neg input", (input: Tensor) => false);
/**
 * -1 on the CPU, else the number of the GPU.
 *
 * @param input any tensor
 *
 * @example
 * torch.get_device(torch.zeros([2], { device: "cpu" }))  // -1
 */
export const get_device = /* @__PURE__ */ operator("get_device input", (input: Tensor) =>
  input.device === "webgpu" ? 0 : -1,
);
