// The formulas of a kernel in a call, at points of its loops: what accesses read there and where they store.  Which
// points are gone through is the interpreter's (interpreter.ts).

import type { Code, CpuLaunch, Kernel } from "../../../host/model.js";
import { check_unsigned } from "../../../host/unsigned.js";
import {
  BoundsCheck,
  Element,
  Index,
  type Node,
  type Option,
  Random,
  Result,
  type Uniform,
} from "../../../host/nodes.js";
import type { Elements } from "../../program/compiled-op.js";
import { IndexError } from "../../base/errors.js";
import { is_narrow, is_rounded } from "../../../dsl/dtypes.js";
import { type DType, converter, isFloat, rounder } from "../../elements/dtype.js";
import { type Scalar, asking, cut, cutLong, cutUnsigned, fits, signed } from "./functions.js";
import { Evaluation, type Formula, Formulas, isWide } from "./node-evaluator.js";
import type { Vector } from "./point-loops.js";
import { withFormulas } from "../../program/notation-formulas.js";
import { type AccessIndex, AccessIndices } from "./access-index.js";
import { type Dim, anonymous } from "./loops.js";
import { combined } from "./reduction.js";
import type { Walk } from "./strided-walk.js";

/** A kernel in a call, as the interpreter meets it.  Offsets and strides count elements. */
export interface KernelCall {
  /** The op's name, for messages. */
  readonly op: string;
  readonly kernel: Kernel;
  readonly launch: CpuLaunch;
  /** For each access its tensor's type. */
  readonly types: readonly string[];
  /** T. */
  readonly dtype: DType;
  /** Functions of formulas that the op brings. */
  readonly functions: Readonly<Record<string, Scalar>>;
}

export type Environment = Readonly<Record<string, number>>;

interface Access {
  readonly index: readonly (Formula | null)[];
  /** Whether an index that is off its axis is an error. */
  readonly checked: boolean;
  readonly guard: Formula | null;
  readonly fallback: Formula | null;
}

interface Step {
  readonly pred: Formula | null;
  readonly body: Formula;
  /** The lowest 32 bits of a whole number of 64. */
  readonly low: Formula | null;
}

/** A kernel's formulas. */
interface Read {
  readonly accesses: readonly Access[];
  readonly steps: readonly Step[];
}

const known = new WeakMap<Code, Read>();

function read(kernel: Kernel, code: Code, functions: Readonly<Record<string, Scalar>>): Read {
  const found = known.get(code);
  if (found) return found;
  const results = new Map<number, Formula>(),
    formulas = new Formulas(results, functions);
  const some = (e: Node | null): Formula | null => e && formulas.of(e);
  const steps = kernel.steps.map(({ kind, inner }, n) => {
    const { pred, body } = code.steps[n]!,
      wide = isWide(body),
      made = {
        pred: some(pred),
        body: wide ? formulas.wide(body, false) : formulas.of(body),
        low: wide ? formulas.wide(body, true) : null,
      };
    if (kind === "store" && inner && kernel.shape !== "scan") results.set(n, made.body); // at every point anew
    return made;
  });
  const accesses = code.accesses.map(({ index, guard, fallback }) => ({
    index: index.map(some),
    checked: index.some((e) => e instanceof BoundsCheck),
    guard: some(guard),
    fallback: some(fallback),
  }));
  const made = { accesses, steps };
  known.set(code, made);
  return made;
}

export class KernelEvaluator {
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
  private indices!: AccessIndices;
  /** Whether elements may be others than when they were read there. */
  private stale = true;
  /** For each access its tensor's elements; empty where there is none. */
  private arrays: readonly Elements[] = [];
  /** The uniforms of the call and its options, and what any leaf stands for. */
  private readonly uniforms = new Map<string, Vector>();
  private readonly leaves = new Map<Formula, () => Vector>();
  private readonly places = new Map<readonly Dim[], AccessIndices>();
  /** The named loops' lengths, and what they were. */
  private readonly extents: [(env: Record<string, number>) => number, number][] = [];

