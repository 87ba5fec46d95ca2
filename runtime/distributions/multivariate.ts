// Normal distributions over vectors.

import { cholesky, solve_triangular } from "../../names/linalg.js";
import { cholesky_inverse } from "../../names/torch.js";
import { broadcast_shapes } from "../functions/grids.js";
import { OpError } from "../base/errors.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  add,
  diagonal,
  expand,
  log,
  matmul,
  mul,
  pow,
  squeeze,
  standard_normal,
  sub,
  sum,
  transpose,
  unsqueeze,
} from "./arithmetic.js";
import { lower_cholesky, positive_definite, real_vector } from "./constraints/constraints.js";
import { DistributionClass, type Validate, distribution } from "./distribution.js";

/** The sum of the logarithms of a matrix's diagonal. */
export const log_diagonal = (tril: Tensor): Tensor => sum(log(diagonal(tril, 0, -2, -1)), -1);
/** The squared length of vectors, measured by a matrix's factor. */
export function mahalanobis(tril: Tensor, x: Tensor): Tensor {
  const n = x.shape[x.shape.length - 1]!,
    batch = broadcast_shapes(tril.shape.slice(0, -2), x.shape.slice(0, -1)),
    columns = expand(unsqueeze(x, -1), [...batch, n, 1]),
    solved = solve_triangular(expand(tril, [...batch, n, n]), columns, { upper: false }) as Tensor;
  return sum(pow(squeeze(solved, -1), 2), -1);
}

/** The inverse of the matrix that a factor makes. */
const inverse = (tril: Tensor): Tensor => cholesky_inverse(tril) as Tensor;

class MultivariateNormalClass extends DistributionClass {
  readonly loc: Tensor;

  constructor(
    loc: Tensor,
    covariance_matrix?: Tensor | null,
    precision_matrix?: Tensor | null,
    scale_tril?: Tensor | null,
    validate_args?: Validate,
  ) {
    super([], [], validate_args);
    const given = Object.entries({ covariance_matrix, precision_matrix, scale_tril }).filter(([, x]) => x != null);
    if (!(loc instanceof Tensor) || loc.shape.length < 1)
      throw new OpError("MultivariateNormal: loc must be at least one-dimensional.");
    if (given.length !== 1)
      throw new OpError(
        "MultivariateNormal: Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.",
      );
    const [name, matrix] = given[0] as [string, Tensor];
    if (!(matrix instanceof Tensor) || matrix.shape.length < 2)
      throw new OpError(
        `MultivariateNormal: ${name} must be at least two-dimensional, with optional leading batch dimensions`,
      );
    const n = loc.shape[loc.shape.length - 1]!,
      batch = broadcast_shapes(matrix.shape.slice(0, -2), loc.shape.slice(0, -1)),
      whole = expand(matrix, [...batch, n, n]);
    this.loc = expand(loc, [...batch, n]);
    const put = (key: string, value: Tensor): void => {
      Object.defineProperty(this, key, { value, configurable: true, enumerable: key === name, writable: true });
    };
    put(name, whole);
    this.shaped(batch, [n]);
    if (name !== "scale_tril")
      put(
        "scale_tril",
        name === "covariance_matrix"
          ? (cholesky(whole) as Tensor)
          : (cholesky(inverse(cholesky(whole) as Tensor)) as Tensor),
      );
  }
  declare readonly scale_tril: Tensor;
  get covariance_matrix(): Tensor {
    return matmul(this.scale_tril, transpose(this.scale_tril, -2, -1));
  }
  get precision_matrix(): Tensor {
    return inverse(this.scale_tril);
  }
  override get mean(): Tensor {
    return this.loc;
  }
  override get mode(): Tensor {
    return this.loc;
  }
  override get variance(): Tensor {
    return sum(pow(this.scale_tril, 2), -1);
  }
  override rsample(sample_shape: Sizes = []): Tensor {
    const eps = standard_normal(this.extended_shape(sample_shape), this.loc);
    return add(this.loc, squeeze(matmul(this.scale_tril, unsqueeze(eps, -1)), -1));
  }
  override log_prob(value: Tensor): Tensor {
    this.checked(value);
    const far = mahalanobis(this.scale_tril, sub(value, this.loc)),
      n = this.event_shape[0]!;
    return sub(mul(-0.5, add(n * Math.log(2 * Math.PI), far)), log_diagonal(this.scale_tril));
  }
  /** Half of what the other's factor makes of its own spread and of the way between the means, and of the volumes. */
  override divergence(other: DistributionClass): Tensor | null {
    const q = other.dense;
    if (!(q instanceof MultivariateNormalClass)) return null;
    const n = this.event_shape[0]!,
      batch = broadcast_shapes(this.batch_shape as number[], q.batch_shape as number[]),
      wide = (tril: Tensor): Tensor => expand(tril, [...batch, n, n]),
      spread = solve_triangular(wide(q.scale_tril), wide(this.scale_tril), { upper: false }) as Tensor,
      far = add(sum(pow(spread, 2), [-2, -1]), mahalanobis(q.scale_tril, sub(this.loc, q.loc)));
    return add(sub(log_diagonal(q.scale_tril), log_diagonal(this.scale_tril)), mul(0.5, sub(far, n)));
  }
  override entropy(): Tensor {
    return add(0.5 * this.event_shape[0]! * (1 + Math.log(2 * Math.PI)), log_diagonal(this.scale_tril));
  }
}
/**
 * Normal vectors, whose spread is given by one of three matrices.
 *
 * @param loc float tensor [*, n]: the mean
 * @param covariance_matrix tensor [*, n, n], symmetric and positive definite
 * @param precision_matrix tensor [*, n, n], instead of it: its inverse
 * @param scale_tril tensor [*, n, n], instead of it: its Cholesky factor
 *
 * @example
 * const cloud = torch.distributions.MultivariateNormal(torch.zeros([2]), torch.tensor([[4, 0], [0, 1]]));
 * [cloud.variance, cloud.log_prob(torch.zeros([2]))]  // [[4, 1], -2.53102]
 */
export const MultivariateNormal = /* @__PURE__ */ distribution(
  MultivariateNormalClass,
  "MultivariateNormal",
  "loc covariance_matrix? precision_matrix? scale_tril?",
  {
    loc: real_vector,
    covariance_matrix: positive_definite,
    precision_matrix: positive_definite,
    scale_tril: lower_cholesky,
  },
  { support: real_vector, has_rsample: true },
);
export type MultivariateNormal = MultivariateNormalClass;
