// ATen's operators of images: resizing, margins, sampling between pixels.

import {
  fractional_max_pool2d_with_indices,
  fractional_max_pool3d_with_indices,
} from "../composite/fractional-pool.js";
import { tensor } from "../creation/create.js";
import * as F from "../../names/functional.js";
import * as torch from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import type { Operator } from "./operators.js";

type Sizes = readonly number[];
type Maybe<T> = T | null | undefined;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const named = F as unknown as Readonly<Record<string, (...args: any[]) => Tensor>>;

/** How much a neighbour at a distance counts, and how far there are any. */
interface Kernel {
  readonly reach: number;
  at(distance: number): number;
}
const TENT: Kernel = { reach: 1, at: (x) => Math.max(0, 1 - Math.abs(x)) };
/** The cubic convolution kernel. */
const cubic = (a: number): Kernel => ({
  reach: 2,
  at: (signed) => {
    const x = Math.abs(signed);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  },
});
/** The (size, n) weights by which `n` elements become `size`: of those around each place, those at the ends once more. */
function interpolating(n: number, size: number, step: number, { reach, at }: Kernel, align: boolean): number[][] {
  return Array.from({ length: size }, (_, i) => {
    const place = align ? step * i : step * (i + 0.5) - 0.5,
      from = reach === 1 ? Math.min(Math.max(place, 0), n - 1) : place,
      first = Math.floor(from) - reach + 1,
      weights = new Array<number>(n).fill(0);
    for (let j = first; j < first + 2 * reach; j++) weights[Math.min(Math.max(j, 0), n - 1)]! += at(from - j);
    return weights;
  });
}

/** The same where elements become fewer and each averages what falls on it. */
function averaging(n: number, size: number, step: number, { reach, at }: Kernel): number[][] {
  const wide = Math.max(step, 1),
    support = reach * wide;
  return Array.from({ length: size }, (_, i) => {
    const centre = step * (i + 0.5),
      first = Math.max(0, Math.trunc(centre - support + 0.5)),
      end = Math.min(n, Math.trunc(centre + support + 0.5)),
      weights = Array.from({ length: n }, (_, j) => (j < first || j >= end ? 0 : at((j - centre + 0.5) / wide))),
      sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((w) => (sum === 0 ? 0 : w / sum));
  });
}

/** The (size, n) weights of a kind of interpolation. */
type Weights = (n: number, size: number, step: number, align: boolean) => number[][];

/** Images whose axes become `sizes` by weights, one axis after the other; `scales`: by how much, where that was given. */
function resizedBy(
  x: Tensor,
  sizes: Sizes,
  scales: readonly Maybe<number>[],
  align: boolean,
  weights: Weights,
): Tensor {
  return sizes.reduce<Tensor>((made, size, i) => {
    const axis = i + 2,
      n = x.shape[axis]!,
      step = align ? (size > 1 ? (n - 1) / (size - 1) : 0) : scales[i] ? 1 / scales[i]! : n / size,
      rows = tensor(weights(n, size, step, align), { dtype: x.dtype, device: x.device } as never),
      last = views.transpose(made, axis, -1);
    return views.transpose(torch.matmul(last, views.t(rows)) as Tensor, axis, -1);
  }, x);
}

/** Of the arguments behind the size of an operator of images: whether corners are aligned, and by how much it scales. */
function resizing(x: Tensor, size: Maybe<Sizes>, rest: readonly unknown[]) {
  const align = rest.find((v) => typeof v === "boolean"),
    scales = rest.flat().filter((v) => typeof v === "number");
  return { align, scales, sizes: size ?? scales.map((s, i) => Math.floor(x.shape[i + 2]! * s)) };
}

/** Interpolation by `size` or `scales`; those that differ by axis are no function's here. */
const resized =
  (mode: string, weights: Weights): Operator =>
  ({ args: [image, size, ...rest] }) => {
    const x = image as Tensor,
      { align, scales, sizes } = resizing(x, size as Maybe<Sizes>, rest),
      even = scales.every((s) => s === scales[0]);
    if (scales.length > 0 && !even) return resizedBy(x, sizes, scales, align ?? false, weights);
    return F.interpolate(x, {
      ...(size ? { size: [...sizes] } : { scale_factor: scales[0]! }),
      mode,
      ...(align === undefined ? {} : { align_corners: align }),
    } as never);
  };
const kernel =
  (of: Kernel): Weights =>
  (n, size, step, align) =>
    interpolating(n, size, step, of, align);
