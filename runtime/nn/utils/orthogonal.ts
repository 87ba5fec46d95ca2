// torch.nn.utils.parametrizations.orthogonal: matrices whose columns, or rows where those are fewer, stay orthonormal.

import { flag } from "../../base/argument-kinds.js";
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import { sameShape, showShape } from "../../base/shape.js";
import { solve } from "../../composite/matrix-solving.js";
import { eye, full, zeros } from "../../creation/create.js";
import { randn } from "../../creation/random-tensors.js";
import { zeros_like } from "../../creation/like.js";
import { cat } from "../../functions/join.js";
import { diagonal_scatter } from "../../functions/scatter-views.js";
import { finfo } from "../../functions/type-info.js";
import { unrecorded } from "../../tape/grad-mode.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as views from "../../views/views.js";
import { householder_product, matrix_exp } from "../../../names/linalg.js";
import {
  add,
  all,
  div,
  eq,
  geqrf,
  isclose,
  matmul,
  mul,
  sign,
  sub,
  sum,
  tril,
  trunc,
  where,
} from "../../../names/torch.js";
import { titled } from "../../base/class-name.js";
import { Module } from "../module.js";
import { register_parametrization } from "./parametrize.js";
import { weightOf } from "./weight-norms.js";

const MAPS = ["matrix_exp", "cayley", "householder"] as const;
type OrthogonalMap = (typeof MAPS)[number];

const flipped = (x: Tensor): Tensor => views.transpose(x, -2, -1);
const diagonalOf = (x: Tensor): Tensor => views.diagonal(x, 0, -2, -1);
const rowsAndColumns = ({ shape }: Tensor): [rows: number, columns: number] => [shape.at(-2)!, shape.at(-1)!];
const like = ({ dtype, device }: Tensor) => ({ dtype, device });

/** The orthonormal columns of a tall matrix: Q of its QR, with signs that make the triangle's diagonal positive. */
function columnsOf(x: Tensor): Tensor {
  const { a, tau } = geqrf(x),
    signs = views.unsqueeze(sign(diagonalOf(a)) as Tensor, -2);
  return mul(householder_product(a, tau) as Tensor, signs) as Tensor;
}

/** A square matrix if it is orthogonal, else the nearest that QR finds; which of both only the device knows. */
function orthogonalized(x: Tensor): Tensor {
  const [n] = rowsAndColumns(x),
    product = matmul(flipped(x), x) as Tensor,
    near = isclose(product, eye(n, n, like(x)), { atol: 10 * n * finfo(x.dtype).eps }) as Tensor;
  return where(all(near) as Tensor, x, columnsOf(x)) as Tensor;
}

class Orthogonal extends Module {
  declare base: Tensor | null;
  declare private readonly map: OrthogonalMap;
  declare private readonly size: readonly number[];

