// Arguments of hand-written functions, bound as their signature says: by position or by name, each of its kind.

import { callable, flag, listOf, number, text, integer } from "../base/argument-kinds.js";
import { tensorOf, tensorsOf } from "./tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import { integers } from "../base/shape.js";

type Check = (value: never, op: string, name: string) => unknown;

/** What an argument of each kind is checked to be. */
const KINDS: Readonly<Record<string, Check>> = {
  tensor: tensorOf,
  tensors: tensorsOf,
  int: integer,
  ints: (value, op, name) => integers([value], op, name),
  num: number,
  bool: flag,
  str: text,
  fn: callable,
  list: listOf,
  any: (value) => value,
};

/**
 * `signature("take input:tensor index:tensor")`: a function from a call's arguments to one value for each parameter,
 * `undefined` for one that its `?` lets be left out (or null).  Throws TypeMismatchError for what is missing, unknown,
 * given twice, too many or of another kind.
 */
export function signature<T extends unknown[]>(line: string): (args: readonly unknown[]) => T {
  const [op, ...words] = line.split(" ") as [string, ...string[]];
  const params = words.map((word) => {
    const [name, kind] = word.split(/[:?]/) as [string, string];
    return { name, check: KINDS[kind]!, optional: word.endsWith("?") };
  });
  return (args) => {
    const given = taken(line, args);
    return params.map(({ name, check, optional }, i) => {
      const value = given[i] as unknown;
      return optional && (value === undefined || value === null) ? undefined : check(value as never, op, name);
    }) as T;
  };
}
