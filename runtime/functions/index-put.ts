// `index_put`: values written at the places that tensors of indices name.

import { TypeMismatchError } from "../base/errors.js";
import { refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { type IndexSpec, type Plain, assign, indexTensor } from "./indexing.js";

const PUT = "input indices values accumulate?";

/**
 * Writes `values` at the places that a list of index tensors (or masks, or null for an axis taken whole) names; with
 * `accumulate` adds them, also where a place is named more than once.
 */
export function index_put_(...args: unknown[]): Tensor {
  return put("index_put_", args, false);
}

/**
 * As index_put_, into a copy.
 *
 * @param input the tensor
 * @param indices list with an integer tensor for each axis, a bool mask, or null for an axis taken whole
 * @param values tensor of `input`'s type that broadcasts to the places
 * @param accumulate true or false: whether values are added to what is there, also where a place is named twice
 * @example
 * const places = torch.tensor([0, 2], { dtype: torch.long });
 * torch.index_put(torch.zeros(3), [places], torch.tensor([5, 7]))  // [5, 0, 7]
 * @example
 * const places = torch.tensor([1, 1], { dtype: torch.long });
 * torch.index_put(torch.zeros(3), [places], torch.tensor([5, 7]), true)  // [0, 12, 0]
 */
export function index_put(...args: unknown[]): Tensor {
  return put("index_put", args, true);
}

function put(op: string, args: readonly unknown[], copied: boolean): Tensor {
  const [x, indices, values, accumulate = false] = taken(`${op} ${PUT}`, args);
  check(x, op, "input");
  if (!Array.isArray(indices)) refuse(op, "indices", "a list of tensors", indices);
  check(values, op, "values");
  if (values.dtype !== x.dtype) {
    throw new TypeMismatchError(
      `${op}: Index put requires the source and destination dtypes match, got ${x.dtype} for the destination and ${values.dtype} for the source.`,
    );
  }
  const specs = (indices as IndexSpec[]).map((s) =>
    s === null || s === undefined ? ":" : Array.isArray(s) ? indexTensor(s) : s,
  ) as Plain[];
  return assign(copied ? x.clone() : x, specs, values, accumulate === true, op);
}
