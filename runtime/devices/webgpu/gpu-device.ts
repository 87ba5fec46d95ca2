// The WebGPU device: memory from the pool, launches into the queue, values back; and what happens when the GPU fails.

import type { Call, Schedule } from "../../../host/model.js";
import type { Facts } from "../../../host/writer.js";
import { schedules } from "../../../ops/data/schedules.js";
import { copied, oneRead } from "../slow-warnings.js";
import type { CompiledOp, Elements } from "../../program/compiled-op.js";
import type { Copier, Device, Layout, Prepared, RandomWords, Strided } from "../device.js";
import { type DType, converter, deviceBytes, newElements } from "../../elements/dtype.js";
import { DeviceError } from "../../base/errors.js";
import { collect } from "./buckets.js";
import { preparedCopy } from "./gpu-copy.js";
import { onReport, unwatch } from "../../tensor/memory.js";
import { numelOf } from "../../base/shape.js";
import { type Cell, Storage } from "../../tensor/storage.js";
import { GcPressure } from "../gc-pressure.js";
import { bytesWithin, decode, encode } from "./element-layout.js";
import { Pipelines } from "./pipelines.js";
import { Pool, type PoolBuffer } from "./pool.js";
import { type PassTimer, Queue } from "./queue.js";
import { Readback } from "./readback.js";
import { type Look, MOST_RUNS, type FaultOrigin, Faults, WORDS } from "./deferred-errors.js";
import { Uniforms, newUniformBlock } from "./uniform-ring.js";
import { Failures } from "./failures.js";
import { type GpuPrepared, factsOf, prepared, reworded } from "./prepared.js";

let devices = 0;

export class WebGpuDevice implements Device {
  static onMade: ((device: WebGpuDevice) => void) | null = null; // told of each device
  readonly type = "webgpu";
  readonly number = ++devices;
  readonly gpu: GPUDevice;
  readonly pool: Pool;
  private readonly uniforms: Uniforms;
  readonly pipelines: Pipelines;
  readonly queue: Queue;
  /** Sees to it that a launch may bind its buffers, where some are parts of one; see arena.ts. */
  untangle:
    | ((
        device: this,
        buffers: PoolBuffer[],
        written: readonly boolean[],
        storages: readonly (Storage | null)[],
        slots?: readonly number[],
      ) => void)
    | null = null;
  joined: NonNullable<Device["joined"]> | null = null;
  stacked: NonNullable<Device["stacked"]> | null = null;
  readonly collect = collect;
  private readonly readback: Readback;
  readonly facts: Facts;
  /** How kernels run: what was found to be faster on this device (benchmark.ts), then what is for all. */
  rules: Schedule[] = schedules;
  onPrepared: ((prepared: GpuPrepared) => void) | null = null; // told of each new program
  readonly largest: number; // bytes of a buffer that a kernel can bind
  private readonly pressure = new GcPressure(1 << 14);
  private absent: PoolBuffer | null = null;
  /** Where kernels tell what is wrong (codegen/wgsl/checks.wgsl), whose error that is, and the looks under way. */
  private fault: PoolBuffer | null = null;
  readonly faults = new Faults();
  private looks: Promise<unknown> = Promise.resolve();
  private readonly failures = new Failures();
  private readings = 0;
  private readonly checks = new Set<Promise<unknown>>();
  /** Why the device is gone, once it is. */
  lost: string | null = null;

