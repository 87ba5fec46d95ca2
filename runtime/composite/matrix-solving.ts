// Diagonals, least squares, and tensors seen as matrices that are solved with.

import { run } from "../dispatch/call.js";
import { empty } from "../creation/create.js";
import { integer } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { Results } from "../tensor/results.js";
import { axesOf, integers, numelOf } from "../base/shape.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { matrix_rankOp, pinvOp } from "../../ops/matrix.js";
import { invOp, linalg_solveOp, solve_exOp } from "../../ops/solve.js";
import { svdvalsOp } from "../../ops/svd.js";
import { abs, matmul, square, sub, sum } from "../../names/torch.js";
import * as views from "../views/views.js";

const call = (op: Parameters<typeof run>[0], ...args: unknown[]): Tensor => run(op, args) as Tensor;

function tensorAt(value: unknown, name: string, op: string): Tensor {
  check(value, op, name);
  return value;
}

/**
 * The diagonal of each matrix, as a view.
 *
 * @param A tensor [*, m, n]
 * @param offset which diagonal: above the main one where positive, below where negative
 * @param dim1 the axis of the rows
 * @param dim2 the axis of the columns
 *
 * @example
 * torch.linalg.diagonal(torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]))  // [[1, 4], [5, 8]]
 */
export function diagonal(A: Tensor, options?: { offset?: number; dim1?: number; dim2?: number }): Tensor;
export function diagonal(...args: unknown[]): Tensor {
  const [A, offset = 0, dim1 = -2, dim2 = -1] = taken("diagonal A * offset? dim1? dim2?", args);
  return views.diagonal(tensorAt(A, "A", "diagonal"), offset, dim1, dim2);
}

/**
 * Whether the right side of a system is vectors: as PyTorch, where its shape is that of the matrices without the last
 * axis.
 */
const vectors = (A: Tensor, B: Tensor): boolean =>
  B.ndim === 1 || (B.ndim === A.ndim - 1 && B.shape.every((n, i) => n === A.shape[i]));

export interface SolveOptions {
  left?: boolean;
}
export interface SolveExOptions extends SolveOptions {
  check_errors?: boolean;
}

const SYSTEM = "A B * left? check_errors?";

/** Systems given from the left, their right sides as matrices, and how a solution comes to be what was asked for. */
function system(op: string, args: readonly unknown[]): [Tensor, Tensor, (x: Tensor) => Tensor] {
  const [a, b, left] = taken(`${op} ${SYSTEM}`, args),
    A = tensorAt(a, "A", op),
    B = tensorAt(b, "B", op);
  if (A.ndim < 2) throw new OpError(`${op}: linalg.${op}: The input tensor A must have at least 2 dimensions.`);
  if (vectors(A, B)) {
    if (left === false)
      throw new OpError(
        `${op}: linalg.${op}: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.${op} is equivalent to B / A.squeeze(-1)`,
      );
    return [A, views.unsqueeze(B, -1), (x) => views.squeeze(x, -1)];
  }
  return left === false
    ? [views.matrixTranspose(A), views.matrixTranspose(B), (x) => views.matrixTranspose(x)]
    : [A, B, (x) => x];
}

/**
 * The matrices, or vectors, `X` with `A @ X == B`; without `left` those with `X @ A == B`.  Leading axes broadcast.
 *
 * @param A float tensor [*, n, n]
 * @param B float tensor [*, n, k], or vectors [*, n]
 * @param left false: `X @ A == B`; true unless given
 *
 * @example
 * torch.linalg.solve(torch.tensor([[2, 0], [0, 4]]), torch.tensor([2, 2]))  // [1, 0.5]
 */
export function solve(A: Tensor, B: Tensor, options?: SolveOptions): Tensor;
export function solve(...args: unknown[]): Tensor {
  const [A, B, made] = system("solve", args);
  return made(call(linalg_solveOp, A, B));
}

/**
 * The same, and for each matrix 0, or 1 if there is no solution.
 *
 * @param A float tensor [*, n, n]
 * @param B float tensor [*, n, k], or vectors [*, n]
 * @param check_errors whether a matrix without an inverse is an error; false unless given
 * @param left false: `X @ A == B`; true unless given
 *
 * @example
 * const { result, info } = torch.linalg.solve_ex(torch.tensor([[2, 0], [0, 4]]), torch.tensor([2, 2]));
 * [result, info]  // [[1, 0.5], 0]
 */
export function solve_ex(A: Tensor, B: Tensor, options?: SolveExOptions): Results & { result: Tensor; info: Tensor };
export function solve_ex(...args: unknown[]): Results & { result: Tensor; info: Tensor } {
  const [A, B, made] = system("solve_ex", args),
    check_errors = taken(`solve_ex ${SYSTEM}`, args)[3] ?? false;
  const [result, info] = run(solve_exOp, [A, B, { check_errors }]) as unknown as [Tensor, Tensor];
  return new Results(["result", "info"], [made(result), info], "linalg_solve_ex") as Results & {
    result: Tensor;
    info: Tensor;
  };
}

/**
 * The inverse of a tensor seen as the matrix of its first `ind` axes by the others.
 *
 * @param A float tensor; the product of its first `ind` sizes is that of the others
 * @param ind how many axes stand for the rows
 *
 * @example
 * torch.linalg.tensorinv(torch.eye(4).mul(2).reshape([2, 2, 4])).shape  // [4, 2, 2]
 */
