// Tensors put together out of others: cat, stack and their kin, repeat and tile.  All are copies into views.

import { cast, copyInto } from "../tensor/copy.js";
import { emptyOn } from "../tensor/allocate.js";
import { metaOf } from "../dispatch/call.js";
import { result_type } from "../../host/dtypes.js";
import type { DType } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { taken } from "../base/named-arguments.js";
import { refuse } from "../base/argument-kinds.js";
import { JoinNode, attach, recording } from "../tape/node.js";
import { axisOf, checkShape, integers, sameShape, showShape } from "../base/shape.js";
import { signature } from "../tensor/signature.js";
import { tidy } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { sliceAxis } from "../views/views.js";
import type { DimOption } from "../views/splitting.js";
import * as views from "../views/views.js";

export type Tensors = readonly Tensor[];

export function checkList(tensors: Tensors, op: string): void {
  if (!Array.isArray(tensors)) refuse(op, "tensors", "a list of tensors", tensors);
  if (tensors.length === 0) throw new OpError(`${op}: expected a non-empty list of Tensors`);
  Array.from(tensors).forEach((t, i) => {
    if (!(t instanceof Tensor))
      throw new TypeMismatchError(`${op}: expected a tensor as element ${i} of 'tensors', got ${describe(t)}`);
    t.check(op);
    if (t.storage.device !== tensors[0]!.storage.device) {
      throw new OpError(
        `${op}: Expected all tensors to be on the same device, but found at least two devices, ${tensors[0]!.device} and ${t.device}`,
      );
    }
  });
}

export const commonType = (tensors: Tensors): DType =>
  tensors.some((x) => x.dtype === "complex64") ? "complex64" : (result_type(tensors.map(metaOf), "float32") as DType);

/** Joins tensors along an axis that they have.  An empty tensor with one axis counts for nothing, as in PyTorch. */
export function joined(tensors: Tensors, dim: number | undefined, op: string): Tensor {
  checkList(tensors, op);
  const legacy = (t: Tensor) => t.ndim === 1 && t.shape[0] === 0;
  tensors.forEach((t, i) => {
    if (t.ndim === 0) throw new OpError(`${op}: zero-dimensional tensor (at position ${i}) cannot be concatenated`);
  });
  const parts = tensors.filter((t) => !legacy(t)),
    first = parts[0] ?? tensors[0]!;
  // of those alone any axis is none
  const axis = parts.length ? axisOf(dim ?? 0, first.ndim, op) : 0,
    shape = [...first.shape];
  parts.forEach((t, i) => {
    if (t.ndim !== first.ndim) {
      throw new OpError(`${op}: Tensors must have same number of dimensions: got ${first.ndim} and ${t.ndim}`);
    }
    t.shape.forEach((n, d) => {
      if (d !== axis && n !== shape[d]) {
        throw new OpError(
          `${op}: Sizes of tensors must match except in dimension ${axis}. Expected size ${shape[d]} but got size ${n} for ` +
            `tensor number ${i} in the list.`,
        );
      }
    });
  });
  shape[axis] = parts.reduce((n, t) => n + t.shape[axis]!, 0);
  const out = emptyOn(first.storage.device, shape, commonType(tensors), op),
    starts: number[] = [];
  let at = 0;
  unrecorded(() => {
    for (const t of tensors) {
      starts.push(at);
      if (legacy(t)) continue;
      const part = sliceAxis(out, axis, at, t.shape[axis]!, 1, op);
      copyInto(part, t);
      part.dispose();
      at += t.shape[axis]!;
    }
  });
  if (!recording(...tensors)) return out;
  const shapes = tensors.map((t) => t.shape),
    dtypes = tensors.map((t) => t.dtype);
  return attach(
    out,
    new JoinNode("CatBackward0", tensors, ([grad], wanted) =>
      shapes.map((s, i) => {
        if (!grad || !wanted[i]) return null;
        const part = sliceAxis(grad, axis, starts[i]!, s.length === 1 && s[0] === 0 ? 0 : s[axis]!, 1, "narrow");
        return cast(sameShape(part.shape, s) ? part : views.reshape(part, s), dtypes[i]!, op);
      }),
    ),
  );
}

