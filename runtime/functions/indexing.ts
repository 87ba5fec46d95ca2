// x[...] and x[...] = value: integers, also in tensors without axes on the CPU, slices, null and dots are views;
// tensors of integers or booleans, and true and false, pick elements. A mask on a GPU makes reading a promise, for only
// the GPU knows how many elements it picks; assigning one value does not.

import { fitting } from "../../host/dtypes.js";
import { index_addOp, index_copyOp } from "../../needed.js";
import { capturing } from "../base/capturing.js";
import { copy_ } from "../views/transfer.js";
import { cast } from "../tensor/copy.js";
import * as copying from "../views/transfer.js";
import { tensor } from "../creation/create.js";
import { IndexError, TypeMismatchError, describe } from "../base/errors.js";
import { runInPlace } from "../views/run-in-place.js";
import * as kernels from "../views/needed-ops.js";
import { refuse } from "../base/argument-kinds.js";
import { broadcastShapes, numelOf, sameShape, showShape } from "../base/shape.js";
import { recording } from "../tape/node.js";
import { Tensor, type TensorOrNumber } from "../tensor/tensor.js";
import { select, sliceAxis } from "../views/views.js";
import * as views from "../views/views.js";

export type IndexList = readonly (number | boolean | IndexList)[];
export type IndexSpec = number | boolean | null | undefined | string | Tensor | IndexList;

/** The parts of "start:stop:step" for an axis of length n, as Python cuts them. */
function parseSlice(text: string, n: number): { start: number; length: number; step: number } {
  const parts = text.split(":").map((p) => p.trim());
  if (parts.length < 2 || parts.length > 3 || parts.some((p) => p !== "" && !/^[+-]?\d+$/.test(p))) {
    throw new IndexError(
      `index: expected an integer, null, a boolean, '...', a slice like '1:5:2' or a tensor, got "${text}"`,
    );
  }
  const number = (p: string | undefined, otherwise: number) => (p ? Number(p) : otherwise);
  const step = number(parts[2], 1);
  if (step <= 0) throw new IndexError("index: slice step must be positive");
  const clip = (v: number) => Math.min(Math.max(v < 0 ? v + n : v, 0), n);
  const start = clip(number(parts[0], 0)),
    stop = clip(number(parts[1], n));
  return { start, length: Math.max(Math.ceil((stop - start) / step), 0), step };
}

interface Picks {
  /** The view with all plain specs applied, and the index tensors for its axes (null: the axis stays). */
  view: Tensor;
  picks: (Tensor | null)[];
  /** Masks, and the first axis of the view that each is over; not yet among the picks. */
  masks: { mask: Tensor; axis: number }[];
}

export type Plain = Exclude<IndexSpec, IndexList>;

/** `x.index([1, ":"])` is `x.index(1, ":")`; an array of numbers or booleans stands for a tensor. */
function listed(specs: readonly IndexSpec[]): Plain[] {
  const list =
    specs.length === 1 &&
    Array.isArray(specs[0]) &&
    specs[0].some((s) => typeof s !== "number" && typeof s !== "boolean" && !Array.isArray(s))
      ? (specs[0] as readonly IndexSpec[])
      : specs;
  return list.map((s) => (Array.isArray(s) ? indexTensor(s) : s)) as Plain[];
}

/** A tensor of bytes is a mask too, as it was before there was bool. */
const isMask = (spec: Plain): boolean => spec instanceof Tensor && (spec.dtype === "bool" || spec.dtype === "uint8");

