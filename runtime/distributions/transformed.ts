// Distributions of what transforms make of samples of others.

import { nameOf } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Sizes, type Value, add, mul, sub, sum_rightmost } from "./arithmetic.js";
import { Independent } from "./combined.js";
import { ComposeTransform } from "./combined-transforms.js";
import { type Constraint, independent, positive, real, simplex } from "./constraints/constraints.js";
import { type Distribution, DistributionClass, type Validate, distribution, distributionOf } from "./distribution.js";
import { kl_divergence } from "./kl.js";
import { Normal } from "./real.js";
import { type Transform, TransformClass, transformOf } from "./transform.js";
import { StickBreakingTransform } from "./vector-transforms.js";

class TransformedDistributionClass extends DistributionClass {
  base_dist: Distribution;
  readonly transforms: readonly Transform[];

  constructor(base_distribution: Distribution, transforms: Transform | readonly Transform[], validate_args?: Validate) {
    super([], [], validate_args);
    const op = "TransformedDistribution",
      base = distributionOf(base_distribution, op, "base_distribution");
    this.transforms = (transforms instanceof TransformClass ? [transforms] : [...transforms]).map((t) =>
      transformOf(t, op, "transforms"),
    );
    const whole = ComposeTransform(this.transforms),
      { domain, codomain } = whole,
      from = [...base.batch_shape, ...base.event_shape];
    if (from.length < domain.event_dim)
      throw new OpError(
        `${op}: base_distribution needs to have shape with size at least ${domain.event_dim}, but got [${from}].`,
      );
    const to = whole.forward_shape(from),
      back = whole.inverse_shape(to),
      batch = back.slice(0, back.length - base.event_shape.length),
      wide = batch.length === base.batch_shape.length && batch.every((n, i) => n === base.batch_shape[i]);
    const spread = wide ? base : base.expand(batch),
      more = domain.event_dim - spread.event_shape.length;
    this.base_dist = more > 0 ? Independent(spread, more) : spread;
    const dims = codomain.event_dim + Math.max(this.base_dist.event_shape.length - domain.event_dim, 0);
    this.shaped(to.slice(0, to.length - dims), to.slice(to.length - dims));
  }
  override get has_rsample(): boolean {
    return this.base_dist.has_rsample;
  }
  override get support(): Constraint {
    const last = this.transforms[this.transforms.length - 1];
    if (!last) return this.base_dist.support;
    const more = this.event_shape.length - last.codomain.event_dim;
    return more > 0 ? independent(last.codomain, more) : last.codomain;
  }
  override expand(batch_shape: Sizes): this {
    const made = super.expand(batch_shape),
      whole = ComposeTransform(this.transforms),
      shape = whole.inverse_shape([...batch_shape, ...this.event_shape]);
    made.base_dist = this.base_dist.expand(shape.slice(0, shape.length - this.base_dist.event_shape.length));
    return made;
  }
  private moved(x: Tensor): Tensor {
    return this.transforms.reduce((value, transform) => transform(value), x);
  }
  private back(y: Tensor): Tensor {
    return this.transforms.reduceRight((value, transform) => transform.inv(value), y);
  }
  override sample(sample_shape: Sizes = []): Tensor {
    return unrecorded(() => this.moved(this.base_dist.sample(sample_shape)));
  }
  override rsample(sample_shape: Sizes = []): Tensor {
    return this.moved(this.base_dist.rsample(sample_shape));
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    let dims = this.event_shape.length,
      y = value,
      stretch: Tensor | null = null;
    for (const transform of [...this.transforms].reverse()) {
      const x = transform.inv(y);
      dims += transform.domain.event_dim - transform.codomain.event_dim;
      const each = sum_rightmost(transform.log_abs_det_jacobian(x, y), dims - transform.domain.event_dim);
      stretch = stretch ? add(stretch, each) : each;
      y = x;
    }
    const density = sum_rightmost(this.base_dist.log_prob(y), dims - this.base_dist.event_shape.length);
    return stretch ? sub(density, stretch) : density;
  }
  /** A share below a value: as it is where larger values become larger, else 1 less it. */
  private turned(share: Tensor): Tensor {
    const sign = this.transforms.reduce<Value>((all, t) => mulled(all, t.sign), 1);
    return sign === 1 ? share : add(mul(sign, sub(share, 0.5)), 0.5);
  }
  override cdf(value: Tensor): Tensor {
    this.checked(value);
    return this.turned(this.base_dist.cdf(this.back(value)));
  }
  override icdf(value: Tensor): Tensor {
    return this.moved(this.base_dist.icdf(this.turned(value)));
  }
  override divergence(q: DistributionClass): Tensor | null {
    if (!(q instanceof TransformedDistributionClass) || q.transforms.length !== this.transforms.length) return null;
    if (!this.transforms.every((t, i) => t.equals(q.transforms[i]))) return null;
    const apart = kl_divergence(this.base_dist, q.base_dist);
    return sum_rightmost(apart, this.event_shape.length - this.base_dist.event_shape.length - this.grown);
  }
  /** How many axes one value gains by the transforms. */
  private get grown(): number {
    const { domain, codomain } = ComposeTransform(this.transforms);
    return codomain.event_dim - domain.event_dim;
  }
  override toString(): string {
    return `${nameOf(this)}()`;
  }
}
const mulled = (a: Value, b: Value): Value => (typeof a === "number" && typeof b === "number" ? a * b : mul(a, b));
/**
 * What transforms, one after another, make of samples of a distribution.
 *
 * @param base_distribution what is sampled
 * @param transforms what is made of it, the first of which comes first
 *
 * @example
 * const { Normal, TransformedDistribution, transforms } = torch.distributions;
 * const logNormal = TransformedDistribution(Normal(0, 1), [transforms.ExpTransform()]);
 * logNormal.cdf(torch.tensor([1]))  // [0.5]
 */
