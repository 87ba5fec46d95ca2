// A kernel in a call on the CPU: walks its rows and hands them to the generated function.
// Which dims there are and how they stride was decided by host/plan; what happens at a point, by the kernel.

import type { CpuLaunch, KernelCall, Elements, Kernel, KernelFunctions } from "../../program/compiled-op.js";
import { IndexError } from "../../base/errors.js";
import { roundToHalf } from "../../elements/math.js";
import { type Loop, anonymous, distances, product } from "./product.js";

/** Makes stored numbers values of a type that its array does not enforce. */
function settle(array: Elements, dtype: string): void {
  if (dtype === "float16") for (let i = 0; i < array.length; i++) array[i] = roundToHalf(array[i]);
  if (dtype === "bool") for (let i = 0; i < array.length; i++) if (array[i] > 1) array[i] = 1;
}

const ROUND: Readonly<Record<string, (x: number) => number>> = {
  float16: roundToHalf,
  float32: Math.fround,
};

/** Below this many points the innermost loop trades places with the longest one. */
const SHORT = 16;

/** A kernel of a plan, call after call. */
export class KernelRun implements KernelCall {
  kept: KernelCall["kept"] = null;
  arrays: readonly Elements[] = [];
  words: Readonly<Record<string, number>> = {};
  readonly at: number[];
  readonly n: number;
  readonly steps: readonly number[];
  readonly reduceN: number;
  readonly reduceSteps: readonly number[];
  readonly reduceRows: number;
  readonly reduceAt: readonly Int32Array[];
  readonly strides: readonly (readonly number[])[];
  readonly lengths: readonly (readonly number[])[];
  readonly round: (x: number) => number;
  readonly bool: boolean;
  readonly narrow: boolean;
  /** The anonymous loops that make rows, and where the current row stands along them. */
  private readonly rows: readonly Loop[];
  private readonly index: number[];

  /**
   * @param op the op's name, for messages
   * @param types for each access of the kernel its tensor's dtype
   * @param dtype T, the op's promoted type
   */
  constructor(
    readonly op: string,
    private readonly kernels: KernelFunctions,
    readonly data: Kernel,
    readonly launch: CpuLaunch,
    private readonly types: readonly string[],
    private readonly dtype: string,
  ) {
    const { outer, reduce } = launch,
      loops = anonymous(outer),
      depth = anonymous(reduce),
      still = outer.strides.map(() => 0);
    const inner = along(data) ? loops[innermost(outer.sizes)] : undefined,
      last = depth.pop();
    this.at = launch.offsets.slice();
    while (this.at.length < still.length) this.at.push(0);
    this.n = inner ? inner.size : 1;
    this.steps = inner ? inner.strides : still;
    this.rows = loops.filter((loop) => loop !== inner);
    this.index = this.rows.map(() => 0);
    this.reduceN = last ? last.size : 1;
    this.reduceSteps = last ? last.strides : still;
    this.reduceRows = product(depth);
    this.reduceAt = reduce.strides.map((_, a) => distances(depth, a));
    this.strides = launch.axes;
    this.lengths = launch.lengths;
    this.round = ROUND[dtype] ?? ((x) => x);
    this.bool = dtype === "bool";
    this.narrow = dtype !== "int32";
  }

  /**
   * @param arrays for each access its tensor's elements; empty where it was not given
   * @param words the environment of the call
   */
  run(arrays: readonly Elements[], words: Readonly<Record<string, number>>): void {
    const { op, kernels, data, launch, types, dtype, at } = this,
      kernel = dtype.startsWith("float") ? kernels.floating : kernels.integral;
    if (kernel === null) throw new Error(`${op}: there is no kernel for ${dtype}; please report this`);
    if (launch.outer.sizes.includes(0)) return;
    this.arrays = arrays;
    this.words = words;
    // Where an error left it.
    at.forEach((_, a) => (at[a] = launch.offsets[a] ?? 0));
    this.index.fill(0);
    try {
      kernel(this);
    } finally {
      this.arrays = []; // a plan is kept, tensors are not
    }
    for (const { target } of data.steps) if (target >= 0) settle(arrays[target], types[target]);
  }

  nextRow(): boolean {
    const { at, index, rows } = this;
    for (let d = rows.length - 1; d >= 0; d--) {
      const { size, strides } = rows[d];
      if (++index[d] < size) {
        for (let a = 0; a < at.length; a++) at[a] += strides[a];
        return true;
      }
      index[d] = 0;
      for (let a = 0; a < at.length; a++) at[a] -= strides[a] * (size - 1);
    }
    return false;
  }
}

/** Whether the kernel itself runs along the innermost anonymous loop: it does if nothing stands further in. */
function along(kernel: Kernel): boolean {
  return !kernel.loops.at(-1)?.named;
}

function innermost(sizes: readonly number[]): number {
  const last = sizes.length - 1;
  if (last < 0 || sizes[last] >= SHORT) return last;
  const longest = sizes.indexOf(Math.max(...sizes));
  return sizes[longest] >= 4 * sizes[last] ? longest : last;
}

/** `index` where it falls on an axis of `length`; else an error that names the op and the index. */
export function within(index: number, length: number, kernel: KernelCall): number {
  if (index >= 0 && index < length) return index;
  throw new IndexError(`${kernel.op}: index ${index} is out of bounds for an axis of length ${length}`);
}
