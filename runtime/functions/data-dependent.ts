// What depends on values, so is a promise: comparisons of whole tensors, and results whose size the values decide.

import { tensor } from "../creation/create.js";
import { isFloat, newElements } from "../elements/dtype.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import * as kernels from "../views/needed-ops.js";
import { count, flag, number, integer } from "../base/argument-kinds.js";
import { readExact } from "../tensor/read.js";
import { check } from "../tensor/tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import { axisOf, broadcastShapes, checkShape, contiguousStrides, sameShape, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import * as splitting from "../views/splitting.js";

/**
 * The elements of `input` where the bool tensor `mask` (broadcast with it) holds, with one axis.  Its gradient flows
 * back.
 *
 * @example
 * const x = torch.tensor([3, -1, 4]);
 * await torch.masked_select(x, x.gt(0))  // [3, 4]
 */
export async function masked_select(input: Tensor, mask: Tensor): Promise<Tensor> {
  [input, mask] = taken("masked_select input mask", arguments);
  check(input, "masked_select", "input");
  check(mask, "masked_select", "mask");
  if (mask.dtype !== "bool")
    throw new TypeMismatchError(`masked_select: expected BoolTensor for mask, got ${mask.dtype}`);
  const shape = broadcastShapes(input.shape, mask.shape);
  if (!shape)
    throw new OpError(
      `masked_select: the shape of the mask ${showShape(mask.shape)} and of the tensor ${showShape(input.shape)} do not broadcast`,
    );
  const flat = views.reshape(views.expand(input, shape), [-1]),
    holds = await views.expand(mask, shape).data(),
    places: number[] = [];
  holds.forEach((value: number, i: number) => {
    if (value !== 0) places.push(i);
  });
  return kernels.index_select(flat, 0, tensor(Int32Array.from(places), { device: input.device }));
}

/**
 * The places of the elements that are not zero: one row of indices for each; with `as_tuple` one tensor for each axis.
 *
 * @example
 * await torch.nonzero(torch.tensor([[5, 0], [0, 7]]))  // [[0, 0], [1, 1]]
 */
export async function nonzero(input: Tensor, options?: { as_tuple?: boolean }): Promise<Tensor | Tensor[]>;
export async function nonzero(...args: unknown[]): Promise<Tensor | Tensor[]> {
  const [input, as_tuple = false] = taken("nonzero input * as_tuple?", args);
  check(input, "nonzero", "input");
  const { shape } = input,
    strides = contiguousStrides(shape),
    elements = await readExact(input.dtype === "complex64" ? kernels.ne(input, 0) : input, "nonzero"),
    rows: number[] = [];
  let count = 0;
  elements.forEach((value: number, i: number) => {
    if (value === 0) return;
    count++;
    for (let d = 0; d < shape.length; d++) rows.push(Math.floor(i / strides[d]!) % shape[d]!);
  });
  const how = { dtype: "int64", device: input.device } as const,
    out = tensor(Int32Array.from(rows), { shape: [count, shape.length], ...how });
  if (!as_tuple) return out;
  return shape.length === 0 ? [tensor(new Int32Array(count), how)] : splitting.unbind(out, 1);
}

/**
 * As nonzero: one row for each.
 *
 * @example
 * await torch.argwhere(torch.tensor([0, 3, 0, 4]))  // [[1], [3]]
 */
export async function argwhere(input: Tensor): Promise<Tensor> {
  [input] = taken("argwhere input", arguments);
  return (await nonzero(input)) as Tensor;
}

/**
 * Whether two tensors have the same shape and elements.
 *
 * @example
 * await torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))  // true
 */
export async function equal(input: Tensor, other: Tensor): Promise<boolean> {
  [input, other] = taken("equal input other", arguments);
  check(input, "equal", "input");
  check(other, "equal", "other");
  if (!sameShape(input.shape, other.shape)) return false;
  const [a, b] = await Promise.all([readExact(input, "equal"), readExact(other, "equal")]);
  return a.every((value: number, i: number) => value === b[i]);
}

/**
 * Whether all elements are within `atol + rtol * |other|` of the other's.
 *
 * @param input float tensor, or both of integers or bools
 * @param other tensor of the same type whose shape broadcasts
 * @param rtol number, the difference allowed for each unit of `other`
 * @param atol number, the difference allowed besides
 * @param equal_nan true or false: whether NaN is near NaN
 * @example
 * await torch.allclose(torch.tensor([1.0, 2.5]), torch.tensor([1.0001, 2.5]), { rtol: 1e-3 })  // true
 */
