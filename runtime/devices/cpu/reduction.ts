// Reductions under way: the value so far of each row, which the interpreter meets element by element.

import { asking, settled } from "./functions.js";
import type { Vector } from "./point-loops.js";

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
  /** Of whole numbers that must fit at their end the lowest 32 bits. */
  private readonly low: Int32Array | null;
  private readonly start: number;

  /**
   * @param argument whether it is argmax or argmin
   * @param whole whether whole numbers are compared, which have no infinity
   * @param last whether argmax and argmin name the last of equal values, as running ones do
   * @param wide whether values are whole numbers of 64 bits
   */
  constructor(
    private readonly red: string,
    private readonly argument: boolean,
    most: number,
    whole: boolean,
    private readonly last: boolean,
    wide: boolean,
  ) {
    const start = START[red] ?? 0;
    this.start =
      whole && Math.abs(start) === Infinity
        ? Math.sign(start) * (asking.long ? 2 ** 63 : 2147483648) - +(start > 0 && !asking.long)
        : start;
    this.value = new Float64Array((most + 4) & ~3);
    this.best = this.argument ? new Float64Array(most) : this.value;
    this.low = wide ? new Int32Array(most) : null;
  }

  /** Begins with `count` other rows. */
  begin(count: number): this {
    this.value.fill(0, 0, count);
    this.best.fill(this.start, 0, count);
    this.low?.fill(this.start, 0, count);
    return this;
  }

  /** What `count` rows come to, where that must fit. */
  end(count: number): Vector {
    const { value, low } = this;
    if (low) for (let row = 0; row < count; row++) value[row] = this.at(row);
    return value;
  }

  /** What a row has come to. */
  at(row: number): number {
    return this.low ? settled(this.value[row]!, this.low[row]!) : this.value[row]!;
  }

  /**
   * Meets the points from `from` to before `to`, but for those where `pred` is 0.
   *
   * @param lows the lowest 32 bits of values of 64
   * @param row the first one's, at `place` of it
   * @param across 1: each is the same place of the next row; 0: each is the next place of the same row
   */
  meet(
    values: Vector,
    lows: Vector | null,
    pred: Vector | null,
    from: number,
    to: number,
    row: number,
    across: number,
    place: number,
  ): void {
    const { value, best, low, red, argument, last } = this,
      larger = red === "argmax",
      all = pred === null,
      sum = all && red === "sum";
    if (lows) {
      for (let k = from; k < to; k++, row += across) {
        if (!all && pred[k] === 0) continue;
        value[row] = combined(red, value[row]!, values[k]!);
        low![row] = red === "sum" ? low![row]! + lows[k]! : Math.imul(low![row]!, lows[k]!);
      }
    } else if (argument) {
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
