// torch.sym_float and its kin: arithmetic on sizes, which are numbers of JavaScript here.

import { listOf, number } from "../../base/argument-kinds.js";
import { taken } from "../../base/named-arguments.js";

type Scalar = number | boolean;
const two = (op: string, args: ArrayLike<unknown>): [number, number] => {
  const [a, b] = taken(`${op} a b`, args);
  return [number(a, op, "a"), number(b, op, "b")];
};
const one = (op: string, args: ArrayLike<unknown>): number => number(taken(`${op} a`, args)[0], op, "a");

/**
 * A number as a float, which numbers of JavaScript are.
 *
 * @param a a number, or a boolean as 0 and 1
 *
 * @example
 * torch.sym_float(true)  // 1
 */
export function sym_float(...args: [a: Scalar]): number {
  return one("sym_float", args);
}
/**
 * A number without its fraction.
 *
 * @param a a number, or a boolean as 0 and 1
 *
 * @example
 * torch.sym_int(-2.7)  // -2
 */
export function sym_int(...args: [a: Scalar]): number {
  return Math.trunc(one("sym_int", args));
}
/**
 * The larger of two numbers.
 *
 * @param a a number, or a boolean as 0 and 1
 * @param b a number, or a boolean as 0 and 1
 *
 * @example
 * torch.sym_max(3, 7)  // 7
 */
export function sym_max(...args: [a: Scalar, b: Scalar]): number {
  return Math.max(...two("sym_max", args));
}
/**
 * The smaller of two numbers.
 *
 * @param a a number, or a boolean as 0 and 1
 * @param b a number, or a boolean as 0 and 1
 *
 * @example
 * torch.sym_min(3, 7)  // 3
 */
export function sym_min(...args: [a: Scalar, b: Scalar]): number {
  return Math.min(...two("sym_min", args));
}
/**
 * Whether a condition does not hold.
 *
 * @param a a number, or a boolean as 0 and 1
 *
 * @example
 * torch.sym_not(0)  // true
 */
export function sym_not(...args: [a: Scalar]): boolean {
  return !one("sym_not", args);
}
/**
 * `t` if `b` holds, else `f`.
 *
 * @param b whether it is `t`
 * @param t what is answered if it holds
 * @param f what is answered if it does not
 *
 * @example
 * torch.sym_ite(true, "long", "short")  // "long"
 */
export function sym_ite<T, F>(...args: [b: boolean, t: T, f: F]): T | F;
export function sym_ite(...args: unknown[]): unknown {
  const [b, t, f] = taken("sym_ite b t f", args);
  return number(b, "sym_ite", "b") ? t : f;
}
/**
 * The sum of numbers.
 *
 * @param args numbers, one by one or in a list
 *
 * @example
 * torch.sym_sum([1, 2, 4])  // 7
 */
export function sym_sum(...args: [args: readonly Scalar[]] | Scalar[]): number;
export function sym_sum(...args: unknown[]): number {
  const list = args.length === 1 && typeof args[0] === "object" ? listOf(args[0], "sym_sum", "args") : args;
  return list.reduce<number>((sum, x) => sum + number(x, "sym_sum", "args"), 0);
}
/**
 * The square root of a number.
 *
 * @param a a number, or a boolean as 0 and 1
 *
 * @example
 * torch.sym_sqrt(9)  // 3
 */
export function sym_sqrt(...args: [a: Scalar]): number {
  return Math.sqrt(one("sym_sqrt", args));
}
