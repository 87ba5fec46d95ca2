// Distributions over categories: places, places as vectors, and how often each place comes.

import { multinomial, softmax } from "../../names/torch.js";
import { arange, eye } from "../creation/create.js";
import { OpError } from "../base/errors.js";
import { to } from "../views/transfer.js";
import { unrecorded } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  type Value,
  add,
  argmax,
  broadcast_all,
  valueOf,
  both,
  clamp,
  clamp_probs,
  count,
  div,
  eq,
  exp,
  expand,
  filled,
  finfo,
  gather,
  inner,
  lgamma,
  like,
  log,
  logsumexp,
  mul,
  neg,
  normalized,
  reshape,
  select,
  squeeze,
  sub,
  sum,
  transpose,
  unsqueeze,
  where,
  xlogy,
} from "./arithmetic.js";
import {
  type Constraint,
  integer_interval,
  multinomial as totals,
  one_hot as single,
  real_vector,
  positive,
  simplex,
} from "./constraints/constraints.js";
import { DistributionClass, type Validate, distribution } from "./distribution.js";

/** Ones at places, along a last axis of `n`. */
const places_as_vectors = (places: Tensor, n: number): Tensor =>
  eq(unsqueeze(places, -1), arange(n, { device: places.device, dtype: places.dtype }));
const WEIGHTS = { probs: simplex, logits: real_vector };

/** Weights of categories along the last axis: `probs` or `logits` is given, the other follows from it. */
abstract class Weighted extends DistributionClass {
  protected given: "probs" | "logits";

  constructor(probs: Tensor | null | undefined, logits: Tensor | null | undefined, validate_args?: Validate) {
    super([], [], validate_args);
    if ((probs == null) === (logits == null))
      throw new OpError(`${new.target.name}: Either \`probs\` or \`logits\` must be specified, but not both.`);
    this.given = probs == null ? "logits" : "probs";
    const weights = (probs ?? logits)!;
    if (!(weights instanceof Tensor) || weights.shape.length < 1)
      throw new OpError(`${new.target.name}: \`${this.given}\` parameter must be at least one-dimensional.`);
    const value = probs ? div(weights, sum(weights, -1, true)) : normalized(weights);
    Object.defineProperty(this, this.given, { value, configurable: true, enumerable: true, writable: true });
  }
  get probs(): Tensor {
    return softmax(this.logits, -1);
  }
  get logits(): Tensor {
    return log(clamp_probs(this.probs));
  }
  get param_shape(): Sizes {
    return this[this.given].shape;
  }
  /** How many categories there are. */
  protected get events(): number {
    return this.param_shape[this.param_shape.length - 1]!;
  }
  /** Places that are drawn. */
  protected places(sample_shape: Sizes): Tensor {
    return unrecorded(() => {
      const batch = this.param_shape.slice(0, -1),
        drawn = multinomial(reshape(this.probs, [-1, this.events]), count(sample_shape), true);
      return reshape(transpose(drawn, 0, 1), [...sample_shape, ...batch]);
    });
  }
  protected log_prob_of(places: Tensor): Tensor {
    const { logits } = this,
      n = Math.max(places.shape.length, logits.shape.length - 1),
      batch = Array.from({ length: n }, (_, i) => {
        const a = places.shape[places.shape.length - n + i] ?? 1,
          b = logits.shape[logits.shape.length - 1 - n + i] ?? 1;
        return Math.max(a, b);
      }),
      at = expand(unsqueeze(to(places, ["int64"]) as Tensor, -1), [...batch, 1]);
    return squeeze(gather(expand(logits, [...batch, this.events]), -1, at), -1);
  }
  /** The sum of p (log p - log q). */
  override divergence(q: DistributionClass): Tensor | null {
    const kin = (a: object, b: object): boolean => a instanceof (b.constructor as new () => object);
    if (!(q instanceof Weighted) || !(kin(this, q) || kin(q, this)) || q instanceof MultinomialClass) return null;
    const each = mul(this.probs, sub(this.logits, q.logits));
    return sum(where(eq(this.probs, 0), 0, where(eq(q.probs, 0), Infinity, each)), -1);
  }
  protected information(): Tensor {
    const logits = clamp(this.logits, finfo(this.logits.dtype).min);
    return neg(sum(mul(logits, this.probs), -1));
  }
}

