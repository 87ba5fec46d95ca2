// The memory behind tensors: a block of linear memory or a typed array on the CPU, a pooled buffer on a GPU, shared by
// views and counted.

import type { Elements } from "../program/compiled-op.js";
import type { Device, Strided } from "../devices/device.js";
import { type DType, seenAs } from "../elements/dtype.js";
import { capturing } from "../base/capturing.js";
import { OpError } from "../base/errors.js";
import { is_inference_mode_enabled } from "../tape/grad-mode.js";
import { type Origin, originOf, watch } from "./memory.js";
import { titled } from "../base/class-name.js";

/** What a device holds elements in: devices/webgpu/pool.ts, devices/cpu/blocks.ts. */
export interface DeviceBuffer {
  readonly size: number;
}

/**
 * What outlives a storage until the collector's word of its end has come: what is to be given back then, and no
 * elements, for those
 *  the collector takes itself. */
export class Cell {
  readonly device: Device;
  readonly bytes: number;
  readonly origin: Origin;
  buffer: DeviceBuffer | null;
  freed = false;

  constructor(device: Device, buffer: DeviceBuffer | null, bytes: number, op: string) {
    this.device = device;
    this.buffer = buffer;
    this.bytes = bytes;
    this.origin = originOf(device.type, op);
  }
}

/**
 * What nodes of the tape want to find unchanged later, though nobody need leave it so: shared with the storage until
 * somebody changes that.
 */
export interface Kept {
  holders: number;
  /** The elements as they were, once they are no longer the storage's own. */
  aside: Storage | null;
}

/**
 * The memory that tensors lie in, on one device and of one type: a tensor and its views have the same.
 *
 * @example
 * const x = torch.ones([2, 3]);
 * [x.t().storage === x.storage, x.storage.device.type]  // [true, "cpu"]
 */
export class Storage {
  readonly device: Device;
  readonly dtype: DType;
  /** Elements. */
  readonly length: number;
  readonly cell: Cell;
  /** Counts in-place changes; autograd compares it with what it was when a tensor was saved. */
  version = 0;
  /** How many tensors took other memory instead: `set_data`. */
  departures = 0;
  kept: Kept | null = null;
  /** Whether it was made in inference mode, so that nothing on it takes part in a graph. */
  readonly inference = is_inference_mode_enabled();
  private references = 0;
  private array: Elements | null;

  /** `op`: what it is made for. */
  constructor(
    device: Device,
    dtype: DType,
    length: number,
    elements: Elements | null,
    buffer: DeviceBuffer | null,
    bytes: number,
    op: string,
  ) {
    this.device = device;
    this.dtype = dtype;
    this.length = length;
    this.array = elements;
    this.cell = new Cell(device, buffer, bytes, op);
    watch(this, this.cell);
    capturing?.made(this);
  }

  get disposed(): boolean {
    return this.cell.freed;
  }

  /**
   * The typed array of a storage on the CPU.  Whatever makes tensors may take its memory from it: asked for anew then,
   * it is the one that is right.
   */
  get elements(): Elements {
    const { array } = this;
    capturing?.read(this);
    return array?.length === this.length ? array : (this.array = this.device.view!(this));
  }
  set elements(array: Elements) {
    this.array = array;
  }

  /** The same memory as elements of the type that a tensor on it has, which `view(dtype)` may have changed. */
  as(dtype: DType): Elements {
    return seenAs(this.elements, dtype);
  }

  /** Whether more than one tensor lies in it. */
  get shared(): boolean {
    return this.references > 1;
  }

  retain(): void {
    this.references++;
  }

  /** Gives one reference back; the memory goes back to its device with the last. */
  release(): void {
    if (--this.references === 0) this.device.free(this);
  }

  /** Before elements are changed in place: counts that, and sets aside what somebody keeps. */
  change(): void {
    this.version++;
    capturing?.changed(this);
    const { kept, device, dtype, length } = this;
    if (!kept) return;
    this.kept = null;
    if (kept.holders === 0 || length === 0) return;
    const aside = device.allocate(dtype, length, "kept for backward"),
      as = (storage: Storage): Strided => ({ storage, dtype, shape: [length], strides: [1], offset: 0 });
    device.copy(as(aside), as(this));
    aside.retain();
    kept.aside = aside;
  }

  /** Exchanges the content of two storages of equal type and length. */
  swap(other: Storage): void {
    if (capturing?.swapped(this, other) === false) return;
    const a = this.cell,
      b = other.cell;
    [this.array, other.array] = [other.array, this.array];
    [a.buffer, b.buffer] = [b.buffer, a.buffer];
  }

  check(op: string): void {
    if (this.cell.freed)
      throw new OpError(`${op}: the tensor's memory was freed (it was disposed of, or left a tidy scope)`);
    this.device.alive(op, this);
  }

  /** All elements, in the order in memory. */
  async mapReadAsync(): Promise<Elements> {
    this.check("mapReadAsync");
    return this.device.download(this, 0, this.length);
  }
}
titled(Storage, "Storage");
