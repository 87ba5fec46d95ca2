// The formulas of a kernel in a call, at points of its loops: what accesses read there and where they store.  Which
// points are gone through is the interpreter's (interpreter.ts) and, for sums of products, contraction.ts's.

import { Element, Index, type Node, type Option, Random, Result, type Uniform } from "../../../host/nodes.js";
import type { KernelCall, Kernel } from "../../program/compiled-op.js";
import { Evaluation, type Formula, Formulas, type Scalar, type Vector } from "./node-evaluator.js";
import { withFormulas } from "../../program/notation-formulas.js";
import { type Dim, Places } from "./access-index.js";
import { anonymous } from "./product.js";
import { combined } from "./reduction.js";
import type { Walk } from "./strided-walk.js";

export interface ReadStep {
  readonly index: readonly (Formula | null)[];
  readonly guard: Formula | null;
  readonly fallback: Formula | null;
}

/** A kernel's formulas. */
export interface Read {
  readonly accesses: readonly ReadStep[];
  readonly steps: readonly { readonly pred: Formula | null; readonly body: Formula }[];
}

const known = new WeakMap<Kernel, Read>();

export function read(kernel: Kernel): Read {
  const found = known.get(kernel);
  if (found) return found;
  const code = withFormulas(kernel).floating!,
    results = new Map<number, Formula>(),
    formulas = new Formulas(results);
  const some = (e: Node | null): Formula | null => e && formulas.of(e);
  const steps = kernel.steps.map(({ kind, inner }, n) => {
    const { pred, body } = code.steps[n]!,
      made = { pred: some(pred), body: formulas.of(body) };
    if (kind === "store" && inner && kernel.shape !== "scan") results.set(n, made.body); // at every point anew
    return made;
  });
  const accesses = code.accesses.map(({ index, guard, fallback }) => ({
    index: index.map(some),
    guard: some(guard),
    fallback: some(fallback),
  }));
  const made = { accesses, steps };
  known.set(kernel, made);
  return made;
}

export class Evaluator {
  protected readonly read: Read;
  /** The loops outside and those of the reduction; of each, those that formulas name come last. */
  protected outer: readonly Dim[];
  protected inner: readonly Dim[];
  protected readonly evaluation: Evaluation;
  /** The values of earlier steps. */
  protected readonly values = new Map<string, Vector>();
  /** The points of the current evaluation: `dims` from number `start` on. */
  protected dims: readonly Dim[] = [];
  protected start = 0;
  private placed!: Places;
  /** Whether elements may be others than when they were read there. */
  private stale = true;
  /** The words of the call and its options, and what any leaf stands for. */
  private readonly words = new Map<string, Vector>();
  private readonly leaves = new Map<Formula, () => Vector>();
  /** The named loops' lengths, and what they were. */
  private readonly extents: [(words: KernelCall["words"]) => number, number][] = [];
  private readonly places = new Map<readonly Dim[], Places>();

  constructor(
    readonly call: KernelCall,
    private readonly functions: Readonly<Record<string, Scalar>>,
  ) {
    const { launch, words, data } = call;
    this.read = read(data);
    const steps = launch.axes[data.accesses.length] ?? [];
    const dims = (all: Kernel["loops"], rest: typeof launch.outer, back: boolean): Dim[] => [
      ...anonymous(rest).map((loop) => ({ ...loop, back })),
      ...all
        .filter((l) => l.named)
        .map(({ name, extent }, k) => {
          const strides: number[] = [],
            size = extent!(words as Record<string, number>);
          if (all === data.loops) strides[data.accesses.length] = steps[k] ?? 0;
          this.extents.push([extent as (typeof this.extents)[0][0], size]);
          return { size, strides, name, back };
        }),
    ];
    this.outer = dims(data.loops, launch.outer, false);
    this.inner = dims(data.rloops, launch.reduce, data.reverse);
    const { uniform_random: uniform } = functions;
    if (uniform)
      this.functions = {
        ...functions,
        uniform_random: (site, place) => uniform(call.words.seed0_, call.words.seed1_, call.words.call_, site, place),
      };
    this.evaluation = new Evaluation(
      this.functions,
      (leaf) => this.named(leaf),
      (f) => {
        const walk = this.placed.line(f);
        return walk && this.along(walk);
      },
    );
  }

  /** Whether the call has the same loops still. */
  fits(): boolean {
    return this.extents.every(([extent, size]) => extent(this.call.words) === size);
  }

  /** Takes the numbers of the call, which is run anew; answers whether one has changed. */
  protected enter(): boolean {
    const { data, round } = this.call,
      told = this.call.words as Record<string, number>;
    let changed = false;
    const put = (name: string, number: number): void => {
      const there = this.words.get(name) ?? new Float64Array(1);
      changed ||= !Object.is(there[0], number);
      there[0] = number;
      this.words.set(name, there);
    };
    for (const { name, kind, value } of withFormulas(data).words) {
      const number = value ? value(told) : (told[name] ?? (name === "inf" ? Infinity : NaN));
      put(name, kind === "T" ? round(number) : number);
    }
    for (const name of data.constants) put(name, told[name]!);
    if (changed) {
      this.places.clear();
      this.dims = [];
    }
    this.stale = true;
    return changed;
  }

