// Distributions of shares of a whole.

import { OpError } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  add,
  between,
  clamp,
  digamma,
  div,
  lgamma,
  log_gamma_draw,
  lt,
  mul,
  pow,
  softmax,
  sub,
  sum,
  where,
  xlogy,
  zeros_like,
} from "./arithmetic.js";
import { independent, positive, simplex } from "./constraints/constraints.js";
import { all } from "../../names/torch.js";
import { arange } from "../creation/create.js";
import { DistributionClass, type Validate, distribution } from "./distribution.js";

class DirichletClass extends DistributionClass {
  readonly concentration: Tensor;

  constructor(concentration: Tensor, validate_args?: Validate) {
    super([], [], validate_args);
    if (!(concentration instanceof Tensor) || concentration.shape.length < 1)
      throw new OpError("Dirichlet: `concentration` parameter must be at least one-dimensional.");
    this.concentration = concentration;
    this.shaped(concentration.shape.slice(0, -1), concentration.shape.slice(-1));
  }
  private get total(): Tensor {
    return sum(this.concentration, -1, true);
  }
  override get mean(): Tensor {
    return div(this.concentration, this.total);
  }
  /** Where no place has a peak inside, the first corner. */
  override get mode(): Tensor {
    const { concentration: a } = this,
      above = clamp(sub(a, 1), 0),
      corner = lt(arange(a.shape[a.shape.length - 1]!, { device: a.device }), 1),
      flat = all(lt(a, 1), -1, true);
    return where(flat, where(corner, add(zeros_like(a), 1), 0), div(above, sum(above, -1, true)));
  }
  override get variance(): Tensor {
    const { concentration: a, total } = this;
    return div(mul(a, sub(total, a)), mul(pow(total, 2), add(total, 1)));
  }
  override rsample(sample_shape: Sizes = []): Tensor {
    const shares = softmax(log_gamma_draw(this.concentration, this.extended_shape(sample_shape)), -1);
    return between(shares, 0.5);
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const { concentration: a } = this;
    return sub(sum(xlogy(sub(a, 1), value), -1), this.log_volume);
  }
  /** The logarithm of the beta function of as many numbers. */
  private get log_volume(): Tensor {
    return sub(sum(lgamma(this.concentration), -1), lgamma(sum(this.concentration, -1)));
  }
  /** The expectations of the logarithms of the shares. */
  private get logarithms(): Tensor {
    return sub(digamma(this.concentration), digamma(this.total));
  }
  override entropy(): Tensor {
    return sub(this.log_volume, sum(mul(sub(this.concentration, 1), this.logarithms), -1));
  }
  override divergence(q: DistributionClass): Tensor | null {
    if (!(q instanceof DirichletClass)) return null;
    const apart = sum(mul(sub(this.concentration, q.concentration), this.logarithms), -1);
    return add(sub(q.log_volume, this.log_volume), apart);
  }
}
/**
 * The shares of gamma numbers in their sum; `concentration` has their shapes along its last axis.
 *
 * @param concentration positive tensor [*, shares]; the larger, the nearer a share is to its mean
 *
 * @example
 * const shares = torch.distributions.Dirichlet(torch.tensor([1, 1, 2]));
 * [shares.mean, shares.sample().sum().round({ decimals: 4 })]  // [[0.25, 0.25, 0.5], 1]
 */
export const Dirichlet = /* @__PURE__ */ distribution(
  DirichletClass,
  "Dirichlet",
  "concentration",
  { concentration: /* @__PURE__ */ independent(positive, 1) },
  { support: simplex, has_rsample: true },
);
export type Dirichlet = DirichletClass;
