// Shapes, strides and axes: arithmetic on lists of numbers, and its errors.  No tensor, no memory.

import { IndexError, OpError } from "./errors.js";
import { elementsOf, living, integer } from "./argument-kinds.js";

export type Shape = readonly number[];

/**
 * A list that nobody changes any more: a copy, unless it is one already.  Tensors hand out theirs, which plans share.
 */
export const frozen = (list: Shape): Shape => (Object.isFrozen(list) ? list : Object.freeze([...list]));

/** The most elements a tensor may have: their places are counted in 32 bits. */
export const MAX_NUMEL = 2 ** 31 - 1;

export function numelOf(shape: Shape): number {
  let n = 1;
  for (let i = 0; i < shape.length; i++) n *= shape[i]!;
  return n;
}

/** Row-major strides, frozen. */
export function contiguousStrides(shape: Shape): Shape {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = step;
    step *= Math.max(shape[i]!, 1);
  }
  return Object.freeze(strides);
}

/** The axes from the slowest to the fastest of the memory formats that are not row-major, by the number of axes. */
const CHANNELS_LAST: Readonly<Record<string, Shape>> = {
  "torch.channels_last": [0, 2, 3, 1],
  "torch.channels_last_3d": [0, 2, 3, 4, 1],
};

/** Whether strides are row-major; axes of length 1 may have any stride, and where nothing is all of them. */
export function isContiguous(shape: Shape, strides: Shape, format?: string): boolean {
  const order = format ? CHANNELS_LAST[format] : undefined;
  if (order)
    return (
      order.length === shape.length &&
      isContiguous(
        order.map((i) => shape[i]!),
        order.map((i) => strides[i]!),
      )
    );
  if (shape.includes(0)) return true;
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    const n = shape[i]!;
    if (n !== 1 && strides[i] !== step) return false;
    step *= n;
  }
  return true;
}

export function sameShape(a: Shape, b: Shape): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** `[2, 3]`, as PyTorch prints a size. */
export const showShape = (shape: Shape): string => `[${shape.join(", ")}]`;
/** As Python prints it. */
export const showSize = (shape: Shape): string => `torch.Size(${showShape(shape)})`;

/** An axis counted from 0.  Tensors without axes accept 0 and -1.  Throws PyTorch's IndexError. */
export function axisOf(dim: number, rank: number, op: string, n = Math.max(rank, 1)): number {
  if (!Number.isInteger(dim)) dim = integer(dim, op, "dim");
  if (dim < -n || dim >= n) {
    throw new IndexError(
      `${op}: Dimension out of range (expected to be in range of [${-n}, ${n - 1}], but got ${dim})`,
    );
  }
  return dim < 0 ? dim + n : dim;
}

/** Axes counted from 0, each at most once. */
export function axesOf(dims: readonly number[], rank: number, op: string): number[] {
  const axes = dims.map((d) => axisOf(d, rank, op));
  axes.forEach((a, i) => {
    if (axes.indexOf(a) !== i) throw new OpError(`${op}: dim ${a} appears multiple times in the list of dims`);
  });
  return axes;
}

/** `f(2, 3)` or `f([2, 3])`: a list of whole numbers. */
export function integers(args: readonly unknown[], op: string, name = "size"): number[] {
  const list = args.length === 1 && isList(args[0]) ? elementsOf(living(args[0], op)) : elementsOf(args);
  return list.map((v) => integer(v, op, name, "whole numbers"));
}

const isList = (v: unknown): v is ArrayLike<unknown> => Array.isArray(v) || ArrayBuffer.isView(v);

/** Checks a list as the shape of a new tensor. */
export function checkShape(shape: Shape, op: string, name = "size"): void {
  checkRank(shape, op);
  for (const n of shape) {
    if (!Number.isSafeInteger(n)) integer(n, op, name);
    if (n < 0) throw new OpError(`${op}: Trying to create tensor with negative dimension ${n}: ${showShape(shape)}`);
  }
  if (!(numelOf(shape) <= MAX_NUMEL))
    throw new OpError(`${op}: a tensor of size ${showShape(shape)} is too large: at most ${MAX_NUMEL} elements`);
}

