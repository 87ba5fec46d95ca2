// Complex tensors and pairs of real numbers as views of each other, outside of the tape.  A complex64 element is two
// float32 of a storage, side by side; shapes, strides and offsets of the tensor count whole elements.

import { frozen } from "../base/shape.js";
import { inMemory } from "../elements/complex-number.js";
import { Tensor } from "./tensor.js";

/** The parts of complex numbers along a last axis of length 2. */
export function asPairs(x: Tensor): Tensor {
  const { shape, strides, offset } = inMemory(x);
  return new Tensor(x.storage, "float32", Object.freeze(shape), Object.freeze(strides), offset);
}

/** Pairs, which lie side by side at an even place, as complex numbers. */
export function asComplex(pairs: Tensor): Tensor {
  const shape = frozen(pairs.shape.slice(0, -1)),
    strides = Object.freeze(pairs.strides.slice(0, -1).map((s) => s / 2));
  return new Tensor(pairs.storage, "complex64", shape, strides, pairs.offset / 2);
}

/** The same of pairs that nobody else uses: their memory is that of the complex numbers alone. */
export function intoComplex(pairs: Tensor): Tensor {
  const out = asComplex(pairs);
  pairs.dispose();
  return out;
}

/** The real (0) or the imaginary (1) parts. */
export function asPart(x: Tensor, part: 0 | 1): Tensor {
  const strides = Object.freeze(x.strides.map((s) => 2 * s));
  return new Tensor(x.storage, "float32", x.shape, strides, 2 * x.offset + part);
}

/** Whether pairs lie so that they are complex numbers as they are. */
export function sideBySide({ shape, strides, offset }: Tensor): boolean {
  const last = shape.length - 1,
    even = (n: number): boolean => n % 2 === 0;
  return strides[last] === 1 && even(offset) && strides.slice(0, -1).every((s, i) => even(s) || shape[i]! < 2);
}
