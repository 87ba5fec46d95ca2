// One blocked product for every contraction on the CPU: matrix products, convolutions and their gradients.
// Generated code packs blocks of the two factors into panels and stores finished sums; the sums are made here.
// Nothing here knows an op: which loops are rows, columns and depth follows from which factor moves along them.

import type { CpuNest } from "./compiled.js";

/** Rows of the left and columns of the right panel that one inner loop takes at once. */
const STRIP = 4;
/** Points of a block: rows and columns whose sums are kept, and the depth between two packings. */
const ROWS = 128, COLUMNS = 512, DEPTH = 256;
/** With fewer rows or columns than this, packing costs more than it saves. */
const NARROW = 3;

/** Loops flattened into one list of points. */
export interface Points {
  readonly count: number;
  /** For each access its distance at each point from the first. */
  readonly at: readonly Int32Array[];
  /** For each named loop among them its value at each point. */
  readonly loops: Readonly<Record<string, Int32Array>>;
}

/** A block of one factor, or of finished sums, that generated code fills or stores. */
export interface Block {
  readonly nest: CpuNest;
  /** For each access the position of its first element in this batch. */
  readonly at: readonly number[];
  /** The values of the named batch loops. */
  readonly batch: Readonly<Record<string, number>>;
  readonly rows: Points;
  readonly columns: Points;
  readonly depth: Points;
  /** The points of this block: from first to before last, and along the depth from `from` to before `to`. */
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
  readonly from: number;
  readonly to: number;
}

/** A named loop: its extent, and which factors use it. */
export interface NamedLoop {
  readonly name: string;
  readonly extent: number;
  readonly left: boolean;
  readonly right: boolean;
}

/** What generated code says of a contraction. */
export interface Contraction {
  /** The accesses of the two factors. */
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly loops: readonly NamedLoop[];
  readonly depth: readonly NamedLoop[];
  /** Put a block into a panel, `panel[strip][k][4]`: see `panelStart`. */
  readonly packLeft: (block: Block, panel: Float64Array) => void;
  readonly packRight: (block: Block, panel: Float64Array) => void;
  /** Takes finished sums, row by row, `width` apart. */
  readonly store: (block: Block, sums: Float64Array, width: number) => void;
}

/** Where a panel keeps the first element of its point `i`, when it is `length` deep; the next ones follow 4 apart. */
export function panelStart(i: number, length: number): number {
  return (i >> 2) * STRIP * length + (i & 3);
}

/** Runs a contraction; false, with nothing done, if it is too narrow to gain by it. */
export function contract(nest: CpuNest, c: Contraction): boolean {
  const { outer, reduce, offsets } = nest.launch;
  const moves = (accesses: readonly number[], dim: number) => accesses.some((a) => outer.strides[a][dim] !== 0);
  const kinds = outer.sizes.map((_, dim) => group(moves(c.left, dim), moves(c.right, dim)));
  const points = (kind: string) => flatten(
    kinds.flatMap((k, dim) => (k === kind ? [dim] : [])), outer, c.loops.filter((l) => group(l.left, l.right) === kind));
  const rows = points("rows"), columns = points("columns");
  if (rows.count <= NARROW || columns.count <= NARROW) return false;
  const batch = points("batch");
  const depth = flatten(reduce.sizes.map((_, dim) => dim), reduce, c.depth);
  const longest = Math.min(depth.count, DEPTH), tall = Math.min(rows.count, ROWS), wide = Math.min(columns.count, COLUMNS);
  const left = new Float64Array(padded(tall) * longest), right = new Float64Array(padded(wide) * longest);
  const width = padded(wide), sums = new Float64Array(padded(rows.count < ROWS * 4 ? rows.count : ROWS * 4) * width);
  for (let b = 0; b < batch.count; b++) {
    const place = {
      nest, rows, columns, depth, at: offsets.map((o, a) => o + batch.at[a][b]),
      batch: Object.fromEntries(Object.entries(batch.loops).map(([name, values]) => [name, values[b]])),
    };
    for (let firstColumn = 0; firstColumn < columns.count; firstColumn += COLUMNS) {
      const lastColumn = Math.min(firstColumn + COLUMNS, columns.count);
      for (let top = 0; top < rows.count; top += ROWS * 4) {
        const bottom = Math.min(top + ROWS * 4, rows.count);
        sums.fill(0);
        for (let from = 0; from < depth.count; from += DEPTH) {
          const to = Math.min(from + DEPTH, depth.count);
          if ((lastColumn - firstColumn) % STRIP !== 0) right.fill(0);
          c.packRight({ ...place, firstRow: top, lastRow: bottom, firstColumn, lastColumn, from, to }, right);
          for (let firstRow = top; firstRow < bottom; firstRow += ROWS) {
            const lastRow = Math.min(firstRow + ROWS, bottom);
            if ((lastRow - firstRow) % STRIP !== 0) left.fill(0);
            c.packLeft({ ...place, firstRow, lastRow, firstColumn, lastColumn, from, to }, left);
            multiply(left, right, lastRow - firstRow, lastColumn - firstColumn, to - from, sums, (firstRow - top) * width, width);
          }
        }
        c.store({ ...place, firstRow: top, lastRow: bottom, firstColumn, lastColumn, from: 0, to: depth.count }, sums, width);
      }
    }
  }
  return true;
}

