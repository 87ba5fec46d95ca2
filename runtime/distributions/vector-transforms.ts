// Transforms whose values are vectors or matrices.

import { cholesky } from "../../names/linalg.js";
import { arange } from "../creation/create.js";
import { OpError } from "../base/errors.js";
import { cat, stack } from "../functions/join.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type Sizes,
  add,
  atanh,
  between,
  clamp,
  cumprod,
  cumsum,
  cut,
  diag_embed,
  diagonal,
  div,
  exp,
  finfo,
  log,
  logsigmoid,
  matmul,
  mul,
  neg,
  ones_like,
  pow,
  select,
  sigmoid,
  softmax,
  softplus,
  sqrt,
  sub,
  sum,
  tanh,
  transpose,
  tril,
  zeros_like,
} from "./arithmetic.js";
import {
  corr_cholesky,
  independent,
  lower_cholesky,
  positive_definite,
  real,
  real_vector,
  simplex,
} from "./constraints/constraints.js";
import { TransformClass, transform } from "./transform.js";

const last = (shape: Sizes): number => shape[shape.length - 1]!;
const resized = (shape: Sizes, op: string, by: (n: number) => number): Sizes => {
  if (shape.length < 1) throw new OpError(`${op}: Too few dimensions on input`);
  return [...shape.slice(0, -1), by(last(shape))];
};

class SoftmaxClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return softmax(x, -1);
  }
  override _inverse(y: Tensor): Tensor {
    return log(y);
  }
  override forward_shape(shape: Sizes): Sizes {
    return resized(shape, "SoftmaxTransform", (n) => n);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return resized(shape, "SoftmaxTransform", (n) => n);
  }
}
/**
 * Shares of a whole: y = softmax(x); the way back takes logarithms.
 *
 * @example
 * torch.distributions.transforms.SoftmaxTransform()(torch.tensor([0, 0]))  // [0.5, 0.5]
 */
export const SoftmaxTransform = /* @__PURE__ */ transform(SoftmaxClass, "SoftmaxTransform", "", {
  domain: real_vector,
  codomain: simplex,
});
export type SoftmaxTransform = SoftmaxClass;

/** The logarithms of how many parts there are still to share out at each place. */
function parts(x: Tensor): Tensor {
  const n = last(x.shape);
  return log(sub(n, arange(n, { dtype: x.dtype, device: x.device })));
}
class StickBreakingClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    const z = between(sigmoid(sub(x, parts(x)))),
      left = cumprod(sub(1, z), -1),
      one = ones_like(cut(z, 0, 1));
    return mul(cat([z, one], -1), cat([one, left], -1));
  }
  override _inverse(y: Tensor): Tensor {
    const first = cut(y, 0, -1),
      left = clamp(sub(1, cumsum(first, -1)), finfo(y.dtype).tiny);
    return add(sub(log(first), log(left)), parts(first));
  }
  override log_abs_det_jacobian(x: Tensor, y: Tensor): Tensor {
    const z = sub(x, parts(x));
    return sum(add(log(cut(y, 0, -1)), logsigmoid(neg(z))), -1);
  }
  override forward_shape(shape: Sizes): Sizes {
    return resized(shape, "StickBreakingTransform", (n) => n + 1);
  }
  override inverse_shape(shape: Sizes): Sizes {
    return resized(shape, "StickBreakingTransform", (n) => n - 1);
  }
}
/**
 * Shares of a whole, each broken from what the ones before it left.
 *
 * @example
 * torch.distributions.transforms.StickBreakingTransform()(torch.tensor([0, 0])).sum().round({ decimals: 4 })  // 1
 */
export const StickBreakingTransform = /* @__PURE__ */ transform(StickBreakingClass, "StickBreakingTransform", "", {
  bijective: true,
  domain: real_vector,
  codomain: simplex,
});
export type StickBreakingTransform = StickBreakingClass;

const onDiagonal = (x: Tensor, f: (x: Tensor) => Tensor): Tensor =>
  add(tril(x, -1), diag_embed(f(diagonal(x, 0, -2, -1))));

class LowerCholeskyClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    return onDiagonal(x, exp);
  }
  override _inverse(y: Tensor): Tensor {
    return onDiagonal(y, log);
  }
}
/**
 * The lower triangle, its diagonal made positive by exp.
 *
 * @example
 * torch.distributions.transforms.LowerCholeskyTransform()(torch.tensor([[0, 5], [3, 0]]))  // [[1, 0], [3, 1]]
 */
