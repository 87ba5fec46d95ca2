// Fractional max pooling: sizes and random shifts of the windows; the formulas are in ops/pool.op.

import { run } from "../dispatch/call.js";
import type { CompiledOp } from "../program/compiled-op.js";
import * as copying from "../views/transfer.js";
import { rand } from "../creation/random-tensors.js";
import { OpError } from "../base/errors.js";
import { number } from "../base/argument-kinds.js";
import { signature } from "../tensor/signature.js";
import type { Tensor } from "../tensor/tensor.js";
import { fractional_pool2dOp, fractional_pool3dOp } from "../../ops/pool.js";
import * as views from "../views/views.js";

export interface FractionalPoolOptions {
  /** The size of the result; or `output_ratio`, its share of the input's. */
  output_size?: number | readonly number[] | null;
  /** The share of the input's size that the result's is, between 0 and 1, default null. */
  output_ratio?: number | readonly number[] | null;
  /** Whether the places of the elements, counted through the last axes, are answered as well, default false. */
  return_indices?: boolean;
  /** Numbers from 0 up to 1 that shift the windows, (batch, channels, axes); drawn if there are none. */
  _random_samples?: Tensor | null;
}
type PoolArguments =
  | [input: Tensor, kernel_size: number | readonly number[], options?: FractionalPoolOptions]
  | [
      input: Tensor,
      kernel_size: number | readonly number[],
      output_size: FractionalPoolOptions["output_size"],
      output_ratio?: FractionalPoolOptions["output_ratio"],
      return_indices?: boolean,
      _random_samples?: Tensor | null,
    ]
  | [
      input: Tensor,
      kernel_size: number | readonly number[],
      output_size: number | readonly number[],
      options: FractionalPoolOptions,
    ];
type Values = readonly number[] | number;

function pool(
  name: string,
  axes: number,
  op: CompiledOp,
  args: readonly unknown[],
): [values: Tensor, indices: Tensor, wanted: boolean] {
  const [input, kernel_size, output_size, output_ratio, return_indices, samples] = signature<
    [Tensor, Values, Values?, Values?, boolean?, Tensor?]
  >(
    `${name} input:tensor kernel_size:ints output_size:ints? output_ratio:any? return_indices:bool? _random_samples:tensor?`,
  )(args);
  const each = (value: Values, what: string): readonly number[] => {
    const given = (Array.isArray(value) ? value : [value]).map((v) => number(v, name, what)),
      list = given.length === 1 ? new Array<number>(axes).fill(given[0]!) : given;
    if (list.length !== axes)
      throw new OpError(`${name}: ${what} must either be a single number or ${axes} of them, got ${list.length}`);
    return list;
  };
  if (input.ndim !== axes + 1 && input.ndim !== axes + 2)
    throw new OpError(`${name}: Expected ${axes + 1}D or ${axes + 2}D tensor, but got ${input.ndim}D`);
  const spatial = input.shape.slice(-axes),
    given = output_size ?? null,
    ratio = output_ratio ?? null;
  if (given === null && ratio === null)
    throw new OpError(`${name} requires specifying either an output_size or an output_ratio`);
  const size =
    given !== null
      ? each(given, "output_size")
      : each(ratio!, "output_ratio").map((r, i) => Math.trunc(spatial[i]! * r));
  const batched = input.ndim === axes + 2,
    [batch, channels] = batched ? input.shape : [1, ...input.shape];
  const shifts = samples ?? rand([batch!, channels!, axes], { dtype: input.dtype, device: input.storage.device });
  if (shifts.ndim !== 3 || shifts.shape[0]! < batch! || shifts.shape[1]! < channels! || shifts.shape[2] !== axes) {
    throw new OpError(
      `${name}: Expect _random_samples of size (${batch}, ${channels}, ${axes}), got (${shifts.shape.join(", ")})`,
    );
  }
  const results = run(op, [
    input,
    copying.to(batched ? shifts : views.select(shifts, 0, 0), [input.dtype]),
    ...each(kernel_size, "kernel_size"),
    ...size,
  ]);
  const [values, indices] = [...(results as unknown as Iterable<Tensor>)] as [Tensor, Tensor];
  return [values, indices, return_indices ?? false];
}

type Pooled = Tensor | [values: Tensor, indices: Tensor];
const chosen = ([values, indices, wanted]: [Tensor, Tensor, boolean]): Pooled => (wanted ? [values, indices] : values);

/**
 * The largest element of windows that overlap unevenly, at random (Graham 2014), and their places if `return_indices`.
 *
 * @param input float tensor [N, C, H, W] or [C, H, W]
 * @param kernel_size the size of a window, of all axes or of each
 * @param output_size the size of the result; or `output_ratio`, its share of the input's
 *
 * @example
 * const places = torch.full([1, 1, 2], 0.5);
 * torch.nn.functional.fractional_max_pool2d(torch.arange(25).reshape([1, 1, 5, 5]).float(), 2, {
 *   output_size: 3,
 *   _random_samples: places,
 * })  // [[[[6, 8, 9], [16, 18, 19], [21, 23, 24]]]]
 */
export function fractional_max_pool2d(...args: PoolArguments): Pooled {
  return chosen(pool("fractional_max_pool2d", 2, fractional_pool2dOp, args));
}
/**
 * The same over three axes.
 *
 * @param input float tensor [N, C, D, H, W] or [C, D, H, W]
 * @param kernel_size the size of a window, of all axes or of each
 * @param output_size the size of the result; or `output_ratio`, its share of the input's
 *
 * @example
 * torch.nn.functional.fractional_max_pool3d(torch.rand([1, 1, 5, 5, 5]), 2, { output_ratio: 0.6 }).shape  // [1, 1, 3, 3, 3]
 */
export function fractional_max_pool3d(...args: PoolArguments): Pooled {
  return chosen(pool("fractional_max_pool3d", 3, fractional_pool3dOp, args));
}
/**
 * The elements and, always, their places.
 *
 * @param input float tensor [N, C, H, W] or [C, H, W]
 * @param kernel_size the size of a window, of all axes or of each
 * @param output_size the size of the result; or `output_ratio`, its share of the input's
 *
 * @example
 * const places = torch.full([1, 1, 2], 0.5);
 * const [values, indices] = torch.nn.functional.fractional_max_pool2d_with_indices(
 *   torch.eye(4).reshape([1, 1, 4, 4]), 2, { output_size: 2, _random_samples: places });
 * [values, indices]  // [[[[[1, 0], [0, 1]]]], [[[[0, 2], [8, 10]]]]]
 */
export function fractional_max_pool2d_with_indices(...args: PoolArguments): [values: Tensor, indices: Tensor] {
  const [values, indices] = pool("fractional_max_pool2d", 2, fractional_pool2dOp, args);
  return [values, indices];
}
/**
 * `fractional_max_pool3d`, and where each element stood.
 *
 * @param input float tensor [N, C, D, H, W] or [C, D, H, W]
 * @param kernel_size the size of a window, of all axes or of each
 * @param output_size the size of the result; or `output_ratio`, its share of the input's
 *
 * @example
 * const [values, indices] = torch.nn.functional.fractional_max_pool3d_with_indices(torch.rand([1, 1, 5, 5, 5]), 2, {
 *   output_size: 3,
 * });
 * [values.shape, indices.dtype]  // [[1, 1, 3, 3, 3], "int64"]
 */
export function fractional_max_pool3d_with_indices(...args: PoolArguments): [values: Tensor, indices: Tensor] {
  const [values, indices] = pool("fractional_max_pool3d", 3, fractional_pool3dOp, args);
  return [values, indices];
}
