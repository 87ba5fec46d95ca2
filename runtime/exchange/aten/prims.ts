// PyTorch's primitive operators (torch.ops.prims), which decomposing a program may leave: those that are no function here
// of the same name and arguments.

import * as create from "../../creation/create.js";
import { full_like } from "../../creation/filled.js";
import { flip } from "../../functions/tensor-functions.js";
import * as torch from "../../../names/torch.js";
import type { DType } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { copy_, to } from "../../views/transfer.js";
import * as views from "../../views/views.js";
import { numberOf } from "../higher-order.js";
import type { Call, Operator } from "../operators.js";

const on = ({ options, device }: Call): never => ({ dtype: options["dtype"] ?? null, device }) as never;
/** With the arguments by place. */
const by =
  (compute: (...args: never[]) => unknown): Operator =>
  ({ args }) =>
    compute(...(args as never[]));

/** Along the axes that are named, null: all of them; of none the elements stay. */
const reduced =
  (reduce: (x: Tensor, dim: number[]) => unknown): Operator =>
  ({ args: [input, dims], options: { output_dtype } }) => {
    const x = input as Tensor,
      axes = (dims as number[] | null) ?? x.shape.map((_, axis) => axis),
      out = axes.length > 0 ? (reduce(x, axes) as Tensor) : x.clone();
    return output_dtype ? to(out, [output_dtype]) : out;
  };

/** Axes from one to another, both among them, as one. */
const collapsed = (x: Tensor, start: number, end: number): Tensor =>
  views.reshape(x, [
    ...x.shape.slice(0, start),
    x.shape.slice(start, end + 1).reduce((a, b) => a * b, 1),
    ...x.shape.slice(end + 1),
  ]);

export const PRIMS: Readonly<Record<string, Operator>> = {
  scalar_tensor: (call) => create.full([], call.args[0] as number, on(call)),
  full: (call) => create.full(call.args[0] as number[], call.args[1] as number, on(call)),
  full_like: (call) => full_like(call.args[0] as Tensor, call.args[1] as number, on(call)),
  empty_strided: (call) => create.empty(call.args[0] as number[], on(call)),
  empty_permuted: (call) => create.empty(call.args[0] as number[], on(call)),
  iota: (call) => {
    const [start, step] = ["start", "step"].map((name) => call.options[name] as number) as [number, number];
    return create.arange(start, start + step * (call.args[0] as number), step, on(call));
  },
  convert_element_type: by((x: Tensor, dtype: DType) => to(x, [dtype])),
  device_put: by((x: Tensor) => x),
  view_of: by((x: Tensor) => views.view(x, x.shape as never)),
  item: by((x: Tensor) => numberOf(x, "item")),
  copy_to: by((x: Tensor, source: Tensor) => copy_(x, source)),
  copy_strided: by((x: Tensor) => x.clone()),
  transpose: by((x: Tensor, axes: number[]) => views.permute(x, axes)),
  broadcast_in_dim: by((x: Tensor, shape: number[], axes: number[]) => {
    const placed = shape.map((_, axis) => (axes.includes(axis) ? x.shape[axes.indexOf(axis)]! : 1));
    return views.expand(views.reshape(x, placed), shape);
  }),
  collapse: by(collapsed),
  collapse_view: by(collapsed),
  split_dim: by((x: Tensor, axis: number, outer: number) =>
    views.reshape(x, [...x.shape.slice(0, axis), outer, x.shape[axis]! / outer, ...x.shape.slice(axis + 1)]),
  ),
  rev: by((x: Tensor, axes: number[]) => flip(x, axes)),
  erf_inv: by((x: Tensor) => torch.erfinv(x)),
  shift_left: by((x: Tensor, by_: Tensor) => torch.bitwise_left_shift(x, by_)),
  shift_right_arithmetic: by((x: Tensor, by_: Tensor) => torch.bitwise_right_shift(x, by_)),
  sum: reduced((x, dim) => torch.sum(x, { dim } as never)),
  prod: reduced((x, dim) =>
    [...dim].sort((a, b) => b - a).reduce((y: Tensor, axis) => torch.prod(y, axis as never) as Tensor, x),
  ),
  amax: reduced((x, dim) => torch.amax(x, dim)),
  amin: reduced((x, dim) => torch.amin(x, dim)),
  var: (call) => reduced((x, dim) => torch.var(x, { dim, correction: call.args[2] ?? 1 } as never))(call),
};
