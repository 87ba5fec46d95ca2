// Losses of PyTorch's root namespace: its own operators, whose reductions are numbers.

import * as F from "../../../names/functional.js";
import { integer, refuse } from "../../base/argument-kinds.js";
import type { Tensor } from "../../tensor/tensor.js";
import { operator } from "./operator.js";

type Maybe = Tensor | null;
type Reduction = "none" | "mean" | "sum";
/** The name of a reduction: 0 none, which PyTorch takes here where none is given, 1 mean, 2 sum. */
const reduced = (op: string, n: number | null | undefined): Reduction =>
  (["none", "mean", "sum"] as const)[integer(n ?? 0, op, "reduction")] ??
  refuse(op, "reduction", "0 (none), 1 (mean) or 2 (sum)", n);

/**
 * As `torch.nn.functional.binary_cross_entropy_with_logits`, its reduction a number.
 *
 * @param input float tensor of any shape: logits, whose sigmoid is the probability of a 1
 * @param target tensor of the same shape, from 0 to 1
 * @param weight tensor that broadcasts with `input`: how much each element counts
 * @param pos_weight tensor that broadcasts with `input`: how much more a target of 1 counts
 * @param reduction 0: the loss of each element, 1: their mean, 2: their sum
 *
 * @example
 * torch.binary_cross_entropy_with_logits(torch.tensor([0, 0]), torch.tensor([1, 0]), null, null, 1)  // 0.693147
 */
export const binary_cross_entropy_with_logits = /* @__PURE__ */ operator(
  "binary_cross_entropy_with_logits input target weight? pos_weight? reduction?",
  (input: Tensor, target: Tensor, weight?: Maybe, pos_weight?: Maybe, reduction?: number) =>
    F.binary_cross_entropy_with_logits(input, target, {
      weight: weight ?? null,
      pos_weight: pos_weight ?? null,
      reduction: reduced("binary_cross_entropy_with_logits", reduction),
    }),
);
/**
 * As `torch.nn.functional.cosine_embedding_loss`, its reduction a number.
 *
 * @param input1 float tensor [N, D] or [D]
 * @param input2 float tensor of the same shape
 * @param target tensor [N], of one axis less: 1 where the two should be alike, -1 where not
 * @param margin down to which cosine two that should not be alike cost something
 * @param reduction 0: the loss of each pair, 1: their mean, 2: their sum
 *
 * @example
 * torch.cosine_embedding_loss(torch.tensor([[1, 0]]), torch.tensor([[0, 1]]), torch.tensor([1]))  // [1]
 */
export const cosine_embedding_loss = /* @__PURE__ */ operator(
  "cosine_embedding_loss input1 input2 target margin? reduction?",
  (input1: Tensor, input2: Tensor, target: Tensor, margin?: number, reduction?: number) =>
    F.cosine_embedding_loss(input1, input2, target, {
      margin: margin ?? 0,
      reduction: reduced("cosine_embedding_loss", reduction),
    }) as Tensor,
);
/**
 * As `torch.nn.functional.hinge_embedding_loss`, its reduction a number.
 *
 * @param input float tensor of any shape: how far pairs are apart
 * @param target tensor of the same shape: 1 where the two should be near, -1 where not
 * @param margin how far apart the others should be
 * @param reduction 0: the loss of each pair, 1: their mean, 2: their sum
 *
 * @example
 * torch.hinge_embedding_loss(torch.tensor([0.3, 0.3, 2]), torch.tensor([1, -1, -1]))  // [0.3, 0.7, 0]
 */
export const hinge_embedding_loss = /* @__PURE__ */ operator(
  "hinge_embedding_loss input target margin? reduction?",
  (input: Tensor, target: Tensor, margin?: number, reduction?: number) =>
    F.hinge_embedding_loss(input, target, {
      margin: margin ?? 1,
      reduction: reduced("hinge_embedding_loss", reduction),
    }) as Tensor,
);
/**
 * As `torch.nn.functional.kl_div`, its reduction a number.
 *
 * @param input float tensor of any shape: logarithms of probabilities
 * @param target tensor of the same shape: probabilities
 * @param reduction 0: the loss of each element, 1: their mean, 2: their sum
 * @param log_target whether `target` holds logarithms, too
 *
 * @example
 * torch.kl_div(torch.tensor([0.25, 0.75]).log(), torch.tensor([0.5, 0.5]), 2)  // 0.143841
 */