function group(left: boolean, right: boolean): "batch" | "rows" | "columns" {
  return left && !right ? "rows" : right && !left ? "columns" : "batch";
}

const padded = (n: number): number => Math.ceil(n / STRIP) * STRIP;

/** The points of some anonymous loops and, inside them, of named ones. */
function flatten(
  dims: readonly number[], all: { sizes: readonly number[]; strides: readonly (readonly number[])[] }, named: readonly NamedLoop[],
): Points {
  const sizes = [...dims.map((d) => all.sizes[d]), ...named.map((l) => l.extent)];
  const count = sizes.reduce((a, b) => a * b, 1);
  const spread = (stride: readonly number[]): Int32Array => {
    const out = new Int32Array(count);
    if (count === 0 || stride.every((s) => s === 0)) return out;
    // The points of the innermost loops are known; each further loop repeats them, so many steps on.
    let known = 1;
    for (let d = sizes.length - 1; d >= 0; d--) {
      for (let k = 1, to = known; k < sizes[d]; k++) for (let i = 0; i < known; i++) out[to++] = out[i] + k * stride[d];
      known *= sizes[d];
    }
    return out;
  };
  const zero = sizes.map(() => 0);
  return {
    count,
    at: all.strides.map((s) => spread([...dims.map((d) => s[d]), ...named.map(() => 0)])),
    loops: Object.fromEntries(named.map((l, n) => [l.name, spread(zero.map((_, d) => (d === dims.length + n ? 1 : 0)))])),
  };
}

/** sums[i][j] += the products of row strips and column strips, four rows by four columns in registers. */
function multiply(
  left: Float64Array, right: Float64Array, rows: number, columns: number, depth: number,
  sums: Float64Array, start: number, width: number,
): void {
  for (let i = 0; i < rows; i += STRIP) {
    for (let j = 0; j < columns; j += STRIP) {
      let c00 = 0, c01 = 0, c02 = 0, c03 = 0, c10 = 0, c11 = 0, c12 = 0, c13 = 0;
      let c20 = 0, c21 = 0, c22 = 0, c23 = 0, c30 = 0, c31 = 0, c32 = 0, c33 = 0;
      let p = i * depth, q = j * depth;
      for (let k = 0; k < depth; k++, p += STRIP, q += STRIP) {
        const a0 = left[p], a1 = left[p + 1], a2 = left[p + 2], a3 = left[p + 3];
        const b0 = right[q], b1 = right[q + 1], b2 = right[q + 2], b3 = right[q + 3];
        c00 += a0 * b0; c01 += a0 * b1; c02 += a0 * b2; c03 += a0 * b3;
        c10 += a1 * b0; c11 += a1 * b1; c12 += a1 * b2; c13 += a1 * b3;
        c20 += a2 * b0; c21 += a2 * b1; c22 += a2 * b2; c23 += a2 * b3;
        c30 += a3 * b0; c31 += a3 * b1; c32 += a3 * b2; c33 += a3 * b3;
      }
      let o = start + i * width + j;
      sums[o] += c00; sums[o + 1] += c01; sums[o + 2] += c02; sums[o + 3] += c03; o += width;
      sums[o] += c10; sums[o + 1] += c11; sums[o + 2] += c12; sums[o + 3] += c13; o += width;
      sums[o] += c20; sums[o + 1] += c21; sums[o + 2] += c22; sums[o + 3] += c23; o += width;
      sums[o] += c30; sums[o + 1] += c31; sums[o + 2] += c32; sums[o + 3] += c33;
    }
  }
}
