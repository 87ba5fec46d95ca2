// Steps of a captured program joined by the compiler (codegen/fusion), and what runs them.

import { fused } from "../../fusion/fuse.js";
import { reasons } from "../../fusion/reasons.js";
import { type Item, type Work, apart, as_op, copied, filled, item_of, work_of } from "../../fusion/work.js";
import { zeroed } from "../../host/plan.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { numelOf } from "../base/shape.js";
import type { DType } from "../elements/dtype.js";
import { withFormulas } from "../program/notation-formulas.js";
import { passes } from "../program/structure.js";
import { type RunStep, type Step, type Value, touched } from "./program.js";

/** The steps with those joined that can be.  `lasting`: the values that are needed after them; what passes between kernels
 *  of one step is added to `values`. */
export function joinedSteps(values: Value[], steps: readonly Step[], lasting: ReadonlySet<number>): Step[] {
  const items = steps.flatMap((step, n) => itemsOf(n, step, values)),
    found = fused(items, [...lasting], products(values)),
    out: Step[] = [];
  for (let i = 0; i < found.length; i++) {
    const { step, work } = found[i]!,
      all = work ? items.filter((item) => item.step === step && item.work) : [];
    // The kernels of a step that follow each other as they did are that step.
    if (all.every((item, k) => found[i + k]?.work === item.work)) {
      out.push(steps[step]!);
      i += Math.max(all.length - 1, 0);
    } else out.push(joinedStep(work!, steps, values));
  }
  return out;
}

/** Whether kernels of products take formulas of others. */
const products = (values: readonly Value[]): boolean => !values.some(({ device }) => device.type === "cpu");

/** A step as what can be joined: its kernels one by one. */
function itemsOf(n: number, step: Step, values: Value[]): Item[] {
  if (step.kind === "run" && step.joined) return [item_of(n, step.joined.work)];
  const work = workOf(n, step, values);
  if (work) return apart(work).map((one) => item_of(n, one));
  // That a change is counted is the host's matter.
  if (step.kind === "change") return [{ step: n, work: null, reads: [], writes: [] }];
  // What reads a value that is to blame comes after that, and is to blame with it.
  const { reads, writes } = touched(step),
    changed = step.kind === "blame" ? [step.value] : writes;
  return [{ step: n, work: null, reads: [...reads, ...writes], writes: [...changed] }];
}

/** Two steps by their numbers that a value connects, and why they are not one. */
export interface Apart {
  readonly first: number;
  readonly second: number;
  readonly value: number;
  readonly why: string;
}

/** Why joined steps are not fewer. */
export function whyApart(values: readonly Value[], steps: readonly Step[], lasting: ReadonlySet<number>): Apart[] {
  const all = [...values],
    items = steps.flatMap((step, n) => itemsOf(n, step, all));
  return reasons(items, [...lasting], products(values)).map(({ first, second, value, why }) => ({
    first: items[first]!.step,
    second: items[second]!.step,
    value,
    why,
  }));
}

/** What a step launches, where something can be joined with it. */
function workOf(n: number, step: Step, values: Value[]): Work | null {
  if (step.kind === "run") {
    const { prepared, slots } = step,
      { op } = prepared.op,
      made = prepared.program === 0 ? op.outputs : op.programs[prepared.program]!.outputs,
      wanted = [...new Set([...made, ...prepared.changes])].filter((slot) => slots[slot]! >= 0);
    const { kernels } = op.programs[prepared.program]!;
    kernels.forEach(withFormulas);
    const held = op.slots.map((_, slot) => slots[slot] ?? -1),
      { device } = values[held.find((value) => value >= 0)!]!;
    // Bits that `view(dtype)` reads as another type than they were written in pass through memory.
    if (held.some((value, slot) => value >= 0 && values[value]!.dtype !== prepared.call.slots[slot]!.dtype))
      return null;
    // The CPU keeps it in doubles, which values of programs are not.
    if (kernels.length > 1 && device.type !== "cpu" && !prepared.together) {
      // What no kernel makes are zeros, of which the step itself takes care.
      const zeros = zeroed(op, prepared.program, prepared.call, wanted);
      prepared.call.slots.forEach(({ dtype, shape, fresh }, slot) => {
        if (held[slot]! >= 0 || !fresh || zeros.includes(slot) || !passes(prepared.op, slot, wanted)) return;
        held[slot] = values.length;
        const length = numelOf(shape);
        values.push({ number: values.length, source: { kind: "made" }, device, dtype: dtype as DType, length });
      });
    }
    return work_of(n, op, prepared.program, prepared.call, wanted, held);
  }
  if (step.kind === "fill") {
    const { dtype, length } = values[step.value]!;
    return dtype === "float32" && length ? filled(n, step.value, length, step.number) : null;
  }
  if (step.kind !== "copy") return null;
  const { source, target } = step,
    types = [source.dtype, target.dtype, values[source.value]!.dtype, values[target.value]!.dtype];
  if (types.some((dtype) => dtype !== "float32") || source.value === target.value) return null;
  return copied(
    n,
    [...source.shape],
    [source.value, target.value],
    [...target.strides],
    target.offset,
    [...source.strides],
    source.offset,
  );
}

function joinedStep(work: Work, steps: readonly Step[], values: readonly Value[]): RunStep {
  const parts = work.parts.map(({ step }) => steps[step]!),
    runs = parts.filter((part) => part.kind === "run"),
    op: CompiledOp = {
      op: as_op(work),
      loops: "",
      callees: () => [],
      reals: [],
      derive: null,
      parts: null,
      calls: null,
      valueChecks: [],
    },
    { device } = values[work.values.find((value) => value >= 0)!]!;
  return {
    kind: "run",
    prepared: device.prepare(op, 0, work.call, work.wanted),
    slots: work.values,
    draw: runs.find(({ draw }) => draw >= 0)?.draw ?? -1,
    fed: runs.find(({ fed }) => fed)?.fed ?? null,
    joined: { work, parts },
  };
}
