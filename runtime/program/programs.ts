// The programs of an op: what it computes, its gradients, theirs, and so on.  Those that the package does not carry are
// derived (derive.ts) when they are first asked for.

import { AutogradError } from "../base/errors.js";
import type { Program } from "../../host/model.js";
import type { CompiledOp } from "./compiled-op.js";

/** Makes the gradient program of an order, and adds its tensors to the op's slots. */
export type Deriver = (compiled: CompiledOp, order: number) => Program | null;

let deriver: Deriver | null = null;

/** Says who derives for ops that do not bring it. */
export function setDeriver(made: Deriver): void {
  deriver = made;
}

/** Ops of which no further program can be derived. */
const ended = /* @__PURE__ */ new WeakSet<CompiledOp>();

/** Whether an op has gradients. */
export const hasGradients = ({ op, loops }: CompiledOp): boolean => op.programs.length > 1 || loops !== "";

/** Whether a program is there without deriving it. */
export const isMade = ({ op }: CompiledOp, program: number): boolean => program < op.programs.length;

/** Program 0 is the op itself, program 1 makes its gradients, ...; null: there is none. */
export function programOf(compiled: CompiledOp, program: number): Program | null {
  const { programs, name } = compiled.op;
  while (programs.length <= program) {
    if (!compiled.loops || ended.has(compiled)) return null;
    const derive = compiled.derive ?? deriver;
    if (!derive)
      throw new AutogradError(
        `${name}: derivatives of order ${programs.length} are derived when they are asked for, and this bundle left ` +
          "out what does: import { autograd } from the package",
      );
    const made = derive(compiled, programs.length);
    if (!made) {
      ended.add(compiled);
      return null;
    }
    programs.push(made);
  }
  return programs[program]!;
}
