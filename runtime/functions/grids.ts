// What several tensors make together: grids, products and choices of their elements, one shape for all, blocks.

import { emptyOn } from "../tensor/allocate.js";
import { tensor, zeros } from "../creation/create.js";
import { OpError, describe } from "../base/errors.js";
import { isOptions, taken } from "../base/named-arguments.js";
import * as kernels from "../views/needed-ops.js";
import { flag, integer } from "../base/argument-kinds.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { MAX_NUMEL, checkShape, integers, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import { type Tensors, checkList, commonType, joined, raised_2d, stacked } from "./join.js";

/**
 * Coordinate grids: each tensor (0 or 1 axes) along its own axis.
 *
 * @param tensors tensors [N], one by one or as a list: the coordinates along each axis
 * @example
 * const [y, x] = torch.meshgrid([torch.tensor([1, 2]), torch.tensor([3, 4, 5])]);
 * x  // [[3, 4, 5], [3, 4, 5]]
 */
export function meshgrid(...args: (Tensor | Tensors | { indexing?: "ij" | "xy" })[]): Tensor[] {
  const last = args[args.length - 1];
  const options = isOptions(last) ? last : null;
  const tensors = (options ? args.slice(0, -1) : args).flat() as Tensor[],
    [indexing = "ij"] = taken("meshgrid * indexing?", options ? [options] : []);
  checkList(tensors, "meshgrid");
  if (indexing !== "ij" && indexing !== "xy")
    throw new OpError(
      `meshgrid: torch.meshgrid: indexing must be one of "xy" or "ij", but received: ${describe(indexing)}`,
    );
  for (const t of tensors) {
    if (t.ndim > 1)
      throw new OpError(
        `meshgrid: torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: a tensor of size ${showShape(t.shape)}`,
      );
    if (t.dtype !== tensors[0]!.dtype)
      throw new OpError("meshgrid: torch.meshgrid expects all tensors to have the same dtype");
  }
  const swap = indexing === "xy" && tensors.length > 1,
    list = swap ? [tensors[1]!, tensors[0]!, ...tensors.slice(2)] : tensors;
  const shape = list.map((t) => t.numel());
  checkShape(shape, "meshgrid");
  const grids = list.map((t, i) =>
    views.expand(
      views.reshape(
        t,
        shape.map((n, j) => (i === j ? n : 1)),
      ),
      shape,
    ),
  );
  if (!swap) return grids;
  return [grids[1]!, grids[0]!, ...grids.slice(2)];
}

/**
 * Broadcasts tensors to their common shape.
 *
 * @param tensors tensors whose shapes broadcast, one by one or as a list
 * @example
 * torch.broadcast_tensors(torch.tensor([1, 2]), torch.tensor([[3], [4]]))  // [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
 */
export function broadcast_tensors(...args: (Tensor | Tensors)[]): Tensor[] {
  const tensors = args.flat() as Tensor[];
  checkList(tensors, "broadcast_tensors");
  const rank = Math.max(...tensors.map((t) => t.ndim)),
    shape = new Array<number>(rank).fill(1);
  for (const t of tensors) {
    t.shape.forEach((n, i) => {
      const at = rank - t.ndim + i;
      if (n !== 1 && shape[at] !== 1 && shape[at] !== n) {
        throw new OpError(
          `broadcast_tensors: The size of tensor a (${shape[at]}) must match the size of tensor b (${n}) at non-singleton dimension ${at}`,
        );
      }
      if (n !== 1) shape[at] = n;
    });
  }
  return tensors.map((t) => views.expand(t, shape));
}

/**
 * The shape to which shapes broadcast.
 *
 * @example
 * torch.broadcast_shapes([3, 1], [2])  // [3, 2]
 */
export function broadcast_shapes(...shapes: (number | readonly number[])[]): number[] {
  const lists = shapes.map((s) => integers([s], "broadcast_shapes", "shapes")),
    rank = Math.max(0, ...lists.map((s) => s.length));
  const shape = new Array<number>(rank).fill(1);
  for (const list of lists) {
    list.forEach((n, i) => {
      const at = rank - list.length + i;
      if (n < 0) throw new OpError(`broadcast_shapes: Trying to create tensor with negative dimension (${n}): (${n})`);
      if (n !== 1 && shape[at] !== 1 && shape[at] !== n) {
        throw new OpError("broadcast_shapes: Shape mismatch: objects cannot be broadcast to a single shape");
      }
      if (n !== 1) shape[at] = n;
    });
  }
  return shape;
}

