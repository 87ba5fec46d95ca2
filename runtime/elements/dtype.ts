// The element types: names, aliases, sizes, typed arrays, and the conversion of one number between them.
// Promotion is not here (host/dtypes), nor the conversion of whole tensors (tensor/copy.ts).

import type { Elements } from "../program/compiled-op.js";
import { refuse } from "../base/argument-kinds.js";
import { DeviceError, OpError } from "../base/errors.js";
import { OTHER_NAMES, TYPES, is_floating } from "../../dsl/dtypes.js";
import { DTYPES, fitting } from "../../host/dtypes.js";
import { roundToHalf } from "./math.js";

/**
 * Each type's array on the CPU, where 16-bit floats lie as float32, and PyTorch's name for tensors of it.  Elements of
 * int64 are BigInts, whatever `Elements` says: `converter` and `entry` take and give them, others look through
 * `numbersOf` and `numberOf` below.  Elements of complex64 are two numbers each: they lie in storages of float32
 * (tensor/pairs.ts), and no op knows the type.
 */
const ARRAYS = {
  float32: Float32Array,
  float16: Float32Array,
  bfloat16: Float32Array,
  float64: Float64Array,
  int64: BigInt64Array as unknown as Float64ArrayConstructor,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  complex64: Float32Array,
};
export const TYPE_NAMES: Readonly<Record<DType, string>> = {
  float32: "Float",
  float16: "Half",
  bfloat16: "BFloat16",
  float64: "Double",
  int64: "Long",
  int32: "Int",
  int16: "Short",
  int8: "Char",
  uint32: "UInt32",
  uint16: "UInt16",
  uint8: "Byte",
  bool: "Bool",
  complex64: "ComplexFloat",
};
export type DType = keyof typeof ARRAYS;

/** The names that are accepted for a type. */
export type DTypeName = DType | `torch.${DType}` | "long" | "int" | "short" | "float" | "half" | "double" | "boolean";

export * from "./type-names.js";

/** The type that a name means, if it is one. */
function named(name: string): DType | undefined {
  const plain = name.startsWith("torch.") ? name.slice(6) : name;
  if (Object.hasOwn(ARRAYS, plain)) return plain as DType;
  if (plain === "cfloat") return "complex64";
  return plain === "boolean" ? "bool" : Object.hasOwn(OTHER_NAMES, plain) ? (OTHER_NAMES[plain] as DType) : undefined;
}

/** Any accepted name of a type: "float32", "torch.float32", "long"; the error names `op` and its argument. */
export function toDType(name: unknown, op: string, argument = "dtype"): DType {
  const found = typeof name === "string" ? named(name) : undefined;
  if (found) return found;
  refuse(op, argument, `a dtype (${Object.keys(ARRAYS).join(", ")})`, name);
}

/** Whether a text names a type; used to tell `x.to("int32")` from `x.to("webgpu")`. */
export const isDType = (name: unknown): name is string => typeof name === "string" && named(name) !== undefined;

/** A small number for each type, for keys of caches. */
let numbers: Record<string, number> | null = null;
export const dtypeNumber = (dtype: DType): number =>
  (numbers ??= Object.fromEntries(DTYPES.map((name, n) => [name, n])))[dtype]!;

export const isFloat = (dtype: string): boolean => dtype !== "complex64" && is_floating(dtype);

/** Whether tensors of it may have gradients. */
export const differentiable = (dtype: string): boolean => dtype === "complex64" || isFloat(dtype);

export const isSigned = (dtype: DType): boolean => dtype === "complex64" || "if".includes(TYPES[dtype]!.kind);

/** Bytes of one element on a GPU: bfloat16, bool and whole numbers of any size take a word there. */
export const deviceBytes = (dtype: DType): number =>
  dtype === "float16" ? 2 : dtype === "float64" || dtype === "complex64" ? 8 : 4;

/** Bytes of one element where a device keeps it. */
export const bytesOn = (device: string, dtype: DType): number =>
  device === "webgpu" ? deviceBytes(dtype) : device === "cpu" ? cpuBytes(dtype, 1) : elementBytes(dtype);

/** Elements on the CPU seen as those of a type of as many bytes: their bits, not their numbers. */
export const seenAs = (elements: Elements, dtype: DType): Elements =>
  elements.constructor === ARRAYS[dtype]
    ? elements
    : new ARRAYS[dtype](elements.buffer as ArrayBuffer, elements.byteOffset, elements.length);

/** Bytes of one element as PyTorch has it. */
export const elementBytes = (dtype: DType): number => (dtype === "complex64" ? 8 : TYPES[dtype]!.bits / 8);

/**
 * The most bytes that one tensor may take on the CPU.  Some engines hold more in one array, none must; a size beyond it
 * is refused before
 *  anything is computed, where a program would be ended otherwise, or stand still. */
export const MOST_BYTES = 3 * 2 ** 30;

/**
 * A typed array for `length` elements, zeros.  Throws DeviceError where that is too much, or the engine has no memory
 * for it; `op`: whose name the error says.
 */
