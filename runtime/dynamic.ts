// What depends on values, so is a promise: comparisons of whole tensors, and results whose size the values decide.

import { tensor } from "./create.js";
import { isFloat } from "./dtype.js";
import { OpError, TypeMismatchError, describe } from "./errors.js";
import { kernels } from "./kernels.js";
import { named } from "./named.js";
import { broadcastShapes, contiguousStrides, sameShape, showShape } from "./shape.js";
import { Tensor } from "./tensor.js";

function check(x: unknown, op: string, name: string): asserts x is Tensor {
  if (!(x instanceof Tensor)) throw new TypeMismatchError(`${op}: argument '${name}' must be a tensor, got ${describe(x)}`);
  x.check(op);
}

/** The elements of `input` where the bool tensor `mask` (broadcast with it) holds, with one axis.  Its gradient flows back. */
export async function masked_select(input: Tensor, mask: Tensor): Promise<Tensor> {
  check(input, "masked_select", "input");
  check(mask, "masked_select", "mask");
  if (mask.dtype !== "bool") throw new TypeMismatchError(`masked_select: expected BoolTensor for mask, got ${mask.dtype}`);
  const shape = broadcastShapes(input.shape, mask.shape);
  if (!shape) throw new OpError(`masked_select: the shape of the mask ${showShape(mask.shape)} and of the tensor ${showShape(input.shape)} do not broadcast`);
  const flat = input.expand(shape).reshape(-1), holds = await mask.expand(shape).data(), places: number[] = [];
  holds.forEach((value: number, i: number) => { if (value !== 0) places.push(i); });
  return kernels().index_select(flat, 0, tensor(Int32Array.from(places), { device: input.device }));
}

/** The places of the elements that are not zero: one row of indices for each; with `as_tuple` one tensor for each axis. */
export async function nonzero(input: Tensor, options: { as_tuple?: boolean } = {}): Promise<Tensor | Tensor[]> {
  check(input, "nonzero", "input");
  const { shape } = input, strides = contiguousStrides(shape), elements = await input.data(), rows: number[] = [];
  let count = 0;
  elements.forEach((value: number, i: number) => {
    if (value === 0) return;
    count++;
    for (let d = 0; d < shape.length; d++) rows.push(Math.floor(i / strides[d]!) % shape[d]!);
  });
  const out = tensor(Int32Array.from(rows), { shape: [count, shape.length], device: input.device });
  if (!options.as_tuple) return out;
  return shape.length === 0 ? [tensor(new Int32Array(count), { device: input.device })] : out.unbind(1);
}

/** As nonzero: one row for each. */
export const argwhere = async (input: Tensor): Promise<Tensor> => (await nonzero(input)) as Tensor;

/** Whether two tensors have the same shape and elements. */
export async function equal(input: Tensor, other: Tensor): Promise<boolean> {
  check(input, "equal", "input");
  check(other, "equal", "other");
  if (!sameShape(input.shape, other.shape)) return false;
  const [a, b] = await Promise.all([input.data(), other.data()]);
  return a.every((value: number, i: number) => value === b[i]);
}

/** Whether all elements are within `atol + rtol * |other|` of the other's. */
export async function allclose(...args: [Tensor, Tensor, ...unknown[]]): Promise<boolean> {
  const [input, other, rtol = 1e-5, atol = 1e-8, equal_nan = false] = named("allclose", ["input", "other", "rtol", "atol", "equal_nan"], args);
  check(input, "allclose", "input");
  check(other, "allclose", "other");
  if (isFloat(input.dtype) !== isFloat(other.dtype) || input.dtype !== other.dtype) {
    throw new TypeMismatchError(`allclose: ${input.dtype} did not match ${other.dtype}`);
  }
  const shape = broadcastShapes(input.shape, other.shape);
  if (!shape) throw new OpError(`allclose: the shapes ${showShape(input.shape)} and ${showShape(other.shape)} do not broadcast`);
  const [a, b] = await Promise.all([input.expand(shape).data(), other.expand(shape).data()]);
  return a.every((x: number, i: number) => {
    const y = b[i]!;
    if (Number.isNaN(x) && Number.isNaN(y)) return equal_nan === true;
    return x === y || (Number.isFinite(y) && Math.abs(x - y) <= (atol as number) + (rtol as number) * Math.abs(y));
  });
}
