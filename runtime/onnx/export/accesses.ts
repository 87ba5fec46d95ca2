// What the accesses of a kernel read, as values of an ONNX graph with an axis for each loop: views, gathers from tables
// of places, and gathers from where elements say.

import type { Call, CpuLaunch, Kernel } from "../../../host/model.js";
import { affine } from "../../../host/affine.js";
import { Constant, type Node } from "../../../host/nodes.js";
import { type DType, isFloat } from "../../elements/dtype.js";
import { type Formulas, type Loop, isPure } from "./formulas.js";
import { type Kind, typeOf } from "./functions.js";
import { type Memory, type Strides, boxOf, placesOf, seen } from "./memory.js";
import { BOOL, type GraphBuilder, INT64, type Value, broadcast, numel } from "./model.js";

/** Where an access stands: a sum over loops, a table of numbers, and indices that elements name. */
export interface Place {
  offset: number;
  readonly strides: number[];
  /** Indices that are no sums of loops. */
  readonly tables: { readonly index: Node; readonly stride: number; readonly length: number }[];
  readonly named: { readonly index: Node; readonly stride: number; readonly length: number }[];
}

/** One of two values; ONNX's operator takes no booleans everywhere. */
export function select(g: GraphBuilder, where: Value, yes: Value, no: Value): Value {
  if (yes.type !== BOOL) return g.each("Where", [where, yes, g.cast(no, yes.type)], yes.type);
  const either = g.each("Where", [where, g.cast(yes, INT64), g.cast(no, INT64)], INT64);
  return g.cast(either, BOOL);
}

export class AccessExport {
  private readonly elements = new Map<number, Value>();
  /** The kernel's formulas, in which accesses stand. */
  formulas!: Formulas;

  /** `floating`: ONNX's type of floating numbers. */
  constructor(
    private readonly g: GraphBuilder,
    private readonly kernel: Kernel,
    private readonly code: NonNullable<Kernel["floating"]>,
    private readonly launch: CpuLaunch,
    private readonly call: Call,
    private readonly loops: readonly Loop[],
    private readonly memories: readonly (Memory | null)[],
    private readonly floating: number,
  ) {}

  /** Where an access stands. */
  place(n: number): Place {
    const { kernel, launch, loops } = this,
      names = new Set(loops.map(({ name }) => name).filter(Boolean)),
      out: Place = {
        offset: launch.offsets[n]!,
        strides: loops.map(({ strides }) => strides[n] ?? 0),
        tables: [],
        named: [],
      };
    let term = 0;
    this.code.accesses[n]!.index.forEach((index, axis) => {
      const name = kernel.accesses[n]!.axes[axis] ?? "";
      if (!index && !names.has(name)) return;
      if (index instanceof Constant && index.value === 0) return void term++;
      const stride = launch.axes[n]![term]!,
        length = launch.lengths[n]![term++]!;
      if (!index) {
        out.strides[loops.findIndex((loop) => loop.name === name)]! += stride;
        return;
      }
      if (!isPure(index)) return void out.named.push({ index, stride, length });
      const sum = affine(index, (uniform) => this.integer(uniform), null);
      if (!sum) return void out.tables.push({ index, stride, length });
      for (const [loop, by] of Object.entries(sum.factors))
        if (loop === "") out.offset += by * stride;
        else out.strides[loops.findIndex(({ name: own }) => own === loop)]! += by * stride;
    });
    return out;
  }

  private integer(name: string): number | null {
    const field = this.kernel.uniforms.find((u) => u.name === name),
      value = field?.value ? field.value(this.call.env) : this.call.env[name];
    return Number.isInteger(value) ? value! : null;
  }

  /** What an access reads, at all points. */
  element(n: number): Value {
    let found = this.elements.get(n);
    if (!found) this.elements.set(n, (found = this.read(n)));
    return found;
  }

  /** What was stored is read anew. */
  forget(n: number): void {
    this.elements.delete(n);
  }

  /** An access's kind, as ONNX's type. */
  private typeOf(n: number): number {
    const { kind } = this.kernel.accesses[n]!,
      T = isFloat(this.call.dtype as DType) ? "f" : "i";
    return typeOf((kind === "T" ? T : kind) as Kind, this.floating);
  }

  private read(n: number): Value {
    const { g, kernel } = this,
      memory = this.memories[kernel.accesses[n]!.slot],
      { guard, fallback } = this.code.accesses[n]!,
      type = this.typeOf(n),
      ones = this.loops.map(() => 1),
      other = (): Value => (fallback ? this.formulas.value(fallback) : g.constant([0], ones, type));
    if (!memory || memory.length === 0) return other();
    const x = g.cast(memory.all(), type),
      place = this.place(n);
    if (place.named.length > 0 || (guard && !isPure(guard))) {
      const where = guard && this.formulas.value(guard),
        found = this.gathered(x, place, where);
      return where ? select(g, where, found, other()) : found;
    }
    if (!guard && place.tables.length === 0) {
      const view = { shape: this.loops.map((l) => l.size), strides: place.strides, offset: place.offset };
      return boxOf(memory.length, view) ? seen(g, x, view) : this.windows(x, place, null);
    }
    const mask = guard && this.formulas.table(guard),
      found = this.windows(x, place, guard);
    if (!mask || mask.values.every((value) => value !== 0)) return found;
    return select(g, g.constant(mask.values, mask.shape, BOOL), found, other());
  }

