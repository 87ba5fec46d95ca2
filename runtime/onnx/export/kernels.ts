// A kernel in a call as operators of ONNX: what accesses read becomes values with an axis for each loop, formulas become
// operators on them, reductions go over the axes of the inner loops, and stores fill memory.

import type { Call, CpuLaunch, Kernel, Op } from "../../../host/model.js";
import { is_arg } from "../../../host/model.js";
import { type Node, factors_of, nodes_of, Element } from "../../../host/nodes.js";
import { isFloat, type DType } from "../../elements/dtype.js";
import { withFormulas } from "../../program/notation-formulas.js";
import { AccessExport, select } from "./accesses.js";
import { Formulas, type Loop } from "./formulas.js";
import { type Kind, REDUCTIONS } from "./functions.js";
import { type Memory, boxOf, seen } from "./memory.js";
import { BOOL, DOUBLE, FLOAT, type GraphBuilder, INT64, type Value, broadcast, numel } from "./model.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** A running value without an operator of its own is a table of so many points by themselves, at most. */
const MOST_RUNNING = 2048;

export class KernelExport {
  private readonly loops: readonly Loop[];
  /** How many of them are outside of the reduction. */
  private readonly outer: number;
  private readonly formulas: Formulas;
  private readonly accesses: AccessExport;
  private readonly code;
  private readonly results = new Map<number, Value>();
  private readonly floating: number;

  constructor(
    private readonly g: GraphBuilder,
    private readonly op: Op,
    private readonly kernel: Kernel,
    readonly launch: CpuLaunch,
    readonly call: Call,
    private readonly memories: readonly (Memory | null)[],
  ) {
    const { floating, integral, accesses, loops, rloops, uniforms, constants } = withFormulas(kernel),
      float = isFloat(call.dtype as DType),
      { env } = call;
    this.code = (float ? floating : integral)!;
    this.floating = accesses.some(({ slot }) => call.slots[slot]!.dtype === "float64") ? DOUBLE : FLOAT;
    const dims = (all: Kernel["loops"], rest: CpuLaunch["outer"]): Loop[] => [
      ...rest.sizes.map((size, k) => ({ name: "", size, strides: rest.strides.map((s) => s[k]!) })),
      ...all.filter((l) => l.named).map(({ name, extent }) => ({ name, size: extent!(env), strides: [] })),
    ];
    const around = dims(loops, launch.outer),
      inside = dims(rloops, launch.reduce),
      // places of the greatest count in this order
      inner = [...inside.filter(({ name }) => name), ...inside.filter(({ name }) => !name)];
    this.loops = [...around, ...inner];
    this.outer = around.length;
    const numbers = new Map<string, { value: number; kind: Kind }>();
    for (const { name, kind, value } of uniforms)
      numbers.set(name, {
        value: value ? value(env) : (env[name] ?? (name === "inf" ? Infinity : NaN)),
        kind: kind === "T" ? (float ? "f" : "i") : (kind as Kind),
      });
    for (const name of constants) numbers.set(name, { value: Number(env[name]), kind: "b" });
    this.accesses = new AccessExport(g, kernel, this.code, launch, call, this.loops, memories, this.floating);
    this.formulas = this.accesses.formulas = new Formulas({
      g,
      op: op.name,
      loops: this.loops,
      floating: this.floating,
      uniforms: numbers,
      bool: call.dtype === "bool",
      routine: (name) => op.routines.find((r) => r.name === name)?.steps || null,
      element: (n) => this.accesses.element(n),
      result: (n) => this.results.get(n)!,
    });
  }

  /** Adds what the kernel does to the graph. */
  run(): void {
    const { kernel, code } = this,
      inner = this.loops.slice(this.outer),
      sums = kernel.spread && kernel.shape === "map" && inner.length > 0;
    kernel.steps.forEach((step, n) => {
      const { body, pred } = code.steps[n]!;
      if (step.kind === "reduce") {
        const value = kernel.shape === "scan" ? this.running(n) : this.reduced(n);
        this.results.set(n, value);
        return;
      }
      let value = this.formulas.value(body);
      if (sums) value = this.sum(value);
      this.results.set(n, value);
      this.store(n, value, pred, sums ? false : step.inner || kernel.shape === "scatter");
      // what was stored may be read from now on
      this.accesses.forget(step.target);
    });
  }

  // --- Reducing ---------------------------------------------------------------------------------------

  private get innerAxes(): number[] {
    return this.loops.map((_, d) => d).slice(this.outer);
  }

