// Tensors put together out of others: cat, stack and their kin, meshgrid, repeat and tile.  All are copies into views.

import { cast, copyInto } from "../tensor/copy.js";
import { emptyOn } from "../tensor/allocate.js";
import { tensor, zeros } from "../creation/create.js";
import { metaOf } from "../dispatch/call.js";
import { result_type } from "../../host/dtypes.js";
import type { DType } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { unrecorded } from "../tape/grad-mode.js";
import { isOptions, taken } from "../base/named-arguments.js";
import * as kernels from "../views/needed-ops.js";
import { flag, refuse, integer } from "../base/argument-kinds.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { JoinNode, attach, recording } from "../tape/node.js";
import { MAX_NUMEL, axisOf, checkShape, integers, sameShape, showShape } from "../base/shape.js";
import { signature } from "../tensor/signature.js";
import { tidy } from "../tensor/memory.js";
import { Tensor } from "../tensor/tensor.js";
import { sliceAxis } from "../views/views.js";
import type { DimOption } from "../views/splitting.js";
import * as views from "../views/views.js";

type Tensors = readonly Tensor[];

function checkList(tensors: Tensors, op: string): void {
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

const commonType = (tensors: Tensors): DType =>
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

/** Joins tensors along an axis that they have. */
export const cat = /* @__PURE__ */ joining("cat", joined);
/** As `cat`. */
export const concat = /* @__PURE__ */ joining("concat", joined);
/** As `cat`. */
export const concatenate = /* @__PURE__ */ joining("concatenate", joined);

function stacked(tensors: Tensors, dim: number | undefined, op: string): Tensor {
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
/** Joins tensors of one shape along a new axis. */
export const stack = /* @__PURE__ */ joining("stack", stacked);

const raised_1d = (x: Tensor): Tensor => (x.ndim === 0 ? views.reshape(x, [1]) : x);
const raised_2d = (x: Tensor): Tensor =>
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

/** Views with at least one, two, three axes. */
export const atleast_1d = /* @__PURE__ */ raising("atleast_1d", raised_1d);
/** The tensors with at least two axes. */
export const atleast_2d = /* @__PURE__ */ raising("atleast_2d", raised_2d);
/** The tensors with at least three axes. */
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
/** Joins tensors along the second axis, vectors along the first. */
export const hstack = /* @__PURE__ */ raisedAndJoined("hstack", raised_1d, (first) => (first.ndim === 1 ? 0 : 1));
/** Joins tensors as rows. */
export const vstack = /* @__PURE__ */ raisedAndJoined("vstack", raised_2d, () => 0);
/** Joins tensors as rows. */
export const row_stack = /* @__PURE__ */ raisedAndJoined("row_stack", raised_2d, () => 0);
/** Joins tensors along the third axis. */
export const dstack = /* @__PURE__ */ raisedAndJoined("dstack", raised_3d, () => 2);
/** Joins tensors as columns. */
export const column_stack = /* @__PURE__ */ raisedAndJoined(
  "column_stack",
  (t) => (t.ndim <= 1 ? views.reshape(t, [t.numel(), 1]) : t),
  () => 1,
);

/** Coordinate grids: each tensor (0 or 1 axes) along its own axis. */
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
  const own = [...new Array<number>(times.length - x.ndim).fill(1), ...x.shape];
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
      own.map((n, i) => n * times[i]!),
    ),
  );
}

/** As repeat; missing numbers count as 1. */
export function tile(x: Tensor, ...dims: (number | readonly number[])[]): Tensor {
  const times = integers(dims, "tile", "dims");
  return repeat(x, [...new Array<number>(Math.max(x.ndim - times.length, 0)).fill(1), ...times]);
}

/** Broadcasts tensors to their common shape. */
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

/** The shape to which shapes broadcast. */
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

/** Matrices (or vectors, or numbers) along the diagonal of one matrix, zeros elsewhere. */
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

/** All choices of one element of each vector, as rows, the last one changing fastest. */
export function cartesian_prod(...args: (Tensor | Tensors)[]): Tensor {
  const tensors = args.flat() as Tensor[];
  checkList(tensors, "cartesian_prod");
  for (const t of tensors)
    if (t.ndim !== 1) throw new OpError(`cartesian_prod: Expect a 1D vector, but got shape ${showShape(t.shape)}`);
  if (tensors.length === 1) return tensors[0]!;
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
/** All ways to choose `r` elements of a vector, as rows; with replacement each may be chosen again. */
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
