// Runs a nest from its data, chunk by chunk, where no kernel was generated for it (codegen/cpu/interpreted.py).
// What it computes, and in which order sums are added, is what generated kernels do (codegen/cpu/loops.py).

import type { CpuLaunch, CpuNest, Elements, Kernel, Nest } from "./compiled.js";
import { Evaluation, type Formula, POINTS, Reader, type Scalar, type Vector } from "./formula.js";
import { withFormulas } from "./notation-formulas.js";
import { type Dim, Places } from "./places.js";
import { Reduction, combined } from "./reduction.js";
import type { Walk } from "./walk.js";

export interface ReadStep {
  readonly index: readonly (Formula | null)[];
  readonly guard: Formula | null;
  readonly fallback: Formula | null;
}

/** A nest's texts, read. */
export interface Read {
  readonly accesses: readonly ReadStep[];
  readonly steps: readonly { readonly pred: Formula | null; readonly body: Formula }[];
}

const known = new WeakMap<Nest, Read>();

export function read(nest: Nest): Read {
  const found = known.get(nest);
  if (found) return found;
  const code = withFormulas(nest).floating!, names = new Map<string, Formula>(), reader = new Reader(names);
  const some = (text: string): Formula | null => (text === "" ? null : reader.read(text));
  const steps = nest.steps.map(({ kind, inner, name }, n) => {
    const { pred, body } = code.steps[n]!, made = { pred: some(pred), body: reader.read(body) };
    if (kind === "store" && inner && nest.shape !== "scan") names.set(name, made.body);      // at every point anew
    return made;
  });
  const accesses = code.accesses.map(({ index, guard, fallback }) => ({ index: index.map(some), guard: some(guard), fallback: some(fallback) }));
  const made = { accesses, steps };
  known.set(nest, made);
  return made;
}

/** The numbers that a nest's texts name. */
export function wordsOf(call: Pick<CpuNest, "data" | "words" | "round">): Map<string, Vector> {
  const found = new Map<string, Vector>();
  tell(call, found);
  return found;
}

/** Puts the numbers of another call in their place; answers whether one has changed. */
function tell({ data, words, round }: Pick<CpuNest, "data" | "words" | "round">, found: Map<string, Vector>): boolean {
  const told = words as Record<string, number>;
  let changed = false;
  const put = (name: string, number: number): void => {
    const there = found.get(name) ?? new Float64Array(1);
    changed ||= !Object.is(there[0], number);
    there[0] = number;
    found.set(name, there).set(`${name}_`, there);           // a name that WGSL keeps for itself has a `_` in texts
  };
  for (const { name, kind, value } of withFormulas(data).words) {
    const number = value ? value(told) : told[name] ?? (name === "inf" ? Infinity : NaN);
    put(`p.${name}`, kind === "T" ? round(number) : number);
  }
  for (const name of data.statics) put(name, told[name]!);
  return changed;
}

/** The kernel that interprets its nest.  `functions`: those its formulas use beside formula.ts's own. */
export function interpreted(functions: Readonly<Record<string, Scalar>> = {}): Kernel {
  return (call) => {
    let found = begun.get(call.launch);
    if (!found?.fits(call)) begun.set(call.launch, (found = new Interpreter(call, functions)));
    found.run(call);
  };
}

/** The same without such functions. */
export const interpret: Kernel = interpreted();

/** A launch serves many calls, and so does what is known of its loops. */
const begun = new WeakMap<CpuLaunch, Interpreter>();

/** Going across rows pays with so many points side by side, and where a row has fewer than so many. */
const WIDE = 64, SHORT = 16;

/** How many accesses have neighbours along the innermost of loops. */
function neighbours(dims: readonly Dim[]): number {
  const { strides } = dims[dims.length - 1] ?? { strides: [] };
  return strides.filter((s) => s === 1 || s === -1).length;
}

/** How many points to take at once, at most so many: parts of a row or whole rows, for then much is the same at all of them. */
function blockOf(dims: readonly Dim[], most: number): number {
  const row = dims.length > 0 ? dims[dims.length - 1]!.size : 1;
  return row >= most ? Math.ceil(row / Math.ceil(row / most)) : Math.floor(most / Math.max(row, 1)) * Math.max(row, 1);
}

