// Contractions whose factors or results are formulas, from a nest's data: fills gemm.ts's panels and stores finished sums.
// Both are little beside the product, so formulas are evaluated for it (grid.ts), at whole rows at once; where only
// indices are computed, once for all other axes.  What does not split into factors (factors.ts) is interpreted as any sum.

import type { CpuNest, Kernel } from "./compiled.js";
import { type Factor, factorsOf, namesIn, partsOf } from "./factors.js";
import type { Formula, Scalar } from "./formula.js";
import { Grid, type GridPoints as Points } from "./grid.js";
import { interpreted } from "./interpreter.js";
import type { Strips } from "./gemm.js";
import { type Packing, type Side, type Storing, distances, packElements, panelStart, run, storeSums } from "./product.js";

/** The kernel of a contraction.  `functions`: those its formulas use beside formula.ts's own. */
export function contracted(functions: Readonly<Record<string, Scalar>> = {}): Kernel {
  const plainly = interpreted(functions);
  return (nest) => {
    const factors = factorsOf(nest.data);
    if (!factors) return plainly(nest);
    const grid = new Grid(nest, functions);
    run(grid, sideOf(grid, factors[0]), sideOf(grid, factors[1]), (rows, columns) => storing(grid, rows, columns), narrowStrips);
  };
}

/** The same without such functions. */
export const contract: Kernel = /* @__PURE__ */ contracted();

function sideOf(grid: Grid, factor: Factor): Side<Points> {
  const { access, reads, scale, inside, names } = factor, alone = access >= 0, times = alone ? grid.number(scale) : 1;
  const pack = (points: Points, depth: Points): Packing =>
    alone && !inside && grid.terms[access].length === 0 ? packElements(grid, access, times, points, depth)
    : alone ? packWindow(grid, factor, times, points, depth)
    : packValue(grid, factor, points, depth);
  return { reads, names, pack };
}

/** What stands for a place where nothing is read; with another place added it is still less than NOWHERE. */
const OUTSIDE = -(2 ** 30), NOWHERE = -(2 ** 29);

/** How far some computed indices lead, or OUTSIDE: for each point of the named loops that they use of a factor's points (`row`: which of
 *  them belongs to a point of all) a line with every point of the depth's named loops. */
interface Part {
  readonly row: Int32Array;
  readonly places: Int32Array;
}

/** A factor that is an access whose computed indices and conditions depend on named loops alone. */
function packWindow(grid: Grid, factor: Factor, times: number, points: Points, depth: Points): Packing {
  const { access } = factor, { at } = grid, array = grid.call.arrays[access], along = points.at[access], inward = depth.at[access];
  const height = points.named, width = depth.named;
  let parts: readonly Part[] = [], made = -1;
  return (first, last, from, to, panel, strip) => {
    if (made !== grid.batch) parts = windowParts(grid, factor, points, depth);
    made = grid.batch;
    const [{ row, places }, { row: row2, places: places2 }] = parts;
    for (let i = first; i < last; i++) {
      const start = at[access] + along[i], here = row[i % height] * width, here2 = row2[i % height] * width;
      for (let k = from, n = from % width, next = panelStart(i - first, to - from, strip); k < to; n = 0) {
        for (; n < width && k < to; n++, k++, next += strip) {
          const shift = places[here + n] + places2[here2 + n];
          panel[next] = shift < NOWHERE ? 0 : array[start + inward[k] + shift] * times;
        }
      }
    }
  };
}

/** A factor's computed indices and conditions in two parts, by the loops that they use: an image's rows and its columns. */
function windowParts(grid: Grid, { access, inside }: Factor, points: Points, depth: Points): readonly Part[] {
  const terms = grid.terms[access].map(([axis, stride]) => ({ formula: grid.texts.accesses[access].index[axis]!, stride }));
  const all = [...terms, ...(inside ? partsOf("&&", inside) : []).map((formula) => ({ formula, stride: 0 }))].map((term) => {
    const used = namesIn(term.formula), loops = Object.keys({ ...points.loops, ...depth.loops }).filter((name) => used.has(name));
    return { ...term, loops, key: loops.join() };
  });
  const key = all.find((term) => term.key !== "")?.key, one = (term: { key: string }): boolean => term.key === "" || term.key === key;
  return [all.filter(one), all.filter((term) => !one(term))].map((own) => {
    const used = new Set(own.flatMap(({ loops }) => loops)), rows = only(points, used), columns = only(depth, used), there = new Int32Array(rows.named * columns.named);
    grid.each(rows, 0, rows.named, columns, 0, columns.named, (first, last, from, to) => {
      for (const { formula, stride } of own) {
        const value = grid.value(formula), i = value.length === 1 ? 0 : -1, isIndex = terms.some((term) => term.formula === formula);
        for (let k = 0, row = first; row < last; row++) {
          for (let at = row * columns.named + from, end = at + to - from; at < end; at++, k++) {
            if (isIndex) there[at] += value[k & i] * stride;
            else if (value[k & i] === 0) there[at] = OUTSIDE;
          }
        }
      }
    });
    const width = depth.named, places = new Int32Array(rows.named * width);
    for (let row = 0, k = 0; row < rows.named; row++) for (let n = 0; n < width; n++, k++) places[k] = there[row * columns.named + columns.at[n]];
    return { row: rows.at, places };
  });
}

