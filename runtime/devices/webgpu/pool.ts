// Buffers that were freed and wait to be used again.  Sizes are rounded up so that they recur; what nobody asks for in
// a few seconds is destroyed.  Whether a device had the memory for a new one is known later only: what it had no memory
// for is dead, and from then on free buffers are given up before so much is asked for again.

import { COPY_DST, COPY_SRC, STORAGE } from "./flags.js";
import { DeviceError } from "../../base/errors.js";
import type { DeviceBuffer } from "../../tensor/storage.js";
import type { FaultOrigin } from "./deferred-errors.js";

/**
 * A buffer of the pool, or a part of one (arena.ts), as it is bound.  `batch`: the last batch of commands that uses it
 * (queue.ts).
 */
export interface PoolBuffer extends DeviceBuffer {
  readonly id: number;
  readonly buffer: GPUBuffer;
  /** In bytes, as its size. */
  readonly offset: number;
  batch: number;
  since: number;
  /** Which runs of kernels may have noted that its elements are wrong (deferred-errors.ts). */
  faultOrigin: FaultOrigin | null;
  /** Why it cannot be used: the device had no memory for it. */
  dead: Error | null;
  /** Of a part: what giving it back means. */
  leave?(): void;
}

const STAY = 3000,
  CHECK = 1000;
/** For a new buffer of so many bytes room is made by what has been free for so many milliseconds. */
const LARGE = 2 ** 25,
  IDLE = 500;

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
  private readonly onError: (error: Error) => void;
  private readonly checks: Set<Promise<unknown>>;
  nextId = 1;
  private checked = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** The number of the batch being gathered, whose buffers must not be destroyed. */
  batch = 0;
  /** Whether work waits that may use any of the free buffers: none is destroyed then, but by `release`. */
  held = false;
  private given = false;
  freeBytes = 0;
  totalBytes = 0;
  /** Whether a creation has failed, and how many bytes there were room for then. */
  failed = false;
  private room = Infinity;
  /** Bytes of buffers of which it is not known yet whether there was memory for them. */
  private unsure = 0;

  /**
   * `onDestroy`: called after buffers were destroyed; `onError`: with what a creation failed; `flush`: submits what is
   * gathered;
   *  `checks`: the creations whose success is not known yet. */
  constructor(
    device: GPUDevice,
    onDestroy: () => void,
    onError: (error: Error) => void,
    private readonly flush: () => void,
    checks: Set<Promise<unknown>>,
  ) {
    this.checks = checks;
    this.device = device;
    this.onDestroy = onDestroy;
    this.onError = onError;
  }

  /** A buffer of at least `bytes`, with whatever content. */
  take(bytes: number, op: string): PoolBuffer {
    const size = sizeClass(bytes),
      list = this.free.get(size);
    if (list?.length) {
      this.freeBytes -= size;
      return list.pop()!;
    }
    const made: PoolBuffer = {
      buffer: this.create(size, STORAGE | COPY_SRC | COPY_DST, op, bytes, (error) => {
        this.bury(made, error);
      }),
      offset: 0,
      size,
      id: this.nextId++,
      batch: -1,
      since: 0,
      faultOrigin: null,
      dead: null,
    };
    this.totalBytes += size;
    return made;
  }

  /** A new buffer; `failed` is called where there was no memory for it. */
  create(size: number, usage: number, op: string, bytes: number, failed?: (error: Error) => void): GPUBuffer {
    // How much memory there is nobody knows before an allocation fails, and that one is lost: it came with commands
    // that are recorded already.
    if (this.freeBytes > 0) {
      if (this.totalBytes + size > this.room) this.giveUp();
      else if (size >= LARGE) this.trim(IDLE);
    }
    this.device.pushErrorScope("out-of-memory");
    const buffer = this.device.createBuffer({ size, usage }),
      counted = failed ? size : 0;
    this.unsure += counted;
    track(this.checks, this.device.popErrorScope(), (error) => {
      const held = this.totalBytes - this.unsure;
      this.unsure -= counted;
      if (!error) return;
      const found = new DeviceError(
        `${op}: out of memory on the GPU: ${bytes} bytes asked for, where tensors hold ${held - this.freeBytes} and ${this.freeBytes} were free`,
      );
      failed?.(found);
      this.room = held;
      this.giveUp();
      this.onError(found);
    });
    return buffer;
  }

  /** Takes a buffer out that the device had no memory for. */
  private bury(buffer: PoolBuffer, error: Error): void {
    const { size } = buffer,
      list = this.free.get(size),
      at = list?.indexOf(buffer) ?? -1;
    this.failed = true;
    buffer.dead = error;
    this.totalBytes -= size;
    if (at < 0) return;
    list!.splice(at, 1);
    this.freeBytes -= size;
  }

  /** Destroys all that is free. */
  private giveUp(): void {
    this.given = this.held;
    this.flush();
    this.trim(-1);
  }

  /** The work that waited is with the GPU. */
  release(): void {
    this.held = false;
    if (this.given) this.giveUp();
  }

  give(buffer: PoolBuffer): void {
    if (buffer.leave) return buffer.leave();
    if (buffer.dead) return buffer.buffer.destroy();
    const list = this.free.get(buffer.size);
    buffer.faultOrigin = null;
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
    if (this.held) return;
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
export function track(
  checks: Set<Promise<unknown>>,
  scope: Promise<GPUError | null>,
  report: (error: GPUError | null) => void,
): void {
  const check: Promise<unknown> = scope.then(report, () => undefined).finally(() => checks.delete(check));
  checks.add(check);
}