class Interpreter {
  private readonly nest: Nest;
  private readonly launch: CpuLaunch;
  /** The elements of each access's tensor, the environment, of the call that runs. */
  private arrays: readonly Elements[] = [];
  private told: Record<string, number> = {};
  private readonly read: Read;
  private readonly outer: Dim[];
  /** The outer loops, then those of the reduction. */
  private readonly all: readonly Dim[];
  private readonly points: number;
  /** The loops of the reduction, then the outer ones; null: neighbours lie along the reduction, so its rows are taken one by one. */
  private readonly across: readonly Dim[] | null;
  /** How many points a reduction has. */
  private readonly depth: number;
  /** The words of the call, and what any name in a formula stands for. */
  private readonly words: Map<string, Vector>;
  private readonly names = new Map<string, () => Vector>();
  private readonly evaluation: Evaluation;
  /** The named loops' lengths, and what they were. */
  private readonly extents: [(words: Record<string, number>) => number, number][] = [];
  /** The values of earlier steps: one for each outer point of the block, or in a scan one for each point. */
  private readonly values = new Map<string, Vector>();
  /** Where accesses stand along the outer loops, and along all. */
  private readonly places = new Map<readonly Dim[], Places>();
  /** The points of the current evaluation: `dims` from number `start` on. */
  private dims: readonly Dim[] = [];
  private at!: Places;
  private start = 0;
  /** Whether elements may be others than when they were read there. */
  private stale = true;
  /** The first outer point of the block. */
  private first = 0;

  constructor(call: CpuNest, private readonly functions: Readonly<Record<string, Scalar>>) {
    const { launch, words, data } = call, { outer, reduce } = launch;
    this.nest = data;
    this.launch = launch;
    this.read = read(data);
    const anonymous = (d: typeof outer, back: boolean): Dim[] => d.sizes.map((size, k) => ({ size, strides: d.strides.map((s) => s[k]!), name: "", back }));
    const places = launch.axes[data.accesses.length] ?? [];
    const named = (loops: Nest["loops"], back: boolean): Dim[] => loops.filter((l) => l.named).map(({ name, extent }, k) => {
      const strides: number[] = [];
      if (loops === data.loops) strides[data.accesses.length] = places[k] ?? 0;
      const size = extent!(words as Record<string, number>);
      this.extents.push([extent!, size]);
      return { size, strides, name, back };
    });
    const rows = anonymous(outer, false);
    const along = data.loops.length > 0 && !data.loops[data.loops.length - 1]!.named ? rows.splice(-1) : [];
    this.outer = [...rows, ...named(data.loops, false), ...along];
    // A long loop goes last.
    if (this.outer.some((d) => d.size >= SHORT)) while (this.outer[this.outer.length - 1]!.size < SHORT) this.outer.unshift(this.outer.pop()!);
    const inner = [...named(data.rloops, data.reverse), ...anonymous(reduce, data.reverse)];
    this.all = inner.length === 0 ? this.outer : [...this.outer, ...inner];
    const product = (dims: readonly Dim[]): number => dims.reduce((n, d) => n * d.size, 1);
    this.points = product(this.outer);
    this.depth = product(inner);
    this.across = inner.length > 0 && this.points >= WIDE && (this.depth < SHORT || neighbours(this.outer) > neighbours(inner)) ? [...inner, ...this.outer] : null;
    this.words = wordsOf(call);
    this.evaluation = new Evaluation(this.withRandom(functions), (name) => this.named(name), (f) => {
      const walk = this.at.line(f);
      return walk && this.along(walk);
    });
  }

  private withRandom(functions: Readonly<Record<string, Scalar>>): Readonly<Record<string, Scalar>> {
    const { uniform_random: uniform, ...others } = functions;
    if (!uniform) return functions;
    return { ...others, uniform_random: (site, place) => uniform(this.told.seed0!, this.told.seed1!, this.told.call!, site, place) };
  }

  /** Whether another call has the same loops. */
  fits({ words, data }: CpuNest): boolean {
    return data === this.nest && this.extents.every(([extent, size]) => extent(words as Record<string, number>) === size);
  }

  run(call: CpuNest): void {
    if (tell(call, this.words)) for (const places of this.places.values()) places.forget();
    this.told = call.words as Record<string, number>;
    this.stale = true;
    this.arrays = call.arrays;
    try {
      this.compute();
    } finally {
      this.arrays = [];               // a launch is kept, tensors are not
    }
  }

