// Arguments by name for the functions the runtime has by hand; ops have arguments.ts.

import { isOptions } from "./arguments.js";
import { TypeMismatchError } from "./errors.js";

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Positional arguments and a trailing object of options, as one list in the order of `names`.
 * Throws for options that are no names, and for what is given twice.
 */
export function named(op: string, names: readonly string[], args: readonly unknown[]): unknown[] {
  const last = args[args.length - 1];
  if (args.length === 0 || !isOptions(last)) return [...args];
  const out = args.slice(0, -1);
  for (const [name, value] of Object.entries(last)) {
    const at = names.findIndex((n) => n === name || camel(n) === name);
    if (at < 0) throw new TypeMismatchError(`${op}: got an unexpected keyword argument '${name}'`);
    if (out[at] !== undefined) throw new TypeMismatchError(`${op}: got multiple values for argument '${name}'`);
    out[at] = value;
  }
  return out;
}