export const kl_div = /* @__PURE__ */ operator(
  "kl_div input target reduction? * log_target?",
  (input: Tensor, target: Tensor, reduction?: number, log_target?: boolean) =>
    F.kl_div(input, target, { reduction: reduced("kl_div", reduction), log_target: log_target ?? false }) as Tensor,
);
/**
 * As `torch.nn.functional.margin_ranking_loss`, its reduction a number.
 *
 * @param input1 float tensor of any shape
 * @param input2 float tensor of the same shape
 * @param target tensor of the same shape: 1 where the first should be larger, -1 where the second
 * @param margin by how much it should be larger
 * @param reduction 0: the loss of each pair, 1: their mean, 2: their sum
 *
 * @example
 * torch.margin_ranking_loss(torch.tensor([3, 1]), torch.tensor([2, 2]), torch.tensor([1, 1]))  // [0, 1]
 */
export const margin_ranking_loss = /* @__PURE__ */ operator(
  "margin_ranking_loss input1 input2 target margin? reduction?",
  (input1: Tensor, input2: Tensor, target: Tensor, margin?: number, reduction?: number) =>
    F.margin_ranking_loss(input1, input2, target, {
      margin: margin ?? 0,
      reduction: reduced("margin_ranking_loss", reduction),
    }) as Tensor,
);
/**
 * As `torch.nn.functional.poisson_nll_loss`, its reduction a number.
 *
 * @param input float tensor of any shape: expected counts, or their logarithms
 * @param target tensor of the same shape: counts
 * @param log_input whether `input` holds logarithms
 * @param full adds Stirling's approximation of the logarithm of target!
 * @param eps keeps the logarithm of 0 finite
 * @param reduction 0: the loss of each element, 1: their mean, 2: their sum
 *
 * @example
 * torch.poisson_nll_loss(torch.tensor([1, 2]), torch.tensor([1, 3]), false, false, 1e-8, 0)  // [1, -0.0794416]
 */
export const poisson_nll_loss = /* @__PURE__ */ operator(
  "poisson_nll_loss input target log_input full eps reduction",
  (input: Tensor, target: Tensor, log_input: boolean, full: boolean, eps: number, reduction: number) =>
    F.poisson_nll_loss(input, target, {
      log_input,
      full,
      eps,
      reduction: reduced("poisson_nll_loss", reduction),
    }) as Tensor,
);
/**
 * As `torch.nn.functional.triplet_margin_loss`, its reduction a number.
 *
 * @param anchor float tensor [N, D] or [D]
 * @param positive tensor of the same shape: what should be near
 * @param negative tensor of the same shape: what should be farther away
 * @param margin by how much it should be farther away
 * @param p the order of the norm that is the distance
 * @param eps is added to differences, so that the gradient of a distance 0 is finite
 * @param swap whether the distance of `negative` from `positive` counts, where it is the smaller one
 * @param reduction 0: the loss of each triplet, 1: their mean, 2: their sum
 *
 * @example
 * const anchor = torch.tensor([[0, 0]]), near = torch.tensor([[0, 1]]), far = torch.tensor([[1.5, 0]]);
 * torch.triplet_margin_loss(anchor, near, far).round({ decimals: 3 })  // [0.5]
 */
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
    reduction?: number,
  ) => {
    const usual = { margin: margin ?? 1, p: p ?? 2, eps: eps ?? 1e-6, swap: swap ?? false };
    return F.triplet_margin_loss(anchor, positive, negative, {
      ...usual,
      reduction: reduced("triplet_margin_loss", reduction),
    }) as Tensor;
  },
);
