// `foreach` ops: an op over lists of tensors.  Where the compiler found that it computes every element by itself, tensors that lie side by
// side in the memory of a GPU (webgpu/flat.ts) are one long tensor to it, and take one launch.  All others are done one after another.

import { arrange } from "./arguments.js";
import { runValues } from "./call.js";
import type { CompiledOp } from "./compiled.js";
import { wantsEach } from "./observers.js";
import { sameShape } from "./shape.js";
import { Tensor } from "./tensor.js";
import { type Part, partOf } from "./webgpu/flat.js";

/** Values of an op's parameters; a list has one for each place. */
interface Lists {
  readonly compiled: CompiledOp;
  readonly values: readonly unknown[];
  readonly lists: readonly (readonly unknown[] | null)[];
}

/** Runs an op for each place of the lists that its tensor parameters get. */
export function runForeach(compiled: CompiledOp, args: readonly unknown[]): void {
  const { op } = compiled, values = arrange(op, args);
  const lists = op.params.map((p, i) => (p.slot >= 0 && Array.isArray(values[i]) ? (values[i] as readonly unknown[]) : null));
  const n = lists.find((list) => list !== null)?.length ?? 0, all = { compiled, values, lists }, joins = n > 1 && op.elementwise && !wantsEach();
  for (let k = 0; k < n;) {
    const last = joins ? runFrom(all, k, n) : k;
    if (last > k) runTogether(all, k, last);
    else runValues(compiled, values.map((value, i) => (lists[i] ? lists[i][k] : value)));
    k = last + 1;
  }
}

/** Where each list's tensor at a place lies; null unless all lie in buffers of their own, at like places.  A tensor without axes that
 *  serves all elements is at no place. */
function partsAt({ compiled: { op }, values, lists }: Lists, k: number): (Part | null)[] | null {
  const parts: (Part | null)[] = [];
  let like: Tensor | null = null;
  for (let i = 0; i < lists.length; i++) {
    const { slot } = op.params[i]!, list = lists[i], value = list ? list[k] : values[i];
    parts.push(null);
    if (slot < 0 || value === null || value === undefined || !op.slots[slot]!.dims.length) continue;
    const part = list && value instanceof Tensor ? partOf(value) : null;
    if (!part || parts.some((other) => other?.flat === part.flat)) return null;
    like ??= value as Tensor;
    if (!sameShape(like.shape, (value as Tensor).shape) || like.dtype !== (value as Tensor).dtype) return null;
    parts[i] = part;
  }
  return like && parts;
}

/** The last place up to which everything lies side by side with what is at `start`. */
function runFrom(all: Lists, start: number, n: number): number {
  const { compiled: { op }, lists } = all, first = partsAt(all, start);
  let last = start;
  for (let before = first; first && last + 1 < n; last++) {
    const next = partsAt(all, last + 1);
    let distance = -1;
    const beside = next !== null && next.every((part, i) => {
      const list = lists[i];
      if (!part) return !list || op.params[i]!.slot < 0 || list[last + 1] === list[last];
      if (part.flat !== before![i]?.flat || part.index !== before![i]!.index + 1) return false;
      if (distance < 0) distance = part.offset - first[i]!.offset;
      return part.offset - first[i]!.offset === distance;
    });
    if (!beside) break;
    before = next;
  }
  return last;
}

function runTogether({ compiled, values, lists }: Lists, first: number, last: number): void {
  const { op } = compiled;
  runValues(compiled, values.map((value, i) => {
    const x = lists[i] ? lists[i][first] : value, part = lists[i] && x instanceof Tensor ? partOf(x) : null;
    return part && op.slots[op.params[i]!.slot]!.dims.length ? part.flat.run(part.index, part.index + last - first, (x as Tensor).dtype) : x;
  }));
  lists.forEach((list, i) => {
    if (!list || !op.slots[op.params[i]!.slot]!.mut) return;
    for (let k = first; k <= last; k++) (list[k] as Tensor | null)!.storage.version++;
  });
}
