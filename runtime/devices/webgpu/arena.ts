// Storages side by side in one buffer, each in a part of its own, so that one launch goes over many.  Tensors do not
// notice: a storage is what they hold, and the buffer behind it may be another one after a copy.  Which storages belong
// together: buckets.ts.

import type { Joined, List } from "../device.js";
import type { DType } from "../../elements/dtype.js";
import { deviceBytes } from "../../elements/dtype.js";
import { unwatch } from "../../tensor/memory.js";
import { sameShape } from "../../base/shape.js";
import { Storage } from "../../tensor/storage.js";
import { Tensor } from "../../tensor/tensor.js";
import type { WebGpuDevice } from "./gpu-device.js";
import { byteLength } from "./element-layout.js";
import type { PoolBuffer } from "./pool.js";
import type { FaultOrigin } from "./deferred-errors.js";

let parts = 0;

/** A range of an arena: the memory of one storage. */
export class Part implements PoolBuffer {
  readonly id = --parts;
  readonly buffer: GPUBuffer;
  since = 0;
  /** Whether a storage lies in it. */
  taken = false;
  /** How the last tensor lay that filled it. */
  shape: readonly number[] | null = null;
  strides: readonly number[] | null = null;
  length = 0;
  private own: FaultOrigin | null = null;

  constructor(
    readonly arena: Arena,
    readonly index: number,
    readonly offset: number,
    readonly size: number,
  ) {
    this.buffer = arena.whole.buffer;
  }

  get dead(): Error | null {
    return this.arena.whole.dead;
  }
  get batch(): number {
    return this.arena.whole.batch;
  }
  set batch(batch: number) {
    this.arena.whole.batch = batch;
  }

  get faultOrigin(): FaultOrigin | null {
    return this.own;
  }
  set faultOrigin(origin: FaultOrigin | null) {
    this.own = origin;
  }

  leave(): void {
    this.taken = false;
    this.arena.left(this);
  }
}

/** The memory of neighbours. */
class Run extends Part {
  constructor(
    arena: Arena,
    private readonly members: readonly Part[],
    offset: number,
    size: number,
  ) {
    super(arena, -1, offset, size);
  }

  override get faultOrigin(): FaultOrigin | null {
    const { faults } = this.arena.device;
    return faults.used
      ? this.members.reduce<FaultOrigin | null>((all, part) => faults.both(all, faults.of(part)), null)
      : null;
  }
  override set faultOrigin(origin: FaultOrigin | null) {
    for (const part of this.members) part.faultOrigin = origin;
  }
}

export class Arena {
  readonly whole: PoolBuffer;
  readonly parts: readonly Part[];
  readonly device: WebGpuDevice;
  private readonly runs = new Map<number, Tensor>();
  private taken = 0;
  private wanted = true;

  /** `sizes`: the bytes of the parts, multiples of what a binding's offset must be. */
  constructor(device: WebGpuDevice, sizes: readonly number[], op: string) {
    this.device = device;
    device.untangle = untangle;
    device.joined = joined;
    device.stacked = stacked;
    let end = 0;
    this.whole = device.pool.take(
      sizes.reduce((a, b) => a + b),
      op,
    );
    this.parts = sizes.map((size, i) => new Part(this, i, (end += size) - size, size));
    // What lies between the elements of two parts is computed with, too: it should be numbers.
    device.queue.clear(this.whole);
    device.pool.freeBytes += this.whole.size;
  }

  /** Moves a storage into a part. */
  put(storage: Storage, index: number): void {
    const from = storage.cell.buffer as PoolBuffer;
    copy(this.device, from, this.take(index), storage);
    this.device.pool.give(from);
  }

  /** A new storage in a part, with whatever elements. */
  hold(index: number, dtype: DType, length: number, op: string): Storage {
    return this.device.hold(this.take(index), dtype, length, op);
  }

  private take(index: number): Part {
    const part = this.parts[index]!;
    part.taken = true;
    part.faultOrigin = null;
    this.taken++;
    this.device.pool.freeBytes -= part.size;
    return part;
  }

  /** Called when the storage in a part is no longer there. */
  left(part: Part): void {
    this.device.pool.freeBytes += part.size;
    this.taken--;
    this.settle();
  }

  /** Nothing more will be put here: the buffer goes back when the last part is empty. */
  drop(): void {
    this.wanted = false;
    this.settle();
  }

  private settle(): void {
    if (this.wanted || this.taken) return;
    this.device.pool.freeBytes -= this.whole.size;
    this.device.pool.give(this.whole);
  }

  /** `count` neighbouring parts as one tensor with one axis, which nobody counts as memory. */
  run(first: number, count: number, dtype: DType): Tensor {
    const key = first * this.parts.length + count - 1;
    let run = this.runs.get(key);
    if (run?.dtype !== dtype) {
      const { offset } = this.parts[first]!,
        { offset: start, size } = this.parts[first + count - 1]!,
        bytes = start + size - offset;
      const storage = new Storage(
        this.device,
        dtype,
        bytes / deviceBytes(dtype),
        null,
        new Run(this, this.parts.slice(first, first + count), offset, bytes),
        0,
        "foreach",
      );
      unwatch(storage.cell);
      storage.cell.freed = false;
      this.runs.set(
        key,
        (run = new Tensor(storage, dtype, Object.freeze([storage.length]), Object.freeze([1]), 0, false)),
      );
    }
    return run;
  }
}

