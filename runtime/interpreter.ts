// Runs a nest from its data, chunk by chunk, where no kernel was generated for it: second derivatives on the CPU.
// What it computes, and in which order sums are added, is what generated kernels do (codegen/cpu/loops.py).

import type { CpuNest, Kernel, Nest } from "./compiled.js";
import { Evaluation, type Formula, POINTS, Reader, type Scalar, type Vector } from "./formula.js";

/** A loop: how many points, how far one moves each access (by number), and its name if formulas use it. */
interface Dim {
  readonly size: number;
  readonly strides: readonly number[];
  readonly name: string;
  /** Whether it runs from its end. */
  readonly back: boolean;
}

interface ReadStep {
  readonly index: readonly (Formula | null)[];
  readonly guard: Formula | null;
  readonly fallback: Formula | null;
}

/** A nest's texts, read. */
interface Read {
  readonly accesses: readonly ReadStep[];
  readonly steps: readonly { readonly pred: Formula | null; readonly body: Formula }[];
}

const known = new WeakMap<Nest, Read>();

function read(nest: Nest): Read {
  const found = known.get(nest);
  if (found) return found;
  const code = nest.floating!, names = new Map<string, Formula>(), reader = new Reader(names);
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

/** The kernel that interprets its nest.  `functions`: those its formulas use beside formula.ts's own. */
export function interpreted(functions: Readonly<Record<string, Scalar>> = {}): Kernel {
  return (nest) => new Interpreter(nest, functions).run();
}

/** The same without such functions. */
export function interpret(nest: CpuNest): void {
  new Interpreter(nest, {}).run();
}

const START: Readonly<Record<string, number>> = { prod: 1, all: 1, max: -Infinity, min: Infinity };

class Interpreter {
  private readonly nest: Nest;
  private readonly read: Read;
  private readonly outer: readonly Dim[];
  /** The outer loops, then those of the reduction. */
  private readonly all: readonly Dim[];
  private readonly points: number;
  /** How many points a reduction has. */
  private readonly depth: number;
  private readonly words = new Map<string, Vector>();
  private readonly evaluation: Evaluation;
  /** The values of earlier steps: one for each outer point of the block, or in a scan one for each point. */
  private readonly values = new Map<string, Vector>();
  /** The points of the current evaluation: `dims` from number `start` on. */
  private dims: readonly Dim[] = [];
  private start = 0;
  /** The first outer point of the block. */
  private first = 0;

  constructor(private readonly call: CpuNest, functions: Readonly<Record<string, Scalar>>) {
    const { launch, words, data } = call, { outer, reduce } = launch;
    this.nest = data;
    this.read = read(data);
    const anonymous = (d: typeof outer, back: boolean): Dim[] => d.sizes.map((size, k) => ({ size, strides: d.strides.map((s) => s[k]!), name: "", back }));
    const places = launch.axes[data.accesses.length] ?? [];
    const named = (loops: Nest["loops"], back: boolean): Dim[] => loops.filter((l) => l.named).map(({ name, extent }, k) => {
      const strides: number[] = [];
      if (loops === data.loops) strides[data.accesses.length] = places[k] ?? 0;
      return { size: extent!(words as Record<string, number>), strides, name, back };
    });
    const rows = anonymous(outer, false);
    const along = data.loops.length > 0 && !data.loops[data.loops.length - 1]!.named ? rows.splice(-1) : [];
    this.outer = [...rows, ...named(data.loops, false), ...along];
    const inner = [...named(data.rloops, data.reverse), ...anonymous(reduce, data.reverse)];
    this.all = [...this.outer, ...inner];
    const product = (dims: readonly Dim[]): number => dims.reduce((n, d) => n * d.size, 1);
    this.points = product(this.outer);
    this.depth = product(inner);
    for (const { name, kind, value } of data.words) {
      const number = value ? value(words as Record<string, number>) : words[name]!;
      this.know(`p.${name}`, kind === "T" ? call.round(number) : number);
    }
    for (const name of data.statics) this.know(name, words[name]!);
    this.evaluation = new Evaluation(this.withRandom(functions), (name) => this.named(name));
  }

  /** A name that WGSL keeps for itself has a `_` in texts. */
  private know(name: string, number: number): void {
    const value = Float64Array.of(number);
    this.words.set(name, value).set(`${name}_`, value);
  }

  private withRandom(functions: Readonly<Record<string, Scalar>>): Readonly<Record<string, Scalar>> {
    const { uniform_random: uniform, ...others } = functions, { seed0, seed1, call } = this.call.words;
    return uniform ? { ...others, uniform_random: (site, place) => uniform(seed0!, seed1!, call!, site, place) } : functions;
  }

  run(): void {
    const { steps, shape, spread } = this.nest, sums = spread && shape === "map" && this.depth !== 1;
    const block = Math.min(POINTS, Math.max(1, Math.floor(POINTS / Math.max(this.depth, 1))));
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

  /** Goes to `count` points of `dims`. */
  private stand(dims: readonly Dim[], start: number, count: number): void {
    this.dims = dims;
    this.start = start;
    this.evaluation.begin(count);
  }

  /** Calls `f` at all points of the reductions of `count` outer points, chunk by chunk. */
  private chunks(count: number, f: () => void): void {
    const { depth } = this, end = (this.first + count) * depth;
    for (let at = this.first * depth; at < end; at += POINTS) {
      this.stand(this.all, at, Math.min(POINTS, end - at));
      f();
    }
  }

  private truth(n: number): Vector | null {
    const { pred } = this.read.steps[n]!;
    return pred && this.evaluation.value(pred);
  }

  private reduce(n: number, red: string, count: number): Vector {
    const out = new Float64Array(POINTS).fill(this.startOf(n, red));
    const argument = red === "argmax" || red === "argmin", best = argument ? new Float64Array(POINTS).fill(red === "argmax" ? -Infinity : Infinity) : out;
    this.chunks(count, () => {
      const value = this.evaluation.value(this.read.steps[n]!.body), pred = this.truth(n);
      const i = value.length === 1 ? 0 : -1, j = pred?.length === 1 ? 0 : -1;
      let row = Math.floor(this.start / this.depth) - this.first, place = this.start % this.depth;
      for (let k = 0; k < this.evaluation.count; k++) {
        if (pred === null || pred[k & j] !== 0) {
          const v = value[k & i]!;
          if (red === "sum") out[row]! += v;
          else if (argument) {
            const b = best[row]!;
            if ((red === "argmax" ? v > b : v < b) || (v !== v && b === b)) {
              best[row] = v;
              out[row] = place;
            }
          } else out[row] = combined(red, out[row]!, v);
        }
        if (++place === this.depth) {
          place = 0;
          row++;
        }
      }
    });
    return out;
  }

  private startOf(n: number, red: string): number {
    if (this.nest.steps[n]!.value === "i" && (red === "max" || red === "min")) return red === "max" ? -2147483648 : 2147483647;
    return START[red] ?? 0;
  }

  /** A running reduction: its value so far stands at every point. */
  private scan(count: number): void {
    const { steps } = this.nest, last = new Map<number, number>();
    this.chunks(count, () => {
      steps.forEach((step, n) => {
        if (step.kind !== "reduce") return this.store(n);
        const value = this.evaluation.value(this.read.steps[n]!.body), pred = this.truth(n), out = this.evaluation.vector();
        const i = value.length === 1 ? 0 : -1, j = pred?.length === 1 ? 0 : -1;
        for (let k = 0; k < this.evaluation.count; k++) {
          const before = (this.start + k) % this.depth === 0 ? this.startOf(n, step.red) : last.get(n)!;
          const now = pred !== null && pred[k & j] === 0 ? before : combined(step.red, before, value[k & i]!);
          last.set(n, now);
          out[k] = now;
        }
        this.values.set(step.name, out);
      });
    });
  }

  private store(n: number): void {
    const value = this.evaluation.value(this.read.steps[n]!.body), step = this.nest.steps[n]!;
    this.put(n, value, this.truth(n));
    if (step.name && !step.inner) this.keep(step.name, value.slice());
  }

  private put(n: number, value: Vector, pred: Vector | null): void {
    const { target, mode } = this.nest.steps[n]!, array = this.call.arrays[target]!, at = this.positions(target);
    const i = value.length === 1 ? 0 : -1, j = pred?.length === 1 ? 0 : -1, red = { "+=": "sum", "*=": "prod", "max=": "max", "min=": "min" }[mode];
    for (let k = 0; k < this.evaluation.count; k++) {
      if (pred !== null && pred[k & j] === 0) continue;
      const to = at[k]!, v = value[k & i]!;
      array[to] = red ? combined(red, array[to]!, v) : v;
    }
  }

  // --- Names, reads and positions ---

  private named(name: string): Vector {
    const word = this.words.get(name) ?? (/^(?:r|acc)\d+$/.test(name) ? undefined : this.loop(name));
    if (word) return word;
    if (name[0] === "r") return this.access(Number(name.slice(1)));
    const value = this.values.get(name)!;
    if (this.dims === this.outer || this.nest.shape === "scan" || value.length === 1) return value;
    const out = this.evaluation.vector();
    for (let k = 0; k < this.evaluation.count; k++) out[k] = value[Math.floor((this.start + k) / this.depth) - this.first]!;
    return out;
  }

  private loop(name: string): Vector {
    const plain = name.endsWith("_") ? name.slice(0, -1) : name, there = this.dims.findIndex((d) => d.name === name || d.name === plain);
    if (there >= 0) return this.along((_, d) => +(d === there), 0);
    return this.along(({ strides }) => strides[this.nest.accesses.length] ?? 0, 0);          // "place": of random draws
  }

  private access(n: number): Vector {
    const { guard, fallback } = this.read.accesses[n]!, array = this.call.arrays[n]!, at = this.positions(n), out = this.evaluation.vector();
    const inside = guard && this.evaluation.value(guard), other = fallback && this.evaluation.value(fallback);
    const i = inside?.length === 1 ? 0 : -1, j = other?.length === 1 ? 0 : -1;
    for (let k = 0; k < this.evaluation.count; k++) out[k] = inside === null || inside[k & i] !== 0 ? array[at[k]!]! : other ? other[k & j]! : 0;
    return out;
  }

  /** Where an access is at each point. */
  private positions(n: number): Vector {
    const at = this.along(({ strides }) => strides[n] ?? 0, this.call.launch.offsets[n]!), { axes } = this.nest.accesses[n]!, strides = this.call.strides[n]!;
    const { index } = this.read.accesses[n]!;
    let term = 0;
    index.forEach((formula, axis) => {
      const name = axes[axis] ?? "", there = this.all.some((d) => d.name !== "" && d.name === name);
      if (!formula && !there) return;
      const stride = strides[term++], value = formula ? this.evaluation.value(formula) : this.loop(name), i = value.length === 1 ? 0 : -1;
      if (stride) for (let k = 0; k < this.evaluation.count; k++) at[k]! += value[k & i]! * stride;
    });
    return at;
  }

  /** `from`, and for each loop its index times `step`, at every point. */
  private along(step: (dim: Dim, d: number) => number, from: number): Vector {
    const { dims } = this, out = this.evaluation.vector(), last = dims.length - 1, steps: number[] = [], index: number[] = [];
    let at = from, rest = this.start;
    for (let d = last; d >= 0; d--) {
      const { size, back } = dims[d]!, by = step(dims[d]!, d);
      steps[d] = back ? -by : by;
      index[d] = rest % size;
      rest = Math.floor(rest / size);
      at += (back ? by * (size - 1) : 0) + index[d]! * steps[d]!;
    }
    for (let k = 0; k < this.evaluation.count; k++) {
      out[k] = at;
      for (let d = last; d >= 0; d--) {
        at += steps[d]!;
        if (++index[d]! < dims[d]!.size) break;
        at -= steps[d]! * index[d]!;
        index[d] = 0;
      }
    }
    return out;
  }
}

function combined(red: string, so: number, value: number): number {
  switch (red) {
    case "sum": return so + value;
    case "prod": return so * value;
    case "max": return Math.max(so, value);
    case "min": return Math.min(so, value);
    case "any": return +(so !== 0 || value !== 0);
    default: return +(so !== 0 && value !== 0);
  }
}