  constructor(weight: Tensor, map: OrthogonalMap, useTrivialization: boolean) {
    super();
    Object.defineProperties(this, { map: { value: map }, size: { value: weight.shape } });
    if (useTrivialization) this.register_buffer("base", null);
    // Which matrix a rotation came from is not known: such a weight begins at what the map makes of it.
    else if (map !== "householder") Object.defineProperty(this, "right_inverse", { value: undefined });
  }
  override forward(given: Tensor): Tensor {
    const wide = given.shape.at(-2)! < given.shape.at(-1)!,
      x = wide ? flipped(given) : given;
    let q = this.map === "householder" ? this.reflected(x) : this.rotated(x);
    if (this.base) q = matmul(this.base, q) as Tensor;
    return wide ? flipped(q) : q;
  }
  /** The first columns of the rotation that a skew-symmetric matrix stands for. */
  private rotated(x: Tensor): Tensor {
    const [n, k] = rowsAndColumns(x);
    let lower = tril(x) as Tensor;
    if (n !== k) lower = cat([lower, zeros([...x.shape.slice(0, -1), n - k], like(x))], -1);
    const skew = sub(lower, flipped(lower)) as Tensor;
    let q: Tensor;
    if (this.map === "matrix_exp") q = matrix_exp(skew) as Tensor;
    else {
      const unit = eye(n, n, like(x));
      q = solve(sub(unit, skew, { alpha: 0.5 }) as Tensor, add(unit, skew, { alpha: 0.5 }) as Tensor);
    }
    return n === k ? q : views.narrow(q, -1, 0, k);
  }
  /** The product of the reflections whose vectors stand below the diagonal, which holds signs and is no parameter. */
  private reflected(x: Tensor): Tensor {
    const vectors = tril(x, -1) as Tensor,
      tau = div(2, add(sum(mul(vectors, vectors) as Tensor, -2) as Tensor, 1) as Tensor) as Tensor,
      signs = views.unsqueeze(trunc(diagonalOf(x.detach())) as Tensor, -2);
    return mul(householder_product(vectors, tau) as Tensor, signs) as Tensor;
  }
  right_inverse(given: Tensor): Tensor {
    if (!sameShape(given.shape, this.size))
      throw new OpError(
        `Expected a matrix or batch of matrices of shape ${showShape(this.size)}. Got a tensor of shape ${showShape(given.shape)}.`,
      );
    return unrecorded(() => {
      const wide = given.shape.at(-2)! < given.shape.at(-1)!,
        x = wide ? flipped(given) : given,
        [n, k] = rowsAndColumns(x);
      if (this.base === undefined) {
        const { a, tau } = geqrf(x),
          signs = mul(sign(diagonalOf(a)) as Tensor, where(eq(tau, 0) as Tensor, -1, 1) as Tensor) as Tensor,
          packed = diagonal_scatter(a, signs, 0, -2, -1);
        return wide ? flipped(packed) : packed;
      }
      this.base =
        n === k ? orthogonalized(x) : columnsOf(cat([x, randn([...x.shape.slice(0, -1), n - k], like(x))], -1));
      // Of minus the identity the reflections make the identity: what is trained begins at the base.
      const none = zeros_like(given);
      return diagonal_scatter(none, full(diagonalOf(none).shape, -1, like(given)), 0, -2, -1);
    });
  }
}
titled(Orthogonal, "_Orthogonal");

interface OrthogonalOptions {
  name?: string;
  orthogonal_map?: OrthogonalMap | null;
  use_trivialization?: boolean;
}
/**
 * Keeps the columns of a matrix, or of each of a batch, orthonormal, and its rows where those are fewer. What is trained
 * is mapped to such a matrix by `orthogonal_map`: "matrix_exp" (for square ones unless told otherwise), "cayley" or
 * "householder" (for others). With `use_trivialization` the map begins at the weight as it is, kept as `base`.
 * Throws for tensors of fewer than two axes and for complex ones.
 *
 * @param module the module that has the tensor
 * @param name the tensor's name
 * @param orthogonal_map how what is trained becomes an orthogonal matrix
 * @param use_trivialization whether the map begins at the weight as it is
 *
 * @example
 * const layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(2, 2));
 * layer.weight.mm(layer.weight.t()).round().abs()  // [[1, 0], [0, 1]]
 */
export function orthogonal<M extends Module>(
  module: M,
  name?: string | OrthogonalOptions,
  orthogonal_map?: OrthogonalMap | null | OrthogonalOptions,
  options?: OrthogonalOptions,
): M;
export function orthogonal(...args: unknown[]): Module {
  const op = "orthogonal",
    [module, name = "weight", given, use = true] = taken(
      `${op} module name? orthogonal_map? * use_trivialization?`,
      args,
    ),
    weight = weightOf(op, module, name);
  if (weight.ndim < 2)
    throw new OpError(`${op}: Expected a matrix or batch of matrices. Got a tensor of ${weight.ndim} dimensions.`);
  if (weight.dtype === "complex64") throw new OpError(`${op}: complex weights are not supported`);
  const [n, k] = rowsAndColumns(weight),
    map = (given ?? (n === k ? "matrix_exp" : "householder")) as OrthogonalMap;
  if (!MAPS.includes(map))
    throw new OpError(`${op}: orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: ${map}`);
  const made = new Orthogonal(weight, map, flag(use, op, "use_trivialization"));
  return register_parametrization(module as Module, name, made, { unsafe: true });
}
