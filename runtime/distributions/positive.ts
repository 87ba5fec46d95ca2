// Distributions of positive numbers, and of those between 0 and 1.

import type { Tensor } from "../tensor/tensor.js";
import {
  EULER,
  abs,
  add,
  atan,
  digamma,
  div,
  eq,
  erf,
  erfinv,
  exp,
  expm1,
  filled,
  ge,
  gt,
  lgamma,
  log,
  log1p,
  mul,
  neg,
  pow,
  reciprocal,
  standard_normal,
  sub,
  tan,
  where,
  zeros_like,
  both,
  either,
} from "./arithmetic.js";
import { greater_than_eq, nonnegative, positive, real, unit_interval } from "./constraints/constraints.js";
import { type Given, family } from "./family.js";
import { normal_divergence, normal_entropy, normal_log_density, normal_place, normal_share, standard } from "./real.js";

/**
 * Times between events that come at `rate`.
 *
 * @param rate positive number or tensor: how many events come in a unit of time
 *
 * @example
 * torch.distributions.Exponential(2).mean  // 0.5
 */
export const Exponential = /* @__PURE__ */ family<"rate">({
  name: "Exponential",
  holds: { rate: positive },
  support: nonnegative,
  mean: ({ rate }) => reciprocal(rate),
  mode: ({ rate }) => zeros_like(rate),
  variance: ({ rate }) => pow(rate, -2),
  log_prob: ({ rate }, x) => sub(log(rate), mul(rate, x)),
  cdf: ({ rate }, x) => neg(expm1(neg(mul(rate, x)))),
  icdf: ({ rate }, share) => div(neg(log1p(neg(share))), rate),
  entropy: ({ rate }) => sub(1, log(rate)),
  expectations: ({ rate }) => ({
    log: () => neg(add(EULER, log(rate))),
    power: (k) => exp(sub(lgamma(add(k, 1)), mul(k, log(rate)))),
    cumulant: (t) => neg(log1p(neg(div(t, rate)))),
  }),
  expected: ({ rate }, { mean }) => sub(log(rate), mul(rate, mean)),
});
export type Exponential = InstanceType<typeof Exponential>;

/**
 * The sizes of normal numbers around 0.
 *
 * @param scale positive number or tensor: the standard deviation of the normal number
 *
 * @example
 * torch.distributions.HalfNormal(2).cdf(torch.tensor([0, 2]))  // [0, 0.682689]
 */
export const HalfNormal = /* @__PURE__ */ family<"scale">({
  name: "HalfNormal",
  prints: [],
  holds: { scale: positive },
  support: nonnegative,
  mean: ({ scale }) => mul(Math.sqrt(2 / Math.PI), scale),
  mode: ({ scale }) => zeros_like(scale),
  variance: ({ scale }) => mul(1 - 2 / Math.PI, pow(scale, 2)),
  log_prob: ({ scale }, x) => {
    const inside = sub(mul(-0.5, pow(div(x, scale), 2)), add(log(scale), Math.log(Math.PI / 2) / 2));
    return where(ge(x, 0), inside, -Infinity);
  },
  cdf: ({ scale }, x) => erf(mul(Math.SQRT1_2, div(x, scale))),
  icdf: ({ scale }, share) => mul(mul(Math.SQRT2, scale), erfinv(share)),
  draw: ({ scale }, shape) => mul(scale, abs(standard_normal(shape, scale))),
  entropy: ({ scale }) => add(log(scale), Math.log(Math.PI / 2) / 2 + 0.5),
  divergence: (p, q) => normal_divergence({ loc: zeros_like(p.scale), ...p }, { loc: zeros_like(q.scale), ...q }),
});
export type HalfNormal = InstanceType<typeof HalfNormal>;

/**
 * The sizes of Cauchy's numbers around 0.
 *
 * @param scale positive number or tensor: that of the Cauchy number, here the median
 *
 * @example
 * torch.distributions.HalfCauchy(1).cdf(torch.tensor([0, 1]))  // [0, 0.5]
 */
