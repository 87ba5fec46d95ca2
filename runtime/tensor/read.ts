// Values out of tensors: typed arrays and nested arrays.

import type { Elements } from "../program/compiled-op.js";
import { Complex, inMemory } from "../elements/complex-number.js";
import { type DType, newElements, numberOf, numbersOf, seenAs } from "../elements/dtype.js";
import { OpError } from "../base/errors.js";
import { copyStrided } from "../elements/strided-copy.js";
import { type Shape, contiguousStrides, extent, numelOf, showShape } from "../base/shape.js";
import type { Tensor } from "./tensor.js";

export type NestedNumbers = number | boolean | NestedNumbers[];

let settled: (() => Promise<void>) | null = null;

/** From now on a read waits for `check`, and throws what it throws. */
export function checkReads(check: () => Promise<void>): void {
  settled = check;
}

/** The elements in row-major order as numbers, of int64 beyond 2**53 BigInts, in an array of the caller's own. */
export async function readElements(tensor: Tensor, op: string): Promise<Elements> {
  const elements = await readStored(tensor, op);
  return tensor.dtype === "int64" ? numbersOf(elements) : elements;
}

/** The same, BigInts only for those beyond 2**53. */
export async function readExact(tensor: Tensor, op: string): Promise<Elements | readonly number[]> {
  const elements = await readElements(tensor, op);
  return elements.constructor === BigInt64Array ? Array.from(elements, numberOf) : elements;
}

/** The same as they are stored: BigInts of int64, two numbers for each of complex64. */
export async function readStored(tensor: Tensor, op: string): Promise<Elements> {
  tensor.check(op);
  const { shape, strides, offset, dtype } = inMemory(tensor);
  const span = extent(shape, strides);
  if (span === 0) {
    await tensor.storage.device.synchronize();
    await settled?.();
    return newElements(dtype, 0);
  }
  const elements = await tensor.storage.device.download(tensor.storage, offset, offset + span);
  await settled?.();
  return arrange(seenAs(elements, dtype), dtype, shape, strides, 0);
}

/** A strided layout's elements in row-major order; the array itself where they already are. */
export function arrange(elements: Elements, dtype: DType, shape: Shape, strides: Shape, offset: number): Elements {
  const n = numelOf(shape),
    plain = contiguousStrides(shape);
  if (offset === 0 && elements.length === n && plain.every((s, i) => s === strides[i] || shape[i] === 1))
    return elements;
  const out = newElements(dtype, n);
  copyStrided({ elements: out, strides: plain, offset: 0 }, { elements, strides, offset }, shape, null);
  return out;
}

/** Bytes of arrays and numbers that tolist() makes at most: more would stop the process. */
const MOST = 2 ** 30;

/** Refuses nested arrays of a shape that JavaScript has no memory for. */
export function checkNested(shape: Shape): void {
  if (shape.reduceRight((bytes, n) => 160 + n * bytes, 8) > MOST)
    throw new OpError(`tolist: an array of shape ${showShape(shape)} does not fit in memory; use data() or narrow()`);
}

export function toNested(elements: Elements, shape: Shape, dtype: DType): NestedNumbers {
  let at = 0;
  const build = (axis: number): NestedNumbers => {
    if (axis === shape.length && dtype === "complex64")
      return new Complex(elements[at++]!, elements[at++]!) as unknown as NestedNumbers;
    if (axis === shape.length) {
      const value = elements[at++]!;
      return dtype === "bool" ? value !== 0 : numberOf(value);
    }
    const out: NestedNumbers[] = [];
    for (let i = 0; i < shape[axis]!; i++) out.push(build(axis + 1));
    return out;
  };
  return build(0);
}
