// Functions of PyTorch's root namespace that torch.nn.functional has, too: there they are PyTorch's own operators, with
// the operators' order of arguments, and numbers for reductions.  And others that are a line over what there is.

import * as F from "../../names/functional.js";
import { add, bernoulli, div, gt, index_copy, index_select, mul, where } from "../../names/torch.js";
import { gru_stepOp, lstm_stepOp, rnn_stepOp } from "../../ops/recurrent.js";
import { count, flag, number, refuse, integer } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { axisOf } from "../base/shape.js";
import { ones_like } from "../creation/like.js";
import { run } from "../dispatch/call.js";
import { conj } from "../functions/complex-parts.js";
import type { Named } from "../functions/tensor-functions.js";
import { cast, clone } from "../tensor/copy.js";
import { check, tensorOf, tensorsOf } from "../tensor/tensor-arguments.js";
import type { Results } from "../tensor/results.js";
import type { Tensor } from "../tensor/tensor.js";
import { become } from "../views/in-place.js";
import { resize_ } from "../views/resize.js";
import { copy_, fill_ as fill } from "../views/transfer.js";
import * as views from "../views/views.js";
import { multi_dot } from "./matrix-chains.js";
import { matrix_norm, p_norm } from "./matrix-norms.js";

export { adaptive_avg_pool1d, avg_pool1d, bilinear } from "../../names/functional.js";

type Maybe = Tensor | null;

/** A function of arguments by position, which come by the names of `line`, too; the first is a tensor. */
function operator<P extends unknown[], R>(line: string, f: (...args: P) => R): (...args: P | Named<P>) => R {
  const [op, first] = line.split(" ") as [string, string];
  return ((...args: unknown[]) => {
    const given = taken(line, args);
    check(given[0], op, first);
    return f(...(given as P));
  }) as never;
}

type Reduction = "none" | "mean" | "sum";
/** The name of a reduction: 0 none, which PyTorch takes here where none is given, 1 mean, 2 sum. */
const reduced = (op: string, n: number | null | undefined): Reduction =>
  (["none", "mean", "sum"] as const)[integer(n ?? 0, op, "reduction")] ??
  refuse(op, "reduction", "0 (none), 1 (mean) or 2 (sum)", n);

// --- Losses ---------------------------------------------------------------------------------------

/** As `torch.nn.functional.binary_cross_entropy_with_logits`, its reduction a number. */
export const binary_cross_entropy_with_logits = /* @__PURE__ */ operator(
  "binary_cross_entropy_with_logits input target weight? pos_weight? reduction?",
  (input: Tensor, target: Tensor, weight?: Maybe, pos_weight?: Maybe, n?: number) => {
    const reduction = reduced("binary_cross_entropy_with_logits", n);
    return F.binary_cross_entropy_with_logits(input, target, {
      weight: weight ?? null,
      pos_weight: pos_weight ?? null,
      reduction,
    });
  },
);
/** As `torch.nn.functional.cosine_embedding_loss`, its reduction a number. */
export const cosine_embedding_loss = /* @__PURE__ */ operator(
  "cosine_embedding_loss input1 input2 target margin? reduction?",
  (input1: Tensor, input2: Tensor, target: Tensor, margin?: number, n?: number) => {
    const reduction = reduced("cosine_embedding_loss", n);
    return F.cosine_embedding_loss(input1, input2, target, { margin: margin ?? 0, reduction }) as Tensor;
  },
);
/** As `torch.nn.functional.hinge_embedding_loss`, its reduction a number. */
export const hinge_embedding_loss = /* @__PURE__ */ operator(
  "hinge_embedding_loss input target margin? reduction?",
  (input: Tensor, target: Tensor, margin?: number, n?: number) => {
    const reduction = reduced("hinge_embedding_loss", n);
    return F.hinge_embedding_loss(input, target, { margin: margin ?? 1, reduction }) as Tensor;
  },
);
/** As `torch.nn.functional.kl_div`, its reduction a number. */
export const kl_div = /* @__PURE__ */ operator(
  "kl_div input target reduction? * log_target?",
  (input: Tensor, target: Tensor, n?: number, log_target?: boolean) =>
    F.kl_div(input, target, { reduction: reduced("kl_div", n), log_target: log_target ?? false }) as Tensor,
);
/** As `torch.nn.functional.margin_ranking_loss`, its reduction a number. */
export const margin_ranking_loss = /* @__PURE__ */ operator(
  "margin_ranking_loss input1 input2 target margin? reduction?",
  (input1: Tensor, input2: Tensor, target: Tensor, margin?: number, n?: number) => {
    const reduction = reduced("margin_ranking_loss", n);
    return F.margin_ranking_loss(input1, input2, target, { margin: margin ?? 0, reduction }) as Tensor;
  },
);
/** As `torch.nn.functional.poisson_nll_loss`, its reduction a number. */
export const poisson_nll_loss = /* @__PURE__ */ operator(
  "poisson_nll_loss input target log_input full eps reduction",
  (input: Tensor, target: Tensor, log_input: boolean, full: boolean, eps: number, n: number) =>
    F.poisson_nll_loss(input, target, { log_input, full, eps, reduction: reduced("poisson_nll_loss", n) }) as Tensor,
);
/** As `torch.nn.functional.triplet_margin_loss`, its reduction a number. */
export const triplet_margin_loss = /* @__PURE__ */ operator(
  "triplet_margin_loss anchor positive negative margin? p? eps? swap? reduction?",
  (
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin?: number,
    p?: number,
    eps?: number,
    swap?: boolean,
    n?: number,
  ) => {
    const usual = { margin: margin ?? 1, p: p ?? 2, eps: eps ?? 1e-6, swap: swap ?? false };
    const reduction = reduced("triplet_margin_loss", n);
    return F.triplet_margin_loss(anchor, positive, negative, { ...usual, reduction }) as Tensor;
  },
);

