// Numbers from one bound to another: at equal distances, or at even ratios.

import { fitting } from "../../host/dtypes.js";
import { count, number } from "../base/argument-kinds.js";
import { Complex } from "../elements/complex-number.js";
import { type DType, entry, isFloat, newElements, toDType } from "../elements/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Bound, between, bound, pairsBetween } from "./bounds.js";
import { type Options, checkRoom, computed, fromElements, making } from "./create.js";

type Line<B> =
  | [start: B, end: B, steps: number, options?: Options]
  | [start: B, end: B, options: Options & { steps: number }]
  | [options: Options & { start: B; end: B; steps: number }];
/**
 * Numbers at equal distances; a promise where a tensor without axes on a GPU holds a bound.
 *
 * @example
 * torch.linspace(0, 1, 5)  // [0, 0.25, 0.5, 0.75, 1]
 */
export function linspace(...args: Line<number>): Tensor;
export function linspace(...args: Line<Bound | Tensor>): Tensor | Promise<Tensor>;
export function linspace(...args: unknown[]): Tensor | Promise<Tensor> {
  const { values, options } = making("linspace start end steps", args),
    steps = count(values[2], "linspace", "steps");
  const low = bound(values[0], "linspace", "start"),
    high = bound(values[1], "linspace", "end");
  if (low instanceof Promise || high instanceof Promise)
    return Promise.all([low, high]).then((ends) => linspace(...(ends as [number, number]), steps, options));
  // For whole numbers PyTorch cuts the bounds to whole numbers first.
  const dtype = options.dtype ? toDType(options.dtype, "linspace") : "float32";
  if (low instanceof Complex || high instanceof Complex || dtype === "complex64") {
    checkRoom([steps], "complex64", options, "linspace");
    const pairs = pairsBetween(low, high, steps, options.dtype ? dtype : null, "linspace");
    return fromElements(pairs, "complex64", [steps], options, "linspace");
  }
  const [start, end] = [low, high].map((v) => (isFloat(dtype) ? v : Math.trunc(v))) as [number, number];
  const step = (fitting("linspace", dtype, end) - fitting("linspace", dtype, start)) / (steps - 1);
  return computed(between(start, end, steps, step), dtype, [steps], options, "linspace");
}

/**
 * `steps` numbers from base**start to base**end at even ratios; a promise where a tensor without axes on a GPU holds a
 * bound.
 *
 * @param start number or tensor without axes, the exponent of the first
 * @param end number or tensor without axes, the exponent of the last
 * @param steps integer, how many
 * @param base number whose powers they are
 * @param dtype type of the result
 * @param device where the result is made
 * @param requires_grad true or false: whether operations on the result are recorded for gradients
 * @example
 * torch.logspace(0, 3, 4)  // [1, 10, 100, 1000]
 * @example
 * torch.logspace(0, 4, 5, 2)  // [1, 2, 4, 8, 16]
 */
export function logspace(...args: unknown[]): Tensor | Promise<Tensor> {
  const { values, options } = making("logspace start end steps base?", args),
    steps = count(values[2], "logspace", "steps");
  const low = bound(values[0], "logspace", "start"),
    high = bound(values[1], "logspace", "end"),
    base = number(values[3] ?? 10, "logspace", "base");
  if (low instanceof Promise || high instanceof Promise)
    return Promise.all([low, high]).then(([a, b]) => logspace(a, b, steps, base, options));
  const dtype = options.dtype ? toDType(options.dtype, "logspace") : null,
    isComplex = low instanceof Complex || high instanceof Complex || dtype === "complex64",
    made: DType = isComplex ? "complex64" : (dtype ?? "float32");
  checkRoom([steps], made, options, "logspace");
  if (isComplex)
    return fromElements(pairsBetween(low, high, steps, dtype, "logspace", base), made, [steps], options, "logspace");
  // For whole numbers PyTorch cuts both ends to whole numbers first.
  const [from, to] = [low, high].map((v) => (isFloat(made) ? v : Math.trunc(v))) as [number, number];
  const exponent = between(from, to, steps),
    numbers = newElements(made, steps, "logspace"),
    convert = entry(made, "logspace");
  for (let i = 0; i < steps; i++) numbers[i] = convert(base ** exponent(i));
  return fromElements(numbers, made, [steps], options, "logspace");
}
