// ONNX's types of elements, by their numbers.

import { type DType, toDType } from "../elements/dtype.js";

interface ElementType {
  readonly name: string;
  /** What it is kept as; null where there is none. */
  readonly dtype: string | null;
}
const type = (name: string, dtype: string | null = name): ElementType => ({ name, dtype });

const TYPES: readonly ElementType[] = [
  type("undefined", null),
  type("float32"),
  type("uint8"),
  type("int8"),
  type("uint16"),
  type("int16"),
  type("int32"),
  type("int64"),
  type("string", null),
  type("bool"),
  type("float16"),
  type("float64"),
  type("uint32"),
  type("uint64", "int64"),
  type("complex64", null),
  type("complex128", null),
  type("bfloat16"),
  type("float8e4m3fn", null),
  type("float8e4m3fnuz", null),
  type("float8e5m2", null),
  type("float8e5m2fnuz", null),
  type("uint4", "uint8"),
  type("int4", "int8"),
  type("float4e2m1", null),
  type("float8e8m0", null),
  type("uint2", "uint8"),
  type("int2", "int8"),
];

/** The type of a number; null for what is none. */
export const elementType = (number: number): ElementType | null => TYPES[number] ?? null;
export const typeName = (number: number): string => TYPES[number]?.name ?? `type number ${number}`;

/** What elements of a type are kept as; null where there is none such here. */
export function dtypeOf(number: number): DType | null {
  const name = TYPES[number]?.dtype;
  return name ? toDType(name, "onnx") : null;
}