/** One weight of 1: of the element under `step * (i + offset)`. */
const nearest =
  (offset: number): Weights =>
  (n, size, step) =>
    Array.from({ length: size }, (_, i) => {
      const place = Math.min(Math.floor(Math.fround(Math.fround(step) * (i + offset))), n - 1);
      return Array.from({ length: n }, (_, j) => Number(j === place));
    });

/** Interpolation of images by weights that average. */
const antialiased =
  (of: Kernel): Operator =>
  ({ args: [image, size, ...rest] }) => {
    const x = image as Tensor,
      { align, scales, sizes } = resizing(x, size as Maybe<Sizes>, rest);
    return resizedBy(x, sizes, scales, align ?? false, (n, to, step) => averaging(n, to, step, of));
  };

const padded =
  (mode: string): Operator =>
  ({ args: [x, pad] }) =>
    named["pad"]!(x, pad, mode);

const INTERPOLATION = ["bilinear", "nearest", "bicubic"],
  PADDING = ["zeros", "border", "reflection"],
  MARGINS = ["reflect", "replicate", "circular", "constant"];

/** An operator under these names, by size and by scales. */
function under(names: readonly string[], operator: Operator): Record<string, Operator> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [name, operator],
      [`${name}.vec`, operator],
    ]),
  );
}

/** The names for images of one, two and three axes. */
const everyRank = (name: string) => [1, 2, 3].map((axes) => `${name}${axes}d`);

const sampled: Operator = ({ args: [x, grid, mode, padding, align_corners] }) =>
  named["grid_sample"]!(x, grid, {
    mode: INTERPOLATION[mode as number],
    padding_mode: PADDING[padding as number],
    align_corners,
  });

/** Windows of which as many as there are elements end where the size that is given does. */
function unpooled(name: string, x: unknown, indices: unknown, size: unknown): Tensor {
  const sizes = size as Sizes,
    from = (x as Tensor).shape.slice(-sizes.length),
    windows = sizes.map((n, i) => n - from[i]! + 1);
  return named[name]!(x, indices, windows, { stride: 1, output_size: sizes });
}

/** Pooling whose windows are shifted by random numbers that are given. */
const shifted =
  (pool: typeof fractional_max_pool2d_with_indices): Operator =>
  ({ args: [x, windows, output_size, _random_samples] }) =>
    pool(x as Tensor, windows as Sizes, {
      output_size: output_size as Sizes,
      _random_samples: _random_samples as Tensor,
    });

export const IMAGES: Readonly<Record<string, Operator>> = {
  ...under(everyRank("upsample_nearest"), resized("nearest", nearest(0))),
  ...under(everyRank("_upsample_nearest_exact"), resized("nearest-exact", nearest(0.5))),
  ...under(["upsample_linear1d"], resized("linear", kernel(TENT))),
  ...under(["upsample_bilinear2d"], resized("bilinear", kernel(TENT))),
  ...under(["upsample_trilinear3d"], resized("trilinear", kernel(TENT))),
  ...under(["upsample_bicubic2d"], resized("bicubic", kernel(cubic(-0.75)))),
  ...under(["_upsample_bilinear2d_aa"], antialiased(TENT)),
  ...under(["_upsample_bicubic2d_aa"], antialiased(cubic(-0.5))),
  ...under(everyRank("reflection_pad"), padded("reflect")),
  ...under(everyRank("replication_pad"), padded("replicate")),
  _pad_circular: padded("circular"),
  // A value of 0 may stand beside modes that have none.
  pad: ({ args: [x, pad, mode, value] }) =>
    named["pad"]!(x, pad, mode ?? "constant", ...(!value && (mode ?? "constant") !== "constant" ? [] : [value ?? 0])),
  _pad_enum: ({ args: [x, pad, mode, value] }) =>
    named["pad"]!(x, pad, MARGINS[mode as number], ...((value ?? null) === null ? [] : [value])),
  fractional_max_pool2d: shifted(fractional_max_pool2d_with_indices),
  fractional_max_pool3d: shifted(fractional_max_pool3d_with_indices),
  // with the size of the result where the functions have that of windows
  max_unpool2d: ({ args: [x, indices, size] }) => unpooled("max_unpool2d", x, indices, size),
  max_unpool3d: ({ args: [x, indices, size] }) => unpooled("max_unpool3d", x, indices, size),
  grid_sampler: sampled,
  grid_sampler_2d: sampled,
  grid_sampler_3d: sampled,
};
