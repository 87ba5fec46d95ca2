// What users hand in as data: nested arrays and typed arrays, to elements of a type.

import { promote_types } from "../../host/dtypes.js";
import { living } from "../base/argument-kinds.js";
import type { Elements } from "../program/compiled-op.js";
import { is_rounded } from "../../dsl/dtypes.js";
import { Complex } from "./complex-number.js";
import { type DType, entry, fromBrainBits, fromHalfBits, newElements, widened } from "./dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { checkShape, numelOf } from "../base/shape.js";

export type Nested = number | boolean | bigint | Complex | readonly Nested[] | NumberArray;
export type NumberArray = Elements | Uint8ClampedArray | BigInt64Array | BigUint64Array;

interface Data {
  elements: Elements;
  dtype: DType;
  shape: number[];
}

/** The type of a typed array's numbers. */
function natural(data: NumberArray): DType {
  if (data instanceof Float64Array) return "float64";
  if (data instanceof Float32Array) return "float32";
  if ((data[Symbol.toStringTag] as string) === "Float16Array") return "float16"; // which not every engine has
  if (data instanceof Int8Array) return "int8";
  if (data instanceof Uint8Array || data instanceof Uint8ClampedArray) return "uint8";
  if (data instanceof Int16Array) return "int16";
  if (data instanceof Uint16Array) return "uint16";
  if (data instanceof Uint32Array) return "uint32";
  return data instanceof Int32Array ? "int32" : "int64";
}

/** `numel`: how many elements there shall be, where that is known: of complex64 a typed array holds pairs or real parts. */
export function fromTyped(data: NumberArray, wanted: DType | null, numel?: number): Data {
  if (wanted === "complex64") {
    const { elements, shape } = fromTyped(data, "float32");
    return data.length === 2 * numel!
      ? { elements, dtype: wanted, shape }
      : complexData({ elements, dtype: wanted, shape }, []);
  }
  const dtype = wanted ?? natural(data),
    elements = newElements(dtype, data.length),
    shape = [data.length];
  if (is_rounded(dtype) && data instanceof Uint16Array) {
    const decoded = dtype === "float16" ? fromHalfBits : fromBrainBits;
    for (let i = 0; i < data.length; i++) elements[i] = decoded(data[i]!);
    return { elements, dtype, shape };
  }
  const plain = data.constructor === elements.constructor && !is_rounded(dtype) && dtype !== "bool";
  if (plain) elements.set(data as Elements);
  else if (dtype === "int64" && data instanceof Int32Array) elements.set(widened(data));
  else {
    const convert = entry(dtype, "tensor");
    for (let i = 0; i < data.length; i++) elements[i] = convert(data[i]!);
  }
  return { elements, dtype, shape };
}

/** The number and the type of what stands among numbers and is none; null of anything else. */
export type Reader = (item: unknown) => { readonly value: unknown; readonly dtype: DType } | null;

/**
 * Nested arrays of numbers (float32 unless told otherwise) or of booleans (bool); what `read` knows among them gives its
 * type, beside which numbers are whole where they can be.
 */
export function fromNested(data: Nested, wanted: DType | null, read?: Reader): Data {
  const shape: number[] = [];
  let level: unknown = data;
  while (isList(level)) {
    living(level, "tensor");
    shape.push(level.length);
    level = level[0];
    if (shape.length > 64) throw new OpError("tensor: the data are nested more than 64 deep");
  }
  checkShape(shape, "tensor"); // lists that stand in themselves again and again promise more than anybody could visit
  checkLengths(data, shape, 0); // before memory is taken for what the first lists promise
  const n = numelOf(shape),
    values = new Float64Array(n),
    exact = new Map<number, bigint>(),
    parts: number[] = [],
    types: DType[] = [];
  let at = 0,
    booleans = n > 0,
    bigints = n > 0,
    fractions = false;
  const visit = (item: unknown, axis: number): void => {
    if (axis < shape.length) {
      const list = item as ArrayLike<unknown>;
      for (let i = 0; i < list.length; i++) visit(list[i], axis + 1);
      return;
    }
    const known = typeof item === "object" && read?.(item);
    if (known) {
      types.push(known.dtype);
      item = known.value;
    }
    if (item instanceof Complex) {
      booleans = bigints = false;
      parts[at] = item.im;
      values[at++] = item.re;
      return;
    }
    if (typeof item !== "number" && typeof item !== "boolean" && typeof item !== "bigint") {
      throw new TypeMismatchError(`tensor: expected numbers or booleans, got ${describe(item)}`);
    }
    if (!known) {
      if (typeof item !== "boolean") booleans = false;
      if (typeof item !== "bigint") bigints = false;
      if (!Number.isInteger(item)) fractions = true;
    }
    const value = Number(item);
    if (typeof item === "bigint" && !Number.isSafeInteger(value)) exact.set(at, item);
    values[at++] = value;
  };
  visit(data, 0);
  if (parts.length && wanted !== "complex64" && wanted !== null)
    throw new TypeMismatchError(`tensor: complex numbers do not fit into ${wanted}`);
  if (parts.length || wanted === "complex64")
    return complexData({ elements: Float32Array.from(values), dtype: "float32", shape }, parts);
  if (n > types.length && types.length) types.push(booleans ? "bool" : fractions && !bigints ? "float32" : "int64");
  const dtype =
    wanted ??
    (types.length
      ? types.reduce((a, b) => promote_types(a, b) as DType)
      : booleans
        ? "bool"
        : bigints
          ? "int64"
          : "float32");
  const elements = newElements(dtype, n),
    convert = entry(dtype, "tensor");
  for (let i = 0; i < n; i++) elements[i] = convert(exact.get(i) ?? values[i]!);
  return { elements, dtype, shape };
}

/** Real parts and imaginary ones, which may be missing, as elements of complex64. */
function complexData({ elements, shape }: Data, parts: readonly number[]): Data {
  const out = newElements("complex64", elements.length);
  elements.forEach((re, i) => {
    out[2 * i] = re;
    out[2 * i + 1] = parts[i] ?? 0;
  });
  return { elements: out, dtype: "complex64", shape };
}

function checkLengths(item: unknown, shape: readonly number[], axis: number): void {
  if (axis === shape.length) return;
  if (!isList(item) || item.length !== shape[axis]) {
    throw new OpError(
      `tensor: expected sequence of length ${shape[axis]} at dim ${axis} (got ${isList(item) ? item.length : describe(item)})`,
    );
  }
  living(item, "tensor");
  if (axis + 1 < shape.length) for (let i = 0; i < item.length; i++) checkLengths(item[i], shape, axis + 1);
}

const isList = (v: unknown): v is ArrayLike<unknown> =>
  Array.isArray(v) || (ArrayBuffer.isView(v) && !(v instanceof DataView));
