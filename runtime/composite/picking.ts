// Picking and writing elements of a tensor seen as one row, and along an axis with broadcasting.

import { run } from "../dispatch/call.js";
import * as copying from "../tensor/copy.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { axisOf, broadcastShapes, numelOf, showShape } from "../base/shape.js";
import { signature } from "../tensor/signature.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  add,
  cumsum,
  floor_divide,
  gather,
  index_add,
  index_copy,
  index_select,
  lt,
  mul,
  remainder,
  sum,
  where,
} from "../../names/torch.js";
import { masked_sourceOp } from "../../ops/masked.js";
import * as views from "../views/views.js";

const TAKE = /* @__PURE__ */ signature<[Tensor, Tensor]>("take input:tensor index:tensor");
const PUT = /* @__PURE__ */ signature<[Tensor, Tensor, Tensor, boolean?]>(
  "put input:tensor index:tensor source:tensor accumulate:bool?",
);
const TAKE_ALONG_DIM = /* @__PURE__ */ signature<[Tensor, Tensor, number?]>(
  "take_along_dim input:tensor indices:tensor dim:int?",
);
const MASKED_SCATTER = /* @__PURE__ */ signature<[Tensor, Tensor, Tensor]>(
  "masked_scatter input:tensor mask:tensor source:tensor",
);
const UNRAVEL = /* @__PURE__ */ signature<[Tensor, number[]]>("unravel_index indices:tensor shape:ints");

/** Indices into n elements, those that count from the end made positive. */
function counted(index: Tensor, n: number, op: string): Tensor {
  if (index.dtype !== "int64" && index.dtype !== "int32")
    throw new TypeMismatchError(`${op}: Expected a long tensor for index, but got ${index.dtype}`);
  const flat = views.reshape(index, [-1]);
  return add(flat, mul(copying.cast(lt(flat, 0) as Tensor, "int32", "int"), n)) as Tensor;
}

/**
 * The elements of `input`, seen as one row, at these places; the result has the shape of `index`.
 *
 * @param input tensor of any shape
 * @param index whole numbers of any shape, counted through all elements; negative ones from the end
 *
 * @example
 * torch.take(torch.tensor([[1, 2], [3, 4]]), torch.LongTensor([0, 3, -2]))  // [1, 4, 3]
 */
export function take(input: Tensor, index: Tensor): Tensor;
export function take(...args: unknown[]): Tensor {
  const [input, index] = TAKE(args);
  const n = input.numel();
  if (n === 0 && index.numel() > 0) throw new OpError("take: take(): tried to take from an empty tensor");
  const row = index_select(views.reshape(input, [-1]), 0, counted(index, n, "take")) as Tensor;
  return views.owned(views.reshape(row, index.shape));
}

/**
 * A copy of `input` with the elements of `source` at these places of it seen as one row, or with them added there.
 *
 * @param input tensor of any shape
 * @param index whole numbers of any shape, counted through all elements; negative ones from the end
 * @param source tensor of the same type, with as many elements as `index`
 * @param accumulate whether to add; else the last at a place stays. False unless given
 *
 * @example
 * torch.put(torch.zeros([2, 2]), torch.LongTensor([0, 3]), torch.tensor([5, 7]))  // [[5, 0], [0, 7]]
 * torch.put(torch.ones([3]), torch.LongTensor([0, 0]), torch.tensor([5, 7]), true)  // [13, 1, 1]
 */
export function put(
  input: Tensor,
  index: Tensor,
  source: Tensor,
  accumulate?: boolean | { accumulate?: boolean },
): Tensor;
export function put(...args: unknown[]): Tensor {
  const [input, index, source, adds = false] = PUT(args);
  if (source.dtype !== input.dtype)
    throw new TypeMismatchError(
      `put: put_(): self and source expected to have the same dtype, but got self.dtype = ${input.dtype} and source.dtype = ${source.dtype}`,
    );
  if (index.numel() !== source.numel()) {
    throw new OpError(
      `put: put_(): Expected source and index to have the same number of elements, but got source.numel() = ${source.numel()}, index.numel() = ${index.numel()}`,
    );
  }
  if (index.numel() === 0) return (source.requires_grad ? add(input, sum(source)) : input.clone()) as Tensor;
  const flat = views.reshape(input, [-1]),
    places = counted(index, input.numel(), "put"),
    values = views.reshape(source, [-1]);
  const out = (adds ? index_add(flat, 0, places, values) : index_copy(flat, 0, places, values)) as Tensor;
  return views.owned(views.reshape(out, input.shape));
}

/**
 * Picks elements along `dim`, position by position; apart from `dim` the shapes broadcast.  Without `dim` both are seen
 * as rows.
 *
 * @param input tensor of any shape
 * @param indices whole numbers, of as many axes
 * @param dim the axis along which they count
 *
 * @example
 * const x = torch.tensor([[3, 1, 2], [6, 5, 4]]);
 * torch.take_along_dim(x, torch.argsort(x, 1), 1)  // [[1, 2, 3], [4, 5, 6]]
 */
