// Where the tensors of a file go: to which device, and as which type.

import { inMemory } from "../elements/complex-number.js";
import type { Elements } from "../program/compiled-op.js";
import { type Device, toDevice } from "../devices/device.js";
import { type DType, isFloat, toDType } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { frozen } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { type FileType, Misfit, decode } from "./number-formats.js";
import { FileError } from "./error.js";
import type { OpenOptions } from "./source.js";

export interface LoadOptions extends OpenOptions {
  /** Where the tensors shall be; the CPU, unless told otherwise. */
  device?: string | Device | null;
  /** PyTorch's name for `device`. */
  map_location?: string | Device | null;
  /** What floating tensors become; without it they stay what they are. */
  dtype?: string | null;
}

/** The names of LoadOptions. */
export const LOADING = "map_location device dtype progress signal";

export interface Destination {
  readonly device: Device;
  readonly dtype: DType | null;
}

/** What the options say; throws for what they cannot mean. */
export function destination(options: LoadOptions, op: string): Destination {
  const target = options.map_location ?? options.device ?? "cpu",
    dtype = options.dtype ? toDType(options.dtype, op) : null;
  if (typeof target === "function")
    throw new TypeMismatchError(`${op}: map_location must be a device, got ${describe(target)}`);
  if (dtype && !isFloat(dtype))
    throw new TypeMismatchError(`${op}: dtype is what floating tensors become, so it must be floating, got ${dtype}`);
  return { device: toDevice(target, op, options.map_location == null ? "device" : "map_location"), dtype };
}

export interface Content {
  /** The bytes of the whole memory that the tensor is a view of; used up. */
  readonly data: Uint8Array<ArrayBuffer>;
  readonly type: FileType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

/** A tensor of its own memory. */
export function makeTensor(content: Content, place: Destination, file: string, what: string): Tensor {
  const { elements, dtype } = decode(content.data, content.type, place.dtype, file, what);
  return new Tensor(
    upload(elements, dtype, place, file, what),
    dtype,
    frozen(content.shape),
    frozen(content.strides),
    content.offset,
  );
}

/** The elements on the device. */
export function upload(
  elements: Elements,
  dtype: DType,
  place: Destination,
  file: string,
  what: string,
): ReturnType<Device["upload"]> {
  try {
    return place.device.upload(elements, inMemory({ dtype, shape: [], strides: [], offset: 0 }).dtype, "load");
  } catch (error) {
    if (!(error instanceof OpError)) throw error;
    const hint =
      isFloat(dtype) && dtype !== "float32" && place.device.type !== "cpu"
        ? '; {dtype: "float32"} makes float32 of it'
        : "";
    throw new (dtype === "int64" ? Misfit : FileError)(file, `${what}: ${error.message}${hint}`);
  }
}
