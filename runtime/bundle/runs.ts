// A captured program as launches on one kind of device, planned ahead: steps joined as that device has them joined, copies
// and fills as launches, and memory shared out.  No device is needed.

import { plan_cpu } from "../../host/plan.js";
import type { Call, Op } from "../../host/model.js";
import { copyOp } from "../../needed.js";
import { OpError } from "../base/errors.js";
import { joinedSteps } from "../capture/fuse.js";
import { type Slot, shareOut } from "../capture/memory-plan.js";
import type { Program, RunStep, Step, Value, View } from "../capture/program.js";
import { copyCall } from "../devices/webgpu/gpu-copy.js";
import type { Device, Prepared } from "../devices/device.js";
import { newElements, converter } from "../elements/dtype.js";
import type { CapturedModel, Found } from "../exchange/captured-model.js";
import { held } from "../exchange/captured-model.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { withFormulas } from "../program/notation-formulas.js";

/** One program of an op in a call; `values[slot]`: the value in each slot, -1 for none. */
export interface Run {
  readonly compiled: CompiledOp;
  readonly op: Op;
  readonly program: number;
  readonly call: Call;
  readonly wanted: readonly number[];
  readonly values: readonly number[];
}

export interface Runs {
  readonly type: "cpu" | "webgpu";
  readonly values: readonly Value[];
  /** What values are before: those of the model, and the numbers that fills take. */
  readonly found: ReadonlyMap<number, Found>;
  readonly runs: readonly Run[];
  /** Memory that values of the program take turns in. */
  readonly slots: readonly Slot[];
  /** Values that inputs are put into, and that outputs are found in. */
  readonly inputs: readonly number[];
  readonly results: readonly View[];
}

/** A plan in which weights are named by the values that they are. */
export type Unnamed<Plan> = Omit<Plan, "weights"> & {
  readonly weights: readonly (readonly [at: number, value: number])[];
};

/** What stands for a device: kernels are planned for it, and nothing runs. */
function planning(type: "cpu" | "webgpu"): Device {
  const prepare = (op: CompiledOp, program: number, call: Call, wanted: readonly number[]): Prepared => {
    const { kernels } = op.op.programs[program]!,
      changes = new Set<number>();
    plan_cpu(op.op, program, call, [...wanted]).forEach((launch, n) => {
      if (!launch) return;
      for (const { target } of kernels[n]!.steps) {
        const slot = target < 0 ? -1 : kernels[n]!.accesses[target]!.slot;
        if (slot >= 0 && op.op.slots[slot]!.role === "input") changes.add(slot);
      }
    });
    return { op, program, call, changes: [...changes] };
  };
  return { type, number: -1, prepare } as unknown as Device;
}

/** The launches of a model on a kind of device. */
export function runsOf({ program, given, found }: CapturedModel, type: "cpu" | "webgpu"): Runs {
  const device = planning(type),
    values = program.values.map((value): Value => ({ ...value, device })),
    known = new Map(found),
    results = held(program.result),
    outside = new Set(values.flatMap(({ number, source }) => (source.kind === "made" ? [] : [number]))),
    joined = joinedSteps(values, program.steps, new Set([...outside, ...results]));
  const copied = (target: View, source: View): RunStep => {
    const prepared = device.prepare(copyOp, 0, copyCall(copyOp, target, source), [copyOp.op.outputs[0]!]),
      slots = copyOp.op.slots.map(() => -1);
    slots[copyOp.op.programs[0]!.inputs[0]!] = source.value;
    slots[copyOp.op.outputs[0]!] = target.value;
    return { kind: "run", prepared, slots, draw: -1, fed: null, joined: null };
  };
  /** A fill copies one element to all. */
  const filled = (step: Step & { readonly kind: "fill" }): RunStep => {
    const { dtype, length } = values[step.value]!,
      number = values.length,
      elements = newElements(dtype, 1).fill(converter(dtype)(step.number));
    values.push({ number, source: { kind: "input", index: -1 }, device, dtype, length: 1 });
    known.set(number, { name: "constant", tensor: null, elements });
    outside.add(number);
    const view = { dtype, shape: [length], offset: 0 };
    return copied({ ...view, value: step.value, strides: [1] }, { ...view, value: number, strides: [0] });
  };
  const steps = joined.flatMap((step): RunStep[] =>
      step.kind === "run"
        ? [step]
        : step.kind === "fill"
          ? [filled(step)]
          : step.kind === "copy"
            ? [copied(step.target, step.source)]
            : [],
    ),
    inner = new Set(values.map(({ number }) => number).filter((n) => !outside.has(n) && !results.has(n)));
  return {
    type,
    values,
    found: known,
    runs: steps.map(({ prepared, slots }): Run => {
      const { op, program: number, call, changes } = prepared,
        made = number === 0 ? op.op.outputs : op.op.programs[number]!.outputs;
      op.op.programs[number]!.kernels.forEach(withFormulas);
      return {
        compiled: op,
        op: op.op,
        program: number,
        call,
        wanted: [...new Set([...made, ...changes])].filter((slot) => slots[slot]! >= 0),
        values: slots,
      };
    }),
    slots: shareOut(values, steps, inner),
    inputs: given.map((x, i) => {
      const value = values.find(({ source }) => source.kind === "input" && source.index === i);
      if (given.findIndex((other) => other.storage === x.storage) !== i)
        throw new OpError("bundle: two arguments share memory; give each its own");
      return value?.number ?? -1;
    }),
    results: viewsOf(program),
  };
}

/** The results, which are memory of their own. */
function viewsOf({ result }: Program): View[] {
  const known: View[] = [],
    out: View[] = [];
  const visit = (of: typeof result): void => {
    if (of.kind === "tensor") out.push((known[of.number] = of.view));
    else if (of.kind === "again") out.push(known[of.number]!);
    else if (of.kind === "list") of.items.forEach(visit);
    else if (of.kind === "named") Object.values(of.items).forEach(visit);
    else if (of.kind === "input" || (of.value !== null && of.value !== undefined))
      throw new OpError("bundle: a result is not computed from the arguments");
  };
  visit(result);
  if (out.length === 0) throw new OpError("bundle: the model gives no tensor");
  return out;
}
