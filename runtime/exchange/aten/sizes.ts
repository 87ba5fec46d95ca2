// ATen's operators whose results have a size that depends on values.

import { tensor, zeros } from "../../creation/create.js";
import { unique, unique_consecutive } from "../../functions/counting.js";
import { broadcast_tensors } from "../../functions/grids.js";
import type { Elements } from "../../program/compiled-op.js";
import * as torch from "../../../names/torch.js";
import type { Tensor } from "../../tensor/tensor.js";
import { contiguousStrides } from "../../base/shape.js";
import { to } from "../../views/transfer.js";
import * as views from "../../views/views.js";
import type { Operator } from "../operators.js";
import { here } from "../waiting.js";

/** The elements in order. */
function elementsOf(x: Tensor): Elements {
  const read = here(x).contiguous(),
    { elements } = read.storage as unknown as { elements: Elements };
  return elements.subarray(read.offset, read.offset + read.numel());
}

/** Where `input` is not zero: a list of places for each axis. */
function places(input: Tensor): number[][] {
  const x = input.dtype === "complex64" ? torch.ne(input, 0) : input,
    strides = contiguousStrides(x.shape),
    out: number[][] = x.shape.map(() => []),
    elements = elementsOf(x);
  for (let i = 0; i < elements.length; i++)
    if (Number(elements[i])) out.forEach((axis, d) => axis.push(Math.floor(i / strides[d]!) % x.shape[d]!));
  return out;
}

const indexTensor = (values: readonly number[], device: string): Tensor =>
  tensor(Int32Array.from(values), { dtype: "int64", shape: [values.length], device } as never);

/** What occurs, where, and how often: all three, whatever was asked for. */
const distinct = async (count: typeof unique | typeof unique_consecutive, x: unknown, options: object) =>
  (await count(x as Tensor, { return_inverse: true, return_counts: true, ...options } as never)) as unknown as Tensor[];

/** Where `x` is not zero: a tensor of places for each axis. */
const eachAxis: Operator = ({ args: [input] }) => {
  const x = input as Tensor;
  return places(x.ndim > 0 ? x : views.reshape(x, [1])).map((axis) => indexTensor(axis, x.device));
};

export const SIZES: Readonly<Record<string, Operator>> = {
  nonzero: ({ args: [input] }) => {
    const x = input as Tensor,
      found = places(x.ndim > 0 ? x : views.reshape(x, [1])),
      count = found[0]!.length,
      rows = new Int32Array(count * x.ndim);
    found.forEach((axis, d) => axis.forEach((at, i) => (rows[i * x.ndim + d] = at)));
    return tensor(rows, { dtype: "int64", shape: [count, x.ndim], device: x.device } as never);
  },
  "nonzero_numpy.default": eachAxis,
  "where.default": eachAxis,
  masked_select: ({ args: [input, mask] }) => {
    const [x] = broadcast_tensors(input as Tensor, mask as Tensor) as [Tensor],
      kept = elementsOf(views.expand(here(mask as Tensor), x.shape)),
      at = Array.from(kept, (_, i) => i).filter((i) => kept[i]);
    return torch.index_select(views.reshape(x, [-1]), 0, indexTensor(at, x.device));
  },
  _unique2: ({ args: [x] }) => distinct(unique, x, {}),
  unique_dim: ({ args: [x, dim] }) => distinct(unique, x, { dim }),
  unique_consecutive: ({ args: [x, , , dim] }) => distinct(unique_consecutive, x, { dim: dim ?? null }),
  unique_dim_consecutive: ({ args: [x, dim] }) => distinct(unique_consecutive, x, { dim }),
  bincount: ({ args: [input, weights, least], options }) => {
    const x = input as Tensor,
      elements = elementsOf(x);
    let size = Number(least ?? options["minlength"] ?? 0);
    for (let i = 0; i < elements.length; i++) size = Math.max(size, Number(elements[i]) + 1);
    const by = (weights ?? options["weights"]) as Tensor | undefined,
      ones = by ?? torch.add(torch.mul(x, 0), 1);
    return torch.scatter_add(
      zeros([size], { dtype: ones.dtype, device: x.device } as never),
      0,
      to(x, ["int64"]) as Tensor,
      ones,
    );
  },
};