  /** copyOp: the op `copy`, between layouts and types.  `onLost` is called when the GPU goes away. */
  constructor(
    gpu: GPUDevice,
    private readonly copyOp: CompiledOp,
    onLost: () => void,
  ) {
    this.gpu = gpu;
    const { limits } = gpu;
    this.facts = factsOf(gpu);
    this.largest = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    const fatal = (error: Error): void => {
      this.failures.fatal(error);
    };
    this.pool = new Pool(
      gpu,
      () => this.pipelines.forget(),
      fatal,
      () => this.queue.flush(),
      this.checks,
    );
    this.uniforms = new Uniforms(gpu);
    const refused = (error: GPUError, what: string) => {
      fatal(new DeviceError(`${what}: ${error.message}`));
    };
    this.pipelines = new Pipelines(gpu, this.uniforms.buffer, refused, this.checks);
    this.queue = new Queue(gpu, this.uniforms, this.pipelines, this.pool);
    this.readback = new Readback(this.queue, this.pool);
    gpu.addEventListener?.("uncapturederror", ({ error: { message } }) => {
      this.failures.told(message, this.queue.recent());
    });
    gpu.lost?.then(
      (info) => {
        this.lost = `${info.reason || "unknown"}: ${info.message}`;
        onLost();
      },
      () => undefined,
    );
    onReport("webgpu", () => ({ poolBytes: this.pool.freeBytes, deviceBytes: this.pool.totalBytes }));
    WebGpuDevice.onMade?.(this);
  }

  /** Whether it is a CPU that plays a GPU. */
  get software(): boolean {
    return this.facts.software;
  }

  alive(op: string, storage?: Storage): void {
    if (this.lost !== null) {
      throw new DeviceError(
        `${op}: the GPU was lost (${this.lost}); await initWebGPUAsync() for a new one, its tensors start anew`,
      );
    }
    if (this.pool.failed && storage) this.living(storage);
  }

  room(dtype: DType, length: number, op: string): number {
    this.alive(op);
    return bytesWithin(this.largest, this.gpu, dtype, length, op);
  }

  allocate(dtype: DType, length: number, op: string): Storage {
    return this.hold(this.pool.take(this.room(dtype, length, op), op), dtype, length, op);
  }

  /** A storage in a buffer. */
  hold(buffer: PoolBuffer, dtype: DType, length: number, op: string): Storage {
    const storage = new Storage(this, dtype, length, null, buffer, buffer.size, op);
    this.pressure.add(buffer.size);
    return storage;
  }

  upload(elements: Elements, dtype: DType, op: string): Storage {
    if (elements.length > 1) copied(elements);
    const encoded = encode(elements, dtype, op),
      storage = this.allocate(dtype, elements.length, op);
    if (elements.length) this.queue.write(storage.cell.buffer as PoolBuffer, encoded);
    return storage;
  }

  async download(storage: Storage, start: number, end: number): Promise<Elements> {
    this.alive("reading");
    this.living(storage);
    const number = ++this.readings;
    if (end - start === 1) oneRead();
    const { dtype } = storage,
      each = deviceBytes(dtype),
      from = Math.floor((start * each) / 4) * 4;
    const size = Math.ceil((end * each - from) / 4) * 4;
    const buffer = storage.cell.buffer as PoolBuffer,
      origin = this.faults.of(buffer),
      reading = this.transfer(buffer, from, size),
      { looks } = this;
    let bytes: ArrayBuffer;
    try {
      bytes = await reading;
    } catch (error) {
      await this.settle("reading", number);
      throw new DeviceError(`reading (after ${this.queue.recent()}): ${(error as Error).message}`);
    }
    await this.settle("reading", number);
    if (origin) {
      await looks;
      const error = this.faults.error(origin);
      if (error) throw error;
    }
    await this.relax();
    return decode(bytes, start * each - from, dtype, end - start);
  }

  /** Waits for what the device has to say about the work so far, and throws it. */
  private async settle(op: string, reading: number): Promise<void> {
    await Promise.all(this.checks);
    this.alive(op);
    this.failures.answer(reading, this.readings);
  }

  /** Throws where a storage has no memory because the device had none. */
  private living({ cell }: Storage): void {
    const { dead } = cell.buffer as PoolBuffer;
    if (dead) throw dead;
  }

  /** The bytes of a buffer, and with them what kernels noted since it was looked at. */
  private transfer(buffer: PoolBuffer | null, start: number, size: number): Promise<ArrayBuffer> {
    const look = this.faults.look(),
      bytes = this.readback.read(buffer, start, size, this.fault, look ? 4 * WORDS * look.runs.length : 0);
    if (look) this.looks = Promise.all([this.looks, this.take(look, bytes, size)]);
    return bytes;
  }