/** Some of a list's named loops; `at`: the point of theirs at each point of all. */
interface Sub extends Pick<Points, "loops" | "named"> {
  readonly at: Int32Array;
}

/** The loops that are `used`. */
function only({ loops, extents }: Points, used: ReadonlySet<string>): Sub {
  const all = Object.keys(loops), kept = all.flatMap((name, d) => (used.has(name) ? [d] : [])), sizes = kept.map((d) => extents[d]);
  const steps = all.map(() => 0);
  let named = 1;
  for (const d of [...kept].reverse()) {
    steps[d] = named;
    named *= extents[d];
  }
  return { named, at: distances(extents, steps), loops: Object.fromEntries(kept.map((d) => [all[d], distances(sizes, kept.map((other) => +(other === d)))])) };
}

/** Any factor. */
function packValue(grid: Grid, { value }: Factor, points: Points, depth: Points): Packing {
  return (top, bottom, from, to, panel, strip) => grid.each(points, top, bottom, depth, from, to, (first, last, begin, end) => {
    const found = grid.value(value), i = found.length === 1 ? 0 : -1;
    for (let k = 0, row = first; row < last; row++) {
      let next = panelStart(row - top, to - from, strip) + (begin - from) * strip;
      for (let column = begin; column < end; column++, next += strip) panel[next] = found[k++ & i];
    }
  });
}

/** What takes finished sums: the nest's steps after the sum. */
function storing(grid: Grid, rows: Points, columns: Points): Storing {
  const { steps } = grid.call.data, { body, pred } = grid.texts.steps[1];
  if (steps.length === 2 && body.op === steps[0].name && !pred && grid.terms[steps[1].target].length === 0) return storeSums(grid, rows, columns);
  return (firstRow, lastRow, firstColumn, lastColumn, sums, width) => grid.each(rows, firstRow, lastRow, columns, firstColumn, lastColumn, (first, last, from, to) => {
    const sum = grid.vector();
    for (let k = 0, i = first; i < last; i++) {
      let next = (i - firstRow) * width + from - firstColumn;
      for (let j = from; j < to; j++) sum[k++] = sums[next++];
    }
    grid.keep(steps[0].name, sum);
    for (let n = 1; n < steps.length; n++) store(grid, n, (last - first) * (to - from));
  });
}

/** Makes a store at `count` points. */
function store(grid: Grid, n: number, count: number): void {
  const { target, name, mode } = grid.call.data.steps[n], { body, pred } = grid.texts.steps[n], array = grid.call.arrays[target];
  const value = grid.value(body), there = pred && grid.value(pred), at = grid.places(target);
  const i = value.length === 1 ? 0 : -1, j = there?.length === 1 ? 0 : -1;
  for (let k = 0; k < count; k++) {
    if (there && there[k & j] === 0) continue;
    if (mode === "=") array[at[k]] = value[k & i];
    else array[at[k]] += value[k & i];
  }
  grid.keep(name, value);
}

/** What `strips` of gemm.ts does, for columns one by one. */
const narrowStrips: Strips = (left, right, rows, columns, depth, sums, start, width) => {
  for (let i = 0; i < rows; i += 4) {
    for (let j = 0; j < columns; j++) {
      let c0 = 0, c1 = 0, c2 = 0, c3 = 0;
      for (let k = 0, p = i * depth, q = j * depth; k < depth; k++, p += 4, q++) {
        const b = right[q];
        c0 += left[p] * b; c1 += left[p + 1] * b; c2 += left[p + 2] * b; c3 += left[p + 3] * b;
      }
      const o = start + i * width + j;
      sums[o] += c0; sums[o + width] += c1; sums[o + 2 * width] += c2; sums[o + 3 * width] += c3;
    }
  }
};
