// Distributions of how many: events, successes, and successes before so many failures.

import { arange } from "../creation/create.js";
import { run } from "../dispatch/call.js";
import { OpError } from "../base/errors.js";
import { binomialOp, poissonOp } from "../../ops/draw.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  add,
  both,
  clamp,
  div,
  eq,
  exp,
  expand,
  floor,
  log_factorial,
  log_gamma_draw,
  logsigmoid,
  lgamma,
  gt,
  mul,
  neg,
  numberOf,
  reshape,
  sigmoid,
  softplus,
  sub,
  sum,
  where,
  xlogy,
} from "./arithmetic.js";
import {
  half_open_interval,
  integer_interval,
  nonnegative,
  nonnegative_integer,
  real,
} from "./constraints/constraints.js";
import { type Given, WEIGHT, family } from "./family.js";

/**
 * How many events come of which `rate` are expected.
 *
 * @param rate number or tensor from 0 on: the expected count
 *
 * @example
 * torch.distributions.Poisson(2).log_prob(torch.tensor([0, 1, 2])).exp()  // [0.135335, 0.270671, 0.270671]
 */
export const Poisson = /* @__PURE__ */ family<"rate">({
  name: "Poisson",
  holds: { rate: nonnegative },
  support: nonnegative_integer,
  rough: true,
  mean: ({ rate }) => rate,
  mode: ({ rate }) => floor(rate),
  variance: ({ rate }) => rate,
  log_prob: ({ rate }, x) => sub(sub(xlogy(x, rate), rate), log_factorial(x)),
  draw: ({ rate }, shape) => run(poissonOp, [expand(rate, shape)]) as Tensor,
  expected: ({ rate }, { mean, log_factorial: ways }) => (ways ? sub(sub(xlogy(mean, rate), rate), ways()) : null),
  divergence: ({ rate: p }, { rate: q }) => sub(sub(xlogy(p, p), xlogy(p, q)), sub(p, q)),
});
export type Poisson = InstanceType<typeof Poisson>;

type Trials = Given<"total_count" | "probs" | "logits">;
const ways = (n: Tensor, x: Tensor): Tensor => sub(log_factorial(n), add(log_factorial(x), log_factorial(sub(n, x))));
const share = ({ total_count: n, logits }: Trials, x: Tensor): Tensor =>
  sub(add(ways(n, x), mul(x, logits)), mul(n, softplus(logits)));
/** All numbers of successes along a first axis, where the number of trials is the same everywhere. */
function successes({ total_count: n, probs }: Trials): Tensor {
  const most = evenly(n),
    { dtype, device } = probs;
  return reshape(arange(most + 1, { dtype, device }), [most + 1, ...probs.shape.map(() => 1)]);
}
/** The number of trials, which must be the same everywhere, and on the CPU where it was no number. */
function evenly(n: Tensor): number {
  const { storage, offset, strides, shape } = n,
    given = numberOf(n);
  if (given !== undefined) return given;
  if (storage.device.type !== "cpu")
    throw new OpError("Binomial: total_count must be a number, or on the CPU, for its support to be listed");
  const flat = strides.every((step, i) => step === 0 || shape[i] === 1);
  const values = flat ? [Number(storage.elements[offset])] : [...listed(n)];
  if (values.some((value) => value !== values[0]))
    throw new OpError("Binomial: Inhomogeneous total count not supported by `enumerate_support`.");
  return values[0] ?? 0;
}
function* listed(n: Tensor): Generator<number> {
  const { storage, offset } = n.contiguous();
  for (let i = 0; i < n.numel(); i++) yield Number(storage.elements[offset + i]);
}

/**
 * How many of `total_count` trials succeed.
 *
 * @param total_count whole number or tensor of some: how many trials there are
 * @param probs number or tensor from 0 to 1: the probability that one succeeds
 * @param logits number or tensor, instead of `probs`: the logarithm of probs / (1 - probs)
 *
 * @example
 * torch.distributions.Binomial(4, 0.5).log_prob(torch.tensor([0, 1, 2, 3, 4])).exp()  // [0.0625, 0.25, 0.375, 0.25, 0.0625]
 */
export const Binomial = /* @__PURE__ */ family<"total_count" | "probs" | "logits">({
  name: "Binomial",
  holds: { total_count: nonnegative_integer, ...WEIGHT },
  defaults: { total_count: 1 },
  support: ({ total_count }) => integer_interval(0, total_count),
  rough: true,
  mean: ({ total_count, probs }) => mul(total_count, probs),
  mode: ({ total_count: n, probs }) => {
    const found = floor(mul(add(n, 1), probs));
    return where(gt(found, n), n, found);
  },
  variance: ({ total_count, probs }) => mul(total_count, mul(probs, sub(1, probs))),
  log_prob: share,
  draw: ({ total_count, probs }, shape) =>
    run(binomialOp, [expand(total_count, shape), expand(probs, shape)]) as Tensor,
  entropy: (p) => {
    const each = share(p, successes(p));
    return neg(sum(mul(exp(each), each), 0));
  },
  values: successes,
  // more trials than the other has cannot come of it
  divergence: (p, q) => {
    const [n, m] = [p.total_count, q.total_count],
      own = add(xlogy(p.probs, p.probs), xlogy(sub(1, p.probs), sub(1, p.probs))),
      cross = add(xlogy(p.probs, q.probs), xlogy(sub(1, p.probs), sub(1, q.probs)));
    return where(gt(n, m), Infinity, where(eq(n, m), mul(n, sub(own, cross)), NaN));
  },
});
export type Binomial = InstanceType<typeof Binomial>;

/**
 * How many trials succeed before `total_count` have failed.
 *
 * @param total_count number or tensor: at how many failures it ends
 * @param probs number or tensor from 0 to 1, without 1: the probability of a success
 * @param logits number or tensor, instead of `probs`: the logarithm of probs / (1 - probs)
 *
 * @example
 * torch.distributions.NegativeBinomial(2, 0.5).log_prob(torch.tensor([0, 1])).exp()  // [0.25, 0.25]
 */
export const NegativeBinomial = /* @__PURE__ */ family<"total_count" | "probs" | "logits">({
  name: "NegativeBinomial",
  holds: { total_count: nonnegative, probs: /* @__PURE__ */ half_open_interval(0, 1), logits: real },
  support: nonnegative_integer,
  rough: true,
  mean: ({ total_count, logits }) => mul(total_count, exp(logits)),
  mode: ({ total_count, logits }) => clamp(floor(mul(sub(total_count, 1), exp(logits))), 0),
  variance: ({ total_count, logits }) => div(mul(total_count, exp(logits)), sigmoid(neg(logits))),
  log_prob: ({ total_count: n, logits }, x) => {
    const weights = add(mul(n, logsigmoid(neg(logits))), mul(x, logsigmoid(logits))),
      none = both(eq(n, 0), eq(x, 0)),
      orders = sub(sub(lgamma(where(none, 1, add(n, x))), log_factorial(x)), lgamma(where(none, 1, n)));
    return add(weights, where(none, 0, orders));
  },
  // events at a rate that is a gamma number
  draw: ({ total_count, logits }, shape) => {
    const rate = exp(add(log_gamma_draw(total_count, shape), logits));
    return run(poissonOp, [rate]) as Tensor;
  },
});
export type NegativeBinomial = InstanceType<typeof NegativeBinomial>;
