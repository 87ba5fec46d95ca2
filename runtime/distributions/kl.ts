// torch.distributions.kl: how far one distribution is from another.  Distributions say it themselves.

import { nameOf } from "../base/class-name.js";
import { callable, refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { DistributionClass, type Distribution } from "./distribution.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Class = abstract new (...args: any) => Distribution;
type Divergence = (p: never, q: never) => Tensor;

const registered: [p: Class, q: Class, fun: Divergence][] = [];

/**
 * Lets `fun(p, q)` say how far distributions of these classes are apart; the last of those that fit is asked.
 *
 * @param type_p class of distributions
 * @param type_q class of distributions
 * @param fun of one of each, a tensor of the batch's shape
 *
 * @example
 * class Point extends torch.distributions.Distribution {}
 * torch.distributions.kl.register_kl(Point, Point, (p, q) => torch.tensor([0]));
 * torch.distributions.kl.kl_divergence(new Point(), new Point())  // [0]
 */
export function register_kl<P extends Class, Q extends Class>(
  type_p: P,
  type_q: Q,
  fun: (p: InstanceType<P>, q: InstanceType<Q>) => Tensor,
): void {
  [type_p, type_q, fun] = taken("register_kl type_p type_q fun", arguments);
  for (const [name, type] of Object.entries({ type_p, type_q }))
    if (typeof type !== "function" || !(type.prototype instanceof DistributionClass))
      refuse("register_kl", name, "a class of distributions", type);
  registered.push([type_p, type_q, callable(fun, "register_kl", "fun")]);
}

/**
 * The expectation of log p(x) - log q(x) for x drawn from p: Kullback's and Leibler's measure.
 *
 * @param p from which x is drawn
 * @param q the other distribution, of the same kind of values
 *
 * @example
 * const { Normal, kl_divergence } = torch.distributions;
 * kl_divergence(Normal(0, 1), Normal(1, 1))  // 0.5
 */
export function kl_divergence(p: Distribution, q: Distribution): Tensor {
  [p, q] = taken("kl_divergence p q", arguments);
  for (const [name, x] of Object.entries({ p, q }))
    if (!(x instanceof DistributionClass)) refuse("kl_divergence", name, "a distribution", x);
  const own = [...registered].reverse().find(([a, b]) => p instanceof a && q instanceof b),
    found = own ? own[2](p as never, q as never) : p.divergence(q);
  if (found) return found;
  throw new OpError(`kl_divergence: No KL(p || q) is implemented for p type ${nameOf(p)} and q type ${nameOf(q)}`);
}
