// Contractions whose factors or results are formulas, from a kernel's data: fills gemm.ts's panels and stores finished
// sums. Both are little beside the product, so formulas are evaluated for it (kernel-evaluator.ts), at whole rows at
// once; where only indices are computed, from tables.  What does not split into factors (factors.ts) is interpreted as
// any sum.

import { Result } from "../../../host/nodes.js";
import type { KernelCall, KernelFunction } from "../../program/compiled-op.js";
import { Evaluator } from "./kernel-evaluator.js";
import { type Factor, factorsOf } from "./factors.js";
import { type Formula, POINTS, type Scalar, partsOf } from "./node-evaluator.js";
import type { Strips } from "./gemm.js";
import { Interpreter } from "./interpreter.js";
import { NOWHERE, OUTSIDE, type Packer, type Phased, inPhases, phasesOf } from "./phases.js";
import type { Dim, Places, Table } from "./access-index.js";
import {
  type Frame,
  type Loop,
  type Storing,
  arranged,
  chosen,
  distances,
  kept,
  packElements,
  panelStart,
  product,
  storeSums,
} from "./product.js";

/** The kernel of a contraction.  `functions`: those its formulas use beside node-evaluator.ts's own. */
export function contracted(functions: Readonly<Record<string, Scalar>> = {}): KernelFunction {
  return kept((call) => {
    const factors = factorsOf(call.data);
    return factors ? new Contraction(call, functions, factors) : new Interpreter(call, functions);
  });
}

/** The same without such functions. */
export const contract: KernelFunction = /* @__PURE__ */ contracted();

const NOTHING: Table = { by: [], values: new Float64Array(1) };

class Contraction extends Evaluator implements Frame {
  batch = 0;
  at: readonly number[] = [];
  private made: (() => unknown) | null = null;

  constructor(
    call: KernelCall,
    functions: Readonly<Record<string, Scalar>>,
    private readonly factors: readonly Factor[],
  ) {
    super(call, functions);
  }

  run(): void {
    if (this.enter()) this.made = null;
    (this.made ??= this.arranged())();
  }

  private arranged(): () => unknown {
    const {
        call: {
          data: { accesses },
        },
        outer,
        inner,
        factors,
        read: { steps },
      } = this,
      all = [...outer, ...inner],
      places = this.placesOf(all);
    const windows = factors.map((factor) => windowOf(factor, places));
    // As accesses go on at each loop, with what of their indices is a sum of loops; then the tables.
    const ways = [
      ...accesses.map((_, n) => places.access(n)),
      ...windows.flatMap((tables) => tables ?? [NOTHING, NOTHING]),
    ];
    const loops = all.map(({ size, name }, d): Loop => ({ size, name, strides: ways.map(({ by }) => by[d] ?? 0) }));
    const dims = (...lists: (readonly Loop[])[]): Dim[] => lists.flat().map((loop) => all[loops.indexOf(loop)]);
    const packers = new Map<readonly Loop[], ReturnType<Packer>>(),
      skips = new Set<readonly Loop[]>();
    const sides = factors.map(({ reads, names, access, scale, inside, value, conditional }, side) => ({
      reads,
      names,
      pack: (points: readonly Loop[], depth: readonly Loop[], batch: readonly Loop[]): Packer => {
        const tables = windows[side],
          times = access < 0 ? 1 : places.table([scale], (number) => number(scale))!.values[0];
        const packer: Packer = !tables
          ? () => this.packValue(value, dims(batch, points, depth), product(points), product(depth))
          : !inside && !places.access(access).rest
            ? packElements(this, access, times, points, depth)
            : packWindow(this, access, times, points, depth, tables, accesses.length + 2 * side, conditional ? -0 : 0);
        packers.set(points, packer());
        if (conditional) skips.add(points);
        return packer;
      },
      phases: (points: readonly Loop[], depth: readonly Loop[]): Phased | null => {
        const tables = windows[side],
          both = [0, 1].map((n) => accesses.length + 2 * side + n);
        if (!inside || !tables || !windows[1 - side]) return null;
        const found = phasesOf(
          both.map((n) => distances(points, n)),
          both.map((n) => distances(depth, n)),
          tables.map(({ values }) => Int32Array.from(values)),
        );
        return found && ((...product) => inPhases(found, ...product));
      },
    }));
    const plain = steps.length === 2 && steps[1].body.leaf instanceof Result && !steps[1].pred;
    const depth = loops.slice(outer.length);
    return arranged(
      this,
      accesses.map((_, n) => places.access(n).from),
      loops.slice(0, outer.length),
      depth,
      sides,
      (rows, columns, batch) => {
        const store =
          plain && !places.access(this.call.data.steps[1].target).rest
            ? storeSums(this, rows, columns)
            : this.storing(dims(batch, rows, columns), product(rows), product(columns));
        return skips.size
          ? retaking(
              store,
              packers.get(rows)!,
              packers.get(columns)!,
              skips.has(rows),
              skips.has(columns),
              product(depth),
            )
          : store;
      },
      narrowStrips,
    );
  }

  /** Any factor. */
  private packValue(value: Formula, dims: readonly Dim[], count: number, depth: number): ReturnType<Packer> {
    return (top, bottom, from, to, panel, strip) =>
      this.rows(dims, count, depth, top, bottom, from, to, (first, last) => {
        const found = this.evaluation.value(value),
          i = found.length === 1 ? 0 : -1;
        for (let k = 0, row = first; row < last; row++) {
          for (let end = k + to - from, next = panelStart(row - top, to - from, strip); k < end; next += strip)
            panel[next] = found[k++ & i];
        }
      });
  }

