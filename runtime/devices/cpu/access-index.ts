// Where the accesses of an interpreted kernel stand along its loops.  Indices that are sums of loops and numbers, as
// those of windows are, are taken along in the walk; what few of the loops decide is computed once; what is left, at
// every point.

import { affine } from "../../../host/affine.js";
import { Index, Option, Uniform } from "../../../host/nodes.js";
import type { Access, CpuLaunch } from "../../../host/model.js";
import { type Formula, constant, formula } from "./node-evaluator.js";
import type { Vector } from "./point-loops.js";
import type { Dim } from "./loops.js";
import { Walk } from "./strided-walk.js";

/** A table of formulas has at most one place for so many points, and so many places. */
const FEW = 8,
  MOST = 1 << 14;

/** A sum: a number, and how often each loop. */
interface Sum {
  readonly from: number;
  readonly by: readonly number[];
}

/** An index that elements name: times `stride` it leads on, where it is on its axis. */
export interface Named {
  readonly index: Formula;
  readonly stride: number;
  readonly length: number;
}

/** An access: where it stands, how far the indices that are not part of that lead, and those that elements name. */
export interface AccessIndex extends Sum {
  readonly walk: Walk;
  readonly rest: Formula | null;
  readonly named: readonly Named[];
}

/** What few loops decide: the values, and how far each loop moves among them. */
interface Table {
  readonly by: readonly number[];
  readonly values: Float64Array;
}

/** So many numbers may stand in tables before they all go. */
const ROOM = 1 << 21;
let taken = 0,
  known: Map<unknown, AccessIndices>[] = [];

/** Notes that a kernel's tables have so many numbers more; where all have too many, those of others go. */
function note(own: Map<unknown, AccessIndices>, numbers: number): void {
  taken += numbers;
  if (taken > ROOM) {
    for (const places of known) if (places !== own) places.clear();
    known = [];
    taken = numbers;
  }
  known.push(own);
}

/** The places along one order of loops. */
export class AccessIndices {
  private readonly sizes: readonly number[];
  private readonly known: AccessIndex[] = [];
  private readonly lines = new Map<Formula | string, Walk | null>();

  /**
   * @param dims the loops, outermost first
   * @param accesses those of the kernel, and where the call has them
   * @param indices of each access the formulas of its axes, null where a loop alone indexes it
   * @param named the names of loops that formulas use
   * @param uniforms the numbers that they use
   * @param all all orders of these loops of which places are known
   */
  constructor(
    private readonly dims: readonly Dim[],
    private readonly accesses: readonly Access[],
    private readonly launch: CpuLaunch,
    private readonly indices: readonly (readonly (Formula | null)[])[],
    private readonly named: ReadonlySet<string>,
    private readonly uniforms: ReadonlyMap<string, Vector>,
    private readonly all: Map<unknown, AccessIndices>,
  ) {
    this.sizes = dims.map((d) => d.size);
  }

  access(n: number): AccessIndex {
    return (this.known[n] ??= this.place(n));
  }

  private place(n: number): AccessIndex {
    const { axes } = this.accesses[n]!,
      { launch } = this,
      named: Named[] = [];
    const by = this.dims.map(({ strides }) => strides[n] ?? 0);
    let from = launch.offsets[n]!,
      term = 0,
      rest: Formula | null = null;
    this.indices[n]!.forEach((index, axis) => {
      const name = axes[axis] ?? "";
      if (!index && !this.named.has(name)) return;
      if (index?.constant?.[0] === 0) return void term++; // of an axis that the tensor may lack
      const stride = launch.axes[n]![term]!,
        length = launch.lengths[n]![term++]!;
      if (index && !index.pure) return void named.push({ index, stride, length });
      const sum = index ? this.sum(index) : this.loopOf(name);
      if (!sum) {
        const far = formula("*", [index!, constant(stride)]);
        if (stride) rest = rest ? formula("+", [rest, far]) : far;
        return;
      }
      from += sum.from * stride;
      sum.by.forEach((b, d) => (by[d]! += b * stride));
    });
    return { walk: this.walk({ from, by }), from, by, rest, named };
  }

