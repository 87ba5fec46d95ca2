// Functions that are an op with its arguments or results brought into another form.

import { run } from "../dispatch/call.js";
import * as copying from "../views/transfer.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { refuse, integer } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { axisOf } from "../base/shape.js";
import { cast } from "../tensor/copy.js";
import { check, tensorOf } from "../tensor/tensor-arguments.js";
import { Tensor, type TensorOrNumber } from "../tensor/tensor.js";
import { float_powerOp, nextafter_of_digitsOp } from "../../ops/arithmetic.js";
import { corrcoefOp, corrcoef_of_rowOp, covOp, cov_of_rowOp } from "../../ops/distance.js";
import { grid_sample } from "../../names/functional.js";
import { layer_norm_momentsOp } from "../../ops/norm.js";
import { fake_quantize_channelsOp } from "../../ops/quantised.js";
import { vector_normOp } from "../../ops/reduce.js";
import { promote_types } from "../../host/dtypes.js";
import { sub } from "../../names/torch.js";
import * as views from "../views/views.js";

/**
 * `input` to the power `exponent`, in float64 on the CPU and float32 on a GPU, which has no wider floats.
 *
 * @param input tensor or number: the base
 * @param exponent tensor or number, of a shape that broadcasts with it
 *
 * @example
 * torch.float_power(torch.tensor([1, 2, 3], { dtype: torch.int32 }), 2).dtype  // "float64"
 * torch.float_power(2, torch.tensor([1, 2, 3]))  // [2, 4, 8]
 */
export function float_power(input: TensorOrNumber, exponent: TensorOrNumber): Tensor {
  [input, exponent] = taken("float_power input exponent", arguments);
  if (!(input instanceof Tensor || exponent instanceof Tensor))
    throw new TypeMismatchError(
      `float_power: one of 'input' and 'exponent' must be a tensor, got ${describe(input)} and ${describe(exponent)}`,
    );
  const wide = (x: unknown) => (x instanceof Tensor ? copying.to(x, [x.device === "cpu" ? "float64" : "float32"]) : x);
  return run(float_powerOp, [wide(input), wide(exponent)]) as Tensor;
}

/**
 * Layer norm, with the mean and the reciprocal standard deviation of each sample, their axes kept with length 1.
 *
 * @param input float tensor [*, *normalized_shape]
 * @param normalized_shape the sizes of the last axes, over which each sample is normalized
 * @param weight tensor [*normalized_shape] that it is multiplied by
 * @param bias tensor [*normalized_shape] that is added
 * @param eps is added to the variance
 *
 * @example
 * torch.native_layer_norm(torch.tensor([[1, 3], [2, 6]]), [2], null, null, 0)  // [[[-1, 1], [-1, 1]], [[2], [4]], [[1], [0.5]]]
 */
export function native_layer_norm(
  input: Tensor,
  normalized_shape: readonly number[],
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
): [Tensor, Tensor, Tensor] {
  const all = taken("native_layer_norm input normalized_shape weight bias eps", arguments);
  const [out, mean, rstd] = run(layer_norm_momentsOp, all) as unknown as [Tensor, Tensor, Tensor];
  const x = all[0] as Tensor,
    shape = x.shape.map((n, i) => (i < mean.ndim ? n : 1));
  return [out, views.reshape(mean, shape), views.reshape(rstd, shape)];
}

/** A single row as a row: PyTorch then answers one number. */
function rowOf(input: unknown, op: string): [Tensor, boolean] {
  check(input, op, "input");
  const x =
    input.ndim === 0
      ? views.reshape(input, [1])
      : input.ndim === 2 && input.shape[0] === 1
        ? views.squeeze(input, 0)
        : input;
  return [x, x.ndim === 1];
}

export interface CovOptions {
  correction?: number;
  fweights?: Tensor | null;
  aweights?: Tensor | null;
}

