// ATen's losses, whose reduction is a number.

import * as F from "../../../names/functional.js";
import type { Operator } from "../operators.js";

const REDUCTIONS = ["none", "mean", "sum"];
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const named = F as unknown as Readonly<Record<string, (...args: any[]) => unknown>>;

/** The function `name` of this many tensors; `options`: the names of the arguments behind them. */
const lossOf =
  (tensors: number, name: string, ...options: string[]): Operator =>
  ({ args, options: more }) => {
    const given: Record<string, unknown> = { ...more };
    args.slice(tensors).forEach((value, i) => {
      const option = options[i]!;
      if (value !== null) given[option] = option === "reduction" ? REDUCTIONS[value as number] : value;
    });
    return named[name]!(...args.slice(0, tensors), given);
  };
const loss = (name: string, ...options: string[]): Operator => lossOf(2, name, ...options);

/** A linear layer and the cross entropy of its results, in parts of a batch: the loss, and gradients of its own. */
const chunked =
  (reduced: boolean): Operator =>
  ({ args }) => {
    const [input, linear_weight, target, linear_bias, weight, ...rest] = args,
      [reduction, ignore_index, label_smoothing] = reduced ? rest : ["none", rest[0], 0],
      given = Object.entries({ linear_bias, weight }).filter(([, value]) => value !== null),
      options = { ...Object.fromEntries(given), reduction, ignore_index, label_smoothing },
      loss = named["linear_cross_entropy"]!(input, linear_weight, target, options);
    return reduced ? [loss, null, null, null] : loss;
  };

/** Operators of torch.nn's own library, "library::name". */
export const OWN_LOSSES: Readonly<Record<string, Operator>> = {
  "torch_nn::_linear_cross_entropy_batch_chunked": chunked(true),
  "torch_nn::_linear_cross_entropy_batch_chunked_no_reduction": chunked(false),
};

export const LOSSES: Readonly<Record<string, Operator>> = {
  mse_loss: loss("mse_loss", "reduction"),
  l1_loss: loss("l1_loss", "reduction"),
  smooth_l1_loss: loss("smooth_l1_loss", "reduction", "beta"),
  huber_loss: loss("huber_loss", "reduction", "delta"),
  soft_margin_loss: loss("soft_margin_loss", "reduction"),
  kl_div: loss("kl_div", "reduction"),
  binary_cross_entropy: loss("binary_cross_entropy", "weight", "reduction"),
  binary_cross_entropy_with_logits: loss("binary_cross_entropy_with_logits", "weight", "pos_weight", "reduction"),
  cross_entropy_loss: loss("cross_entropy", "weight", "reduction", "ignore_index", "label_smoothing"),
  hinge_embedding_loss: loss("hinge_embedding_loss", "margin", "reduction"),
  multilabel_margin_loss: loss("multilabel_margin_loss", "reduction"),
  multilabel_margin_loss_forward: (call) => [LOSSES["multilabel_margin_loss"]!(call), null],
  multi_margin_loss: loss("multi_margin_loss", "p", "margin", "weight", "reduction"),
  poisson_nll_loss: loss("poisson_nll_loss", "log_input", "full", "eps", "reduction"),
  cosine_embedding_loss: lossOf(3, "cosine_embedding_loss", "margin", "reduction"),
  margin_ranking_loss: lossOf(3, "margin_ranking_loss", "margin", "reduction"),
  triplet_margin_loss: lossOf(3, "triplet_margin_loss", "margin", "p", "eps", "swap", "reduction"),
  nll_loss: loss("nll_loss", "weight", "reduction", "ignore_index"),
  nll_loss_nd: loss("nll_loss", "weight", "reduction", "ignore_index"),
  nll_loss2d: loss("nll_loss", "weight", "reduction", "ignore_index"),
  nll_loss_forward: (call) => [LOSSES["nll_loss"]!(call), null],
  nll_loss2d_forward: (call) => [LOSSES["nll_loss"]!(call), null],
};
