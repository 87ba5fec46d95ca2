// The gamma distribution, and those of what is made of gamma numbers.

import {
  above_zero,
  add,
  between,
  both,
  clamp,
  digamma,
  div,
  exp,
  gt,
  igamma,
  igammac,
  lgamma,
  log,
  log1p,
  log_beta,
  log_gamma_draw,
  lt,
  mul,
  neg,
  pow,
  sigmoid,
  sqrt,
  standard_normal,
  sub,
  where,
  xlogy,
} from "./arithmetic.js";
import { nonnegative, positive, real, unit_interval } from "./constraints/constraints.js";
import { type Expectations, type Family, type Given, family } from "./family.js";

type Rated = Given<"concentration" | "rate">;

/** Times until `concentration` events have come that come at `rate`. */
const GAMMA: Family<"concentration" | "rate"> = {
  name: "Gamma",
  holds: { concentration: positive, rate: positive },
  support: nonnegative,
  mean: ({ concentration, rate }) => div(concentration, rate),
  mode: ({ concentration, rate }) => clamp(div(sub(concentration, 1), rate), 0),
  variance: ({ concentration, rate }) => div(concentration, pow(rate, 2)),
  log_prob: ({ concentration: a, rate: b }, x) => sub(sub(add(xlogy(a, b), xlogy(sub(a, 1), x)), mul(b, x)), lgamma(a)),
  cdf: ({ concentration, rate }, x) => igamma(concentration, mul(rate, x)),
  draw: ({ concentration, rate }, shape) => above_zero(div(exp(log_gamma_draw(concentration, shape)), rate)),
  entropy: ({ concentration: a, rate: b }) => add(sub(add(a, lgamma(a)), log(b)), mul(sub(1, a), digamma(a))),
  expectations: ({ concentration: a, rate: b }) => ({
    log: () => sub(digamma(a), log(b)),
    power: (k) => exp(sub(sub(lgamma(add(a, k)), lgamma(a)), mul(k, log(b)))),
    cumulant: (t) => neg(mul(a, log1p(neg(div(t, b))))),
  }),
  expected: ({ concentration: a, rate: b }, { mean, log: log_mean }) =>
    log_mean ? sub(sub(add(xlogy(a, b), mul(sub(a, 1), log_mean())), mul(b, mean)), lgamma(a)) : null,
};
/**
 * Positive numbers: the time until `concentration` events that come at `rate`.
 *
 * @param concentration positive number or tensor: how many events are waited for
 * @param rate positive number or tensor: how many come in a unit of time
 *
 * @example
 * const waiting = torch.distributions.Gamma(3, 2);
 * [waiting.mean, waiting.variance]  // [1.5, 0.75]
 */
export const Gamma = /* @__PURE__ */ family<"concentration" | "rate">(GAMMA);
export type Gamma = InstanceType<typeof Gamma>;

/** As a gamma distribution: half as many events, at the rate 1/2. */
const halved = ({ df }: Given<"df">): Rated => {
  const concentration = mul(0.5, df);
  return { concentration, rate: add(mul(0, concentration), 0.5) };
};
/**
 * The sum of the squares of `df` standard normal numbers.
 *
 * @param df positive number or tensor: the degrees of freedom, how many squares are added
 *
 * @example
 * torch.distributions.Chi2(3).mean  // 3
 */
export const Chi2 = /* @__PURE__ */ family<"df">({
  name: "Chi2",
  prints: [],
  holds: { df: positive },
  support: nonnegative,
  mean: ({ df }) => df,
  mode: ({ df }) => clamp(sub(df, 2), 0),
  variance: ({ df }) => mul(2, df),
  log_prob: (p, x) => GAMMA.log_prob(halved(p), x),
  cdf: (p, x) => GAMMA.cdf!(halved(p), x),
  draw: (p, shape) => GAMMA.draw!(halved(p), shape),
  entropy: (p) => GAMMA.entropy!(halved(p)),
  expectations: (p) => GAMMA.expectations!(halved(p)),
  expected: (p, e: Expectations) => GAMMA.expected!(halved(p), e),
});
export type Chi2 = InstanceType<typeof Chi2>;

