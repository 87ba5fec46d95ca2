// Losses over classes that hold the weights of the scores: of one linear map, and of clusters of rare classes.

import { OpError } from "../../base/errors.js";
import { zeros_like } from "../../creation/like.js";
import { cat } from "../../functions/join.js";
import type { Tensor } from "../../tensor/tensor.js";
import { sliceAxis } from "../../views/views.js";
import { add, argmax, gather, ge, logical_and, lt, mean, neg, sub, where } from "../../../names/torch.js";
import { linear_cross_entropy, log_softmax } from "../../../names/functional.js";
import * as views from "../../views/views.js";
import { integers } from "../../base/shape.js";
import { callable } from "../../base/callable.js";
import { ModuleList, Sequential } from "../containers.js";
import { Linear } from "./linear.js";
import { Module } from "../module.js";
import {
  DEVICE_AND_TYPE,
  construct,
  required,
  size,
  type Arguments,
  type Factory,
  type DeviceAndType,
} from "../options.js";
import { flag, float, shown, tuple } from "../shown.js";

export interface LinearCrossEntropyOptions extends Factory {
  /** Further axes of the loss: each place has its own scores. */
  out_features?: readonly number[];
  /** Whether a learned vector is added. */
  bias?: boolean;
  /** The mean of all losses, their sum, or each as it is. */
  reduction?: "mean" | "sum" | "none";
  /** How much each class counts. */
  weight?: Tensor | null;
  /** The target that counts as none; null: every one counts. */
  ignore_index?: number | null;
  /** How much of each target is spread over all classes, from 0 to 1. */
  label_smoothing?: number;
}

class LinearCrossEntropyLossClass extends Module {
  readonly num_classes: number;
  readonly out_features: readonly number[];
  readonly reduction: "mean" | "sum" | "none";
  readonly ignore_index: number | null;
  readonly label_smoothing: number;
  linear: Linear;
  declare weight: Tensor | null;

  /** The cross entropy of a linear map's scores. */
  constructor(
    ...args:
      | [in_features: number, num_classes: number, options?: LinearCrossEntropyOptions]
      | [LinearCrossEntropyOptions & { in_features: number; num_classes: number }]
  ) {
    super();
    const o = construct(
      "LinearCrossEntropyLoss",
      {
        in_features: size(),
        num_classes: size(),
        out_features: [] as readonly number[],
        bias: false,
        ...DEVICE_AND_TYPE,
        reduction: "mean" as "mean" | "sum" | "none",
        weight: null as Tensor | null,
        ignore_index: null as number | null,
        label_smoothing: 0,
        options: null,
      },
      args,
    );
    if (o.weight && (o.weight.ndim !== 1 || o.weight.shape[0] !== o.num_classes)) {
      throw new OpError(`expected weight shape to be ${tuple([o.num_classes])}, got ${tuple(o.weight.shape)}`);
    }
    if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
      throw new OpError(`expected label_smoothing to be in range [0, 1], got ${o.label_smoothing}`);
    o.out_features = integers([o.out_features], "LinearCrossEntropyLoss", "out_features");
    this.register_buffer("weight", o.weight);
    this.num_classes = o.num_classes;
    this.out_features = [...o.out_features];
    this.reduction = o.reduction;
    this.ignore_index = o.ignore_index;
    this.label_smoothing = o.label_smoothing;
    const rows = o.out_features.reduce((a, b) => a * b, o.num_classes);
    this.linear = Linear(o.in_features, rows, { bias: o.bias, device: o.device ?? null, dtype: o.dtype ?? null });
  }
  override forward(input: Tensor, target: Tensor): Tensor {
    const { linear, num_classes, out_features, weight, reduction, ignore_index, label_smoothing } = this;
    const apply = linear_cross_entropy as unknown as (
      input: Tensor,
      weight: Tensor,
      target: Tensor,
      options: object,
    ) => Tensor;
    return apply(input, views.reshape(linear.weight, [num_classes, ...out_features, linear.in_features]), target, {
      linear_bias: linear.bias && views.reshape(linear.bias, [num_classes, ...out_features]),
      weight,
      reduction,
      ignore_index,
      label_smoothing,
    });
  }
  override extra_repr(): string {
    return (
      `in_features=${this.linear.in_features}, num_classes=${this.num_classes}, out_features=${tuple(this.out_features)}, bias=${flag(this.linear.bias !== null)}, ` +
      `reduction=${this.reduction}, ignore_index=${shown(this.ignore_index)}, label_smoothing=${float(this.label_smoothing)}, options=None`
    );
  }
}
/**
 * @param in_features the size of the input's last axis
 * @param num_classes how many classes there are
 *
 * @example
 * torch.nn.LinearCrossEntropyLoss(3, 4)(torch.ones([2, 3]), torch.tensor([0, 3], { dtype: torch.long })).shape  // []
 */