  /** The values of a pure formula: a sum of loops and numbers, or what few of the loops decide; null: it is neither. */
  line(f: Formula): Walk | null {
    let found = this.lines.get(f);
    if (found === undefined) {
      const sum = this.sum(f),
        table = sum ? null : this.table(f);
      this.lines.set(f, (found = sum ? this.walk(sum) : table && this.walk({ from: 0, by: table.by }, table.values)));
    }
    return found;
  }

  /** What a formula comes to at the points of the loops that decide it, if there are few; null: it needs more. */
  private table(f: Formula): Table | null {
    const { sizes } = this,
      by = sizes.map(() => 0),
      used = new Set<number>();
    if (!this.decided(f, used)) return null;
    let size = 1;
    for (let d = sizes.length - 1; d >= 0; d--) {
      if (!used.has(d)) continue;
      by[d] = size;
      size *= sizes[d]!;
    }
    if (size > MOST || (size > 1 && size * FEW > sizes.reduce((n, s) => n * s, 1))) return null;
    note(this.all, size);
    return { by, values: Float64Array.from({ length: size }, (_, k) => this.number(f, k, by)) };
  }

  /** Notes which loops decide a formula; answers whether they, and numbers, are all that does. */
  private decided(f: Formula, used: Set<number>): boolean {
    if (this.numberOf(f)) return true;
    if (!f.leaf) return f.args.every((a) => this.decided(a, used));
    const d = f.leaf instanceof Index ? this.loopNumber(f.leaf.loop) : -1;
    used.add(d);
    return d >= 0;
  }

  /** The value of a formula at place `k` of a table with such steps. */
  private number(f: Formula, k: number, by: readonly number[]): number {
    const { args, scalar } = f,
      number = this.numberOf(f);
    if (args.length > 0) return scalar(...args.map((a) => this.number(a, k, by)));
    if (number) return number[0]!;
    const d = this.loopNumber((f.leaf as Index).loop);
    return Math.floor(k / by[d]!) % this.sizes[d]!;
  }

  /** A number that is the same in all of the call. */
  private numberOf({ constant, leaf }: Formula): Vector | null {
    return constant ?? (leaf instanceof Uniform || leaf instanceof Option ? this.uniforms.get(leaf.name)! : null);
  }

  /** The values of a loop. */
  loop(name: string): Walk {
    return this.kept(name, () => this.loopOf(name)!);
  }

  /** The places of random draws. */
  draws(): Walk {
    return this.kept("", () => ({
      from: 0,
      by: this.dims.map(({ strides }) => strides[this.accesses.length] ?? 0),
    }));
  }

  private kept(name: string, sum: () => Sum): Walk {
    let found = this.lines.get(name);
    if (!found) this.lines.set(name, (found = this.walk(sum())));
    return found;
  }

  private loopNumber(name: string): number {
    return this.dims.findIndex((d) => d.name !== "" && d.name === name);
  }

  private loopOf(name: string): Sum | null {
    const there = this.loopNumber(name);
    return there < 0 ? null : { from: 0, by: this.dims.map((_, d) => +(d === there)) };
  }

  private sum({ pure, node }: Formula): Sum | null {
    const found = pure && node ? affine(node, (name) => this.integer(name), null) : null;
    if (!found) return null;
    const { "": from = 0, ...loops } = found.factors;
    if (Object.keys(loops).some((name) => this.loopNumber(name) < 0)) return null;
    // a loop may be called `constructor`
    return { from, by: this.dims.map(({ name }) => (Object.hasOwn(loops, name) ? loops[name]! : 0)) };
  }

  private integer(name: string): number | null {
    const value = this.uniforms.get(name)?.[0];
    return Number.isInteger(value) ? value! : null;
  }

  private walk({ from, by }: Sum, table: Vector | null = null): Walk {
    let origin = from;
    const steps = this.dims.map(({ back, size }, d) => {
      if (!back) return by[d]!;
      origin += by[d]! * (size - 1);
      return -by[d]!;
    });
    return new Walk(this.sizes, steps, origin, table);
  }
}