/**
 * One divided by gamma numbers.
 *
 * @param concentration positive number or tensor: that of the gamma number
 * @param rate positive number or tensor: that of the gamma number
 *
 * @example
 * torch.distributions.InverseGamma(3, 4).mean  // 2
 */
export const InverseGamma = /* @__PURE__ */ family<"concentration" | "rate">({
  name: "InverseGamma",
  prints: [],
  holds: { concentration: positive, rate: positive },
  support: positive,
  mean: ({ concentration: a, rate: b }) => where(gt(a, 1), div(b, sub(where(gt(a, 1), a, 2), 1)), Infinity),
  mode: ({ concentration: a, rate: b }) => div(b, add(a, 1)),
  variance: ({ concentration, rate }) => {
    const there = gt(concentration, 2),
      a = where(there, concentration, 3);
    return where(there, div(pow(div(rate, sub(a, 1)), 2), sub(a, 2)), Infinity);
  },
  log_prob: ({ concentration: a, rate: b }, x) =>
    sub(sub(sub(mul(a, log(b)), mul(add(a, 1), log(x))), div(b, x)), lgamma(a)),
  cdf: ({ concentration, rate }, x) => igammac(concentration, div(rate, x)),
  draw: ({ concentration, rate }, shape) => mul(rate, exp(neg(log_gamma_draw(concentration, shape)))),
  entropy: ({ concentration: a, rate: b }) => sub(add(add(a, log(b)), lgamma(a)), mul(add(a, 1), digamma(a))),
  // that of the gamma numbers
  divergence: (p, q) => neg(add(GAMMA.entropy!(p), GAMMA.expected!(q, moments(p))!)),
});
export type InverseGamma = InstanceType<typeof InverseGamma>;
const moments = (p: Rated): Expectations => ({
  mean: GAMMA.mean!(p),
  variance: GAMMA.variance!(p),
  ...GAMMA.expectations!(p),
});

/**
 * The share of one gamma number in two.
 *
 * @param concentration1 positive number or tensor: the weight of values near 1
 * @param concentration0 positive number or tensor: the weight of values near 0
 *
 * @example
 * const share = torch.distributions.Beta(2, 6);
 * [share.mean, share.mode]  // [0.25, 0.166667]
 */
export const Beta = /* @__PURE__ */ family<"concentration1" | "concentration0">({
  name: "Beta",
  prints: [],
  holds: { concentration1: positive, concentration0: positive },
  support: unit_interval,
  mean: ({ concentration1: a, concentration0: b }) => div(a, add(a, b)),
  // without a peak inside, the end with the larger weight
  mode: ({ concentration1: a, concentration0: b }) => {
    const [up, down] = [clamp(sub(a, 1), 0), clamp(sub(b, 1), 0)];
    return where(both(lt(a, 1), lt(b, 1)), 1, div(up, add(up, down)));
  },
  variance: ({ concentration1: a, concentration0: b }) => {
    const all = add(a, b);
    return div(mul(a, b), mul(pow(all, 2), add(all, 1)));
  },
  log_prob: ({ concentration1: a, concentration0: b }, x) =>
    sub(add(xlogy(sub(a, 1), x), xlogy(sub(b, 1), sub(1, x))), log_beta(a, b)),
  draw: ({ concentration1, concentration0 }, shape) => {
    const [up, down] = [log_gamma_draw(concentration1, shape), log_gamma_draw(concentration0, shape)];
    return between(sigmoid(sub(up, down)), 0.5);
  },
  entropy: ({ concentration1: a, concentration0: b }) => {
    const shares = add(mul(sub(a, 1), digamma(a)), mul(sub(b, 1), digamma(b)));
    return add(sub(log_beta(a, b), shares), mul(sub(add(a, b), 2), digamma(add(a, b))));
  },
  expectations: ({ concentration1: a, concentration0: b }) => ({
    log: () => sub(digamma(a), digamma(add(a, b))),
    log_rest: () => sub(digamma(b), digamma(add(a, b))),
    power: (k) => exp(sub(log_beta(add(a, k), b), log_beta(a, b))),
  }),
  expected: ({ concentration1: a, concentration0: b }, { log: log_mean, log_rest }) =>
    log_mean && log_rest ? sub(add(mul(sub(a, 1), log_mean()), mul(sub(b, 1), log_rest())), log_beta(a, b)) : null,
});
export type Beta = InstanceType<typeof Beta>;