  constructor(
    protected readonly call: KernelCall,
    env: Environment,
  ) {
    const { launch, kernel, dtype, functions } = call,
      { floating, integral } = withFormulas(kernel);
    const code = isFloat(dtype) ? floating : integral;
    if (code) check_unsigned(call.op, kernel, code, dtype);
    else throw new Error(`${call.op}: there is no kernel for ${dtype}; please report this`);
    this.read = read(kernel, code, functions);
    const steps = launch.axes[kernel.accesses.length] ?? [];
    const dims = (all: Kernel["loops"], rest: CpuLaunch["outer"], back: boolean): Dim[] => [
      ...anonymous(rest, back),
      ...all
        .filter((l) => l.named)
        .map(({ name, extent }, k) => {
          const strides: number[] = [],
            size = extent!(env as Record<string, number>);
          this.extents.push([extent!, size]);
          if (all === kernel.loops) strides[kernel.accesses.length] = steps[k] ?? 0;
          return { size, strides, name, back };
        }),
    ];
    this.outer = dims(kernel.loops, launch.outer, false);
    this.inner = dims(kernel.rloops, launch.reduce, kernel.reverse);
    this.evaluation = new Evaluation(
      (leaf) => this.named(leaf),
      (f) => {
        const walk = this.indices.line(f);
        return walk && this.along(walk);
      },
    );
  }

  /** Whether a call has the same loops still. */
  fits(env: Environment): boolean {
    return this.extents.every(([extent, size]) => extent(env as Record<string, number>) === size);
  }

  /** Takes the tensors and the numbers of a call. */
  protected enter(arrays: readonly Elements[], env: Environment): void {
    const { op, kernel, dtype } = this.call,
      float = isFloat(dtype);
    asking.op = op;
    asking.bool = dtype === "bool";
    asking.narrow = is_narrow(dtype);
    asking.unsigned = dtype === "uint32";
    asking.long = dtype === "int64";
    asking.single = float && dtype !== "float64";
    asking.dtype = dtype;
    asking.seed0 = env["seed0_"]!;
    asking.seed1 = env["seed1_"]!;
    asking.call = env["call_"]!;
    this.arrays = arrays;
    let changed = false;
    const put = (name: string, number: number): void => {
      const there = this.uniforms.get(name) ?? new Float64Array(1);
      changed ||= !Object.is(there[0], number);
      there[0] = number;
      this.uniforms.set(name, there);
    };
    for (const { name, kind, value } of withFormulas(kernel).uniforms) {
      const number = value ? value(env as Record<string, number>) : (env[name] ?? (name === "inf" ? Infinity : NaN));
      put(
        name,
        kind !== "T"
          ? number
          : float
            ? rounder(is_rounded(dtype) ? "float32" : dtype)(number)
            : asking.long
              ? Math.trunc(number)
              : Math.trunc(number) | 0,
      );
    }
    for (const name of kernel.constants) put(name, env[name]!);
    if (changed) {
      this.places.clear();
      this.dims = [];
    }
    this.stale = true;
  }

  /** What is kept of a call is no tensor. */
  protected leave(): void {
    this.arrays = [];
  }

  /** Where accesses stand along loops. */
  private indicesOf(dims: readonly Dim[]): AccessIndices {
    let found = this.places.get(dims);
    if (!found) {
      const { kernel, launch } = this.call;
      found = new AccessIndices(
        dims,
        kernel.accesses,
        launch,
        this.read.accesses.map((a) => a.index),
        new Set([...this.outer, ...this.inner].map((d) => d.name)),
        this.uniforms,
        this.places,
      );
      this.places.set(dims, found);
    }
    return found;
  }

  /** Goes to `count` points of `dims`; what was computed there is known still, unless elements have changed. */
  protected stand(dims: readonly Dim[], start: number, count: number): void {
    if (!this.stale && dims === this.dims && start === this.start && count === this.evaluation.count) return;
    if (dims !== this.dims) this.indices = this.indicesOf((this.dims = dims));
    this.stale = false;
    this.start = start;
    this.evaluation.begin(count);
  }

  protected keep(name: string, value: Vector): void {
    if (name) this.values.set(name, value);
  }

  /** A formula's value with one number for each point; of none, none. */
  protected wide(f: Formula): Vector;
  protected wide(f: Formula | null): Vector | null;
  protected wide(f: Formula | null): Vector | null {
    return f && this.evaluation.wide(this.evaluation.value(f));
  }

  /** Makes a store. */
  protected store(n: number): void {
    const value = this.evaluation.value(this.read.steps[n]!.body),
      step = this.call.kernel.steps[n]!;
    this.put(n, value, this.wide(this.read.steps[n]!.pred));
    if (step.name && !step.inner) this.keep(step.name, value.slice(0, (this.evaluation.count + 4) & ~3));
  }

