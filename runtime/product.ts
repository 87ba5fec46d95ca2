// Sums of products of elements as they lie, such as matrix products: no formula has to be evaluated for them.
// What every contraction needs is here, too: which loops are rows, columns and depth, and where accesses stand there.

import type { CpuLaunch, CpuNest, Nest } from "./compiled.js";
import { NARROW, type Operands, type Strips, multiply } from "./gemm.js";

/** Loops flattened into one list of points: anonymous ones, and inside them named ones. */
export interface Points {
  readonly count: number;
  /** For each access its distance at each point from the first, but for computed indices. */
  readonly at: readonly Int32Array[];
}

export type Packing = Operands["packLeft"];
export type Storing = Operands["store"];

/** A factor: the accesses it reads, the names it uses, named loops among them, and how a panel is filled. */
export interface Side<P extends Points> {
  readonly reads: readonly number[];
  readonly names: ReadonlySet<string>;
  pack(points: P, depth: P): Packing;
}

/** A contraction in a call.  Here it has no named loops. */
export class Frame {
  /** For each access the place of its first element in this batch. */
  readonly at: number[];

  constructor(readonly call: CpuNest) {
    this.at = call.launch.offsets.slice();
  }

  /** The points of some of the nest's loops. */
  points(all: CpuLaunch["outer"], dims: readonly number[], _named: Nest["loops"]): Points {
    const sizes = dims.map((d) => all.sizes[d]);
    return { count: product(sizes), at: all.strides.map((s) => distances(sizes, dims.map((d) => s[d]))) };
  }

  /** Goes to a point of the batch. */
  enter(points: Points, b: number): void {
    for (let a = 0; a < this.at.length; a++) this.at[a] = this.call.launch.offsets[a] + points.at[a][b];
  }
}

export const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

/** The distances of all points along loops, in their order. */
export function distances(sizes: readonly number[], steps: readonly number[]): Int32Array {
  const count = product(sizes), out = new Int32Array(count);
  if (count === 0 || steps.every((s) => s === 0)) return out;
  // The points of the innermost loops are known; each further loop repeats them, so many steps on.
  let known = 1;
  for (let d = sizes.length - 1; d >= 0; d--) {
    for (let k = 1, to = known; k < sizes[d]; k++) for (let i = 0; i < known; i++) out[to++] = out[i] + k * steps[d];
    known *= sizes[d];
  }
  return out;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** A sum of products of two accesses without computed indices, which is stored; false, with nothing done, if packing costs more
 *  than it saves. */
export function multiplyElements(nest: CpuNest): boolean {
  const [left] = nest.data.left, frame = new Frame(nest);
  const side = (access: number): Side<Points> => ({ reads: [access], names: NO_NAMES, pack: (points, depth) => packElements(frame, access, 1, points, depth) });
  return run(frame, side(left), side(1 - left), (rows, columns) => storeSums(frame, rows, columns), null);
}

/** Runs a contraction of a left and a right factor.  narrow: what multiplies few columns; null: nothing, and false is the answer. */
export function run<P extends Points>(
  frame: Pick<Frame, "call"> & { points(...args: Parameters<Frame["points"]>): P; enter(points: P, b: number): void }, left: Side<P>, right: Side<P>, storing: (rows: P, columns: P) => Storing, narrow: Strips | null,
): boolean {
  const { data: { loops, rloops }, launch: { outer, reduce } } = frame.call;
  // Rows are the loops that only the left factor depends on, columns those that only the right one does: 1 and -1.
  const role = (depends: (side: Side<P>) => boolean): number => +depends(left) - +depends(right);
  const roles = outer.sizes.map((_, d) => role(({ reads }) => reads.some((a) => outer.strides[a][d] !== 0)));
  const points = (wanted: number): P => frame.points(outer, roles.flatMap((r, d) => (r === wanted ? [d] : [])),
    loops.filter(({ name, named }) => named && role(({ names }) => names.has(name)) === wanted));
  const batch = points(0), depth = frame.points(reduce, reduce.sizes.map((_, d) => d), rloops.filter((l) => l.named));
  let rows = points(1), columns = points(-1);
  if (rows.count < columns.count && rows.count <= NARROW) [rows, columns, left, right] = [columns, rows, right, left];
  if (columns.count <= NARROW && !narrow) return false;
  multiply({
    batch: batch.count, rows: rows.count, columns: columns.count, depth: depth.count,
    enter: (b) => frame.enter(batch, b), packLeft: left.pack(rows, depth), packRight: right.pack(columns, depth), store: storing(rows, columns),
  }, columns.count <= NARROW ? narrow : null);
  return true;
}

/** Where a panel keeps the first element of its point `i`, when it is `length` deep; the next ones follow `strip` apart. */
export function panelStart(i: number, length: number, strip: number): number {
  return strip === 1 ? i * length : (i >> 2) * strip * length + (i & 3);
}

/** A factor that is an access's elements, times a number. */
export function packElements({ at, call }: Frame, access: number, times: number, points: Points, depth: Points): Packing {
  const array = call.arrays[access], along = points.at[access], inward = depth.at[access];
  return (first, last, from, to, panel, strip) => {
    for (let i = first; i < last; i++) {
      const start = at[access] + along[i];
      for (let k = from, next = panelStart(i - first, to - from, strip); k < to; k++, next += strip) panel[next] = array[start + inward[k]] * times;
    }
  };
}

/** Puts sums where the nest's first store says. */
export function storeSums({ at, call }: Frame, rows: Points, columns: Points): Storing {
  const { target, mode } = call.data.steps[1], array = call.arrays[target], along = rows.at[target], across = columns.at[target];
  return (firstRow, lastRow, firstColumn, lastColumn, sums, width) => {
    for (let i = firstRow; i < lastRow; i++) {
      const start = at[target] + along[i];
      let next = (i - firstRow) * width;
      if (mode === "=") for (let j = firstColumn; j < lastColumn; j++) array[start + across[j]] = sums[next++];
      else for (let j = firstColumn; j < lastColumn; j++) array[start + across[j]] += sums[next++];
    }
  };
}
