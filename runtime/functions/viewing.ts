// What functions of a tensor and of named arguments are made by: `torch.transpose(x, 0, 1)`, and the same with PyTorch's
// argument names in a trailing object.

import { check } from "../tensor/tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import type { Tensor } from "../tensor/tensor.js";

type Rest<F> = F extends (x: Tensor, ...rest: infer R) => unknown ? R : never;
type Result<F> = F extends (...args: never[]) => infer R ? R : never;
export type Options = Readonly<Record<string, unknown>>;
/** The first arguments by position, all others by name. */
export type Named<R extends readonly unknown[]> = number extends R["length"]
  ? [...R, Options]
  :
      | [Options]
      | (R extends readonly [] ? never : R extends readonly [_?: infer A, ...rest: infer S] ? [A, ...Named<S>] : never);

/** A function of a tensor and of named arguments. */
export function viewing<F extends (x: Tensor, ...rest: never[]) => unknown>(
  line: string,
  f: F,
): (input: Tensor, ...args: Rest<F> | Named<Rest<F>>) => Result<F> {
  const [op, own] = line.split(/ (.*)/) as [string, string?],
    all = `${op} input${own ? ` ${own}` : ""}`;
  return ((...args: unknown[]) => {
    const given = taken(all, args);
    check(given[0], op, "input");
    return f(...(given as [Tensor, ...never[]]));
  }) as never;
}

export type Size = number | readonly number[];