export const LowerCholeskyTransform = /* @__PURE__ */ transform(LowerCholeskyClass, "LowerCholeskyTransform", "", {
  domain: /* @__PURE__ */ independent(real, 2),
  codomain: lower_cholesky,
});
export type LowerCholeskyTransform = LowerCholeskyClass;

class PositiveDefiniteClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    const factor = onDiagonal(x, exp);
    return matmul(factor, transpose(factor, -2, -1));
  }
  override _inverse(y: Tensor): Tensor {
    return onDiagonal(cholesky(y) as Tensor, log);
  }
}
/**
 * The matrix whose factor `LowerCholeskyTransform` makes.
 *
 * @example
 * torch.distributions.transforms.PositiveDefiniteTransform()(torch.tensor([[0, 0], [1, 0]]))  // [[1, 1], [1, 2]]
 */
export const PositiveDefiniteTransform = /* @__PURE__ */ transform(
  PositiveDefiniteClass,
  "PositiveDefiniteTransform",
  "",
  { domain: /* @__PURE__ */ independent(real, 2), codomain: positive_definite },
);
export type PositiveDefiniteTransform = PositiveDefiniteClass;

/** How many rows a triangle without diagonal has that holds `n` numbers. */
function rowsOf(n: number): number {
  const rows = Math.round((1 + Math.sqrt(1 + 8 * n)) / 2);
  if ((rows * (rows - 1)) / 2 !== n)
    throw new OpError("CorrCholeskyTransform: Input is not a flattened lower-diagonal number");
  return rows;
}
class CorrCholeskyClass extends TransformClass {
  override _call(x: Tensor): Tensor {
    const n = rowsOf(last(x.shape)),
      z = tanh(x),
      none = zeros_like(select(x, -1, 0)),
      rows = Array.from({ length: n }, (_, i) => {
        const at = (i * (i - 1)) / 2;
        let left = ones_like(none);
        const row = Array.from({ length: n }, (_, j) => {
          if (j > i) return none;
          if (j === i) return sqrt(left);
          const share = select(z, -1, at + j),
            entry = mul(share, sqrt(left));
          left = mul(left, sub(1, pow(share, 2)));
          return entry;
        });
        return stack(row, -1);
      });
    return stack(rows, -2);
  }
  override _inverse(y: Tensor): Tensor {
    const n = last(y.shape),
      found: Tensor[] = [];
    for (let i = 1; i < n; i++) {
      let left = ones_like(select(select(y, -2, 0), -1, 0));
      for (let j = 0; j < i; j++) {
        const entry = select(select(y, -2, i), -1, j);
        found.push(atanh(div(entry, sqrt(clamp(left, finfo(y.dtype).tiny)))));
        left = sub(left, pow(entry, 2));
      }
    }
    return stack(found, -1);
  }
  /** Of each entry log(1 - z²), and half the logarithm of what the ones before it left. */
  override log_abs_det_jacobian(x: Tensor): Tensor {
    const n = rowsOf(last(x.shape)),
      each = mul(2, sub(sub(Math.LN2, x), softplus(mul(-2, x)))),
      weights = Array.from({ length: n }, (_, i) => Array.from({ length: i }, (_, j) => 1 + (i - 1 - j) / 2)).flat();
    return weights.reduce<Tensor>(
      (total, weight, k) => add(total, mul(weight, select(each, -1, k))),
      zeros_like(select(x, -1, 0)),
    );
  }
  override forward_shape(shape: Sizes): Sizes {
    const n = rowsOf(last(resized(shape, "CorrCholeskyTransform", (m) => m)));
    return [...shape.slice(0, -1), n, n];
  }
  override inverse_shape(shape: Sizes): Sizes {
    const n = last(shape);
    if (shape.length < 2 || shape[shape.length - 2] !== n)
      throw new OpError("CorrCholeskyTransform: Input is not square");
    return [...shape.slice(0, -2), (n * (n - 1)) / 2];
  }
}
/**
 * The factor of a correlation matrix: in each row, a tanh of what the entries before it left of the length 1.
 *
 * @example
 * torch.distributions.transforms.CorrCholeskyTransform()(torch.tensor([0]))  // [[1, 0], [0, 1]]
 */
export const CorrCholeskyTransform = /* @__PURE__ */ transform(CorrCholeskyClass, "CorrCholeskyTransform", "", {
  bijective: true,
  domain: real_vector,
  codomain: corr_cholesky,
});
export type CorrCholeskyTransform = CorrCholeskyClass;
