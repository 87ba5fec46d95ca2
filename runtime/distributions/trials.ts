// Distributions of a trial that succeeds with a probability, and what is like it.

import type { Tensor } from "../tensor/tensor.js";
import { arange } from "../creation/create.js";
import {
  abs,
  add,
  between,
  clamp,
  div,
  eq,
  exp,
  expm1,
  floor,
  gt,
  inner,
  le,
  like,
  log,
  log1p,
  lt,
  mul,
  neg,
  pow,
  rand,
  reciprocal,
  reshape,
  sigmoid,
  softplus,
  sub,
  where,
  xlogy,
  zeros_like,
} from "./arithmetic.js";
import { boolean, nonnegative_integer, positive, unit_interval } from "./constraints/constraints.js";
import { type Given, WEIGHT, family } from "./family.js";

type Weight = Given<"probs" | "logits">;
const rest = (x: Tensor): Tensor => sub(1, x);

/**
 * 1 with the probability `probs`, else 0.
 *
 * @param probs number or tensor from 0 to 1: the probability of a 1
 * @param logits number or tensor, instead of `probs`: the logarithm of probs / (1 - probs)
 *
 * @example
 * const coin = torch.distributions.Bernoulli(0.25);
 * coin.log_prob(torch.tensor([0, 1])).exp()  // [0.75, 0.25]
 * torch.distributions.Bernoulli({ logits: torch.tensor([0]) }).probs  // [0.5]
 */
export const Bernoulli = /* @__PURE__ */ family<"probs" | "logits">({
  name: "Bernoulli",
  holds: WEIGHT,
  support: boolean,
  rough: true,
  mean: ({ probs }) => probs,
  mode: ({ probs }) => where(eq(probs, 0.5), NaN, like(gt(probs, 0.5), probs)),
  variance: ({ probs }) => mul(probs, rest(probs)),
  log_prob: ({ logits }, x) => sub(mul(logits, x), softplus(logits)),
  draw: ({ probs }, shape) => like(lt(rand(shape, probs), probs), probs),
  entropy: ({ probs, logits }) => sub(softplus(logits), mul(probs, logits)),
  values: ({ probs }) =>
    reshape(arange(2, { dtype: probs.dtype, device: probs.device }), [2, ...probs.shape.map(() => 1)]),
  expectations: ({ probs }) => ({ log_factorial: () => zeros_like(probs) }),
  divergence: ({ probs: p }, { probs: q }) =>
    add(sub(xlogy(p, p), xlogy(p, q)), sub(xlogy(rest(p), rest(p)), xlogy(rest(p), rest(q)))),
});
export type Bernoulli = InstanceType<typeof Bernoulli>;

/**
 * How many trials fail before one succeeds.
 *
 * @param probs number or tensor from 0 to 1: the probability of a success
 * @param logits number or tensor, instead of `probs`: the logarithm of probs / (1 - probs)
 *
 * @example
 * torch.distributions.Geometric(0.25).mean  // 3
 */
export const Geometric = /* @__PURE__ */ family<"probs" | "logits">({
  name: "Geometric",
  holds: WEIGHT,
  support: nonnegative_integer,
  rough: true,
  mean: ({ probs }) => sub(reciprocal(probs), 1),
  mode: ({ probs }) => zeros_like(probs),
  variance: ({ probs }) => div(rest(probs), pow(probs, 2)),
  log_prob: ({ probs }, x) => add(xlogy(x, rest(probs)), log(probs)),
  draw: ({ probs }, shape) => floor(div(log(inner(shape, probs)), log1p(neg(probs)))),
  entropy: ({ probs }) => neg(div(add(xlogy(probs, probs), xlogy(rest(probs), rest(probs))), probs)),
  expected: ({ probs }, { mean }) => add(xlogy(mean, rest(probs)), log(probs)),
});
export type Geometric = InstanceType<typeof Geometric>;

/** Where |x| is small, a series; elsewhere `far`, which never sees a number near 0. */
function near_zero(x: Tensor, series: (x: Tensor) => Tensor, far: (x: Tensor) => Tensor): Tensor {
  const small = lt(abs(x), 0.1);
  return where(small, series(where(small, x, 0)), far(where(small, 1, x)));
}
/** log((exp(x) - 1) / x): the logarithm of the area below exp(x t) for t from 0 to 1. */
const log_area = (logits: Tensor): Tensor =>
  near_zero(
    logits,
    (x) => mul(x, add(0.5, mul(x, sub(1 / 24, div(pow(x, 2), 2880))))),
    (x) => add(clamp(x, 0), log(div(neg(expm1(neg(abs(x)))), abs(x)))),
  );
