// One program of an op run on tensors, and its place on the tape.  Program 0 is the op itself; the node of program p
// computes gradients with program p + 1, and under create_graph that run leaves a node in its turn.

import { wayBackOf } from "../base/class-name.js";
import type { Bound } from "../../host/model.js";
import { capturing } from "../base/capturing.js";
import { isMade } from "../program/programs.js";
import { cast, clone, isPlain } from "../tensor/copy.js";
import { filledOn } from "../tensor/allocate.js";
import type { RandomWords, Fault } from "../devices/device.js";
import { type DType, isFloat } from "../elements/dtype.js";
import { AutogradError } from "../base/errors.js";
import { isRecording } from "../tape/grad-mode.js";
import { type AccumulateGrad, type Grad, Node, Saved, attach } from "../tape/node.js";
import { extent, numelOf } from "../base/shape.js";
import type { Storage } from "../tensor/storage.js";
import { Tensor } from "../tensor/tensor.js";
import type { Plan, Needs } from "./plan.js";

type Slots = (Tensor | null)[];

/** Runs a program; answers the tensors of `wanted` (slots).  `tensors[slot]`: what is given. */
export function runProgram(
  plan: Plan,
  program: number,
  tensors: Slots,
  wanted: readonly number[],
  random: RandomWords | null,
): Tensor[] {
  const {
      compiled: { op },
      call,
      device,
    } = plan,
    storages = new Array<Storage | null>(tensors.length);
  for (let i = 0; i < tensors.length; i++) storages[i] = tensors[i] === null ? null : tensors[i]!.storage;
  capturing?.uses(tensors);
  const prepared = plan.prepare(program, wanted),
    maker = program === 0 ? op.name : plan.backwards,
    out: Tensor[] = [];
  for (const slot of wanted) {
    const bound = call.slots[slot]!,
      given = tensors[slot];
    if (given) {
      out.push(given);
      continue;
    }
    const tensor = new Tensor(
      device.allocate(bound.dtype as DType, numelOf(bound.shape), maker),
      bound.dtype as DType,
      bound.shape,
      bound.strides,
      0,
    );
    storages[slot] = tensor.storage;
    out.push(tensor);
  }
  for (const slot of prepared.changes) tensors[slot]!.storage.change();
  device.execute(prepared, storages, random);
  if (plan.differentiable && isRecording()) {
    const node = makeNode(plan, program, tensors, program === 0 ? op.outputs : wanted, random);
    if (node) finishNode(node, out);
  }
  return out;
}

/** The node of a run; null where no input needs a gradient that the op has. */
export function makeNode(
  plan: Plan,
  program: number,
  tensors: Slots,
  outputs: readonly number[],
  random: RandomWords | null,
): ProgramNode | null {
  let any = false;
  for (let i = 0; i < tensors.length; i++) if (tensors[i] !== null && tensors[i]!.requires_grad) any = true;
  return any ? new ProgramNode(plan, program, tensors, outputs, random) : null;
}

/** Attaches the outputs to their node and saves those that the way back needs. */
export function finishNode(node: ProgramNode, out: readonly Tensor[]): void {
  for (let i = 0; i < node.outputs.length; i++) if (isFloat(out[i]!.dtype)) attach(out[i]!, node, i);
  node.remember(out);
  node.saveOutputs(out);
}

/** The slot of the gradient that comes in for output `slot` of a program; -1 if it has none. */
function cotangentOf(plan: Plan, program: number, slot: number): number {
  const { op } = plan.compiled,
    like = program === 0 ? slot : op.slots[slot]!.like,
    earlier = program === 0 ? [] : op.programs[program]!.inputs;
  return (
    plan
      .program(program + 1)!
      .inputs.find((s) => op.slots[s]!.role === "cotangent" && op.slots[s]!.like === like && !earlier.includes(s)) ?? -1
  );
}

export class ProgramNode extends Node {
  private readonly plan: Plan;
  private readonly program: number;
  private readonly random: RandomWords | null;
  /** The slots of the linked inputs and of the outputs. */
  private readonly inputs: number[] = [];
  private readonly types: DType[] = [];
  readonly outputs: readonly number[];
  private readonly needs: Needs;
  private readonly saved: (Saved | null)[];
  /** What may turn out wrong with the results, so of the gradients too. */
  private fault: Fault | null = null;

  get label(): string {
    return wayBackOf(this.plan.compiled.op.name, this.program + 1);
  }

