// Views of another type than what they are views of: complex numbers and their real parts.  Where a view's memory lies in
// its base's is told in float32 then, and gradients cross over as pairs; how, complex/calls.ts says when there are any.

import type { DType } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** How elements lie in memory. */
export interface Geometry {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

interface Crossing {
  readonly inMemory: (x: Tensor) => Geometry;
  readonly pairsOf: (x: Tensor) => Tensor;
  readonly complexOf: (pairs: Tensor) => Tensor;
}
let crossing: Crossing | null = null;
/** From now on there are such views. */
export const usePairs = (by: Crossing): void => {
  crossing = by;
};

/** How a tensor lies; `apart`: counted in float32, complex numbers as pairs along a last axis. */
export const laid = (x: Tensor, apart: boolean): Geometry => (apart ? crossing!.inMemory(x) : x);

/** A gradient; `apart`: complex numbers as pairs. */
export const parts = (grad: Tensor, apart: boolean): Tensor =>
  apart && grad.dtype === "complex64" ? crossing!.pairsOf(grad) : grad;

/** A gradient as one of `dtype`, of which pairs are complex numbers. */
export const whole = (grad: Tensor, dtype: DType): Tensor =>
  dtype === "complex64" && grad.dtype !== dtype ? crossing!.complexOf(grad) : grad;
