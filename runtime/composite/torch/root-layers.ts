// Layers of PyTorch's root namespace: its own operators, whose order of arguments is another than that of
// torch.nn.functional; and the steps of recurrent networks.

import * as F from "../../../names/functional.js";
import { add, bernoulli, mul } from "../../../names/torch.js";
import { gru_stepOp, lstm_stepOp, rnn_stepOp } from "../../../ops/recurrent.js";
import { flag, integer, number, refuse } from "../../base/argument-kinds.js";
import { ones_like } from "../../creation/like.js";
import { run } from "../../dispatch/call.js";
import type { Named } from "../../functions/viewing.js";
import { cast, clone } from "../../tensor/copy.js";
import type { Results } from "../../tensor/results.js";
import { check, tensorOf, tensorsOf } from "../../tensor/tensor-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import { operator } from "./operator.js";

type Maybe = Tensor | null;
/**
 * The rows of `weight` that `indices` name.
 *
 * @param weight float tensor [rows, D]
 * @param indices whole numbers of any shape
 * @param padding_idx a row that gets no gradient; -1: none
 * @param scale_grad_by_freq divides a row's gradient by how often `indices` name it
 * @param sparse is not taken: gradients are dense
 *
 * @example
 * torch.embedding(torch.tensor([[1, 2], [3, 4], [5, 6]]), torch.LongTensor([2, 0]))  // [[5, 6], [1, 2]]
 */
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
/**
 * As `torch.nn.functional.affine_grid`.
 *
 * @param theta float tensor [N, 2, 3] or [N, 3, 4]: matrices that take places of the result to those of the picture
 * @param size the result's shape, [N, C, H, W] or [N, C, D, H, W]
 * @param align_corners whether -1 and 1 are the centres of the outermost elements, else their outer edges
 *
 * @example
 * torch.affine_grid_generator(torch.tensor([[[1, 0, 0], [0, 1, 0]]]), [1, 1, 2, 2], true)  // [[[[-1, -1], [1, -1]], [[-1, 1], [1, 1]]]]
 */
export const affine_grid_generator = /* @__PURE__ */ operator(
  "affine_grid_generator theta size align_corners",
  (theta: Tensor, size: readonly number[], align_corners: boolean) =>
    F.affine_grid(theta, size as number[], { align_corners }) as Tensor,
);
/**
 * The largest of each window, and where it lies.
 *
 * @param input float tensor [N, C, L] or [C, L]
 * @param kernel_size how many elements a window has
 * @param stride how far windows are apart; `kernel_size` unless given
 * @param padding how many elements are added at each end, which are never the largest
 * @param dilation how far the elements of a window are apart
 * @param ceil_mode whether a last window may be incomplete
 *
 * @example
 * const [values, places] = torch.max_pool1d_with_indices(torch.tensor([[1, 5, 2, 4]]), 2);
 * [values, places]  // [[[5, 4]], [[1, 3]]]
 */
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
/**
 * A convolution over steps of a sequence: `input` is (steps, batch, channels), `weight` (kernel, channels, out).
 *
 * @param input float tensor [steps, N, C]
 * @param weight float tensor [kernel, C, out]
 * @param bias float tensor [out]
 * @param pad how many zeros are added at each end
 *
 * @example
 * const steps = torch.tensor([[[1]], [[2]], [[3]]]), weight = torch.ones([2, 1, 1]);
 * torch.nn.functional.conv_tbc(steps, weight, torch.zeros([1]))  // [[[3]], [[5]]]
 */
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
/**
 * As torch.nn.functional.batch_norm, with the weight before the statistics; `cudnn_enabled` means nothing here.
 *
 * @param input float tensor [N, C, *]
 * @param weight tensor [C] that the normalized elements are multiplied by
 * @param bias tensor [C] that is added
 * @param running_mean tensor [C]; changed in place where `training`, else used
 * @param running_var tensor [C]; changed in place where `training`, else used
 * @param training whether the batch's own mean and variance are used
 * @param momentum the share of the batch in the running statistics
 * @param eps is added to the variance
 * @param cudnn_enabled means nothing here, default true
 *
 * @example
 * torch.batch_norm(torch.tensor([[1], [3]]), null, null, null, null, true, 0.1, 0)  // [[-1], [1]]
 */
export const batch_norm = /* @__PURE__ */ operator(
  "batch_norm input weight bias running_mean running_var training momentum eps cudnn_enabled?",
  (
    input: Tensor,
    weight: Maybe,
    bias: Maybe,
    running_mean: Maybe,
    running_var: Maybe,
    training: boolean,
    momentum: number,
    eps: number,
    cudnn_enabled?: boolean,
  ) => F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps) as Tensor,
);
/**
 * As torch.nn.functional.instance_norm, with the weight before the statistics; `cudnn_enabled` means nothing here.
 *
 * @param input float tensor [N, C, *]
 * @param weight tensor [C] that the normalized elements are multiplied by
 * @param bias tensor [C] that is added
 * @param running_mean tensor [C]; changed in place where `use_input_stats`, else used
 * @param running_var tensor [C]; changed in place where `use_input_stats`, else used
 * @param use_input_stats whether each sample's own mean and variance are used
 * @param momentum the share of the samples in the running statistics
 * @param eps is added to the variance
 * @param cudnn_enabled means nothing here, default true
 *
 * @example
 * torch.instance_norm(torch.tensor([[[1, 3], [4, 8]]]), null, null, null, null, true, 0.1, 0)  // [[[-1, 1], [-1, 1]]]
 */
