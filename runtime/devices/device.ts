// What a device is to the rest of the runtime, and which there are.  How they work: devices/cpu/cpu-device.ts, webgpu/.

import type { Call } from "../../host/model.js";
import type { CompiledOp, Elements } from "../program/compiled-op.js";
import { cpu } from "./cpu/cpu-device.js";
import type { DType } from "../elements/dtype.js";
import { DeviceError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import type { Cell, Storage } from "../tensor/storage.js";
import type { Tensor } from "../tensor/tensor.js";

/** A call of one program of an op, ready to be repeated: see dispatch/call.ts. */
export interface Prepared {
  readonly op: CompiledOp;
  readonly program: number;
  readonly call: Call;
  /** The slots of given tensors that it writes. */
  readonly changes: readonly number[];
  /** Whether the device runs several of its kernels as one, which it could not if they were taken apart. */
  readonly together?: boolean;
}

/**
 * What is wrong with elements, known once a device is read, and whether there is anything is known by then; see
 * devices/webgpu/deferred-errors.ts.
 */
export interface Fault {
  readonly error: Error | null;
}

/** Elements of a storage as a tensor sees them. */
export interface Strided extends Layout {
  readonly storage: Storage;
}
export interface Layout {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}
export interface Copier {
  (target: Storage, source: Storage): void;
  readonly prepared: Prepared;
}

/** What an op over lists gets for one of its parameters. */
export type List = readonly (Tensor | null)[];
/** `count` places of lists as one: a tensor for each list. */
export interface Joined {
  readonly count: number;
  readonly tensors: readonly Tensor[];
}

export interface Device {
  readonly type: "cpu" | "webgpu" | "meta";
  /** A small number for keys of caches. */
  readonly number: number;
  /** Throws when the device is gone, or had no memory for the storage. */
  alive(op: string, storage?: Storage): void;
  /** Memory for `length` elements; their values are whatever was there.  Throws when the device cannot hold it. */
  allocate(dtype: DType, length: number, op: string): Storage;
  /** Throws what `allocate` would, of a device that holds less than the host; see `checkRoom`. */
  room?(dtype: DType, length: number, op: string): void;
  /** New memory with these elements (of `dtype`'s typed array). */
  upload(elements: Elements, dtype: DType, op: string): Storage;
  /** The elements from `start` up to `end`.  Rejects with what went wrong on the device since the last reading. */
  download(storage: Storage, start: number, end: number): Promise<Elements>;
  free(storage: Storage): void;
  /** Of a device whose elements the program can see: those of a storage, whose array is none or out of date. */
  view?(storage: Storage): Elements;
  /** Takes back memory whose storage was collected. */
  reclaim?(cell: Cell): void;
  /** Makes every element `value`, which is one of the storage's type. */
  fill(storage: Storage, value: number): void;
  /**
   * Writes the elements of `source` to those of `target`: both on this device, of one shape, of any strides and types.
   */
  copy(target: Strided, source: Strided): void;
  /** What copies elements of these layouts, where that is worth making once. */
  copier?(target: Layout, source: Layout): Copier;
  /** Whatever running one program of a call needs, made once and kept in the plan cache. */
  prepare(op: CompiledOp, program: number, call: Call, wanted: readonly number[]): Prepared;
  /** The same for a call that differs in numbers only; null where that changes more than uniforms. */
  reword(prepared: Prepared, call: Call): Prepared | null;
  /** Runs it; `storages[slot]` is the memory of each slot that is given or fresh. */
  execute(prepared: Prepared, storages: readonly (Storage | null)[], random: RandomWords | null): void;
  /** Where memory has piled up: a promise that lets the garbage collector give some back. */
  relax(): Promise<void> | null;
  /**
   * The tensors of lists at the places from `from` on, as long as they lie side by side and at like distances in all
   * lists, and `fits` says
   *  yes of a further place: one long tensor for each list.  Null where that is one place only.  Only devices on which
   * something was
   *  gathered have it. */
  joined?: ((lists: readonly List[], from: number, fits: (place: number) => boolean) => Joined | null) | null;
  /** The same for tensors of one shape: with a first axis that counts the places. */
  stacked?: ((lists: readonly List[], from: number) => Joined | null) | null;
  /**
   * Moves an optimizer's tensors side by side where they can be.  The first list are parameters, the second their
   * gradients, the k-th of the others what belongs to the k-th parameter.
   */
  collect?(owner: object, lists: readonly (readonly Tensor[])[]): void;
  /**
   * Which kernels may have noted a fault in a storage, and that another one depends on those.  Only
   * devices that are
   *  not waited for have them. */
  faultOf?(storage: Storage): Fault | null;
  blame?(storage: Storage, fault: Fault | null): void;
  /** No fault that was noted of a storage concerns what is written there now. */
  forgive?(storage: Storage): void;
  /** From now on kernels are compiled when they first run, until what is answered is called. */
  postpone?(): () => void;
  /** Compiles the kernels of these that are not yet, all at a time, while others run. */
  compile?(prepared: readonly Prepared[]): Promise<unknown>;
  /** Resolves when everything queued has run. */
  synchronize(): Promise<void>;
}

/** The key and counter of a call that draws random numbers. */
export interface RandomWords {
  readonly seedLow: number;
  readonly seedHigh: number;
  readonly call: number;
}

/**
 * Devices beside the CPU, which is always there: it is named here, not registered, so that no bundler leaves it out.
 */
const others = new Map<string, Device>();
let current: Device | null = null;

export function registerDevice(device: Device, name: string = device.type): void {
  others.set(name, device);
}

export function removeDevice(name: string): void {
  if (others.get(name) === current) current = null;
  others.delete(name);
}

/** All devices that there are now. */
export const registeredDevices = (): Device[] => [...new Set([cpu, ...others.values()])];

/**
 * The device of new tensors.
 *
 * @example
 * torch.setDefaultDevice("cpu");
 * torch.defaultDevice().type  // "cpu"
 */
export const defaultDevice = (): Device => current ?? cpu;

/**
 * Says where new tensors are made.
 *
 * @param device "cpu", "webgpu", or one of `torch.defaultDevice()`
 *
 * @example
 * torch.setDefaultDevice("cpu");
 * torch.ones([2]).device  // "cpu"
 */
export function setDefaultDevice(device: unknown): void {
  [device] = taken("setDefaultDevice device", arguments);
  current = toDevice(device, "setDefaultDevice");
}

export const isDeviceName = (name: unknown): name is string =>
  typeof name === "string" && /^(cpu|webgpu|gpu|cuda|mps|xpu|meta)(:\d+)?$/i.test(name);

/** Names of the GPU: what goes there is there at once. */
export type GpuName = "webgpu" | "gpu" | `webgpu:${number}`;

/** A device by name: "cpu", "webgpu", "webgpu:0"; the error names `op`. */
export function toDevice(name: unknown, op: string, argument = "device"): Device {
  if (name !== null && typeof name === "object") {
    for (const device of registeredDevices()) if (device === name) return device;
    if ("type" in name) return toDevice((name as { type: unknown }).type, op, argument);
  }
  if (typeof name === "string") {
    const plain = name.toLowerCase().replace(/:0$/, "");
    const found = plain === "cpu" ? cpu : others.get(plain === "gpu" ? "webgpu" : plain);
    if (found) return found;
    if (plain === "webgpu" || plain === "gpu") {
      throw new DeviceError(
        'device "webgpu" is not ready: await initWebGPUAsync() first, and see whether it answers true',
      );
    }
  }
  throw new DeviceError(`${op}: argument '${argument}' must be a device (cpu, webgpu, meta), got ${describe(name)}`);
}
