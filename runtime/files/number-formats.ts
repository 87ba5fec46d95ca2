// Numbers as files hold them, little-endian, to elements of the package's types and back: half precision, bfloat16 and
// 64-bit integers among them.

import type { Elements } from "../program/compiled-op.js";
import { type DType, brainBits, converter, fromHalfBits, halfBits, isFloat, newElements } from "../elements/dtype.js";
import { titled } from "../base/class-name.js";
import { OpError } from "../base/errors.js";
import { roundToHalf } from "../elements/math.js";
import { FileError } from "./error.js";

/** A type of files. */
export interface FileType {
  readonly name: string;
  readonly bytes: number;
  /** What the package keeps it as. */
  readonly dtype: DType;
  /** The elements of bytes that begin at a multiple of their size; they may share the memory. */
  decode(data: ArrayBuffer): Elements;
}

let halves: Float32Array | null = null;

/** The number of each of the 65,536 patterns of half precision. */
function halfTable(): Float32Array {
  if (!halves) {
    halves = new Float32Array(65536);
    for (let bits = 0; bits < 65536; bits++) halves[bits] = fromHalfBits(bits);
  }
  return halves;
}

function decodeHalf(data: ArrayBuffer): Elements {
  const bits = new Uint16Array(data),
    out = new Float32Array(bits.length),
    table = halfTable();
  for (let i = 0; i < bits.length; i++) out[i] = table[bits[i]!]!;
  return out;
}

function decodeBrain(data: ArrayBuffer): Elements {
  const bits = new Uint16Array(data),
    out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = bits[i]! << 16;
  return new Float32Array(out.buffer);
}

/** Numbers of a file that do not fit into the type that they have here. */
export class Misfit extends FileError {}
titled(Misfit, "FileError");

const longs = (data: ArrayBuffer): Elements => new BigInt64Array(data) as unknown as Elements;

/** 64 bits without a sign: the uppermost one must be 0. */
function decodeUnsigned(data: ArrayBuffer): Elements {
  const found = new BigUint64Array(data).find((value) => value >= 2n ** 63n);
  if (found !== undefined) throw new OpError(`the value ${found} does not fit into int64`);
  return longs(data);
}

const type = (name: string, bytes: number, dtype: DType, decode: FileType["decode"]): FileType => ({
  name,
  bytes,
  dtype,
  decode,
});

/** The types by PyTorch's names. */
export const FILE_TYPES: Readonly<Record<string, FileType>> = {
  float64: type("float64", 8, "float64", (b) => new Float64Array(b)),
  float32: type("float32", 4, "float32", (b) => new Float32Array(b)),
  float16: type("float16", 2, "float16", decodeHalf),
  bfloat16: type("bfloat16", 2, "bfloat16", decodeBrain),
  int64: type("int64", 8, "int64", longs),
  int32: type("int32", 4, "int32", (b) => new Int32Array(b)),
  int16: type("int16", 2, "int16", (b) => new Int16Array(b)),
  int8: type("int8", 1, "int8", (b) => new Int8Array(b)),
  uint64: type("uint64", 8, "int64", decodeUnsigned),
  uint32: type("uint32", 4, "uint32", (b) => new Uint32Array(b)),
  uint16: type("uint16", 2, "uint16", (b) => new Uint16Array(b)),
  uint8: type("uint8", 1, "uint8", (b) => new Uint8Array(b)),
  bool: type("bool", 1, "bool", (b) => new Uint8Array(b).map((v) => (v ? 1 : 0))),
  complex64: type("complex64", 8, "complex64", (b) => new Float32Array(b)),
};

/** The elements of `data`, which is used up, in `wanted` where they are floating and that is given. */
export function decode(
  data: Uint8Array<ArrayBuffer>,
  from: FileType,
  wanted: DType | null,
  file: string,
  what: string,
): { elements: Elements; dtype: DType } {
  const whole = data.byteOffset === 0 && data.length === data.buffer.byteLength ? data : data.slice();
  let elements: Elements;
  try {
    elements = from.decode(whole.buffer);
  } catch (error) {
    throw new (error instanceof OpError ? Misfit : FileError)(file, `${what}: ${(error as Error).message}`);
  }
  const dtype = wanted && isFloat(from.dtype) ? wanted : from.dtype;
  return { elements: dtype === from.dtype ? elements : converted(elements, dtype), dtype };
}

function converted(elements: Elements, dtype: DType): Elements {
  const out = newElements(dtype, elements.length),
    convert = converter(dtype);
  for (let i = 0; i < out.length; i++) out[i] = convert(elements[i]!);
  return out;
}

/** The bytes that a file of the type `to` (a name of FILE_TYPES) holds for elements of `dtype`. */
export function encode(elements: Elements, dtype: DType, to: string): Uint8Array {
  if (to === "float16" || to === "bfloat16") {
    const out = new Uint16Array(elements.length),
      bits = to === "bfloat16" ? brainBits : (v: number) => halfBits(roundToHalf(v));
    for (let i = 0; i < out.length; i++) out[i] = bits(elements[i]!);
    return new Uint8Array(out.buffer);
  }
  const same = dtype === to ? elements : converted(elements, to as DType);
  return new Uint8Array(same.buffer, same.byteOffset, same.byteLength);
}
