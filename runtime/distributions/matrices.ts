// Distributions of matrices: covariances, and the factors of correlations.

import { cholesky, solve_triangular } from "../../names/linalg.js";
import { cholesky_inverse } from "../../names/torch.js";
import { arange, tensor } from "../creation/create.js";
import { count as integer } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { broadcast_shapes } from "../functions/grids.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  type Value,
  add,
  broadcast_all,
  valueOf,
  clamp,
  diag_embed,
  diagonal,
  digamma,
  div,
  exp,
  expand,
  finfo,
  gt,
  le,
  lgamma,
  log,
  log_gamma_draw,
  matmul,
  mul,
  mvlgamma,
  pow,
  sigmoid,
  sqrt,
  standard_normal,
  sub,
  sum,
  transpose,
  tril,
  unsqueeze,
  where,
} from "./arithmetic.js";
import { corr_cholesky, lower_cholesky, positive, positive_definite } from "./constraints/constraints.js";
import { DistributionClass, type Validate, distribution, everywhere } from "./distribution.js";
import { log_diagonal } from "./multivariate.js";

const turned = (x: Tensor): Tensor => transpose(x, -2, -1);
/** Numbers from 0 up to, but without, `n`, like another tensor. */
const upto = (n: number, { dtype, device }: Tensor): Tensor => arange(n, { dtype, device });

class WishartClass extends DistributionClass {
  readonly df: Tensor;
  declare readonly scale_tril: Tensor;

  constructor(
    df: Value,
    covariance_matrix?: Tensor | null,
    precision_matrix?: Tensor | null,
    scale_tril?: Tensor | null,
    validate_args?: Validate,
  ) {
    super([], [], validate_args);
    const given = Object.entries({ covariance_matrix, precision_matrix, scale_tril }).filter(([, x]) => x != null);
    if (given.length !== 1)
      throw new OpError(
        "Wishart: Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.",
      );
    const [name, matrix] = given[0] as [string, Tensor];
    if (!(matrix instanceof Tensor) || matrix.shape.length < 2)
      throw new OpError(`Wishart: ${name} must be at least two-dimensional, with optional leading batch dimensions`);
    const n = matrix.shape[matrix.shape.length - 1]!,
      { dtype, device } = matrix,
      freedom = df instanceof Tensor ? df : tensor(df, { dtype, device }),
      batch = broadcast_shapes(matrix.shape.slice(0, -2), freedom.shape);
    this.df = expand(freedom, batch);
    const least = `expected to be greater than ndim - 1 = ${n - 1}.`;
    if (everywhere(gt(this.df, n - 1), () => `Wishart: Value of df ${least}`) === false)
      throw new OpError(`Wishart: Value of df=${this.df} ${least}`);
    const put = (key: string, value: Tensor): void => {
      Object.defineProperty(this, key, { value, configurable: true, enumerable: key === name, writable: true });
    };
    const full = expand(matrix, [...batch, n, n]);
    put(name, full);
    this.shaped(batch, [n, n]);
    if (name === "covariance_matrix") put("scale_tril", cholesky(full) as Tensor);
    if (name === "precision_matrix")
      put("scale_tril", cholesky(cholesky_inverse(cholesky(full) as Tensor) as Tensor) as Tensor);
  }
  get covariance_matrix(): Tensor {
    return matmul(this.scale_tril, turned(this.scale_tril));
  }
  get precision_matrix(): Tensor {
    return cholesky_inverse(this.scale_tril) as Tensor;
  }
  private get size(): number {
    return this.event_shape[0]!;
  }
  /** `df` where each matrix has one. */
  private get freedom(): Tensor {
    return unsqueeze(unsqueeze(this.df, -1), -1);
  }
  override get mean(): Tensor {
    return mul(this.freedom, this.covariance_matrix);
  }
  override get mode(): Tensor {
    const factor = sub(this.freedom, this.size + 1);
    return mul(where(gt(factor, 0), factor, NaN), this.covariance_matrix);
  }
  override get variance(): Tensor {
    const { covariance_matrix: v } = this,
      spread = diagonal(v, 0, -2, -1);
    return mul(this.freedom, add(pow(v, 2), mul(unsqueeze(spread, -1), unsqueeze(spread, -2))));
  }
  /** Bartlett's way: a lower triangle of normal numbers, below the roots of sums of df, df - 1, ... squares. */
  override rsample(sample_shape: Sizes = []): Tensor {
    const n = this.size,
      shape = this.extended_shape(sample_shape),
      half = mul(0.5, sub(unsqueeze(this.df, -1), upto(n, this.df))),
      roots = sqrt(mul(2, exp(log_gamma_draw(half, shape.slice(0, -1))))),
      below = tril(standard_normal(shape, this.df), -1),
      factor = matmul(this.scale_tril, add(below, diag_embed(roots)));
    return matmul(factor, turned(factor));
  }
  private get log_volume(): Tensor {
    const { df, size: n } = this;
    return add(mul(df, add((n * Math.log(2)) / 2, log_diagonal(this.scale_tril))), mvlgamma(mul(0.5, df), n));
  }
  /** The sum of digamma((df - i) / 2) over the rows. */
  private get digammas(): Tensor {
    return sum(digamma(mul(0.5, sub(unsqueeze(this.df, -1), upto(this.size, this.df)))), -1);
  }
  /** The trace of what another factor makes of this one: tr(V⁻¹ L Lᵀ). */
  private trace(factor: Tensor): Tensor {
    const n = this.size,
      batch = broadcast_shapes(this.batch_shape as number[], factor.shape.slice(0, -2)),
      own = expand(this.scale_tril, [...batch, n, n]);
    return sum(pow(solve_triangular(own, expand(factor, [...batch, n, n]), { upper: false }) as Tensor, 2), [-2, -1]);
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const factor = cholesky(value) as Tensor,
      powers = mul(sub(this.df, this.size + 1), log_diagonal(factor));
    return sub(sub(powers, mul(0.5, this.trace(factor))), this.log_volume);
  }
  override entropy(): Tensor {
    const n = this.size,
      { df } = this,
      logarithms = add(this.digammas, add(n * Math.log(2), mul(2, log_diagonal(this.scale_tril))));
    return add(sub(this.log_volume, mul(mul(0.5, sub(df, n + 1)), logarithms)), mul(0.5 * n, df));
  }
  override divergence(q: DistributionClass): Tensor | null {
    if (!(q instanceof WishartClass)) return null;
    const n = this.size,
      volumes = sub(mvlgamma(mul(0.5, q.df), n), mvlgamma(mul(0.5, this.df), n)),
      factors = mul(q.df, sub(log_diagonal(q.scale_tril), log_diagonal(this.scale_tril))),
      freedoms = mul(mul(0.5, sub(this.df, q.df)), this.digammas),
      spreads = mul(mul(0.5, this.df), sub(q.trace(this.scale_tril), n));
    return add(add(volumes, factors), add(freedoms, spreads));
  }
}
/**
 * The sums of `df` products x xᵀ of normal vectors, whose spread is given by one of three matrices.
 *
 * @param df greater than n - 1: the degrees of freedom
 * @param covariance_matrix tensor [*, n, n], symmetric and positive definite
 * @param precision_matrix tensor [*, n, n], instead of it: its inverse
 * @param scale_tril tensor [*, n, n], instead of it: its Cholesky factor
 *
 * @example
 * torch.distributions.Wishart(3, torch.eye(2)).mean  // [[3, 0], [0, 3]]
 */
