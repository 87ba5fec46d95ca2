// Norms by the number of axes and by name, and what is made of them: torch.norm, linalg.norm, linalg.matrix_norm,
// linalg.cond.

import { run } from "../dispatch/call.js";
import { cast } from "../tensor/copy.js";
import { type DType, differentiable, toDType } from "../elements/dtype.js";
import { OpError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { axesOf, integers, showShape } from "../base/shape.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { zeros } from "../creation/create.js";
import { invOp } from "../../ops/solve.js";
import { svdvalsOp } from "../../ops/svd.js";
import { normOp, vector_normOp } from "../../ops/reduce.js";
import { amax, amin, div, mul, sum } from "../../names/torch.js";
import * as views from "../views/views.js";

export type Order = number | "fro" | "nuc";
type Axes = number | readonly number[];
export interface NormOptions {
  ord?: Order | null;
  dim?: Axes | null;
  keepdim?: boolean;
  dtype?: DType | null;
}
export interface PNormOptions {
  p?: Order | null;
  dim?: Axes | null;
  keepdim?: boolean;
  dtype?: DType | null;
}

function floating(input: unknown, op: string, dtype: unknown): Tensor {
  check(input, op, "A");
  const x = dtype ? cast(input, toDType(dtype, op), op) : input;
  if (!differentiable(x.dtype)) throw new OpError(`${op}: Expected a floating point tensor as input. Got ${x.dtype}`);
  return x;
}

const vector = (x: Tensor, order: number, dim: readonly number[] | null, keepdim: boolean): Tensor =>
  run(vector_normOp, dim === null ? [x, order, { keepdim }] : [x, order, [...dim], keepdim]) as Tensor;

const extreme = (x: Tensor, largest: boolean, dim: number, keepdim: boolean): Tensor =>
  (largest ? amax : amin)(x, dim, keepdim) as Tensor;

/** The norm of the matrices along two axes. */
function matrices(x: Tensor, order: unknown, axes: readonly number[], keepdim: boolean): Tensor {
  if (x.ndim < 2)
    throw new OpError("matrix_norm: linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
  if (axes.length !== 2)
    throw new OpError(`matrix_norm: linalg.matrix_norm: dim must be a 2-tuple. Got ${axes.join(" ")}`);
  const size = typeof order === "number" ? Math.abs(order) : order;
  if (size !== "fro" && size !== "nuc" && size !== 1 && size !== 2 && size !== Infinity)
    throw new OpError(`matrix_norm: linalg.matrix_norm: Order ${String(order)} not supported.`);
  const wrapped = axes.map((d) => axesOf([d], x.ndim, "matrix_norm")[0]!);
  if (wrapped[0] === wrapped[1])
    throw new OpError(`matrix_norm: linalg.matrix_norm: dims must be different. Got (${axes.join(", ")})`);
  if (size === "fro") return vector(x, 2, wrapped, keepdim);
  if (size === "nuc" || size === 2) {
    const last = views.movedim(x, wrapped, [-2, -1]),
      values = run(svdvalsOp, [last]) as Tensor;
    const out = size === "nuc" ? (sum(values, -1) as Tensor) : extreme(values, (order as number) > 0, -1, false);
    return keepdim
      ? views.reshape(
          out,
          x.shape.map((n, d) => (wrapped.includes(d) ? 1 : n)),
        )
      : out;
  }
  const [down, across] = size === Infinity ? [wrapped[1]!, wrapped[0]!] : [wrapped[0]!, wrapped[1]!];
  return extreme(
    vector(x, 1, [down], keepdim),
    (order as number) > 0,
    !keepdim && down < across ? across - 1 : across,
    keepdim,
  );
}

const listed = (dim: unknown, op: string): readonly number[] | null =>
  dim === undefined || dim === null ? null : integers([dim], op, "dim");

/**
 * The norm of matrices: `"fro"`, `"nuc"`, 2 and -2 (by singular values), 1 and -1 (by columns), Infinity and -Infinity
 * (by rows).
 *
 * @param A float tensor [*, m, n]
 * @param ord which norm
 * @param dim the two axes of the matrices; the last two unless given
 * @param keepdim whether those axes stay, with length 1
 * @param dtype what it is cast to first
 *
 * @example
 * const A = torch.tensor([[3, 0], [0, -4]]);
 * [torch.linalg.matrix_norm(A), torch.linalg.matrix_norm(A, 2), torch.linalg.matrix_norm(A, "nuc")]  // [5, 4, 7]
 */
export function matrix_norm(
  A: Tensor,
  ord?: Order | NormOptions,
  dim?: readonly number[] | NormOptions,
  keepdim?: boolean | NormOptions,
  dtype?: DType | null,
): Tensor;
export function matrix_norm(...args: unknown[]): Tensor {
  const [A, ord, dim, keepdim, dtype] = taken("matrix_norm A ord? dim? keepdim? dtype?", args);
  return matrices(
    floating(A, "matrix_norm", dtype),
    ord ?? "fro",
    listed(dim, "matrix_norm") ?? [-2, -1],
    keepdim === true,
  );
}

/**
 * The norm of a vector, of matrices, or of all elements: as the number of axes in `dim`, or else of `A`, says.
 *
 * @param A float tensor of any shape
 * @param ord the order: of vectors a number, of matrices as in `matrix_norm`
 * @param dim an axis for vectors, two for matrices; all elements as one vector unless it or `ord` is given
 * @param keepdim whether those axes stay, with length 1
 * @param dtype what it is cast to first
 *
 * @example
 * torch.linalg.norm(torch.tensor([3, 4]))  // 5
 * torch.linalg.norm(torch.tensor([[3, 4], [6, 8]]), null, 1)  // [5, 10]
 */
export function norm(
  A: Tensor,
  ord?: Order | null | NormOptions,
  dim?: Axes | null | NormOptions,
  keepdim?: boolean | NormOptions,
  dtype?: DType | null,
): Tensor;
export function norm(...args: unknown[]): Tensor {
  const [A, ord, axes, keepdim, dtype] = taken("norm A ord? dim? keepdim? dtype?", args);
  const x = floating(A, "norm", dtype),
    dim = listed(axes, "norm"),
    keep = keepdim === true;
  if (dim && dim.length !== 1 && dim.length !== 2)
    throw new OpError(`norm: linalg.norm: If dim is specified, it must be of length 1 or 2. Got ${showShape(dim)}`);
  const given = ord !== undefined && ord !== null;
  if (!dim && given && x.ndim !== 1 && x.ndim !== 2) {
    throw new OpError(
      `norm: linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ${x.ndim}D.`,
    );
  }
  if (typeof ord === "string" || (given && (dim ? dim.length === 2 : x.ndim === 2)))
    return matrices(x, ord, dim ?? [0, 1], keep);
  return vector(x, (ord ?? 2) as number, dim, keep);
}

/**
 * The norm of order `p` along `dim`; `"fro"`: that of order 2; `"nuc"`: the sum of the singular values of matrices.
 *
 * @param input float tensor of any shape
 * @param p the order; "fro" unless given
 * @param dim an axis or several; all elements unless given
 * @param keepdim whether those axes stay, with length 1
 * @param dtype what it is cast to first
 *
 * @example
 * torch.norm(torch.tensor([[3, 4], [6, 8]]))  // 11.1803
 * torch.norm(torch.tensor([[3, -4], [6, 8]]), 1, 1)  // [7, 14]
 */
export function p_norm(
  input: Tensor,
  p?: Order | null | PNormOptions,
  dim?: Axes | null | PNormOptions,
  keepdim?: boolean | PNormOptions,
  dtype?: DType | null,
): Tensor;
export function p_norm(...args: unknown[]): Tensor {
  const [input, p, axes, keepdim, dtype] = taken("norm input p? dim? keepdim? dtype?", args);
  const x = floating(input, "norm", dtype),
    dim = listed(axes, "norm"),
    keep = keepdim === true;
  if (p === "nuc") return matrices(x, p, dim ?? x.shape.map((_, d) => d), keep);
  if (typeof p === "string" && p !== "fro") throw new OpError(`norm: linalg.matrix_norm: Order ${p} not supported.`);
  return run(normOp, [x, typeof p === "number" ? p : 2, { keepdim: keep, ...(dim ? { dim } : {}) }]) as Tensor;
}

/**
 * The condition number: the norm of each matrix times that of its inverse; by default the largest singular value over
 * the smallest.
 *
 * @param A float tensor [*, n, n]; of the singular values also [*, m, n]
 * @param p the order of the norm, as of `matrix_norm`; null: 2
 *
 * @example
 * torch.linalg.cond(torch.tensor([[4, 0], [0, 2]]))  // 2
 */
export function cond(A: Tensor, p?: Order | null | { p?: Order | null }): Tensor;
export function cond(...args: unknown[]): Tensor {
  const [A, p] = taken("cond A p?", args),
    x = floating(A, "cond", null),
    order = p ?? 2;
  if (x.ndim < 2) throw new OpError("cond: linalg.cond: The input tensor must have at least 2 dimensions.");
  if (order !== "fro" && order !== "nuc" && ![1, -1, 2, -2, Infinity, -Infinity].includes(order as number)) {
    throw new OpError(`cond: linalg.cond got an invalid norm type: ${describe(order).replace(/^number /, "")}`);
  }
  if (x.numel() === 0) return zeros(x.shape.slice(0, -2), { dtype: x.dtype, device: x.device });
  if (order === 2 || order === -2) {
    const values = run(svdvalsOp, [x]) as Tensor,
      top = views.select(values, -1, 0),
      low = views.select(values, -1, -1);
    return (order === 2 ? div(top, low) : div(low, top)) as Tensor;
  }
  const [rows, columns] = x.shape.slice(-2);
  if (rows !== columns)
    throw new OpError(
      `cond: linalg.cond(ord=${String(order)}): A must be batches of square matrices, but they are ${rows} by ${columns} matrices`,
    );
  const of = (y: Tensor) => matrices(y, order, [-2, -1], false);
  return mul(of(x), of(run(invOp, [x]) as Tensor)) as Tensor;
}
