// Runs a kernel from its formulas, up to a thousand points at a time: what the CPU does where there is no WebAssembly.

import { is_arg } from "../../../host/model.js";
import type { Elements } from "../../program/compiled-op.js";
import { isFloat } from "../../elements/dtype.js";
import { type KernelCall, KernelEvaluator, type Environment } from "./kernel-evaluator.js";
import { POINTS } from "./node-evaluator.js";
import type { Vector } from "./point-loops.js";
import { type Dim, product } from "./loops.js";
import { Reduction } from "./reduction.js";

/** Going across rows pays with so many points side by side, and where a row has fewer than so many. */
const WIDE = 64,
  SHORT = 16;
/** A row of so many points is taken by itself: much is the same at all of them. */
const LONG = 256;

/** How many accesses have neighbours along the innermost of loops. */
function neighbours(dims: readonly Dim[]): number {
  return (dims.at(-1)?.strides ?? []).filter((s) => s === 1 || s === -1).length;
}

/** How many points to take at once, at most so many: part of a row, or whole rows. */
function blockOf(dims: readonly Dim[], most: number): number {
  const row = dims.at(-1)?.size ?? 1;
  return row >= Math.min(most, LONG)
    ? Math.ceil(row / Math.ceil(row / most))
    : Math.floor(most / Math.max(row, 1)) * Math.max(row, 1);
}

export class Interpreter extends KernelEvaluator {
  /** The outer loops, then those of the reduction. */
  private readonly all: readonly Dim[];
  private readonly points: number;
  /**
   * The loops of the reduction, then the outer ones; null: neighbours lie along the reduction, so its rows are taken
   * one by one.
   */
  private readonly across: readonly Dim[] | null;
  /** How many points a reduction has. */
  private readonly depth: number;
  /** How many outer points are taken at once, the first of them, and the reductions of the steps there. */
  private readonly block: number;
  private first = 0;
  private readonly reductions: Reduction[] = [];

  constructor(call: KernelCall, env: Environment) {
    super(call, env);
    const { loops } = call.kernel,
      outer = [...this.outer],
      named = (d: Dim): boolean => d.name !== "";
    // As in the kernel a loop may stand last that has no name, but a long one does before all.
    if (!loops.at(-1)?.named) outer.push(...outer.splice(call.launch.outer.sizes.length - 1, 1));
    if (outer.some((d) => d.size >= SHORT)) while (outer.at(-1)!.size < SHORT) outer.unshift(outer.pop()!);
    const inner = [...this.inner.filter(named), ...this.inner.filter((d) => !named(d))];
    this.outer = outer;
    this.all = inner.length === 0 ? outer : [...outer, ...inner];
    this.points = product(outer);
    this.depth = product(inner);
    this.across =
      inner.length > 0 && this.points >= WIDE && (this.depth < SHORT || neighbours(outer) > neighbours(inner))
        ? [...inner, ...outer]
        : null;
    this.block = blockOf(
      outer,
      this.across ? POINTS : this.depth < LONG ? Math.floor(POINTS / Math.max(this.depth, 1)) : 1,
    );
  }

  /**
   * @param arrays for each access its tensor's elements; empty where it was not given
   * @param env the environment of the call
   */
  run(arrays: readonly Elements[], env: Environment): void {
    this.enter(arrays, env);
    this.compute();
    this.leave();
  }

  private compute(): void {
    const { block } = this,
      { steps, shape, spread } = this.call.kernel,
      sums = spread && shape === "map" && this.depth !== 1;
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

  /** Calls `f` at all points of the reductions of `count` outer points, chunk by chunk. */
  private chunks(count: number, f: () => void): void {
    const { depth, across, points } = this,
      end = (this.first + count) * depth;
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

  /**
   * Calls `f` for each row, or part of one, among the points: its first point, the one after its last, its outer point
   * in the block.
   */
  private rows(f: (from: number, to: number, row: number) => void): void {
    const { depth, start } = this,
      { count } = this.evaluation;
    let row = Math.floor(start / depth),
      to = Math.min((row + 1) * depth - start, count);
    for (let from = 0; from < count; from = to, to = Math.min(to + depth, count), row++) f(from, to, row - this.first);
  }

  private reduce(n: number, red: string, count: number): Vector {
    const made = this.begun(n, red, count);
    this.chunks(count, () => {
      const { start, depth, across, points } = this,
        [value, low, pred] = this.met(n);
      if (across) made.meet(value, low, pred, 0, count, 0, 1, Math.floor(start / points));
      else
        this.rows((from, to, row) =>
          made.meet(value, low, pred, from, to, row, 0, start + from - (row + this.first) * depth),
        );
    });
    return made.end(count);
  }

  private begun(n: number, red: string, count: number): Reduction {
    const step = this.call.kernel.steps[n]!,
      kind = is_arg(step) ? step.compared : step.value;
    return (this.reductions[n] ??= new Reduction(
      red,
      is_arg(step),
      this.block,
      kind === "i" || (kind === "T" && !isFloat(this.call.dtype)),
      this.call.kernel.shape === "scan",
      this.read.steps[n]!.low !== null,
    )).begin(count);
  }

  /** What a reduction meets at the points, and where it does. */
  private met(n: number): [Vector, Vector | null, Vector | null] {
    const { body, low, pred } = this.read.steps[n]!;
    return [this.wide(body), this.wide(low), this.wide(pred)];
  }

  /** A running reduction: its value so far stands at every point. */
  private scan(count: number): void {
    const {
      across,
      depth,
      points,
      call: {
        kernel: { steps },
      },
    } = this;
    const begun = steps.map((step, n) => (step.kind === "reduce" ? this.begun(n, step.red, count) : null));
    this.chunks(count, () => {
      steps.forEach((step, n) => {
        const made = begun[n];
        if (!made) return this.store(n);
        const { start, evaluation } = this,
          out = evaluation.vector(),
          [value, low, pred] = this.met(n);
        if (across) {
          made.meet(value, low, pred, 0, count, 0, 1, Math.floor(start / points));
          for (let k = 0; k < count; k++) out[k] = made.at(k);
        } else if (step.red === "sum" && !pred && !low) {
          this.rows((from, to, row) => {
            let so = made.value[row]!;
            for (let k = from; k < to; k++) out[k] = so += value[k]!;
            made.value[row] = so;
          });
        } else {
          this.rows((from, to, row) => {
            for (let k = from, before = start - (row + this.first) * depth; k < to; k++) {
              made.meet(value, low, pred, k, k + 1, row, 0, before + k);
              out[k] = made.at(row);
            }
          });
        }
        this.values.set(step.name, out);
      });
    });
  }

  /** What an earlier step came to. */
  protected override earlier(name: string): Vector {
    const value = this.values.get(name)!;
    if (this.dims !== this.all || this.dims === this.outer || this.call.kernel.shape === "scan" || value.length === 1)
      return value;
    const { depth, start, first, evaluation } = this,
      row = Math.floor(start / depth);
    if (start + evaluation.count <= (row + 1) * depth) return evaluation.single(value[row - first]!);
    const out = evaluation.vector();
    this.rows((from, to, n) => out.fill(value[n]!, from, to));
    return out;
  }
}
