// One complex number as programs have it, and where the parts of complex64 elements lie in memory.

import { titled } from "../base/class-name.js";
import type { Shape } from "../base/shape.js";

const shown = (x: number): string =>
  Object.is(x, -0) ? "-0" : String(x).replace("Infinity", "inf").replace("NaN", "nan");

/**
 * A complex number: what `item()` of a complex tensor answers, `torch.complex(re, im)` of two numbers makes, and may
 * stand wherever a number may.
 *
 * @param re the real part
 * @param im the imaginary part
 *
 * @example
 * String(torch.complex(1, -2))  // "(1-2j)"
 * (await torch.complex(torch.tensor(1), torch.tensor(2)).item()).im  // 2
 */
export class Complex {
  constructor(
    readonly re: number,
    readonly im: number,
  ) {}

  /** As Python prints it: "(1+2j)". */
  toString(): string {
    const { re, im } = this,
      sign = im < 0 || Object.is(im, -0) ? "-" : "+";
    return `(${shown(re)}${sign}${shown(Math.abs(im))}j)`;
  }
}
titled(Complex, "Complex");

interface Layout<T extends string> {
  readonly dtype: T;
  readonly shape: Shape;
  readonly strides: Shape;
  readonly offset: number;
}

/**
 * How elements lie in an array of their storage: of complex64, which counts whole numbers, as pairs of float32 along a
 * last axis; of other types as it says.
 */
export function inMemory<T extends string>(x: Layout<T>): Layout<T | "float32"> {
  if (x.dtype !== "complex64") return x;
  return {
    dtype: "float32",
    shape: [...x.shape, 2],
    strides: [...x.strides.map((s) => 2 * s), 1],
    offset: 2 * x.offset,
  };
}
