// What torch.nn.functional has beyond ops; the triplet loss of Euclidean distances is a formula of ops/margin.op.

import { flag, number, refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { run } from "../dispatch/call.js";
import { triplet_margin_with_distance_lossOp } from "../../ops/margin.js";
import { add, clamp_min, mean, minimum, sub, sum } from "../../names/torch.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";

export { multi_head_attention_forward } from "./attention.js";
export {
  fractional_max_pool2d,
  fractional_max_pool2d_with_indices,
  fractional_max_pool3d,
  fractional_max_pool3d_with_indices,
  type FractionalPoolOptions,
} from "./fractional-pool.js";
export { conv_tbc, native_channel_shuffle } from "./torch/root-functions.js";
export { interpolate as upsample } from "../../names/functional.js";
export { embedding_bag, type BagOptions } from "./torch/embedding-bag.js";
export { one_hot } from "./classes.js";

/** How far the elements of two batches are apart. */
export type DistanceFunction = (x: Tensor, y: Tensor) => Tensor;
export interface TripletOptions {
  /** By default the Euclidean distance of rows, `torch.nn.functional.pairwise_distance`. */
  distance_function?: DistanceFunction | null;
  margin?: number;
  /** Whether the negative example's distance from the positive one counts, where it is the smaller one. */
  swap?: boolean;
  reduction?: "mean" | "sum" | "none";
}

/**
 * How much closer than by `margin` an anchor is to a positive example than to a negative one, by the distance that a
 * function says.
 *
 * @example
 * const x = torch.tensor([[0, 0]]), y = torch.tensor([[0, 1]]), z = torch.tensor([[2, 0]]);
 * torch.nn.functional.triplet_margin_with_distance_loss(x, y, z, {
 *   distance_function: (a, b) => a.sub(b).abs().sum(1),
 *   margin: 3,
 * })  // 2
 */
export function triplet_margin_with_distance_loss(
  anchor: Tensor,
  positive: Tensor,
  negative: Tensor,
  options?: TripletOptions,
): Tensor;
export function triplet_margin_with_distance_loss(...args: unknown[]): Tensor {
  const op = "triplet_margin_with_distance_loss",
    [anchor, positive, negative, distance = null, margin = 1, swap = false, reduction = "mean"] = taken(
      `${op} anchor positive negative * distance_function? margin? swap? reduction?`,
      args,
    );
  if (distance === null)
    return run(triplet_margin_with_distance_lossOp, [
      anchor,
      positive,
      negative,
      { margin, swap, reduction },
    ]) as Tensor;
  if (typeof distance !== "function") refuse(op, "distance_function", "a function", distance);
  const three = { anchor, positive, negative };
  for (const [name, x] of Object.entries(three)) check(x as Tensor, op, name);
  if (!["mean", "sum", "none"].includes(reduction as string))
    refuse(op, "reduction", '"mean", "sum" or "none"', reduction);
  if (!(number(margin, op, "margin") > 0)) throw new OpError(`${op}: margin must be greater than 0, got ${margin}`);
  const axes = Object.entries(three).map(([name, x]) => `${name} ${(x as Tensor).ndim}D`);
  if (anchor.ndim !== positive.ndim || anchor.ndim !== negative.ndim)
    throw new OpError(
      `${op}: The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: ${axes.join(", ")}`,
    );
  const far = distance(anchor, negative) as Tensor,
    near = distance(anchor, positive) as Tensor,
    other = flag(swap, op, "swap") ? (minimum(far, distance(positive, negative)) as Tensor) : far,
    loss = clamp_min(add(sub(near, other), margin), 0) as Tensor;
  return (reduction === "none" ? loss : reduction === "sum" ? sum(loss) : mean(loss)) as Tensor;
}