/**
 * How the rows vary together: their covariances; of one row, its variance.
 *
 * @param input tensor [variables, observations]; of one axis: the observations of one variable
 * @param correction 1 divides by the observations less one, 0 by all of them
 * @param fweights whole numbers [observations]: how often each was made
 * @param aweights tensor [observations], not negative: how much each counts
 *
 * @example
 * torch.cov(torch.tensor([[1, 2, 3], [3, 2, 1]]))  // [[1, -1], [-1, 1]]
 */
export function cov(input: Tensor, options?: CovOptions): Tensor {
  [input, options] = taken("cov input | correction fweights aweights", arguments);
  const [x, single] = rowOf(input, "cov");
  return run(single ? cov_of_rowOp : covOp, [x, options]) as Tensor;
}

/**
 * How the rows vary together, from -1 to 1: covariances divided by standard deviations.
 *
 * @param input tensor [variables, observations]; of one axis: the observations of one variable
 *
 * @example
 * torch.corrcoef(torch.tensor([[1, 2, 3], [2, 4, 6], [3, 2, 1]]))  // [[1, 1, -1], [1, 1, -1], [-1, -1, 1]]
 */
export function corrcoef(input: Tensor): Tensor {
  [input] = taken("corrcoef input", arguments);
  const [x, single] = rowOf(input, "corrcoef");
  return run(single ? corrcoef_of_rowOp : corrcoefOp, [x]) as Tensor;
}

const MODES = ["bilinear", "nearest", "bicubic"] as const,
  PADDINGS = ["zeros", "border", "reflection"] as const;

/**
 * `grid_sample` with numbers for its modes: 0 bilinear, 1 nearest, 2 bicubic; 0 zeros, 1 border, 2 reflection.
 *
 * @param input float tensor [N, C, H, W] or [N, C, D, H, W]: pictures or volumes
 * @param grid float tensor [N, h, w, 2] or [N, d, h, w, 3]: where to look, from -1 to 1 along each axis, x first
 * @param interpolation_mode 0, 1 or 2: what is between the elements
 * @param padding_mode 0, 1 or 2: what is outside
 * @param align_corners whether -1 and 1 are the centres of the outermost elements, else their outer edges
 *
 * @example
 * const picture = torch.tensor([[[[1, 2], [3, 4]]]]), middle = torch.tensor([[[[0, 0]]]]);
 * torch.grid_sampler(picture, middle, 0, 0, true)  // [[[[2.5]]]]
 */
export function grid_sampler(
  input: Tensor,
  grid: Tensor,
  interpolation_mode: number,
  padding_mode: number,
  align_corners: boolean,
): Tensor {
  [input, grid, interpolation_mode, padding_mode, align_corners] = taken(
    "grid_sampler input grid interpolation_mode padding_mode align_corners",
    arguments,
  );
  const of = <T>(names: readonly T[], n: unknown, name: string): T =>
    names[integer(n, "grid_sampler", name)] ??
    refuse("grid_sampler", name, `a whole number from 0 to ${names.length - 1}`, n);
  return grid_sample(input, grid, {
    mode: of(MODES, interpolation_mode, "interpolation_mode") as "bilinear",
    padding_mode: of(PADDINGS, padding_mode, "padding_mode"),
    align_corners,
  }) as Tensor;
}

/**
 * `grid_sampler` of pictures.
 *
 * @example
 * const picture = torch.tensor([[[[1, 2], [3, 4]]]]), corner = torch.tensor([[[[1, -1]]]]);
 * torch.grid_sampler_2d(picture, corner, 1, 0, true)  // [[[[2]]]]
 */
export const grid_sampler_2d = grid_sampler;
/**
 * `grid_sampler` of volumes.
 *
 * @example
 * const cube = torch.arange(8).reshape([1, 1, 2, 2, 2]).float(), middle = torch.zeros([1, 1, 1, 1, 3]);
 * torch.grid_sampler_3d(cube, middle, 0, 0, true)  // [[[[[3.5]]]]]
 */