  /** Where accesses stand along loops. */
  protected placesOf(dims: readonly Dim[]): Places {
    let found = this.places.get(dims);
    if (!found) {
      const named = new Set([...this.outer, ...this.inner].map((d) => d.name));
      this.places.set(
        dims,
        (found = new Places(
          dims,
          this.call,
          this.read.accesses.map((a) => a.index),
          named,
          this.words,
          this.functions,
        )),
      );
    }
    return found;
  }

  /** Goes to `count` points of `dims`; what was computed there is known still, unless elements have changed. */
  protected stand(dims: readonly Dim[], start: number, count: number): void {
    if (!this.stale && dims === this.dims && start === this.start && count === this.evaluation.count) return;
    if (dims !== this.dims) this.placed = this.placesOf((this.dims = dims));
    this.stale = false;
    this.start = start;
    this.evaluation.begin(count);
  }

  protected keep(name: string, value: Vector): void {
    if (name) this.values.set(name, value);
  }

  protected truth(n: number): Vector | null {
    const { pred } = this.read.steps[n]!;
    return pred && this.evaluation.value(pred);
  }

  /** Makes a store. */
  protected store(n: number): void {
    const value = this.evaluation.value(this.read.steps[n]!.body),
      step = this.call.data.steps[n]!;
    this.put(n, value, this.truth(n));
    if (step.name && !step.inner) this.keep(step.name, value.slice(0, (this.evaluation.count + 4) & ~3));
  }

  /** Makes a store of this. */
  protected put(n: number, value: Vector, pred: Vector | null): void {
    const { target, mode } = this.call.data.steps[n]!,
      array = this.call.arrays[target]!,
      { evaluation, start } = this,
      { count } = evaluation;
    const wide = evaluation.wide(value),
      red = { "+=": "sum", "*=": "prod", "max=": "max", "min=": "min" }[mode];
    const { walk, rest } = this.placed.access(target);
    this.stale = true;
    if (pred === null && !red && !rest) return walk.write(array, start, count, wide);
    const at = this.positions(target),
      where = pred && evaluation.wide(pred);
    if (red === "sum") {
      for (let k = 0; k < count; k++) if (where === null || where[k] !== 0) array[at[k]!]! += wide[k]!;
    } else
      for (let k = 0; k < count; k++) {
        if (where !== null && where[k] === 0) continue;
        const to = at[k]!;
        array[to] = red ? combined(red, array[to]!, wide[k]!) : wide[k]!;
      }
  }

  private named(f: Formula): Vector {
    let found = this.leaves.get(f);
    if (!found) this.leaves.set(f, (found = this.valueOf(f.leaf!)));
    return found();
  }

  private valueOf(leaf: Node): () => Vector {
    if (leaf instanceof Element) return () => this.access(leaf.access);
    if (leaf instanceof Result) return () => this.earlier(this.call.data.steps[leaf.step]!.name);
    if (leaf instanceof Index) return () => this.along(this.placed.loop(leaf.loop));
    if (leaf instanceof Random) return () => this.along(this.placed.draws());
    const word = this.words.get((leaf as Uniform | Option).name)!;
    return () => word;
  }

  /** What an earlier step came to. */
  protected earlier(name: string): Vector {
    return this.values.get(name)!;
  }

  private access(n: number): Vector {
    const { guard, fallback } = this.read.accesses[n]!,
      array = this.call.arrays[n]!,
      { evaluation, start } = this,
      { count } = evaluation;
    const { walk, rest } = this.placed.access(n),
      inside = guard && evaluation.value(guard),
      one = rest ? -1 : walk.still(start, count);
    if (one >= 0 && !guard) return evaluation.single(array[one]!);
    const where = inside && evaluation.wide(inside),
      other = fallback && evaluation.wide(evaluation.value(fallback)),
      at = rest && this.positions(n);
    const out = evaluation.vector();
    if (!at) walk.read(array, start, count, out, where, other);
    else if (!where) for (let k = 0; k < count; k++) out[k] = array[at[k]!]!;
    else for (let k = 0; k < count; k++) out[k] = where[k] !== 0 ? array[at[k]!]! : other ? other[k]! : 0;
    return out;
  }

  /** Where an access is at each point. */
  private positions(n: number): Vector {
    const { walk, rest } = this.placed.access(n),
      { evaluation, start } = this,
      { count } = evaluation,
      at = evaluation.vector();
    walk.places(start, count, at);
    if (rest) {
      const value = evaluation.wide(evaluation.value(rest));
      for (let k = 0; k < count; k++) at[k]! += value[k]!;
    }
    return at;
  }

  /** The values along a walk. */
  private along(walk: Walk): Vector {
    const { start, evaluation } = this,
      { table } = walk,
      one = walk.still(start, evaluation.count);
    if (one >= 0) return evaluation.single(table ? table[one]! : one);
    const out = evaluation.vector();
    if (table) walk.read(table, start, evaluation.count, out);
    else walk.places(start, evaluation.count, out);
    return out;
  }
}
