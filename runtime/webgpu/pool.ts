// Buffers that were freed and wait to be used again.  Sizes are rounded up so that they recur; what nobody asks for in a
// few seconds is destroyed.

import { COPY_DST, COPY_SRC, STORAGE } from "./flags.js";
import type { DeviceBuffer } from "../storage.js";
import type { Origin } from "./tells.js";

/** A buffer of the pool, or a part of one (flat.ts), as it is bound.  `batch`: the last batch of commands that uses it (queue.ts). */
export interface PoolBuffer extends DeviceBuffer {
  readonly buffer: GPUBuffer;
  /** In bytes. */
  readonly offset: number;
  batch: number;
  since: number;
  /** Which runs of kernels may have told that its elements are wrong (tells.ts). */
  told: Origin | null;
  /** Of a part: what giving it back means. */
  leave?(): void;
}

const STAY = 3000, CHECK = 1000;

/** The size class of a request: multiples of an eighth of its power of two, at least 256 bytes. */
export function sizeClass(bytes: number): number {
  if (bytes <= 256) return 256;
  const step = Math.max(256, 2 ** (Math.floor(Math.log2(bytes - 1)) - 2));
  return Math.ceil(bytes / step) * step;
}

export class Pool {
  private readonly device: GPUDevice;
  private readonly free = new Map<number, PoolBuffer[]>();
  private readonly onDestroy: () => void;
  private readonly onError: (error: GPUError, what: string) => void;
  private readonly checks: Set<Promise<unknown>>;
  private nextId = 1;
  private checked = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** The number of the batch being gathered, whose buffers must not be destroyed. */
  batch = 0;
  freeBytes = 0;
  totalBytes = 0;

  /** `onDestroy`: called after buffers were destroyed; `onError`: with what a creation failed; `checks`: the creations
   *  whose success is not known yet. */
  constructor(device: GPUDevice, onDestroy: () => void, onError: (error: GPUError, what: string) => void, checks: Set<Promise<unknown>>) {
    this.checks = checks;
    this.device = device;
    this.onDestroy = onDestroy;
    this.onError = onError;
  }

  /** A buffer of at least `bytes`, with whatever content. */
  take(bytes: number, op: string): PoolBuffer {
    const size = sizeClass(bytes), list = this.free.get(size);
    if (list && list.length) {
      this.freeBytes -= size;
      return list.pop()!;
    }
    this.device.pushErrorScope("out-of-memory");
    const buffer = this.device.createBuffer({
      size, usage: STORAGE | COPY_SRC | COPY_DST,
    });
    track(this.checks, this.device.popErrorScope(), (error) => {
      if (error) this.onError(error, `${op}: out of memory on the device: ${bytes} bytes asked for, ${this.totalBytes} in use`);
    });
    this.totalBytes += size;
    return { buffer, offset: 0, size, id: this.nextId++, batch: -1, since: 0, told: null };
  }

  give(buffer: PoolBuffer): void {
    if (buffer.leave) return buffer.leave();
    const list = this.free.get(buffer.size);
    buffer.told = null;
    buffer.since = performance.now();
    if (list) list.push(buffer);
    else this.free.set(buffer.size, [buffer]);
    this.freeBytes += buffer.size;
    if (this.timer === null) this.schedule();
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.timer = null;
      this.trim(STAY);
      if (this.freeBytes > 0) this.schedule();
    }, STAY);
    (this.timer as { unref?: () => void }).unref?.();
  }

  /** Called now and then while work is queued. */
  tick(): void {
    const now = performance.now();
    if (now - this.checked < CHECK) return;
    this.checked = now;
    this.trim(STAY);
  }

  /** Destroys buffers that have been free for longer than `age` milliseconds. */
  trim(age: number): void {
    const limit = performance.now() - age;
    let destroyed = false;
    for (const [size, list] of this.free) {
      const stay = list.filter((b) => b.since > limit || b.batch >= this.batch);
      if (stay.length === list.length) continue;
      for (const buffer of list) {
        if (buffer.since > limit || buffer.batch >= this.batch) continue;
        buffer.buffer.destroy();
        this.freeBytes -= size;
        this.totalBytes -= size;
      }
      destroyed = true;
      if (stay.length) this.free.set(size, stay);
      else this.free.delete(size);
    }
    if (destroyed) this.onDestroy();
  }
}

/** Follows an error scope until it is known what happened in it. */
export function track(checks: Set<Promise<unknown>>, scope: Promise<GPUError | null>, report: (error: GPUError | null) => void): void {
  const check: Promise<unknown> = scope.then(report, () => undefined).finally(() => checks.delete(check));
  checks.add(check);
}
