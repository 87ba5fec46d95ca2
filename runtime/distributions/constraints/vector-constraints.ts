// Constraints of values that are vectors or matrices.

import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { all } from "../../../names/torch.js";
import { cholesky_ex, eigvalsh } from "../../../names/linalg.js";
import {
  type Value,
  abs,
  add,
  both,
  diagonal,
  either,
  eq,
  filled,
  ge,
  gt,
  le,
  lt,
  mul,
  pow,
  sub,
  sum,
  transpose,
  tril,
  valueOf,
} from "../arithmetic.js";
import { Constraint, type Test, alone, throughout } from "./constraint.js";

/**
 * Whole numbers that add up to at most `upper_bound` along the last axis.
 *
 * @param upper_bound the greatest sum
 *
 * @example
 * torch.distributions.constraints.multinomial(3).check(torch.tensor([[1, 2], [2, 2]]))  // [true, false]
 */
export function multinomial(upper_bound: Value): Constraint {
  [upper_bound] = taken("multinomial upper_bound", arguments);
  valueOf(upper_bound, "multinomial", "upper_bound");
  return new Constraint("Multinomial()", (x) => both(all(ge(x, 0), -1), le(sum(x, -1), upper_bound)), 1, true, {
    upper_bound,
  });
}

/**
 * Vectors, along the last axis, of a 1 and else zeros.
 *
 * @example
 * torch.distributions.constraints.one_hot.check(torch.tensor([[0, 1], [1, 1]]))  // [true, false]
 */
export const one_hot: Constraint = /* @__PURE__ */ alone(
  "OneHot()",
  (x) => both(all(either(eq(x, 0), eq(x, 1)), -1), eq(sum(x, -1), 1)),
  1,
  true,
);
/**
 * Vectors, along the last axis, of numbers from 0 on that add up to 1.
 *
 * @example
 * torch.distributions.constraints.simplex.check(torch.tensor([[0.25, 0.75], [0.5, 0.6]]))  // [true, false]
 */
export const simplex: Constraint = /* @__PURE__ */ alone(
  "Simplex()",
  (x) => both(all(ge(x, 0), -1), lt(abs(sub(sum(x, -1), 1)), 1e-6)),
  1,
);
/**
 * Matrices, over the last two axes, with zeros above the diagonal.
 *
 * @example
 * torch.distributions.constraints.lower_triangular.check(torch.tensor([[1, 7], [5, 2]]))  // false
 */
export const lower_triangular: Constraint = /* @__PURE__ */ alone(
  "LowerTriangular()",
  (x) => throughout(eq(tril(x), x), 2),
  2,
);
/**
 * Matrices with zeros above the diagonal and positive numbers on it.
 *
 * @example
 * torch.distributions.constraints.lower_cholesky.check(torch.tensor([[1, 0], [5, 2]]))  // true
 */
export const lower_cholesky: Constraint = /* @__PURE__ */ alone(
  "LowerCholesky()",
  (x) => both(throughout(eq(tril(x), x), 2), all(gt(diagonal(x, 0, -2, -1), 0), -1)),
  2,
);
/** Whether each row has the length 1, but for the rounding of as many squares as there are columns. */
const unit_rows = (x: Tensor): Tensor =>
  all(le(abs(sub(sum(pow(x, 2), -1), 1)), 10 * x.shape[x.shape.length - 1]! * 2 ** -23), -1);
/**
 * Matrices with zeros above the diagonal, positive numbers on it and rows of length 1.
 *
 * @example
 * torch.distributions.constraints.corr_cholesky.check(torch.tensor([[1, 0], [0.6, 0.8]]))  // true
 */
export const corr_cholesky: Constraint = /* @__PURE__ */ alone(
  "CorrCholesky()",
  (x) => both(unit_rows(x), lower_cholesky.check(x)),
  2,
);
/**
 * Square matrices, over the last two axes.
 *
 * @example
 * torch.distributions.constraints.square.check(torch.ones([2, 3]))  // false
 */
export const square: Constraint = /* @__PURE__ */ alone("Square()", squared, 2);
/** Whether matrices are square, for each of a batch. */
function squared(x: Tensor): Tensor {
  const [rows, columns] = x.shape.slice(-2);
  return eq(filled(x.shape.slice(0, -2), rows === columns ? 1 : 0, x), 1);
}
/** A test of square matrices, which others fail. */
const ofSquare =
  (test: Test): Test =>
  (x) =>
    x.shape[x.ndim - 1] === x.shape[x.ndim - 2] ? test(x) : squared(x);
const even = (x: Tensor): Tensor => throughout(le(abs(sub(x, transpose(x, -2, -1))), add(mul(abs(x), 1e-5), 1e-6)), 2);
/**
 * Matrices that equal their transposes.
 *
 * @example
 * torch.distributions.constraints.symmetric.check(torch.tensor([[1, 2], [2, 1]]))  // true
 */
export const symmetric: Constraint = /* @__PURE__ */ alone("Symmetric()", ofSquare(even), 2);
/**
 * Symmetric matrices with positive eigenvalues.
 *
 * @example
 * torch.distributions.constraints.positive_definite.check(torch.tensor([[2, 1], [1, 2]]))  // true
 */
export const positive_definite: Constraint = /* @__PURE__ */ alone(
  "PositiveDefinite()",
  ofSquare((x) => both(even(x), eq((cholesky_ex(x) as unknown as { info: Tensor }).info, 0))),
  2,
);
/**
 * Symmetric matrices without negative eigenvalues.
 *
 * @example
 * torch.distributions.constraints.positive_semidefinite.check(torch.tensor([[1, 1], [1, 1]]))  // true
 */
export const positive_semidefinite: Constraint = /* @__PURE__ */ alone(
  "PositiveSemidefinite()",
  ofSquare((x) => both(even(x), all(ge(eigvalsh(x), 0), -1))),
  2,
);
