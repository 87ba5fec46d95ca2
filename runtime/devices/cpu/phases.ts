// Products of which one factor is 0 at most depths, and at which is known: between the inputs of a transposed
// convolution, as in the gradient of a strided one.  Points that read at the same depths go together, as a product of
// those depths alone.

import { type Operands, type Strips, multiply } from "./gemm.js";

/** Points of a factor, ascending, and the depths that any of them reads at. */
export interface Phase {
  readonly points: Int32Array;
  readonly depths: Int32Array;
}

/** A factor's packing: of all its points and depths, or of those chosen. */
export type Packer = (points?: Int32Array, depths?: Int32Array) => Operands["packLeft"];

/**
 * What makes a runner of a product in phases: of its operands, both factors' packing, and what multiplies few columns.
 */
export type Phased = (o: Operands, left: Packer, right: Packer, narrow: Strips | null) => () => void;

const NONE = new Float64Array();

/** What stands for a place where nothing is read; with another place added it is still less than NOWHERE. */
export const OUTSIDE = -(2 ** 30),
  NOWHERE = -(2 ** 29);

/** More kinds of points than this are not told apart. */
const MOST = 32;
/** So many sums are kept until all phases have added theirs. */
const ROOM = 1 << 18;

/**
 * The phases of a factor that stands at `values[t][row[t][point] + column[t][depth]]` of each table `t`, or outside;
 * null: they save too little.
 */
export function phasesOf(
  row: readonly Int32Array[],
  column: readonly Int32Array[],
  values: readonly Int32Array[],
): readonly Phase[] | null {
  const kinds = values.map((table, t) => kindsOf(new Set(row[t]), new Set(column[t]), table)),
    lists = new Map<number, number[]>();
  if (kinds.every(({ reads }) => reads.length < 2)) return null;
  const [one, other] = kinds,
    [row1, row2] = row,
    [column1, column2] = column;
  for (let i = 0; i < row1.length; i++) {
    const kind = one.of.get(row1[i])! * MOST + other.of.get(row2[i])!,
      list = lists.get(kind);
    if (list) list.push(i);
    else lists.set(kind, [i]);
  }
  const phases = [...lists].map(([kind, list]): Phase => {
    const mine = one.reads[Math.floor(kind / MOST)],
      mine2 = other.reads[kind % MOST],
      depths: number[] = [];
    for (let k = 0; k < column1.length; k++) if (mine.has(column1[k]) && mine2.has(column2[k])) depths.push(k);
    return { points: Int32Array.from(list), depths: Int32Array.from(depths) };
  });
  const work = phases.reduce((n, { points, depths }) => n + points.length * depths.length, 0);
  return work * 2 < row1.length * column1.length ? phases : null;
}

/** Which columns of a table rows read, and which of those sets each row is in: its own, or a larger one. */
function kindsOf(
  rows: ReadonlySet<number>,
  columns: ReadonlySet<number>,
  table: Int32Array,
): { reads: readonly Set<number>[]; of: Map<number, number> } {
  const all = new Map([...rows].map((r) => [r, new Set([...columns].filter((c) => table[r + c] !== OUTSIDE))]));
  const reads: Set<number>[] = [],
    of = new Map<number, number>();
  for (const [r, own] of [...all].sort(([, a], [, b]) => b.size - a.size)) {
    let kind = reads.findIndex((set) => [...own].every((c) => set.has(c)));
    if (kind < 0) kind = reads.push(own) - 1;
    if (kind === MOST) return { reads: [new Set(columns)], of: new Map([...rows].map((each) => [each, 0])) };
    of.set(r, kind);
  }
  return { reads, of };
}

/** What runs the product `o`, whose left factor has phases. */
export function inPhases(
  phases: readonly Phase[],
  o: Operands,
  left: Packer,
  right: Packer,
  narrow: Strips | null,
): () => void {
  const tall = Math.max(Math.floor(ROOM / Math.max(o.columns, 1)), 1),
    next = phases.map(() => 0),
    blocks: (readonly [number, number, Operands[]])[] = [];
  let room = NONE;
  for (let top = 0; top < o.rows; top += tall) {
    const bottom = Math.min(top + tall, o.rows);
    blocks.push([
      top,
      bottom,
      phases.map(({ points, depths }, n) => {
        const start = next[n];
        while (points[next[n]] < bottom) next[n]++;
        const mine = points.subarray(start, next[n]);
        return {
          ...o,
          batch: 1,
          enter() {},
          rows: mine.length,
          depth: depths.length,
          packLeft: left(mine, depths),
          packRight: right(undefined, depths),
          store(first, last, from, to, sums, width) {
            for (let i = first; i < last; i++) {
              const start = (mine[i] - top) * o.columns,
                here = (i - first) * width - from;
              for (let j = from; j < to; j++) room[start + j] = sums[here + j];
            }
          },
        };
      }),
    ]);
  }
  return () => {
    room = new Float64Array(Math.min(tall, o.rows) * o.columns);
    for (let b = 0; b < o.batch; b++) {
      o.enter(b);
      for (const [top, bottom, parts] of blocks) {
        for (const part of parts) multiply(part, narrow);
        o.store(top, bottom, 0, o.columns, room, o.columns);
      }
    }
    room = NONE;
  };
}
