// Operators over graphs: what switches gradients for a part of a program, and its branches and loops.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import type { Elements } from "../program/compiled-op.js";
import { numbersOf } from "../elements/dtype.js";
import { stack } from "../functions/join.js";
import { set_grad_enabled } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { unbind } from "../views/splitting.js";
import type { Call, Operator } from "./operators.js";
import { type Steps, completed, finished, here, settled } from "./waiting.js";

type Body = (...values: unknown[]) => unknown;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);

/** The one number of a tensor, or the number itself. */
export function numberOf(value: unknown, op: string): number {
  if (typeof value === "number" || typeof value === "boolean") return Number(value);
  if (!(value instanceof Tensor)) throw new TypeMismatchError(`${op}: expected a number, got ${describe(value)}`);
  value.check(op);
  if (value.numel() !== 1) throw new OpError(`${op}: a tensor with ${value.numel()} elements is no number`);
  const { storage, offset, dtype } = here(value),
    at = (storage as unknown as { elements: Elements }).elements.subarray(offset, offset + 1);
  return (dtype === "int64" ? numbersOf(at) : at)[0]!;
}

/** What a graph gives, as a list. */
function* resultsOf(body: unknown, ...values: unknown[]): Steps<unknown[]> {
  return list(yield* settled((body as Body)(...values)));
}

const looped =
  (work: (call: Call) => Steps<unknown[]>): Operator =>
  (call) =>
    finished(work(call));

/** Effects that change nothing: they refuse what the function whose result they look at refuses here itself. */
const CHECKS = new Set(
  ["_linalg_check_errors.default", "_assert_async.msg", "_print.default"].map((op) => `torch.ops.aten.${op}`),
);

export const CONTROL: Readonly<Record<string, Operator>> = {
  wrap_with_set_grad_enabled: ({ args: [on, body, ...values] }) =>
    set_grad_enabled(on as boolean, () => (body as Body)(...values)),
  wrap_with_autocast: ({ args: [, , , , body, ...values] }) => (body as Body)(...values),
  // Only the order of effects is a value here.  Those that programs have check what their results are checked for anyway.
  with_effects: ({ args: [token, operator] }) => {
    if (!CHECKS.has(String(operator))) throw new OpError(`the effect ${String(operator)} cannot be had here`);
    return [token, null];
  },
  // what only says how gradients are to be computed, or what to compile as one
  tag_activation_checkpoint: ({ args: [body, ...values] }) => (body as Body)(...values),
  wrap: ({ args: [body, ...values] }) => (body as Body)(...values),
  invoke_subgraph: ({ args: [body, , ...values] }) => (body as Body)(...values),
  cond: ({ args: [condition, yes, no, values], target }) =>
    ((numberOf(condition, target) ? yes : no) as Body)(...list(values ?? [])),
  while_loop: looped(function* ({ args: [goOn, body, carried, more], target }) {
    const fixed = list(more ?? []);
    let values = list(carried);
    for (;;) {
      const [condition] = yield* resultsOf(goOn, ...values, ...fixed);
      if (!(yield* completed(() => numberOf(condition, target)))) return values;
      values = yield* resultsOf(body, ...values, ...fixed);
    }
  }),
  map_impl: looped(function* ({ args: [body, mapped, more] }) {
    const columns = list(mapped).map((x) => unbind(x as Tensor, 0)),
      rows: unknown[][] = [];
    for (let i = 0; i < columns[0]!.length; i++)
      rows.push(yield* resultsOf(body, ...columns.map((c) => c[i]), ...list(more ?? [])));
    return rows[0]!.map((_, k) => stack(rows.map((row) => row[k] as Tensor)));
  }),
  scan: looped(function* ({ args: [body, initial, scanned, more] }) {
    let carried = list(initial);
    const columns = list(scanned).map((x) => unbind(x as Tensor, 0)),
      outputs: unknown[][] = [];
    for (let i = 0; i < columns[0]!.length; i++) {
      const made = yield* resultsOf(body, ...carried, ...columns.map((c) => c[i]), ...list(more ?? []));
      outputs.push(made.slice(carried.length));
      carried = made.slice(0, carried.length);
    }
    return [...carried, ...outputs[0]!.map((_, k) => stack(outputs.map((row) => row[k] as Tensor)))];
  }),
};
