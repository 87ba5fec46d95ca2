// Where the values that a program makes for itself lie: those that are not needed at the same time share memory.

import type { Device } from "../devices/device.js";
import { cpuBytes, deviceBytes, elementsAt } from "../elements/dtype.js";
import { unwatch } from "../tensor/memory.js";
import { Storage } from "../tensor/storage.js";
import { type Step, type Value, touched } from "./program.js";

/** The first and the last step that need a value. */
export interface Lifetime {
  readonly value: number;
  readonly from: number;
  to: number;
}

/** A block of memory, and the values that take turns in it. */
export interface Slot {
  readonly device: Device;
  bytes: number;
  readonly lives: Lifetime[];
  /** What is taken for it, held here as long as the program is. */
  memory: Storage | null;
}

/** Lifetimes of values in a list of steps, by the step that needs them first. */
export function lifetimes(steps: readonly Step[], wanted: ReadonlySet<number>): Lifetime[] {
  const found = new Map<number, Lifetime>();
  steps.forEach((step, at) => {
    const { reads, writes } = touched(step);
    for (const value of [...reads, ...writes]) {
      if (!wanted.has(value)) continue;
      const known = found.get(value);
      if (known) known.to = at;
      else found.set(value, { value, from: at, to: at });
    }
  });
  return [...found.values()];
}

const ALIGN = 16;

/** Bytes that a value takes. */
export function bytesOf({ device, dtype, length }: Value): number {
  const bytes = device.type === "cpu" ? cpuBytes(dtype, length) : deviceBytes(dtype) * length;
  return Math.max(Math.ceil(bytes / ALIGN), 1) * ALIGN;
}

/** Shares out memory: each value gets the free block that fits it best, or a new one. */
export function shareOut(values: readonly Value[], steps: readonly Step[], wanted: ReadonlySet<number>): Slot[] {
  const slots: Slot[] = [];
  for (const life of lifetimes(steps, wanted)) {
    const value = values[life.value]!,
      bytes = bytesOf(value);
    let best: Slot | null = null;
    for (const slot of slots) {
      if (slot.device !== value.device || slot.lives[slot.lives.length - 1]!.to >= life.from) continue;
      const better =
        best === null ||
        (best.bytes >= bytes ? slot.bytes >= bytes && slot.bytes < best.bytes : slot.bytes > best.bytes);
      if (better) best = slot;
    }
    // A small value leaves a large block to a large one.
    if (best && best.bytes <= 4 * bytes) {
      best.bytes = Math.max(best.bytes, bytes);
      best.lives.push(life);
    } else slots.push({ device: value.device, bytes, lives: [life], memory: null });
  }
  return slots;
}

/**
 * Blocks that programs which run one after another take turns in.  A new one beside others is a power of two, so that
 * programs of growing sizes together take a few times what the largest does.
 */
export class Blocks {
  private readonly all: Storage[] = [];

  /** Memory for each of the slots, in their order. */
  taken(slots: readonly Slot[]): Storage[] {
    const free = new Set(this.all),
      grown = this.all.length > 0,
      out = new Array<Storage>(slots.length);
    const order = slots.map((_, i) => i).sort((a, b) => slots[b]!.bytes - slots[a]!.bytes);
    for (const i of order) {
      const { device, bytes } = slots[i]!;
      let best: Storage | null = null;
      for (const block of free)
        if (block.device === device && 4 * block.length >= bytes && (!best || block.length < best.length)) best = block;
      if (!best) {
        best = device.allocate("float32", (grown ? 2 ** Math.ceil(Math.log2(bytes)) : bytes) / 4, "compiled");
        best.retain();
        this.all.push(best);
      } else free.delete(best);
      out[i] = best;
    }
    return out;
  }
}

/** Takes memory for slots; `put` gets what each value sees of it. */
export function occupy(
  slots: readonly Slot[],
  values: readonly Value[],
  blocks: Blocks,
  put: (value: number, storage: Storage) => void,
): void {
  blocks.taken(slots).forEach((all, i) => {
    const slot = slots[i]!,
      { device, lives } = slot;
    slot.memory = all;
    for (const { value } of lives) {
      const { dtype, length } = values[value]!,
        { buffer } = all.cell;
      const storage = new Storage(
        device,
        dtype,
        length,
        buffer ? null : elementsAt(dtype, all.elements.buffer as ArrayBuffer, all.elements.byteOffset, length),
        buffer,
        0,
        "compiled",
      );
      // Nobody gives it back: the whole block is what is given.
      unwatch(storage.cell);
      storage.cell.freed = false;
      put(value, storage);
    }
  });
}