/** The part that a tensor fills with its elements in their order; null where it lies otherwise. */
function partOf(x: Tensor): Part | null {
  const { storage, shape, strides } = x,
    part = storage.cell.buffer;
  if (!(part instanceof Part) || x.is_disposed || x.offset !== 0) return null;
  // Most are as they were a step ago.
  if (part.shape !== shape || part.strides !== strides || part.length !== storage.length) {
    if (storage.length !== x.numel() || !x.is_contiguous()) return null;
    [part.shape, part.strides, part.length] = [shape, strides, storage.length];
  }
  return part;
}

/**
 * Where the tensors of all lists at a place lie; null unless each fills a part of another arena, and all are of
 * one type.
 */
function partsAt(lists: readonly List[], at: number): Part[] | null {
  const parts: Part[] = [];
  for (const list of lists) {
    const x = list[at],
      part = x && partOf(x);
    if (!part || x.dtype !== lists[0]![at]!.dtype || parts.some(({ arena }) => arena === part.arena)) return null;
    parts.push(part);
  }
  return parts;
}

/** What Device.joined is where there are arenas. */
function joined(lists: readonly List[], from: number, fits: (place: number) => boolean): Joined | null {
  const first = partsAt(lists, from),
    { dtype, shape } = lists[0]![from]!;
  if (!first || !lists.every((list) => sameShape(list[from]!.shape, shape))) return null;
  let end = from + 1;
  while (end < lists[0]!.length && beside(lists, first, from, end, dtype) && fits(end)) end++;
  const count = end - from;
  return count > 1 ? { count, tensors: first.map(({ arena, index }) => arena.run(index, count, dtype)) } : null;
}

/** What Device.stacked is there. */
function stacked(lists: readonly List[], from: number): Joined | null {
  const first = partsAt(lists, from),
    { dtype } = lists[0]![from]!;
  if (!first) return null;
  const apart = first.map(({ arena, index, offset }) => (arena.parts[index + 1]?.offset ?? offset) - offset);
  const further = (at: number): boolean =>
    lists.every((list, i) => {
      const { arena, index, offset } = first[i]!,
        part = arena.parts[index + at - from],
        x = list[at];
      return (
        part &&
        x &&
        x.storage.cell.buffer === part &&
        partOf(x) &&
        x.dtype === dtype &&
        sameShape(x.shape, list[from]!.shape) &&
        part.offset === offset + (at - from) * apart[i]!
      );
    });
  let end = from + 1;
  while (end < lists[0]!.length && further(end)) end++;
  const count = end - from;
  return count < 2
    ? null
    : {
        count,
        tensors: first.map(({ arena, index }, i) => {
          const { shape, strides } = lists[i]![from]!;
          return new Tensor(
            arena.run(index, count, dtype).storage,
            dtype,
            Object.freeze([count, ...shape]),
            Object.freeze([apart[i]! / deviceBytes(dtype), ...strides]),
            0,
            false,
          );
        }),
      };
}

/**
 * Whether the tensors of all lists at place `at` lie as far behind those at `from`, whose parts are `first`, as each
 * other.
 */
function beside(lists: readonly List[], first: readonly Part[], from: number, at: number, dtype: DType): boolean {
  const { shape } = lists[0]![at]!;
  let distance = -1;
  for (let i = 0; i < first.length; i++) {
    const { arena, index, offset } = first[i]!,
      part = arena.parts[index + at - from],
      x = lists[i]![at];
    if (!part || !x || x.storage.cell.buffer !== part || !partOf(x) || x.dtype !== dtype || !sameShape(x.shape, shape))
      return false;
    if (distance < 0) distance = part.offset - offset;
    if (part.offset - offset !== distance) return false;
  }
  return true;
}

/** Gives a storage another buffer, with the same elements. */
function copy({ queue }: WebGpuDevice, from: PoolBuffer, to: PoolBuffer, storage: Storage): void {
  const size = byteLength(storage.dtype, storage.length);
  queue.copy([from, to], (encoder) => {
    encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, size);
  });
  to.faultOrigin = from.faultOrigin;
  storage.cell.buffer = to;
}

/**
 * A launch may not read one part of a buffer and write another: what it reads of such a buffer moves out first.
 * Binding i is for
 *  storage `slots[i]`, or i. */
function untangle(
  device: WebGpuDevice,
  buffers: PoolBuffer[],
  written: readonly boolean[],
  storages: readonly (Storage | null)[],
  slots?: readonly number[],
): void {
  for (let i = 0; i < buffers.length; i++) {
    const part = buffers[i]!;
    if (!(part instanceof Part) || written[i]) continue;
    const storage = storages[slots ? slots[i]! : i];
    if (!storage || !buffers.some((other, k) => written[k] && other !== part && other.buffer === part.buffer)) continue;
    const own = device.pool.take(part.size, "foreach");
    copy(device, part, own, storage);
    part.leave();
    buffers.forEach((other, k) => {
      if (other === part) buffers[k] = own;
    });
  }
}