  private async take(look: Look, bytes: Promise<ArrayBuffer>, size: number): Promise<void> {
    // Where the reading fails, for want of memory, nothing was copied nor cleared.
    const words = await bytes.then(
      (all) => new Int32Array(all, size),
      async () => {
        try {
          return new Int32Array(await this.readback.read(null, 0, 0, this.fault, 4 * WORDS * look.runs.length));
        } catch {
          return null;
        }
      },
    );
    this.faults.take(look, words);
  }

  /** Where the elements of all these come from. */
  private origin(storages: readonly (Storage | null)[]): FaultOrigin | null {
    let origin: FaultOrigin | null = null;
    for (let i = 0; i < storages.length; i++) {
      const buffer = storages[i]?.cell.buffer as PoolBuffer | null | undefined;
      if (buffer?.faultOrigin) origin = this.faults.both(origin, this.faults.of(buffer));
    }
    return origin;
  }

  faultOf({ cell }: Storage): FaultOrigin | null {
    return this.faults.used ? this.faults.of(cell.buffer as PoolBuffer) : null;
  }

  blame({ cell }: Storage, origin: FaultOrigin | null): void {
    const buffer = cell.buffer as PoolBuffer;
    if (origin) buffer.faultOrigin = this.faults.both(this.faults.of({ faultOrigin: origin }), this.faults.of(buffer));
  }

  forgive({ cell }: Storage): void {
    (cell.buffer as PoolBuffer).faultOrigin = null;
  }

  free(storage: Storage): void {
    const { cell } = storage,
      buffer = cell.buffer as PoolBuffer | null;
    unwatch(cell);
    cell.buffer = null;
    if (buffer && this.lost === null) this.pool.give(buffer);
    this.pressure.remove(cell.bytes);
  }

  reclaim(cell: Cell): void {
    this.pressure.found(cell.bytes);
    if (cell.buffer) this.pool.give(cell.buffer as PoolBuffer);
  }

  relax(): Promise<void> | null {
    return this.pressure.relax();
  }

  fill(storage: Storage, value: number): void {
    const { dtype, length } = storage;
    if (length === 0) return;
    if (Number(value) === 0) {
      const buffer = storage.cell.buffer as PoolBuffer;
      this.queue.clear(buffer);
      buffer.faultOrigin = null;
      return;
    }
    const one = this.upload(newElements(dtype, 1).fill(converter(dtype)(value)), dtype, "fill");
    this.copy(
      { storage, dtype, shape: [length], strides: [1], offset: 0 },
      { storage: one, dtype, shape: [length], strides: [0], offset: 0 },
    );
    this.free(one);
  }

  copy(target: Strided, source: Strided): void {
    this.copier(target, source)(target.storage, source.storage);
  }

  copier(target: Layout, source: Layout): Copier {
    const prepared = preparedCopy(this, this.copyOp, target, source),
      { op } = this.copyOp,
      storages: (Storage | null)[] = op.slots.map(() => null),
      length = numelOf(target.shape);
    const copy = (to: Storage, from: Storage): void => {
      // Who replaces all elements is not to blame for those that were there.
      if (length === to.length && to !== from) (to.cell.buffer as PoolBuffer).faultOrigin = null;
      storages[op.programs[0]!.inputs[0]!] = from;
      storages[op.outputs[0]!] = to;
      this.execute(prepared, storages, null);
      storages.fill(null);
    };
    return Object.assign(copy, { prepared });
  }

  prepare(op: CompiledOp, program: number, call: Call, wanted: readonly number[]): GpuPrepared {
    const made = prepared(this.facts, this.rules, this.pipelines, op, program, call, wanted);
    this.onPrepared?.(made);
    return made;
  }

  postpone(): () => void {
    return this.pipelines.postpone();
  }

  compile(prepared: readonly Prepared[]): Promise<unknown> {
    return this.pipelines.compile(
      (prepared as GpuPrepared[]).flatMap(({ launches }) => launches.map(({ kernel }) => kernel)),
    );
  }