export const HalfCauchy = /* @__PURE__ */ family<"scale">({
  name: "HalfCauchy",
  prints: [],
  holds: { scale: positive },
  support: nonnegative,
  mean: ({ scale }) => filled(scale.shape, Infinity, scale),
  mode: ({ scale }) => zeros_like(scale),
  variance: ({ scale }) => filled(scale.shape, Infinity, scale),
  log_prob: ({ scale }, x) =>
    where(ge(x, 0), neg(add(log(mul(Math.PI / 2, scale)), log1p(pow(div(x, scale), 2)))), -Infinity),
  cdf: ({ scale }, x) => mul(2 / Math.PI, atan(div(x, scale))),
  icdf: ({ scale }, share) => mul(scale, tan(mul(Math.PI / 2, share))),
  entropy: ({ scale }) => log(mul(2 * Math.PI, scale)),
  // that of the numbers whose sizes these are
  divergence: ({ scale: a }, { scale: b }) => sub(mul(2, log(mul(0.5, add(a, b)))), log(mul(a, b))),
});
export type HalfCauchy = InstanceType<typeof HalfCauchy>;

/**
 * Numbers whose logarithms are normal.
 *
 * @param loc number or tensor: the mean of the logarithm
 * @param scale positive number or tensor: the standard deviation of the logarithm
 *
 * @example
 * torch.distributions.LogNormal(0, 1).icdf(torch.tensor([0.5]))  // [1]
 */
export const LogNormal = /* @__PURE__ */ family<"loc" | "scale">({
  name: "LogNormal",
  prints: [],
  holds: { loc: real, scale: positive },
  support: positive,
  mean: ({ loc, scale }) => exp(add(loc, mul(0.5, pow(scale, 2)))),
  mode: ({ loc, scale }) => exp(sub(loc, pow(scale, 2))),
  variance: ({ loc, scale }) => {
    const spread = pow(scale, 2);
    return mul(expm1(spread), exp(add(mul(2, loc), spread)));
  },
  log_prob: (p, x) => sub(normal_log_density(p, log(x)), log(x)),
  cdf: (p, x) => normal_share(standard(p, log(x))),
  icdf: ({ loc, scale }, share) => exp(add(loc, mul(scale, normal_place(share)))),
  draw: ({ loc, scale }, shape) => exp(add(loc, mul(scale, standard_normal(shape, loc)))),
  entropy: (p) => add(normal_entropy(p), p.loc),
  divergence: normal_divergence,
});
export type LogNormal = InstanceType<typeof LogNormal>;

/**
 * Weibull's distribution, of times until something fails.
 *
 * @param scale positive number or tensor: the value that a share of 1 - 1/e is below
 * @param concentration positive number or tensor; 1: as `Exponential`
 *
 * @example
 * torch.distributions.Weibull(2, 1).mean  // 2
 */
export const Weibull = /* @__PURE__ */ family<"scale" | "concentration">({
  name: "Weibull",
  holds: { scale: positive, concentration: positive },
  support: positive,
  mean: (p) => weibull_power(p, filled([], 1, p.scale)),
  // PyTorch's formula, also below 1, where the density has no largest value.
  mode: ({ scale, concentration }) =>
    mul(scale, pow(div(sub(concentration, 1), concentration), reciprocal(concentration))),
  variance: (p) => {
    const [mean, square] = [1, 2].map((k) => weibull_power(p, filled([], k, p.scale))) as [Tensor, Tensor];
    return sub(square, pow(mean, 2));
  },
  log_prob: ({ scale, concentration: k }, x) => {
    const z = div(x, scale);
    return sub(add(log(div(k, scale)), mul(sub(k, 1), log(z))), pow(z, k));
  },
  cdf: ({ scale, concentration }, x) => neg(expm1(neg(pow(div(x, scale), concentration)))),
  icdf: ({ scale, concentration }, share) => mul(scale, pow(neg(log1p(neg(share))), reciprocal(concentration))),
  entropy: ({ scale, concentration }) =>
    add(add(mul(EULER, sub(1, reciprocal(concentration))), log(div(scale, concentration))), 1),
  expectations: (p) => ({
    log: () => sub(log(p.scale), div(EULER, p.concentration)),
    power: (k) => weibull_power(p, k),
  }),
  expected: ({ scale, concentration: k }, { log: log_mean, power }) => {
    if (!log_mean || !power) return null;
    const z = sub(log_mean(), log(scale));
    return sub(add(log(div(k, scale)), mul(sub(k, 1), z)), mul(power(k), pow(scale, neg(k))));
  },
});
export type Weibull = InstanceType<typeof Weibull>;
/** The expectation of xᵏ. */
const weibull_power = ({ scale, concentration }: Given<"scale" | "concentration">, k: Tensor): Tensor =>
  exp(add(mul(k, log(scale)), lgamma(add(1, div(k, concentration)))));

