// ATen's operators of images: resizing, margins, sampling between pixels.

import {
  fractional_max_pool2d_with_indices,
  fractional_max_pool3d_with_indices,
} from "../../composite/fractional-pool.js";
import * as F from "../../../names/functional.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Operator } from "../operators.js";

type Sizes = readonly number[];
type Maybe<T> = T | null | undefined;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const named = F as unknown as Readonly<Record<string, (...args: any[]) => Tensor>>;

/** Interpolation by `size`, or by the scales behind it where those say that size, too. */
const resized =
  (mode: string, more: object = {}): Operator =>
  ({ args: [image, size, ...rest] }) => {
    const x = image as Tensor,
      align_corners = rest.find((v) => typeof v === "boolean"),
      scale_factor = rest.flat().filter((v) => typeof v === "number"),
      sizes = size as Maybe<Sizes>,
      scaled =
        scale_factor.length > 0 &&
        (sizes?.every((n, i) => n === Math.floor(x.shape[i + 2]! * scale_factor[i]!)) ?? true);
    return F.interpolate(x, {
      ...(scaled ? { scale_factor } : { size: [...sizes!] }),
      ...(align_corners === undefined ? {} : { align_corners }),
      mode,
      ...more,
    } as never);
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
  ...under(everyRank("upsample_nearest"), resized("nearest")),
  ...under(everyRank("_upsample_nearest_exact"), resized("nearest-exact")),
  ...under(["upsample_linear1d"], resized("linear")),
  ...under(["upsample_bilinear2d"], resized("bilinear")),
  ...under(["upsample_trilinear3d"], resized("trilinear")),
  ...under(["upsample_bicubic2d"], resized("bicubic")),
  ...under(["_upsample_bilinear2d_aa"], resized("bilinear", { antialias: true })),
  ...under(["_upsample_bicubic2d_aa"], resized("bicubic", { antialias: true })),
  ...under(["_upsample_lanczos2d_aa"], resized("lanczos", { antialias: true })),
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
