// The words of all launches of a batch, gathered in one array and written to the GPU in one go when the batch is submitted.

import { COPY_DST, UNIFORM } from "./flags.js";
const CAPACITY = 1 << 18;

export class Uniforms {
  readonly buffer: GPUBuffer;
  private readonly device: GPUDevice;
  private readonly align: number;
  private readonly bytes = new ArrayBuffer(CAPACITY);
  private readonly u32 = new Uint32Array(this.bytes);
  private used = 0;

  constructor(device: GPUDevice) {
    this.device = device;
    this.align = device.limits.minUniformBufferOffsetAlignment;
    this.buffer = device.createBuffer({ size: CAPACITY, usage: UNIFORM | COPY_DST });
  }

  /** Whether words that are bound with `size` bytes fit into this batch. */
  fits(size: number): boolean {
    return this.used + size <= CAPACITY;
  }

  /** Puts words into the batch; answers their offset in bytes. */
  add(words: Uint32Array, size: number): number {
    const at = this.used;
    this.u32.set(words, at >> 2);
    this.used += Math.ceil(size / this.align) * this.align;
    return at;
  }

  /** Writes the batch's words; the queue keeps the order of this and the submit that follows. */
  write(): void {
    if (this.used) this.device.queue.writeBuffer(this.buffer, 0, this.bytes, 0, Math.min(this.used, CAPACITY));
    this.used = 0;
  }
}

/** The bytes with which words are bound: few different sizes, so that bind groups recur. */
export function bindingSize(words: number): number {
  let size = 64;
  while (size < words * 4) size *= 2;
  return size;
}
