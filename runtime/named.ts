// Arguments by name for the functions the runtime has by hand; ops have arguments.ts.

import { isOptions } from "./arguments.js";
import { TypeMismatchError } from "./errors.js";
import { unknownOption } from "./kinds.js";

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Positional arguments and a trailing object of options, as one list in the order of `names`.
 * Throws for options that are no names, and for what is given twice.
 */
export function named(op: string, names: readonly string[], args: readonly unknown[]): unknown[] {
  return apart(op, names, [], args).values;
}

/**
 * The same, and apart from them the options that `others` names: under those names, if not `undefined`.
 */
export function apart(op: string, names: readonly string[], others: readonly string[], args: readonly unknown[]): { values: unknown[]; options: Record<string, unknown> } {
  const last = args[args.length - 1], options: Record<string, unknown> = {};
  if (args.length === 0 || !isOptions(last)) return { values: [...args], options };
  const values = args.slice(0, -1);
  for (const [name, value] of Object.entries(last)) {
    const same = (n: string): boolean => n === name || camel(n) === name, at = names.findIndex(same);
    if (at < 0) {
      const other = others.find(same);
      if (other === undefined) throw unknownOption(op, name, [...names, ...others]);
      if (value !== undefined) options[other] = value;
    } else if (values[at] !== undefined) throw new TypeMismatchError(`${op}: got multiple values for argument '${name}'`);
    else values[at] = value;
  }
  return { values, options };
}

/** Refuses more arguments by place than there are. */
export function atMost(op: string, values: readonly unknown[], most: number): void {
  for (let i = most; i < values.length; i++) {
    if (values[i] !== undefined && values[i] !== null) throw new TypeMismatchError(`${op}: takes at most ${most} arguments, but got ${values.length}`);
  }
}