export function newElements(dtype: DType, length: number, op = ""): Elements {
  const bytes = cpuBytes(dtype, length),
    whose = op && `${op}: `;
  if (!(bytes <= MOST_BYTES)) {
    throw new DeviceError(
      `${whose}${length} elements of ${dtype} are ${sizeText(bytes)}: too large for the cpu, where a tensor has at most ${sizeText(MOST_BYTES)}`,
    );
  }
  try {
    return new ARRAYS[dtype](length * inArray(dtype));
  } catch {
    throw new DeviceError(
      `${whose}out of memory: ${length} elements of ${dtype} (${sizeText(bytes)}) cannot be allocated on the cpu`,
    );
  }
}

/** Bytes of so many elements on the CPU. */
export const cpuBytes = (dtype: DType, length: number): number =>
  length * inArray(dtype) * ARRAYS[dtype].BYTES_PER_ELEMENT;

/** The numbers that an element is in its array. */
const inArray = (dtype: DType): number => (dtype === "complex64" ? 2 : 1);

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

/** The 16 bits of the bfloat16 nearest to the nearest float32, a tie to the even one. */
export function brainBits(value: number): number {
  f32[0] = value;
  const bits = u32[0]!;
  return value === value ? (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16 : (bits >>> 16) | 0x40;
}

const roundToBrain = (value: number): number => fromBrainBits(brainBits(value));

/** The number that 16 bits of a bfloat16 stand for. */
export function fromBrainBits(bits: number): number {
  u32[0] = bits << 16;
  return f32[0]!;
}

/** How floats become those of a type. */
export const rounder = (dtype: string): ((value: number) => number) =>
  dtype === "float16" ? roundToHalf : dtype === "bfloat16" ? roundToBrain : dtype === "float32" ? Math.fround : Number;

/** A number as an element of int64; what does not fit is the least one. */
const longOf = (value: number | bigint): number =>
  (typeof value === "bigint"
    ? value
    : Math.abs(value) < 2 ** 63
      ? BigInt(Math.trunc(value))
      : -0x8000000000000000n) as unknown as number;

/** An element as a number; of int64 a BigInt beyond 2**53. */
export function numberOf(element: number): number {
  if (typeof element === "number") return element;
  const value = Number(element);
  return Number.isSafeInteger(value) ? value : element;
}

/**
 * Elements of int64 as numbers: in an Int32Array where they have room there, else in a Float64Array; as they are, a
 * BigInt64Array, where that would not be exact.
 */
export function numbersOf(elements: Elements): Elements {
  const words = new Int32Array(elements.buffer, elements.byteOffset, 2 * elements.length),
    out = new Int32Array(elements.length);
  for (let i = 0; i < out.length; i++) {
    const low = words[2 * i]!;
    if (words[2 * i + 1] !== low >> 31)
      return elements.every((v) => typeof numberOf(v) === "number") ? Float64Array.from(elements, Number) : elements;
    out[i] = low;
  }
  return out;
}

/** Whole numbers of 32 bits as elements of int64. */
export function widened(words: Int32Array): Elements {
  const out = newElements("int64", words.length),
    halves = new Int32Array(out.buffer);
  for (let i = 0; i < words.length; i++) {
    halves[2 * i] = words[i]!;
    halves[2 * i + 1] = words[i]! >> 31;
  }
  return out;
}

/** What does not fit is the least number: what processors answer, and so PyTorch; without a sign it counts on. */
const truncated = (value: number, unsigned: boolean): number =>
  Math.abs(value) < 2 ** 31 || (unsigned && value > 0 && value < 2 ** 32) ? value | 0 : 1 << 31;

/**
 * How a number that a caller gives becomes an element of a type: whole-number types refuse what they have no room for.
 */
export function entry(dtype: DType, op: string): (value: number | bigint) => number {
  const convert = converter(dtype);
  if (isFloat(dtype) || dtype === "bool") return (value) => convert(Number(value));
  return (value) => {
    if (dtype !== "int64" || typeof value === "number") return convert(fitting(op, dtype, Number(value)));
    if (BigInt.asIntN(64, value) !== value) throw new OpError(`${op}: ${value} does not fit into int64`);
    return value as unknown as number;
  };
}

/**
 * How an element, of `from` where that is known, becomes one of another type, as PyTorch casts: floats are cut to whole
 * numbers, whole numbers keep their lower bits, bool is `!= 0`.
 */
export function converter(dtype: DType, from: DType = "float64"): (value: number) => number {
  const { kind, bits } = TYPES[dtype]!,
    rest = 32 - bits;
  if (bits === 64 && kind === "i") return longOf;
  if (from === "int64" && (kind === "i" || kind === "u")) {
    const cutTo = kind === "i" ? BigInt.asIntN : BigInt.asUintN;
    return (value) => Number(cutTo(bits, value as unknown as bigint));
  }
  if (kind === "f") {
    const round = rounder(dtype);
    return from === "int64" ? (value) => round(Number(value)) : round;
  }
  if (kind === "b") return (value) => +(Number(value) !== 0);
  const cut = isFloat(from) ? (value: number) => truncated(value, dtype === "uint32") : Number;
  return kind === "i" ? (value) => (cut(value) << rest) >> rest : (value) => (cut(value) << rest) >>> rest;
}
