// What a call is on its device, made once for all calls with the same types, shapes and options: the work of each
// program, and what gradients need.

import { bind_slots } from "../../host/binding.js";
import { is_narrow, is_rounded } from "../../dsl/dtypes.js";
import { INT_CATEGORY, category, fitting } from "../../host/dtypes.js";
import type { Call, Param, Program } from "../../host/model.js";
import type { CompiledOp } from "../program/compiled-op.js";
import { copies } from "../program/copying.js";
import { hasGradients, programOf } from "../program/programs.js";
import { cast } from "../tensor/copy.js";
import type { Device, Prepared } from "../devices/device.js";
import { sameShape } from "../base/shape.js";
import { type DType, converter, isFloat } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** A call with the work it needs on its device, made once for all calls with the same types, shapes and options. */
export class Plan {
  readonly compiled: CompiledOp;
  readonly call: Call;
  readonly device: Device;
  /** For each program and set of wanted outputs. */
  private readonly prepared = new Map<number, Prepared>();
  private readonly needed = new Map<number, Needs>();
  private readonly copied = new Map<number, boolean>();
  /** What the plan depends on: the structure of the call, and its numbers. */
  readonly key: readonly unknown[];
  readonly numbers: readonly number[];
  /** Work prepared for other numbers. */
  private readonly templates: Map<number, Prepared>;
  /** For numbers in tensors' places: the type of the tensor made of them. */
  readonly scalarTypes: readonly (DType | undefined)[];
  /** Whether anything can flow back. */
  readonly differentiable: boolean;
  /** What floats that come in are turned into before anything is computed, if they are: whole numbers where the call asks
   *  for those, and float32 in the place of half numbers, results and all, where an op has bodies of steps, which have
   *  one type for all they hold. */
  readonly turns: DType | null;
  /** What is asked of elements in such a call. */
  readonly valueChecks: CompiledOp["valueChecks"];
  /** What program 0 makes: the outputs, then the given parameters that it changes. */
  readonly makes: readonly number[];
  /** Who makes the results of programs other than 0. */
  readonly backwards: string;
  /** The type of whole numbers, not int32, that numbers in tensors' places must fit into. */
  private readonly narrow: DType | null;
  /** The type that tensors without axes are turned into: `narrow`, or floats of 16 bits, which round them, as in PyTorch. */
  private readonly common: DType | null;

  constructor(
    compiled: CompiledOp,
    call: Call,
    device: Device,
    key: readonly unknown[],
    numbers: readonly number[],
    scalarTypes: readonly (DType | undefined)[],
    sibling: Plan | null,
    private readonly beyond: boolean,
  ) {
    this.numbers = numbers;
    this.templates = sibling?.templates ?? new Map<number, Prepared>();
    this.compiled = compiled;
    this.call = call;
    this.device = device;
    this.key = key;
    this.backwards = `${compiled.op.name} backward`;
    this.scalarTypes = scalarTypes;
    const changed = compiled.op.params.filter(
      ({ slot }) => slot >= 0 && compiled.op.slots[slot]!.mut && call.slots[slot]!.given,
    );
    const cuts =
      !isFloat(call.dtype) &&
      compiled.op.params.some(({ kind }) => kind === "dtype") &&
      compiled.op.params.some(({ slot }) => slot >= 0 && call.slots[slot]!.given && isFloat(call.slots[slot]!.dtype));
    const widens =
      call.dtype.endsWith("float16") && !changed.length && programOf(compiled, 0)!.kernels.some(({ raw }) => raw);
    this.turns = cuts ? (call.dtype as DType) : widens ? "float32" : null;
    this.valueChecks = compiled.valueChecks.filter(({ spared }) => !spared?.(call.env));
    this.makes = [...new Set([...compiled.op.outputs, ...changed.map(({ slot }) => slot)])];
    this.narrow =
      is_narrow(call.dtype) &&
      category(call.dtype) === INT_CATEGORY &&
      this.makes.some((s) => call.slots[s]!.dtype === call.dtype)
        ? (call.dtype as DType)
        : null;
    this.common = this.narrow ?? (is_rounded(call.dtype) ? (call.dtype as DType) : null);
    compiled.op.params.forEach((param, i) => {
      if (scalarTypes[i] || !this.turnsOne(param)) return;
      call.slots[param.slot]!.dtype = this.common!;
      call.slots[param.slot]!.offset = 0;
    });
    this.differentiable = hasGradients(compiled) && compiled.op.outputs.some((s) => isFloat(call.slots[s]!.dtype));
  }

