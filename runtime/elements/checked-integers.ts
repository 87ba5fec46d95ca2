// Whole numbers in kernels on the CPU: computed in doubles and checked where a formula ends.  What does not fit into 32
// bits is an error; 8-bit types wrap, as PyTorch's do.

import type { KernelCall } from "../program/compiled-op.js";
import { OpError } from "../base/errors.js";
import { shiftLeft as shifted, wholePower } from "./math.js";

/** Sums beyond are not exact in a double. */
const MOST = 2 ** 52;

/** What is computed, where it fits. */
export function fits(x: number, kernel: KernelCall): number {
  return x === (x | 0) ? x : wrapped(x, kernel);
}

function wrapped(x: number, kernel: KernelCall): number {
  if (kernel.narrow || x !== x) return x | 0; // an endless product times 0 is 0
  throw new OpError(`${kernel.op}: the result does not fit into int32`);
}

/** Sums of products, from doubles that may have lost a few digits of their end, and from its lowest 32 bits. */
export function settled(x: number, low: number, kernel: KernelCall): number {
  return kernel.narrow || Math.abs(x - low) < 2 ** 31 ? low : wrapped(x, kernel);
}

/** A sum so far: it may leave 32 bits and come back. */
export function exact(x: number, kernel: KernelCall): number {
  return x <= MOST && x >= -MOST ? x : wrapped(x, kernel);
}

/** x ** y. */
export function power(x: number, y: number, kernel: KernelCall): number {
  const low = wholePower(x, y);
  return y < 0 || Math.abs(Math.pow(x, y) - low) < 1 ? low : kernel.narrow ? low : wrapped(Infinity, kernel);
}

/** x << y. */
export function shiftLeft(x: number, y: number, kernel: KernelCall): number {
  return y < 0 || kernel.narrow ? shifted(x, y) : fits(x * 2 ** y, kernel);
}

/** x // y; 0 for y = 0. */
export function quotient(x: number, y: number, kernel: KernelCall): number {
  return y === 0 ? 0 : fits(Math.floor(x / y), kernel);
}