  reword(before: Prepared, call: Call): GpuPrepared | null {
    return reworded(before as GpuPrepared, call);
  }

  execute(prepared: Prepared, storages: readonly (Storage | null)[], random: RandomWords | null): void {
    const { launches, temps, zeros, writes, mayFault, op } = prepared as GpuPrepared,
      name = op.op.name;
    this.alive(name);
    if (this.pool.failed) for (const storage of storages) if (storage) this.living(storage);
    if (this.faults.full) void this.transfer(null, 0, 0).catch(() => undefined);
    const place = this.faults.next;
    if (mayFault || this.faults.used) {
      const from = this.origin(storages),
        origin = mayFault ? this.faults.run(op, from) : from;
      for (const slot of writes) if (storages[slot]) (storages[slot].cell.buffer as PoolBuffer).faultOrigin = origin;
    }
    const made = temps.length ? new Map<number, PoolBuffer>() : null;
    for (const { slot, bytes } of temps) made!.set(slot, this.pool.take(Math.max(bytes, 4), name));
    for (const slot of zeros) {
      const storage = storages[slot],
        buffer = storage ? (storage.cell.buffer as PoolBuffer) : made?.get(slot);
      if (buffer) this.queue.clear(buffer);
    }
    for (const { launch, kernel, slots, uniforms, seeds, groups, buffers } of launches) {
      for (let i = 0; i < slots.length; i++) {
        const storage = slots[i]! < 0 ? null : storages[slots[i]!];
        buffers[i] = storage ? (storage.cell.buffer as PoolBuffer) : (made?.get(slots[i]!) ?? this.noTensor(slots[i]!));
      }
      this.untangle?.(this, buffers, launch.written, storages, slots);
      if (random && seeds >= 0) {
        uniforms.data[seeds] = random.seedLow;
        uniforms.data[seeds + 1] = random.seedHigh;
        uniforms.data[seeds + 2] = random.call;
        uniforms.round = -1;
      }
      if (launch.fault >= 0) {
        uniforms.data[launch.fault] = place;
        uniforms.round = -1;
      }
      this.queue.dispatch(kernel, buffers, uniforms, groups[0]!, groups[1]!, groups[2]!, name);
    }
    if (made) for (const buffer of made.values()) this.pool.give(buffer);
  }

  /**
   * Runs a kernel of a user's own once: its uniforms, then these storages, of which it changes those
   * `written`.
   */
  launch(
    code: string,
    storages: readonly Storage[],
    written: readonly boolean[],
    uniforms: number[],
    groups: readonly [number, number, number],
    name: string,
  ): void {
    this.alive(name);
    const kernel = this.pipelines.kernel(code, written, name),
      buffers = storages.map((storage) => storage.cell.buffer as PoolBuffer);
    this.untangle?.(this, buffers, written, storages);
    const origin = this.origin(storages);
    buffers.forEach((buffer, i) => {
      if (written[i]) buffer.faultOrigin = origin;
    });
    this.queue.dispatch(kernel, buffers, newUniformBlock(uniforms), ...groups, name);
  }

  /**
   * What is bound as slot -2, and for a tensor that was not saved: a kernel that makes several gradients may read it
   * for one not asked for.
   */
  private noTensor(slot: number): PoolBuffer {
    if (slot !== -2) return (this.absent = usable(this.absent) ?? this.pool.take(4, "absent"));
    if (!usable(this.fault)) this.queue.clear((this.fault = this.pool.take(4 * WORDS * MOST_RUNS, "fault")));
    return this.fault!;
  }

  /** Lets `timer` take the time of launches; null: no longer. */
  time(timer: PassTimer | null): void {
    this.queue.time(timer);
  }

  async synchronize(): Promise<void> {
    this.alive("synchronize");
    const number = ++this.readings;
    await this.queue.submitted();
    await this.gpu.queue.onSubmittedWorkDone();
    await this.settle("synchronize", number);
  }
}

const usable = (buffer: PoolBuffer | null): PoolBuffer | null => (buffer?.dead ? null : buffer);
