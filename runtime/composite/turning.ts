// Quarter turns in the plane of two axes.

import { OpError } from "../base/errors.js";
import { axesOf } from "../base/shape.js";
import { signature } from "../tensor/signature.js";
import type { Tensor } from "../tensor/tensor.js";
import { index_select } from "../../names/torch.js";
import { tensor } from "../creation/create.js";
import * as views from "../views/views.js";

const ROT90 = /* @__PURE__ */ signature<[Tensor, number?, number[]?]>("rot90 input:tensor k:int? dims:ints?");

function reversed(x: Tensor, axis: number): Tensor {
  const n = x.shape[axis]!;
  return index_select(
    x,
    axis,
    tensor(
      Int32Array.from({ length: n }, (_, i) => n - 1 - i),
      { device: x.device },
    ),
  ) as Tensor;
}

/**
 * The tensor turned by `k` quarters from the first of two axes towards the second.
 *
 * @param input tensor of two or more axes
 * @param k how many quarters; negative ones turn the other way; 1 unless given
 * @param dims the two axes; [0, 1] unless given
 *
 * @example
 * torch.rot90(torch.tensor([[1, 2], [3, 4]]))  // [[2, 4], [1, 3]]
 */
export function rot90(
  input: Tensor,
  k?: number | { k?: number; dims?: readonly number[] },
  dims?: readonly number[] | { dims?: readonly number[] },
): Tensor;
export function rot90(...args: unknown[]): Tensor {
  const [input, k = 1, list = [0, 1]] = ROT90(args);
  if (list.length !== 2) throw new OpError(`rot90: expected total rotation dims == 2, but got dims = ${list.length}`);
  if (input.ndim < 2) throw new OpError(`rot90: expected total dims >= 2, but got total dims = ${input.ndim}`);
  if (list[0] === list[1] || Math.abs(list[0]! - list[1]!) === input.ndim) {
    throw new OpError(`rot90: expected rotation dims to be different, but got dim0 = ${list[0]} and dim1 = ${list[1]}`);
  }
  const [a, b] = axesOf(list, input.ndim, "rot90") as [number, number],
    turns = ((k % 4) + 4) % 4;
  if (turns === 1) return views.owned(views.transpose(reversed(input, b), a, b));
  if (turns === 2) return reversed(reversed(input, a), b);
  return turns === 3 ? views.owned(views.transpose(reversed(input, a), a, b)) : input.clone();
}
