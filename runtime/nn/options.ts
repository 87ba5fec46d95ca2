// What constructors of modules share: arguments by name, starting values of parameters.

import { rand } from "../create.js";
import { TypeMismatchError } from "../errors.js";
import { named } from "../named.js";
import { no_grad } from "../grad-mode.js";
import type { Tensor } from "../tensor.js";
import { mul, sub } from "../../names/torch.js";
import { Parameter } from "./parameter.js";

/** The arguments of a constructor by name, with defaults; throws for one that is missing or unknown. */
export function construct<T extends object>(name: string, defaults: T, args: readonly unknown[]): { [K in keyof T]: T[K] } {
  const names = Object.keys(defaults), given = named(name, names, args), out = { ...defaults };
  names.forEach((key, i) => {
    if (given[i] !== undefined) (out as Record<string, unknown>)[key] = given[i];
    else if ((out as Record<string, unknown>)[key] === undefined) throw new TypeMismatchError(`${name}: missing required argument '${key}'`);
  });
  return out;
}

/** A parameter with elements drawn evenly from -bound to bound. */
export function uniform(shape: readonly number[], bound: number): Parameter {
  return new Parameter(no_grad(() => sub(mul(rand(shape), 2 * bound), bound)));
}

/** `value` for each of `count` axes. */
export function axes(value: number | readonly number[], count: number): number[] {
  return typeof value === "number" ? new Array<number>(count).fill(value) : [...value];
}

export type Bias = Tensor | null;