// --- Layers ---------------------------------------------------------------------------------------

/** The rows of `weight` that `indices` name. */
export const embedding = /* @__PURE__ */ operator(
  "embedding weight indices padding_idx? scale_grad_by_freq? sparse?",
  (weight: Tensor, indices: Tensor, padding_idx?: number, scale_grad_by_freq?: boolean, sparse?: boolean) => {
    const padding = integer(padding_idx ?? -1, "embedding", "padding_idx");
    return F.embedding(indices, weight, {
      padding_idx: padding < 0 ? null : padding,
      scale_grad_by_freq: scale_grad_by_freq ?? false,
      sparse: sparse ?? false,
    }) as Tensor;
  },
);
/** As `torch.nn.functional.affine_grid`. */
export const affine_grid_generator = /* @__PURE__ */ operator(
  "affine_grid_generator theta size align_corners",
  (theta: Tensor, size: readonly number[], align_corners: boolean) =>
    F.affine_grid(theta, size as number[], { align_corners }) as Tensor,
);
/** The largest of each window, and where it lies. */
export const max_pool1d_with_indices = /* @__PURE__ */ operator(
  "max_pool1d_with_indices input kernel_size stride? padding? dilation? ceil_mode?",
  (
    input: Tensor,
    kernel_size: number | readonly number[],
    stride?: number | readonly number[],
    padding?: number | readonly number[],
    dilation?: number | readonly number[],
    ceil_mode?: boolean,
  ) =>
    F.max_pool1d(input, kernel_size, {
      ...(stride === undefined || (Array.isArray(stride) && !stride.length) ? {} : { stride }),
      padding: padding ?? 0,
      dilation: dilation ?? 1,
      ceil_mode: ceil_mode ?? false,
      return_indices: true,
    } as never) as unknown as Results,
);
/** A convolution over steps of a sequence: `input` is (steps, batch, channels), `weight` (kernel, channels, out). */
export const conv_tbc = /* @__PURE__ */ operator(
  "conv_tbc input weight bias pad?",
  (input: Tensor, weight: Tensor, bias: Tensor, pad?: number) => {
    for (const [name, x] of Object.entries({ input, weight })) {
      check(x, "conv_tbc", name);
      if (x.ndim !== 3) refuse("conv_tbc", name, "a tensor of 3 axes", x);
    }
    const out = F.conv1d(views.permute(input, [1, 2, 0]), views.permute(weight, [2, 1, 0]), bias, {
      padding: pad ?? 0,
    });
    return views.permute(out as Tensor, [2, 0, 1]);
  },
);
type Perhaps = Tensor | null;
/** As torch.nn.functional.batch_norm, with the weight before the statistics; `_cudnn` means nothing here. */
export const batch_norm = /* @__PURE__ */ operator(
  "batch_norm input weight bias running_mean running_var training momentum eps cudnn_enabled?",
  (
    input: Tensor,
    weight: Perhaps,
    bias: Perhaps,
    mean: Perhaps,
    variance: Perhaps,
    training: boolean,
    momentum: number,
    eps: number,
    _cudnn?: boolean,
  ) => F.batch_norm(input, mean, variance, weight, bias, training, momentum, eps) as Tensor,
);
/** As torch.nn.functional.instance_norm, with the weight before the statistics; `_cudnn` means nothing here. */
export const instance_norm = /* @__PURE__ */ operator(
  "instance_norm input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled?",
  (
    input: Tensor,
    weight: Perhaps,
    bias: Perhaps,
    mean: Perhaps,
    variance: Perhaps,
    use_input_stats: boolean,
    momentum: number,
    eps: number,
    _cudnn?: boolean,
  ) => F.instance_norm(input, mean, variance, weight, bias, use_input_stats, momentum, eps) as Tensor,
);
/** As `channel_shuffle`. */
export const native_channel_shuffle = /* @__PURE__ */ operator(
  "native_channel_shuffle input groups",
  (input: Tensor, groups: number) => F.channel_shuffle(input, groups) as Tensor,
);
/** Dropout, and which elements it let through. */
export const native_dropout = /* @__PURE__ */ operator(
  "native_dropout input p train",
  (input: Tensor, p: number, train: boolean | null): [Tensor, Tensor] => {
    number(p, "native_dropout", "p");
    if (!(train === null || flag(train, "native_dropout", "train")) || p === 0)
      return [clone(input), ones_like(input, { dtype: "bool" })];
    const kept = bernoulli(input.detach(), 1 - p) as Tensor;
    return [mul(input, mul(kept, p === 1 ? 0 : 1 / (1 - p)) as Tensor) as Tensor, cast(kept, "bool", "native_dropout")];
  },
);

