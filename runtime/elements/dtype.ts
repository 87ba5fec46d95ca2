// The element types: names, aliases, sizes, typed arrays, and the conversion of one number between them.
// Promotion is not here (host/dtypes), nor the conversion of whole tensors (tensor/copy.ts).

import type { Elements } from "../program/compiled-op.js";
import { DeviceError, TypeMismatchError, describe } from "../base/errors.js";
import { held } from "../../host/dtypes.js";
import { roundToHalf } from "./math.js";

export type DType = "float32" | "float16" | "float64" | "int32" | "int8" | "uint8" | "bool";

/** The names that are accepted for a type. */
export type DTypeName = DType | `torch.${DType}` | "int64" | "long" | "int" | "float" | "half" | "double" | "boolean";

export const float32 = "float32",
  float16 = "float16",
  float64 = "float64";
export const int32 = "int32",
  int8 = "int8",
  uint8 = "uint8",
  bool = "bool";
/** 64-bit integers are kept in 32 bits; a value that does not fit is an error where it enters. */
export const int64 = "int32",
  long = "int32",
  int = "int32";
export const float = "float32",
  half = "float16",
  double = "float64";

const ALIASES: Readonly<Record<string, DType>> = {
  float32,
  float16,
  float64,
  int32,
  int8,
  uint8,
  bool,
  int64,
  long,
  int,
  float,
  half,
  double,
  boolean: "bool",
};
/** PyTorch's names for tensors of each type. */
export const TYPE_NAMES: Readonly<Record<DType, string>> = {
  float32: "Float",
  float64: "Double",
  float16: "Half",
  int32: "Int",
  int8: "Char",
  uint8: "Byte",
  bool: "Bool",
};
const NUMBERS: Readonly<Record<DType, number>> = {
  float32: 0,
  float16: 1,
  float64: 2,
  int32: 3,
  int8: 4,
  uint8: 5,
  bool: 6,
};

/** Any accepted name of a type: "float32", "torch.float32", "long". */
export function toDType(name: unknown): DType {
  if (typeof name === "string") {
    const plain = name.startsWith("torch.") ? name.slice(6) : name;
    if (Object.hasOwn(ALIASES, plain)) return ALIASES[plain]!;
  }
  throw new TypeMismatchError(`expected a dtype (${Object.keys(NUMBERS).join(", ")}), got ${describe(name)}`);
}

/** Whether a text names a type; used to tell `x.to("int32")` from `x.to("webgpu")`. */
export const isDType = (name: unknown): name is string =>
  typeof name === "string" && Object.hasOwn(ALIASES, name.startsWith("torch.") ? name.slice(6) : name);

/** A small number for each type, for keys of caches. */
export const dtypeNumber = (dtype: DType): number => NUMBERS[dtype];

export const isFloat = (dtype: string): boolean => dtype === "float32" || dtype === "float16" || dtype === "float64";

/** Bytes of one element on a GPU: 8-bit types and bool take a word there. */
export const deviceBytes = (dtype: DType): number => (dtype === "float16" ? 2 : dtype === "float64" ? 8 : 4);

/**
 * The most bytes that one tensor may take on the CPU.  Some engines hold more in one array, none must; a size beyond it
 * is refused before
 *  anything is computed, where a program would be ended otherwise, or stand still. */
export const MOST_BYTES = 3 * 2 ** 30;

/**
 * A typed array for `length` elements, zeros.  Throws DeviceError where that is too much, or the engine has no memory
 * for it.
 */
export function newElements(dtype: DType, length: number): Elements {
  const bytes = cpuBytes(dtype, length);
  if (!(bytes <= MOST_BYTES)) {
    throw new DeviceError(
      `${length} elements of ${dtype} are ${sizeText(bytes)}: too large for the cpu, where a tensor has at most ${sizeText(MOST_BYTES)}`,
    );
  }
  try {
    return new ARRAYS[dtype](length);
  } catch {
    throw new DeviceError(
      `out of memory: ${length} elements of ${dtype} (${sizeText(bytes)}) cannot be allocated on the cpu`,
    );
  }
}

const ARRAYS = {
  float32: Float32Array,
  float16: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

/** Bytes of so many elements on the CPU. */
export const cpuBytes = (dtype: DType, length: number): number => length * ARRAYS[dtype].BYTES_PER_ELEMENT;

/** Elements that lie at a byte of a buffer. */
export const elementsAt = (dtype: DType, buffer: ArrayBuffer, at: number, length: number): Elements =>
  new ARRAYS[dtype](buffer, at, length);

const sizeText = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;

const f32 = new Float32Array(1),
  u32 = new Uint32Array(f32.buffer);

/** The 16 bits of a half-precision number; the argument must be one. */
export function halfBits(value: number): number {
  f32[0] = value;
  const bits = u32[0]!,
    sign = (bits >>> 16) & 0x8000,
    exponent = ((bits >>> 23) & 0xff) - 112;
  if (exponent >= 143) return sign | 0x7c00 | ((bits & 0x7fffff) !== 0 ? 0x200 : 0);
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent > 0) return sign | (exponent << 10) | ((bits >>> 13) & 0x3ff);
  return sign | Math.round(Math.abs(value) * 2 ** 24);
}

/** The number that 16 bits of half precision stand for. */
export function fromHalfBits(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1,
    exponent = (bits >>> 10) & 31,
    fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const same = (value: number): number => value;
/** What does not fit is the least number: what processors answer, and so PyTorch. */
const whole = (value: number): number => (Math.abs(value) < 2 ** 31 ? value | 0 : 1 << 31);

/**
 * How a number that a caller gives becomes an element of a type: whole-number types refuse what they have no room for.
 */
export function entry(dtype: DType, op: string): (value: number) => number {
  const convert = converter(dtype);
  return isFloat(dtype) || dtype === "bool" ? convert : (value) => convert(held(op, dtype, value));
}

/** How an element becomes one of another type, as PyTorch casts: floats are cut to whole numbers, bool is `!= 0`. */
export function converter(dtype: DType): (value: number) => number {
  switch (dtype) {
    case "float16":
      return roundToHalf;
    case "float32":
      return Math.fround;
    case "float64":
      return same;
    case "bool":
      return (value) => +(value !== 0);
    case "int8":
      return (value) => (value << 24) >> 24;
    case "uint8":
      return (value) => value & 255;
    default:
      return whole;
  }
}
