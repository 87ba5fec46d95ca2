// Reductions under way: the value so far of each row, which the interpreter meets element by element.

import type { Vector } from "./formula.js";

const START: Readonly<Record<string, number>> = { prod: 1, all: 1, max: -Infinity, min: Infinity };

/** What so many rows have come to. */
export class Reduction {
  /** One number for each row: for argmax and argmin the place of the best. */
  readonly value: Float64Array;
  private readonly best: Float64Array;
  private readonly argument: boolean;

  /** @param whole whether whole numbers are compared, which have no infinity */
  constructor(private readonly red: string, count: number, whole: boolean) {
    this.argument = red === "argmax" || red === "argmin";
    const start = this.argument ? 0 : START[red] ?? 0;
    this.value = new Float64Array(Math.max(count, 2)).fill(whole && Math.abs(start) === Infinity ? (start < 0 ? -2147483648 : 2147483647) : start);
    this.best = this.argument ? new Float64Array(count).fill(red === "argmax" ? -Infinity : Infinity) : this.value;
  }

  /** The element at `place` of a row. */
  meet(row: number, v: number, place: number): void {
    const so = this.best[row]!;
    if (!this.argument) this.value[row] = combined(this.red, so, v);
    else if ((this.red === "argmax" ? v > so : v < so) || (v !== v && so === so)) {
      this.best[row] = v;
      this.value[row] = place;
    }
  }

  /** The points from `from` to before `to` of a row, whose first place is `place`; those where `pred` is 0 are left out. */
  meetRow(row: number, values: Vector, pred: Vector | null, from: number, to: number, place: number): void {
    if (this.red === "sum" && pred === null) {
      let so = this.value[row]!;
      for (let k = from; k < to; k++) so += values[k]!;
      this.value[row] = so;
    } else for (let k = from; k < to; k++) if (pred === null || pred[k] !== 0) this.meet(row, values[k]!, place + k - from);
  }

  /** The same of one place of as many rows. */
  meetRows(values: Vector, pred: Vector | null, count: number, place: number): void {
    const { value } = this;
    if (this.red === "sum" && pred === null) for (let k = 0; k < count; k++) value[k]! += values[k]!;
    else for (let k = 0; k < count; k++) if (pred === null || pred[k] !== 0) this.meet(k, values[k]!, place);
  }
}

/** Two values of a reduction in one. */
export function combined(red: string, so: number, value: number): number {
  switch (red) {
    case "sum": return so + value;
    case "prod": return so * value;
    case "max": return Math.max(so, value);
    case "min": return Math.min(so, value);
    case "any": return +(so !== 0 || value !== 0);
    default: return +(so !== 0 && value !== 0);
  }
}
