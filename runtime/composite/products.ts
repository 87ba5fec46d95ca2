// Products over several axes at once, and of what broadcasts first: tensordot, kron, cross.

import { run } from "../dispatch/call.js";
import { OpError, describe } from "../base/errors.js";
import { integer } from "../base/argument-kinds.js";
import { axesOf, axisOf, broadcastShapes, checkShape, integers, numelOf, showShape } from "../base/shape.js";
import { signature } from "../tensor/signature.js";
import type { Tensor } from "../tensor/tensor.js";
import { crossOp } from "../../ops/linalg.js";
import { dot, matmul, mul, sum } from "../../names/torch.js";
import * as views from "../views/views.js";

type Axes = number | readonly number[];

const TENSORDOT = /* @__PURE__ */ signature<[Tensor, Tensor, unknown?]>("tensordot a:tensor b:tensor dims:any?");
const KRON = /* @__PURE__ */ signature<[Tensor, Tensor]>("kron input:tensor other:tensor");
const CROSS = /* @__PURE__ */ signature<[Tensor, Tensor, number?]>("cross input:tensor other:tensor dim:int?");

/**
 * Sums of products over axes of `a` paired with axes of `b`: the last and first `dims`, or those of two lists.
 *
 * @param a tensor of any shape
 * @param b tensor whose paired axes are as long
 * @param dims how many axes, or a list of those of `a` and one of those of `b`; 2 unless given
 *
 * @example
 * torch.tensordot(torch.tensor([[1, 2], [3, 4]]), torch.tensor([10, 1]), 1)  // [12, 34]
 * torch.tensordot(torch.ones([2, 3, 4]), torch.ones([3, 4, 5]), [[1, 2], [0, 1]]).shape  // [2, 5]
 */
export function tensordot(
  a: Tensor,
  b: Tensor,
  dims?: number | readonly [Axes, Axes] | { dims?: number | readonly [Axes, Axes] },
): Tensor;
export function tensordot(...args: unknown[]): Tensor {
  const [a, b, dims = 2] = TENSORDOT(args);
  if (Array.isArray(dims) && dims.length !== 2)
    throw new OpError(`tensordot: argument 'dims' must be a whole number or two lists of axes, got ${describe(dims)}`);
  const pairs = Array.isArray(dims) ? (dims as unknown as readonly [Axes, Axes]) : integer(dims, "tensordot", "dims");
  if (typeof pairs === "number" && !(pairs >= 0))
    throw new OpError(`tensordot: tensordot expects dims >= 0, but got dims=${pairs}`);
  if (typeof pairs === "number" && pairs > Math.min(a.ndim, b.ndim)) {
    throw new OpError(
      `tensordot: tensordot expects dims <= ndim of both tensors, but got dims=${pairs} for shapes ${showShape(a.shape)} and ${showShape(b.shape)}`,
    );
  }
  const [mine, theirs] =
    typeof pairs === "number"
      ? [Array.from({ length: pairs }, (_, i) => a.ndim - pairs + i), Array.from({ length: pairs }, (_, i) => i)]
      : [
          axesOf(integers([pairs[0]], "tensordot", "dims"), a.ndim, "tensordot"),
          axesOf(integers([pairs[1]], "tensordot", "dims"), b.ndim, "tensordot"),
        ];
  if (mine.length !== theirs.length)
    throw new OpError(
      `tensordot: both dimension lists should have same length, but got ${mine.length} and ${theirs.length}`,
    );
  let left = a,
    right = b;
  mine.forEach((d, i) => {
    const e = theirs[i]!,
      m = a.shape[d]!,
      n = b.shape[e]!;
    if (m === n) return;
    // As PyTorch: an axis of length 1 meets any other, whose elements are then added up.
    if (m === 1) right = sum(right, e, true) as Tensor;
    else if (n === 1) left = sum(left, d, true) as Tensor;
    else
      throw new OpError(
        `tensordot: contracted dimensions need to match, but first has size ${m} in dim ${d} and second has size ${n} in dim ${e}`,
      );
  });
  const rest = (x: Tensor, used: readonly number[]) => x.shape.map((_, i) => i).filter((i) => !used.includes(i));
  const rows = rest(left, mine),
    columns = rest(right, theirs),
    inner = numelOf(mine.map((d) => left.shape[d]!));
  const shape = [...rows.map((d) => left.shape[d]!), ...columns.map((d) => right.shape[d]!)];
  const l = views.reshape(views.permute(left, [...rows, ...mine]), [numelOf(rows.map((d) => left.shape[d]!)), inner]);
  const r = views.reshape(views.permute(right, [...theirs, ...columns]), [
    inner,
    numelOf(columns.map((d) => right.shape[d]!)),
  ]);
  // all of both: the product of two vectors, which autocast leaves alone
  if (shape.length === 0) return dot(views.reshape(l, [inner]), views.reshape(r, [inner])) as Tensor;
  return views.reshape(matmul(l, r) as Tensor, shape);
}

