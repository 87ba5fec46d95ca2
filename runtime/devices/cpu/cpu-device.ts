// The CPU device: tensors in linear memory, or in typed arrays where there is none, and kernels run kernel by kernel.

import type { Call } from "../../../host/model.js";
import { plan_cpu, zeroed } from "../../../host/plan.js";
import { raw_words } from "../../../host/raw.js";
import type { CompiledOp, Elements } from "../../program/compiled-op.js";
import { KernelRun } from "./kernel-run.js";
import type { Device, Prepared, RandomWords, Strided } from "../device.js";
import { type DType, converter, cpuBytes, newElements } from "../../elements/dtype.js";
import { DeviceError } from "../../base/errors.js";
import { copyStrided } from "../../elements/strided-copy.js";
import { unwatch } from "../../tensor/memory.js";
import { numelOf } from "../../base/shape.js";
import { passes, sameCourse } from "../../program/structure.js";
import { type Cell, Storage } from "../../tensor/storage.js";
import { GcPressure } from "../gc-pressure.js";
import type { Block } from "./blocks.js";
import { linear } from "./linear-memory.js";

interface CpuPrepared extends Prepared {
  readonly kernels: readonly KernelRun[];
  /** Slots that live only during the call, and how many elements they have. */
  readonly temps: readonly { slot: number; dtype: DType; length: number }[];
  /** Slots that hold zeros before. */
  readonly zeros: readonly number[];
}

const NOTHING: Elements = new Float32Array(0);

class CpuDevice implements Device {
  readonly type = "cpu";
  readonly number = 0;
  private readonly pressure = new GcPressure(1 << 10);

  allocate(dtype: DType, length: number, op: string): Storage {
    const bytes = cpuBytes(dtype, length),
      block = length ? linear()?.take(bytes) : null;
    if (block) return this.hold(dtype, length, null, block, bytes, op);
    try {
      return this.hold(dtype, length, newElements(dtype, length), null, bytes, op);
    } catch (error) {
      throw new DeviceError(`${op}: ${(error as Error).message}`);
    }
  }

  private hold(
    dtype: DType,
    length: number,
    elements: Elements | null,
    block: Block | null,
    bytes: number,
    op: string,
  ): Storage {
    this.pressure.add(bytes);
    return new Storage(this, dtype, length, elements, block, bytes, op);
  }

  upload(elements: Elements, dtype: DType, op: string): Storage {
    const { length, byteLength } = elements,
      memory = length ? linear() : null,
      given = elements.buffer === memory?.memory.buffer ? elements.slice() : elements,
      block = memory?.take(byteLength);
    if (!block) return this.hold(dtype, length, given, null, byteLength, op);
    const storage = this.hold(dtype, length, null, block, byteLength, op);
    storage.elements.set(given);
    return storage;
  }

  view({ dtype, length, cell: { buffer } }: Storage): Elements {
    return buffer ? linear()!.elements(dtype, buffer as Block, length) : NOTHING;
  }

  async download(storage: Storage, start: number, end: number): Promise<Elements> {
    const found = storage.elements.slice(start, end),
      wait = this.relax();
    if (wait) await wait;
    return found;
  }

  free(storage: Storage): void {
    const { cell } = storage,
      { buffer, bytes } = cell;
    unwatch(cell);
    cell.buffer = null;
    storage.elements = NOTHING;
    if (buffer) linear()!.give(buffer as Block);
    this.pressure.remove(bytes);
  }

  reclaim({ buffer, bytes }: Cell): void {
    if (buffer) linear()!.give(buffer as Block);
    this.pressure.found(bytes);
  }

  fill(storage: Storage, value: number): void {
    storage.elements.fill(value);
  }

  copy(target: Strided, source: Strided): void {
    copyStrided(
      { elements: target.storage.elements, strides: target.strides, offset: target.offset },
      { elements: source.storage.elements, strides: source.strides, offset: source.offset },
      target.shape,
      target.dtype === source.dtype ? null : converter(target.dtype),
    );
  }

  prepare(op: CompiledOp, program: number, call: Call, wanted: readonly number[]): CpuPrepared {
    const kernels = op.op.programs[program]!.kernels,
      launches = plan_cpu(op.op, program, call, [...wanted]);
    const temps = new Map<number, { slot: number; dtype: DType; length: number }>();
    const changes = new Set<number>();
    const list = launches.flatMap((launch, n) => {
      if (!launch) return [];
      const kernel = kernels[n]!;
      for (const { slot } of kernel.accesses) {
        const bound = call.slots[slot]!;
        if (passes(op, slot, wanted))
          temps.set(slot, { slot, dtype: bound.dtype as DType, length: numelOf(bound.shape) });
      }
      for (const step of kernel.steps) {
        if (step.target >= 0 && op.op.slots[kernel.accesses[step.target]!.slot]!.role === "input")
          changes.add(kernel.accesses[step.target]!.slot);
      }
      return [
        new KernelRun(
          op.op.name,
          op.kernels[program]![n]!,
          kernel,
          launch,
          kernel.accesses.map(({ slot }) => call.slots[slot]!.dtype),
          call.dtype,
        ),
      ];
    });
    return {
      op,
      program,
      call,
      kernels: list,
      temps: [...temps.values()],
      zeros: zeroed(op.op, program, call, [...wanted]),
      changes: [...changes],
    };
  }

  reword(prepared: CpuPrepared, call: Call): CpuPrepared | null {
    return sameCourse(prepared.op.op, prepared.program, prepared.call, call) ? { ...prepared, call } : null;
  }

  execute(prepared: CpuPrepared, storages: readonly (Storage | null)[], random: RandomWords | null): void {
    const { call, kernels, temps, zeros } = prepared,
      arrays = storages.map((s) => (s ? s.elements : NOTHING));
    // What float32 programs keep in between is kept in double: it costs no time here and saves digits.
    for (const { slot, dtype, length } of temps)
      arrays[slot] = newElements(dtype === "float32" ? "float64" : dtype, length);
    for (const slot of zeros) if (storages[slot]) arrays[slot]!.fill(0);
    const words = random
      ? { ...call.env, seed0_: random.seedLow, seed1_: random.seedHigh, call_: random.call }
      : call.env;
    for (const kernel of kernels) {
      kernel.run(
        kernel.data.accesses.map(({ slot }) => arrays[slot]!),
        kernel.data.raw ? raw_words(kernel.data, words) : words,
      );
    }
  }

  alive(): void {}

  relax(): Promise<void> | null {
    return this.pressure.relax();
  }

  async synchronize(): Promise<void> {}
}

/** The CPU: always there. */
export const cpu: Device = /* @__PURE__ */ new CpuDevice();