  /** What stands where loops with names, and the call's numbers, say: a gather along one axis, behind those of the other
   *  loops. */
  private windows(x: Value, { offset, strides, tables }: Place, guard: Node | null): Value {
    const { g, loops } = this,
      length = numel(x.shape),
      parts = tables.map(({ index, stride }) => ({ ...this.formulas.table(index), stride })),
      mask = guard && this.formulas.table(guard),
      moved = loops.map(({ name }, d) => name !== "" && (strides[d] !== 0 || parts.some(({ shape }) => shape[d]! > 1))),
      shape = loops.map(({ size }, d) => (moved[d] ? size : 1)),
      flat = new Float64Array(numel(shape)),
      live = (k: number): boolean => !mask || pick(mask, shape, k) !== 0;
    let least = Infinity,
      most = 0;
    for (let k = 0; k < flat.length; k++) {
      let at = 0,
        rest = k;
      for (let d = shape.length - 1; d >= 0; d--) {
        at += (rest % shape[d]!) * (moved[d] ? strides[d]! : 0);
        rest = Math.floor(rest / shape[d]!);
      }
      for (const part of parts) at += pick(part, shape, k) * part.stride;
      flat[k] = at;
      if (live(k)) {
        least = Math.min(least, at);
        most = Math.max(most, at);
      }
    }
    if (least === Infinity) least = 0;
    // the loops that stand still, then what the table goes through
    const still = loops.map((_, d) => d).filter((d) => !moved[d] && strides[d] !== 0 && loops[d]!.size > 1),
      span = most - least + 1,
      view: Strides = {
        shape: [...still.map((d) => loops[d]!.size), span],
        strides: [...still.map((d) => strides[d]!), 1],
        offset: offset + least,
      },
      places = flat.map((at, k) => (live(k) ? at - least : 0)),
      inner = loops.map((_, d) => d).filter((d) => moved[d]);
    if (still.length > 0 && boxOf(length, view)) {
      const rows = seen(g, x, view),
        table = g.constant(
          places,
          inner.map((d) => loops[d]!.size),
          INT64,
        ),
        found = g.op("Gather", [rows, table], [...rows.shape.slice(0, -1), ...table.shape], x.type, {
          axis: rows.shape.length - 1,
        });
      return this.arranged(found, [...still, ...inner]);
    }
    const all = placesOf({
        shape: loops.map(({ size }, d) => (moved[d] ? 1 : size)),
        strides: strides.map((s, d) => (moved[d] ? 0 : s)),
        offset: offset + least,
      }),
      whole = broadcast(all.shape, shape),
      numbers = new Float64Array(numel(whole)),
      base = { values: Float64Array.from(all.places), shape: all.shape },
      table = { values: places, shape };
    for (let k = 0; k < numbers.length; k++) numbers[k] = pick(base, whole, k) + pick(table, whole, k);
    return g.op("Gather", [g.reshape(x, [length]), g.constant(numbers, whole, INT64)], whole);
  }

  /** A value whose axes are those of some loops, in an order, with an axis for each loop. */
  private arranged(x: Value, axes: readonly number[]): Value {
    const sorted = [...axes].sort((a, b) => a - b);
    return this.g.reshape(
      this.g.transpose(
        x,
        sorted.map((d) => axes.indexOf(d)),
      ),
      this.loops.map((_, d) => (axes.includes(d) ? x.shape[axes.indexOf(d)]! : 1)),
    );
  }

  /** What stands where elements say. */
  private gathered(x: Value, place: Place, where: Value | null): Value {
    const { g, loops } = this,
      [only] = place.named,
      length = numel(x.shape);
    if (only && place.named.length === 1 && place.tables.length === 0 && !where) {
      const index = this.formulas.value(only.index),
        own = loops.map((_, d) => d).filter((d) => index.shape[d]! > 1),
        still = loops.map((_, d) => d).filter((d) => place.strides[d] !== 0 && loops[d]!.size > 1),
        view = {
          shape: [only.length, ...still.map((d) => loops[d]!.size)],
          strides: [only.stride, ...still.map((d) => place.strides[d]!)],
          offset: place.offset,
        };
      if (own.every((d) => !still.includes(d)) && only.stride > 0 && boxOf(length, view)) {
        const rows = g.reshape(seen(g, x, view), view.shape),
          at = g.reshape(
            index,
            own.map((d) => index.shape[d]!),
          );
        return this.arranged(g.op("Gather", [rows, at], [...at.shape, ...rows.shape.slice(1)], x.type, { axis: 0 }), [
          ...own,
          ...still,
        ]);
      }
    }
    const places = this.places(place, where);
    return g.op("Gather", [g.reshape(x, [length]), places], places.shape);
  }

  /** The places of an access as numbers of the graph; `where` they matter. */
  places(place: Place, where: Value | null): Value {
    const { g, loops } = this,
      { places, shape } = placesOf({ shape: loops.map((l) => l.size), strides: place.strides, offset: place.offset });
    let at = g.constant(places, shape, INT64);
    for (const { index, stride } of [...place.named, ...place.tables])
      at = g.each("Add", [at, g.each("Mul", [this.formulas.value(index), g.number(stride, INT64)])]);
    return where ? g.each("Where", [where, at, g.number(0, INT64)], INT64) : at;
  }
}

/** The number of a table at place `k` of a shape that it is broadcast to. */
function pick(
  { values, shape }: { readonly values: Float64Array; readonly shape: readonly number[] },
  all: readonly number[],
  k: number,
): number {
  let at = 0,
    step = 1,
    rest = k;
  for (let d = all.length - 1; d >= 0; d--) {
    const own = shape[d]!;
    at += own === 1 ? 0 : (rest % all[d]!) * step;
    step *= own;
    rest = Math.floor(rest / all[d]!);
  }
  return values[at]!;
}