/** The most axes a tensor may be made with.  As in PyTorch, operations take fewer: 64 (codegen/binding/options.py). */
const MAX_RANK = 1024;
function checkRank(axes: Shape, op: string): void {
  if (!(axes.length <= MAX_RANK))
    throw new OpError(`${op}: only tensors with up to ${MAX_RANK} dims are supported, got ${axes.length}`);
}

/** The shape that two shapes broadcast to; null where they do not. */
export function broadcastShapes(a: Shape, b: Shape): number[] | null {
  const rank = Math.max(a.length, b.length),
    out = new Array<number>(rank);
  for (let i = 1; i <= rank; i++) {
    const m = a[a.length - i] ?? 1,
      n = b[b.length - i] ?? 1;
    if (m !== n && m !== 1 && n !== 1) return null;
    out[rank - i] = m === 1 ? n : m;
  }
  return out;
}

/** Replaces a single -1 by what makes the sizes hold `numel` elements. */
export function inferShape(sizes: Shape, numel: number, op: string): number[] {
  const unknown = sizes.indexOf(-1);
  let rest = 1;
  sizes.forEach((n, i) => {
    if (n < -1) throw new OpError(`${op}: invalid shape dimension ${n} at index ${i} of shape ${showShape(sizes)}`);
    if (n === -1 && i !== unknown) throw new OpError(`${op}: only one dimension can be inferred`);
    if (n !== -1) rest *= n;
  });
  const invalid = () => new OpError(`${op}: shape '${showShape(sizes)}' is invalid for input of size ${numel}`);
  if (unknown < 0) {
    if (rest !== numel) throw invalid();
    return [...sizes];
  }
  if (rest === 0) {
    throw new OpError(
      `${op}: cannot reshape tensor of 0 elements into shape ${showShape(sizes)} because the unspecified ` +
        "dimension size -1 can be any value and is ambiguous",
    );
  }
  if (numel % rest !== 0) throw invalid();
  return sizes.map((n) => (n === -1 ? numel / rest : n));
}

/** Strides with which a strided tensor can be seen in another shape without a copy; null where it cannot. */
export function viewStrides(shape: Shape, strides: Shape, to: Shape): Shape | null {
  if (numelOf(shape) === 0) return sameShape(shape, to) ? [...strides] : contiguousStrides(to);
  const out = new Array<number>(to.length);
  let view = to.length - 1,
    chunk = 1,
    seen = 1,
    step = strides.length ? strides[strides.length - 1]! : 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    chunk *= shape[i]!;
    // The chunk ends where the next outer axis does not continue it.
    const ends = i === 0 || (shape[i - 1] !== 1 && strides[i - 1] !== chunk * step);
    if (!ends) continue;
    while (view >= 0 && (seen < chunk || to[view] === 1)) {
      out[view] = seen * step;
      seen *= to[view]!;
      view--;
    }
    if (seen !== chunk) return null;
    if (i > 0) {
      step = strides[i - 1]!;
      chunk = 1;
      seen = 1;
    }
  }
  for (; view >= 0; view--) {
    if (to[view] !== 1) return null;
    out[view] = 1;
  }
  return out;
}

/** Whether two places of a strided layout may share memory; exact for layouts made by slicing and permuting. */
export function overlaps(shape: Shape, strides: Shape): boolean {
  const axes: [number, number][] = [];
  for (let i = 0; i < shape.length; i++) {
    if (shape[i] === 0) return false;
    if (shape[i]! > 1) axes.push([Math.abs(strides[i]!), shape[i]!]);
  }
  axes.sort((a, b) => a[0] - b[0]);
  let reach = 0;
  for (const [stride, size] of axes) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

/** Elements a layout spans from its first: 0 for an empty one. */
export function extent(shape: Shape, strides: Shape): number {
  let n = 1;
  for (let i = 0; i < shape.length; i++) {
    if (shape[i] === 0) return 0;
    n += (shape[i]! - 1) * strides[i]!;
  }
  return n;
}
