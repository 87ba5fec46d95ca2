// The uniforms of launches in one large buffer on the GPU.  A launch that is run again finds its uniforms where they are:
// only new ones are written, in one go when their batch is submitted.  When the buffer is full it begins anew.

import { COPY_DST, UNIFORM } from "./flags.js";
const CAPACITY = 1 << 20;

/** The uniforms of a launch, and where they are: at byte `at`, as long as the buffer is in its `round`. */
export interface UniformBlock {
  /** Words of 32 bits. */
  readonly data: number[];
  at: number;
  round: number;
}

export function newUniformBlock(data: number[]): UniformBlock {
  return { data, at: 0, round: -1 };
}

export class Uniforms {
  readonly buffer: GPUBuffer;
  private readonly device: GPUDevice;
  private readonly align: number;
  private readonly bytes = new ArrayBuffer(CAPACITY);
  private readonly u32 = new Uint32Array(this.bytes);
  private round = 0;
  private used = 0;
  private written = 0;

  constructor(device: GPUDevice) {
    this.device = device;
    this.align = device.limits.minUniformBufferOffsetAlignment;
    this.buffer = device.createBuffer({ size: CAPACITY, usage: UNIFORM | COPY_DST });
  }

  /**
   * Whether uniforms are there already, or there is room for them; else the batch must be submitted and `restart` called.
   */
  fits(uniforms: UniformBlock): boolean {
    return uniforms.round === this.round || this.used + bindingSize(uniforms.data.length) <= CAPACITY;
  }

  /** Where uniforms are, in bytes; puts them there first if they are not. */
  place(uniforms: UniformBlock): number {
    if (uniforms.round !== this.round) {
      uniforms.at = this.used;
      uniforms.round = this.round;
      this.u32.set(uniforms.data, this.used >> 2);
      this.used += Math.ceil(bindingSize(uniforms.data.length) / this.align) * this.align;
    }
    return uniforms.at;
  }

  restart(): void {
    this.round++;
    this.used = this.written = 0;
  }

  /** Writes new uniforms; the GPU keeps the order of this and the submit that follows. */
  write(): void {
    if (this.used === this.written) return;
    const end = Math.min(this.used, CAPACITY);
    this.device.queue.writeBuffer(this.buffer, this.written, this.bytes, this.written, end - this.written);
    this.written = this.used;
  }
}

/** The bytes with which uniforms are bound: few different sizes, so that bind groups recur. */
export function bindingSize(uniforms: number): number {
  let size = 64;
  while (size < uniforms * 4) size *= 2;
  return size;
}