  /** A program of the op, derived if it is not there, whose slots are bound; null: there is none. */
  program(program: number): Program | null {
    const found = programOf(this.compiled, program),
      { slots } = this.call,
      first = slots.length;
    bind_slots(this.compiled.op, this.call, [], this.compiled.parts);
    for (const { shape, strides } of slots.slice(first)) {
      Object.freeze(shape);
      Object.freeze(strides);
    }
    return found;
  }

  /** What a gradient program needs for these of its outputs, under the options of this call. */
  needs(program: number, way: readonly { readonly output: number }[]): Needs {
    let key = program;
    for (const { output } of way) key += 4 << output;
    let found = this.needed.get(key);
    if (!found) {
      const { saves = [], kernels = [] } = this.program(program) ?? {},
        { env } = this.call,
        read = new Set<number>(),
        held = new Map<number, boolean>();
      if (way.length)
        for (const { when, accesses } of kernels)
          if (!when || when(env)) for (const { slot } of accesses) read.add(slot);
      for (const { output } of way) {
        for (const entry of saves[output]!) {
          const slot = entry < 0 ? ~entry : entry;
          if (read.has(slot)) held.set(slot, entry >= 0 || held.get(slot) === true);
        }
      }
      this.needed.set(key, (found = { slots: [...held.keys()], held: [...held.values()] }));
    }
    return found;
  }

  /** Whether a gradient program's output `to` is, element for element, what comes in as `from`. */
  copies(program: number, from: number, to: number): boolean {
    let found = this.copied.get(to);
    if (found === undefined) {
      const { env, slots } = this.call,
        made = this.program(program)!.kernels.filter(({ makes, when }) => makes.includes(to) && (!when || when(env)));
      found =
        made.length === 1 &&
        slots[from]!.dtype === slots[to]!.dtype &&
        sameShape(slots[from]!.shape, slots[to]!.shape) &&
        copies(made[0]!, from, to, env);
      this.copied.set(to, found);
    }
    return found;
  }

  private turnsOne({ slot, precise }: Param): boolean {
    const { op } = this.compiled,
      bound = this.common && op.promoted.includes(slot) ? this.call.slots[slot]! : null;
    if (!bound?.given || bound.shape.length || bound.dtype === this.common || bound.dtype === "bool") return false;
    return this.narrow !== null || !(precise || op.slots[slot]!.mut);
  }

  /** What stands for a tensor in the call. */
  tensor(value: Tensor, slot: number): Tensor {
    return this.common ? cast(value, this.call.slots[slot]!.dtype as DType, this.compiled.op.name) : value;
  }

  /** What stands for a number in a tensor's place: an infinity for one that is beyond all that it is compared with. */
  number(value: number, slot: number): number {
    if (this.beyond && value !== (value | 0)) return value * Infinity;
    return this.narrow && this.compiled.op.promoted.includes(slot)
      ? converter(this.narrow)(fitting(this.compiled.op.name, this.narrow, value))
      : value;
  }

  prepare(program: number, wanted: readonly number[]): Prepared {
    let key = program;
    for (const slot of wanted) key = key * 64 + slot + 1;
    let found = this.prepared.get(key);
    if (!found) {
      const template = this.templates.get(key);
      found =
        (template && this.device.reword(template, this.call)) ??
        this.device.prepare(this.compiled, program, this.call, wanted);
      if (!template) this.templates.set(key, found);
      this.prepared.set(key, found);
    }
    return found;
  }
}

/**
 * The slots that gradients are made from, and for each of them whether changing its tensor in place is an error:
 * dsl/gradients/saving.py.
 */
export interface Needs {
  readonly slots: readonly number[];
  readonly held: readonly boolean[];
}