export async function allclose(...args: [Tensor, Tensor, ...unknown[]]): Promise<boolean> {
  const [input, other, rtol = 1e-5, atol = 1e-8, equal_nan = false] = taken(
    "allclose input other rtol? atol? equal_nan?",
    args,
  );
  check(input, "allclose", "input");
  check(other, "allclose", "other");
  number(rtol, "allclose", "rtol");
  number(atol, "allclose", "atol");
  flag(equal_nan, "allclose", "equal_nan");
  if (isFloat(input.dtype) !== isFloat(other.dtype) || input.dtype !== other.dtype) {
    throw new TypeMismatchError(`allclose: ${input.dtype} did not match ${other.dtype}`);
  }
  const shape = broadcastShapes(input.shape, other.shape);
  if (!shape)
    throw new OpError(`allclose: the shapes ${showShape(input.shape)} and ${showShape(other.shape)} do not broadcast`);
  const [a, b] = await Promise.all([input, other].map((x) => readExact(views.expand(x, shape), "allclose")));
  return a!.every((given: number, i: number) => {
    if (given === b![i]) return true;
    const x = Number(given),
      y = Number(b![i]);
    if (Number.isNaN(x) && Number.isNaN(y)) return equal_nan === true;
    return Number.isFinite(y) && Math.abs(x - y) <= (atol as number) + (rtol as number) * Math.abs(y);
  });
}

/**
 * As nonzero, with exactly `size` rows: too many are cut off, missing ones hold `fill_value`.
 *
 * @param input the tensor
 * @param size integer, the number of rows of the result
 * @param fill_value integer that stands in rows left over
 * @example
 * await torch.nonzero_static(torch.tensor([0, 3, 0, 4]), { size: 3 })  // [[1], [3], [-1]]
 */
export async function nonzero_static(...args: [Tensor, ...unknown[]]): Promise<Tensor> {
  const [input, size, fill_value = -1] = taken("nonzero_static input size fill_value?", args);
  check(input, "nonzero_static", "input");
  checkShape([count(size, "nonzero_static", "size"), input.ndim], "nonzero_static");
  const found = (await nonzero(input)) as Tensor,
    kept = Math.min(found.shape[0]!, Number(size)),
    rank = input.ndim;
  const out = newElements("int32", Number(size) * rank, "nonzero_static").fill(
    integer(fill_value, "nonzero_static", "fill_value"),
  ) as Int32Array;
  out.set((await views.narrow(found, 0, 0, kept).contiguous().data()) as Int32Array);
  return tensor(out, { shape: [Number(size), rank], dtype: "int64", device: input.device });
}

/** A view of `length` elements along `dim` from `start` on; a promise where a tensor holds the start or the length. */
export function narrow(
  input: Tensor,
  dim: number,
  start: number | Tensor,
  length: number | Tensor,
): Tensor | Promise<Tensor> {
  return start instanceof Tensor || length instanceof Tensor
    ? narrowAt(input, dim, start, length)
    : views.narrow(input, dim, start, length);
}

/** Views cut at places, or so many of nearly equal size; a promise where a tensor says which. */
export function tensor_split(
  input: Tensor,
  at: number | readonly number[] | Tensor,
  dim?: number,
): Tensor[] | Promise<Tensor[]> {
  return at instanceof Tensor ? splitAt(input, at, dim) : splitting.tensor_split(input, at, dim);
}

/** As narrow, with the start in a tensor without axes, the length in one of one element. */
async function narrowAt(input: Tensor, dim: number, start: number | Tensor, length: number | Tensor): Promise<Tensor> {
  const one = async (x: number | Tensor, name: string, fits: (t: Tensor) => boolean): Promise<number> => {
    if (!(x instanceof Tensor)) return x;
    if (!fits(x) || isFloat(x.dtype) || x.dtype === "bool")
      throw new OpError(`narrow: ${name} must be an 0-dim integral Tensor.`);
    return (await x.item()) as number;
  };
  return views.narrow(
    input,
    dim,
    await one(start, "start", (t) => t.ndim === 0),
    await one(length, "length", (t) => t.numel() === 1),
  );
}

/** As tensor_split, with the number of parts, or the places to cut at, in a tensor. */
async function splitAt(input: Tensor, at: Tensor, dim?: number): Promise<Tensor[]> {
  if (at.ndim > 1 || isFloat(at.dtype)) {
    throw new OpError(
      `tensor_split: tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional integer tensor, but got ${at.ndim} dims of ${at.dtype}`,
    );
  }
  return splitting.tensor_split(
    input,
    at.ndim === 0 ? ((await at.item()) as number) : Array.from((await at.data()) as ArrayLike<number>),
    dim,
  );
}

interface RepeatOptions {
  repeats?: number | Tensor;
  dim?: number;
  output_size?: number;
}

