// Commands on their way to the GPU: one encoder and one compute pass for as many launches as possible.  A batch is
// submitted before anything is read or written from outside, and when the running code lets go: the first one of a task
// at once, so that the GPU starts early, later ones when they are twice as large as the one before, or at the end of
// the task.  Of code that does not let go, such as a replay, the GPU gets the first FIRST_LAUNCHES after a wait, then
// twice as many at a time: it computes while the rest is recorded.  Where a launch needs a pipeline that is still being
// made, it waits with all that follows (held-work.ts).

import type { Kernel, Pipelines } from "./pipelines.js";
import type { Pool, PoolBuffer } from "./pool.js";
import { HeldWork } from "./held-work.js";
import { afterTask } from "../../base/tasks.js";
import { type Uniforms, type UniformBlock, newUniformBlock } from "./uniform-ring.js";

export const MOST_LAUNCHES = 256;
const FIRST_LAUNCHES = 32;

/** Takes the time of launches, each in a compute pass of its own. */
export interface PassTimer {
  /** Where the next pass writes when it began and ended. */
  next(): GPUComputePassTimestampWrites;
  /** Called with the encoder of a batch before it is finished, and after it was submitted. */
  finish(encoder: GPUCommandEncoder): void;
  submitted(): void;
  /** The launch, to be run later, as one of whoever asks for it now. */
  kept(launch: () => void): () => void;
}

export class Queue {
  private readonly device: GPUDevice;
  private readonly uniforms: Uniforms;
  private readonly pipelines: Pipelines;
  private readonly pool: Pool;
  private encoder: GPUCommandEncoder | null = null;
  private pass: GPUComputePassEncoder | null = null;
  private current: GPUComputePipeline | null = null;
  private readonly offset = new Uint32Array(1);
  private launches = 0;
  private scheduled = false;
  /** With how many launches a batch is submitted before the end of the task. */
  private enough = 1;
  /** With how many a batch is submitted wherever the task is. */
  private most = FIRST_LAUNCHES;
  private waiting = false;
  /** Who takes the time, while anybody does; see tools/profiler/gpu-timer.ts. */
  private timer: PassTimer | null = null;
  /** Who takes the time of what is asked for now, which may wait for its turn. */
  private asked: PassTimer | null = null;
  /** The ops in the batch, for messages. */
  private names: string[] = [];
  private lastNames: string[] = [];
  private readonly held: HeldWork;

  constructor(device: GPUDevice, uniforms: Uniforms, pipelines: Pipelines, pool: Pool) {
    this.device = device;
    this.uniforms = uniforms;
    this.pipelines = pipelines;
    this.pool = pool;
    this.held = new HeldWork(pipelines, () => {
      this.flush();
      this.pool.release();
    });
  }

  /** Whether work must wait for its turn. */
  get holding(): boolean {
    return this.held.holding;
  }

  /** Work that waits for its turn. */
  private hold(run: () => void, kernel: Kernel | null = null): void {
    this.pool.held = true;
    this.held.add(run, kernel);
  }

  /** Submits all work so far, when its turn has come: what follows is not among it. */
  apart(): void {
    this.most = FIRST_LAUNCHES;
    if (this.holding) this.hold(() => this.flush());
    else this.flush();
  }

  /** Resolves when all work so far is with the GPU; null: it is already. */
  submitted(): Promise<void> | null {
    this.apart();
    return this.holding ? this.held.done() : null;
  }

  /** Adds a launch: uniforms, then workgroups along x, y, z. */
  dispatch(
    kernel: Kernel,
    buffers: readonly PoolBuffer[],
    uniforms: UniformBlock,
    x: number,
    y: number,
    z: number,
    op: string,
  ): void {
    if (this.holding || !kernel.pipeline) {
      const own = [...buffers],
        numbers = newUniformBlock(uniforms.data.slice());
      void this.pipelines.begun(kernel);
      const launch = (): void => this.launch(kernel, own, numbers, x, y, z, op);
      this.hold(this.asked ? this.asked.kept(launch) : launch, kernel);
      return;
    }
    this.launch(kernel, buffers, uniforms, x, y, z, op);
  }

