// Values from the GPU: a copy into a buffer that can be mapped, and the wait for it.

import { COPY_DST, MAP_READ, READ } from "./flags.js";
import type { Pool, PoolBuffer } from "./pool.js";
import { sizeClass } from "./pool.js";
import type { Queue } from "./queue.js";

const MOST_KEPT = 8,
  LARGEST_KEPT = 1 << 24;

export class Readback {
  private readonly queue: Queue;
  private readonly pool: Pool;
  private readonly free: GPUBuffer[] = [];

  constructor(queue: Queue, pool: Pool) {
    this.queue = queue;
    this.pool = pool;
  }

  /**
   * The bytes from `start` (a multiple of 4), `size` of them, once everything queued so far has run; then the first
   * `noted` of `fault`,
   *  which are zeros from then on. */
  async read(
    buffer: PoolBuffer | null,
    start: number,
    size: number,
    fault: PoolBuffer | null,
    noted: number,
  ): Promise<ArrayBuffer> {
    const all = size + noted,
      staging = this.take(all);
    this.queue.copy([...(buffer ? [buffer] : []), ...(noted ? [fault!] : [])], (encoder) => {
      if (buffer) encoder.copyBufferToBuffer(buffer.buffer, buffer.offset + start, staging, 0, size);
      if (!noted) return;
      encoder.copyBufferToBuffer(fault!.buffer, 0, staging, size, noted);
      encoder.clearBuffer(fault!.buffer, 0, noted);
    });
    const submitted = this.queue.submitted();
    if (submitted) await submitted;
    await staging.mapAsync(READ, 0, all);
    const bytes = staging.getMappedRange(0, all).slice(0);
    staging.unmap();
    if (this.free.length < MOST_KEPT && staging.size <= LARGEST_KEPT) this.free.push(staging);
    else staging.destroy();
    return bytes;
  }

  private take(size: number): GPUBuffer {
    const at = this.free.findIndex((b) => b.size >= size && b.size <= 4 * size + 4096);
    if (at >= 0) return this.free.splice(at, 1)[0]!;
    // Where there is no memory for it, commands that name it are lost: those before it are not to be among them.
    this.queue.apart();
    return this.pool.create(sizeClass(size), MAP_READ | COPY_DST, "reading", size);
  }
}
