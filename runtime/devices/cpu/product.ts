// Sums of products of elements as they lie, such as matrix products: no formula has to be evaluated for them.
// What every contraction needs is here, too: which loops are rows, columns and depth, and where accesses stand there.

import type { CpuLaunch, KernelCall, KernelFunction } from "../../program/compiled-op.js";
import { NARROW, type Operands, type Strips, multiply } from "./gemm.js";
import type { Packer, Phased } from "./phases.js";

/** A loop: how many points, how far one moves each access (by number), and its name if formulas use it. */
export interface Loop {
  readonly size: number;
  readonly strides: readonly number[];
  readonly name: string;
}

export type Storing = Operands["store"];

/**
 * A factor: the accesses it reads, the names it uses, named loops among them, how a panel is filled, and what
 * multiplies points that need few depths.
 */
export interface Side {
  readonly reads: readonly number[];
  readonly names: ReadonlySet<string>;
  pack(points: readonly Loop[], depth: readonly Loop[], batch: readonly Loop[]): Packer;
  phases?(points: readonly Loop[], depth: readonly Loop[]): Phased | null;
}

/** A contraction under way. */
export interface Frame {
  readonly call: KernelCall;
  /** The point of the batch. */
  batch: number;
  /** For each access the place of its first element there. */
  at: readonly number[];
}

/** So many places are known at once. */
const MOST = 1 << 21;
let known = 0,
  knowing: KernelCall[] = [];

/** Notes that what is kept of a kernel has so many places; where that is too much, all that is kept goes. */
export function note(call: KernelCall, places: number): void {
  known += places;
  if (known > MOST) {
    for (const other of knowing) other.kept = null;
    knowing = [];
    known = places;
  }
  knowing.push(call);
}

/** A kernel that keeps what it finds out about a kernel from one call to the next, while that fits. */
export function kept(make: (call: KernelCall) => NonNullable<KernelCall["kept"]>): KernelFunction {
  return (call) => {
    if (!call.kept?.fits()) call.kept = make(call);
    call.kept!.run();
  };
}

/** Loops without names. */
export function anonymous({ sizes, strides }: CpuLaunch["outer"]): Loop[] {
  return sizes.map((size, k) => ({ size, strides: strides.map((s) => s[k]), name: "" }));
}

/** How many points loops have. */
export const product = (loops: readonly Loop[]): number => loops.reduce((n, { size }) => n * size, 1);

/** How far an access is at each point of loops, in their order. */
export function distances(loops: readonly Loop[], access: number): Int32Array {
  const out = new Int32Array(product(loops));
  // The points of the innermost loops are known; each further loop repeats them, so many steps on.
  let known = 1;
  for (const { size, strides } of [...loops].reverse()) {
    for (let k = 1, to = known; k < size; k++) for (let i = 0; i < known; i++) out[to++] = out[i] + k * strides[access];
    known *= size;
  }
  return out;
}

/**
 * A sum of products of two accesses without computed indices, which is stored; false, with nothing done, if packing
 * costs more
 *  than it saves. */
export function multiplyElements(call: KernelCall): boolean {
  if (!call.kept) {
    const {
        data: {
          left: [left],
        },
        launch: { offsets, outer, reduce },
      } = call,
      frame: Frame = { call, batch: 0, at: offsets };
    const side = (access: number): Side => ({
      reads: [access],
      names: new Set(),
      pack: (points, depth) => packElements(frame, access, 1, points, depth),
    });
    const run = arranged(
      frame,
      offsets,
      anonymous(outer),
      anonymous(reduce),
      [side(left), side(1 - left)],
      (rows, columns) => storeSums(frame, rows, columns),
      null,
    );
    call.kept = { fits: () => true, run };
  }
  return call.kept.run() !== false;
}

/**
 * What runs a contraction.
 *
 * @param sides the left and the right factor
 * @param narrow what multiplies few columns; null: nothing, and false is the answer
 */