export const LinearCrossEntropyLoss = /* @__PURE__ */ callable(
  LinearCrossEntropyLossClass,
  "LinearCrossEntropyLoss",
  "forward input target",
);
export type LinearCrossEntropyLoss = LinearCrossEntropyLossClass;

export interface AdaptiveLogSoftmaxOptions extends Factory {
  /** By what the features of each further cluster are fewer. */
  div_value?: number;
  /** Whether a learned vector is added to the scores of the first classes and clusters. */
  head_bias?: boolean;
}
interface AdaptiveResult extends Iterable<Tensor> {
  /** The logarithm of each target's probability. */
  output: Tensor;
  loss: Tensor;
}

class AdaptiveLogSoftmaxWithLossClass extends Module {
  readonly in_features: number;
  readonly n_classes: number;
  readonly cutoffs: readonly number[];
  readonly div_value: number;
  readonly head_bias: boolean;
  readonly shortlist_size: number;
  readonly n_clusters: number;
  readonly head_size: number;
  head: Linear;
  tail: ModuleList;

  /** Softmax over classes sorted by how frequent they are, in clusters that begin at `cutoffs` (Grave et al. 2016). */
  constructor(
    ...args: Arguments<
      [in_features: number, n_classes: number, cutoffs: readonly number[]],
      [div_value: number, head_bias: boolean, ...DeviceAndType],
      AdaptiveLogSoftmaxOptions,
      { in_features: number; n_classes: number; cutoffs: readonly number[] }
    >
  ) {
    super();
    const o = construct(
      "AdaptiveLogSoftmaxWithLoss",
      {
        in_features: size(),
        n_classes: size(),
        cutoffs: required<readonly number[]>(),
        div_value: 4,
        head_bias: false,
        ...DEVICE_AND_TYPE,
      },
      args,
    );
    o.cutoffs = integers([o.cutoffs], "AdaptiveLogSoftmaxWithLoss", "cutoffs");
    if (o.cutoffs.length === 0) throw new OpError("cutoffs should be a sequence of length larger than 0");
    if (o.cutoffs.some((c, i) => !Number.isInteger(c) || c <= (i ? o.cutoffs[i - 1]! : 0) || c > o.n_classes - 1)) {
      throw new OpError(
        "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and n_classes-1",
      );
    }
    this.in_features = o.in_features;
    this.n_classes = o.n_classes;
    this.cutoffs = [...o.cutoffs, o.n_classes];
    this.div_value = o.div_value;
    this.head_bias = o.head_bias;
    this.shortlist_size = this.cutoffs[0]!;
    this.n_clusters = this.cutoffs.length - 1;
    this.head_size = this.shortlist_size + this.n_clusters;
    const place = { device: o.device ?? null, dtype: o.dtype ?? null };
    this.head = Linear(o.in_features, this.head_size, { bias: o.head_bias, ...place });
    this.tail = ModuleList(
      o.cutoffs.map((cutoff, i) => {
        const divisor = o.div_value ** (i + 1),
          inner = Math.round((o.in_features - (o.in_features % divisor)) / divisor); // Python's floor division of floats
        return Sequential(
          Linear(o.in_features, inner, { bias: false, ...place }),
          Linear(inner, this.cutoffs[i + 1]! - cutoff, { bias: false, ...place }),
        );
      }),
    );
  }
  reset_parameters(): void {
    for (const m of this.modules()) if (m instanceof Linear) m.reset_parameters();
  }

