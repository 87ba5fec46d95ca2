// Arithmetic of sizes and other numbers in exported programs: Python's, as _operator, math and torch.sym_… have it.

import { OpError } from "../base/errors.js";

type Numeric = (...values: never[]) => unknown;
const floor = (a: number, b: number): number => {
  if (b === 0) throw new OpError("division of a size by zero");
  return Math.floor(a / b);
};

/** What whole numbers come to, which is whole and exact, as Python's are of any size. */
function exact(result: number, ...given: readonly number[]): number {
  if (Number.isInteger(result) && !Number.isSafeInteger(result) && given.every(Number.isSafeInteger))
    throw new OpError(`a size of the program comes to ${result}: beyond 2**53 sizes are not exact in JavaScript`);
  return result;
}

/** Of the bits of both, which Python has as many of as it takes. */
const bitwise = (a: number, b: number, of: (a: bigint, b: bigint) => bigint): number =>
  Number(of(BigInt(a), BigInt(b)));

const all = {
  add: (a: number, b: number) => exact(a + b, a, b),
  sub: (a: number, b: number) => exact(a - b, a, b),
  mul: (a: number, b: number) => exact(a * b, a, b),
  neg: (a: number) => -a,
  pos: (a: number) => a,
  abs: Math.abs,
  pow: (a: number, b: number) => exact(a ** b, a, b),
  truediv: (a: number, b: number) => a / b,
  floordiv: floor,
  mod: (a: number, b: number) => a - b * floor(a, b),
  eq: (a: unknown, b: unknown) => a === b,
  ne: (a: unknown, b: unknown) => a !== b,
  lt: (a: number, b: number) => a < b,
  le: (a: number, b: number) => a <= b,
  gt: (a: number, b: number) => a > b,
  ge: (a: number, b: number) => a >= b,
  and_: (a: unknown, b: unknown) =>
    typeof a === "boolean" ? a && b : bitwise(a as number, b as number, (x, y) => x & y),
  or_: (a: unknown, b: unknown) =>
    typeof a === "boolean" ? a || b : bitwise(a as number, b as number, (x, y) => x | y),
  not_: (a: unknown) => !a,
  getitem: (list: readonly unknown[], at: number) => list[at < 0 ? at + list.length : at],
  ceil: Math.ceil,
  floor: Math.floor,
  trunc: Math.trunc,
  sqrt: Math.sqrt,
  round: (a: number) => {
    const down = Math.floor(a);
    return a - down === 0.5 ? (down % 2 === 0 ? down : down + 1) : Math.round(a);
  },
  sym_max: Math.max,
  sym_min: Math.min,
  sym_sum: (list: readonly number[]) => list.reduce((a, b) => exact(a + b, a, b), 0),
  sym_int: Math.trunc,
  sym_float: (a: number) => a,
  sym_not: (a: boolean) => !a,
  sym_ite: (condition: boolean, yes: unknown, no: unknown) => (condition ? yes : no),
  _sym_sqrt: Math.sqrt,
} satisfies Record<string, Numeric>;

/** By the name behind its module's. */
export const NUMBERS = all as unknown as Readonly<Record<string, (...values: unknown[]) => unknown>>;
