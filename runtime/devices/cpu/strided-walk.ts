// Where an access stands along loops: an affine place, taken in runs of equal steps.
// The interpreter's loops over elements are here, so that they are few and tight.

import type { Elements } from "../../program/compiled-op.js";

/** Points of loops in row-major order, each with a place: `origin` and for every loop its index times its step. */
export class Walk {
  private readonly sizes: number[] = [];
  private readonly steps: number[] = [];

  /**
   * @param sizes lengths of the loops, outermost first; `steps` may be negative
   * @param table where the walk's own values are, if they are not its places
   */
  constructor(
    sizes: readonly number[],
    steps: readonly number[],
    readonly origin: number,
    readonly table: Float64Array | null = null,
  ) {
    for (let d = 0; d < sizes.length; d++) {
      const last = this.sizes.length - 1;
      if (sizes[d] === 1) continue;
      if (last >= 0 && this.steps[last] === steps[d]! * sizes[d]!) {
        // two loops that are one
        this.sizes[last]! *= sizes[d]!;
        this.steps[last] = steps[d]!;
      } else {
        this.sizes.push(sizes[d]!);
        this.steps.push(steps[d]!);
      }
    }
  }

  /** The one place of all these points, or -1. */
  still(start: number, count: number): number {
    const last = this.sizes.length - 1;
    if (last < 0) return this.origin;
    if (this.steps[last] !== 0 || (start % this.sizes[last]!) + count > this.sizes[last]!) return -1;
    let place = -1;
    this.runs(start, 1, (_k, _n, at) => (place = at));
    return place;
  }

  /**
   * Calls `run` for each run of `count` points from number `start` on: its first point (from 0), how many, their first
   * place and its step.
   */
  runs(start: number, count: number, run: (k: number, n: number, at: number, step: number) => void): void {
    const { sizes, steps } = this,
      last = sizes.length - 1;
    if (last < 0) return run(0, count, this.origin, 0);
    const size = sizes[last]!,
      step = steps[last]!;
    for (let k = 0; k < count; ) {
      let rest = start + k;
      const along = rest % size,
        n = Math.min(size - along, count - k);
      let at = this.origin + along * step;
      rest = (rest - along) / size;
      for (let d = last - 1; d >= 0 && rest > 0; d--) {
        const index = rest % sizes[d]!;
        at += index * steps[d]!;
        rest = (rest - index) / sizes[d]!;
      }
      run(k, n, at, step);
      k += n;
    }
  }

  /**
   * The elements of `array` at the points, into `out`; where there is none, NaN.  where: 0 at points that take those of
   * `other`, or 0.
   */
  read(
    array: Elements | Float64Array,
    start: number,
    count: number,
    out: Float64Array,
    where: Float64Array | null = null,
    other: Float64Array | null = null,
  ): void {
    this.runs(start, count, (k, n, at, step) => {
      if (where)
        for (const end = k + n; k < end; k++, at += step) out[k] = where[k] !== 0 ? array[at]! : other ? other[k]! : 0;
      else if (step === 1 && n > 8 && at >= 0 && at + n <= array.length) out.set(array.subarray(at, at + n), k);
      else if (step === 0) out.fill(array[at]!, k, k + n);
      else for (let i = 0; i < n; i++) out[k + i] = array[at + i * step]!;
    });
  }

  /** The other way: `value` at the points into `array`. */
  write(array: Elements, start: number, count: number, value: Float64Array): void {
    this.runs(start, count, (k, n, at, step) => {
      if (step === 1 && n > 8) array.set(value.subarray(k, k + n), at);
      else for (let i = 0; i < n; i++) array[at + i * step] = value[k + i]!;
    });
  }

  /** The places themselves. */
  places(start: number, count: number, out: Float64Array): void {
    this.runs(start, count, (k, n, at, step) => {
      for (let i = 0; i < n; i++) out[k + i] = at + i * step;
    });
  }
}
