// Several views of one tensor: its parts along an axis.

import { OpError } from "../base/errors.js";
import { refuse, integer } from "../base/argument-kinds.js";
import { axisOf, integers, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import { sliceAxis, select } from "./views.js";

export interface DimOption {
  dim?: number;
}

/** Views that one op made together: PyTorch lets none of them be changed in place while recording. */
function several(parts: Tensor[]): Tensor[] {
  for (const part of parts) part.viewRule ??= "several";
  return parts;
}

export function split(x: Tensor, size_or_sections: number | readonly number[], dim?: number, op = "split"): Tensor[] {
  if (x.ndim === 0) throw new OpError(`${op}: split expects at least a 1-dimensional tensor`);
  const axis = axisOf(dim ?? 0, x.ndim, op),
    n = x.shape[axis]!;
  const name = op.endsWith("with_sizes") ? "split_sizes" : op === "split" ? "split_size_or_sections" : "split_size";
  if (typeof size_or_sections === "number") {
    const size = integer(size_or_sections, op, name);
    if (size < 0) throw new OpError(`${op}: split expects split_size be non-negative, but got split_size=${size}`);
    if (size === 0 && n !== 0)
      throw new OpError(`${op}: split_size can only be 0 if dimension size is 0, but got dimension size of ${n}`);
    const count = size === 0 ? 1 : Math.max(Math.ceil(n / size), 1);
    const parts = Array.from({ length: count }, (_, i) =>
      sliceAxis(x, axis, i * size, Math.min(size, n - i * size), 1, op),
    );
    return op.startsWith("unsafe") ? parts : several(parts);
  }
  if (!Array.isArray(size_or_sections)) refuse(op, name, "a whole number or a list of them", size_or_sections);
  const size = integers([size_or_sections], op, name),
    total = size.reduce((a, b) => a + b, 0);
  if (total !== n || size.some((s) => s < 0)) {
    throw new OpError(
      `${op}: split_with_sizes expects split_sizes to sum exactly to ${n} (input tensor's size at dimension ${axis}), ` +
        `but got split_sizes=${showShape(size)}`,
    );
  }
  let at = 0;
  return size.map((s) => sliceAxis(x, axis, (at += s) - s, s, 1, op));
}

export function chunk(x: Tensor, chunks: number, dim?: number, op = "chunk"): Tensor[] {
  if (x.ndim === 0) throw new OpError(`${op}: chunk expects at least a 1-dimensional tensor`);
  chunks = integer(chunks, op, "chunks");
  if (!(chunks > 0)) throw new OpError(`${op}: chunk expects \`chunks\` to be greater than 0, got: ${chunks}`);
  const axis = axisOf(dim ?? 0, x.ndim, op),
    size = Math.ceil(x.shape[axis]! / chunks);
  return size === 0 ? Array.from({ length: chunks }, () => sliceAxis(x, axis, 0, 0, 1, op)) : split(x, size, axis, op);
}

/** Parts along an axis that PyTorch's hsplit, vsplit and dsplit choose: equal ones, or cut at places. */
function splitAlong(x: Tensor, at: number | readonly number[], axis: number, least: number, op: string): Tensor[] {
  if (x.ndim < least)
    throw new OpError(
      `${op}: torch.${op} requires a tensor with at least ${least} dimension${least > 1 ? "s" : ""}, but got a tensor with ${x.ndim} dimensions!`,
    );
  const n = x.shape[axis]!;
  if (typeof at === "number" && (integer(at, op, "indices_or_sections") === 0 || n % at !== 0)) {
    throw new OpError(
      `${op}: torch.${op} attempted to split along dimension ${axis}, but the size of the dimension ${n} is not divisible by the split_size ${at}!`,
    );
  }
  return tensor_split(x, at, axis, op);
}

export const hsplit = (x: Tensor, at: number | readonly number[]): Tensor[] =>
  splitAlong(x, at, x.ndim === 1 ? 0 : 1, 1, "hsplit");
export const vsplit = (x: Tensor, at: number | readonly number[]): Tensor[] => splitAlong(x, at, 0, 2, "vsplit");
export const dsplit = (x: Tensor, at: number | readonly number[]): Tensor[] => splitAlong(x, at, 2, 3, "dsplit");

export function tensor_split(x: Tensor, at: number | readonly number[], dim?: number, op = "tensor_split"): Tensor[] {
  if (x.ndim === 0)
    throw new OpError(
      "tensor_split: tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    );
  const axis = axisOf(dim ?? 0, x.ndim, "tensor_split"),
    n = x.shape[axis]!;
  let bounds: number[];
  if (typeof at === "number") {
    if (!(integer(at, op, "indices_or_sections") > 0))
      throw new OpError(`tensor_split: number of sections must be larger than 0, got ${at}`);
    bounds = Array.from({ length: at - 1 }, (_, i) => (i + 1) * Math.floor(n / at) + Math.min(i + 1, n % at));
  } else if (!Array.isArray(at)) refuse(op, "indices_or_sections", "a whole number, a list of them or a tensor", at);
  else bounds = integers([at], op, "indices_or_sections").map((b) => Math.min(Math.max(b < 0 ? b + n : b, 0), n));
  return [...bounds, n].map((end, i) => {
    const start = i === 0 ? 0 : bounds[i - 1]!;
    return sliceAxis(x, axis, start, Math.max(end - start, 0), 1, "tensor_split");
  });
}

export function unbind(x: Tensor, dim?: number, op = "unbind"): Tensor[] {
  if (x.ndim === 0) throw new OpError(`${op}: iteration over a 0-d tensor`);
  const axis = axisOf(dim ?? 0, x.ndim, op);
  return several(Array.from({ length: x.shape[axis]! }, (_, i) => select(x, axis, i, op)));
}
