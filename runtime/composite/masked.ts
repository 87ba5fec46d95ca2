// torch.masked: what runs along an axis, with the elements outside the mask made to count for nothing.

import { cast } from "../tensor/copy.js";
import { TypeMismatchError } from "../base/errors.js";
import { type DType, toDType } from "../elements/dtype.js";
import { full } from "../creation/create.js";
import { taken } from "../base/named-arguments.js";
import { check } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { cumprod as product, cumsum as sum, nanmedian, where } from "../../names/torch.js";
import * as views from "../views/views.js";

export interface AlongOptions {
  /** The axis. */
  dim?: number;
  /** What `input` is cast to first. */
  dtype?: DType | null;
  /** Of truth values, of a shape that broadcasts with `input`: which elements count; all unless given. */
  mask?: Tensor | null;
}
export interface MedianOptions extends AlongOptions {
  /** Whether the axis stays, with length 1. */
  keepdim?: boolean;
}

/** The input with `value` where the mask does not hold; and its axis. */
function filled(
  op: string,
  input: unknown,
  dim: unknown,
  dtype: unknown,
  mask: unknown,
  value: number,
): [Tensor, number] {
  check(input, op, "input");
  if (dim === undefined) throw new TypeMismatchError(`${op}: missing required argument 'dim'`);
  const x = dtype ? cast(input, toDType(dtype, op), op) : input;
  if (mask === undefined || mask === null) return [x, dim as number];
  if (!(mask instanceof Tensor) || mask.dtype !== "bool")
    throw new TypeMismatchError(`${op}: 'mask' must be a bool tensor`);
  return [
    where(views.expand(mask, x.shape), x, full([], value, { dtype: x.dtype, device: x.device })) as Tensor,
    dim as number,
  ];
}

/**
 * The sum of the elements under the mask up to and including each one.
 *
 * @param input tensor of any shape
 * @param dim the axis
 *
 * @example
 * torch.masked.cumsum(torch.tensor([1, 2, 3]), 0, { mask: torch.tensor([true, false, true]) })  // [1, 1, 4]
 */
export function cumsum(input: Tensor, dim: number, options?: AlongOptions): Tensor;
export function cumsum(...args: unknown[]): Tensor {
  const [input, dim, dtype, mask] = taken("masked.cumsum input dim dtype? mask?", args);
  return sum(...filled("masked.cumsum", input, dim, dtype, mask, 0)) as Tensor;
}

/**
 * The product of the elements under the mask up to and including each one.
 *
 * @param input tensor of any shape
 * @param dim the axis
 *
 * @example
 * torch.masked.cumprod(torch.tensor([2, 3, 4]), 0, { mask: torch.tensor([true, false, true]) })  // [2, 2, 8]
 */
export function cumprod(input: Tensor, dim: number, options?: AlongOptions): Tensor;
export function cumprod(...args: unknown[]): Tensor {
  const [input, dim, dtype, mask] = taken("masked.cumprod input dim dtype? mask?", args);
  return product(...filled("masked.cumprod", input, dim, dtype, mask, 1)) as Tensor;
}

/**
 * The middle one of the elements under the mask along `dim`; NaN where there is none.  Floating point only.
 *
 * @param input tensor of any shape
 * @param dim the axis
 *
 * @example
 * torch.masked.median(torch.tensor([[1, 9, 2, 7]]), 1, { mask: torch.tensor([[true, false, true, true]]) })  // [2]
 */
export function median(input: Tensor, dim: number, options?: MedianOptions): Tensor;
export function median(...args: unknown[]): Tensor {
  const [input, dim, keepdim, dtype, mask] = taken("masked.median input dim? keepdim? dtype? mask?", args);
  const [x, axis] = filled("masked.median", input, dim ?? -1, dtype, mask, NaN);
  if (!x.is_floating_point())
    throw new TypeMismatchError(`masked.median: expected a floating point tensor, but got ${x.dtype}`);
  return (nanmedian(x, axis, (keepdim ?? false) as boolean) as { values: Tensor }).values;
}