// --- One step of a recurrent network ----------------------------------------------------------------

type Cell<H, R> = [input: Tensor, hx: H, w_ih: Tensor, w_hh: Tensor, b_ih?: Maybe, b_hh?: Maybe] extends infer P
  ? P extends unknown[]
    ? (...args: P | Named<P>) => R
    : never
  : never;
function cell<H, R>(
  op: string,
  state: (hx: unknown) => Tensor,
  step: (input: Tensor, hidden: Tensor, hx: H) => R,
): Cell<H, R> {
  return operator(
    `${op} input hx w_ih w_hh b_ih? b_hh?`,
    (input: Tensor, hx: H, w_ih: Tensor, w_hh: Tensor, b_ih?: Maybe, b_hh?: Maybe) =>
      step(F.linear(input, w_ih, b_ih ?? null) as Tensor, F.linear(state(hx), w_hh, b_hh ?? null) as Tensor, hx),
  ) as Cell<H, R>;
}
const hidden = (op: string) => (hx: unknown) => tensorOf(hx, op, "hx");
/** The hidden state and the cell after one step; `hx` holds both before it. */
export const lstm_cell = /* @__PURE__ */ cell<readonly Tensor[], [Tensor, Tensor]>(
  "lstm_cell",
  (hx) => {
    const states = tensorsOf(hx as Tensor[], "lstm_cell", "hx");
    if (states.length !== 2) refuse("lstm_cell", "hx", "two tensors, the hidden state and the cell", hx);
    return states[0]!;
  },
  (input, before, hx) =>
    [...(run(lstm_stepOp, [add(input, before), hx[1]!]) as unknown as Tensor[])] as [Tensor, Tensor],
);
/** One step of a gated recurrent unit. */
export const gru_cell = /* @__PURE__ */ cell<Tensor, Tensor>(
  "gru_cell",
  hidden("gru_cell"),
  (...all) => run(gru_stepOp, all) as Tensor,
);
const elman = (op: string, nonlinearity: "tanh" | "relu") =>
  cell<Tensor, Tensor>(op, hidden(op), (input, before) => run(rnn_stepOp, [input, before, nonlinearity]) as Tensor);