  private compute(): void {
    const { steps, shape, spread } = this.nest, sums = spread && shape === "map" && this.depth !== 1;
    const block = blockOf(this.outer, Math.max(1, Math.floor(POINTS / (this.across ? 1 : Math.max(this.depth, 1)))));
    for (let first = 0; first < this.points; first += block) {
      const count = Math.min(block, this.points - first);
      this.first = first;
      this.values.clear();
      if (shape === "scan") this.scan(count);
      else {
        for (let n = 0; n < steps.length; n++) {
          const step = steps[n]!;
          if (step.kind === "reduce") this.keep(step.name, this.reduce(n, step.red, count));
          else if (step.inner) this.chunks(count, () => this.store(n));
          else if (sums) {
            const total = this.reduce(n, "sum", count);
            this.stand(this.outer, first, count);
            this.put(n, total, null);
          } else {
            this.stand(this.outer, first, count);
            this.store(n);
          }
        }
      }
    }
  }

  private keep(name: string, value: Vector): void {
    if (name) this.values.set(name, value);
  }

  /** Goes to `count` points of `dims`; what was computed there is known still, unless elements have changed. */
  private stand(dims: readonly Dim[], start: number, count: number): void {
    if (!this.stale && dims === this.dims && start === this.start && count === this.evaluation.count) return;
    this.stale = false;
    if (dims !== this.dims) {
      let found = this.places.get(dims);
      if (!found) {
        const named = new Set(this.all.map((d) => d.name).filter((n) => n !== ""));
        found = new Places(dims, this.nest, this.launch, this.read.accesses.map((a) => a.index), named, this.words, this.functions);
        this.places.set(dims, found);
      }
      this.dims = dims;
      this.at = found;
    }
    this.start = start;
    this.evaluation.begin(count);
  }

  /** Calls `f` at all points of the reductions of `count` outer points, chunk by chunk. */
  private chunks(count: number, f: () => void): void {
    const { depth, across, points } = this, end = (this.first + count) * depth;
    if (across) {
      for (let place = 0; place < depth; place++) {
        this.stand(across, place * points + this.first, count);
        f();
      }
      return;
    }
    for (let at = this.first * depth; at < end; at += POINTS) {
      this.stand(this.all, at, Math.min(POINTS, end - at));
      f();
    }
  }

  /** Calls `f` for each row, or part of one, among the points: its first point, the one after its last, its outer point in the block. */
  private rows(f: (from: number, to: number, row: number) => void): void {
    const { depth, start } = this, { count } = this.evaluation;
    let row = Math.floor(start / depth), to = Math.min((row + 1) * depth - start, count);
    for (let from = 0; from < count; from = to, to = Math.min(to + depth, count), row++) f(from, to, row - this.first);
  }

  private truth(n: number): Vector | null {
    const { pred } = this.read.steps[n]!;
    return pred && this.evaluation.value(pred);
  }

  private reduce(n: number, red: string, count: number): Vector {
    const made = this.begun(n, red, count);
    this.chunks(count, () => {
      const { start, depth, across, points } = this, [value, pred] = this.met(n);
      if (across) made.meet(value, pred, 0, count, 0, 1, Math.floor(start / points));
      else this.rows((from, to, row) => made.meet(value, pred, from, to, row, 0, start + from - (row + this.first) * depth));
    });
    return made.value;
  }

  private begun(n: number, red: string, count: number): Reduction {
    return new Reduction(red, count, this.nest.steps[n]!.value === "i");
  }

  /** What a reduction meets at the points, and where it does. */
  private met(n: number): [Vector, Vector | null] {
    const { evaluation } = this, value = evaluation.wide(evaluation.value(this.read.steps[n]!.body)), truth = this.truth(n);
    return [value, truth && evaluation.wide(truth)];
  }

  /** A running reduction: its value so far stands at every point. */
  private scan(count: number): void {
    const { across, depth, points, nest: { steps } } = this;
    const begun = steps.map((step, n) => (step.kind === "reduce" ? this.begun(n, step.red, count) : null));
    this.chunks(count, () => {
      steps.forEach((step, n) => {
        const made = begun[n];
        if (!made) return this.store(n);
        const { start, evaluation } = this, out = evaluation.vector(), [value, pred] = this.met(n);
        if (across) {
          made.meet(value, pred, 0, count, 0, 1, Math.floor(start / points));
          out.set(made.value.subarray(0, count));
        } else if (step.red === "sum" && pred === null) {
          this.rows((from, to, row) => {
            let so = made.value[row]!;
            for (let k = from; k < to; k++) out[k] = so += value[k]!;
            made.value[row] = so;
          });
        } else {
          this.rows((from, to, row) => {
            for (let k = from, before = start - (row + this.first) * depth; k < to; k++) {
              made.meet(value, pred, k, k + 1, row, 0, before + k);
              out[k] = made.value[row]!;
            }
          });
        }
        this.values.set(step.name, out);
      });
    });
  }