/**
 * Pareto's distribution, of incomes: what is above `scale`, with a tail of the power `alpha`.
 *
 * @param scale positive number or tensor: the least value
 * @param alpha positive number or tensor; the larger, the lighter the tail
 *
 * @example
 * torch.distributions.Pareto(1, 3).cdf(torch.tensor([2]))  // [0.875]
 */
export const Pareto = /* @__PURE__ */ family<"scale" | "alpha">({
  name: "Pareto",
  prints: ["alpha", "scale"],
  holds: { scale: positive, alpha: positive },
  support: ({ scale }) => greater_than_eq(scale),
  mean: ({ scale, alpha: a }) => where(gt(a, 1), mul(scale, div(a, sub(where(gt(a, 1), a, 2), 1))), Infinity),
  mode: ({ scale }) => scale,
  variance: ({ scale, alpha }) => {
    const there = gt(alpha, 2),
      a = where(there, alpha, 3);
    return where(there, mul(pow(div(scale, sub(a, 1)), 2), div(a, sub(a, 2))), Infinity);
  },
  log_prob: ({ scale, alpha }, x) => sub(sub(log(alpha), mul(alpha, log(div(x, scale)))), log(x)),
  cdf: ({ scale, alpha }, x) => neg(expm1(mul(alpha, log(div(scale, x))))),
  icdf: ({ scale, alpha }, share) => mul(scale, exp(div(neg(log1p(neg(share))), alpha))),
  entropy: ({ scale, alpha }) => add(add(log(div(scale, alpha)), 1), reciprocal(alpha)),
  expectations: ({ scale, alpha }) => ({ log: () => add(log(scale), reciprocal(alpha)) }),
  expected: ({ scale, alpha }, { log: log_mean }) =>
    log_mean ? sub(add(log(alpha), mul(alpha, log(scale))), mul(add(alpha, 1), log_mean())) : null,
});
export type Pareto = InstanceType<typeof Pareto>;

type Shapes = Given<"concentration1" | "concentration0">;
/**
 * Kumaraswamy's distribution: much like a beta distribution, with a simple share of what is below.
 *
 * @param concentration1 positive number or tensor: the power of the value
 * @param concentration0 positive number or tensor: the power of the rest
 *
 * @example
 * torch.distributions.Kumaraswamy(2, 1).mean  // 0.666667
 */
export const Kumaraswamy = /* @__PURE__ */ family<"concentration1" | "concentration0">({
  name: "Kumaraswamy",
  holds: { concentration1: positive, concentration0: positive },
  support: unit_interval,
  mean: (p) => kumaraswamy_power(p, 1),
  mode: ({ concentration1: a, concentration0: b }) => {
    const inside = both(both(ge(a, 1), ge(b, 1)), either(gt(a, 1), gt(b, 1))),
      share = div(sub(a, 1), where(eq(mul(a, b), 1), 1, sub(mul(a, b), 1)));
    return where(inside, pow(where(inside, share, 1), reciprocal(a)), NaN);
  },
  variance: (p) => sub(kumaraswamy_power(p, 2), pow(kumaraswamy_power(p, 1), 2)),
  log_prob: ({ concentration1: a, concentration0: b }, x) =>
    add(add(log(mul(a, b)), mul(sub(a, 1), log(x))), mul(sub(b, 1), log1p(neg(pow(x, a))))),
  cdf: ({ concentration1: a, concentration0: b }, x) => neg(expm1(mul(b, log1p(neg(pow(x, a)))))),
  icdf: ({ concentration1: a, concentration0: b }, share) => pow(neg(expm1(div(log1p(neg(share)), b))), reciprocal(a)),
  entropy: ({ concentration1: a, concentration0: b }) => {
    const harmonic = add(digamma(add(b, 1)), EULER);
    return sub(add(sub(1, reciprocal(b)), mul(sub(1, reciprocal(a)), harmonic)), log(mul(a, b)));
  },
});
export type Kumaraswamy = InstanceType<typeof Kumaraswamy>;
/** The expectation of xᵏ: b B(1 + k/a, b). */
function kumaraswamy_power({ concentration1: a, concentration0: b }: Shapes, k: number): Tensor {
  const from = add(1, div(k, a));
  return exp(sub(add(add(log(b), lgamma(from)), lgamma(b)), lgamma(add(from, b))));
}
