// `foreach` ops: an op over lists of tensors.  Where the compiler found that it computes every element by itself,
// tensors that lie side by side in a device's memory are one long tensor to it, and take one launch.  All others are
// done one after another.

import { arrange } from "../dispatch/op-arguments.js";
import { runValues } from "../dispatch/call.js";
import type { CompiledOp } from "../program/compiled-op.js";
import type { List } from "../devices/device.js";
import { wantsEach } from "../devices/observers.js";
import { Tensor } from "../tensor/tensor.js";
import { unsqueeze } from "../views/views.js";

/** Runs an op for each place of the lists that its tensor parameters get. */
export function runForeach(compiled: CompiledOp, args: readonly unknown[]): void {
  const { op } = compiled,
    { params, slots } = op,
    values = arrange(op, args);
  const lists = params.map((p, i) => (p.slot >= 0 && Array.isArray(values[i]) ? (values[i] as List) : null));
  const n = lists.find((list) => list !== null)?.length ?? 0;
  // Lists of tensors with elements for all places, and of tensors without axes, which serve all elements.
  const elements: List[] = [],
    single: List[] = [];
  lists.forEach((list, i) => {
    if (list) (slots[params[i]!.slot]!.dims.length ? elements : single).push(list);
  });
  const joins =
    n > 1 &&
    op.elementwise &&
    !wantsEach() &&
    params.every(({ slot }, i) => slot < 0 || lists[i] || !(values[i] instanceof Tensor));
  for (let k = 0; k < n; ) {
    const joined =
      (joins &&
        elements[0]?.[k]?.storage.device.joined?.(elements, k, (at) => single.every((list) => list[at] === list[k]))) ||
      null;
    const count = joined?.count ?? 1;
    if (joined) {
      lists.forEach((list, i) => {
        if (list && slots[params[i]!.slot]!.mut) for (let at = k; at < k + count; at++) list[at]!.storage.change();
      });
    }
    runValues(
      compiled,
      values.map((value, i) => {
        const list = lists[i],
          at = joined && list ? elements.indexOf(list) : -1;
        return at >= 0 ? joined!.tensors[at] : list ? list[k] : value;
      }),
    );
    k += count;
  }
}

/** Brings tensors of one shape together. */
export function byShape(a: Tensor, b: Tensor): number {
  const first = a.shape.join(),
    second = b.shape.join();
  return first < second ? -1 : first > second ? 1 : 0;
}

/**
 * Calls `f` with the tensors of all lists: those of one shape that lie side by side as one tensor with a first axis
 * that counts them,
 *  others one after another with such an axis of one.  `changed`: the lists that it changes in place. */
export function forEachStack(
  lists: readonly (readonly Tensor[])[],
  changed: readonly (readonly Tensor[])[],
  f: (tensors: readonly Tensor[]) => void,
): void {
  for (let k = 0; k < lists[0]!.length; ) {
    const stack = wantsEach() ? null : lists[0]![k]!.storage.device.stacked?.(lists, k);
    if (stack) for (const list of changed) for (let at = k; at < k + stack.count; at++) list[at]!.storage.change();
    f(stack?.tensors ?? lists.map((list) => unsqueeze(list[k]!, 0)));
    k += stack?.count ?? 1;
  }
}