/**
 * Standard normal numbers over the root of the mean of `df` squares of such.
 *
 * @param df positive number or tensor: the degrees of freedom; the fewer, the heavier the tails
 * @param loc number or tensor: the middle
 * @param scale positive number or tensor
 *
 * @example
 * torch.distributions.StudentT(4).variance  // 2
 */
export const StudentT = /* @__PURE__ */ family<"df" | "loc" | "scale">({
  name: "StudentT",
  holds: { df: positive, loc: real, scale: positive },
  defaults: { loc: 0, scale: 1 },
  support: real,
  mean: ({ df, loc }) => where(gt(df, 1), loc, NaN),
  mode: ({ loc }) => loc,
  variance: ({ df, scale }) => {
    const there = gt(df, 2),
      n = where(there, df, 3),
      spread = mul(pow(scale, 2), div(n, sub(n, 2)));
    return where(there, spread, where(gt(df, 1), Infinity, NaN));
  },
  log_prob: ({ df, loc, scale }, x) => {
    const z = div(sub(x, loc), scale),
      half = mul(0.5, df),
      rest = add(add(log(scale), mul(0.5, log(df))), log_beta(half, add(mul(0, half), 0.5)));
    return neg(add(mul(add(half, 0.5), log1p(div(pow(z, 2), df))), rest));
  },
  draw: ({ df, loc, scale }, shape) => {
    const half = mul(0.5, df),
      squares = div(exp(log_gamma_draw(half, shape)), half);
    return add(loc, div(mul(scale, standard_normal(shape, loc)), sqrt(above_zero(squares))));
  },
  entropy: ({ df, scale }) => {
    const half = mul(0.5, df),
      more = add(half, 0.5),
      rest = add(mul(0.5, log(df)), log_beta(half, add(mul(0, half), 0.5)));
    return add(add(log(scale), mul(more, sub(digamma(more), digamma(half)))), rest);
  },
});
export type StudentT = InstanceType<typeof StudentT>;

/**
 * The quotient of the means of `df1` and of `df2` squares of standard normal numbers.
 *
 * @param df1 positive number or tensor: the degrees of freedom of the numerator
 * @param df2 positive number or tensor: those of the denominator
 *
 * @example
 * torch.distributions.FisherSnedecor(2, 4).mean  // 2
 */
export const FisherSnedecor = /* @__PURE__ */ family<"df1" | "df2">({
  name: "FisherSnedecor",
  holds: { df1: positive, df2: positive },
  support: positive,
  mean: ({ df2 }) => where(gt(df2, 2), div(df2, sub(where(gt(df2, 2), df2, 3), 2)), NaN),
  mode: ({ df1, df2 }) => where(gt(df1, 2), mul(div(sub(df1, 2), df1), div(df2, add(df2, 2))), NaN),
  variance: ({ df1, df2 }) => {
    const there = gt(df2, 4),
      n = where(there, df2, 5),
      top = mul(2, mul(pow(n, 2), sub(add(df1, n), 2)));
    return where(there, div(top, mul(df1, mul(pow(sub(n, 2), 2), sub(n, 4)))), NaN);
  },
  log_prob: ({ df1, df2 }, x) => {
    const [m, n] = [mul(0.5, df1), mul(0.5, df2)],
      ratio = div(df1, df2),
      powers = add(mul(m, log(ratio)), mul(sub(m, 1), log(x)));
    return sub(sub(powers, mul(add(m, n), log1p(mul(ratio, x)))), log_beta(m, n));
  },
  draw: ({ df1, df2 }, shape) => {
    const up = log_gamma_draw(mul(0.5, df1), shape),
      down = log_gamma_draw(mul(0.5, df2), shape);
    return above_zero(exp(add(sub(up, down), sub(log(df2), log(df1)))));
  },
});
export type FisherSnedecor = InstanceType<typeof FisherSnedecor>;
