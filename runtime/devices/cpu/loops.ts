// The loops of an interpreted kernel.

import type { CpuLaunch } from "../../program/compiled-op.js";

/** A loop: how many points, how far one moves each access (by number), its name if formulas use it, and whether it runs
 *  from its end. */
export interface Dim {
  readonly size: number;
  readonly strides: readonly number[];
  readonly name: string;
  readonly back: boolean;
}

/** Loops without names. */
export function anonymous({ sizes, strides }: CpuLaunch["outer"], back: boolean): Dim[] {
  return sizes.map((size, k) => ({ size, strides: strides.map((s) => s[k]!), name: "", back }));
}

/** How many points loops have. */
export const product = (loops: readonly Dim[]): number => loops.reduce((n, { size }) => n * size, 1);
