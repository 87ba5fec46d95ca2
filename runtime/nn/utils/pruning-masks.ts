// What the masks of torch.nn.utils.prune leave, kept beside them, so that a GPU need not be read to prune once more.

import { OpError } from "../../base/errors.js";
import { ones_like } from "../../creation/like.js";
import { cat } from "../../functions/join.js";
import { clone } from "../../tensor/copy.js";
import type { Tensor } from "../../tensor/tensor.js";
import { reshape } from "../../views/views.js";

interface Left {
  /** How many elements are not zero. */
  readonly elements?: number;
  /** How many slices along an axis have such an element; of every axis where what is left is a box. */
  readonly slices: ReadonlyMap<number, number>;
}
const known = new WeakMap<Tensor, Left & { version: number }>();
/** What is known of a mask; a change in place makes it unknown. */
const leftOf = (mask: Tensor): Left | undefined => {
  const left = known.get(mask);
  return left?.version === mask.storage.version ? left : undefined;
};
function remember(mask: Tensor, left: Left | undefined): Tensor {
  if (left) known.set(mask, { ...left, version: mask.storage.version });
  return mask;
}
const box = (slices: ReadonlyMap<number, number>): Left => ({
  elements: [...slices.values()].reduce((n, size) => n * size, 1),
  slices,
});

export const wholeMask = (t: Tensor): Tensor => remember(ones_like(t), box(new Map(t.shape.entries())));
/** Whether a mask is known to leave everything. */
export const isWhole = (mask: Tensor): boolean => leftOf(mask)?.elements === mask.numel();
export const copiedMask = (mask: Tensor): Tensor => remember(clone(mask), leftOf(mask));

/** A mask without so many more elements. */
export const withElements = (mask: Tensor, elements: number): Tensor => remember(mask, { elements, slices: new Map() });
/** A mask that leaves so many slices along an axis of what `before` left. */
export function withSlices(mask: Tensor, before: Tensor, axis: number, n: number): Tensor {
  const slices = leftOf(before)?.slices;
  if (n > 0 && slices?.size === mask.ndim) return remember(mask, box(new Map([...slices, [axis, n]])));
  return remember(mask, { slices: new Map([[axis, n]]) });
}

/** Masks one after the other, as one of a single axis. */
export function joinedMasks(masks: readonly Tensor[]): Tensor {
  const joined = cat(masks.map((mask) => reshape(mask, [-1]))),
    counts = masks.map((mask) => leftOf(mask)?.elements);
  return counts.includes(undefined)
    ? joined
    : withElements(
        joined,
        counts.reduce((n: number, m) => n + m!, 0),
      );
}

/** Where a mask on the CPU is not zero; that of a GPU nobody can read at once. */
function flags(op: string, mask: Tensor): boolean[] {
  const { storage, offset } = mask;
  if (storage.device.type !== "cpu")
    throw new OpError(`${op}: how many elements a mask of one's own on a GPU leaves is not known; prune on the CPU`);
  // Masks are made by ops or copied, so lie in order.
  return Array.from({ length: mask.numel() }, (_, i) => Number(storage.elements[offset + i]) !== 0);
}
export const elementsLeft = (op: string, mask: Tensor): number =>
  leftOf(mask)?.elements ?? flags(op, mask).reduce((n, flag) => n + Number(flag), 0);
export function slicesLeft(op: string, mask: Tensor, axis: number): number {
  const told = leftOf(mask)?.slices.get(axis);
  if (told !== undefined) return told;
  const inner = mask.shape.slice(axis + 1).reduce((n, size) => n * size, 1),
    seen = new Set<number>();
  flags(op, mask).forEach((flag, i) => {
    if (flag) seen.add(Math.floor(i / inner) % mask.shape[axis]!);
  });
  return seen.size;
}
