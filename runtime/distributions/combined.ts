// Distributions over other ones: independent parts as one value, and mixtures.

import type { Callable } from "../base/callable.js";
import { count, refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  add,
  expand,
  gather,
  log_softmax,
  logsumexp,
  mul,
  pow,
  reshape,
  squeeze,
  sub,
  sum,
  sum_rightmost,
  unsqueeze,
} from "./arithmetic.js";
import { Categorical } from "./categories.js";
import { type Constraint, MixtureSameFamilyConstraint, independent } from "./constraints/constraints.js";
import { kl_divergence } from "./kl.js";
import { type Distribution, DistributionClass, type Validate, distribution, distributionOf } from "./distribution.js";

class IndependentClass extends DistributionClass {
  base_dist: Distribution;
  readonly reinterpreted_batch_ndims: number;

  constructor(base_distribution: Distribution, reinterpreted_batch_ndims: number, validate_args?: Validate) {
    super([], [], validate_args);
    const { batch_shape, event_shape } = distributionOf(base_distribution, "Independent", "base_distribution");
    count(reinterpreted_batch_ndims, "Independent", "reinterpreted_batch_ndims");
    if (reinterpreted_batch_ndims > batch_shape.length)
      throw new OpError(
        `Independent: Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual ${reinterpreted_batch_ndims} vs ${batch_shape.length}`,
      );
    this.base_dist = base_distribution;
    this.reinterpreted_batch_ndims = reinterpreted_batch_ndims;
    const at = batch_shape.length - reinterpreted_batch_ndims;
    this.shaped(batch_shape.slice(0, at), [...batch_shape.slice(at), ...event_shape]);
  }
  override get has_rsample(): boolean {
    return this.base_dist.has_rsample;
  }
  override get has_enumerate_support(): boolean {
    return this.reinterpreted_batch_ndims === 0 && this.base_dist.has_enumerate_support;
  }
  override get support(): Constraint {
    const { support } = this.base_dist,
      n = this.reinterpreted_batch_ndims;
    return n ? independent(support, n) : support;
  }
  override expand(batch_shape: Sizes): this {
    const made = super.expand(batch_shape);
    made.base_dist = this.base_dist.expand([
      ...batch_shape,
      ...this.event_shape.slice(0, this.reinterpreted_batch_ndims),
    ]);
    return made;
  }
  override get mean(): Tensor {
    return this.base_dist.mean;
  }
  override get mode(): Tensor {
    return this.base_dist.mode;
  }
  override get variance(): Tensor {
    return this.base_dist.variance;
  }
  override sample(sample_shape: Sizes = []): Tensor {
    return this.base_dist.sample(sample_shape);
  }
  override rsample(sample_shape: Sizes = []): Tensor {
    return this.base_dist.rsample(sample_shape);
  }
  override log_prob(value: Tensor): Tensor {
    return sum_rightmost(this.base_dist.log_prob(value), this.reinterpreted_batch_ndims);
  }
  override entropy(): Tensor {
    return sum_rightmost(this.base_dist.entropy(), this.reinterpreted_batch_ndims);
  }
  override divergence(q: DistributionClass): Tensor | null {
    const n = this.reinterpreted_batch_ndims;
    if (!(q instanceof IndependentClass) || q.reinterpreted_batch_ndims !== n) return null;
    return sum_rightmost(kl_divergence(this.base_dist, q.base_dist), n);
  }
  override enumerate_support(expanded = true): Tensor {
    if (this.reinterpreted_batch_ndims > 0)
      throw new OpError("Independent: Enumeration over cartesian product is not implemented");
    return this.base_dist.enumerate_support(expanded);
  }
  override toString(): string {
    return `Independent(${this.base_dist}, ${this.reinterpreted_batch_ndims})`;
  }
}
/**
 * The same distribution, of which so many of the last batch axes count as one value.
 *
 * @param base_distribution distribution whose batch has as many axes
 * @param reinterpreted_batch_ndims how many of its batch axes become axes of a value
 *
 * @example
 * const rows = torch.distributions.Independent(torch.distributions.Normal(torch.zeros([2, 3]), 1), 1);
 * [rows.batch_shape, rows.event_shape, rows.log_prob(torch.zeros([2, 3])).shape]  // [[2], [3], [2]]
 */
