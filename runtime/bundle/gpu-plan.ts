// The launches of a bundled model on WebGPU.

import { plan, zeroed } from "../../host/plan.js";
import { schedules } from "../../ops/data/schedules.js";
import { OpError } from "../base/errors.js";
import { byteLength } from "../devices/webgpu/element-layout.js";
import { packedUniforms } from "../devices/webgpu/launch-uniforms.js";
import { WORDS } from "../devices/webgpu/deferred-errors.js";
import type { DType } from "../elements/dtype.js";
import { passes } from "../program/structure.js";
import { numelOf } from "../base/shape.js";
import type { GpuClear, GpuLaunch, GpuPlan } from "./plan.js";
import type { Runs, Unnamed } from "./runs.js";

/** What every device has: the limits of WebGPU, and no optional feature. */
const FACTS = {
  f16: false,
  subgroups: false,
  max_binding_bytes: 2 ** 27,
  max_bindings: 8,
  max_threads: 256,
  max_shared: 16384,
  software: false,
  matrix_units: false,
};
/** Types that every device has. */
const TYPES = new Set(["float32", "int64", "int32", "bool", "uint8", "int8", "int16", "uint16"]);

/** Lines of texts, each once: kernels are much alike, and further apart than what packs files looks. */
class Lines {
  readonly all: string[] = [];
  private readonly known = new Map<string, number>();

  /** Which lines a text is: first, count, first, count, ... */
  of(text: string): number[] {
    const out: number[] = [];
    for (const line of text.split("\n")) {
      let n = this.known.get(line);
      if (n === undefined) this.known.set(line, (n = this.all.push(line) - 1));
      if (out.length > 0 && out.at(-2)! + out.at(-1)! === n) out[out.length - 1]!++;
      else out.push(n, 1);
    }
    return out;
  }
}

/** The plan; null where the model has a type that not every GPU has. */
export function gpuPlan({ values, found, runs, slots, inputs, results }: Runs): Unnamed<GpuPlan> | null {
  if (values.some(({ dtype }) => !TYPES.has(dtype))) return null;
  const buffers: number[] = [],
    bufferOf = new Map<number, number>(),
    kernels = new Map<string, number>(),
    texts: (readonly [number[], string])[] = [],
    lines = new Lines(),
    steps: (GpuLaunch | GpuClear)[] = [],
    weights: [number, number][] = [];
  let fault = -1;
  const buffer = (bytes: number): number => buffers.push(Math.max(4, Math.ceil(bytes / 4) * 4)) - 1;
  for (const { bytes, lives } of slots) {
    const own = buffer(bytes);
    for (const { value } of lives) bufferOf.set(value, own);
  }
  const of = (value: number): number => {
    let own = bufferOf.get(value);
    if (own === undefined) {
      const { dtype, length } = values[value]!;
      bufferOf.set(value, (own = buffer(byteLength(dtype, length))));
      if (found.has(value)) weights.push([own, value]);
    }
    return own;
  };
  // temporaries of a run: its first is that of all others, and so on
  const temporaries: number[] = [];
  const absent = new Map<number, number>();
  for (const { compiled, op, program, call, wanted, values: own } of runs) {
    const taken = new Map<number, number>(),
      launches = plan(op, program, call, [...wanted], FACTS, schedules);
    let scratch = 0;
    for (const launch of launches) scratch = Math.max(scratch, 4 * launch.scratch);
    const temporary = (slot: number, bytes: number): number => {
      let at = taken.get(slot);
      if (at === undefined) {
        const n = taken.size;
        at = temporaries[n] ??= buffer(4);
        buffers[at] = Math.max(buffers[at]!, Math.ceil(bytes / 4) * 4);
        taken.set(slot, at);
      }
      return at;
    };
    const bound = (slot: number): number => {
      if (slot === -2) return (fault = fault < 0 ? buffer(4 * WORDS) : fault);
      if (slot === -1) return temporary(-1, scratch);
      if (own[slot]! >= 0) return of(own[slot]!);
      if (passes(compiled, slot, wanted))
        return temporary(slot, byteLength(call.slots[slot]!.dtype as DType, numelOf(call.slots[slot]!.shape)));
      // a tensor that is not given: no two of a launch may be one that is written
      let none = absent.get(slot);
      if (none === undefined) absent.set(slot, (none = buffer(4)));
      return none;
    };
    for (const slot of zeroed(op, program, call, [...wanted])) steps.push([bound(slot)]);
    for (const launch of launches) {
      if (launch.seeds >= 0) throw new OpError(`bundle: ${op.name} draws random numbers, which a bundle does not`);
      const writes = launch.written.map((w) => (w ? "w" : "r")).join(""),
        key = `${writes} ${launch.code}`,
        uniforms = packedUniforms(launch.uniforms, launch.kinds);
      if (launch.fault >= 0) uniforms[launch.fault] = 0;
      let kernel = kernels.get(key);
      if (kernel === undefined) kernels.set(key, (kernel = texts.push([lines.of(launch.code), writes]) - 1));
      steps.push([kernel, launch.slots.map(bound), uniforms.map((n) => n >>> 0), launch.groups]);
    }
  }
  return {
    inputs: inputs.map((value) => (value < 0 ? -1 : of(value))),
    outputs: results.map(({ value }) => of(value)),
    buffers,
    weights,
    lines: lines.all,
    kernels: texts,
    steps,
    fault,
  };
}
