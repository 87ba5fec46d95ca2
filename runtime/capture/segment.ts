// Steps of a captured program made ready to run again and again: what each launches, on which memory.

import type { Numbers } from "../base/capturing.js";
import { refused } from "../base/errors.js";
import type { Prepared, RandomWords } from "../devices/device.js";
import type { Call } from "../../host/model.js";
import { rebound } from "../../fusion/work.js";
import { bind_with } from "../../host/binding.js";
import type { Storage } from "../tensor/storage.js";
import { sameNumbers } from "./agree.js";
import { type Blocks, type Slot, occupy, shareOut } from "./memory-plan.js";
import type { Program, RunStep, Step } from "./program.js";

/** The memory of each value during a replay. */
export type Memory = (Storage | null)[];

/** A launch with the memory that never changes in place. */
interface Launch {
  readonly step: RunStep;
  prepared: Prepared;
  readonly storages: (Storage | null)[];
  /** Slots whose memory is another one at each replay: slot, value, slot, value, ... */
  readonly moving: readonly number[];
  /** The numbers that `prepared` has, and the calls: of each part. */
  numbers: Numbers[] | null;
  calls: Call[];
}

type Ready = Launch | Exclude<Step, RunStep>;

const NONE: readonly Storage[] = [];

/** Steps in order, and the memory of the values that only they need. */
export class Segment {
  readonly slots: readonly Slot[];
  private readonly ready: readonly Ready[];
  private readonly copiers = new Map<Ready, (target: Storage, source: Storage) => void>();
  /** On devices that tell later what is wrong: the memory that a step begins to use. */
  private readonly begins = new Map<Ready, Storage[]>();

  /** `fixed`: the memory of values that is always the same; what `inner` are is added to it. */
  constructor(
    private readonly program: Program,
    readonly steps: readonly Step[],
    inner: ReadonlySet<number>,
    readonly fixed: Memory,
    blocks: Blocks,
  ) {
    const { values } = program;
    this.slots = shareOut(values, steps, inner);
    occupy(this.slots, values, blocks, (value, storage) => {
      fixed[value] = storage;
    });
    this.ready = steps.map((step) => {
      if (step.kind !== "run") return step;
      const moving = step.slots.flatMap((value, slot) => (value >= 0 && !fixed[value] ? [slot, value] : []));
      return {
        step,
        prepared: step.prepared,
        storages: step.slots.map((value) => (value < 0 ? null : (fixed[value] ?? null))),
        moving,
        numbers: null,
        calls: (step.joined?.parts ?? [step]).map((part) =>
          part.kind === "run" ? part.prepared.call : step.prepared.call,
        ),
      };
    });
    for (const { device, lives } of this.slots) {
      if (!device.forgive) continue;
      for (const { value, from } of lives) {
        const ready = this.ready[from]!,
          known = this.begins.get(ready);
        if (known) known.push(fixed[value]!);
        else this.begins.set(ready, [fixed[value]!]);
      }
    }
  }

  get bytes(): number {
    return this.slots.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Puts new numbers into the launches that host steps feed; false, with nothing done, where a launch has no place. */
  feed(lists: readonly (readonly Numbers[])[]): boolean {
    const changed: [Launch, Prepared, Numbers[], Call[]][] = [];
    for (const ready of this.ready) {
      if (!("step" in ready) || !ready.step.fed) continue;
      const { step } = ready,
        parts = step.joined?.parts ?? [step],
        numbers: Numbers[] = [];
      for (const part of parts) {
        const fed = part.kind === "run" ? part.fed : null,
          own = fed ? lists[fed.host]?.[fed.list] : {};
        if (!own) return false;
        numbers.push(own);
      }
      if (ready.numbers && numbers.every((own, i) => sameNumbers(ready.numbers![i]!, own))) continue;
      const calls = parts.map((part, i) =>
          part.kind === "run" && part.fed ? called(part.prepared, numbers[i]!) : ready.calls[i]!,
        ),
        call = step.joined ? rebound(step.joined.work, calls) : calls[0]!,
        next =
          call && this.program.values[step.slots.find((value) => value >= 0)!]!.device.reword(ready.prepared, call);
      if (!next) return false;
      changed.push([ready, next, numbers, calls]);
    }
    for (const [launch, prepared, numbers, calls] of changed) Object.assign(launch, { prepared, numbers, calls });
    return true;
  }

  /** The calls of the steps that host steps feed. */
  get fed(): Map<Step, Call> {
    const found = new Map<Step, Call>();
    for (const ready of this.ready) {
      if (!("step" in ready) || !ready.step.fed) continue;
      (ready.step.joined?.parts ?? [ready.step]).forEach((part, i) => found.set(part, ready.calls[i]!));
    }
    return found;
  }

  /** `apart`: nothing is where it was when this was made. */
  run(memory: Memory, draws: readonly RandomWords[], apart = false): void {
    const { values } = this.program;
    for (const ready of this.ready) {
      for (const storage of this.begins.get(ready) ?? NONE) storage.device.forgive!(storage);
      if ("step" in ready) {
        const { step, prepared, moving } = ready,
          storages = apart ? step.slots.map((value) => (value < 0 ? null : memory[value]!)) : ready.storages;
        for (let i = 0; i < moving.length; i += 2) storages[moving[i]!] = memory[moving[i + 1]!]!;
        const first = step.slots.find((value) => value >= 0)!;
        values[first]!.device.execute(prepared, storages, step.draw < 0 ? null : draws[step.draw]!);
        for (let i = 0; i < moving.length; i += 2) storages[moving[i]!] = null;
        continue;
      }
      switch (ready.kind) {
        case "fill":
          memory[ready.value]!.device.fill(memory[ready.value]!, ready.number);
          break;
        case "copy": {
          const { target, source } = ready,
            { device } = values[target.value]!;
          let copier = this.copiers.get(ready);
          if (!copier) {
            copier =
              device.copier?.(target, source) ??
              ((storage, from) => device.copy({ ...target, storage }, { ...source, storage: from }));
            this.copiers.set(ready, copier);
          }
          copier(memory[target.value]!, memory[source.value]!);
          break;
        }
        case "change":
          memory[ready.value]!.change();
          break;
        case "check":
          if (Number(memory[ready.value]!.elements[ready.offset]) === 0) throw refused(ready.refusal);
          break;
        case "blame": {
          const by = memory[ready.by]!;
          by.device.blame?.(memory[ready.value]!, by.device.faultOf?.(by) ?? null);
        }
      }
    }
  }
}

/** A call with other numbers. */
function called({ op: { op, parts }, call }: Prepared, numbers: Numbers): Call {
  return bind_with(
    op,
    op.params.map(({ slot, name }) => {
      if (slot < 0) return numbers[name] ?? null;
      const { given, dtype, shape, strides, offset } = call.slots[slot]!;
      return given ? { dtype, shape: [...shape], strides: [...strides], offset, weak: false } : null;
    }) as never,
    parts,
  );
}