export const TransformedDistribution = /* @__PURE__ */ distribution(
  TransformedDistributionClass,
  "TransformedDistribution",
  "base_distribution transforms",
  {},
);
export type TransformedDistribution = TransformedDistributionClass;

class LogisticNormalClass extends TransformedDistributionClass {
  constructor(loc: Value, scale: Value, validate_args?: Validate) {
    const base = validate_args === undefined ? Normal(loc, scale) : Normal(loc, scale, validate_args);
    super(base.batch_shape.length === 0 ? base.expand([1]) : base, StickBreakingTransform(), validate_args);
  }
  private get normal(): Normal {
    return (this.base_dist as Independent).base_dist as Normal;
  }
  get loc(): Tensor {
    return this.normal.loc;
  }
  get scale(): Tensor {
    return this.normal.scale;
  }
}
/**
 * Shares of a whole, broken off by normal numbers: one share more than there are numbers.
 *
 * @param loc tensor [*, n]: the means of the normal numbers
 * @param scale positive tensor [*, n]: their standard deviations
 *
 * @example
 * torch.distributions.LogisticNormal(torch.zeros([2]), torch.ones([2])).sample().sum().round({ decimals: 4 })  // 1
 */
export const LogisticNormal = /* @__PURE__ */ distribution(
  LogisticNormalClass,
  "LogisticNormal",
  "loc scale",
  { loc: real, scale: positive },
  { support: simplex, has_rsample: true, prints: [] },
);
export type LogisticNormal = LogisticNormalClass;

class ExponentialFamilyClass extends DistributionClass {}
/**
 * A base class: distributions whose densities are exponentials of sums of products.
 *
 * @example
 * class Mine extends torch.distributions.ExponentialFamily {};
 * new Mine() instanceof torch.distributions.Distribution  // true
 */
export const ExponentialFamily = /* @__PURE__ */ distribution(
  ExponentialFamilyClass,
  "ExponentialFamily",
  "batch_shape? event_shape?",
  {},
);
export type ExponentialFamily = ExponentialFamilyClass;