export function tensorinv(A: Tensor, ind?: number | { ind?: number }): Tensor;
export function tensorinv(...args: unknown[]): Tensor {
  const [a, ind] = taken("tensorinv A ind?", args),
    x = tensorAt(a, "A", "tensorinv"),
    split = integer(ind ?? 2, "tensorinv", "ind");
  if (!(split > 0)) throw new OpError(`tensorinv: Expected a strictly positive integer for 'ind', but got ${split}`);
  const first = x.shape.slice(0, split),
    rest = x.shape.slice(split),
    rows = numelOf(first),
    columns = numelOf(rest);
  if (rows !== columns) {
    throw new OpError(
      `tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ${columns} != ${rows}`,
    );
  }
  return views.reshape(call(invOp, views.reshape(x, [rows, columns])), [...rest, ...first]);
}

/**
 * `X` with `tensordot(A, X, X.ndim) == B`; `dims` are moved to the end of `A` first.
 *
 * @param A float tensor of shape [*B's shape, *X's shape], as large before as after
 * @param B float tensor
 * @param dims axes of `A` that are moved to its end first
 *
 * @example
 * torch.linalg.tensorsolve(torch.eye(4).mul(2).reshape([2, 2, 2, 2]), torch.tensor([[2, 4], [6, 8]]))  // [[1, 2], [3, 4]]
 */
export function tensorsolve(
  A: Tensor,
  B: Tensor,
  dims?: readonly number[] | null | { dims?: readonly number[] | null },
): Tensor;
export function tensorsolve(...args: unknown[]): Tensor {
  const [a, b, dims] = taken("tensorsolve A B dims?", args),
    right = tensorAt(b, "B", "tensorsolve");
  let x = tensorAt(a, "A", "tensorsolve");
  if (dims !== undefined && dims !== null) {
    const moved = axesOf(integers([dims], "tensorsolve", "dims"), x.ndim, "tensorsolve");
    x = views.movedim(
      x,
      moved,
      moved.map((_, i) => x.ndim - moved.length + i),
    );
  }
  const shape = x.shape.slice(right.ndim),
    columns = numelOf(shape),
    rows = numelOf(x.shape.slice(0, right.ndim));
  if (rows !== columns) {
    throw new OpError(
      `tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got ${columns} != ${rows}`,
    );
  }
  return views.reshape(call(linalg_solveOp, views.reshape(x, [rows, columns]), views.reshape(right, [-1, 1])), shape);
}

export interface LstsqOptions {
  rcond?: number | null;
  driver?: "gels" | "gelsy" | "gelsd" | "gelss" | null;
}
export interface LeastSquares {
  solution: Tensor;
  residuals: Tensor;
  rank: Tensor;
  singular_values: Tensor;
}

const EPSILON: Readonly<Record<string, number>> = { float64: 2 ** -52, float16: 2 ** -10 };

/**
 * The shortest `X` for which `A @ X - B` is shortest.  As in PyTorch, residuals come where there are more rows than
 * columns and not from driver `gelsy`, the rank not from `gels`, singular values from `gelsd` and `gelss`; what does
 * not come is empty.
 *
 * @param A float tensor [*, m, n]
 * @param B float tensor [*, m, k]
 * @param rcond singular values below it, as shares of the largest, count as 0
 * @param driver PyTorch's name of a method; it decides which results come
 *
 * @example
 * const A = torch.tensor([[1, 0], [1, 1], [1, 2]]), heights = torch.tensor([[1], [3], [5]]);
 * torch.linalg.lstsq(A, heights).solution  // [[1], [2]]
 */
export function lstsq(
  A: Tensor,
  B: Tensor,
  rcond?: number | null | LstsqOptions,
  options?: LstsqOptions,
): Results & LeastSquares;
export function lstsq(...args: unknown[]): Results & LeastSquares {
  const [a, b, rcond, driver] = taken("lstsq A B rcond? driver?", args);
  const x = tensorAt(a, "A", "lstsq"),
    given = tensorAt(b, "B", "lstsq"),
    way = (driver ?? "gelsy") as string;
  if (x.ndim < 2) throw new OpError("lstsq: torch.linalg.lstsq: input must have at least 2 dimensions.");
  if (given.ndim < 1) throw new OpError("lstsq: torch.linalg.lstsq: other must have at least 1 dimension.");
  if (!["gels", "gelsy", "gelsd", "gelss"].includes(way))
    throw new OpError("lstsq: torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  const [rows, columns] = x.shape.slice(-2) as [number, number];
  const single = vectors(x, given),
    right = single ? views.unsqueeze(given, -1) : given;
  if (right.shape[right.ndim - 2] !== rows)
    throw new OpError(`lstsq: torch.linalg.lstsq: input.size(-2) should match other.size(${single ? -1 : -2})`);
  const part = (rcond ?? (EPSILON[x.dtype] ?? 2 ** -23) * Math.max(rows, columns)) as number;
  const solution = matmul(call(pinvOp, x, { rtol: way === "gels" ? 0 : part }), right) as Tensor;
  // What does not come is nothing of the input: it belongs to the same graph.
  const none = (): Tensor => abs(views.narrow(views.reshape(x, [-1]), 0, 0, 0)) as Tensor;
  const residuals =
    rows > columns && way !== "gelsy"
      ? (sum(square(abs(sub(matmul(x, solution) as Tensor, right) as Tensor) as Tensor) as Tensor, -2) as Tensor)
      : none();
  const rank =
    way === "gels" ? empty([0], { dtype: "int64", device: x.device }) : call(matrix_rankOp, x.detach(), { rtol: part });
  const values = way === "gelsd" || way === "gelss" ? call(svdvalsOp, x.detach()) : none().detach();
  const out = [single ? views.squeeze(solution, -1) : solution, residuals, rank, values];
  return new Results(["solution", "residuals", "rank", "singular_values"], out, "linalg_lstsq") as Results &
    LeastSquares;
}