  /**
   * Every cluster's scores are computed for every row, so that nothing needs to be read back to say which rows are in
   * which.
   */
  override forward(input_: Tensor, target_: Tensor): AdaptiveResult {
    if (target_.ndim > 1) throw new OpError("0D or 1D target tensor expected, multi-target not supported");
    if (target_.ndim === 1 && input_.shape[0] !== target_.shape[0])
      throw new OpError("Input and target should have the same size in the batch dimension.");
    if (input_.ndim !== target_.ndim + 1) {
      throw new OpError(
        `${target_.ndim}D target tensor expects ${target_.ndim + 1}D input tensors, but found inputs with size [${input_.shape.join(", ")}]`,
      );
    }
    const batched = target_.ndim === 1,
      input = batched ? input_ : views.unsqueeze(input_, 0),
      target = batched ? target_ : views.unsqueeze(target_, 0);
    const picked = (scores: Tensor, at: Tensor): Tensor =>
      views.squeeze(gather(log_softmax(scores, 1), 1, views.unsqueeze(at, 1)), 1);
    let inHead = target,
      within: Tensor | null = null;
    for (const [i, cluster] of [...this.tail].entries()) {
      const low = this.cutoffs[i]!,
        mask = logical_and(ge(target, low), lt(target, this.cutoffs[i + 1]!)),
        first = zeros_like(target);
      inHead = where(mask, add(first, this.shortlist_size + i), inHead) as Tensor;
      const own = picked(cluster(input) as Tensor, where(mask, sub(target, low), first) as Tensor),
        part = where(mask, own, zeros_like(own)) as Tensor;
      within = within ? (add(within, part) as Tensor) : part;
    }
    const output = add(picked(this.head(input), inHead), within!) as Tensor,
      loss = mean(neg(output)) as Tensor;
    const result = batched ? output : views.squeeze(output, 0);
    return { output: result, loss, [Symbol.iterator]: () => [result, loss][Symbol.iterator]() };
  }
  /** The logarithms of the probabilities of all classes, (rows, n_classes). */
  log_prob(input: Tensor): Tensor {
    return this.all(input, this.head(input));
  }
  private all(input: Tensor, scores: Tensor): Tensor {
    const head = log_softmax(scores, 1);
    const parts = [...this.tail].map(
      (cluster, i) => add(log_softmax(cluster(input) as Tensor, 1), slice(head, this.shortlist_size + i, 1)) as Tensor,
    );
    return cat([slice(head, 0, this.shortlist_size), ...parts], 1);
  }
  /** The most probable class of each row; one of a cluster only where the head chooses a cluster. */
  predict(input: Tensor): Tensor {
    const scores = this.head(input),
      first = argmax(scores, 1) as Tensor;
    return where(lt(first, this.shortlist_size), first, argmax(this.all(input, scores), 1) as Tensor) as Tensor;
  }
}
const slice = (x: Tensor, start: number, length: number): Tensor => sliceAxis(x, 1, start, length, 1, "narrow");
/**
 * @param in_features the size of the input's last axis
 * @param n_classes how many classes there are, the most frequent first
 * @param cutoffs the classes at which each further cluster begins, ascending
 *
 * @example
 * torch.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2])(torch.ones([3, 4]), torch.tensor([0, 3, 5], { dtype: torch.long })).output.shape  // [3]
 */
export const AdaptiveLogSoftmaxWithLoss = /* @__PURE__ */ callable(
  AdaptiveLogSoftmaxWithLossClass,
  "AdaptiveLogSoftmaxWithLoss",
  "forward input_ target_, log_prob input, all !, predict input",
);
export type AdaptiveLogSoftmaxWithLoss = AdaptiveLogSoftmaxWithLossClass;