/**
 * Matrices (or vectors, or numbers) along the diagonal of one matrix, zeros elsewhere.
 *
 * @param tensors tensors with at most two axes, one by one or as a list
 * @example
 * torch.block_diag(torch.ones(2, 1), torch.tensor([[3, 4]]))  // [[1, 0, 0], [1, 0, 0], [0, 3, 4]]
 */
export function block_diag(...args: (Tensor | Tensors)[]): Tensor {
  const tensors = args.flat() as Tensor[];
  checkList(tensors, "block_diag");
  tensors.forEach((t, i) => {
    if (t.ndim > 2)
      throw new OpError(
        `block_diag: Input tensors must have 2 or fewer dimensions. Input ${i} has ${t.ndim} dimensions`,
      );
  });
  const blocks = tensors.map(raised_2d),
    columns = blocks.map((t) => t.shape[1]!),
    total = columns.reduce((a, b) => a + b, 0);
  const { device } = tensors[0]!,
    dtype = commonType(tensors);
  let before = 0;
  return joined(
    blocks.map((t, i) => {
      const rows = t.shape[0]!,
        empty = (n: number) => zeros([rows, n], { dtype, device }),
        after = total - before - columns[i]!;
      const row = joined([empty(before), t, empty(after)], 1, "block_diag");
      before += columns[i]!;
      return row;
    }),
    0,
    "block_diag",
  );
}

/**
 * All choices of one element of each vector, as rows, the last one changing fastest.
 *
 * @param tensors tensors [N], one by one or as a list
 * @example
 * torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))  // [[1, 3], [1, 4], [2, 3], [2, 4]]
 */
export function cartesian_prod(...args: (Tensor | Tensors)[]): Tensor {
  const tensors = args.flat() as Tensor[];
  checkList(tensors, "cartesian_prod");
  for (const t of tensors)
    if (t.ndim !== 1) throw new OpError(`cartesian_prod: Expect a 1D vector, but got shape ${showShape(t.shape)}`);
  if (tensors.length === 1) return tensors[0]!;
  const rows = tensors.reduce((product, t) => product * t.numel(), 1);
  checkShape([rows, tensors.length], "cartesian_prod");
  return stacked(
    meshgrid(...tensors).map((t) => views.reshape(t, [-1])),
    1,
    "cartesian_prod",
  );
}

interface Choice {
  r?: number;
  with_replacement?: boolean;
}
/**
 * All ways to choose `r` elements of a vector, as rows; with replacement each may be chosen again.
 *
 * @example
 * torch.combinations(torch.tensor([1, 2, 3]))  // [[1, 2], [1, 3], [2, 3]]
 * @example
 * torch.combinations(torch.tensor([1, 2]), { r: 2, with_replacement: true })  // [[1, 1], [1, 2], [2, 2]]
 */
export function combinations(
  input: Tensor,
  r?: number | Choice,
  with_replacement?: boolean | Omit<Choice, "r">,
): Tensor;
export function combinations(...args: unknown[]): Tensor {
  const [vector, chosen_at_once, repeated] = taken("combinations input r? with_replacement?", args),
    op = "combinations";
  const input = tensorOf(vector, op),
    r = integer(chosen_at_once ?? 2, op, "r"),
    again = flag(repeated ?? false, op, "with_replacement");
  if (input.ndim !== 1) throw new OpError(`combinations: Expect a 1D vector, but got shape ${showShape(input.shape)}`);
  if (!(r >= 0)) throw new OpError(`combinations: Expect a non-negative number, but got ${r}`);
  if (r === 0) return emptyOn(input.storage.device, [0], input.dtype, "combinations");
  const n = input.shape[0]!,
    rows: number[] = [];
  let ways = 1;
  for (let i = 0; i < r && ways <= MAX_NUMEL; i++) ways *= ((again ? n + r - 1 : n) - i) / (i + 1);
  checkShape([Math.max(Math.round(ways), 0), r], op);
  const choose = (from: number, chosen: readonly number[]): void => {
    if (chosen.length === r) {
      rows.push(...chosen);
      return;
    }
    for (let i = from; i < n; i++) choose(again ? i : i + 1, [...chosen, i]);
  };
  choose(0, []);
  const index = tensor(Int32Array.from(rows), { device: input.device });
  return views.reshape(kernels.index_select(input, 0, index), [rows.length / r, r]);
}
