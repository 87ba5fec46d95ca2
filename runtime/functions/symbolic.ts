// torch.sym_float and its kin: arithmetic on sizes, which are numbers of JavaScript here.

import { listOf, number } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";

type Scalar = number | boolean;
const two = (op: string, args: ArrayLike<unknown>): [number, number] => {
  const [a, b] = taken(`${op} a b`, args);
  return [number(a, op, "a"), number(b, op, "b")];
};
const one = (op: string, args: ArrayLike<unknown>): number => number(taken(`${op} a`, args)[0], op, "a");

/** A number as a float, which numbers of JavaScript are. */
export function sym_float(...args: [a: Scalar]): number {
  return one("sym_float", args);
}
/** A number without its fraction. */
export function sym_int(...args: [a: Scalar]): number {
  return Math.trunc(one("sym_int", args));
}
/** The larger of two numbers. */
export function sym_max(...args: [a: Scalar, b: Scalar]): number {
  return Math.max(...two("sym_max", args));
}
/** The smaller of two numbers. */
export function sym_min(...args: [a: Scalar, b: Scalar]): number {
  return Math.min(...two("sym_min", args));
}
/** Whether a condition does not hold. */
export function sym_not(...args: [a: Scalar]): boolean {
  return !one("sym_not", args);
}
/** `t` if `b` holds, else `f`. */
export function sym_ite<T, F>(...args: [b: boolean, t: T, f: F]): T | F;
export function sym_ite(...args: unknown[]): unknown {
  const [b, t, f] = taken("sym_ite b t f", args);
  return number(b, "sym_ite", "b") ? t : f;
}
/** The sum of numbers. */
export function sym_sum(...args: [args: readonly Scalar[]] | Scalar[]): number;
export function sym_sum(...args: unknown[]): number {
  const list = args.length === 1 && typeof args[0] === "object" ? listOf(args[0], "sym_sum", "args") : args;
  return list.reduce<number>((sum, x) => sum + number(x, "sym_sum", "args"), 0);
}
/** The square root of a number. */
export function sym_sqrt(...args: [a: Scalar]): number {
  return Math.sqrt(one("sym_sqrt", args));
}