/** Applies the specs that are views, and collects the tensors. */
function resolve(x: Tensor, full: readonly Plain[], op: string): Picks {
  const used = full.reduce<number>(
    (n, s) =>
      n +
      (s === null || s === undefined || s === "..." || typeof s === "boolean"
        ? 0
        : s instanceof Tensor && isMask(s)
          ? s.ndim
          : 1),
    0,
  );
  if (used > x.ndim) throw new IndexError(`${op}: too many indices for tensor of dimension ${x.ndim}`);
  if (full.filter((s) => s === "...").length > 1)
    throw new IndexError(`${op}: an index can only have a single ellipsis ('...')`);
  let view = x,
    axis = 0;
  const picks: (Tensor | null)[] = [],
    masks: Picks["masks"] = [];
  const pass = (n: number) => {
    for (let i = 0; i < n; i++) picks[axis++] = null;
  };
  for (const spec of full) {
    if (spec === "...") pass(x.ndim - used);
    else if (spec === null || spec === undefined) {
      view = views.unsqueeze(view, axis);
      pass(1);
    } else if (typeof spec === "boolean") {
      // picks all of an axis of length 1, or nothing
      view = views.unsqueeze(view, axis);
      picks[axis++] = tensor(new Int32Array(+spec), { device: "cpu" });
    } else if (typeof spec === "number") view = select(view, axis, spec, op);
    else if (typeof spec === "string") {
      const { start, length, step } = parseSlice(spec, view.shape[axis]!);
      if (start !== 0 || step !== 1 || length !== view.shape[axis])
        view = sliceAxis(view, axis, start, length, step, op);
      pass(1);
    } else if (spec instanceof Tensor && isMask(spec)) {
      spec.check(op);
      let mask = cast(spec, "bool", op);
      if (mask.ndim === 0) {
        view = views.unsqueeze(view, axis);
        mask = views.reshape(mask, [1]);
      }
      checkMask(mask, view, axis, op);
      masks.push({ mask, axis });
      pass(mask.ndim);
    } else if (spec instanceof Tensor && spec.ndim === 0 && spec.dtype.startsWith("int") && spec.device === "cpu") {
      spec.check(op);
      view = select(view, axis, Number(spec.storage.as(spec.dtype)[spec.offset]), op);
    } else if (spec instanceof Tensor) picks[axis++] = checkPick(spec, op);
    else
      throw new TypeMismatchError(
        `${op}: expected an integer, null, a boolean, '...', a slice or a tensor as index, got ${describe(spec)}`,
      );
  }
  while (picks.length < view.ndim) picks.push(null);
  return { view, picks, masks };
}

export function indexTensor(list: IndexList): Tensor {
  const flat = list.flat(64 as 1) as (number | boolean)[];
  return tensor(list as never, {
    dtype: flat.length > 0 && typeof flat[0] === "boolean" ? "bool" : "int32",
    device: "cpu",
  });
}

function checkPick(pick: Tensor, op: string): Tensor {
  pick.check(op);
  if (pick.dtype !== "int32" && pick.dtype !== "int64")
    throw new IndexError(`${op}: tensors used as indices must be long, int, byte or bool tensors, got ${pick.dtype}`);
  return pick;
}

function checkMask(mask: Tensor, view: Tensor, axis: number, op: string): void {
  mask.shape.forEach((n, i) => {
    if (n !== view.shape[axis + i]) {
      throw new IndexError(
        `${op}: The shape of the mask ${showShape(mask.shape)} at index ${i} does not match the shape of the indexed tensor ` +
          `${showShape(view.shape)} at index ${axis + i}`,
      );
    }
  });
}

/** The coordinates where a mask on the CPU holds: a tensor for each of its axes. */
function coordinatesOf(mask: Tensor): Tensor[] {
  const coordinates: number[][] = mask.shape.map(() => []),
    elements = mask.storage.as(mask.dtype),
    path: number[] = [];
  const visit = (d: number, at: number): void => {
    if (d === mask.ndim) {
      if (elements[at] !== 0) path.forEach((c, i) => coordinates[i]!.push(c));
      return;
    }
    for (let i = 0; i < mask.shape[d]!; i++) {
      path[d] = i;
      visit(d + 1, at + i * mask.strides[d]!);
    }
  };
  visit(0, mask.offset);
  return coordinates.map((list) => tensor(Int32Array.from(list), { device: "cpu" }));
}

function withMasks({ view, picks, masks }: Picks): Picks {
  const all = [...picks];
  for (const { mask, axis } of masks)
    coordinatesOf(mask).forEach((c, i) => {
      all[axis + i] = c;
    });
  return { view, picks: all, masks: [] };
}

/** Whether a spec is a mask whose values only a GPU knows. */
const isRemote = (spec: Plain): boolean => spec instanceof Tensor && isMask(spec) && spec.device !== "cpu";

const fetched = (specs: readonly Plain[]): Promise<Plain[]> =>
  Promise.all(specs.map(async (s) => (isRemote(s) ? await copying.to(s as Tensor, ["cpu"]) : s)));

interface Gathered {
  /** The view with its picked axes side by side, and with them as one axis, `at`. */
  moved: Tensor;
  flat: Tensor;
  at: number;
  /** The picked places along that axis, and the axes that the result has there. */
  index: Tensor;
  shape: number[];
}