export const Independent = /* @__PURE__ */ distribution(
  IndependentClass,
  "Independent",
  "base_distribution reinterpreted_batch_ndims",
  {},
);
export type Independent = IndependentClass;

class MixtureSameFamilyClass extends DistributionClass {
  mixture_distribution: Categorical;
  component_distribution: Distribution;

  constructor(mixture_distribution: Categorical, component_distribution: Distribution, validate_args?: Validate) {
    super([], [], validate_args);
    const op = "MixtureSameFamily",
      { batch_shape, event_shape } = distributionOf(component_distribution, op, "component_distribution"),
      parts = batch_shape[batch_shape.length - 1],
      chosen = distributionOf(mixture_distribution, op, "mixture_distribution").param_shape;
    if (!(mixture_distribution instanceof Categorical))
      refuse(op, "mixture_distribution", "a Categorical", mixture_distribution);
    if (parts === undefined || parts !== chosen[chosen.length - 1])
      throw new OpError(
        `MixtureSameFamily: \`mixture_distribution component\` (${chosen[chosen.length - 1]}) does not equal \`component_distribution.batch_shape[-1]\` (${parts})`,
      );
    this.mixture_distribution = mixture_distribution;
    this.component_distribution = component_distribution;
    this.shaped(batch_shape.slice(0, -1), event_shape);
  }
  override get support(): Constraint {
    return MixtureSameFamilyConstraint(this.component_distribution.support);
  }
  override expand(batch_shape: Sizes): this {
    const made = super.expand(batch_shape),
      parts = this.component_distribution.batch_shape.slice(-1);
    made.mixture_distribution = this.mixture_distribution.expand(batch_shape);
    made.component_distribution = this.component_distribution.expand([...batch_shape, ...parts]);
    return made;
  }
  /** The axis of the components. */
  private get axis(): number {
    return -1 - this.event_shape.length;
  }
  private get weights(): Tensor {
    const { probs } = this.mixture_distribution;
    return reshape(probs, [...probs.shape, ...this.event_shape.map(() => 1)]);
  }
  private padded(x: Tensor): Tensor {
    return unsqueeze(x, this.axis);
  }
  override get mean(): Tensor {
    return sum(mul(this.weights, this.component_distribution.mean), this.axis);
  }
  override get variance(): Tensor {
    const { mean, variance } = this.component_distribution,
      away = pow(sub(mean, this.padded(this.mean)), 2);
    return add(sum(mul(this.weights, variance), this.axis), sum(mul(this.weights, away), this.axis));
  }
  override cdf(value: Tensor): Tensor {
    return sum(mul(this.component_distribution.cdf(this.padded(value)), this.mixture_distribution.probs), -1);
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const each = this.component_distribution.log_prob(this.padded(value));
    return logsumexp(add(each, log_softmax(this.mixture_distribution.logits, -1)), -1);
  }
  override sample(sample_shape: Sizes = []): Tensor {
    return unrecorded(() => {
      const axis = sample_shape.length + this.batch_shape.length,
        chosen = this.mixture_distribution.sample(sample_shape),
        drawn = this.component_distribution.sample(sample_shape),
        ones = [1, ...this.event_shape.map(() => 1)],
        places = expand(reshape(chosen, [...chosen.shape, ...ones]), [...chosen.shape, 1, ...this.event_shape]);
      return squeeze(gather(drawn, axis, places), axis);
    });
  }
  override toString(): string {
    return `MixtureSameFamily(\n  ${this.mixture_distribution},\n  ${this.component_distribution})`;
  }
}
/**
 * One of the components, which lie along their last batch axis, chosen by a `Categorical`.
 *
 * @param mixture_distribution how likely each component is
 * @param component_distribution distribution whose last batch axis has the components
 *
 * @example
 * const weights = torch.distributions.Categorical(torch.tensor([1, 3]));
 * const mixture = torch.distributions.MixtureSameFamily(weights, torch.distributions.Normal(torch.tensor([0, 4]), 1));
 * mixture.mean  // 3
 */
export const MixtureSameFamily: Callable<typeof MixtureSameFamilyClass> = /* @__PURE__ */ distribution(
  MixtureSameFamilyClass,
  "MixtureSameFamily",
  "mixture_distribution component_distribution",
  {},
);
export type MixtureSameFamily = MixtureSameFamilyClass;
