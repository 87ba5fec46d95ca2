// `foreach` ops: an op over lists of tensors.  Where the compiler found that it computes every element by itself, tensors that lie side by
// side in the memory of a GPU (webgpu/flat.ts) are one long tensor to it, and take one launch.  All others are done one after another.

import { arrange } from "./arguments.js";
import { runValues } from "./call.js";
import type { CompiledOp } from "./compiled.js";
import { wantsEach } from "./observers.js";
import { sameShape } from "./shape.js";
import { Tensor } from "./tensor.js";
import { type Part, partOf } from "./webgpu/flat.js";

type List = readonly (Tensor | null)[];

/** Runs an op for each place of the lists that its tensor parameters get. */
export function runForeach(compiled: CompiledOp, args: readonly unknown[]): void {
  const { op } = compiled, values = arrange(op, args);
  const lists = op.params.map((p, i) => (p.slot >= 0 && Array.isArray(values[i]) ? (values[i] as List) : null));
  const n = lists.find((list) => list !== null)?.length ?? 0;
  // Lists of tensors with elements for all places, and of tensors without axes, which serve all elements.
  const elements: List[] = [], single: List[] = [];
  lists.forEach((list, i) => { if (list) (op.slots[op.params[i]!.slot]!.dims.length ? elements : single).push(list); });
  const joins = n > 1 && op.elementwise && !wantsEach() && op.params.every(({ slot }, i) => slot < 0 || lists[i] || !(values[i] instanceof Tensor));
  for (let k = 0; k < n;) {
    const first = joins ? partsAt(elements, k) : null, count = first ? together(elements, single, first, k, n) : 1;
    const own = values.map((value, i) => (lists[i] ? lists[i][k] : value));
    if (count > 1) runTogether(compiled, own, lists, elements, first!, k, count);
    else runValues(compiled, own);
    k += count;
  }
}

/** Where the tensors of all lists at a place lie; null unless each fills a part of another flat buffer, and all are alike. */
function partsAt(elements: readonly List[], k: number): Part[] | null {
  const parts: Part[] = [], like = elements[0]?.[k];
  for (const list of elements) {
    const x = list[k], part = x && partOf(x);
    if (!part || x.dtype !== like!.dtype || !sameShape(x.shape, like!.shape) || parts.some(({ flat }) => flat === part.flat)) return null;
    parts.push(part);
  }
  return parts.length ? parts : null;
}

/** How many places from `start` on lie side by side, and at like distances in all lists. */
function together(elements: readonly List[], single: readonly List[], first: readonly Part[], start: number, n: number): number {
  const { dtype } = elements[0]![start]!;
  for (let k = start + 1; k < n; k++) {
    const { shape } = elements[0]![k]!;
    let distance = -1;
    for (let i = 0; i < first.length; i++) {
      const { flat, index, offset } = first[i]!, part = flat.parts[index + k - start], x = elements[i]![k];
      if (!part || !x || x.storage.cell.buffer !== part || !partOf(x) || x.dtype !== dtype || !sameShape(x.shape, shape)) return k - start;
      if (distance < 0) distance = part.offset - offset;
      if (part.offset - offset !== distance) return k - start;
    }
    for (const list of single) if (list[k] !== list[start]) return k - start;
  }
  return n - start;
}

/** Runs an op over `count` places from `start` on at once. */
function runTogether(compiled: CompiledOp, values: readonly unknown[], lists: readonly (List | null)[], elements: readonly List[],
  first: readonly Part[], start: number, count: number): void {
  runValues(compiled, values.map((value, i) => {
    const at = lists[i] ? elements.indexOf(lists[i]) : -1;
    return at < 0 ? value : first[at]!.flat.run(first[at]!.index, count, (value as Tensor).dtype);
  }));
  const { params, slots } = compiled.op;
  lists.forEach((list, i) => {
    if (!list || !slots[params[i]!.slot]!.mut) return;
    for (let k = start; k < start + count; k++) list[k]!.storage.version++;
  });
}