/** Brings the picked axes together: in front, or in place if they are neighbours; then flattens them to one. */
function gatherAxes({ view, picks }: Picks, op: string): Gathered {
  const axes = picks.flatMap((p, i) => (p ? [i] : []));
  let shape: number[] | null = [];
  for (const a of axes) {
    const next: number[] | null = shape && broadcastShapes(shape, picks[a]!.shape);
    if (!next) {
      throw new IndexError(
        `${op}: shape mismatch: indexing tensors could not be broadcast together with shapes ${axes.map((i) => showShape(picks[i]!.shape)).join(", ")}`,
      );
    }
    shape = next;
  }
  const together = axes.every((a, i) => i === 0 || a === axes[i - 1]! + 1),
    at = together ? axes[0]! : 0;
  const rest = view.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const moved = views.permute(view, [...rest.slice(0, at), ...axes, ...rest.slice(at)]);
  const sizes = axes.map((a) => view.shape[a]!),
    n = numelOf(shape!);
  const flat = views.reshape(moved, [
    ...moved.shape.slice(0, at),
    numelOf(sizes),
    ...moved.shape.slice(at + axes.length),
  ]);
  const places = linearIndex(axes, picks, sizes, shape!, op, numelOf(view.shape) > 0),
    index = copying.to(views.reshape(places, [n]), [view.device]) as Tensor;
  return { moved, flat, index, shape: shape!, at };
}

/** Index tensors of several axes as one index into the flattened axes; negative ones count from the end.  `any`:
 * whether there are elements at all; of none, an index may be off its axis. */
function linearIndex(
  axes: readonly number[],
  all: readonly (Tensor | null)[],
  sizes: readonly number[],
  shape: readonly number[],
  op: string,
  any: boolean,
): Tensor {
  const picks = axes.map((a) => all[a]!);
  const n = numelOf(shape);
  // Also for a GPU, which reads nothing of an empty tensor and so would never tell of it.
  if (n && !numelOf(sizes)) throw new IndexError(`${op}: index is out of bounds for dimension with size 0`);
  // a program that is captured computes it each time; otherwise the CPU looks at the values, to say which axis is left
  if (!any || capturing || picks.some((p) => p.device !== "cpu")) return linearIndexOnDevice(picks, sizes, shape);
  const out = new Int32Array(n);
  picks.forEach((pick, k) => {
    const size = sizes[k]!,
      wide = views.expand(pick, shape),
      plain = wide.contiguous(),
      elements = plain.storage.as(plain.dtype);
    for (let i = 0; i < n; i++) {
      const value = Number(elements[plain.offset + i]);
      if (value < -size || value >= size)
        throw new IndexError(`${op}: index ${value} is out of bounds for dimension ${axes[k]!} with size ${size}`);
      out[i] = out[i]! * size + (value < 0 ? value + size : value);
    }
  });
  return tensor(out, { shape, device: "cpu" });
}

/** The same as an op; on a GPU an index that is off its axis is reported when the result is read. */
function linearIndexOnDevice(picks: readonly Tensor[], sizes: readonly number[], shape: readonly number[]): Tensor {
  const { device } = picks.find((p) => p.device !== "cpu") ?? picks[0]!;
  let places: Tensor | undefined;
  picks.forEach((p, k) => {
    places = kernels.place_along(copying.to(p, [device]) as Tensor, sizes[k]!, places);
  });
  return views.expand(places!, shape);
}

/** x[specs]; a promise where a mask is on a GPU. */
export function index(x: Tensor, specs: readonly IndexSpec[]): Tensor {
  x.check("index");
  const full = listed(specs),
    open = resolve(x, full, "index");
  if (full.some(isRemote))
    return fetched(full).then((here) => picked(x, withMasks(resolve(x, here, "index")))) as never;
  return picked(x, withMasks(open));
}

function picked(x: Tensor, found: Picks): Tensor {
  if (found.picks.every((p) => p === null)) return found.view === x ? views.view(x, x.shape) : found.view;
  const { flat, index: places, shape, at } = gatherAxes(found, "index");
  const selected = kernels.index_select(flat, at, places),
    out = views.owned(views.reshape(selected, [...flat.shape.slice(0, at), ...shape, ...flat.shape.slice(at + 1)]));
  // Of integers without axes PyTorch makes a view; here the GPU alone knows of which elements.
  if (found.picks.every((p) => !p?.ndim)) out.viewRule = "copied";
  return out;
}

