// Functions that take their arguments by position and by name, as PyTorch's own operators do.

import { taken } from "../../base/named-arguments.js";
import type { Named } from "../../functions/viewing.js";
import { check } from "../../tensor/tensor-arguments.js";

/** A function of arguments by position, which come by the names of `line`, too; the first is a tensor. */
export function operator<P extends unknown[], R>(line: string, f: (...args: P) => R): (...args: P | Named<P>) => R {
  const [op, first] = line.split(" ") as [string, string];
  return ((...args: unknown[]) => {
    const given = taken(line, args);
    check(given[0], op, first);
    return f(...(given as P));
  }) as never;
}
