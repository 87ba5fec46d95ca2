// How elements lie in GPU buffers: half precision takes two bytes, all else a word, int64 too.

import type { Elements } from "../../program/compiled-op.js";
import { type DType, fromHalfBits, halfBits, newElements, widened } from "../../elements/dtype.js";
import { DeviceError, OpError } from "../../base/errors.js";
import { roundToHalf } from "../../elements/math.js";

/** Bytes of `length` elements in a buffer: whole words. */
export function byteLength(dtype: DType, length: number): number {
  return dtype === "float16" ? Math.ceil(length / 2) * 4 : length * 4;
}

/** The elements as a buffer holds them.  Throws where an int64 has no room in 32 bits. */
export function encode(elements: Elements, dtype: DType, op: string): ArrayBufferView {
  switch (dtype) {
    case "int64": {
      const words = new Int32Array(elements.buffer, elements.byteOffset, 2 * elements.length),
        out = new Int32Array(elements.length);
      for (let i = 0; i < out.length; i++) {
        out[i] = words[2 * i]!;
        if (words[2 * i + 1] !== out[i]! >> 31)
          throw new OpError(`${op}: ${elements[i]} does not fit into the 32 bits that int64 has on webgpu`);
      }
      return out;
    }
    case "float32":
    case "bfloat16":
    case "int32":
      return elements;
    case "float16": {
      const out = new Uint16Array(Math.ceil(elements.length / 2) * 2);
      for (let i = 0; i < elements.length; i++) out[i] = halfBits(roundToHalf(elements[i]!));
      return out;
    }
    default:
      return Int32Array.from(elements);
  }
}

/** `length` elements out of a buffer's bytes, from byte `at`. */
export function decode(bytes: ArrayBuffer, at: number, dtype: DType, length: number): Elements {
  switch (dtype) {
    case "float32":
    case "bfloat16":
      return new Float32Array(bytes, at, length);
    case "int32":
      return new Int32Array(bytes, at, length);
    case "int64":
      return widened(new Int32Array(bytes, at, length));
    case "float16": {
      const bits = new Uint16Array(bytes, at, length),
        out = new Float32Array(length);
      for (let i = 0; i < length; i++) out[i] = fromHalfBits(bits[i]!);
      return out;
    }
    default: {
      const words = new Int32Array(bytes, at, length),
        out = newElements(dtype, length);
      for (let i = 0; i < length; i++) out[i] = words[i]!;
      return out;
    }
  }
}

/** How many bytes a GPU's buffer for these elements takes; throws where it has no such type, or binds no such buffer. */
export function bytesWithin(largest: number, gpu: GPUDevice, dtype: DType, length: number, op: string): number {
  if (dtype === "float64") throw new DeviceError(`${op}: float64 is not available on webgpu; use float32, or the cpu`);
  if (dtype === "float16" && !gpu.features.has("shader-f16"))
    throw new DeviceError(`${op}: float16 is not available on this GPU, which lacks shader-f16`);
  const bytes = Math.max(byteLength(dtype, length), 4);
  if (bytes > largest)
    throw new DeviceError(`${op}: a tensor of ${bytes} bytes is larger than the ${largest} that this GPU can bind`);
  return bytes;
}