interface Join {
  (tensors: Tensors, dim?: number | DimOption): Tensor;
  (options: DimOption & { tensors: Tensors }): Tensor;
}
function joining(op: string, join: (tensors: Tensors, dim: number | undefined, op: string) => Tensor): Join {
  const bind = signature<[Tensors, number?]>(`${op} tensors:any dim:int?`);
  return (...args: unknown[]) => {
    const [tensors, dim] = bind(args);
    return join(tensors, dim, op);
  };
}

/**
 * Joins tensors along an axis that they have.
 *
 * @example
 * torch.cat([torch.tensor([[1, 2]]), torch.tensor([[3, 4], [5, 6]])])  // [[1, 2], [3, 4], [5, 6]]
 * @example
 * torch.cat([torch.tensor([[1], [2]]), torch.tensor([[3], [4]])], 1)  // [[1, 3], [2, 4]]
 */
export const cat = /* @__PURE__ */ joining("cat", joined);
/**
 * As `cat`.
 *
 * @example
 * torch.concat([torch.tensor([1, 2]), torch.tensor([3])])  // [1, 2, 3]
 */
export const concat = /* @__PURE__ */ joining("concat", joined);
/**
 * As `cat`.
 *
 * @example
 * torch.concatenate([torch.tensor([1, 2]), torch.tensor([3])])  // [1, 2, 3]
 */
export const concatenate = /* @__PURE__ */ joining("concatenate", joined);

export function stacked(tensors: Tensors, dim: number | undefined, op: string): Tensor {
  checkList(tensors, op);
  const first = tensors[0]!,
    axis = axisOf(dim ?? 0, first.ndim + 1, op);
  tensors.forEach((t, i) => {
    if (!sameShape(t.shape, first.shape)) {
      throw new OpError(
        `${op}: stack expects each tensor to be equal size, but got ${showShape(first.shape)} at entry 0 and ${showShape(t.shape)} at entry ${i}`,
      );
    }
  });
  return tidy(() =>
    joined(
      tensors.map((t) => views.unsqueeze(t, axis)),
      axis,
      op,
    ),
  );
}
/**
 * Joins tensors of one shape along a new axis.
 *
 * @example
 * torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])])  // [[1, 2], [3, 4]]
 * @example
 * torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])], 1)  // [[1, 3], [2, 4]]
 */
export const stack = /* @__PURE__ */ joining("stack", stacked);

const raised_1d = (x: Tensor): Tensor => (x.ndim === 0 ? views.reshape(x, [1]) : x);
export const raised_2d = (x: Tensor): Tensor =>
  x.ndim === 0 ? views.reshape(x, [1, 1]) : x.ndim === 1 ? views.unsqueeze(x, 0) : x;
const raised_3d = (x: Tensor): Tensor => {
  const flat = raised_2d(x);
  return x.ndim <= 1 ? views.unsqueeze(flat, -1) : x.ndim === 2 ? views.unsqueeze(x, -1) : x;
};

interface Raise {
  (tensor: Tensor): Tensor;
  (...tensors: [Tensor, Tensor, ...Tensor[]] | [Tensors]): Tensor[];
}

/** Of one tensor a tensor, of several (or a list) a list. */
const raising = (op: string, raise: (x: Tensor) => Tensor): Raise =>
  ((...args: (Tensor | Tensors)[]) => {
    if (args.length === 1 && args[0] instanceof Tensor) return raise(args[0]);
    const list = args.flat() as Tensor[];
    checkList(list, op);
    return list.map(raise);
  }) as Raise;

/**
 * Views with at least one, two, three axes.
 *
 * @example
 * torch.atleast_1d(torch.tensor(5))  // [5]
 */
