// Whole numbers in kernels on the CPU: computed in doubles and checked where a formula ends.  What does not fit into 32
// bits is an error; 8-bit types wrap, as PyTorch's do.

import type { CpuNest } from "../program/compiled-op.js";
import { OpError } from "../base/errors.js";
import { shiftLeft as shifted, wholePower } from "./math.js";

/** Sums beyond are not exact in a double. */
const MOST = 2 ** 52;

/** What is computed, where it fits. */
export function fits(x: number, nest: CpuNest): number {
  return x === (x | 0) ? x : wrapped(x, nest);
}

function wrapped(x: number, nest: CpuNest): number {
  if (nest.narrow || x !== x) return x | 0; // an endless product times 0 is 0
  throw new OpError(`${nest.op}: the result does not fit into int32`);
}

/** Sums of products, from doubles that may have lost a few digits of their end, and from its lowest 32 bits. */
export function settled(x: number, low: number, nest: CpuNest): number {
  return nest.narrow || Math.abs(x - low) < 2 ** 31 ? low : wrapped(x, nest);
}

/** A sum so far: it may leave 32 bits and come back. */
export function exact(x: number, nest: CpuNest): number {
  return x <= MOST && x >= -MOST ? x : wrapped(x, nest);
}

/** x ** y. */
export function power(x: number, y: number, nest: CpuNest): number {
  const low = wholePower(x, y);
  return y < 0 || Math.abs(Math.pow(x, y) - low) < 1 ? low : nest.narrow ? low : wrapped(Infinity, nest);
}

/** x << y. */
export function shiftLeft(x: number, y: number, nest: CpuNest): number {
  return y < 0 || nest.narrow ? shifted(x, y) : fits(x * 2 ** y, nest);
}

/** x // y; 0 for y = 0. */
export function quotient(x: number, y: number, nest: CpuNest): number {
  return y === 0 ? 0 : fits(Math.floor(x / y), nest);
}