  /** What takes finished sums: the kernel's steps after the sum. */
  private storing(dims: readonly Dim[], count: number, columns: number): Storing {
    const { steps } = this.call.data;
    return (top, bottom, from, to, sums, width) =>
      this.rows(dims, count, columns, top, bottom, from, to, (first, last) => {
        const sum = this.evaluation.vector();
        for (let k = 0, row = first; row < last; row++)
          for (let next = (row - top) * width, end = k + to - from; k < end; ) sum[k++] = sums[next++];
        this.keep(steps[0].name, sum);
        for (let n = 1; n < steps.length; n++) this.store(n);
      });
  }

  /**
   * Goes through rows of `width` points, `count` in each point of the batch, from point `from` to before `to` of each:
   * calls `f` for as many rows as go at once.
   */
  private rows(
    dims: readonly Dim[],
    count: number,
    width: number,
    top: number,
    bottom: number,
    from: number,
    to: number,
    f: (first: number, last: number) => void,
  ): void {
    const most = to - from < width ? 1 : Math.floor(POINTS / width);
    for (let first = top, last = top; first < bottom; first = last) {
      last = Math.min(first + most, bottom);
      this.stand(dims, (this.batch * count + first) * width + from, (last - first) * (to - from));
      f(first, last);
    }
  }
}

/**
 * Two tables of where a factor stands, or OUTSIDE, beside what is a sum of loops: an image's rows and its columns.
 * Null: it is more
 *  than an access whose computed indices and conditions few loops decide. */
function windowOf({ access, inside }: Factor, places: Places): readonly Table[] | null {
  if (access < 0) return null;
  const { rest } = places.access(access),
    ways = rest ? partsOf("+", rest) : [],
    conditions = inside ? partsOf("&&", inside) : [],
    loops = new Map<Formula, string>();
  for (const f of [...conditions, ...ways]) {
    const used = new Set<number>();
    places.decided(f, used);
    loops.set(f, [...used].sort().join());
  }
  const [one] = loops.values(),
    tables = [true, false].map((own) => {
      const mine = (f: Formula): boolean => (loops.get(f) === one) === own,
        terms = ways.filter(mine),
        tests = conditions.filter(mine);
      return places.table([...tests, ...terms], (number) =>
        tests.every((f) => number(f) !== 0) ? terms.reduce((n, f) => n + number(f), 0) : OUTSIDE,
      );
    });
  return tables.includes(null) ? null : (tables as Table[]);
}

/**
 * A factor that is an access whose computed indices and conditions are in tables, which stand at `number` and the next
 * among the accesses of loops; outside it is `none`.
 */
function packWindow(
  frame: Frame,
  access: number,
  times: number,
  points: readonly Loop[],
  depth: readonly Loop[],
  [one, other]: readonly Table[],
  number: number,
  none: number,
): Packer {
  const outward = [access, number, number + 1].map((n) => distances(points, n)),
    deep = [access, number, number + 1].map((n) => distances(depth, n));
  const values = Int32Array.from(one.values),
    values2 = Int32Array.from(other.values);
  return (some, depths) => {
    const [along, row, row2] = outward.map((list) => chosen(list, some)),
      [inward, column, column2] = deep.map((list) => chosen(list, depths));
    return (first, last, from, to, panel, strip) => {
      const array = frame.call.arrays[access],
        at = frame.at[access];
      for (let i = first; i < last; i++) {
        const start = at + along[i],
          here = row[i],
          here2 = row2[i];
        for (let k = from, next = panelStart(i - first, to - from, strip); k < to; k++, next += strip) {
          const shift = values[here + column[k]] + values2[here2 + column2[k]];
          panel[next] = shift < NOWHERE ? none : array[start + inward[k] + shift] * times + 0;
        }
      }
    };
  };
}

/**
 * Stores sums.  What became NaN where an infinity met a place at which nothing is to be multiplied, a -0 of a factor
 * that skips, is added up again without those.
 */
function retaking(
  store: Storing,
  left: ReturnType<Packer>,
  right: ReturnType<Packer>,
  leftSkips: boolean,
  rightSkips: boolean,
  depth: number,
): Storing {
  return (top, bottom, from, to, sums, width) => {
    let row: Float64Array | null = null,
      column: Float64Array | null = null;
    for (let i = top; i < bottom; i++) {
      for (let j = from, at = (i - top) * width, packed = false; j < to; j++, at++) {
        if (sums[at] === sums[at]) continue;
        (row ??= new Float64Array(depth)), (column ??= new Float64Array(depth));
        if (!packed) left(i, i + 1, 0, depth, row, 1);
        packed = true;
        right(j, j + 1, 0, depth, column, 1);
        let sum = 0;
        for (let k = 0; k < depth && sum === sum; k++)
          if (!((leftSkips && Object.is(row[k], -0)) || (rightSkips && Object.is(column[k], -0))))
            sum += row[k] * column[k];
        sums[at] = sum;
      }
    }
    store(top, bottom, from, to, sums, width);
  };
}

/** What `strips` of gemm.ts does, for columns one by one. */
const narrowStrips: Strips = (left, right, rows, columns, depth, sums, start, width) => {
  for (let i = 0; i < rows; i += 4) {
    for (let j = 0; j < columns; j++) {
      let c0 = 0,
        c1 = 0,
        c2 = 0,
        c3 = 0;
      for (let k = 0, p = i * depth, q = j * depth; k < depth; k++, p += 4, q++) {
        const b = right[q];
        c0 += left[p] * b;
        c1 += left[p + 1] * b;
        c2 += left[p + 2] * b;
        c3 += left[p + 3] * b;
      }
      const o = start + i * width + j;
      sums[o] += c0;
      sums[o + width] += c1;
      sums[o + 2 * width] += c2;
      sums[o + 3 * width] += c3;
    }
  }
};
