// x[...] and x[...] = value: integers, slices, null and dots are views; tensors of integers or booleans pick elements.

import { copy_ } from "./copy.js";
import { tensor } from "./create.js";
import { IndexError, OpError, TypeMismatchError, describe } from "./errors.js";
import { kernels } from "./kernels.js";
import { no_grad } from "./grad-mode.js";
import { broadcastShapes, numelOf, showShape } from "./shape.js";
import { Tensor, type TensorOrNumber } from "./tensor.js";
import { select, sliceAxis } from "./views.js";

export type IndexList = readonly (number | boolean | IndexList)[];
export type IndexSpec = number | boolean | null | undefined | string | Tensor | IndexList;

/** The parts of "start:stop:step" for an axis of length n, as Python cuts them. */
function parseSlice(text: string, n: number): { start: number; length: number; step: number } {
  const parts = text.split(":").map((p) => p.trim());
  if (parts.length < 2 || parts.length > 3 || parts.some((p) => p !== "" && !/^[+-]?\d+$/.test(p))) {
    throw new IndexError(`index: expected an integer, null, a boolean, '...', a slice like '1:5:2' or a tensor, got "${text}"`);
  }
  const number = (p: string | undefined, otherwise: number) => (p ? Number(p) : otherwise);
  const step = number(parts[2], 1);
  if (step <= 0) throw new IndexError("index: slice step must be positive");
  const clip = (v: number) => Math.min(Math.max(v < 0 ? v + n : v, 0), n);
  const start = clip(number(parts[0], 0)), stop = clip(number(parts[1], n));
  return { start, length: Math.max(Math.ceil((stop - start) / step), 0), step };
}

interface Picks {
  /** The view with all plain specs applied, and the index tensors for its axes (null: the axis stays). */
  view: Tensor;
  picks: (Tensor | null)[];
}

/** Applies the specs that are views, and collects the tensors. */
function resolve(x: Tensor, specs: readonly IndexSpec[], op: string): Picks {
  const list = specs.length === 1 && Array.isArray(specs[0]) && specs[0].some((s) => typeof s !== "number" && typeof s !== "boolean" && !Array.isArray(s))
    ? (specs[0] as readonly IndexSpec[]) : specs;
  const full = list.map((s) => (Array.isArray(s) ? indexTensor(s) : s)) as (Exclude<IndexSpec, IndexList>)[];
  const used = full.reduce<number>((n, s) => n + (s === null || s === undefined || s === "..." || typeof s === "boolean" ? 0 : s instanceof Tensor && s.dtype === "bool" ? s.ndim : 1), 0);
  if (used > x.ndim) throw new IndexError(`${op}: too many indices for tensor of dimension ${x.ndim}`);
  if (full.filter((s) => s === "...").length > 1) throw new IndexError(`${op}: an index can only have a single ellipsis ('...')`);
  let view = x, axis = 0;
  const picks: (Tensor | null)[] = [];
  const pass = (n: number) => { for (let i = 0; i < n; i++) picks[axis++] = null; };
  for (const spec of full) {
    if (spec === "...") pass(x.ndim - used);
    else if (spec === null || spec === undefined) {
      view = view.unsqueeze(axis);
      pass(1);
    } else if (typeof spec === "boolean") {
      view = view.unsqueeze(axis);
      if (!spec) view = sliceAxis(view, axis, 0, 0, 1, op);
      pass(1);
    } else if (typeof spec === "number") view = select(view, axis, spec, op);
    else if (typeof spec === "string") {
      const { start, length, step } = parseSlice(spec, view.shape[axis]!);
      if (start !== 0 || step !== 1 || length !== view.shape[axis]) view = sliceAxis(view, axis, start, length, step, op);
      pass(1);
    } else if (spec instanceof Tensor) {
      for (const pick of spec.dtype === "bool" ? maskIndices(spec, view, axis, op) : [spec]) picks[axis++] = checkPick(pick, op);
    } else throw new TypeMismatchError(`${op}: expected an integer, null, a boolean, '...', a slice or a tensor as index, got ${describe(spec)}`);
  }
  while (picks.length < view.ndim) picks.push(null);
  return { view, picks };
}

function indexTensor(list: IndexList): Tensor {
  const flat = list.flat(Infinity as 1) as (number | boolean)[];
  return tensor(list as never, { dtype: flat.length > 0 && typeof flat[0] === "boolean" ? "bool" : "int32", device: "cpu" });
}

function checkPick(pick: Tensor, op: string): Tensor {
  if (pick.dtype !== "int32" && pick.dtype !== "int8" && pick.dtype !== "uint8") {
    throw new IndexError(`${op}: tensors used as indices must be long, int, byte or bool tensors, got ${pick.dtype}`);
  }
  return pick;
}

/** The coordinates where a mask holds.  Their number depends on values, so the mask must be on the CPU. */
function maskIndices(mask: Tensor, view: Tensor, axis: number, op: string): Tensor[] {
  mask.shape.forEach((n, i) => {
    if (n !== view.shape[axis + i]) {
      throw new IndexError(`${op}: The shape of the mask ${showShape(mask.shape)} at index ${i} does not match the shape of the indexed tensor ` +
        `${showShape(view.shape)} at index ${axis + i}`);
    }
  });
  if (mask.device !== "cpu") {
    throw new OpError(`${op}: a mask on a GPU gives a result whose size only the GPU knows; use masked_select, which is a promise, or where`);
  }
  const coordinates: number[][] = mask.shape.map(() => []), elements = mask.storage.elements;
  const visit = (d: number, at: number, path: number[]): void => {
    if (d === mask.ndim) {
      if (elements[at] !== 0) path.forEach((c, i) => coordinates[i]!.push(c));
      return;
    }
    for (let i = 0; i < mask.shape[d]!; i++) visit(d + 1, at + i * mask.strides[d]!, [...path, i]);
  };
  visit(0, mask.offset, []);
  return coordinates.map((list) => tensor(Int32Array.from(list), { device: "cpu" }));
}

