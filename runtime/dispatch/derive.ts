// Derives the gradient programs that the package does not carry, with the compiler's own passes.

import { type Derivation, derivation, program } from "../../codegen/derived.js";
import { type Callee, type Callees, callee, complete, read_routines } from "../../codegen/loop_notation.js";
import { ROUTINES } from "../../dsl/intrinsics.js";
import { slopes } from "../../codegen/slopes.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { type Deriver, setDeriver } from "../program/programs.js";

const derivations = /* @__PURE__ */ new WeakMap<CompiledOp, Derivation>();

/** Ops with bodies, by name; who runs one names it. */
const bodies = /* @__PURE__ */ new Map<string, Callee>();

const calleesOf =
  (compiled: CompiledOp): Callees =>
  (name) => {
    let found = bodies.get(name);
    if (!found) {
      const one = compiled.callees().find(({ op }) => op.name === name)!;
      bodies.set(name, (found = callee(one.op)));
      complete(found, one.op, one.loops, calleesOf(one)); // where it may stand itself
    }
    return found;
  };

export const derive: Deriver = (compiled, order) => {
  let found = derivations.get(compiled);
  if (!found) {
    if (!Object.keys(ROUTINES).length) Object.assign(ROUTINES, read_routines(slopes));
    derivations.set(
      compiled,
      (found = derivation(compiled.op, [...compiled.reals], compiled.loops, calleesOf(compiled))),
    );
  }
  return program(found, order);
};

/** The op, with what derives its gradients. */
export const derived = (compiled: CompiledOp): CompiledOp => {
  compiled.derive = derive;
  return compiled;
};

/** The same for an op whose gradients call functions that are not the library's; slopes: their derivatives. */
export const derivedWith =
  (own: string) =>
  (compiled: CompiledOp): CompiledOp => {
    compiled.derive = (op, order) => {
      const known = Object.keys(ROUTINES).length ? [own] : [slopes, own];
      for (const text of known) Object.assign(ROUTINES, read_routines(text));
      return derive(op, order);
    };
    return compiled;
  };

/** From now on derivatives are made for all ops. */
export const deriving = (): void => setDeriver(derive);
