// ONNX's types of elements, by their numbers.

import { type DType, toDType } from "../elements/dtype.js";

interface ElementType {
  readonly name: string;
  /** What it is kept as; null where there is none. */
  readonly dtype: string | null;
  /** How many bits it has of a byte or more. */
  readonly bits: number;
}
const type = (name: string, bits: number, dtype: string | null = name): ElementType => ({ name, bits, dtype });

const TYPES: readonly ElementType[] = [
  type("undefined", 0, null),
  type("float32", 32),
  type("uint8", 8),
  type("int8", 8),
  type("uint16", 16),
  type("int16", 16),
  type("int32", 32),
  type("int64", 64),
  type("string", 0, null),
  type("bool", 8),
  type("float16", 16),
  type("float64", 64),
  type("uint32", 32),
  type("uint64", 64, "int64"),
  type("complex64", 64, null),
  type("complex128", 128, null),
  type("bfloat16", 16),
  type("float8e4m3fn", 8, null),
  type("float8e4m3fnuz", 8, null),
  type("float8e5m2", 8, null),
  type("float8e5m2fnuz", 8, null),
  type("uint4", 4, "uint8"),
  type("int4", 4, "int8"),
  type("float4e2m1", 4, null),
  type("float8e8m0", 8, null),
  type("uint2", 2, "uint8"),
  type("int2", 2, "int8"),
];

/** The type of a number; null for what is none. */
export const elementType = (number: number): ElementType | null => TYPES[number] ?? null;
export const typeName = (number: number): string => TYPES[number]?.name ?? `type number ${number}`;

/** What elements of a type are kept as; null where there is none such here. */
export function dtypeOf(number: number): DType | null {
  const name = TYPES[number]?.dtype;
  return name ? toDType(name) : null;
}