export const atleast_1d = /* @__PURE__ */ raising("atleast_1d", raised_1d);
/**
 * The tensors with at least two axes.
 *
 * @example
 * torch.atleast_2d(torch.tensor([1, 2]))  // [[1, 2]]
 */
export const atleast_2d = /* @__PURE__ */ raising("atleast_2d", raised_2d);
/**
 * The tensors with at least three axes.
 *
 * @example
 * torch.atleast_3d(torch.tensor([1, 2])).shape  // [1, 2, 1]
 */
export const atleast_3d = /* @__PURE__ */ raising("atleast_3d", raised_3d);

/** Tensors with more axes if need be, joined along `dim`. */
const raisedAndJoined =
  (op: string, raise: (x: Tensor) => Tensor, dim: (first: Tensor) => number) =>
  (...args: [tensors: Tensors]): Tensor => {
    const [tensors] = taken(`${op} tensors`, args) as [Tensors];
    checkList(tensors, op);
    const parts = tensors.map(raise);
    return joined(parts, dim(parts[0]!), op);
  };
/**
 * Joins tensors along the second axis, vectors along the first.
 *
 * @example
 * torch.hstack([torch.tensor([[1], [2]]), torch.tensor([[3], [4]])])  // [[1, 3], [2, 4]]
 */
export const hstack = /* @__PURE__ */ raisedAndJoined("hstack", raised_1d, (first) => (first.ndim === 1 ? 0 : 1));
/**
 * Joins tensors as rows.
 *
 * @example
 * torch.vstack([torch.tensor([1, 2]), torch.tensor([3, 4])])  // [[1, 2], [3, 4]]
 */
export const vstack = /* @__PURE__ */ raisedAndJoined("vstack", raised_2d, () => 0);
/**
 * Joins tensors as rows.
 *
 * @example
 * torch.row_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])  // [[1, 2], [3, 4]]
 */
export const row_stack = /* @__PURE__ */ raisedAndJoined("row_stack", raised_2d, () => 0);
/**
 * Joins tensors along the third axis.
 *
 * @example
 * torch.dstack([torch.tensor([1, 2]), torch.tensor([3, 4])])  // [[[1, 3], [2, 4]]]
 */
export const dstack = /* @__PURE__ */ raisedAndJoined("dstack", raised_3d, () => 2);
/**
 * Joins tensors as columns.
 *
 * @example
 * torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])  // [[1, 3], [2, 4]]
 */
export const column_stack = /* @__PURE__ */ raisedAndJoined(
  "column_stack",
  (t) => (t.ndim <= 1 ? views.reshape(t, [t.numel(), 1]) : t),
  () => 1,
);

/** The tensor repeated along each axis; more numbers than axes add axes in front. */
export function repeat(x: Tensor, ...repeats: (number | readonly number[])[]): Tensor {
  const times = integers(repeats, "repeat", "repeats");
  if (times.length < x.ndim) {
    throw new OpError(
      "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
    );
  }
  if (times.some((n) => n < 0))
    throw new OpError(`repeat: Trying to create tensor with negative dimension: repeats ${showShape(times)}`);
  const own = [...new Array<number>(times.length - x.ndim).fill(1), ...x.shape],
    shape = own.map((n, i) => n * times[i]!);
  checkShape(shape, "repeat");
  const wide = own.flatMap((n, i) => [times[i]!, n]);
  return views.owned(
    views.reshape(
      views
        .expand(
          views.reshape(
            x,
            own.flatMap((n) => [1, n]),
          ),
          wide,
        )
        .clone(),
      shape,
    ),
  );
}

/** As repeat; missing numbers count as 1. */
export function tile(x: Tensor, ...dims: (number | readonly number[])[]): Tensor {
  const times = integers(dims, "tile", "dims");
  return repeat(x, [...new Array<number>(Math.max(x.ndim - times.length, 0)).fill(1), ...times]);
}
