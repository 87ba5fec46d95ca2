// What occurs in a tensor and how often: results whose size the values decide, so promises.

import { tensor } from "../creation/create.js";
import { isFloat, newElements } from "../elements/dtype.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import * as kernels from "../views/needed-ops.js";
import { count } from "../base/argument-kinds.js";
import { readExact } from "../tensor/read.js";
import { check } from "../tensor/tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import { axisOf, checkShape, numelOf, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { movedim } from "../views/views.js";
import * as views from "../views/views.js";

/** Numbers in ascending order; NaN, which equals nothing, comes last. */
const compare = (x: number, y: number): number =>
  x < y ? -1 : x > y ? 1 : x === y ? 0 : x === x ? -1 : y === y ? 1 : 0;

/** The distinct elements (along `dim`: slices) of `input`: the tensor, then what was asked for. */
async function distinct(
  op: string,
  input: Tensor,
  sorted: boolean,
  inverse: boolean,
  counts: boolean,
  dim: number | null,
): Promise<Tensor | Tensor[]> {
  if (input.dtype === "complex64") throw new TypeMismatchError(`${op}: "${op}" not implemented for complex64`);
  if (dim !== null && input.ndim === 0)
    throw new OpError(`${op}: Dimension specified as ${dim} but tensor has no dimensions`);
  const axis = dim === null ? null : axisOf(dim, input.ndim, op);
  const items = axis === null ? views.reshape(input, [-1]) : movedim(input, axis, 0),
    n = items.shape[0]!,
    width = numelOf(items.shape.slice(1));
  if (axis !== null && width === 0) {
    if (input.shape.some((size, d) => d !== axis && size === 0) && n > 0) {
      throw new OpError(`${op}: There are 0 sized dimensions, and they aren't selected, so unique cannot be applied`);
    }
  }
  const elements = await readExact(items, op),
    order = Int32Array.from({ length: n }, (_, i) => i);
  const between = (i: number, j: number): number => {
    for (let k = 0; k < width; k++) {
      const found = compare(elements[i * width + k]!, elements[j * width + k]!);
      if (found !== 0) return found;
    }
    return 0;
  };
  const same = (i: number, j: number): boolean => {
    for (let k = 0; k < width; k++) if (elements[i * width + k] !== elements[j * width + k]) return false;
    return true;
  };
  if (sorted) order.sort((i, j) => between(i, j) || i - j);
  const firsts: number[] = [],
    amounts: number[] = [],
    places = new Int32Array(n);
  order.forEach((i, at) => {
    if (at === 0 || !same(order[at - 1]!, i)) {
      firsts.push(i);
      amounts.push(0);
    }
    amounts[amounts.length - 1]!++;
    places[i] = firsts.length - 1;
  });
  const { device } = input,
    dtype = "int64",
    picked = kernels.index_select(items, 0, tensor(Int32Array.from(firsts), { device })).detach();
  const out = [axis === null ? picked : movedim(picked, 0, axis)];
  if (inverse) out.push(tensor(places, { shape: axis === null ? input.shape : [n], dtype, device }));
  if (counts) out.push(tensor(Int32Array.from(amounts), { dtype, device }));
  return out.length === 1 ? out[0]! : out;
}

/**
 * The distinct elements of `input` in ascending order, with `dim` its distinct slices; if asked, which of them each
 * element is, and how many there are of each.
 *
 * @example
 * await torch.unique(torch.tensor([3, 1, 3, 2]))  // [1, 2, 3]
 * @example
 * await torch.unique(torch.tensor([3, 1, 3]), { return_counts: true })  // [[1, 3], [1, 2]]
 */
export async function unique(...args: [Tensor, ...unknown[]]): Promise<Tensor | Tensor[]> {
  const [input, , inverse = false, counts = false, dim = null] = taken(
    "unique input sorted? return_inverse? return_counts? dim?",
    args,
  );
  check(input, "unique", "input");
  return distinct("unique", input, true, inverse === true, counts === true, dim as number | null);
}

/**
 * As unique, but only neighbours count as equal, and the order stays.
 *
 * @example
 * await torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))  // [1, 2, 1]
 */
export async function unique_consecutive(...args: [Tensor, ...unknown[]]): Promise<Tensor | Tensor[]> {
  const [input, inverse = false, counts = false, dim = null] = taken(
    "unique_consecutive input return_inverse? return_counts? dim?",
    args,
  );
  check(input, "unique_consecutive", "input");
  return distinct("unique_consecutive", input, false, inverse === true, counts === true, dim as number | null);
}

/**
 * How often each whole number from 0 on occurs in `input`, or how much of `weights` falls to it: then in float64, where
 * the device has it, unless they are float32.
 *
 * @param input integer tensor [N], nothing below 0
 * @param weights tensor [N], how much each element counts; without it 1
 * @param minlength integer, the least length of the result
 * @example
 * await torch.bincount(torch.tensor([0, 2, 2], { dtype: torch.long }))  // [1, 0, 2]
 * @example
 * await torch.bincount(torch.tensor([0, 2, 2], { dtype: torch.long }), torch.tensor([0.5, 1, 1]))  // [0.5, 0, 2]
 */
export async function bincount(...args: [Tensor, ...unknown[]]): Promise<Tensor> {
  const [input, weights = null, minlength = 0] = taken("bincount input weights? minlength?", args);
  check(input, "bincount", "input");
  if (isFloat(input.dtype)) throw new TypeMismatchError(`bincount: "bincount" not implemented for ${input.dtype}`);
  checkShape([count(minlength, "bincount", "minlength")], "bincount");
  if (weights !== null) check(weights, "bincount", "weights");
  if (weights instanceof Tensor && (weights.ndim !== 1 || weights.shape[0] !== input.shape[0])) {
    throw new OpError(
      `bincount: weights should be 1-d and have the same length as input, got ${showShape(weights.shape)}`,
    );
  }
  const elements = await input.data(),
    amounts = weights instanceof Tensor ? await weights.data() : null;
  if (input.ndim !== 1 || elements.some((value: number) => value < 0))
    throw new OpError("bincount: bincount only supports 1-d non-negative integral inputs.");
  let length = Number(minlength);
  elements.forEach((value: number) => {
    length = Math.max(length, Number(value) + 1);
  });
  const out = newElements("float64", length, "bincount");
  elements.forEach((value: number, i: number) => {
    out[value] += amounts ? amounts[i]! : 1;
  });
  const { device } = input,
    wide = device === "cpu" ? "float64" : "float32"; // a GPU has no float64
  return tensor(out, {
    dtype: weights instanceof Tensor ? (weights.dtype === "float32" ? "float32" : wide) : "int64",
    device,
  });
}