export const Wishart = /* @__PURE__ */ distribution(
  WishartClass,
  "Wishart",
  "df covariance_matrix? precision_matrix? scale_tril?",
  {
    df: positive,
    covariance_matrix: positive_definite,
    precision_matrix: positive_definite,
    scale_tril: lower_cholesky,
  },
  {
    support: positive_definite,
    has_rsample: true,
    prints: ["covariance_matrix", "precision_matrix", "scale_tril", "df"],
  },
);
export type Wishart = WishartClass;

class LKJCholeskyClass extends DistributionClass {
  readonly dim: number;
  readonly concentration: Tensor;

  constructor(dim: number, concentration: Value = 1, validate_args?: Validate) {
    super([], [], validate_args);
    if (integer(dim, "LKJCholesky", "dim") < 2)
      throw new OpError(`LKJCholesky: Expected dim to be an integer greater than or equal to 2. Found dim=${dim}.`);
    this.dim = dim;
    [this.concentration] = broadcast_all(valueOf(concentration, "LKJCholesky", "concentration")) as [Tensor];
    this.shaped(this.concentration.shape, [dim, dim]);
  }
  /** A row's first part has a direction of no preference and a squared length of a beta distribution. */
  override sample(sample_shape: Sizes = []): Tensor {
    const { dim } = this,
      shape = this.extended_shape(sample_shape),
      { concentration } = this,
      row = upto(dim, concentration),
      first = le(row, 0),
      rows = shape.slice(0, -1),
      inside = log_gamma_draw(where(first, 1, mul(0.5, row)), rows).detach(),
      outside = log_gamma_draw(add(unsqueeze(concentration, -1), mul(0.5, sub(dim - 1, row))), rows).detach(),
      way = tril(standard_normal(shape, concentration), -1),
      length = sqrt(clamp(sum(pow(way, 2), -1), finfo(way.dtype).tiny)),
      radius = where(first, 0, sqrt(sigmoid(sub(inside, outside)))),
      below = mul(way, unsqueeze(div(radius, length), -1)),
      above = where(first, 1, sqrt(sigmoid(sub(outside, inside))));
    return add(below, diag_embed(above));
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const { dim, concentration } = this,
      row = upto(dim, concentration),
      powers = add(mul(2, unsqueeze(sub(concentration, 1), -1)), sub(dim - 1, row)),
      diagonals = log(diagonal(value, 0, -2, -1)),
      weights = sum(where(le(row, 0), 0, mul(powers, diagonals)), -1),
      // the balls of 1, 2, ... dimensions that the rows' first parts lie in, weighed by those powers
      at = add(concentration, (dim - 1) / 2),
      balls = sub(lgamma(sub(unsqueeze(at, -1), mul(0.5, row))), unsqueeze(lgamma(at), -1)),
      volume = sum(where(le(row, 0), 0, add(mul(Math.log(Math.PI) / 2, row), balls)), -1);
    return sub(weights, volume);
  }
}
/**
 * Factors of correlation matrices, whose determinants weigh by the power `concentration` - 1.
 *
 * @param dim how many rows the matrices have, at least 2
 * @param concentration positive; 1: all correlation matrices alike, above 1 those near the identity are likelier
 *
 * @example
 * torch.manual_seed(0);
 * const L = torch.distributions.LKJCholesky(3, 2).sample();
 * L.square().sum(-1).round({ decimals: 4 })  // [1, 1, 1]
 */
export const LKJCholesky = /* @__PURE__ */ distribution(
  LKJCholeskyClass,
  "LKJCholesky",
  "dim concentration?",
  { concentration: positive },
  { support: corr_cholesky },
);
export type LKJCholesky = LKJCholeskyClass;
