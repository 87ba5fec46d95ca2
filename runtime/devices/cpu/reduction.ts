// Reductions under way: the value so far of each row, which the interpreter meets element by element.

import type { Vector } from "./node-evaluator.js";

const START: Readonly<Record<string, number>> = {
  prod: 1,
  all: 1,
  max: -Infinity,
  argmax: -Infinity,
  min: Infinity,
  argmin: Infinity,
};

/** What some rows, one after another, have come to. */
export class Reduction {
  /** One number for each row: for argmax and argmin the place of the best. */
  readonly value: Float64Array;
  private readonly best: Float64Array;
  private readonly argument: boolean;
  private readonly start: number;

  /**
   * @param whole whether whole numbers are compared, which have no infinity
   * @param last whether argmax and argmin name the last of equal values, as running ones do
   */
  constructor(
    private readonly red: string,
    most: number,
    whole: boolean,
    private readonly last: boolean,
  ) {
    const start = START[red] ?? 0;
    this.argument = red.startsWith("arg");
    this.start = whole && Math.abs(start) === Infinity ? Math.sign(start) * 2147483648 - +(start > 0) : start;
    this.value = new Float64Array((most + 4) & ~3);
    this.best = this.argument ? new Float64Array(most) : this.value;
  }

  /** Begins with `count` other rows. */
  begin(count: number): this {
    this.value.fill(0, 0, count);
    this.best.fill(this.start, 0, count);
    return this;
  }

  /**
   * Meets the points from `from` to before `to`, but for those where `pred` is 0.
   *
   * @param row the first one's, at `place` of it
   * @param across 1: each is the same place of the next row; 0: each is the next place of the same row
   */
  meet(
    values: Vector,
    pred: Vector | null,
    from: number,
    to: number,
    row: number,
    across: number,
    place: number,
  ): void {
    const { value, best, red, argument, last } = this,
      larger = red === "argmax",
      all = pred === null,
      sum = all && red === "sum";
    if (argument) {
      for (let k = from; k < to; k++, row += across, place += 1 - across) {
        const so = best[row]!,
          v = values[k]!;
        if (
          (all || pred[k] !== 0) &&
          ((larger ? v > so : v < so) || (v !== v && (last || so === so)) || (last && v === so))
        ) {
          best[row] = v;
          value[row] = place;
        }
      }
    } else if (across === 1) {
      if (sum) for (let k = from; k < to; ) value[row++]! += values[k++]!;
      else
        for (let k = from; k < to; k++, row++)
          if (all || pred[k] !== 0) value[row] = combined(red, value[row]!, values[k]!);
    } else {
      let so = value[row]!;
      if (sum) for (let k = from; k < to; k++) so += values[k]!;
      else for (let k = from; k < to; k++) if (all || pred[k] !== 0) so = combined(red, so, values[k]!);
      value[row] = so;
    }
  }
}

/** Two values of a reduction in one. */
export function combined(red: string, so: number, value: number): number {
  switch (red) {
    case "sum":
      return so + value;
    case "prod":
      return so * value;
    case "max":
      return Math.max(so, value);
    case "min":
      return Math.min(so, value);
    case "any":
      return +(so !== 0 || value !== 0);
    default:
      return +(so !== 0 && value !== 0);
  }
}