export function take_along_dim(input: Tensor, indices: Tensor, dim?: number | null | { dim?: number }): Tensor;
export function take_along_dim(...args: unknown[]): Tensor {
  const [input, indices, along] = TAKE_ALONG_DIM(args);
  if (along === undefined)
    return gather(views.reshape(input, [-1]), 0, counted(indices, input.numel(), "take_along_dim")) as Tensor;
  if (input.ndim !== indices.ndim) {
    throw new OpError(
      `take_along_dim: torch.take_along_dim(): input and indices should have the same number of dimensions, but got ${input.ndim} dimensions for input, ` +
        `and ${indices.ndim} dimensions for indices`,
    );
  }
  const axis = axisOf(along, input.ndim, "take_along_dim"),
    alone = (x: Tensor) => x.shape.map((n, i) => (i === axis ? 1 : n));
  const shape = broadcastShapes(alone(input), alone(indices));
  if (!shape)
    throw new OpError(
      `take_along_dim: the shapes ${showShape(input.shape)} and ${showShape(indices.shape)} do not broadcast apart from dimension ${axis}`,
    );
  const wide = (x: Tensor) =>
    views.expand(
      x,
      shape.map((n, i) => (i === axis ? x.shape[i]! : n)),
    );
  const places = views.reshape(counted(indices, input.shape[axis] ?? 1, "take_along_dim"), indices.shape);
  return gather(input.ndim ? wide(input) : input, axis, indices.ndim ? wide(places) : places) as Tensor;
}

/**
 * `input` with the elements of `source`, one after the other, where `mask` holds.
 *
 * @param input tensor of any shape
 * @param mask tensor of truth values, of a shape that broadcasts with it
 * @param source tensor of the same type, with at least as many elements as the mask lets through
 *
 * @example
 * torch.masked_scatter(torch.zeros([4]), torch.tensor([true, false, true, true]), torch.tensor([1, 2, 3]))  // [1, 0, 2, 3]
 */
export function masked_scatter(input: Tensor, mask: Tensor, source: Tensor): Tensor;
export function masked_scatter(...args: unknown[]): Tensor {
  const [input, mask, source] = MASKED_SCATTER(args);
  if (mask.dtype !== "bool")
    throw new TypeMismatchError(
      `masked_scatter: masked_scatter_ only supports boolean masks, but got mask with dtype ${mask.dtype}`,
    );
  if (source.dtype !== input.dtype)
    throw new TypeMismatchError(
      `masked_scatter: expected self and source to have same dtypes but got ${input.dtype} and ${source.dtype}`,
    );
  const shape = broadcastShapes(input.shape, mask.shape);
  if (!shape)
    throw new OpError(
      `masked_scatter: the shapes ${showShape(input.shape)} and ${showShape(mask.shape)} do not broadcast`,
    );
  const x = views.expand(input, shape),
    holds = views.expand(mask, shape);
  if (numelOf(shape) === 0) return x.clone();
  const rank = cumsum(copying.cast(views.reshape(holds, [-1]), "int32", "int"), 0);
  return where(
    holds,
    views.reshape(run(masked_sourceOp, [rank, views.reshape(source, [-1])]) as Tensor, shape),
    x,
  ) as Tensor;
}

/**
 * The coordinates, one tensor for each axis, of places counted in a tensor of this shape.
 *
 * @param indices whole numbers of any shape
 * @param shape the sizes of that tensor
 *
 * @example
 * torch.unravel_index(torch.LongTensor([0, 5]), [2, 3])  // [[0, 1], [0, 2]]
 */
export function unravel_index(indices: Tensor, shape: number | readonly number[]): Tensor[];
export function unravel_index(...args: unknown[]): Tensor[] {
  const [given, sizes] = UNRAVEL(args);
  if (given.is_floating_point() || given.dtype === "bool") {
    throw new TypeMismatchError(`unravel_index: expected 'indices' to be an integer tensor, but got ${given.dtype}`);
  }
  const indices = copying.cast(given, "int64", "unravel_index");
  if (sizes.some((n) => n < 0))
    throw new OpError(`unravel_index: 'shape' cannot have negative values, but got ${showShape(sizes)}`);
  const out: Tensor[] = [];
  let inner = 1;
  for (const n of [...sizes].reverse()) {
    // Beyond 32 bits there is nothing to count.
    const here =
      inner === 1
        ? indices
        : inner > 2 ** 31 - 1
          ? (mul(indices, 0) as Tensor)
          : (floor_divide(indices, inner) as Tensor);
    out.unshift((n > 2 ** 31 - 1 ? here : remainder(here, n)) as Tensor);
    inner *= n;
  }
  return out;
}
