// The CPU device: typed arrays, and the generated kernels run nest by nest.

import type { Call } from "../../../host/model.js";
import { plan_cpu } from "../../../host/plan.js";
import { raw_words } from "../../../host/raw.js";
import type { CompiledOp, Elements } from "../../program/compiled-op.js";
import { KernelRun } from "./kernel-run.js";
import type { Device, Prepared, RandomWords, Strided } from "../device.js";
import { type DType, converter, newElements } from "../../elements/dtype.js";
import { DeviceError } from "../../base/errors.js";
import { copyStrided } from "../../elements/strided-copy.js";
import { unwatch } from "../../tensor/memory.js";
import { numelOf } from "../../base/shape.js";
import { passes, sameCourse } from "../../program/structure.js";
import { Storage } from "../../tensor/storage.js";
import { collectorTurn } from "../../base/tasks.js";

interface CpuPrepared extends Prepared {
  readonly nests: readonly KernelRun[];
  /** Slots that live only during the call, and how many elements they have. */
  readonly temps: readonly { slot: number; dtype: DType; length: number }[];
}

const NOTHING: Elements = new Float32Array(0);

/**
 * After so many new storages, or bytes, a loop should let go once: the collector takes the elements by itself, but what
 * is noted
 *  of each storage goes only between two tasks. */
const MANY = 4096,
  MUCH = 1 << 24;

class CpuDevice implements Device {
  readonly type = "cpu";
  readonly number = 0;
  /** Storages and bytes since the collector last had a turn. */
  private made = 0;
  private bytes = 0;

  allocate(dtype: DType, length: number, op: string): Storage {
    try {
      return this.wrap(newElements(dtype, length), dtype, op);
    } catch (error) {
      throw new DeviceError(`${op}: ${(error as Error).message}`);
    }
  }

  private wrap(elements: Elements, dtype: DType, op: string): Storage {
    this.made++;
    this.bytes += elements.byteLength;
    return new Storage(this, dtype, elements.length, elements, null, elements.byteLength, op);
  }

  upload(elements: Elements, dtype: DType, op: string): Storage {
    return this.wrap(elements, dtype, op);
  }

  async download(storage: Storage, start: number, end: number): Promise<Elements> {
    const found = storage.elements.slice(start, end),
      wait = this.relax();
    if (wait) await wait;
    return found;
  }

  free(storage: Storage): void {
    unwatch(storage.cell);
    storage.elements = NOTHING;
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
    const nests = op.op.programs[program]!.nests,
      launches = plan_cpu(op.op, program, call, [...wanted]);
    const temps = new Map<number, { slot: number; dtype: DType; length: number }>();
    const changes = new Set<number>();
    const list = launches.flatMap((launch, n) => {
      if (!launch) return [];
      const nest = nests[n]!;
      for (const { slot } of nest.accesses) {
        const bound = call.slots[slot]!;
        if (passes(op, slot, wanted))
          temps.set(slot, { slot, dtype: bound.dtype as DType, length: numelOf(bound.shape) });
      }
      for (const step of nest.steps) {
        if (step.target >= 0 && op.op.slots[nest.accesses[step.target]!.slot]!.role === "input")
          changes.add(nest.accesses[step.target]!.slot);
      }
      return [
        new KernelRun(
          op.op.name,
          op.kernels[program]![n]!,
          nest,
          launch,
          nest.accesses.map(({ slot }) => call.slots[slot]!.dtype),
          call.dtype,
        ),
      ];
    });
    return { op, program, call, nests: list, temps: [...temps.values()], changes: [...changes] };
  }

  reword(prepared: CpuPrepared, call: Call): CpuPrepared | null {
    return sameCourse(prepared.op.op, prepared.program, prepared.call, call) ? { ...prepared, call } : null;
  }

  execute(prepared: CpuPrepared, storages: readonly (Storage | null)[], random: RandomWords | null): void {
    const { call, nests, temps } = prepared,
      arrays = storages.map((s) => (s ? s.elements : NOTHING));
    // What float32 programs keep in between is kept in double: it costs no time here and saves digits.
    for (const { slot, dtype, length } of temps)
      arrays[slot] = newElements(dtype === "float32" ? "float64" : dtype, length);
    const words = random
      ? { ...call.env, seed0_: random.seedLow, seed1_: random.seedHigh, call_: random.call }
      : call.env;
    for (const nest of nests) {
      nest.run(
        nest.data.accesses.map(({ slot }) => arrays[slot]!),
        nest.data.raw ? raw_words(nest.data, words) : words,
      );
    }
  }

  alive(): void {}

  relax(): Promise<void> | null {
    if (this.made < MANY && this.bytes < MUCH) return null;
    this.made = this.bytes = 0;
    return collectorTurn();
  }

  async synchronize(): Promise<void> {}
}

/** The CPU: always there. */
export const cpu: Device = /* @__PURE__ */ new CpuDevice();