  /** Makes a store of this. */
  protected put(n: number, value: Vector, where: Vector | null): void {
    const { target, mode, value: kind } = this.call.kernel.steps[n]!,
      array = this.arrays[target]!,
      type = this.call.types[target]!,
      { evaluation, start } = this,
      { count } = evaluation;
    this.stale = true;
    if (!array.length) return;
    const red = { "+=": "sum", "*=": "prod", "max=": "max", "min=": "min" }[mode],
      place = this.indices.access(target);
    let wide = evaluation.wide(value);
    if (!red) {
      wide = this.stored(type, wide);
      if (!where && !place.rest && !place.named.length) return place.walk.write(array, start, count, wide);
    }
    const at = this.positions(place, target, where, -Infinity),
      joins = red === undefined ? null : type === "bool" ? (red === "prod" || red === "min" ? "all" : "any") : red,
      whole = joins !== null && kind === "T" && (type === "int32" || type === "int64");
    for (let k = 0; k < count; k++) {
      if (where && where[k] === 0) continue;
      const to = at[k]!;
      if (joins === null) array[to] = wide[k]!;
      else {
        const sum = joins === "sum" ? array[to]! + wide[k]! : combined(joins, array[to]!, wide[k]!);
        array[to] = whole ? fits(sum) : is_rounded(type) ? rounder(type)(sum) : sum;
      }
    }
  }

  /** Values as elements of a type hold them, where its array does not see to that. */
  private stored(type: string, value: Vector): Vector {
    if (type === "float32" || type === "float64" || (type === "int64" && !isFloat(this.call.dtype))) return value;
    const { evaluation } = this,
      out = evaluation.vector(),
      f =
        isFloat(type) || type === "bool"
          ? converter(type as DType)
          : type === "uint32"
            ? cutUnsigned
            : type === "int64"
              ? cutLong
              : cut;
    for (let k = 0; k < evaluation.count; k++) out[k] = f(value[k]!);
    return out;
  }

  private named(f: Formula): Vector {
    let found = this.leaves.get(f);
    if (!found) this.leaves.set(f, (found = this.valueOf(f.leaf!)));
    return found();
  }

  private valueOf(leaf: Node): () => Vector {
    if (leaf instanceof Element) return () => this.access(leaf.access);
    if (leaf instanceof Result) return () => this.earlier(this.call.kernel.steps[leaf.step]!.name);
    if (leaf instanceof Index) return () => this.along(this.indices.loop(leaf.loop));
    if (leaf instanceof Random) return () => this.along(this.indices.draws());
    const uniform = this.uniforms.get((leaf as Uniform | Option).name)!;
    return () => uniform;
  }

  /** What an earlier step came to. */
  protected earlier(name: string): Vector {
    return this.values.get(name)!;
  }

  private access(n: number): Vector {
    const { guard, fallback } = this.read.accesses[n]!,
      array = this.arrays[n]!,
      { evaluation, start } = this,
      { count } = evaluation;
    if (!array.length) return fallback ? evaluation.value(fallback) : evaluation.single(0);
    const place = this.indices.access(n),
      { walk, rest, named } = place,
      plain = !rest && !named.length,
      one = plain && !guard ? walk.still(start, count) : -1;
    const out = one >= 0 ? evaluation.single(array[one]!) : evaluation.vector();
    if (one < 0) {
      const where = this.wide(guard),
        other = this.wide(fallback),
        at = plain ? null : this.positions(place, n, where, 0);
      if (!at) walk.read(array, start, count, out, where, other);
      else if (!where) for (let k = 0; k < count; k++) out[k] = array[at[k]!]!;
      else for (let k = 0; k < count; k++) out[k] = where[k] !== 0 ? array[at[k]!]! : other ? other[k]! : 0;
    }
    const { kind } = this.call.kernel.accesses[n]!;
    if (kind === "b" && this.call.types[n] !== "bool") for (let k = 0; k < out.length; k++) out[k] = +(out[k] !== 0);
    else if (kind === "T" && this.call.types[n] === "uint32" && !isFloat(this.call.dtype))
      for (let k = 0; k < out.length; k++) out[k] = signed(out[k]!);
    return out;
  }

  /**
   * Where an access is at each point, or where it matters.
   *
   * @param outside where one is that is off an axis, where that is no error: added to its place
   */
  private positions({ walk, rest, named }: AccessIndex, n: number, where: Vector | null, outside: number): Vector {
    const { evaluation, start } = this,
      { count } = evaluation,
      at = evaluation.vector();
    walk.places(start, count, at);
    if (rest) {
      const value = this.wide(rest);
      for (let k = 0; k < count; k++) at[k]! += value[k]!;
    }
    for (const { index, stride, length } of named) {
      const value = this.wide(index);
      for (let k = 0; k < count; k++) {
        const i = value[k]!;
        if (i >= 0 && i < length) at[k]! += i * stride;
        else if (this.read.accesses[n]!.checked && (!where || where[k] !== 0))
          throw new IndexError(`${this.call.op}: index ${i} is out of bounds for an axis of length ${length}`);
        else at[k]! += outside;
      }
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
