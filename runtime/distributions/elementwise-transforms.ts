// Transforms of each number by itself, and by a distribution.

import { count } from "../base/argument-kinds.js";
import { broadcast_shapes } from "../functions/grids.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  type Value,
  abs,
  add,
  atanh,
  between,
  div,
  exp,
  expand,
  expm1,
  log,
  log1p,
  mul,
  neg,
  pow,
  reciprocal,
  sigmoid,
  sign,
  softplus,
  sub,
  sum_rightmost,
  tanh,
  valueOf,
} from "./arithmetic.js";
import { type Constraint, independent, interval, positive, real, unit_interval } from "./constraints/constraints.js";
import { type Distribution, distributionOf } from "./distribution.js";
import { type Cache, TransformClass, transform } from "./transform.js";

class ExpClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return exp(x);
  }
  override _inverse(y: Tensor): Tensor {
    return log(y);
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    return x;
  }
}
/**
 * y = exp(x).
 *
 * @example
 * const exp = torch.distributions.transforms.ExpTransform();
 * [exp(torch.tensor([0])), exp.inv(torch.tensor([1]))]  // [[1], [0]]
 */
export const ExpTransform = /* @__PURE__ */ transform(ExpClass, "ExpTransform", "", {
  bijective: true,
  domain: real,
  codomain: positive,
  sign: 1,
});
export type ExpTransform = ExpClass;

const shapeOf = (value: Value): Sizes => (value instanceof Tensor ? value.shape : []);

class PowerClass extends TransformClass {
  readonly exponent: Value;
  constructor(exponent: Value, cache_size?: Cache) {
    super(cache_size);
    this.exponent = valueOf(exponent, "PowerTransform", "exponent");
  }
  override get sign(): Value {
    return this.exponent instanceof Tensor ? sign(this.exponent) : Math.sign(this.exponent);
  }
  override _call(x: Tensor): Tensor {
    return pow(x, this.exponent);
  }
  override _inverse(y: Tensor): Tensor {
    return pow(y, this.exponent instanceof Tensor ? reciprocal(this.exponent) : 1 / this.exponent);
  }
  override log_abs_det_jacobian(x: Tensor, y: Tensor): Tensor {
    return log(abs(div(mul(y, this.exponent), x)));
  }
  override forward_shape(shape: Sizes): Sizes {
    return broadcast_shapes([...shape], [...shapeOf(this.exponent)]);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return this.forward_shape(shape);
  }
}
/**
 * y = x ** exponent, of positive numbers.
 *
 * @param exponent number or tensor, not 0
 *
 * @example
 * torch.distributions.transforms.PowerTransform(2)(torch.tensor([1, 2, 3]))  // [1, 4, 9]
 */
export const PowerTransform = /* @__PURE__ */ transform(PowerClass, "PowerTransform", "exponent", {
  bijective: true,
  domain: positive,
  codomain: positive,
});
export type PowerTransform = PowerClass;

class SigmoidClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return between(sigmoid(x));
  }
  override _inverse(y: Tensor): Tensor {
    const inside = between(y);
    return sub(log(inside), log1p(neg(inside)));
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    return neg(add(softplus(neg(x)), softplus(x)));
  }
}
/**
 * y = 1 / (1 + exp(-x)).
 *
 * @example
 * torch.distributions.transforms.SigmoidTransform()(torch.tensor([0]))  // [0.5]
 */
export const SigmoidTransform = /* @__PURE__ */ transform(SigmoidClass, "SigmoidTransform", "", {
  bijective: true,
  domain: real,
  codomain: unit_interval,
  sign: 1,
});
export type SigmoidTransform = SigmoidClass;

class SoftplusClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return softplus(x);
  }
  override _inverse(y: Tensor): Tensor {
    return add(log(neg(expm1(neg(y)))), y);
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    return neg(softplus(neg(x)));
  }
}
/**
 * y = log(1 + exp(x)).
 *
 * @example
 * torch.distributions.transforms.SoftplusTransform()(torch.tensor([0]))  // [0.693147]
 */
export const SoftplusTransform = /* @__PURE__ */ transform(SoftplusClass, "SoftplusTransform", "", {
  bijective: true,
  domain: real,
  codomain: positive,
  sign: 1,
});
export type SoftplusTransform = SoftplusClass;

class TanhClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return tanh(x);
  }
  override _inverse(y: Tensor): Tensor {
    return atanh(y);
  }
  /** log(1 - tanh²) = 2 (log 2 - x - log(1 + exp(-2x))), which stays exact far out. */
  override log_abs_det_jacobian(x: Tensor): Tensor {
    return mul(2, sub(sub(Math.LN2, x), softplus(mul(-2, x))));
  }
}
/**
 * y = tanh(x).
 *
 * @example
 * torch.distributions.transforms.TanhTransform()(torch.tensor([0, 1]))  // [0, 0.761594]
 */
export const TanhTransform = /* @__PURE__ */ transform(TanhClass, "TanhTransform", "", {
  bijective: true,
  domain: real,
  codomain: /* @__PURE__ */ interval(-1, 1),
  sign: 1,
});
export type TanhTransform = TanhClass;

class AbsClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return abs(x);
  }
  override _inverse(y: Tensor): Tensor {
    return y;
  }
}
/**
 * y = |x|; the way back takes the number itself.
 *
 * @example
 * torch.distributions.transforms.AbsTransform()(torch.tensor([-1, 2]))  // [1, 2]
 */
export const AbsTransform = /* @__PURE__ */ transform(AbsClass, "AbsTransform", "", {
  domain: real,
  codomain: positive,
});
export type AbsTransform = AbsClass;

class AffineClass extends TransformClass {
  readonly loc: Value;
  readonly scale: Value;
  private readonly dims: number;
  constructor(loc: Value, scale: Value, event_dim = 0, cache_size?: Cache) {
    super(cache_size);
    this.loc = valueOf(loc, "AffineTransform", "loc");
    this.scale = valueOf(scale, "AffineTransform", "scale");
    this.dims = count(event_dim, "AffineTransform", "event_dim");
  }
  override get domain(): Constraint {
    return this.dims === 0 ? real : independent(real, this.dims);
  }
  override get codomain(): Constraint {
    return this.domain;
  }
  override get sign(): Value {
    return this.scale instanceof Tensor ? sign(this.scale) : Math.sign(this.scale);
  }
  override _call(x: Tensor): Tensor {
    return add(this.loc, mul(this.scale, x));
  }
  override _inverse(y: Tensor): Tensor {
    return div(sub(y, this.loc), this.scale);
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    const { scale } = this,
      each = scale instanceof Tensor ? log(abs(scale)) : add(mul(0, x), Math.log(Math.abs(scale))),
      shape = broadcast_shapes([...each.shape], [...x.shape]);
    return sum_rightmost(expand(each, shape), this.dims);
  }
  override forward_shape(shape: Sizes): Sizes {
    return broadcast_shapes([...shape], [...shapeOf(this.loc)], [...shapeOf(this.scale)]);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return this.forward_shape(shape);
  }
}
/**
 * y = loc + scale * x; `event_dim` last axes are one value.
 *
 * @param loc what is added
 * @param scale what is multiplied by
 * @param event_dim how many of the last axes count as one value; 0 unless given
 *
 * @example
 * const affine = torch.distributions.transforms.AffineTransform(1, 2);
 * [affine(torch.tensor([0, 1])), affine.inv(torch.tensor([1, 3]))]  // [[1, 3], [0, 1]]
 */
export const AffineTransform = /* @__PURE__ */ transform(AffineClass, "AffineTransform", "loc scale event_dim?", {
  bijective: true,
});
export type AffineTransform = AffineClass;

class CumulativeDistributionClass extends TransformClass {
  readonly distribution: Distribution;
  constructor(distribution: Distribution, cache_size?: Cache) {
    super(cache_size);
    this.distribution = distributionOf(distribution, "CumulativeDistributionTransform", "distribution");
  }
  override get domain(): Constraint {
    return this.distribution.support;
  }
  override _call(x: Tensor): Tensor {
    return this.distribution.cdf(x);
  }
  override _inverse(y: Tensor): Tensor {
    return this.distribution.icdf(y);
  }
  override log_abs_det_jacobian(x: Tensor): Tensor {
    return this.distribution.log_prob(x);
  }
}
/**
 * y = the share of a distribution below x.
 *
 * @param distribution of numbers, which has `cdf` and `icdf`
 *
 * @example
 * const { Normal, transforms } = torch.distributions;
 * transforms.CumulativeDistributionTransform(Normal(0, 1))(torch.tensor([0]))  // [0.5]
 */
export const CumulativeDistributionTransform = /* @__PURE__ */ transform(
  CumulativeDistributionClass,
  "CumulativeDistributionTransform",
  "distribution",
  { bijective: true, codomain: unit_interval, sign: 1 },
);
export type CumulativeDistributionTransform = CumulativeDistributionClass;
