// Tensors as JSON holds them: {shape, data}, and JSON that no depth of nesting overflows.

import type { NumberArray } from "../elements/nested-data.js";
import { type Options, tensor } from "../creation/create.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { checkShape, integers, numelOf, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";

export interface Parts {
  readonly shape: readonly number[];
  readonly data: NumberArray | readonly number[];
}

/** Whether a value is {shape, data}; throws where it is, but the numbers are none or not so many. */
export function isParts(value: unknown, op: string): value is Parts {
  if (value === null || typeof value !== "object" || !("data" in value && "shape" in value)) return false;
  const { shape, data } = value;
  if (!Array.isArray(data) && !(ArrayBuffer.isView(data) && "length" in data)) {
    const hint = typeof data === "function" ? "; a tensor of another copy of the package is none here" : "";
    throw new TypeMismatchError(
      `${op}: expected a list of numbers or a typed array as the data of ${describe(value)}, got ${typeof data === "function" ? "a function" : describe(data)}${hint}`,
    );
  }
  const sizes = integers([shape], op, "shape"),
    { length } = data as ArrayLike<unknown>;
  checkShape(sizes, op);
  if (numelOf(sizes) !== length)
    throw new OpError(`${op}: ${length} elements cannot have the shape ${showShape(sizes)}`);
  return true;
}

/** The tensor of {shape, data}. */
export const ofParts = ({ shape, data }: Parts, options: Options): Tensor =>
  tensor(data as number[], { ...options, shape });

/** The value of JSON whose lists and objects are nested at most `deepest` deep: engines end at depths of their own. */
export function parseJson(text: Uint8Array, deepest: number): unknown {
  let depth = 0,
    quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quoted) {
      if (c === 0x5c) i++;
      else quoted = c !== 0x22;
    } else if (c === 0x22) quoted = true;
    else if (c === 0x5b || c === 0x7b) {
      if (++depth > deepest)
        throw new OpError(`its lists and objects are nested more than ${deepest} deep at byte ${i}`);
    } else if (c === 0x5d || c === 0x7d) depth--;
  }
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
}
