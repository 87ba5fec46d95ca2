// Arguments by place and by name for the functions the runtime has by hand; ops have dispatch/op-arguments.ts.

import { TypeMismatchError } from "./errors.js";
import { unknownOption } from "./argument-kinds.js";

/** Whether a value is an object of options: a plain object, no tensor, array or typed array. */
export function isOptions(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The error for more arguments by place than there are. */
export const tooMany = (op: string, most: number, given: number): TypeMismatchError =>
  new TypeMismatchError(`${op}: takes at most ${most} positional argument${most === 1 ? "" : "s"}, but got ${given}`);

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Positional arguments and a trailing object of options, as one list in the order of `names`.
 * Throws for options that are no names, for what is given twice, and for more than `most` arguments by place.  It may
 * be `args` itself.
 */
export function named(op: string, names: readonly string[], args: readonly unknown[], most = names.length): unknown[] {
  return args.length <= most && !isOptions(args[args.length - 1])
    ? (args as unknown[])
    : apart(op, names, [], args, most).values;
}

/**
 * The same, and apart from them the options that `others` names: under those names, if not `undefined`.
 */
export function apart(
  op: string,
  names: readonly string[],
  others: readonly string[],
  args: readonly unknown[],
  most = names.length,
): { values: unknown[]; options: Record<string, unknown> } {
  const last = args[args.length - 1],
    options: Record<string, unknown> = {},
    values = [...args];
  if (isOptions(last)) values.pop();
  atMost(op, values, most);
  if (isOptions(last)) {
    for (const [name, value] of Object.entries(last)) {
      const same = (n: string): boolean => n === name || camel(n) === name,
        at = names.findIndex(same);
      if (at < 0) {
        const other = others.find(same);
        if (other === undefined) throw unknownOption(op, name, [...names, ...others]);
        if (value !== undefined) options[other] = value;
      } else if (values[at] !== undefined)
        throw new TypeMismatchError(`${op}: got multiple values for argument '${name}'`);
      else values[at] = value;
    }
  }
  return { values, options };
}

/** Refuses more arguments by place than there are; `undefined` and null are none. */
export function atMost(op: string, values: ArrayLike<unknown>, most: number): void {
  for (let i = most; i < values.length; i++) {
    if (values[i] !== undefined && values[i] !== null) throw tooMany(op, most, values.length);
  }
}

/**
 * Lets the methods of a class, the static ones too, refuse more arguments than they have parameters; but not those
 * called `open`, which take any number or bind theirs by `named`.  A parameter that may be left out is written `x?`:
 * `length` does not count one with a default.
 */
export function limited<C extends abstract new (...args: never[]) => unknown>(
  target: C,
  prefix: string,
  ...open: readonly string[]
): C {
  for (const at of [target, target.prototype as object]) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)) as [
      string,
      { value?: unknown },
    ][]) {
      if (typeof value !== "function" || name === "constructor" || open.includes(name)) continue;
      const op = prefix + name,
        method = value as (...args: unknown[]) => unknown;
      Object.defineProperty(at, name, {
        value(...args: unknown[]) {
          if (args.length > method.length) named(op, [], args, method.length);
          return method.apply(this, args);
        },
      });
    }
  }
  return target;
}