/** Brings the picked axes together: in front, or in place if they are neighbours; then flattens them to one. */
function gatherAxes({ view, picks }: Picks, op: string): { flat: Tensor; index: Tensor; shape: number[]; at: number } {
  const axes = picks.flatMap((p, i) => (p ? [i] : []));
  let shape: number[] | null = [];
  for (const a of axes) {
    const next: number[] | null = shape && broadcastShapes(shape, picks[a]!.shape);
    if (!next) {
      throw new IndexError(`${op}: shape mismatch: indexing tensors could not be broadcast together with shapes ${axes.map((i) => showShape(picks[i]!.shape)).join(", ")}`);
    }
    shape = next;
  }
  const together = axes.every((a, i) => i === 0 || a === axes[i - 1]! + 1), at = together ? axes[0]! : 0;
  const rest = view.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const moved = view.permute([...rest.slice(0, at), ...axes, ...rest.slice(at)]);
  const sizes = axes.map((a) => view.shape[a]!), n = numelOf(shape!);
  const flat = moved.reshape([...moved.shape.slice(0, at), numelOf(sizes), ...moved.shape.slice(at + axes.length)]);
  return { flat, index: linearIndex(axes.map((a) => picks[a]!), sizes, shape!, op).reshape(n), shape: shape!, at };
}

/** Index tensors of several axes as one index into the flattened axes; negative ones count from the end. */
function linearIndex(picks: readonly Tensor[], sizes: readonly number[], shape: readonly number[], op: string): Tensor {
  if (picks.some((p) => p.device !== "cpu")) return linearIndexOnDevice(picks, sizes, shape);
  const n = numelOf(shape), out = new Int32Array(n);
  picks.forEach((pick, k) => {
    const size = sizes[k]!, wide = pick.expand(shape), plain = wide.contiguous(), elements = plain.storage.elements;
    for (let i = 0; i < n; i++) {
      const value = elements[plain.offset + i]!;
      if (value < -size || value >= size) throw new IndexError(`${op}: index ${value} is out of bounds for dimension ${k} with size ${size}`);
      out[i] = out[i]! * size + (value < 0 ? value + size : value);
    }
  });
  return tensor(out, { shape, device: picks[0]!.device });
}

/** The same on a GPU, where nobody can say that an index is wrong: it wraps around. */
function linearIndexOnDevice(picks: readonly Tensor[], sizes: readonly number[], shape: readonly number[]): Tensor {
  const device = picks.find((p) => p.device !== "cpu")!.device;
  const parts = picks.map((p, k) => kernels().remainder((p.to(device) as Tensor).int(), Math.max(sizes[k]!, 1)));
  return parts.reduce((sum, part, k) => kernels().add(part, sum, sizes[k]!)).expand(shape);
}

export function index(x: Tensor, specs: readonly IndexSpec[]): Tensor {
  x.check("index");
  const found = resolve(x, specs, "index");
  if (found.picks.every((p) => p === null)) return found.view === x ? x.view(x.shape) : found.view;
  const { flat, index: picked, shape, at } = gatherAxes(found, "index");
  const out = kernels().index_select(flat, at, picked.to(x.device) as Tensor);
  return out.reshape([...flat.shape.slice(0, at), ...shape, ...flat.shape.slice(at + 1)]);
}

/** x[specs] = value, in place. */
export function setIndex<T extends Tensor>(x: T, specs: readonly IndexSpec[], value: TensorOrNumber): T {
  x.check("set");
  const found = resolve(x, specs, "set");
  if (found.picks.every((p) => p === null)) {
    copy_(found.view, value instanceof Tensor ? trimmed(value, found.view) : value, "set");
    return x;
  }
  // Element by element of the index; the last of several values for one place stays.
  if (found.picks.some((p) => p && p.device !== "cpu")) {
    throw new OpError("set: index tensors must be on the CPU, or arrays: which places are written must be known now");
  }
  const { flat, index: picked, shape, at } = no_grad(() => gatherAxes(found, "set"));
  const places = picked.storage.elements, last = new Map<number, number>();
  for (let i = 0; i < picked.numel(); i++) last.set(places[picked.offset + i]!, i);
  const wide = [...flat.shape.slice(0, at), ...shape, ...flat.shape.slice(at + 1)];
  const source = (value instanceof Tensor ? value : tensor(value, { dtype: x.dtype, device: x.device })).expand(wide)
    .reshape([...flat.shape.slice(0, at), picked.numel(), ...flat.shape.slice(at + 1)]);
  const axes = found.picks.flatMap((p, i) => (p ? [i] : [])), sizes = axes.map((a) => found.view.shape[a]!);
  const rest = found.view.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const moved = found.view.permute([...rest.slice(0, at), ...axes, ...rest.slice(at)]);
  for (const [place, i] of last) {
    let target = moved, left = place;
    const coordinates = sizes.map(() => 0);
    for (let k = sizes.length - 1; k >= 0; k--) {
      coordinates[k] = left % sizes[k]!;
      left = Math.floor(left / sizes[k]!);
    }
    for (const c of coordinates) target = select(target, at, c);
    copy_(target, select(source, at, i), "set");
  }
  return x;
}

/** PyTorch lets a value have leading axes of length 1 that the place lacks. */
function trimmed(value: Tensor, target: Tensor): Tensor {
  let out = value;
  while (out.ndim > target.ndim && out.shape[0] === 1) out = select(out, 0, 0);
  return out;
}
