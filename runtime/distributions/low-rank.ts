// Normal vectors whose covariance is a diagonal and a product of few columns.

import { cholesky } from "../../names/linalg.js";
import { OpError } from "../base/errors.js";
import { broadcast_shapes } from "../functions/grids.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  add,
  diag_embed,
  div,
  expand,
  log,
  matmul,
  mul,
  ones_like,
  pow,
  select,
  sqrt,
  squeeze,
  standard_normal,
  sub,
  sum,
  transpose,
  unsqueeze,
} from "./arithmetic.js";
import { independent, positive, real_vector } from "./constraints/constraints.js";
import { DistributionClass, type Validate, distribution } from "./distribution.js";
import { MultivariateNormal, log_diagonal, mahalanobis } from "./multivariate.js";

const turned = (x: Tensor): Tensor => transpose(x, -2, -1);
const times = (matrix: Tensor, x: Tensor): Tensor => squeeze(matmul(matrix, unsqueeze(x, -1)), -1);

class LowRankMultivariateNormalClass extends DistributionClass {
  readonly loc: Tensor;
  readonly cov_factor: Tensor;
  readonly cov_diag: Tensor;

  constructor(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args?: Validate) {
    super([], [], validate_args);
    const op = "LowRankMultivariateNormal";
    if (!(loc instanceof Tensor) || loc.shape.length < 1)
      throw new OpError(`${op}: loc must be at least one-dimensional.`);
    const n = loc.shape[loc.shape.length - 1]!;
    if (!(cov_factor instanceof Tensor) || cov_factor.shape.length < 2)
      throw new OpError(`${op}: cov_factor must be at least two-dimensional, with optional leading batch dimensions`);
    if (cov_factor.shape[cov_factor.shape.length - 2] !== n)
      throw new OpError(`${op}: cov_factor must be a batch of matrices with shape ${n} x m`);
    if (!(cov_diag instanceof Tensor) || cov_diag.shape[cov_diag.shape.length - 1] !== n)
      throw new OpError(`${op}: cov_diag must be a batch of vectors with shape ${n}`);
    const m = cov_factor.shape[cov_factor.shape.length - 1]!,
      batch = broadcast_shapes(loc.shape.slice(0, -1), cov_factor.shape.slice(0, -2), cov_diag.shape.slice(0, -1));
    this.loc = expand(loc, [...batch, n]);
    this.cov_factor = expand(cov_factor, [...batch, n, m]);
    this.cov_diag = expand(cov_diag, [...batch, n]);
    this.shaped(batch, [n]);
  }
  /** The factor of I + Wᵀ D⁻¹ W, through which Woodbury's identity inverts the covariance. */
  private get capacitance(): Tensor {
    const { cov_factor: w } = this,
      inner = matmul(turned(div(w, unsqueeze(this.cov_diag, -1))), w);
    return cholesky(add(inner, diag_embed(ones_like(select(inner, -1, 0))))) as Tensor;
  }
  get covariance_matrix(): Tensor {
    return add(matmul(this.cov_factor, turned(this.cov_factor)), diag_embed(this.cov_diag));
  }
  get scale_tril(): Tensor {
    return cholesky(this.covariance_matrix) as Tensor;
  }
  get precision_matrix(): Tensor {
    return this.whole.precision_matrix;
  }
  /** The same distribution, its covariance written out. */
  private get whole(): MultivariateNormal {
    return MultivariateNormal(this.loc, null, null, this.scale_tril, false);
  }
  override get mean(): Tensor {
    return this.loc;
  }
  override get mode(): Tensor {
    return this.loc;
  }
  override get variance(): Tensor {
    return add(sum(pow(this.cov_factor, 2), -1), this.cov_diag);
  }
  override rsample(sample_shape: Sizes = []): Tensor {
    const shape = this.extended_shape(sample_shape),
      m = this.cov_factor.shape[this.cov_factor.shape.length - 1]!,
      few = standard_normal([...shape.slice(0, -1), m], this.loc),
      each = standard_normal(shape, this.loc);
    return add(add(this.loc, times(this.cov_factor, few)), mul(sqrt(this.cov_diag), each));
  }
  /** x D⁻¹ x less the squared length of Wᵀ D⁻¹ x, measured by the capacitance's factor. */
  private distance(capacitance: Tensor, x: Tensor): Tensor {
    const scaled = div(x, this.cov_diag);
    return sub(sum(mul(x, scaled), -1), mahalanobis(capacitance, times(turned(this.cov_factor), scaled)));
  }
  private volume(capacitance: Tensor): Tensor {
    return add(mul(2, log_diagonal(capacitance)), sum(log(this.cov_diag), -1));
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const { capacitance } = this,
      far = add(this.distance(capacitance, sub(value, this.loc)), this.volume(capacitance));
    return mul(-0.5, add(far, this.event_shape[0]! * Math.log(2 * Math.PI)));
  }
  override entropy(): Tensor {
    return mul(0.5, add(this.volume(this.capacitance), this.event_shape[0]! * (1 + Math.log(2 * Math.PI))));
  }
  /** By the covariances written out. */
  override divergence(q: DistributionClass): Tensor | null {
    return this.whole.divergence(q);
  }
  /** @internal What `MultivariateNormal` is measured against. */
  override get dense(): DistributionClass {
    return this.whole;
  }
}
/**
 * Normal vectors of the covariance `cov_factor @ cov_factor.T + diag(cov_diag)`.
 *
 * @param loc float tensor [*, n]: the mean
 * @param cov_factor float tensor [*, n, rank]
 * @param cov_diag positive tensor [*, n]
 *
 * @example
 * torch.distributions.LowRankMultivariateNormal(
 *   torch.zeros([2]), torch.tensor([[1], [2]]), torch.ones([2])).covariance_matrix  // [[2, 2], [2, 5]]
 */
export const LowRankMultivariateNormal = /* @__PURE__ */ distribution(
  LowRankMultivariateNormalClass,
  "LowRankMultivariateNormal",
  "loc cov_factor cov_diag",
  {
    loc: real_vector,
    cov_factor: /* @__PURE__ */ independent(real_vector, 1),
    cov_diag: /* @__PURE__ */ independent(positive, 1),
  },
  { support: real_vector, has_rsample: true },
);
export type LowRankMultivariateNormal = LowRankMultivariateNormalClass;
