// Derives the gradient programs that the package does not carry, with the compiler's own passes.

import { type Derivation, derivation, program } from "../../codegen/derived.js";
import { read_routines } from "../../codegen/loop_notation.js";
import { ROUTINES } from "../../dsl/expression.js";
import { slopes } from "../../codegen/slopes.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { type Deriver, setDeriver } from "../program/programs.js";

const derivations = /* @__PURE__ */ new WeakMap<CompiledOp, Derivation>();

export const derive: Deriver = (compiled, order) => {
  let found = derivations.get(compiled);
  if (!found) {
    if (!Object.keys(ROUTINES).length) Object.assign(ROUTINES, read_routines(slopes));
    derivations.set(compiled, (found = derivation(compiled.op, [...compiled.reals], compiled.loops)));
  }
  return program(found, order);
};

/** The op, with what derives its gradients. */
export const derived = (compiled: CompiledOp): CompiledOp => {
  compiled.derive = derive;
  return compiled;
};

/** From now on derivatives are made for all ops. */
export const deriving = (): void => setDeriver(derive);
