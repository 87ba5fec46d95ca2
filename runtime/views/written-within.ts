// Ops that copy a tensor and then change some elements of the copy, made ops that change those of the tensor itself:
// index_copy_, index_add_, scatter_ and their kin write what they replace and nothing else.

import type { Kernel, Program } from "../../host/model.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { copies } from "../program/copying.js";
import { withFormulas } from "../program/notation-formulas.js";
import { programOf } from "../program/programs.js";

const known = /* @__PURE__ */ new WeakMap<CompiledOp, CompiledOp | null>();

/** The op that changes its first argument instead of a copy; it answers nothing.  Null where there is none. */
export function within(compiled: CompiledOp): CompiledOp | null {
  let found = known.get(compiled);
  if (found === undefined) known.set(compiled, (found = made(compiled)));
  return found;
}

function made(compiled: CompiledOp): CompiledOp | null {
  const { op } = compiled,
    [from, to] = [op.params[0]!.slot, op.outputs[0]!],
    { kernels, inputs, saves } = programOf(compiled, 0)!;
  if (op.outputs.length !== 1 || from < 0 || !kernels.some(({ shape }) => shape === "scatter")) return null;
  const start = kernels.findIndex((kernel) => copies(kernel, from, to)),
    others = kernels.filter((_, i) => i !== start),
    uses = ({ accesses }: Kernel, slot: number) => accesses.some((access) => access.slot === slot);
  if (start < 0 || others.some((kernel) => uses(kernel, from))) return null;
  if (kernels.slice(0, start).some((kernel) => uses(kernel, to))) return null;
  const moved = (slot: number): number => (slot === to ? from : slot),
    program: Program = {
      inputs,
      saves,
      outputs: [],
      kernels: others.map((kernel) => ({
        ...withFormulas(kernel),
        accesses: kernel.accesses.map((access) => ({ ...access, slot: moved(access.slot) })),
        makes: kernel.makes.map(moved),
      })),
    };
  return {
    ...compiled,
    loops: "",
    op: {
      ...op,
      slots: op.slots.map((slot, i) => (i === from ? { ...slot, mut: true } : { ...slot })),
      outputs: [],
      output_names: [],
      programs: [program],
    },
  };
}
