// Tensors in the places of numbers, and complex ones: the bounds of numbers in a row, and the numbers between them.

import { number } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { Complex } from "../elements/complex-number.js";
import type { DType } from "../elements/dtype.js";
import { onHost } from "../tensor/number-in.js";
import { Tensor } from "../tensor/tensor.js";

export type Bound = number | Complex;
/** A bound as a number, or a promise of it where only the GPU knows it. */
export function bound(value: unknown, op: string, name: string): Bound | Promise<Bound> {
  if (!(value instanceof Tensor)) return finite(value instanceof Complex ? value : number(value, op, name), op, name);
  value.check(op);
  if (value.ndim !== 0)
    throw new OpError(
      `${op} only supports 0-dimensional start and end tensors, but got ${name} with ${value.ndim} dimension(s).`,
    );
  if (value.storage.device.type !== "cpu") return value.item() as Promise<Bound>;
  const known = onHost(value);
  return known instanceof Complex ? known : Number(known);
}
function finite<B extends Bound>(value: B, op: string, name: string): B {
  if (![real(value), imaginary(value)].every(Number.isFinite))
    throw new OpError(`${op}: argument '${name}' must be finite, got ${String(value)}`);
  return value;
}
const real = (z: Bound): number => (z instanceof Complex ? z.re : z),
  imaginary = (z: Bound): number => (z instanceof Complex ? z.im : 0);

/** Of `steps` numbers at equal distances the one at `i`, from the nearer end. */
export const between =
  (start: number, end: number, steps: number, step = (end - start) / (steps - 1)) =>
  (i: number): number =>
    steps === 1 ? start : i < steps / 2 ? start + i * step : end - (steps - 1 - i) * step;

/** The same of complex numbers, as pairs of their parts; with a `base`, its powers.  `dtype`: what was asked for. */
export function pairsBetween(
  low: Bound,
  high: Bound,
  steps: number,
  dtype: DType | null,
  op: string,
  base?: number,
): Float32Array {
  if (dtype !== null && dtype !== "complex64")
    throw new OpError(`${op}: inferred dtype complex64 can't be safely cast to passed dtype ${dtype}`);
  const re = between(real(low), real(high), steps),
    im = between(imaginary(low), imaginary(high), steps),
    out = new Float32Array(2 * steps);
  for (let i = 0; i < steps; i++) {
    const pair = base === undefined ? [re(i), im(i)] : power(base, re(i), im(i));
    out.set(pair, 2 * i);
  }
  return out;
}
/** base ** (re + im j). */
function power(base: number, re: number, im: number): [number, number] {
  const log = Math.log(Math.abs(base)),
    turn = base < 0 ? Math.PI : 0,
    size = Math.exp(re * log - im * turn),
    angle = im * log + re * turn;
  return [size * Math.cos(angle), size * Math.sin(angle)];
}
