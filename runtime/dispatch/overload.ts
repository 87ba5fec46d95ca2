// A name for several ops.

import type { CompiledOp } from "../program/compiled-op.js";
import { binds, run } from "./call.js";
import { choose } from "./op-arguments.js";

/** A function that runs the first of several ops whose parameters accept the arguments. */
export function overload(...ops: readonly CompiledOp[]): (...args: unknown[]) => unknown {
  return (...args) => run(choose(ops, args, binds), args);
}