export const grid_sampler_3d = grid_sampler;

/**
 * The next number after `input` towards `other`.
 *
 * @param input float tensor of any shape
 * @param other float tensor: in which direction to go
 *
 * @example
 * torch.nextafter(torch.tensor([1]), torch.tensor([2])).sub(1).log2()  // [-23]
 */
export function nextafter(input: Tensor, other: Tensor): Tensor {
  [input, other] = taken("nextafter input other", arguments);
  for (const [name, x] of [
    ["input", input],
    ["other", other],
  ] as const)
    check(x, "nextafter", name);
  const dtype = promote_types(input.dtype, other.dtype),
    [digits, least] =
      dtype === "float64"
        ? [53, -1022]
        : dtype === "float16"
          ? [11, -14]
          : dtype === "bfloat16"
            ? [8, -126]
            : [24, -126];
  return run(nextafter_of_digitsOp, [input, other, digits, least]) as Tensor;
}

/**
 * The p-norm of `input - other`, of all elements together.
 *
 * @param input float tensor of any shape
 * @param other float tensor, of a shape that broadcasts with it
 * @param p the order of the norm; Infinity: the largest difference
 *
 * @example
 * torch.dist(torch.tensor([0, 0]), torch.tensor([3, 4]))  // 5
 * torch.dist(torch.tensor([0, 0]), torch.tensor([3, 4]), 1)  // 7
 */
export function dist(input: Tensor, other: Tensor, p: number | { p?: number } = 2): Tensor {
  [input, other, p = 2] = taken("dist input other p?", arguments);
  for (const t of [input, other])
    if (!(t instanceof Tensor))
      throw new TypeMismatchError(`dist: 'input' and 'other' must be tensors, got ${describe(t)}`);
  return run(vector_normOp, [sub(input, other), p ?? 2]) as Tensor;
}

/**
 * `input` rounded to multiples of the `scale` of each slice along `axis` and cut to the whole numbers from `quant_min` to
 * `quant_max`, of which the slice's `zero_point` is 0; the gradient is that of what is not cut off.
 *
 * @param input float tensor of any shape
 * @param scale tensor [channels]: the steps of each channel
 * @param zero_point tensor [channels]: the whole number that stands for 0
 * @param axis the axis of the channels
 * @param quant_min the least whole number
 * @param quant_max the greatest whole number
 *
 * @example
 * torch.fake_quantize_per_channel_affine(
 *   torch.tensor([[0.14, 9], [0.14, 9]]), torch.tensor([0.1, 1]), torch.tensor([0, 0]), 0, -8, 7)  // [[0.1, 0.7], [0, 7]]
 */
export function fake_quantize_per_channel_affine(
  input: Tensor,
  scale: Tensor,
  zero_point: Tensor,
  axis: number,
  quant_min: number,
  quant_max: number,
): Tensor;
export function fake_quantize_per_channel_affine(...args: unknown[]): Tensor {
  const op = "fake_quantize_per_channel_affine",
    [x, scales, zeros, axis, low, high] = taken(`${op} input scale zero_point axis quant_min quant_max`, args),
    input = tensorOf(x, op),
    at = axisOf(axis as number, input.ndim, op);
  const along = (given: unknown, name: string): Tensor => {
    const values = tensorOf(given, op, name);
    if (values.ndim !== 1 || values.numel() !== input.shape[at])
      throw new OpError(
        `${op}: ${name} should be a 1-D tensor of ${input.shape[at]} elements, one for each slice, got ${values.shape}`,
      );
    return views.reshape(
      values,
      input.shape.map((n, i) => (i === at ? n : 1)),
    );
  };
  const out = run(fake_quantize_channelsOp, [
    input,
    along(scales, "scale"),
    along(zeros, "zero_point"),
    low,
    high,
  ]) as Tensor;
  return cast(out, input.dtype, op); // scales of float32 beside lower floats make no wider result
}