/**
 * Every element of `input` times all of `other`: the Kronecker product; the shorter shape counts as beginning with
 * ones.
 *
 * @param input tensor of any shape
 * @param other tensor of any shape; sizes of the result are products of theirs
 *
 * @example
 * torch.kron(torch.tensor([[1, 2]]), torch.tensor([[1, 0], [0, 1]]))  // [[1, 0, 2, 0], [0, 1, 0, 2]]
 */
export function kron(input: Tensor, other: Tensor): Tensor;
export function kron(...args: unknown[]): Tensor {
  const [input, other] = KRON(args);
  const rank = Math.max(input.ndim, other.ndim);
  const padded = (x: Tensor) => [...new Array<number>(rank - x.ndim).fill(1), ...x.shape];
  const a = padded(input),
    b = padded(other),
    shape = a.map((n, i) => n * b[i]!);
  checkShape(shape, "kron");
  const product = mul(
    views.reshape(
      input,
      a.flatMap((n) => [n, 1]),
    ),
    views.reshape(
      other,
      b.flatMap((n) => [1, n]),
    ),
  ) as Tensor;
  return views.owned(views.reshape(product, shape));
}

/**
 * The vector product along an axis of length 3; the other axes broadcast.
 *
 * @param input tensor with an axis of length 3
 * @param other tensor of a shape that broadcasts with it
 * @param dim the axis of length 3; the last unless given
 *
 * @example
 * torch.linalg.cross(torch.tensor([[1, 0, 0], [0, 1, 0]]), torch.tensor([[0, 0, 1]]))  // [[0, -1, 0], [1, 0, 0]]
 */
export function cross(input: Tensor, other: Tensor, dim?: number | { dim?: number }): Tensor;
export function cross(...args: unknown[]): Tensor {
  const [a, b, along = -1] = CROSS(args);
  if (a.ndim !== b.ndim)
    throw new OpError(
      `cross: linalg.cross: inputs must have the same number of dimensions, but got ${a.ndim} and ${b.ndim}`,
    );
  const axis = axisOf(along, a.ndim, "cross");
  if (a.shape[axis] !== 3 || b.shape[axis] !== 3) {
    throw new OpError(
      `cross: linalg.cross: inputs dimension ${along} must have length 3. Got ${a.shape[axis] ?? 1} and ${b.shape[axis] ?? 1}`,
    );
  }
  const shape = broadcastShapes(a.shape, b.shape);
  if (!shape) throw new OpError(`cross: the shapes ${showShape(a.shape)} and ${showShape(b.shape)} do not broadcast`);
  return run(crossOp, [views.expand(a, shape), views.expand(b, shape), axis]) as Tensor;
}

/**
 * The same along the first axis of length 3, unless `dim` says another.
 *
 * @param input tensor with an axis of length 3
 * @param other tensor of a shape that broadcasts with it
 * @param dim the axis of length 3; the first one unless given
 *
 * @example
 * torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))  // [0, 0, 1]
 */
export function cross_of_first(input: Tensor, other: Tensor, dim?: number | null | { dim?: number | null }): Tensor;
export function cross_of_first(...args: unknown[]): Tensor {
  const [x, y, dim] = CROSS(args);
  if (dim !== undefined) return cross(x, y, dim);
  const shape = broadcastShapes(x.shape, y.shape),
    axis = shape ? shape.indexOf(3) : 0;
  if (axis < 0) throw new OpError("cross: no dimension of size 3 in input");
  return cross(x, y, axis);
}
