// Operators over graphs: what switches gradients for a part of a program, and its branches and loops.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { stack } from "../functions/join.js";
import { set_grad_enabled } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { unbind } from "../views/views.js";
import type { Operator } from "./operators.js";

type Body = (...values: unknown[]) => unknown;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);

/** The one number of a tensor, or the number itself; only the CPU's memory can be read at once. */
export function numberOf(value: unknown, op: string): number {
  if (typeof value === "number" || typeof value === "boolean") return Number(value);
  if (!(value instanceof Tensor)) throw new TypeMismatchError(`${op}: expected a number, got ${describe(value)}`);
  value.check(op);
  if (value.numel() !== 1) throw new OpError(`${op}: a tensor with ${value.numel()} elements is no number`);
  if (value.device !== "cpu")
    throw new OpError(
      `${op}: the program goes on by a value on ${value.device}, which cannot be read at once; run it on the CPU: torch.export.load(f, {device: "cpu"})`,
    );
  return (value.storage as unknown as { elements: ArrayLike<number> }).elements[value.offset]!;
}

export const CONTROL: Readonly<Record<string, Operator>> = {
  wrap_with_set_grad_enabled: ({ args: [on, body, ...values] }) =>
    set_grad_enabled(on as boolean, () => (body as Body)(...values)),
  wrap_with_autocast: ({ args: [, , , , body, ...values] }) => (body as Body)(...values),
  cond: ({ args: [condition, yes, no, values], target }) =>
    ((numberOf(condition, target) ? yes : no) as Body)(...list(values ?? [])),
  while_loop: ({ args: [goOn, body, carried, more], target }) => {
    const fixed = list(more ?? []);
    let values = list(carried);
    while (numberOf(list((goOn as Body)(...values, ...fixed))[0], target))
      values = list((body as Body)(...values, ...fixed));
    return values;
  },
  map_impl: ({ args: [body, mapped, more] }) => {
    const columns = list(mapped).map((x) => unbind(x as Tensor, 0)),
      rows = columns[0]!.map((_, i) => list((body as Body)(...columns.map((c) => c[i]), ...list(more ?? []))));
    return rows[0]!.map((_, k) => stack(rows.map((row) => row[k] as Tensor)));
  },
  scan: ({ args: [body, initial, scanned, more] }) => {
    let carried = list(initial);
    const columns = list(scanned).map((x) => unbind(x as Tensor, 0)),
      outputs: unknown[][] = [];
    for (let i = 0; i < columns[0]!.length; i++) {
      const made = list((body as Body)(...carried, ...columns.map((c) => c[i]), ...list(more ?? [])));
      outputs.push(made.slice(carried.length));
      carried = made.slice(0, carried.length);
    }
    return [...carried, ...outputs[0]!.map((_, k) => stack(outputs.map((row) => row[k] as Tensor)))];
  },
};
