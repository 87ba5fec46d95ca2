// Distributions of all numbers, and of an interval of them.

import { run } from "../dispatch/call.js";
import { von_mises_drawOp } from "../../ops/draw.js";
import { i0e, i1e } from "../../names/special.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  EULER,
  abs,
  add,
  atan,
  both,
  clamp,
  cos,
  div,
  erf,
  erfc,
  erfinv,
  exp,
  expand,
  expm1,
  filled,
  finfo,
  ge,
  lgamma,
  log,
  log1p,
  lt,
  mul,
  neg,
  pow,
  reciprocal,
  remainder,
  sign,
  standard_normal,
  sub,
  tan,
  where,
  x_log_x,
} from "./arithmetic.js";
import { interval, positive, real } from "./constraints/constraints.js";
import { type Given, family } from "./family.js";

type Placed = Given<"loc" | "scale">;
const HOLDS = { loc: real, scale: positive };
const HALF_LOG_TWO_PI = /* @__PURE__ */ Math.log(2 * Math.PI) / 2;

/** How far a value is from `loc`, in scales. */
export const standard = ({ loc, scale }: Placed, x: Tensor): Tensor => div(sub(x, loc), scale);
const moved = ({ loc, scale }: Placed, z: Tensor): Tensor => add(loc, mul(scale, z));
/** The share of standard normal numbers below each. */
export const normal_share = (z: Tensor): Tensor => mul(0.5, erfc(mul(z, -Math.SQRT1_2)));
export const normal_place = (share: Tensor): Tensor => mul(Math.SQRT2, erfinv(sub(mul(2, share), 1)));
export const normal_log_density = (p: Placed, x: Tensor): Tensor =>
  sub(mul(-0.5, pow(standard(p, x), 2)), add(log(p.scale), HALF_LOG_TWO_PI));
export const normal_entropy = ({ scale }: Placed): Tensor => add(log(scale), HALF_LOG_TWO_PI + 0.5);
/** ((σ/τ)² + ((μ - ν)/τ)² - 1) / 2 - log(σ/τ). */
export function normal_divergence(p: Placed, q: Placed): Tensor {
  const ratio = div(p.scale, q.scale);
  return sub(mul(0.5, sub(add(pow(ratio, 2), pow(standard(q, p.loc), 2)), 1)), log(ratio));
}

/**
 * Gauss's distribution of the mean `loc` and the standard deviation `scale`.
 *
 * @param loc number or tensor: the mean
 * @param scale positive number or tensor: the standard deviation
 *
 * @example
 * const heights = torch.distributions.Normal(170, 10);
 * heights.cdf(torch.tensor([170, 180]))  // [0.5, 0.841345]
 * torch.manual_seed(0);
 * torch.distributions.Normal(170, 10).sample([1000]).mean().sub(170).abs().lt(1)  // true
 */
export const Normal = /* @__PURE__ */ family<"loc" | "scale">({
  name: "Normal",
  holds: HOLDS,
  support: real,
  mean: ({ loc }) => loc,
  mode: ({ loc }) => loc,
  variance: ({ scale }) => pow(scale, 2),
  log_prob: normal_log_density,
  cdf: (p, x) => normal_share(standard(p, x)),
  icdf: (p, share) => moved(p, normal_place(share)),
  draw: (p, shape) => moved(p, standard_normal(shape, p.loc)),
  entropy: normal_entropy,
  divergence: normal_divergence,
  expectations: ({ loc, scale }) => ({
    cumulant: (t) => mul(t, add(loc, mul(0.5, mul(t, pow(scale, 2))))),
    // the mean of a folded normal number
    distance: (a) => {
      const away = sub(loc, a),
        z = mul(Math.SQRT1_2, div(away, scale));
      return add(mul(mul(Math.sqrt(2 / Math.PI), scale), exp(neg(pow(z, 2)))), mul(away, erf(z)));
    },
  }),
  expected: ({ loc, scale }, { mean, variance }) => {
    const spread = add(variance, pow(sub(mean, loc), 2));
    return sub(mul(-0.5, div(spread, pow(scale, 2))), add(log(scale), HALF_LOG_TWO_PI));
  },
});
export type Normal = InstanceType<typeof Normal>;

/**
 * Laplace's distribution: two exponential ones, back to back at `loc`.
 *
 * @param loc number or tensor: the mean
 * @param scale positive number or tensor: the mean distance from it
 *
 * @example
 * torch.distributions.Laplace(0, 2).log_prob(torch.tensor([0, 2])).exp()  // [0.25, 0.0919699]
 */