/** One step of a recurrent network with tanh. */
export const rnn_tanh_cell = /* @__PURE__ */ elman("rnn_tanh_cell", "tanh");
/** One step of a recurrent network with relu. */
export const rnn_relu_cell = /* @__PURE__ */ elman("rnn_relu_cell", "relu");

// --- Norms and products -----------------------------------------------------------------------------

type Axes = number | readonly number[];
/** The root of the sum of squares, of matrices. */
export const frobenius_norm = /* @__PURE__ */ operator(
  "frobenius_norm input dim? keepdim?",
  (input: Tensor, dim?: Axes, keepdim?: boolean) => p_norm(input, "fro", dim ?? null, keepdim ?? false),
);
/** The sum of singular values, of matrices; `keepdim` may stand in the place of `dim`. */
export const nuclear_norm = /* @__PURE__ */ operator(
  "nuclear_norm input dim? keepdim?",
  (input: Tensor, dim?: readonly number[] | boolean, keepdim?: boolean) =>
    typeof dim === "boolean"
      ? matrix_norm(input, "nuc", [-2, -1], dim)
      : matrix_norm(input, "nuc", dim ?? [-2, -1], keepdim ?? false),
);
/** The norm over all axes but `dim`, which are kept with length 1. */
export const norm_except_dim = /* @__PURE__ */ operator(
  "norm_except_dim v pow? dim?",
  (v: Tensor, pow?: number, dim?: number) => {
    const at = integer(dim ?? 0, "norm_except_dim", "dim");
    if (at === -1) return p_norm(v, pow ?? 2);
    const others = v.shape.map((_, axis) => axis).filter((axis) => axis !== at);
    return others.length ? p_norm(v, pow ?? 2, others, true) : p_norm(views.unsqueeze(v, 1), pow ?? 2, [1]);
  },
);
/** The product of matrices, in the order that takes the fewest steps. */
export const chain_matmul = (...matrices: Tensor[]): Tensor => {
  const all = tensorsOf(matrices, "chain_matmul", "matrices");
  return all.length === 1 ? all[0]! : multi_dot(all);
};

/**
 * A convolution of any number of axes, or with `transposed` its counterpart, of as many axes as `input` has beyond its
 * batch and its channels.
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
/** Scales, in place, those rows of `input` that `indices` name whose norm is more than `max_norm` down to it. */
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

/** A copy that no gradient flows through. */
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
/** A slice as a copy. */
export const slice_copy = /* @__PURE__ */ operator(
  "slice_copy input dim? start? end? step?",
  (input: Tensor, dim?: number, start?: number | null, end?: number | null, step?: number) =>
    clone(slice(input, dim ?? 0, start ?? 0, end, step ?? 1)),
);
/** Sets all elements to `value`. */
export const fill_ = /* @__PURE__ */ operator("fill_ input value", (input: Tensor, value: Tensor | number) =>
  fill(input, value),
);
/** Sets all elements to zero. */
export const zero_ = /* @__PURE__ */ operator("zero_ input", (input: Tensor) => fill(input, 0));
/** Takes the tensor out of the graph of gradients. */
export const detach_ = /* @__PURE__ */ operator("detach_ input", (input: Tensor) => input.detach_());
/** Gives the tensor the shape of another. */
export const resize_as_ = /* @__PURE__ */ operator("resize_as_ input the_template", (input: Tensor, other: Tensor) =>
  resize_(input, [tensorOf(other, "resize_as_", "the_template").shape]),
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

/** Whether it was made in inference mode. */
export const is_inference = /* @__PURE__ */ operator("is_inference input", ({ storage }: Tensor) => storage.inference);
/** Whether a conjugate is put off: never here. */
export const is_conj = /* @__PURE__ */ operator("is_conj input", (_: Tensor) => false);
/** Whether a sign is put off: never here. */
export const is_neg = /* @__PURE__ */ operator("is_neg input", (_: Tensor) => false);
/** -1 on the CPU, else the number of the GPU. */
export const get_device = /* @__PURE__ */ operator("get_device input", (input: Tensor) =>
  input.device === "webgpu" ? 0 : -1,
);
