// Numbers and small values that programs name: pi, infinity, a device, a size, the type of new numbers.

import { VERSION } from "../../version.js";
import { titled } from "../base/class-name.js";
import { taken } from "../base/named-arguments.js";
import { integers } from "../base/shape.js";
import { type Device as RunningDevice, defaultDevice, setDefaultDevice, toDevice } from "../devices/device.js";
import type { DType } from "../elements/dtype.js";

/** The PyTorch whose names and answers these are, and behind the plus sign this package's own version. */
export const __version__ = `2.13.0+tensorloom.${VERSION}`;
/** The circumference of a circle by its diameter, 3.14159. */
export const pi = Math.PI;
/** The base of natural logarithms, 2.71828. */
export const e = Math.E;
/** Infinity, larger than every number. */
export const inf = Infinity;
/** What is no number, and equals nothing, not even itself. */
export const nan = NaN;
/** In an index, an axis of length 1: `x.index(torch.newaxis)`. */
export const newaxis = null;

/** The type of tensors of JavaScript's numbers. */
export function get_default_dtype(): DType {
  taken("get_default_dtype", arguments);
  return "float32";
}

/** A device as a value, for whatever takes one: `torch.device("cpu")`. */
export class Device {
  readonly type: string;
  readonly index: number | null;
  /** Throws where there is no such device. */
  constructor(type: string, index?: number | null);
  constructor(...args: unknown[]) {
    const [type, index] = taken("Device type index?", args);
    this.type = toDevice(String(type), "device").type;
    this.index = (index as number | undefined) ?? null;
  }
  toString(): string {
    return this.index === null ? this.type : `${this.type}:${this.index}`;
  }
}
titled(Device, "Device");
/** The device of this name, as "cpu" or "webgpu:0"; throws where there is none. */
export function device(type: string | Device, index?: number | null): Device;
export function device(...args: unknown[]): Device {
  const [given, index] = taken("device type index?", args),
    name = index == null ? String(given) : `${given}:${index}`,
    { type } = toDevice(name, "device"),
    [, number] = /:(\d+)$/.exec(name) ?? [];
  return Object.freeze(new Device(type, number === undefined ? null : Number(number)));
}

/** Where new tensors are made from now on; null: on the CPU. */
export function set_default_device(device: string | Device | RunningDevice | null): void {
  [device] = taken("set_default_device device", arguments);
  setDefaultDevice(toDevice(device ?? "cpu", "set_default_device"));
}
/** Where new tensors are made. */
export function get_default_device(): Device {
  taken("get_default_device", arguments);
  return device(defaultDevice().type);
}

/** A list of sizes that cannot be changed, as `x.shape`. */
export const Size = (...sizes: (number | readonly number[])[]): readonly number[] =>
  Object.freeze(integers(taken("Size *sizes", sizes), "Size", "sizes"));