export function arranged(
  frame: Frame,
  offsets: readonly number[],
  outer: readonly Loop[],
  depth: readonly Loop[],
  sides: readonly Side[],
  storing: (rows: readonly Loop[], columns: readonly Loop[], batch: readonly Loop[]) => Storing,
  narrow: Strips | null,
): () => false | void {
  // Rows are the loops that only the left factor depends on, columns those that only the right one does: 1 and -1.
  const depends = ({ reads, names }: Side, d: Loop): number =>
    +(names.has(d.name) || reads.some((a) => d.strides[a] !== 0));
  const those = (role: number): Loop[] => outer.filter((d) => depends(sides[0], d) - depends(sides[1], d) === role);
  const batch = those(0),
    starts = offsets.map((_, a) => distances(batch, a));
  let rows = those(1),
    columns = those(-1),
    [left, right] = sides;
  const own = left.phases?.(rows, depth),
    phases = own ?? right.phases?.(columns, depth);
  if (phases ? !own : product(rows) < product(columns) && product(rows) <= NARROW)
    [rows, columns, left, right] = [columns, rows, right, left];
  const few = product(columns) <= NARROW;
  if (few && !narrow) return () => false;
  const packLeft = left.pack(rows, depth, batch),
    packRight = right.pack(columns, depth, batch),
    operands: Operands = {
      batch: product(batch),
      rows: product(rows),
      columns: product(columns),
      depth: product(depth),
      enter: (b) => {
        frame.batch = b;
        frame.at = offsets.map((from, a) => from + starts[a][b]);
      },
      packLeft: packLeft(),
      packRight: packRight(),
      store: storing(rows, columns, batch),
    };
  note(frame.call, operands.batch + operands.rows + operands.columns + operands.depth);
  return phases
    ? phases(operands, packLeft, packRight, few ? narrow : null)
    : () => multiply(operands, few ? narrow : null);
}

/**
 * Where a panel keeps the first element of its point `i`, when it is `length` deep; the next ones follow `strip` apart.
 */
export function panelStart(i: number, length: number, strip: number): number {
  return strip === 1 ? i * length : (i >> 2) * strip * length + (i & 3);
}

/** A factor that is an access's elements, times a number. */
export function packElements(
  frame: Frame,
  access: number,
  times: number,
  points: readonly Loop[],
  depth: readonly Loop[],
): Packer {
  const all = distances(points, access),
    deep = distances(depth, access);
  return (some, depths) => {
    const along = chosen(all, some),
      inward = chosen(deep, depths);
    return (first, last, from, to, panel, strip) => {
      const array = frame.call.arrays[access],
        at = frame.at[access];
      for (let i = first; i < last; i++) {
        const start = at + along[i];
        for (let k = from, next = panelStart(i - first, to - from, strip); k < to; k++, next += strip)
          panel[next] = array[start + inward[k]] * times;
      }
    };
  };
}

/** Some of what a list has, or all. */
export const chosen = (list: Int32Array, some: Int32Array | undefined): Int32Array => some?.map((i) => list[i]) ?? list;

/** Puts sums where the kernel's first store says. */
export function storeSums(frame: Frame, rows: readonly Loop[], columns: readonly Loop[]): Storing {
  const { target, mode } = frame.call.data.steps[1],
    along = distances(rows, target),
    across = distances(columns, target);
  return (firstRow, lastRow, firstColumn, lastColumn, sums, width) => {
    const array = frame.call.arrays[target],
      at = frame.at[target];
    for (let i = firstRow; i < lastRow; i++) {
      const start = at + along[i];
      let next = (i - firstRow) * width;
      if (mode === "=") for (let j = firstColumn; j < lastColumn; j++) array[start + across[j]] = sums[next++];
      else for (let j = firstColumn; j < lastColumn; j++) array[start + across[j]] += sums[next++];
    }
  };
}
