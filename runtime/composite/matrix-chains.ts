// Products of many matrices: powers, and chains in the cheapest order.

import { refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { run } from "../dispatch/call.js";
import { check, tensorsOf } from "../tensor/tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import { showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import { eye } from "../creation/create.js";
import { invOp } from "../../ops/solve.js";
import { matmul } from "../../names/torch.js";
import { copy_ } from "../views/transfer.js";
import * as views from "../views/views.js";

/**
 * Square matrices multiplied by themselves `n` times; of negative `n`, their inverses.
 *
 * @param A float tensor [*, n, n]
 * @param n a whole number; 0 gives the identity
 *
 * @example
 * torch.linalg.matrix_power(torch.tensor([[1, 1], [1, 0]]), 10)  // [[89, 55], [55, 34]]
 * torch.linalg.matrix_power(torch.tensor([[2, 0], [0, 4]]), -1)  // [[0.5, 0], [0, 0.25]]
 */
export function matrix_power(A: Tensor, n: number | { n: number }): Tensor;
export function matrix_power(...args: unknown[]): Tensor {
  const [A, n] = taken("matrix_power A n", args);
  check(A, "matrix_power", "A");
  if (!Number.isInteger(n)) refuse("matrix_power", "n", "a whole number", n);
  if (A.ndim < 2)
    throw new OpError("matrix_power: linalg.matrix_power: The input tensor A must have at least 2 dimensions.");
  const [rows, columns] = A.shape.slice(-2);
  if (rows !== columns)
    throw new OpError(
      `matrix_power: linalg.matrix_power: A must be batches of square matrices, but they are ${rows} by ${columns} matrices`,
    );
  if (n === 0) return copy_(A.clone(), eye(rows!, { dtype: A.dtype, device: A.device }));
  let square = (n as number) < 0 ? (run(invOp, [A]) as Tensor) : A,
    out: Tensor | null = null;
  for (let rest = Math.abs(n as number); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) out = out === null ? square : (matmul(out, square) as Tensor);
    if (rest > 1) square = matmul(square, square) as Tensor;
  }
  return out === A ? A.clone() : out!;
}

/**
 * The product of two or more matrices, in the order that takes the fewest multiplications; the first and the last may
 * be vectors.
 *
 * @param tensors two or more matrices whose sizes fit
 *
 * @example
 * torch.linalg.multi_dot([torch.tensor([1, 2]), torch.tensor([[1, 0], [0, 3]]), torch.tensor([1, 1])])  // 7
 */
export function multi_dot(tensors: readonly Tensor[] | { tensors: readonly Tensor[] }): Tensor;
export function multi_dot(...args: unknown[]): Tensor {
  const [list] = taken("multi_dot tensors", args),
    all = tensorsOf(list, "multi_dot");
  const count = all.length;
  if (count < 2) throw new OpError(`multi_dot: multi_dot(): expected at least 2 tensors but got ${count}`);
  all.forEach((x, i) => {
    const end = i === 0 ? "first" : i === count - 1 ? "last" : "";
    if (end && x.ndim !== 1 && x.ndim !== 2)
      throw new OpError(`multi_dot: multi_dot(): the ${end} tensor must be 1D or 2D but got ${x.ndim}D`);
    if (!end && x.ndim !== 2) throw new OpError(`multi_dot: multi_dot(): tensor ${i} must be 2D but got ${x.ndim}D`);
    if (x.dtype !== all[0]!.dtype) {
      throw new OpError(
        `multi_dot: multi_dot(): all tensors must have be the same dtype but tensor 0 is ${all[0]!.dtype} and tensor ${i} ${x.dtype}`,
      );
    }
  });
  const first = all[0]!,
    last = all[count - 1]!;
  const chain = all.map((x, i) => (x.ndim === 1 ? views.unsqueeze(x, i === 0 ? 0 : -1) : x));
  for (let i = 1; i < count; i++) {
    if (chain[i - 1]!.shape[1] !== chain[i]!.shape[0]) {
      throw new OpError(
        `multi_dot: multi_dot(): tensors ${i - 1} and ${i} with shapes ${showShape(all[i - 1]!.shape)} and ${showShape(all[i]!.shape)} cannot be multiplied`,
      );
    }
  }
  const sizes = [chain[0]!.shape[0]!, ...chain.map((x) => x.shape[1]!)],
    splits = cheapest(sizes);
  const product = (from: number, to: number): Tensor => {
    if (from === to) return chain[from]!;
    const split = splits[from]![to]!;
    return matmul(product(from, split), product(split + 1, to)) as Tensor;
  };
  return views.reshape(product(0, count - 1), [
    ...(first.ndim === 1 ? [] : [first.shape[0]!]),
    ...(last.ndim === 1 ? [] : [last.shape[1]!]),
  ]);
}

/**
 * Where the product of matrices `from` to `to`, `sizes[i]` by `sizes[i + 1]`, is best split, for every `from` and `to`.
 */
function cheapest(sizes: readonly number[]): number[][] {
  const n = sizes.length - 1,
    cost = Array.from({ length: n }, () => new Array<number>(n).fill(0)),
    splits = cost.map((row) => [...row]);
  for (let length = 1; length < n; length++) {
    for (let from = 0; from + length < n; from++) {
      const to = from + length;
      cost[from]![to] = Infinity;
      for (let split = from; split < to; split++) {
        const here = cost[from]![split]! + cost[split + 1]![to]! + sizes[from]! * sizes[split + 1]! * sizes[to + 1]!;
        if (here < cost[from]![to]!) [cost[from]![to], splits[from]![to]] = [here, split];
      }
    }
  }
  return splits;
}
