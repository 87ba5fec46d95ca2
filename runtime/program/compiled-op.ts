// What a compiled op is to the runtime: its data, and what calling it takes.
// Only types; the generated modules of `ops/` make such objects and `dispatch/call.ts` runs them.

import type { Device } from "../devices/device.js";
import type { Call, CpuLaunch, Kernel, Op } from "../../host/model.js";
import type { Parts } from "../../host/parts.js";
import type { Calls } from "../dispatch/creation-arguments.js";
import type { Deriver } from "./programs.js";
import type { Tensor } from "../tensor/tensor.js";

/** The elements of a tensor on the CPU: uint8 and bool share Uint8Array, 16-bit floats are kept in a Float32Array. */
export type Elements =
  | Float32Array
  | Float64Array
  | Int32Array
  | Int16Array
  | Int8Array
  | Uint32Array
  | Uint16Array
  | Uint8Array;

/**
 * An op with everything the package knows of it.
 *
 * The runtime's contract for these objects:
 *   dispatch/call.ts           run(op, args)         -> Tensor, or `Results` of several outputs (op.op.output_names)
 *                              runInPlace(op, args)  -> args[0], its content replaced
 *   dispatch/op-arguments.ts   arrange(op, args)     -> one value per parameter, undefined where not given
 * `args` are as the user wrote them: positional, then perhaps a plain object of options.
 */
export interface CompiledOp {
  readonly op: Op;
  /** What gradients are derived from where they are not carried, or ""; the sizes that need not be whole. */
  readonly loops: string;
  readonly reals: readonly string[];
  derive: Deriver | null;
  /** The ops whose bodies the loop program runs. */
  readonly callees: () => readonly CompiledOp[];
  /** What binding a call takes for this op beside tensors and numbers; null: nothing. */
  readonly parts: Parts | null;
  /** What calling it takes beside; null: nothing. */
  readonly calls: (() => Calls) | null;
  /** What looks at elements: called before the op runs, and with its results. */
  readonly valueChecks: readonly ValueCheck[];
  /** In which calls it answers its first argument itself. */
  itself?: (env: Call["env"]) => number | boolean;
  /** What WebGPU runs instead, in calls of which `when` holds: its arguments are this op's by number, or computed. */
  onWebGPU?: {
    readonly op: () => CompiledOp;
    readonly args: readonly (number | ((env: Call["env"]) => number))[];
    readonly when: (env: Call["env"]) => number | boolean;
  };
  /** What complex numbers get in its place, of an op whose results are complex anyway; see complex-ops.ts. */
  instead?: () => ComplexOp;
  /** The op of pairs behind one whose own parameters are complex; numbers and real tensors are taken for such. */
  pairs?: ComplexOp;
  /** Of another package's op that is linear in parameters: the products of them, as complex-ops.ts has ours. */
  terms?: string;
  /** Of an op that is asked: what each of its answers refuses, in words; known once it was asked. */
  refusals?: readonly string[];
}

/** An op of complex numbers: which of its parameters and of its results are complex, a 1 for each. */
export type ComplexOp = readonly [op: CompiledOp, takes: string, gives: string];

/**
 * Throws where the elements of a call's values, one for each parameter, or those of its results are not what they
 * should be; where a
 *  device is not waited for, it answers what will tell. */
export interface ValueCheck {
  (op: Op, values: readonly unknown[], results: readonly Tensor[] | null, device: Device): readonly Tensor[];
  /** In which calls it is not asked. */
  spared?: ((env: Call["env"]) => number | boolean) | undefined;
}

export type { CpuLaunch, Kernel, Op };
