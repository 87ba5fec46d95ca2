// Imported for what it does: from now on the CPU device compiles its kernels to WebAssembly.

import { plan_wasm } from "../../../wasm/plan.js";
import { setCompiler } from "./compiler.js";
import { linear } from "./linear-memory.js";
import { wasmRun } from "./wasm-run.js";

setCompiler({
  linear,
  prepare: (op, program, call, wanted, types, memory, functions, written) =>
    plan_wasm(op, program, call, [...wanted], [...types]).map(
      (launch) => launch && wasmRun(op, launch, memory, functions, written),
    ),
});
