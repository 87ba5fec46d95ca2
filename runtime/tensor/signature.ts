// Arguments of hand-written functions, bound as their signature says: by place or by name, each of its kind.

import { TypeMismatchError } from "../base/errors.js";
import { callable, flag, listOf, number, text, whole } from "../base/argument-kinds.js";
import { tensorOf, tensorsOf } from "./tensor-arguments.js";
import { named } from "../base/named-arguments.js";
import { integers } from "../base/shape.js";

type Check = (value: never, op: string, name: string) => unknown;

/** What an argument of each kind is checked to be. */
const KINDS: Readonly<Record<string, Check>> = {
  tensor: tensorOf,
  tensors: tensorsOf,
  int: whole,
  ints: (value, op, name) => integers([value], op, name),
  num: number,
  bool: flag,
  str: text,
  fn: callable,
  list: listOf,
  any: (value) => value,
};

/**
 * `signature("take(input: tensor, index: tensor)")`: a function from a call's arguments to one value for each
 * parameter, `undefined` for one that its `?` lets be left out (or null).  Throws TypeMismatchError for what is
 * missing, unknown, given twice, too many or of another kind.
 */
export function signature<T extends unknown[]>(line: string): (args: readonly unknown[]) => T {
  const [op, list] = line.slice(0, -1).split("(") as [string, string];
  const params = list.split(", ").map((part) => {
    const [name, kind] = part.split(": ") as [string, string];
    return { name, check: KINDS[kind.replace("?", "")]!, optional: kind.endsWith("?") };
  });
  const names = params.map(({ name }) => name);
  return (args) => {
    const given = named(op, names, args);
    return params.map(({ name, check, optional }, i) => {
      const value = given[i];
      if (optional && (value === undefined || value === null)) return undefined;
      if (value === undefined) throw new TypeMismatchError(`${op}: missing required argument '${name}'`);
      return check(value as never, op, name);
    }) as T;
  };
}
