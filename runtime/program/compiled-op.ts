// What a compiled op is to the runtime: its data, its CPU kernels, and what those kernels are given.
// Only types; the generated modules of `ops/` make such objects and `dispatch/call.ts` runs them.

import type { Device } from "../devices/device.js";
import type { Call, CpuLaunch, Kernel, Op } from "../../host/model.js";
import type { Parts } from "../../host/parts.js";
import type { Calls } from "../dispatch/creation-arguments.js";
import type { Tensor } from "../tensor/tensor.js";

/** The elements of a tensor on the CPU: uint8 and bool share Uint8Array, float16 values are kept in a Float32Array. */
export type Elements = Float32Array | Float64Array | Int32Array | Int8Array | Uint8Array;

/**
 * A kernel's call, as its function on the CPU sees it.  Offsets and strides count elements.
 *
 * Anonymous loops come as strides: the rows (all anonymous outer loops but the innermost), `n` points along the
 * innermost one, and the points of the reduction.  Loops used in arithmetic are `for` loops of the kernel itself.
 */
export interface KernelCall {
  /** For each access the elements of its tensor; empty where an optional tensor was not given. */
  readonly arrays: readonly Elements[];
  /** For each access the place of the first element of the current row; `nextRow` moves it. */
  readonly at: number[];
  /** Points along the innermost anonymous outer loop (1 where there is none), and each access's stride there. */
  readonly n: number;
  readonly steps: readonly number[];
  /** Moves `at` to the next row; false after the last. */
  nextRow(): boolean;
  /** The anonymous loops of the reduction: `reduceN` points along the innermost, with strides, for each of `reduceRows`
   *  places; `reduceAt[access][row]` is the place's distance from the first element. */
  readonly reduceN: number;
  readonly reduceSteps: readonly number[];
  readonly reduceRows: number;
  readonly reduceAt: readonly Int32Array[];
  /**
   * For each access the strides (and lengths) of the axes that no anonymous loop runs over, in the order of its axes.
   */
  readonly strides: readonly (readonly number[])[];
  readonly lengths: readonly (readonly number[])[];
  /** Sizes, options, `has_x`: the environment of the call. */
  readonly words: Readonly<Record<string, number>>;
  /** Rounds a number to the op's type: what an option is before it meets elements. */
  readonly round: (value: number) => number;
  /** Whether T is bool, and whether whole numbers of it wrap: bool and 8-bit types. */
  readonly bool: boolean;
  readonly narrow: boolean;
  /** The op's name, for messages. */
  readonly op: string;
  readonly launch: CpuLaunch;
  /** What the op's data says of the kernel. */
  readonly data: Kernel;
  /** What the kernel knows from an earlier call, if it has the same loops. */
  kept: { fits(): boolean; run(): unknown } | null;
}

export interface KernelFunction {
  (kernel: KernelCall): void;
  /** Functions on numbers that its formulas use beside those of all. */
  readonly functions?: Readonly<Record<string, (...numbers: number[]) => number>>;
}

/** The functions of one kernel: for a floating T and for a whole-number or bool T; null where T is never that. */
export interface KernelFunctions {
  readonly floating: KernelFunction | null;
  readonly integral: KernelFunction | null;
}

/**
 * An op with everything the package knows of it.  `kernels[p][n]` belongs to `op.programs[p].kernels[n]`.
 *
 * The runtime's contract for these objects:
 *   dispatch/call.ts           run(op, args)         -> Tensor, or `Results` of several outputs (op.op.output_names)
 *                              runInPlace(op, args)  -> args[0], its content replaced
 *   dispatch/op-arguments.ts   arrange(op, args)     -> one value per parameter, undefined where not given
 *   devices/cpu/kernel-run.ts  new KernelRun(...)      -> runs one kernel, call by call
 * `args` are as the user wrote them: positional, then perhaps a plain object of options.
 */
export interface CompiledOp {
  readonly op: Op;
  readonly kernels: readonly (readonly KernelFunctions[])[];
  /** What binding a call takes for this op beside tensors and numbers; null: nothing. */
  readonly parts: Parts | null;
  /** What calling it takes beside; null: nothing. */
  readonly calls: (() => Calls) | null;
  /** What looks at elements: called before the op runs, and with its results. */
  readonly asks: readonly Ask[];
  /** Of an op that is asked: what each of its answers refuses, in words; known once it was asked. */
  refusals?: readonly string[];
}

/**
 * Throws where the elements of a call's values, one for each parameter, or those of its results are not what they
 * should be; where a
 *  device is not waited for, it answers what will tell. */
export interface Ask {
  (op: Op, values: readonly unknown[], results: readonly Tensor[] | null, device: Device): readonly Tensor[];
  /** In which calls it is not asked. */
  spared?: ((env: Call["env"]) => number | boolean) | undefined;
}

export type { CpuLaunch, Kernel, Op };
