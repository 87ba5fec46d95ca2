// Numbers that a program goes on by: sizes, axes, conditions.  They are read at once, which only the CPU's memory can be;
// tensors whose values the file or the inputs' sizes decide are therefore kept there, and no capture sees them made.

import { capturing } from "../base/capturing.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { type Options, tensor } from "../creation/create.js";
import { FILE_TYPES, decode, encode } from "../files/number-formats.js";
import type { Elements } from "../program/compiled-op.js";
import type { Device } from "../devices/device.js";
import { unrecorded } from "../tape/grad-mode.js";
import { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import { here } from "../exchange/waiting.js";

/** Of the file, which are there as long as the program is. */
const constants = new WeakSet<Tensor>();
/** Computed of those and of sizes. */
const computed = new WeakSet<Tensor>();
/** The most elements of what is computed on the CPU although the program runs elsewhere. */
const MOST = 4096;
/** Constants on other devices, by the device's name. */
const copies = new WeakMap<Tensor, Map<string, Tensor>>();

/** Whether the file and the inputs' sizes decide its values. */
export const isFixed = (x: Tensor): boolean => constants.has(x) || computed.has(x);
export function constant(x: Tensor): Tensor {
  constants.add(x);
  return x;
}

/** Does what depends on fixed values alone. */
export const apart = <T>(work: () => T): T => {
  const quietly = () => unrecorded(work) as T;
  return capturing ? capturing.apart(quietly) : quietly();
};

/** What was computed of fixed values: fixed as well, unless it is large. */
export function fixed(value: unknown, device: string): unknown {
  if (Array.isArray(value)) return value.map((item) => fixed(item, device));
  if (!(value instanceof Tensor) || isFixed(value)) return value;
  if (value.numel() > MOST && device !== "cpu") return brought(value, device);
  computed.add(value);
  return value;
}

/** The same values on a device; of a fixed tensor as numbers that a captured program brings itself. */
export function brought(x: Tensor, device: string): Tensor {
  if (!isFixed(x)) return x.device === device ? x : (to(x, [device]) as Tensor);
  if (constants.has(x)) {
    if (x.device === device) return x;
    const places = copies.get(x) ?? new Map<string, Tensor>(),
      there = places.get(device) ?? apart(() => to(x, [device]) as Tensor);
    copies.set(x, places.set(device, there));
    return there;
  }
  if (!capturing) return x.device === device ? x : (to(x, [device]) as Tensor);
  const elements = elementsOf(x).slice();
  return tensor(elements as never, { shape: x.shape, dtype: x.dtype, device: device as unknown as Device } as Options);
}

/** Elements in their order; of a tensor that is not fixed only on the CPU, and not while a program is captured. */
function elementsOf(x: Tensor): ArrayLike<number> & { slice(): ArrayLike<number> } {
  const look = () => {
    const read = x.contiguous(),
      { elements } = read.storage as unknown as { elements: Float32Array };
    return elements.subarray(read.offset, read.offset + read.numel());
  };
  return isFixed(x) ? apart(look) : look();
}

/** The elements in their order as numbers. */
export function numbers(value: unknown, op: string): number[] {
  if (!(value instanceof Tensor)) throw new TypeMismatchError(`${op}: expected a tensor, got ${describe(value)}`);
  value.check(op);
  return Array.from(elementsOf(here(value)), Number);
}

/** The same bits as elements of another type of files. */
export function bitsAs(x: Tensor, to: string, op: string): Tensor {
  if (!Object.hasOwn(FILE_TYPES, to)) throw new OpError(`${op}: there are no elements of ${to} here`);
  numbers(x, op);
  const bytes = encode(elementsOf(here(x)) as unknown as Elements, x.dtype, x.dtype).slice() as Uint8Array<ArrayBuffer>,
    { elements, dtype } = decode(bytes, FILE_TYPES[to]!, null, op, "the tensor");
  return tensor(elements as never, { shape: x.shape, dtype, device: "cpu" } as unknown as Options);
}

/** The one number of a tensor. */
export function number(value: unknown, op: string): number {
  const found = numbers(value, op);
  if (found.length !== 1) throw new OpError(`${op}: a tensor with ${found.length} elements is no number`);
  return found[0]!;
}

/** A tensor of whole numbers whose values are known, on the CPU. */
export const integers = (values: readonly number[], shape: readonly number[] = [values.length]): Tensor =>
  tensor(values, { shape, dtype: "int64", device: "cpu" } as unknown as Options);
