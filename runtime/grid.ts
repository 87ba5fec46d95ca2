// The formulas of a contraction at the points of two lists of loops: every point of one with every point of the other.
// Where accesses stand there comes from tables of distances, so that a point costs two additions.

import type { CpuLaunch, CpuNest, Nest } from "./compiled.js";
import { numberOf } from "./factors.js";
import { Evaluation, type Formula, POINTS, type Scalar, type Vector } from "./formula.js";
import { type Read, read, wordsOf } from "./interpreter.js";
import { Frame, type Points, distances, product } from "./product.js";

/** Points of named loops, too. */
export interface GridPoints extends Points, Loops {
  /** How many points the named loops have, and each of them. */
  readonly named: number;
  readonly extents: readonly number[];
}

interface Loops {
  /** For each named loop its value at each point. */
  readonly loops: Readonly<Record<string, Int32Array>>;
}

export class Grid extends Frame {
  readonly texts: Read;
  /** For each access its computed axes with their strides, and how far named loops move it that index it alone. */
  readonly terms: readonly (readonly (readonly [axis: number, stride: number])[])[];
  private readonly steps: readonly Readonly<Record<string, number>>[];
  /** The number of this batch, where formulas may differ from one to the next. */
  batch = 0;
  private readonly words: Map<string, Vector>;
  private readonly values = new Map<string, Vector>();
  private readonly evaluation: Evaluation;
  private rows!: GridPoints;
  private columns!: GridPoints;
  private first = 0;
  private last = 0;
  private from = 0;
  private to = 0;

  constructor(call: CpuNest, functions: Readonly<Record<string, Scalar>>) {
    super(call);
    const { data, strides } = call, named = [...data.loops, ...data.rloops].flatMap((l) => (l.named ? [l.name] : []));
    this.texts = read(data);
    this.words = wordsOf(call);
    this.evaluation = new Evaluation(functions, (name) => this.named(name));
    const steps = data.accesses.map((): Record<string, number> => ({}));
    this.steps = steps;
    this.terms = data.accesses.map(({ axes }, a) => {
      const terms: [number, number][] = [];
      let term = 0;
      axes.forEach((name, axis) => {
        const computed = this.texts.accesses[a].index[axis] !== null;
        if (!computed && !named.includes(name)) return;
        const stride = strides[a][term++] ?? 0;
        if (computed) terms.push([axis, stride]);
        else steps[a][name] = (steps[a][name] ?? 0) + stride;
      });
      return terms;
    });
  }

  override points(all: CpuLaunch["outer"], dims: readonly number[], named: Nest["loops"]): GridPoints {
    const extents = named.map((l) => l.extent!(this.call.words as Record<string, number>)), sizes = [...dims.map((d) => all.sizes[d]), ...extents];
    const along = (first: readonly number[], of: (name: string) => number): Int32Array => distances(sizes, [...first, ...named.map((l) => of(l.name))]);
    return {
      count: product(sizes), named: product(extents), extents,
      at: this.steps.map((steps, a) => along(dims.map((d) => all.strides[a][d]), (name) => steps[name] ?? 0)),
      loops: Object.fromEntries(named.map(({ name }) => [name, along(dims.map(() => 0), (other) => +(other === name))])),
    };
  }

  override enter(points: GridPoints, b: number): void {
    super.enter(points, b);
    this.batch = points.named > 1 ? b : 0;
    for (const [name, values] of Object.entries(points.loops)) this.words.set(name, Float64Array.of(values[b])).set(`${name}_`, Float64Array.of(values[b]));
  }

  /** The value of a formula that is the same everywhere. */
  number(f: Formula): number {
    this.evaluation.begin(1);
    return this.evaluation.value(f)[0];
  }

  /** Calls `f` for parts of a grid, each small enough to be evaluated at once. */
  each(
    rows: Loops, first: number, last: number, columns: Loops, from: number, to: number,
    f: (first: number, last: number, from: number, to: number) => void,
  ): void {
    Object.assign(this, { rows, columns });
    for (this.from = from; this.from < to; this.from = this.to) {
      this.to = Math.min(this.from + POINTS, to);
      const width = this.to - this.from, height = Math.floor(POINTS / width);
      for (this.first = first; this.first < last; this.first = this.last) {
        this.last = Math.min(this.first + height, last);
        this.evaluation.begin((this.last - this.first) * width);
        this.values.clear();
        f(this.first, this.last, this.from, this.to);
      }
    }
  }

  value(f: Formula): Vector {
    return this.evaluation.value(f);
  }

  vector(): Vector {
    return this.evaluation.vector();
  }

  /** Gives a value at the points a name. */
  keep(name: string, value: Vector): void {
    this.values.set(name, value);
  }

  /** Where an access is at each point. */
  places(n: number): Vector {
    const out = this.sums(this.at[n], this.rows.at[n], this.columns.at[n]);
    for (const [axis, stride] of this.terms[n]) {
      const value = this.value(this.texts.accesses[n].index[axis]!), i = value.length === 1 ? 0 : -1;
      for (let k = 0; k < this.evaluation.count; k++) out[k] += value[k & i] * stride;
    }
    return out;
  }

  private named(name: string): Vector {
    const found = this.words.get(name) ?? this.values.get(name), n = numberOf(name);
    if (found || n >= 0) return found ?? this.read(n);
    const { rows, columns } = this, loop = name in rows.loops || name in columns.loops ? name : name.slice(0, -1);
    return this.sums(0, rows.loops[loop] ?? null, columns.loops[loop] ?? null);
  }

  private read(n: number): Vector {
    const { rows, columns, texts, terms } = this, { guard, fallback } = texts.accesses[n], array = this.call.arrays[n];
    if (!guard && terms[n].length === 0) {
      const out = this.vector(), along = rows.at[n], across = columns.at[n];
      for (let i = this.first, k = 0; i < this.last; i++) {
        const at = this.at[n] + along[i];
        for (let j = this.from; j < this.to; j++) out[k++] = array[at + across[j]];
      }
      return out;
    }
    const out = this.places(n), inside = guard && this.value(guard), other = fallback && this.value(fallback);
    const i = inside?.length === 1 ? 0 : -1, j = other?.length === 1 ? 0 : -1;
    for (let k = 0; k < this.evaluation.count; k++) out[k] = inside === null || inside[k & i] !== 0 ? array[out[k]] : other ? other[k & j] : 0;
    return out;
  }

  /** `origin`, and what tables have at the points. */
  private sums(origin: number, rows: Int32Array | null, columns: Int32Array | null): Vector {
    const out = this.vector();
    for (let i = this.first, k = 0; i < this.last; i++) {
      const start = origin + (rows ? rows[i] : 0);
      for (let j = this.from; j < this.to; j++) out[k++] = columns ? start + columns[j] : start;
    }
    return out;
  }
}