class CategoricalClass extends Weighted {
  constructor(probs?: Tensor | null, logits?: Tensor | null, validate_args?: Validate) {
    super(probs, logits, validate_args);
    this.shaped(this.param_shape.slice(0, -1));
  }
  override get support(): Constraint {
    return integer_interval(0, this.events - 1);
  }
  override get mean(): Tensor {
    return filled(this.batch_shape, NaN, this[this.given]);
  }
  override get mode(): Tensor {
    return argmax(this.probs, -1);
  }
  override get variance(): Tensor {
    return this.mean;
  }
  override sample(sample_shape: Sizes = []): Tensor {
    return this.places(sample_shape);
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    return this.log_prob_of(value);
  }
  override entropy(): Tensor {
    return this.information();
  }
  override enumerate_support(expanded = true): Tensor {
    const values = reshape(arange(this.events, { device: this[this.given].device, dtype: "int64" }), [
      -1,
      ...this.batch_shape.map(() => 1),
    ]);
    return expanded ? expand(values, [this.events, ...this.batch_shape]) : values;
  }
}
/**
 * A place, from 0 on, by weights.
 *
 * @param probs tensor [*, places]: weights, which need not add up to 1
 * @param logits tensor [*, places], instead of `probs`: logarithms of weights
 *
 * @example
 * const wheel = torch.distributions.Categorical(torch.tensor([1, 1, 2]));
 * wheel.probs  // [0.25, 0.25, 0.5]
 * torch.manual_seed(0);
 * torch.distributions.Categorical(torch.tensor([1, 0, 3])).sample([1000]).unique()  // [0, 2]
 */
export const Categorical = /* @__PURE__ */ distribution(CategoricalClass, "Categorical", "probs? logits?", WEIGHTS, {
  has_enumerate_support: true,
});
export type Categorical = CategoricalClass;

class OneHotCategoricalClass extends Weighted {
  constructor(probs?: Tensor | null, logits?: Tensor | null, validate_args?: Validate) {
    super(probs, logits, validate_args);
    this.shaped(this.param_shape.slice(0, -1), this.param_shape.slice(-1));
  }
  override get mean(): Tensor {
    return this.probs;
  }
  override get mode(): Tensor {
    return like(places_as_vectors(argmax(this.probs, -1), this.events), this[this.given]);
  }
  override get variance(): Tensor {
    return mul(this.probs, sub(1, this.probs));
  }
  override sample(sample_shape: Sizes = []): Tensor {
    return like(places_as_vectors(this.places(sample_shape), this.events), this[this.given]);
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    return this.log_prob_of(argmax(value, -1));
  }
  override entropy(): Tensor {
    return this.information();
  }
  override enumerate_support(expanded = true): Tensor {
    const n = this.events,
      { dtype, device } = this[this.given],
      values = reshape(eye(n, { dtype, device }), [n, ...this.batch_shape.map(() => 1), n]);
    return expanded ? expand(values, [n, ...this.batch_shape, n]) : values;
  }
}
/**
 * A place by weights, as a vector with a one there.
 *
 * @param probs tensor [*, places]: weights, which need not add up to 1
 * @param logits tensor [*, places], instead of `probs`: logarithms of weights
 *
 * @example
 * torch.distributions.OneHotCategorical(torch.tensor([0.2, 0.8])).enumerate_support()  // [[1, 0], [0, 1]]
 */
export const OneHotCategorical = /* @__PURE__ */ distribution(
  OneHotCategoricalClass,
  "OneHotCategorical",
  "probs? logits?",
  WEIGHTS,
  { support: single, has_enumerate_support: true, prints: [] },
);
export type OneHotCategorical = OneHotCategoricalClass;

class OneHotCategoricalStraightThroughClass extends OneHotCategoricalClass {
  override rsample(sample_shape: Sizes = []): Tensor {
    const { probs } = this;
    return add(this.sample(sample_shape), sub(probs, probs.detach()));
  }
}
/**
 * `OneHotCategorical` whose samples have the gradients of the weights.
 *
 * @param probs tensor [*, places]: weights, which need not add up to 1
 * @param logits tensor [*, places], instead of `probs`: logarithms of weights
 *
 * @example
 * const probs = torch.tensor([0.5, 0.5], { requires_grad: true });
 * torch.distributions.OneHotCategoricalStraightThrough(probs).rsample().requires_grad  // true
 */
export const OneHotCategoricalStraightThrough = /* @__PURE__ */ distribution(
  OneHotCategoricalStraightThroughClass,
  "OneHotCategoricalStraightThrough",
  "probs? logits?",
  WEIGHTS,
  { has_rsample: true, prints: [] },
);
export type OneHotCategoricalStraightThrough = OneHotCategoricalStraightThroughClass;

class RelaxedOneHotCategoricalClass extends Weighted {
  readonly temperature: Tensor;