  constructor(plan: Plan, program: number, tensors: Slots, outputs: readonly number[], random: RandomWords | null) {
    super();
    const { op } = plan.compiled;
    this.plan = plan;
    this.program = program;
    this.outputs = outputs;
    this.random = random;
    const own = program === 0 ? op.params.filter((p) => p.slot >= 0).map((p) => p.slot) : op.programs[program]!.inputs;
    for (const slot of own) {
      const tensor = tensors[slot];
      if (!tensor) continue;
      this.inputs.push(slot);
      this.types.push(tensor.dtype);
      this.link(tensor);
    }
    // A gradient of gradients may never be asked for: before it is derived, all is kept that it may need.
    const { slots, held } = (this.needs =
      program > 0 && !isMade(plan.compiled, program + 1)
        ? { slots: [...own, ...outputs], held: [] }
        : plan.needs(
            program + 1,
            this.way((i) => this.next[i] !== null),
          ));
    this.saved = new Array<Saved | null>(op.slots.length).fill(null);
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!,
        tensor = tensors[slot];
      if (tensor && !outputs.includes(slot)) this.saved[slot] = new Saved(tensor, this, -1, held[i] === true);
    }
  }

  /** The outputs of the gradient program, by their numbers in it, for the inputs that are wanted. */
  private way(wanted: (input: number) => boolean): { input: number; slot: number; output: number }[] {
    const { op } = this.plan.compiled,
      next = this.plan.program(this.program + 1);
    if (!next) return [];
    return next.outputs.flatMap((slot, output) => {
      const input = this.inputs.indexOf(op.slots[slot]!.like);
      return input >= 0 && wanted(input) ? [{ input, slot, output }] : [];
    });
  }

  remember([first]: readonly Tensor[]): void {
    this.fault = this.plan.device.faultOf?.(first!.storage) ?? null;
  }

  saveOutputs(out: readonly Tensor[]): void {
    const { slots, held } = this.needs;
    this.outputs.forEach((slot, i) => {
      const at = slots.indexOf(slot);
      if (at >= 0) this.saved[slot] = new Saved(out[i]!, this, i, held[at] === true);
    });
  }

  apply(grads: readonly Grad[], wanted: readonly boolean[]): Grad[] {
    const { op } = this.plan.compiled,
      answers: Grad[] = this.inputs.map(() => null);
    if (!this.plan.program(this.program + 1)) {
      throw new AutogradError(`${op.name}: derivatives of order ${this.program + 1} are not available`);
    }
    const [grad, ...others] = grads,
      from = others.length ? -1 : cotangentOf(this.plan, this.program, this.outputs[0]!);
    const way = this.way((i) => wanted[i]!).filter(({ input, slot }) => {
      // What comes in is handed on as it is, but to a leaf whose gradient has a place where it is wanted.
      if (!grad || from < 0 || "room" in this.next[input]! || !this.plan.copies(this.program + 1, from, slot))
        return true;
      if (this.fault) this.plan.device.blame!(grad.storage, this.fault);
      answers[input] = cast(grad, this.types[input]!, op.name);
      return false;
    });
    // A gradient that an input does not change has a derivative all the same: zero.
    if (this.program > 0) {
      this.inputs.forEach((slot, i) => {
        if (wanted[i] && !answers[i] && isFloat(this.types[i]!) && !way.some(({ input }) => input === i)) {
          answers[i] = filledOn(this.plan.device, this.plan.call.slots[slot]!.shape, 0, this.types[i]!, "zeros");
        }
      });
    }
    if (!way.length) return answers;
    const tensors: Slots = op.slots.map(() => null),
      made: Tensor[] = [],
      needs = this.plan.needs(this.program + 1, way).slots;
    for (const slot of needs) {
      const saved = this.saved[slot]?.get() ?? null;
      tensors[slot] = saved;
      // What a view became in place lies otherwise than results do.
      if (saved && this.outputs.includes(slot) && !isPlain(saved)) made.push((tensors[slot] = clone(saved)));
    }
    this.outputs.forEach((output, i) => {
      const slot = cotangentOf(this.plan, this.program, output);
      if (slot < 0) return;
      const sent = grads[i];
      if (!sent) return;
      // Gradient programs read it from the start of its memory.
      const plain = cast(isPlain(sent) ? sent : clone(sent), this.plan.call.slots[slot]!.dtype as DType, op.name);
      if (plain !== sent) made.push(plain);
      tensors[slot] = plain;
    });
    // A gradient that nobody sent is zero: of an output not used, or of an input whose gradient was not asked for.
    // Values that only terms with such a gradient read were not saved; ones stand for them.
    for (const slot of needs) {
      const { role } = op.slots[slot]!,
        bound = this.plan.call.slots[slot]!;
      if (tensors[slot] || (role === "cotangent" ? !bound.fresh : this.program === 0 || !(bound.given || bound.fresh)))
        continue;
      made.push((tensors[slot] = this.filled(bound, role === "cotangent" ? 0 : 1)));
    }
    const out = runProgram(
      this.plan,
      this.program + 1,
      tensors,
      way.map(({ input, slot }) => {
        // The gradient of a leaf may have a place where it is wanted.
        tensors[slot] =
          (this.next[input] as Partial<AccumulateGrad>).room?.(this.plan.call.slots[slot]!, this.plan.backwards) ??
          null;
        return slot;
      }),
      this.random,
    );
    if (this.fault) for (const { storage } of out) this.plan.device.blame!(storage, this.fault);
    way.forEach(({ input }, k) => {
      answers[input] = cast(out[k]!, this.types[input]!, op.name);
    });
    if (!isRecording()) for (const tensor of made) tensor.dispose();
    return answers;
  }

  /** A tensor laid out as a slot, every element the same. */
  private filled({ dtype, shape, strides, offset }: Bound, value: 0 | 1): Tensor {
    const type = dtype as DType,
      length = offset + extent(shape, strides),
      { device } = this.plan;
    const storage = device.allocate(type, length, this.plan.backwards),
      out = new Tensor(storage, type, shape, strides, offset);
    device.fill(storage, value);
    return out;
  }

  override release(): void {
    // What was saved stays in the list, emptied, so that a second way back is an error and not a wrong answer.
    for (const saved of this.saved) saved?.release();
  }
}
