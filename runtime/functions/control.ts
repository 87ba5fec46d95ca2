// Control flow that the values decide: torch.cond and torch.while_loop. Reading a GPU is a promise, and so is what
// follows from it.

import { callable, listOf } from "../base/argument-kinds.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { Tensor } from "../tensor/tensor.js";

/** A boolean or number, or what a tensor of one element holds. */
function truth(value: unknown, op: string, name: string): boolean | Promise<boolean> {
  if (typeof value === "boolean" || typeof value === "number") return Boolean(value);
  if (!(value instanceof Tensor))
    throw new TypeMismatchError(`${op}: ${name} must be a boolean, a number or a Tensor, got ${describe(value)}`);
  if (value.numel() !== 1) throw new OpError(`${op}: ${name} must have a single element, got ${value.numel()}`);
  value.check(op);
  const { storage, offset } = value;
  return storage.device.type === "cpu" ? Boolean(Number(storage.elements[offset])) : value.item().then(Boolean);
}

/**
 * What `true_fn(...operands)` answers if `pred` holds, else `false_fn(...operands)`; a promise of it where `pred` is a
 * tensor on a GPU.
 *
 * @example
 * const x = torch.tensor([1, 2, 3]);
 * torch.cond(x.sum().gt(5), (t) => t.mul(10), (t) => t, [x])  // [10, 20, 30]
 */
export function cond<R, Operands extends readonly unknown[] = []>(
  pred: boolean | number | Tensor,
  true_fn: (...operands: Operands) => R,
  false_fn: (...operands: Operands) => R,
  operands?: Operands,
): R | Promise<R>;
export function cond(...args: unknown[]): unknown {
  const [pred, yes, no, operands = []] = taken("cond pred true_fn false_fn operands?", args),
    list = listOf<unknown>(operands, "cond", "operands"),
    holds = truth(pred, "cond", "pred");
  callable(yes, "cond", "true_fn");
  callable(no, "cond", "false_fn");
  const branch = (is: boolean): unknown => ((is ? yes : no) as (...given: unknown[]) => unknown)(...list);
  return holds instanceof Promise ? holds.then(branch) : branch(holds);
}

/**
 * Lets `body_fn` make the next values of the carried ones, a list of as many, while `cond_fn` of them holds; a promise
 * where that is a tensor on a GPU.
 *
 * @example
 * const doubled = torch.while_loop((x) => x.lt(100), (x) => [x.mul(2)], [torch.tensor(3)]);
 * doubled[0]  // 192
 */
export function while_loop<Carried extends readonly unknown[]>(
  cond_fn: (...carried: Carried) => boolean | number | Tensor,
  body_fn: (...carried: Carried) => Carried | readonly unknown[],
  carried_inputs: Carried,
): Carried | Promise<Carried>;
export function while_loop(...args: unknown[]): unknown {
  const op = "while_loop",
    [goesOn, body, carried] = taken(`${op} cond_fn body_fn carried_inputs`, args);
  callable(goesOn, op, "cond_fn");
  callable(body, op, "body_fn");
  let values = listOf<unknown>(carried, op, "carried_inputs");
  const next = (): void => {
    const made = (body as (...given: unknown[]) => unknown)(...values),
      list = Array.isArray(made) ? (made as unknown[]) : [made];
    if (list.length !== values.length)
      throw new OpError(
        `${op}: body_fn must answer ${values.length} values, as many as are carried, got ${list.length}`,
      );
    values = list;
  };
  const asks = (): boolean | Promise<boolean> =>
    truth((goesOn as (...given: unknown[]) => unknown)(...values), op, "what cond_fn answers");
  const waiting = async (holds: Promise<boolean>): Promise<unknown> => {
    while (await holds) {
      next();
      holds = Promise.resolve(asks());
    }
    return values;
  };
  for (;;) {
    const holds = asks();
    if (holds instanceof Promise) return waiting(holds);
    if (!holds) return values;
    next();
  }
}
