// One blocked product for every contraction on the CPU: matrix products, convolutions and their gradients.
// What the factors are and where sums go is product.ts's and contraction.ts's; here panels are multiplied.

/** Rows of the left and columns of the right panel that one inner loop takes at once. */
const STRIP = 4;
/** Points of a block: rows and columns whose sums are kept, and the depth between two packings. */
const ROWS = 128,
  COLUMNS = 512,
  DEPTH = 256;
/** At most so many columns are not worth strips of four. */
export const NARROW = 3;

/** The two factors of a product, and what becomes of it. */
export interface Operands {
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** Goes on to another product of the batch. */
  enter(batch: number): void;
  /** Puts a factor's points from `first` to before `last`, at the depths from `from` to before `to`, into a panel:
   *  `panel[point / strip][depth][point % strip]`. */
  packLeft(first: number, last: number, from: number, to: number, panel: Float64Array, strip: number): void;
  packRight(first: number, last: number, from: number, to: number, panel: Float64Array, strip: number): void;
  /** Takes finished sums, row by row, `width` apart. */
  store(
    firstRow: number,
    lastRow: number,
    firstColumn: number,
    lastColumn: number,
    sums: Float64Array,
    width: number,
  ): void;
}

/** Adds the product of two panels to `sums`, from `start` on, whose rows are `width` apart. */
export type Strips = (
  left: Float64Array,
  right: Float64Array,
  rows: number,
  columns: number,
  depth: number,
  sums: Float64Array,
  start: number,
  width: number,
) => void;

/** Runs the products of a batch.  narrow: what multiplies strips of one column; null: there are four. */
export function multiply(o: Operands, narrow: Strips | null): void {
  const { batch, rows, columns, depth } = o,
    strip = narrow ? 1 : STRIP,
    times = narrow ?? strips;
  const wide = Math.ceil(Math.min(columns, COLUMNS) / STRIP) * STRIP,
    tall = Math.min(rows, ROWS * 4);
  const [left, right, sums] = (rooms ??= [ROWS * DEPTH, COLUMNS * DEPTH, ROWS * 4 * COLUMNS].map(
    (length) => new Float64Array(length),
  ));
  for (let b = 0; b < batch; b++) {
    o.enter(b);
    for (let firstColumn = 0; firstColumn < columns; firstColumn += COLUMNS) {
      const lastColumn = Math.min(firstColumn + COLUMNS, columns);
      for (let top = 0; top < rows; top += tall) {
        const bottom = Math.min(top + tall, rows);
        sums.fill(0, 0, (tall + STRIP) * wide);
        for (let from = 0; from < depth; from += DEPTH) {
          const to = Math.min(from + DEPTH, depth);
          if ((lastColumn - firstColumn) % strip !== 0) right.fill(0, 0, wide * (to - from));
          o.packRight(firstColumn, lastColumn, from, to, right, strip);
          for (let first = top; first < bottom; first += ROWS) {
            const last = Math.min(first + ROWS, bottom);
            if ((last - first) % STRIP !== 0) left.fill(0, 0, ROWS * (to - from));
            o.packLeft(first, last, from, to, left, STRIP);
            times(left, right, last - first, lastColumn - firstColumn, to - from, sums, (first - top) * wide, wide);
          }
        }
        o.store(top, bottom, firstColumn, lastColumn, sums, wide);
      }
    }
  }
}

/** Panels and sums, once there is a product. */
let rooms: Float64Array[] | null = null;

/** sums[i][j] += the products of row strips and column strips, four rows by four columns in registers. */
const strips: Strips = (left, right, rows, columns, depth, sums, start, width) => {
  for (let i = 0; i < rows; i += STRIP) {
    for (let j = 0; j < columns; j += STRIP) {
      let c00 = 0,
        c01 = 0,
        c02 = 0,
        c03 = 0,
        c10 = 0,
        c11 = 0,
        c12 = 0,
        c13 = 0;
      let c20 = 0,
        c21 = 0,
        c22 = 0,
        c23 = 0,
        c30 = 0,
        c31 = 0,
        c32 = 0,
        c33 = 0;
      let p = i * depth,
        q = j * depth;
      for (let k = 0; k < depth; k++, p += STRIP, q += STRIP) {
        const a0 = left[p],
          a1 = left[p + 1],
          a2 = left[p + 2],
          a3 = left[p + 3];
        const b0 = right[q],
          b1 = right[q + 1],
          b2 = right[q + 2],
          b3 = right[q + 3];
        c00 += a0 * b0;
        c01 += a0 * b1;
        c02 += a0 * b2;
        c03 += a0 * b3;
        c10 += a1 * b0;
        c11 += a1 * b1;
        c12 += a1 * b2;
        c13 += a1 * b3;
        c20 += a2 * b0;
        c21 += a2 * b1;
        c22 += a2 * b2;
        c23 += a2 * b3;
        c30 += a3 * b0;
        c31 += a3 * b1;
        c32 += a3 * b2;
        c33 += a3 * b3;
      }
      let o = start + i * width + j;
      sums[o] += c00;
      sums[o + 1] += c01;
      sums[o + 2] += c02;
      sums[o + 3] += c03;
      o += width;
      sums[o] += c10;
      sums[o + 1] += c11;
      sums[o + 2] += c12;
      sums[o + 3] += c13;
      o += width;
      sums[o] += c20;
      sums[o + 1] += c21;
      sums[o + 2] += c22;
      sums[o + 3] += c23;
      o += width;
      sums[o] += c30;
      sums[o + 1] += c31;
      sums[o + 2] += c32;
      sums[o + 3] += c33;
    }
  }
};