/**
 * Each slice along `dim` (each element, without it) so many times in a row.  A promise where a tensor says how often
 * each.
 *
 * @example
 * torch.repeat_interleave(torch.tensor([1, 2]), 3)  // [1, 1, 1, 2, 2, 2]
 * @example
 * await torch.repeat_interleave(torch.tensor([5, 7]), torch.tensor([1, 3], { dtype: torch.long }))  // [5, 7, 7, 7]
 */
export function repeat_interleave(
  input: Tensor,
  repeats: number,
  dim?: number | null | RepeatOptions,
  options?: RepeatOptions,
): Tensor;
export function repeat_interleave(
  input: Tensor,
  repeats: Tensor,
  dim?: number | null | RepeatOptions,
  options?: RepeatOptions,
): Promise<Tensor>;
export function repeat_interleave(input: Tensor, repeats?: RepeatOptions): Tensor | Promise<Tensor>;
export function repeat_interleave(...args: unknown[]): Tensor | Promise<Tensor> {
  const [x, repeats, dim, output_size] = taken("repeat_interleave input repeats? dim? output_size?", args);
  check(x, "repeat_interleave", "input");
  if (repeats === undefined) return counted(x);
  const flat = dim === undefined || dim === null,
    input = flat ? views.reshape(x, [-1]) : x;
  const axis = axisOf(flat ? 0 : (dim as number), input.ndim, "repeat_interleave"),
    n = input.shape[axis] ?? 1;
  if (repeats instanceof Tensor) return repeatedBy(input, repeats, axis, n, output_size as number | undefined);
  const times = repeats as number;
  if (!Number.isInteger(times) || times < 0)
    throw new OpError(`repeat_interleave: repeats can not be negative, got ${describe(times)}`);
  if (output_size !== undefined && output_size !== null && output_size !== n * times) {
    throw new OpError(`repeat_interleave: Expected output_size to be ${n * times}, got ${describe(output_size)}`);
  }
  const wide = input.ndim === 0 ? views.reshape(input, [1]) : input,
    shape = [...wide.shape];
  const stretched = views.expand(views.unsqueeze(wide, axis + 1), [
    ...shape.slice(0, axis + 1),
    times,
    ...shape.slice(axis + 1),
  ]);
  shape[axis] = n * times;
  return views.reshape(stretched.clone(), shape);
}

/** 0, 1, 2, ..., each so often as `repeats` says. */
async function counted(repeats: Tensor): Promise<Tensor> {
  if (repeats.ndim !== 1)
    throw new OpError(
      `repeat_interleave: repeat_interleave only accept 1D vector as repeat, got ${repeats.ndim} dimensions`,
    );
  if (isFloat(repeats.dtype))
    throw new TypeMismatchError(`repeat_interleave: repeats has to be Long or Int tensor, got ${repeats.dtype}`);
  const places = placesOf(await repeats.data(), repeats.numel());
  return tensor(places, { dtype: repeats.dtype, device: repeats.device });
}

/** 0, 1, ..., n - 1, each as often as `times` says, whose only number may count for all. */
function placesOf(times: ArrayLike<number | bigint>, n: number): Int32Array {
  const often = Array.from({ length: n }, (_, i) => Number(times[times.length === 1 ? 0 : i]));
  if (often.some((count) => count < 0)) throw new OpError("repeat_interleave: repeats can not be negative");
  const total = often.reduce((sum, count) => sum + count, 0);
  checkShape([total], "repeat_interleave", "repeats");
  const places = new Int32Array(total);
  let end = 0;
  often.forEach((count, i) => places.fill(i, end, (end += count)));
  return places;
}

async function repeatedBy(
  input: Tensor,
  repeats: Tensor,
  axis: number,
  n: number,
  size: number | undefined | null,
): Promise<Tensor> {
  if (isFloat(repeats.dtype))
    throw new TypeMismatchError(`repeat_interleave: repeats has to be Long or Int tensor, got ${repeats.dtype}`);
  if (repeats.ndim > 1) throw new OpError("repeat_interleave: repeats must be 0-dim or 1-dim tensor");
  if (repeats.numel() !== 1 && repeats.numel() !== n) {
    throw new OpError(
      `repeat_interleave: repeats must have the same size as input along dim, but got repeats.size(0) = ${repeats.numel()} and input.size(${axis}) = ${n}`,
    );
  }
  const places = placesOf(await repeats.data(), n);
  if (size !== undefined && size !== null && size !== places.length) {
    throw new OpError(`repeat_interleave: Expected output_size to be ${places.length}, got ${size}`);
  }
  return kernels.index_select(input, axis, tensor(Int32Array.from(places), { device: input.device }));
}