  /** With all points of the inner loops. */
  private wide(x: Value): Value {
    return this.g.expand(
      x,
      this.loops.map(({ size }, d) => (d < this.outer ? x.shape[d]! : size)),
    );
  }

  private sum(x: Value): Value {
    return this.over("sum", this.wide(x));
  }

  private over(red: string, x: Value): Value {
    const { g, innerAxes } = this,
      [kind] = REDUCTIONS[red]!;
    if (innerAxes.length === 0) return x;
    return g.op(
      kind,
      [x, g.sizes(innerAxes)],
      x.shape.map((size, d) => (d < this.outer ? size : 1)),
      x.type,
      { keepdims: 1 },
    );
  }

  private neutral(red: string, type: number): Value {
    return this.g.constant(
      [REDUCTIONS[red]![1]],
      this.loops.map(() => 1),
      type,
    );
  }

  private reduced(n: number): Value {
    const { g, kernel, code } = this,
      step = kernel.steps[n]!,
      { body, pred } = code.steps[n]!,
      { red } = step;
    if (red === "sum") {
      const product = this.product(body, pred);
      if (product) return product;
    }
    let value = this.formulas.value(body);
    const logical = value.type === BOOL;
    if (logical || red === "any" || red === "all")
      value = g.cast(logical ? value : g.cast(value, BOOL), is_arg(step) ? FLOAT : INT64);
    if (is_arg(step) && value.type === INT64) value = g.cast(value, DOUBLE);
    if (pred) value = select(g, this.formulas.value(pred), value, this.neutral(red, value.type));
    value = this.wide(value);
    if (is_arg(step)) {
      const shape = value.shape.slice(0, this.outer),
        rows = g.reshape(value, [...shape, numel(value.shape.slice(this.outer))]),
        made = g.op(REDUCTIONS[red]![0], [rows], shape, INT64, { axis: shape.length, keepdims: 0 });
      return g.reshape(made, [...shape, ...this.innerAxes.map(() => 1)]);
    }
    const made = this.over(red, value);
    return red === "any" || red === "all" || (logical && step.value === "b") ? this.asKind(made, step.value) : made;
  }

  private asKind(x: Value, kind: string): Value {
    return kind === "b" ? this.g.cast(x, BOOL) : x;
  }

  /** A sum of products as Einsum; null where it is none. */
  private product(body: Node, pred: Node | null): Value | null {
    const { g, loops, kernel } = this,
      factors = factors_of(body, "f"),
      of = (e: Node): number[] => nodes_of(e).flatMap((x) => (x instanceof Element ? [x.access] : []));
    if (kernel.shape !== "contract" || factors.length < 2) return null;
    const left = factors.filter((e) => of(e).length > 0 && of(e).every((access) => kernel.left.includes(access))),
      right = factors.filter((e) => !left.includes(e));
    if (left.length === 0 || right.length === 0) return null;
    const [a, b] = [left, right].map((all) =>
      all.map((e) => this.formulas.value(e)).reduce((x, y) => g.each("Mul", [x, y])),
    ) as [Value, Value];
    const first = pred ? select(g, this.formulas.value(pred), a, this.neutral("sum", a.type)) : a,
      both = broadcast(first.shape, b.shape),
      letters = (x: Value): number[] => loops.map((_, d) => d).filter((d) => x.shape[d]! > 1),
      text = (dims: readonly number[]): string => dims.map((d) => LETTERS[d]).join(""),
      out = loops.map((_, d) => d).filter((d) => d < this.outer && both[d]! > 1),
      squeezed = (x: Value): Value =>
        g.reshape(
          x,
          letters(x).map((d) => x.shape[d]!),
        );
    let made = g.op(
      "Einsum",
      [squeezed(first), squeezed(b)],
      out.map((d) => both[d]!),
      first.type,
      { equation: `${text(letters(first))},${text(letters(b))}->${text(out)}` },
    );
    made = g.reshape(
      made,
      loops.map((_, d) => (out.includes(d) ? both[d]! : 1)),
    );
    // inner loops that neither depends on
    const times = this.innerAxes.reduce((by, d) => by * (both[d] === 1 ? loops[d]!.size : 1), 1);
    return times === 1 ? made : g.each("Mul", [made, g.number(times, made.type)]);
  }

