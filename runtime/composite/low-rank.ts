// Singular values of large matrices that have few: the matrix is looked at through random directions, sharpened by
// products with it (Halko, Martinsson and Tropp 2011, algorithm 4.4).

import * as linalg from "../../names/linalg.js";
import { matmul, mean, sub } from "../../names/torch.js";
import { count, flag } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { randn } from "../creation/random-tensors.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { matrixTranspose as turned } from "../views/views.js";

const times = (a: Tensor, b: Tensor): Tensor => matmul(a, b) as Tensor;
const basis = (x: Tensor): Tensor => (linalg.qr(x) as unknown as { Q: Tensor }).Q;

/** Columns that nearly span those of `A`. */
function range(A: Tensor, q: number, niter: number): Tensor {
  let found = basis(times(A, randn([A.shape[A.ndim - 1]!, q], { dtype: A.dtype, device: A.storage.device })));
  for (let i = 0; i < niter; i++) found = basis(times(A, basis(times(turned(A), found))));
  return found;
}

function factors(A: Tensor, q: number, niter: number, M: Tensor | null): [U: Tensor, S: Tensor, V: Tensor] {
  const [rows, columns] = A.shape.slice(-2) as [number, number],
    x = M ? (sub(A, M) as Tensor) : A,
    wide = rows < columns,
    tall = wide ? turned(x) : x,
    Q = range(tall, q, niter);
  const [U, S, Vh] = linalg.svd(times(turned(Q), tall), { full_matrices: false }) as unknown as Tensor[],
    left = times(Q, U!),
    right = turned(Vh!);
  return wide ? [right, S!, left] : [left, S!, right];
}

function checked(op: string, A: unknown, q: unknown, niter: unknown): [A: Tensor, q: number, niter: number] {
  check(A, op, "A");
  if (A.ndim < 2) throw new OpError(`${op}: expected a matrix or a batch of them, got ${A.ndim}D`);
  const least = Math.min(...A.shape.slice(-2)),
    n = count(q ?? Math.min(6, least), op, "q");
  if (n > least)
    throw new OpError(`${op}: q(=${n}) must be non-negative integer and not greater than min(m, n)=${least}`);
  return [A, n, count(niter ?? 2, op, "niter")];
}

type Rest = { q?: number | null; niter?: number };
/**
 * The `q` largest singular values of `A`, or of `A - M`, and their vectors: nearly, by random directions.
 *
 * @param A float tensor [*, m, n]
 * @param q how many singular values to look for; 6, or fewer where the matrix is smaller, unless given
 * @param niter how many times the directions are improved
 * @param M tensor that broadcasts with `A`, which is taken off first
 *
 * @example
 * torch.manual_seed(0);
 * const [U, S, V] = torch.svd_lowrank(torch.tensor([[3, 0, 0], [0, 2, 0], [0, 0, 0]]), 2);
 * S  // [3, 2]
 */
export function svd_lowrank(
  A: Tensor,
  q?: number | (Rest & { M?: Tensor | null }),
  niter?: number,
  M?: Tensor | null,
): [U: Tensor, S: Tensor, V: Tensor] {
  const [given, rank, times = 2, mean = null] = taken("svd_lowrank A q? niter? M?", arguments);
  if (mean) check(mean, "svd_lowrank", "M");
  const [x, n, steps] = checked("svd_lowrank", given, rank, times);
  return factors(x, n, steps, mean);
}

/**
 * The main directions of rows, which are centred unless told otherwise, and how far they spread along them.
 *
 * @param A float tensor [*, samples, features]
 * @param q how many directions to look for; 6, or fewer where the matrix is smaller, unless given
 * @param center whether the mean of the rows is taken off first
 * @param niter how many times the directions are improved
 *
 * @example
 * torch.manual_seed(0);
 * const [, spread, directions] = torch.pca_lowrank(torch.tensor([[-2, 0], [2, 0], [0, 1], [0, -1]]), 2);
 * [spread, directions.abs().round()]  // [[2.82843, 1.41421], [[1, 0], [0, 1]]]
 */
export function pca_lowrank(
  A: Tensor,
  q?: number | null | (Rest & { center?: boolean }),
  center?: boolean,
  niter?: number,
): [U: Tensor, S: Tensor, V: Tensor] {
  const [given, rank, centred = true, times = 2] = taken("pca_lowrank A q? center? niter?", arguments),
    [x, n, steps] = checked("pca_lowrank", given, rank, times);
  const by = flag(centred, "pca_lowrank", "center") ? (mean(x, -2, { keepdim: true }) as Tensor) : null;
  return factors(x, n, steps, by);
}