export const Laplace = /* @__PURE__ */ family<"loc" | "scale">({
  name: "Laplace",
  holds: HOLDS,
  support: real,
  mean: ({ loc }) => loc,
  mode: ({ loc }) => loc,
  variance: ({ scale }) => mul(2, pow(scale, 2)),
  log_prob: (p, x) => neg(add(abs(standard(p, x)), log(mul(2, p.scale)))),
  // half of what is farther out on the side of the value
  cdf: (p, x) => {
    const z = standard(p, x);
    return sub(0.5, mul(mul(0.5, sign(z)), expm1(neg(abs(z)))));
  },
  icdf: (p, share) => {
    const side = sub(share, 0.5);
    return moved(p, neg(mul(sign(side), log1p(mul(-2, abs(side))))));
  },
  entropy: ({ scale }) => add(1, log(mul(2, scale))),
  expectations: ({ loc, scale }) => ({
    cumulant: (t) => sub(mul(loc, t), log1p(neg(pow(mul(scale, t), 2)))),
    distance: (a) => {
      const away = abs(sub(loc, a));
      return add(away, mul(scale, exp(neg(div(away, scale)))));
    },
  }),
  expected: ({ loc, scale }, { distance }) =>
    distance ? neg(add(div(distance(loc), scale), log(mul(2, scale)))) : null,
});
export type Laplace = InstanceType<typeof Laplace>;

/**
 * Cauchy's distribution: quotients of normal numbers.
 *
 * @param loc number or tensor: the median
 * @param scale positive number or tensor: half of the values are nearer than this
 *
 * @example
 * torch.distributions.Cauchy(0, 1).cdf(torch.tensor([-1, 0, 1]))  // [0.25, 0.5, 0.75]
 */
export const Cauchy = /* @__PURE__ */ family<"loc" | "scale">({
  name: "Cauchy",
  holds: HOLDS,
  support: real,
  mean: ({ loc }) => filled(loc.shape, NaN, loc),
  mode: ({ loc }) => loc,
  variance: ({ loc }) => filled(loc.shape, Infinity, loc),
  log_prob: (p, x) => neg(add(log(mul(Math.PI, p.scale)), log1p(pow(standard(p, x), 2)))),
  cdf: (p, x) => add(0.5, div(atan(standard(p, x)), Math.PI)),
  icdf: (p, share) => moved(p, tan(mul(Math.PI, sub(share, 0.5)))),
  entropy: ({ scale }) => log(mul(4 * Math.PI, scale)),
  divergence: (p, q) => {
    const apart = add(pow(add(p.scale, q.scale), 2), pow(sub(p.loc, q.loc), 2));
    return log(div(apart, mul(4, mul(p.scale, q.scale))));
  },
});
export type Cauchy = InstanceType<typeof Cauchy>;

/**
 * Gumbel's distribution, of the largest of many numbers.
 *
 * @param loc number or tensor: the mode
 * @param scale positive number or tensor
 *
 * @example
 * torch.distributions.Gumbel(2, 1).mode  // 2
 */
export const Gumbel = /* @__PURE__ */ family<"loc" | "scale">({
  name: "Gumbel",
  holds: HOLDS,
  support: real,
  mean: ({ loc, scale }) => add(loc, mul(EULER, scale)),
  mode: ({ loc }) => loc,
  variance: ({ scale }) => mul(Math.PI ** 2 / 6, pow(scale, 2)),
  log_prob: (p, x) => {
    const z = standard(p, x);
    return neg(add(add(z, exp(neg(z))), log(p.scale)));
  },
  cdf: (p, x) => exp(neg(exp(neg(standard(p, x))))),
  icdf: (p, share) => moved(p, neg(log(neg(log(share))))),
  entropy: ({ scale }) => add(log(scale), 1 + EULER),
  expectations: ({ loc, scale }) => ({
    cumulant: (t) => add(mul(loc, t), lgamma(sub(1, mul(scale, t)))),
  }),
  expected: ({ loc, scale }, { mean, cumulant }) => {
    if (!cumulant) return null;
    const rate = reciprocal(scale);
    return neg(add(add(mul(rate, sub(mean, loc)), exp(add(mul(loc, rate), cumulant(neg(rate))))), log(scale)));
  },
});
export type Gumbel = InstanceType<typeof Gumbel>;

const width = ({ low, high }: Given<"low" | "high">): Tensor => sub(high, low);
/**
 * Any number from `low` to `high` alike.
 *
 * @param low number or tensor: the least value
 * @param high number or tensor, greater than `low`: what values stay below
 *
 * @example
 * const evenly = torch.distributions.Uniform(0, 4);
 * [evenly.mean, evenly.cdf(torch.tensor(1)), evenly.log_prob(torch.tensor(1)).exp()]  // [2, 0.25, 0.25]
 */