export const instance_norm = /* @__PURE__ */ operator(
  "instance_norm input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled?",
  (
    input: Tensor,
    weight: Maybe,
    bias: Maybe,
    running_mean: Maybe,
    running_var: Maybe,
    use_input_stats: boolean,
    momentum: number,
    eps: number,
    cudnn_enabled?: boolean,
  ) => F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps) as Tensor,
);
/**
 * As `channel_shuffle`.
 *
 * @param input tensor [N, C, *]
 * @param groups into how many the channels are divided, whose members then take turns
 *
 * @example
 * torch.nn.functional.native_channel_shuffle(torch.tensor([[[1], [2], [3], [4]]]), 2)  // [[[1], [3], [2], [4]]]
 */
export const native_channel_shuffle = /* @__PURE__ */ operator(
  "native_channel_shuffle input groups",
  (input: Tensor, groups: number) => F.channel_shuffle(input, groups) as Tensor,
);
/**
 * Dropout, and which elements it let through.
 *
 * @param input float tensor of any shape
 * @param p the probability that an element becomes 0
 * @param train false: nothing is dropped; null counts as true
 *
 * @example
 * const [out, kept] = torch.native_dropout(torch.ones([100]), 0.5, true);
 * out.eq(kept.mul(2)).all()  // true
 */
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
/**
 * The hidden state and the cell after one step; `hx` holds both before it.
 *
 * @param input float tensor [N, D]
 * @param hx list of two float tensors [N, H]: the hidden state and the cell
 * @param w_ih float tensor [4 H, D]: the weights of the input
 * @param w_hh float tensor [4 H, H]: those of the hidden state
 * @param b_ih float tensor [4 H] that is added to the one product
 * @param b_hh float tensor [4 H] that is added to the other
 *
 * @example
 * const x = torch.zeros([1, 2]), hidden = torch.zeros([1, 1]), cell = torch.ones([1, 1]);
 * torch.lstm_cell(x, [hidden, cell], torch.ones([4, 2]), torch.ones([4, 1]))  // [[[0.231059]], [[0.5]]]
 */
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
/**
 * One step of a gated recurrent unit.
 *
 * @param input float tensor [N, D]
 * @param hx float tensor [N, H]: the hidden state
 * @param w_ih float tensor [3 H, D]: the weights of the input
 * @param w_hh float tensor [3 H, H]: those of the hidden state
 * @param b_ih float tensor [3 H] that is added to the one product
 * @param b_hh float tensor [3 H] that is added to the other
 *
 * @example
 * torch.gru_cell(torch.zeros([1, 2]), torch.ones([1, 1]), torch.ones([3, 2]), torch.zeros([3, 1]))  // [[0.5]]
 */
export const gru_cell = /* @__PURE__ */ cell<Tensor, Tensor>(
  "gru_cell",
  hidden("gru_cell"),
  (...all) => run(gru_stepOp, all) as Tensor,
);
const elman = (op: string, nonlinearity: "tanh" | "relu") =>
  cell<Tensor, Tensor>(op, hidden(op), (input, before) => run(rnn_stepOp, [input, before, nonlinearity]) as Tensor);
/**
 * One step of a recurrent network with tanh.
 *
 * @param input float tensor [N, D]
 * @param hx float tensor [N, H]: the hidden state
 * @param w_ih float tensor [H, D]: the weights of the input
 * @param w_hh float tensor [H, H]: those of the hidden state
 * @param b_ih float tensor [H] that is added to the one product
 * @param b_hh float tensor [H] that is added to the other
 *
 * @example
 * torch.rnn_tanh_cell(torch.tensor([[1, 2]]), torch.tensor([[0.5]]), torch.tensor([[1, -1]]), torch.tensor([[2]]))  // [[0]]
 */
export const rnn_tanh_cell = /* @__PURE__ */ elman("rnn_tanh_cell", "tanh");
/**
 * One step of a recurrent network with relu.
 *
 * @param input float tensor [N, D]
 * @param hx float tensor [N, H]: the hidden state
 * @param w_ih float tensor [H, D]: the weights of the input
 * @param w_hh float tensor [H, H]: those of the hidden state
 * @param b_ih float tensor [H] that is added to the one product
 * @param b_hh float tensor [H] that is added to the other
 *
 * @example
 * torch.rnn_relu_cell(torch.tensor([[1, 2]]), torch.tensor([[0.5]]), torch.tensor([[1, 1]]), torch.tensor([[2]]))  // [[4]]
 */
export const rnn_relu_cell = /* @__PURE__ */ elman("rnn_relu_cell", "relu");
