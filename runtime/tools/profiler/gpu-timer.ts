// When launches began and ended on the GPU: timestamps around compute passes of one launch each, read when all is done.
// The GPU's clock has an origin of its own; times are moved so that nothing begins before it was submitted.

import type { WebGpuDevice } from "../../devices/webgpu/gpu-device.js";
import { COPY_DST, MAP_READ, READ } from "../../devices/webgpu/flags.js";
import { MOST_LAUNCHES, type PassTimer } from "../../devices/webgpu/queue.js";

const QUERY_RESOLVE = 0x200,
  COPY_SRC = 0x4;

/** A launch: microseconds on the host's clock once the timer was read. */
export interface Launched {
  begin: number;
  end: number;
}

interface Batch {
  readonly staging: GPUBuffer;
  readonly launches: Launched[];
  submitted: number;
}

export const now = (): number => performance.now() * 1000;

export class GpuTimer implements PassTimer {
  private readonly device: WebGpuDevice;
  private readonly queries: GPUQuerySet;
  private readonly resolved: GPUBuffer;
  /** The launches of the batch being gathered, and who gets them. */
  private launches: Launched[] = [];
  private last: Batch | null = null;
  private readonly batches: Batch[] = [];
  /** Where the launches to come belong. */
  owner: Launched[] | null = null;

  constructor(device: WebGpuDevice) {
    this.device = device;
    const count = 2 * MOST_LAUNCHES;
    this.queries = device.gpu.createQuerySet({ type: "timestamp", count });
    this.resolved = device.gpu.createBuffer({ size: 8 * count, usage: QUERY_RESOLVE | COPY_SRC });
    device.time(this);
  }

  /** Whether a device can take the time. */
  static serves(device: WebGpuDevice): boolean {
    return device.gpu.features.has("timestamp-query");
  }

  next(): GPUComputePassTimestampWrites {
    const at = 2 * this.launches.length,
      launch = { begin: 0, end: 0 };
    this.launches.push(launch);
    this.owner?.push(launch);
    return { querySet: this.queries, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 };
  }

  finish(encoder: GPUCommandEncoder): void {
    const { launches } = this,
      size = 16 * launches.length;
    this.last = null;
    if (!size) return;
    const staging = this.device.gpu.createBuffer({ size, usage: MAP_READ | COPY_DST });
    encoder.resolveQuerySet(this.queries, 0, 2 * launches.length, this.resolved, 0);
    encoder.copyBufferToBuffer(this.resolved, 0, staging, 0, size);
    this.batches.push((this.last = { staging, launches, submitted: 0 }));
    this.launches = [];
  }

  submitted(): void {
    if (this.last) this.last.submitted = now();
  }

  kept(launch: () => void): () => void {
    const { owner } = this;
    return () => {
      const now = this.owner;
      this.owner = owner;
      try {
        launch();
      } finally {
        this.owner = now;
      }
    };
  }

  /** Fills in the times of all launches so far. */
  async read(): Promise<void> {
    const batches = this.batches.splice(0);
    let shift = -Infinity;
    for (const { staging, launches, submitted } of batches) {
      await staging.mapAsync(READ);
      const ticks = new BigUint64Array(staging.getMappedRange()),
        origin = (this.origin ??= ticks[0]!);
      launches.forEach((launch, i) => {
        launch.begin = Number(ticks[2 * i]! - origin) / 1000;
        launch.end = Math.max(launch.begin, Number(ticks[2 * i + 1]! - origin) / 1000);
      });
      shift = Math.max(shift, submitted - launches[0]!.begin);
      staging.unmap();
      staging.destroy();
    }
    this.shift ??= shift;
    for (const { launches } of batches) {
      for (const launch of launches) {
        launch.begin += this.shift;
        launch.end += this.shift;
      }
    }
  }

  private origin: bigint | null = null;
  private shift: number | null = null;

  close(): void {
    this.device.time(null);
    this.queries.destroy();
    this.resolved.destroy();
  }
}