/** x[specs] = value, in place; a promise where a mask is on a GPU and `value` has an element for each place of it. */
export function setIndex<T extends Tensor>(x: T, specs: readonly IndexSpec[], value: TensorOrNumber): T {
  if (!Array.isArray(specs)) refuse("set", "indices", "a list of indices", specs);
  if (specs.length === 1 && specs[0] === false) return x; // not even a change, as in PyTorch
  return assign(x, listed(specs), value, false, "set");
}

export function assign<T extends Tensor>(
  x: T,
  full: readonly Plain[],
  value: TensorOrNumber,
  accumulate: boolean,
  op: string,
): T {
  x.check(op);
  const open = resolve(x, full, op),
    { view, masks } = open;
  const source =
    value instanceof Tensor
      ? (copying.to(cast(value, x.dtype, op), [x.device]) as Tensor)
      : tensor(value, { dtype: x.dtype, device: x.device });
  if (masks.length === 0 && open.picks.every((p) => p === null)) {
    copy_(view, accumulate ? kernels.add(view, fitted(source, view.shape, op), 1) : trimmed(source, view.ndim), op);
    return x;
  }
  if (value instanceof Tensor && value.dtype !== x.dtype) mustConvert(x, value, full, op);
  if (masks.length === 1 && !accumulate && open.picks.every((p) => p === null)) {
    // One element counts as a number, as in PyTorch: it must fit. (While calls are captured its value is not known.)
    if (!capturing && value instanceof Tensor && value.device === "cpu" && value.numel() === 1)
      fitting(op, x.dtype, Number(value.storage.as(value.dtype)[value.offset]));
    const { mask, axis } = masks[0]!,
      after = view.ndim - axis - mask.ndim,
      small = trimmed(source, axis + 1 + after);
    const place = small.ndim - 1 - after; // of the axis that counts the mask's elements
    if (place < 0 || small.shape[place] === 1) {
      const shape =
        place < 0
          ? small.shape
          : [...small.shape.slice(0, place), ...mask.shape.map(() => 1), ...small.shape.slice(place + 1)];
      const condition = views.reshape(copying.to(mask, [x.device]) as Tensor, [
        ...mask.shape,
        ...Array.from({ length: after }, () => 1),
      ]);
      copy_(view, kernels.where(condition, fitted(views.reshape(small, shape), view.shape, op), view), op);
      return x;
    }
  }
  if (full.some(isRemote)) return fetched(full).then((here) => assign(x, here, source, accumulate, op)) as never;
  const { moved, flat, index: places, shape, at } = gatherAxes(withMasks(open), op);
  const before = flat.shape.slice(0, at),
    after = flat.shape.slice(at + 1);
  const wide = views.reshape(fitted(source, [...before, ...shape, ...after], op), [
    ...before,
    places.numel(),
    ...after,
  ]);
  if (flat.storage === x.storage && !recording(x) && !recording(wide)) {
    runInPlace(accumulate ? index_addOp : index_copyOp, [flat, at, places, wide]);
    return x;
  }
  const out = accumulate ? kernels.index_add(flat, at, places, wide) : kernels.index_copy(flat, at, places, wide);
  copy_(moved, views.reshape(out, moved.shape), op);
  return x;
}

/** Places that tensors pick take values of another type only where one value goes under a mask, as in PyTorch. */
function mustConvert(x: Tensor, value: Tensor, full: readonly Plain[], op: string): void {
  const picking = full.filter((s) => s instanceof Tensor && (s.ndim > 0 || isMask(s)));
  if (!picking.length || (value.numel() === 1 && picking.length === 1 && isMask(picking[0]!))) return;
  throw new TypeMismatchError(
    `${op}: Index put requires the source and destination dtypes match, got ${x.dtype} for the destination and ` +
      `${value.dtype} for the source; convert it: values.to(x.dtype)`,
  );
}

/** PyTorch lets a value have leading axes of length 1 that the place lacks. */
function trimmed(value: Tensor, rank: number): Tensor {
  let out = value;
  while (out.ndim > rank && out.shape[0] === 1) out = select(out, 0, 0);
  return out;
}

function fitted(value: Tensor, shape: readonly number[], op: string): Tensor {
  const small = trimmed(value, shape.length),
    wide = broadcastShapes(small.shape, shape);
  if (!wide || !sameShape(wide, shape)) {
    throw new IndexError(
      `${op}: shape mismatch: value tensor of shape ${showShape(value.shape)} cannot be broadcast to indexing result of shape ${showShape(shape)}`,
    );
  }
  return views.expand(small, shape);
}
