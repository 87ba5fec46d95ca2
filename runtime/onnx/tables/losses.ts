// ONNX's losses.

import type { Tensor } from "../../tensor/tensor.js";
import type { Attributes, Compute, Table } from "./definition.js";
import { F, T, cast } from "./library.js";

/** The loss of logarithms of probabilities, (batch, classes, ...). */
const negative = (x: Tensor, target: Tensor, weight: Tensor | null, { reduction = "mean", ignore_index }: Attributes) =>
  F.nll_loss(x, cast(target, "int64"), {
    ...(weight ? { weight } : {}),
    reduction,
    ...(ignore_index === undefined ? {} : { ignore_index }),
  }) as Tensor;

const crossEntropy: Compute = ([scores, target, weight], attributes) => {
  const logarithms = T.log_softmax(scores, 1) as Tensor;
  return [negative(logarithms, target, weight ?? null, attributes), logarithms];
};

export const LOSSES: Table = {
  NegativeLogLikelihoodLoss: ([x, target, weight], attributes) => negative(x, target, weight ?? null, attributes),
  SoftmaxCrossEntropyLoss: crossEntropy,
};
