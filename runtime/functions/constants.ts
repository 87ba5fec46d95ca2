// Numbers and small values that programs name: pi, infinity, a device, a size, the type of new numbers.

import { VERSION } from "../../version.js";
import { titled } from "../base/class-name.js";
import { taken } from "../base/named-arguments.js";
import { integers } from "../base/shape.js";
import { type Device as RunningDevice, defaultDevice, setDefaultDevice, toDevice } from "../devices/device.js";
import type { DType } from "../elements/dtype.js";

/**
 * The PyTorch whose names and answers these are, and behind the plus sign this package's own version.
 *
 * @example
 * torch.__version__.startsWith("2.")  // true
 */
export const __version__ = `2.13.0+tensorloom.${VERSION}`;
/**
 * The circumference of a circle by its diameter, 3.14159.
 *
 * @example
 * torch.tensor([torch.pi / 2]).sin()  // [1]
 */
export const pi = Math.PI;
/**
 * The base of natural logarithms, 2.71828.
 *
 * @example
 * torch.tensor([torch.e]).log()  // [1]
 */
export const e = Math.E;
/**
 * Infinity, larger than every number.
 *
 * @example
 * torch.tensor([1, torch.inf]).isinf()  // [false, true]
 */
export const inf = Infinity;
/**
 * What is no number, and equals nothing, not even itself.
 *
 * @example
 * torch.tensor([1, torch.nan]).nansum()  // 1
 */
export const nan = NaN;
/**
 * In an index, an axis of length 1: `x.index(torch.newaxis)`.
 *
 * @example
 * torch.tensor([1, 2]).index(":", torch.newaxis)  // [[1], [2]]
 */
export const newaxis = null;

/**
 * The type of tensors of JavaScript's numbers.
 *
 * @example
 * torch.get_default_dtype()  // "float32"
 */
export function get_default_dtype(): DType {
  taken("get_default_dtype", arguments);
  return "float32";
}

/**
 * A device as a value, for whatever takes one: `torch.device("cpu")`.
 *
 * @param type its name
 * @param index integer, which of its kind, default null
 *
 * @example
 * new torch.Device("cpu").type  // "cpu"
 */
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
/**
 * The device of this name, as "cpu" or "webgpu:0"; throws where there is none.
 *
 * @param type its name
 * @param index integer, which of its kind, default null
 *
 * @example
 * torch.device("cpu:0").index  // 0
 */
export function device(type: string | Device, index?: number | null): Device;
export function device(...args: unknown[]): Device {
  const [given, index] = taken("device type index?", args),
    name = index == null ? String(given) : `${given}:${index}`,
    { type } = toDevice(name, "device"),
    [, number] = /:(\d+)$/.exec(name) ?? [];
  return Object.freeze(new Device(type, number === undefined ? null : Number(number)));
}

/**
 * Where new tensors are made from now on; null: on the CPU.
 *
 * @example
 * torch.set_default_device("cpu");
 * torch.zeros(2).device  // "cpu"
 */
export function set_default_device(device: string | Device | RunningDevice | null): void {
  [device] = taken("set_default_device device", arguments);
  setDefaultDevice(toDevice(device ?? "cpu", "set_default_device"));
}
/**
 * Where new tensors are made.
 *
 * @example
 * torch.set_default_device("cpu");
 * String(torch.get_default_device())  // "cpu"
 */
export function get_default_device(): Device {
  taken("get_default_device", arguments);
  return device(defaultDevice().type);
}

/**
 * A list of sizes that cannot be changed, as `x.shape`.
 *
 * @example
 * torch.Size([2, 3])  // [2, 3]
 */
export const Size = (...sizes: (number | readonly number[])[]): readonly number[] =>
  Object.freeze(integers(taken("Size *sizes", sizes), "Size", "sizes"));