  private launch(
    kernel: Kernel,
    buffers: readonly PoolBuffer[],
    uniforms: UniformBlock,
    x: number,
    y: number,
    z: number,
    op: string,
  ): void {
    if (this.launches >= this.most) {
      this.most = Math.min(2 * this.most, MOST_LAUNCHES);
      this.flush();
    }
    if (!this.uniforms.fits(uniforms)) {
      this.flush();
      this.uniforms.restart();
    }
    const group = this.pipelines.group(kernel.layout, buffers, uniforms.data.length);
    if (this.timer) this.pass?.end();
    const pass = this.timer || !this.pass ? this.begin() : this.pass;
    const pipeline = kernel.pipeline ?? this.pipelines.made(kernel);
    if (this.current !== pipeline) pass.setPipeline((this.current = pipeline));
    this.offset[0] = this.uniforms.place(uniforms);
    pass.setBindGroup(0, group, this.offset, 0, 1);
    pass.dispatchWorkgroups(x, y, z);
    for (let i = 0; i < buffers.length; i++) buffers[i]!.batch = this.pool.batch;
    this.launches++;
    this.schedule();
    if (this.names[this.names.length - 1] !== op) this.names.push(op);
  }

  private begin(): GPUComputePassEncoder {
    this.encoder ??= this.device.createCommandEncoder();
    this.pass = this.encoder.beginComputePass(this.timer ? { timestampWrites: this.timer.next() } : undefined);
    this.current = null;
    return this.pass;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      if (!this.encoder) return;
      if (this.launches >= this.enough || this.launches === 0) {
        this.enough = Math.min(2 * this.enough, MOST_LAUNCHES);
        this.flush();
      }
      this.atEnd();
    });
  }

  /** Submits what is left at the end of the running task. */
  private atEnd(): void {
    if (this.waiting) return;
    this.waiting = true;
    afterTask(() => {
      this.waiting = false;
      this.enough = 1;
      this.flush();
    });
  }

  /** Records copies between these buffers, after all launches so far. */
  copy(buffers: readonly PoolBuffer[], record: (encoder: GPUCommandEncoder) => void): void {
    if (this.holding) return this.hold(() => this.copy(buffers, record));
    this.pass?.end();
    this.pass = null;
    this.schedule();
    record((this.encoder ??= this.device.createCommandEncoder()));
    for (const buffer of buffers) buffer.batch = this.pool.batch;
  }

  /** Writes into a buffer after everything queued that uses it. */
  write(buffer: PoolBuffer, data: ArrayBufferView): void {
    if (this.holding) {
      const own = new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
      return this.hold(() => this.write(buffer, own));
    }
    if (buffer.batch === this.pool.batch) this.flush();
    // Dawn's binding for Node takes no shared memory, in which the CPU's tensors lie where it has threads.
    const { buffer: memory, byteOffset, byteLength } = data,
      own = memory instanceof ArrayBuffer ? data : new Uint8Array(memory, byteOffset, byteLength).slice();
    this.device.queue.writeBuffer(
      buffer.buffer,
      buffer.offset,
      own.buffer as ArrayBuffer,
      own.byteOffset,
      own.byteLength,
    );
  }

  /** Zeroes a buffer, in order. */
  clear(buffer: PoolBuffer): void {
    this.copy([buffer], (encoder) => {
      encoder.clearBuffer(buffer.buffer, buffer.offset, buffer.size);
    });
  }

  flush(): void {
    if (this.holding) return;
    const encoder = this.encoder;
    if (!encoder) return;
    this.pass?.end();
    this.uniforms.write();
    this.timer?.finish(encoder);
    this.device.queue.submit([encoder.finish()]);
    this.timer?.submitted();
    this.encoder = this.pass = this.current = null;
    this.launches = 0;
    this.pool.batch++;
    this.lastNames = this.names;
    this.names = [];
    this.pool.tick();
  }

  /** Lets `timer` take the time of all launches from now on; null: no longer. */
  time(timer: PassTimer | null): void {
    this.asked = timer;
    const begin = (): void => {
      this.flush();
      this.timer = timer;
    };
    if (this.holding) this.hold(begin);
    else begin();
  }

  /** The ops that ran last, for the message of an error that says no name. */
  recent(): string {
    const names = [...new Set([...this.lastNames, ...this.names])];
    return names.length > 6 ? `${names.slice(-6).join(", ")} and others` : names.join(", ");
  }
}