  private store(n: number): void {
    const value = this.evaluation.value(this.read.steps[n]!.body), step = this.nest.steps[n]!;
    this.put(n, value, this.truth(n));
    if (step.name && !step.inner) this.keep(step.name, value.slice(0, Math.max(this.evaluation.count, 2)));
  }

  private put(n: number, value: Vector, pred: Vector | null): void {
    const { target, mode } = this.nest.steps[n]!, array = this.arrays[target]!, { evaluation, start } = this, { count } = evaluation;
    const wide = evaluation.wide(value), red = { "+=": "sum", "*=": "prod", "max=": "max", "min=": "min" }[mode];
    const { walk, rest } = this.at.access(target);
    this.stale = true;
    if (pred === null && !red && rest.length === 0) return walk.write(array, start, count, wide);
    const at = this.positions(target), where = pred && evaluation.wide(pred);
    if (red === "sum") {
      for (let k = 0; k < count; k++) if (where === null || where[k] !== 0) array[at[k]!]! += wide[k]!;
    } else for (let k = 0; k < count; k++) {
      if (where !== null && where[k] === 0) continue;
      const to = at[k]!;
      array[to] = red ? combined(red, array[to]!, wide[k]!) : wide[k]!;
    }
  }

  // --- Names, reads and positions ---

  private named(name: string): Vector {
    let found = this.names.get(name);
    if (!found) {
      const word = this.words.get(name), [, kind, number] = /^(r|acc)(\d+)$/.exec(name) ?? [];
      found = word ? () => word : !kind ? () => this.along(this.at.loop(name)) : kind === "r" ? () => this.access(Number(number)) : () => this.earlier(name);
      this.names.set(name, found);
    }
    return found();
  }

  /** What an earlier step came to. */
  private earlier(name: string): Vector {
    const value = this.values.get(name)!;
    if (this.dims !== this.all || this.dims === this.outer || this.nest.shape === "scan" || value.length === 1) return value;
    const { depth, start, first, evaluation } = this, row = Math.floor(start / depth);
    if (start + evaluation.count <= (row + 1) * depth) return evaluation.single(value[row - first]!);
    const out = evaluation.vector();
    this.rows((from, to, n) => out.fill(value[n]!, from, to));
    return out;
  }

  private access(n: number): Vector {
    const { guard, fallback } = this.read.accesses[n]!, array = this.arrays[n]!, { evaluation, start } = this, { count } = evaluation;
    const { walk, rest } = this.at.access(n);
    if (rest.length === 0 && !guard) {
      const one = walk.still(start, count);
      if (one >= 0) return evaluation.single(array[one]!);
      const out = evaluation.vector();
      walk.read(array, start, count, out);
      return out;
    }
    const at = this.positions(n), out = evaluation.vector(), inside = guard && evaluation.value(guard);
    if (!inside) {
      for (let k = 0; k < count; k++) out[k] = array[at[k]!]!;
      return out;
    }
    const where = evaluation.wide(inside), other = fallback && evaluation.wide(evaluation.value(fallback));
    if (other) for (let k = 0; k < count; k++) out[k] = where[k] !== 0 ? array[at[k]!]! : other[k]!;
    else for (let k = 0; k < count; k++) out[k] = where[k] !== 0 ? array[at[k]!]! : 0;
    return out;
  }

  /** Where an access is at each point. */
  private positions(n: number): Vector {
    const { walk, rest } = this.at.access(n), { evaluation, start } = this, { count } = evaluation, at = evaluation.vector();
    walk.places(start, count, at);
    for (const [formula, stride] of rest) {
      const value = evaluation.wide(evaluation.value(formula));
      for (let k = 0; k < count; k++) at[k]! += value[k]! * stride;
    }
    return at;
  }

  /** The values along a walk. */
  private along(walk: Walk): Vector {
    const { start, evaluation } = this, { table } = walk, one = walk.still(start, evaluation.count);
    if (one >= 0) return evaluation.single(table ? table[one]! : one);
    const out = evaluation.vector();
    if (table) walk.read(table, start, evaluation.count, out);
    else walk.places(start, evaluation.count, out);
    return out;
  }
}