  /** A running reduction: its value so far at every point. */
  private running(n: number): Value {
    const { g, kernel, code } = this,
      { red } = kernel.steps[n]!,
      { body, pred } = code.steps[n]!,
      [axis, more] = this.innerAxes,
      size = axis === undefined ? 1 : this.loops[axis]!.size;
    let value = this.wide(this.formulas.value(body));
    if (more !== undefined || !REDUCTIONS[red])
      throw this.formulas.refusal(`runs along several axes, which cannot be exported`);
    if (pred) value = select(g, this.formulas.value(pred), value, this.neutral(red, value.type));
    // along one element
    if (axis === undefined) return red.startsWith("arg") ? g.expand(g.number(0, INT64), value.shape) : value;
    if (red === "sum")
      return g.op(
        "CumSum",
        [value, g.number(axis, INT64)],
        value.shape,
        value.type,
        kernel.reverse ? { reverse: 1 } : {},
      );
    if (size > MOST_RUNNING)
      throw this.formulas.refusal(`runs along ${size} points, of which at most ${MOST_RUNNING} can be exported`);
    const argument = red.startsWith("arg"),
      mask = Float64Array.from({ length: size * size }, (_, k) => {
        const [at, before] = [Math.floor(k / size), k % size];
        return +(kernel.reverse ? before >= at : before <= at);
      }),
      rank = value.shape.length,
      spread = g.reshape(value, [...value.shape.slice(0, -1), 1, size]),
      known = argument && value.type === INT64 ? g.cast(spread, DOUBLE) : spread,
      neutral = g.constant([REDUCTIONS[red]![1]], new Array<number>(rank + 1).fill(1), known.type),
      table = g.constant(mask, [size, size], BOOL),
      rows = g.each("Where", [table, known, neutral], known.type),
      [kind] = REDUCTIONS[red]!;
    return argument
      ? g.op(kind, [rows], value.shape, INT64, { axis: rank, keepdims: 0, select_last_index: 1 })
      : g.op(kind, [rows, g.sizes([rank])], value.shape, rows.type, { keepdims: 0 });
  }

  // --- Storing ----------------------------------------------------------------------------------------

  private store(n: number, given: Value, pred: Node | null, inside: boolean): void {
    const { g, kernel, loops } = this,
      { target, mode } = kernel.steps[n]!,
      memory = this.memories[kernel.accesses[target]!.slot],
      place = this.accesses.place(target);
    if (!memory || memory.length === 0) return;
    const shape = loops.map(({ size }, d) => (d < this.outer || inside || place.strides[d] !== 0 ? size : 1)),
      value = g.cast(given, memory.type),
      view = { shape, strides: place.strides, offset: place.offset },
      reduction = { "=": "none", "+=": "add", "*=": "mul", "max=": "max", "min=": "min" }[mode]!,
      plain = place.named.length === 0 && place.tables.length === 0,
      apart = plain && shape.every((size, d) => size === 1 || place.strides[d] !== 0) && boxOf(memory.length, view);
    if (apart) {
      let next = g.expand(value, shape);
      if (reduction !== "none" || pred) {
        const before = g.reshape(seen(g, memory.all(), view), shape);
        if (reduction !== "none")
          next = g.each({ add: "Add", mul: "Mul", max: "Max", min: "Min" }[reduction]!, [before, next]);
        if (pred) next = select(g, this.formulas.value(pred), next, before);
      }
      return memory.put(view, next);
    }
    // what is not to be stored goes to a place behind all
    const where = pred && this.formulas.value(pred),
      all = broadcast(shape, this.accesses.places(place, null).shape),
      wide = (x: Value): Value => g.reshape(g.expand(g.reshape(x, x.shape), all), [numel(all)]);
    let places = this.accesses.places(place, null);
    if (where) places = g.each("Where", [where, places, g.number(memory.length, INT64)], INT64);
    const logical = memory.type === BOOL,
      kind = logical && reduction !== "none" ? INT64 : memory.type;
    if (!where && kind === memory.type) return memory.scatter(wide(places), wide(value), reduction);
    const before = g.cast(g.reshape(memory.all(), [memory.length]), kind),
      room = where
        ? g.concat(
            [before, g.constant([0], [1], INT64)].map((x) => g.cast(x, kind)),
            0,
          )
        : before,
      made = g.op("ScatterElements", [room, wide(places), wide(g.cast(value, kind))], room.shape, kind, {
        axis: 0,
        ...(reduction === "none" ? {} : { reduction }),
      });
    memory.set(g.cast(g.slice(made, 0, 0, memory.length), memory.type));
  }
}