  constructor(temperature: Value, probs?: Tensor | null, logits?: Tensor | null, validate_args?: Validate) {
    super(probs, logits, validate_args);
    this.temperature = broadcast_all(
      this[this.given],
      valueOf(temperature, "RelaxedOneHotCategorical", "temperature"),
    )[1]!;
    this.shaped(this.param_shape.slice(0, -1), this.param_shape.slice(-1));
    this.temperature = select(this.temperature, -1, 0);
  }
  override rsample(sample_shape: Sizes = []): Tensor {
    const { logits } = this,
      gumbel = neg(log(neg(log(inner(this.extended_shape(sample_shape), logits)))));
    return softmax(div(add(logits, gumbel), unsqueeze(this.temperature, -1)), -1);
  }
  /** With s = logits - T log x: log (n-1)! + (n-1) log T + the sum of (s - log x) - n log of the sum of exp(s). */
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const { temperature, events: n } = this,
      x = log(value),
      s = sub(this.logits, mul(unsqueeze(temperature, -1), x)),
      factor = add(mul(n - 1, log(temperature)), lgamma(filled([], n, temperature)));
    return add(factor, sub(sum(sub(s, x), -1), mul(n, logsumexp(s, -1))));
  }
}
/**
 * Shares of a whole, of which one nears 1 as the temperature falls: softmax of weights and Gumbel's numbers.
 *
 * @param temperature positive; near 0 one share is near 1
 * @param probs tensor [*, places]: weights, which need not add up to 1
 * @param logits tensor [*, places], instead of `probs`: logarithms of weights
 *
 * @example
 * torch.distributions.RelaxedOneHotCategorical(0.5, torch.tensor([1, 1, 2])).sample().sum().round({ decimals: 4 })  // 1
 */
export const RelaxedOneHotCategorical = /* @__PURE__ */ distribution(
  RelaxedOneHotCategoricalClass,
  "RelaxedOneHotCategorical",
  "temperature probs? logits?",
  { temperature: positive, ...WEIGHTS },
  { support: simplex, has_rsample: true, prints: [] },
);
export type RelaxedOneHotCategorical = RelaxedOneHotCategoricalClass;

class MultinomialClass extends Weighted {
  readonly total_count: number;

  constructor(total_count: number | null = 1, probs?: Tensor | null, logits?: Tensor | null, validate_args?: Validate) {
    super(probs, logits, validate_args);
    if (typeof (total_count ?? 1) !== "number")
      throw new OpError("Multinomial: inhomogeneous total_count is not supported");
    this.total_count = total_count ?? 1;
    this.shaped(this.param_shape.slice(0, -1), this.param_shape.slice(-1));
  }
  override get support(): Constraint {
    return totals(this.total_count);
  }
  override get mean(): Tensor {
    return mul(this.probs, this.total_count);
  }
  override get variance(): Tensor {
    return mul(mul(this.total_count, this.probs), sub(1, this.probs));
  }
  override sample(sample_shape: Sizes = []): Tensor {
    return unrecorded(() => {
      const drawn = this.places([this.total_count, ...sample_shape]);
      return sum(like(places_as_vectors(drawn, this.events), this[this.given]), 0);
    });
  }
  override entropy(): Tensor {
    const n = this.total_count,
      { probs } = this,
      counts = reshape(arange(1, n + 1, { dtype: this.probs.dtype, device: this.probs.device }), [
        -1,
        ...this.param_shape.map(() => 1),
      ]),
      factorial = lgamma(filled([], n + 1, probs)),
      ways = sub(factorial, add(lgamma(add(counts, 1)), lgamma(sub(n + 1, counts)))),
      // how likely a place comes so often
      share = exp(add(ways, add(xlogy(counts, probs), xlogy(sub(n, counts), sub(1, probs))))),
      weights = mul(share, lgamma(add(counts, 1)));
    return add(sub(mul(n, this.information()), factorial), sum(sum(weights, 0), -1));
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const { logits } = this,
      powers = where(both(eq(value, 0), eq(logits, -Infinity)), 0, mul(logits, value)),
      ways = sub(lgamma(add(sum(value, -1), 1)), sum(lgamma(add(value, 1)), -1));
    return add(ways, sum(powers, -1));
  }
}
/**
 * How often each place comes in `total_count` draws.
 *
 * @param total_count how many draws there are; 1 unless given
 * @param probs tensor [*, places]: weights, which need not add up to 1
 * @param logits tensor [*, places], instead of `probs`: logarithms of weights
 *
 * @example
 * torch.manual_seed(0);
 * const draws = torch.distributions.Multinomial(10, torch.tensor([1, 1, 2]));
 * [draws.mean, draws.sample().sum()]  // [[2.5, 2.5, 5], 10]
 */
export const Multinomial = /* @__PURE__ */ distribution(
  MultinomialClass,
  "Multinomial",
  "total_count? probs? logits?",
  WEIGHTS,
  { prints: [] },
);
export type Multinomial = MultinomialClass;