const continuous_mean = ({ logits }: Weight): Tensor =>
  near_zero(
    logits,
    (x) => add(0.5, mul(x, sub(1 / 12, mul(pow(x, 2), sub(1 / 720, div(pow(x, 2), 30240)))))),
    (x) => sub(neg(reciprocal(expm1(neg(x)))), reciprocal(x)),
  );

/**
 * A number between 0 and 1 whose density is exp(x logits), but for a factor.
 *
 * @param probs number or tensor from 0 to 1; above 0.5 larger values are likelier
 * @param logits number or tensor, instead of `probs`: the logarithm of probs / (1 - probs)
 *
 * @example
 * torch.distributions.ContinuousBernoulli(0.5).cdf(torch.tensor([0.25]))  // [0.25]
 */
export const ContinuousBernoulli = /* @__PURE__ */ family<"probs" | "logits">({
  name: "ContinuousBernoulli",
  holds: WEIGHT,
  support: unit_interval,
  mean: continuous_mean,
  // 1/x² - 1/(2 sinh(x/2))²
  variance: ({ logits }) =>
    near_zero(
      logits,
      (x) => sub(1 / 12, mul(pow(x, 2), sub(1 / 240, div(pow(x, 2), 6048)))),
      (x) => sub(pow(x, -2), div(exp(neg(abs(x))), pow(expm1(neg(abs(x))), 2))),
    ),
  log_prob: ({ logits }, x) => sub(mul(logits, x), log_area(logits)),
  cdf: ({ logits }, x) =>
    clamp(
      near_zero_pair(
        logits,
        x,
        (eta, at) => mul(at, add(1, mul(mul(0.5, eta), sub(at, 1)))),
        (eta, at) => div(expm1(mul(eta, at)), expm1(eta)),
      ),
      0,
      1,
    ),
  icdf: ({ logits }, share) =>
    near_zero_pair(
      logits,
      share,
      (eta, at) => mul(at, sub(1, mul(mul(0.5, eta), sub(at, 1)))),
      (eta, at) => div(log1p(mul(at, expm1(eta))), eta),
    ),
  entropy: (p) => sub(log_area(p.logits), mul(p.logits, continuous_mean(p))),
  expected: ({ logits }, { mean }) => sub(mul(logits, mean), log_area(logits)),
});
export type ContinuousBernoulli = InstanceType<typeof ContinuousBernoulli>;
/** The same of two numbers, of which the first may be near 0; the first terms of a series do below 0.001. */
function near_zero_pair(
  x: Tensor,
  at: Tensor,
  series: (x: Tensor, at: Tensor) => Tensor,
  far: (x: Tensor, at: Tensor) => Tensor,
): Tensor {
  const small = le(abs(x), 0.001);
  return where(small, series(where(small, x, 0), at), far(where(small, 1, x), at));
}

/**
 * A number between 0 and 1 that nears 0 or 1 as the temperature falls.
 *
 * @param temperature positive number or tensor; near 0 values are near 0 or 1
 * @param probs number or tensor from 0 to 1: the probability of what nears 1
 * @param logits number or tensor, instead of `probs`: the logarithm of probs / (1 - probs)
 *
 * @example
 * torch.manual_seed(0);
 * torch.distributions.RelaxedBernoulli(0.1, 0.5).sample([100]).sub(0.5).abs().mean().gt(0.4)  // true
 */
export const RelaxedBernoulli = /* @__PURE__ */ family<"temperature" | "probs" | "logits">({
  name: "RelaxedBernoulli",
  prints: [],
  holds: { temperature: positive, ...WEIGHT },
  support: unit_interval,
  // of a logistic number over the temperature, through 1 / (1 + exp(-x))
  log_prob: ({ temperature, logits }, x) => {
    const away = sub(logits, mul(temperature, sub(log(x), log1p(neg(x)))));
    return sub(sub(add(log(temperature), away), mul(2, softplus(away))), add(log(x), log1p(neg(x))));
  },
  draw: ({ temperature, logits }, shape) => {
    const u = inner(shape, logits);
    return between(sigmoid(div(add(logits, sub(log(u), log1p(neg(u)))), temperature)));
  },
});
export type RelaxedBernoulli = InstanceType<typeof RelaxedBernoulli>;