export const Uniform = /* @__PURE__ */ family<"low" | "high">({
  name: "Uniform",
  holds: { low: real, high: real },
  ordered: ["low", "high"],
  support: ({ low, high }) => interval(low, high),
  mean: ({ low, high }) => mul(0.5, add(low, high)),
  mode: ({ low }) => filled(low.shape, NaN, low),
  variance: (p) => div(pow(width(p), 2), 12),
  log_prob: (p, x) => where(both(ge(x, p.low), lt(x, p.high)), neg(log(width(p))), -Infinity),
  cdf: (p, x) => clamp(div(sub(x, p.low), width(p)), 0, 1),
  icdf: (p, share) => add(p.low, mul(width(p), share)),
  entropy: (p) => log(width(p)),
  expectations: (p) => {
    const { low, high } = p;
    return {
      log: () => sub(div(sub(x_log_x(high), x_log_x(low)), width(p)), 1),
      log_rest: () => sub(div(sub(x_log_x(sub(1, low)), x_log_x(sub(1, high))), width(p)), 1),
      cumulant: (t) => log(div(sub(exp(mul(t, high)), exp(mul(t, low))), mul(t, width(p)))),
    };
  },
  expected: (q) => neg(log(width(q))),
});
export type Uniform = InstanceType<typeof Uniform>;

/**
 * An angle around `loc`: of a circle what Gauss's distribution is of a line.
 *
 * @param loc number or tensor: the mean angle, in radians
 * @param concentration positive number or tensor; the larger, the nearer angles are to it
 *
 * @example
 * torch.distributions.VonMises(0.5, 4).mean  // 0.5
 */
export const VonMises = /* @__PURE__ */ family<"loc" | "concentration">({
  name: "VonMises",
  holds: { loc: real, concentration: positive },
  support: real,
  rough: true,
  mean: ({ loc }) => loc,
  mode: ({ loc }) => loc,
  // 1 less the length of the mean of the points on the circle
  variance: ({ concentration }) => sub(1, div(i1e(concentration), i0e(concentration))),
  log_prob: ({ loc, concentration }, x) =>
    sub(mul(concentration, sub(cos(sub(x, loc)), 1)), add(Math.log(2 * Math.PI), log(i0e(concentration)))),
  draw: ({ loc, concentration }, shape) => {
    const angle = run(von_mises_drawOp, [expand(concentration, shape)]) as Tensor;
    return sub(remainder(add(add(angle, loc), Math.PI), 2 * Math.PI), Math.PI);
  },
});
export type VonMises = InstanceType<typeof VonMises>;

type Tailed = Given<"loc" | "scale" | "concentration">;
/** Where the tail is exponential, to the rounding of what else would be divided by nearly 0. */
const exponential = ({ concentration }: Tailed): Tensor => lt(abs(concentration), finfo(concentration.dtype).tiny);
/** The exponential distribution's place of a value: log(1 + z c) / c. */
const unbent = (p: Tailed, x: Tensor): Tensor => {
  const c = where(exponential(p), 1, p.concentration),
    z = standard(p, x);
  return where(exponential(p), z, div(log1p(mul(z, c)), c));
};
/**
 * What is left above a threshold: an exponential tail bent by `concentration`, which ends where that is negative.
 *
 * @param loc number or tensor: the least value
 * @param scale positive number or tensor
 * @param concentration number or tensor; the larger, the heavier the tail
 *
 * @example
 * torch.distributions.GeneralizedPareto(0, 1, 0.5).mean  // 2
 */
export const GeneralizedPareto = /* @__PURE__ */ family<"loc" | "scale" | "concentration">({
  name: "GeneralizedPareto",
  holds: { loc: real, scale: positive, concentration: real },
  support: ({ loc, scale, concentration: c }) =>
    interval(loc, where(lt(c, 0), sub(loc, div(scale, where(lt(c, 0), c, 1))), Infinity)),
  mean: ({ loc, scale, concentration: c }) => where(lt(c, 1), add(loc, div(scale, sub(1, c))), NaN),
  mode: ({ loc }) => loc,
  variance: ({ scale, concentration: c }) =>
    where(lt(c, 0.5), div(pow(div(scale, sub(1, c)), 2), sub(1, mul(2, c))), NaN),
  log_prob: (p, x) => neg(add(log(p.scale), mul(add(1, p.concentration), unbent(p, x)))),
  cdf: (p, x) => neg(expm1(neg(unbent(p, x)))),
  icdf: (p, share) => {
    const far = neg(log1p(neg(share))),
      c = where(exponential(p), 1, p.concentration);
    return moved(p, where(exponential(p), far, div(expm1(mul(c, far)), c)));
  },
  entropy: ({ scale, concentration }) => add(add(log(scale), concentration), 1),
});
export type GeneralizedPareto = InstanceType<typeof GeneralizedPareto>;
