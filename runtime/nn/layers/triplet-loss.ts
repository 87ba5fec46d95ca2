// The triplet loss of any distance as a module.

import { callable } from "../../base/callable.js";
import {
  type DistanceFunction,
  type TripletOptions,
  triplet_margin_with_distance_loss,
} from "../../composite/functional.js";
import { PairwiseDistance } from "../../../names/modules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { construct } from "../options.js";

class TripletMarginWithDistanceLossClass extends Module {
  readonly distance_function: DistanceFunction;
  readonly margin: number;
  readonly swap: boolean;
  readonly reduction: "mean" | "sum" | "none";

  /** How much closer than by `margin` anchors are to positive examples than to negative ones, by any distance. */
  constructor(options?: TripletOptions);
  constructor(...args: unknown[]) {
    super();
    const o = construct(
      "TripletMarginWithDistanceLoss",
      {
        distance_function: null as DistanceFunction | null,
        margin: 1,
        swap: false,
        reduction: "mean" as "mean" | "sum" | "none",
      },
      args,
    );
    this.distance_function = o.distance_function ?? PairwiseDistance();
    this.margin = o.margin;
    this.swap = o.swap;
    this.reduction = o.reduction;
  }
  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    const { distance_function, margin, swap, reduction } = this;
    return triplet_margin_with_distance_loss(anchor, positive, negative, {
      distance_function,
      margin,
      swap,
      reduction,
    });
  }
}
/**
 * @param margin by how much the other shall be farther away
 * @param reduction the mean of all losses, their sum, or each as it is
 *
 * @example
 * const loss = torch.nn.TripletMarginWithDistanceLoss({ distance_function: (a, b) => a.sub(b).abs().sum(1), margin: 3 });
 * loss(torch.tensor([[0, 0]]), torch.tensor([[0, 1]]), torch.tensor([[2, 0]]))  // 2
 */
export const TripletMarginWithDistanceLoss = /* @__PURE__ */ callable(
  TripletMarginWithDistanceLossClass,
  "TripletMarginWithDistanceLoss",
  "forward anchor positive negative",
);
export type TripletMarginWithDistanceLoss = TripletMarginWithDistanceLossClass;
