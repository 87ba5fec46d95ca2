// What compiles kernels for the CPU: put in by webassembly.ts, so that a bundle may leave it out.

import type { Call, Op } from "../../../host/model.js";
import type { Functions } from "../../program/procedures.js";
import { advise } from "../slow-warnings.js";
import type { LinearMemory } from "./linear-memory.js";
import type { WasmRun } from "./wasm-run.js";

export interface Compiler {
  /** The memory that its kernels work in; null where the engine refuses WebAssembly. */
  linear(): LinearMemory | null;
  /** How each kernel of a program runs, null for one that the interpreter runs.  types: of the slots, as they lie. */
  prepare(
    op: Op,
    program: number,
    call: Call,
    wanted: readonly number[],
    types: readonly string[],
    memory: LinearMemory,
    functions: Functions,
    written: ReadonlySet<number>,
  ): (WasmRun | null)[];
}

let compiler: Compiler | null = null;

export function setCompiler(made: Compiler): void {
  compiler = made;
}

export const linear = (): LinearMemory | null => compiler && compiler.linear();

/** The compiler, for a kernel that is to run; without one, a program is told how it would be faster. */
export function compilerForKernels(): Compiler | null {
  if (!compiler) advise("compiler", 'the CPU interprets kernels; import "tensorloom/wasm", which compiles them');
  return compiler;
}
