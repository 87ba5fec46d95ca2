// ATen's operators whose results have a size that depends on values.  A program cannot wait for a GPU within a call, so
// they run on the CPU alone.

import { tensor, zeros } from "../creation/create.js";
import { OpError } from "../base/errors.js";
import { broadcast_tensors } from "../functions/join.js";
import * as torch from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import { contiguousStrides } from "../base/shape.js";
import { to } from "../views/transfer.js";
import * as views from "../views/views.js";
import type { Operator } from "./operators.js";

/** The elements in order, as `dtype`; only the CPU's memory can be read at once. */
function elementsOf(x: Tensor, dtype: "bool" | "int32", op: string): ArrayLike<number> {
  if (x.device !== "cpu")
    throw new OpError(
      `${op}: the size of its result depends on values on ${x.device}, which cannot be read at once; run the program on the CPU`,
    );
  const read = (to(x, [dtype]) as Tensor).contiguous(),
    { elements } = read.storage as unknown as { elements: Uint8Array | Int32Array };
  return elements.subarray(read.offset, read.offset + read.numel());
}

/** Where `x` is not zero: a list of places for each axis. */
function places(x: Tensor, op: string): number[][] {
  const strides = contiguousStrides(x.shape),
    out: number[][] = x.shape.map(() => []),
    elements = elementsOf(x, "bool", op);
  for (let i = 0; i < elements.length; i++)
    if (elements[i]) out.forEach((axis, d) => axis.push(Math.floor(i / strides[d]!) % x.shape[d]!));
  return out;
}

export const SIZES: Readonly<Record<string, Operator>> = {
  nonzero: ({ args: [input, ...rest], target }) => {
    void rest;
    const x = input as Tensor,
      found = places(x, target),
      count = found[0]?.length ?? Number(elementsOf(x, "bool", target)[0] !== 0),
      rows = new Int32Array(count * x.ndim);
    found.forEach((axis, d) => axis.forEach((at, i) => (rows[i * x.ndim + d] = at)));
    return tensor(rows, { shape: [count, x.ndim] });
  },
  "nonzero_numpy.default": ({ args: [x], target }) =>
    places(x as Tensor, target).map((axis) => tensor(Int32Array.from(axis), { shape: [axis.length] })),
  masked_select: ({ args, target }) => {
    const [x, mask] = broadcast_tensors(...(args as [Tensor, Tensor])) as [Tensor, Tensor],
      kept = elementsOf(mask, "bool", target),
      at = Int32Array.from(Array.from(kept, (_, i) => i).filter((i) => kept[i]));
    return torch.index_select(views.reshape(x, [-1]), 0, tensor(at, { shape: [at.length] }));
  },
  bincount: ({ args: [input, weights, least], options, target }) => {
    const x = input as Tensor,
      elements = elementsOf(x, "int32", target);
    let size = Number(least ?? options["minlength"] ?? 0);
    for (let i = 0; i < elements.length; i++) size = Math.max(size, elements[i]! + 1);
    const by = (weights ?? options["weights"]) as Tensor | undefined,
      ones = by ?? torch.add(torch.mul(x, 0), 1);
    return torch.scatter_add(zeros([size], { dtype: ones.dtype }), 0, to(x, ["int64"]) as Tensor, ones);
  },
};
