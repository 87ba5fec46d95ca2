// ONNX's operators of images: resizing, sampling between pixels, regions.

import { isFloat } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Table, range, reading } from "./definition.js";
import { F, T, cast, create, join, scalar, views } from "./library.js";
import { brought, numbers, wholes } from "../values.js";
import { type Taps, type Resizing, tapsOf } from "./taps.js";

/** One axis resized: each result is a weighted sum of a few elements. */
function resizedAxis(x: Tensor, axis: number, { places, weights, outside }: Taps, beyond: number): Tensor {
  const shape = range(x.ndim).map((i) => (i === axis ? -1 : 1)),
    row = (values: readonly number[]) =>
      views.reshape(create.tensor(values, { dtype: x.dtype, device: x.device }), shape),
    terms = places.map((at, k) => {
      const picked = T.index_select(x, axis, brought(wholes(at), x.device));
      return weights ? T.mul(picked, row(weights[k]!)) : picked;
    }),
    y = terms.reduce((a, b) => T.add(a, b) as Tensor) as Tensor;
  if (!outside.includes(true)) return y;
  const out = views.reshape(create.tensor(outside.map(Number), { dtype: "bool", device: x.device }), shape);
  return T.where(out, scalar(beyond, y), y) as Tensor;
}

const resize: Compute = ([x, roi, scales, sizes], attributes, { op }) => {
  const axes = (attributes.axes ?? range(x.ndim)).map((a: number) => (a < 0 ? a + x.ndim : a)) as number[],
    regions = roi && roi.numel() > 0 ? numbers(roi, op) : null,
    factors = scales && scales.numel() > 0 ? numbers(scales, op) : null,
    wanted = sizes && sizes.numel() > 0 ? numbers(sizes, op) : null,
    policy = attributes.keep_aspect_ratio_policy ?? "stretch",
    ratios = axes.map((axis, i) => (factors ? factors[i]! : wanted![i]! / x.shape[axis])),
    same = policy === "stretch" || factors ? null : (policy === "not_larger" ? Math.min : Math.max)(...ratios),
    way: Resizing = {
      mode: attributes.mode ?? "nearest",
      coordinates: attributes.coordinate_transformation_mode ?? "half_pixel",
      nearest: attributes.nearest_mode ?? "round_prefer_floor",
      cubic: attributes.cubic_coeff_a ?? -0.75,
      antialias: attributes.antialias === 1,
      exclude: attributes.exclude_outside === 1,
    };
  const whole = !isFloat(x.dtype) && way.mode !== "nearest";
  const y = axes.reduce<Tensor>(
    (image, axis, i) => {
      const n = x.shape[axis] as number,
        scale = same ?? ratios[i]!,
        // halves away from zero
        size = same !== null ? Math.floor(same * n + 0.5) : wanted ? wanted[i]! : Math.floor(n * scale),
        region = regions && way.coordinates === "tf_crop_and_resize" ? [regions[i]!, regions[i + axes.length]!] : null;
      if (size === n && scale === 1 && !region) return image;
      return resizedAxis(image, axis, tapsOf(n, size, scale, way, region), attributes.extrapolation_value ?? 0);
    },
    whole ? cast(x, "float32") : x,
  );
  return whole ? cast(T.round(y) as Tensor, x.dtype) : y;
};

const MODES: Readonly<Record<string, string>> = { linear: "bilinear", cubic: "bicubic" };

/** What lies between the pixels of flat images, at places of their own: (images, channels, points). */
function between(flat: Tensor, y: Tensor, x: Tensor, height: number, width: number): Tensor[] {
  const corner = (v: Tensor, n: number): readonly [Tensor, Tensor, Tensor] => {
      const low = T.clamp(T.floor(v), 0, n - 1) as Tensor,
        high = T.clamp(T.add(low, 1), 0, n - 1) as Tensor;
      return [low, high, T.sub(v, low) as Tensor];
    },
    [top, bottom, down] = corner(y, height),
    [left, right, across] = corner(x, width),
    [count, channels] = flat.shape as [number, number],
    pick = (row: Tensor, column: Tensor, weight: unknown): Tensor => {
      const at = cast(T.add(T.mul(row, width), column) as Tensor, "int64"),
        places = views.expand(views.unsqueeze(at, 1), [count, channels, at.shape[1]]);
      return T.mul(T.gather(flat, 2, places), views.unsqueeze(weight, 1)) as Tensor;
    },
    up = T.sub(1, down),
    back = T.sub(1, across);
  return [
    pick(top, left, T.mul(up, back)),
    pick(top, right, T.mul(up, across)),
    pick(bottom, left, T.mul(down, back)),
    pick(bottom, right, T.mul(down, across)),
  ];
}

const roiAlign: Compute = ([x, given, batches], attributes, { op, version }) => {
  const { output_height: rows = 1, output_width: columns = 1, spatial_scale = 1, sampling_ratio = 0 } = attributes,
    mode = attributes.mode ?? "avg",
    half =
      (attributes.coordinate_transformation_mode ?? (version < 16 ? "output_half_pixel" : "half_pixel")) ===
      "half_pixel",
    [, channels, height, width] = x.shape as [number, number, number, number],
    rois = T.sub(T.mul(given, spatial_scale), half ? 0.5 : 0) as Tensor,
    count = rois.shape[0]!,
    flat = views.reshape(T.index_select(x, 0, cast(batches, "int64")), [count, channels, height * width]) as Tensor;
  /** Of some regions that are all sampled alike. */
  const aligned = (images: Tensor, regions: Tensor, down: number, across: number): Tensor => {
    const side = (k: number) => views.select(regions, 1, k) as Tensor,
      length = (from: Tensor, to: Tensor) => {
        const size = T.sub(to, from) as Tensor;
        return (half ? size : T.clamp_min(size, 1)) as Tensor;
      },
      lines = (from: Tensor, size: Tensor, n: number, each: number) =>
        T.add(
          views.unsqueeze(from, 1),
          T.mul(
            views.unsqueeze(size, 1),
            T.div(T.add(create.arange(0, n * each, 1, { dtype: x.dtype, device: x.device }), 0.5), n * each),
          ),
        ) as Tensor,
      ys = lines(side(1), length(side(1), side(3)), rows, down),
      xs = lines(side(0), length(side(0), side(2)), columns, across),
      [r, h, w] = [regions.shape[0]!, rows * down, columns * across],
      grid = (v: Tensor, at: number) =>
        views.reshape(views.expand(views.unsqueeze(v, at), [r, h, w]), [r, h * w]) as Tensor,
      [y, z] = [grid(ys, 2), grid(xs, 1)],
      inside = T.logical_and(T.logical_and(T.ge(y, -1), T.le(y, height)), T.logical_and(T.ge(z, -1), T.le(z, width))),
      on = views.unsqueeze(cast(inside as Tensor, x.dtype), 1),
      corners = between(images, T.clamp(y, 0, height - 1), T.clamp(z, 0, width - 1), height, width),
      samples = T.mul(
        mode === "max"
          ? corners.reduce((a, b) => T.maximum(a, b) as Tensor)
          : corners.reduce((a, b) => T.add(a, b) as Tensor),
        on,
      ),
      blocks = views.reshape(samples, [r, channels, rows, down, columns, across]);
    return (mode === "max" ? T.amax(blocks, [3, 5]) : T.mean(blocks, [3, 5])) as Tensor;
  };
  if (sampling_ratio > 0) return aligned(flat, rois, sampling_ratio, sampling_ratio);
  const corners = numbers(rois, op),
    one = (i: number) => {
      const [left, top, right, bottom] = corners.slice(4 * i, 4 * i + 4) as [number, number, number, number],
        size = (n: number) => (half ? n : Math.max(1, n));
      return aligned(
        views.narrow(flat, 0, i, 1),
        views.narrow(rois, 0, i, 1),
        Math.max(1, Math.ceil(size(bottom - top) / rows)),
        Math.max(1, Math.ceil(size(right - left) / columns)),
      );
    };
  return count === 0
    ? create.zeros([0, channels, rows, columns], { dtype: x.dtype, device: x.device })
    : join.cat(range(count).map(one), 0);
};

/** A convolution whose samples lie where offsets put them. */
const deformConv: Compute = ([x, weight, offset, bias, mask], attributes) => {
  const [n, c, height, width] = x.shape as [number, number, number, number],
    [outputs, inner, kh, kw] = weight.shape as [number, number, number, number],
    { strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0], group = 1, offset_group: parts = 1 } = attributes,
    [oh, ow] = offset.shape.slice(2) as [number, number],
    taps = kh * kw,
    offsets = views.reshape(offset, [n * parts, taps, 2, oh, ow]),
    line = (size: number, stride: number, pad: number) =>
      T.sub(T.mul(create.arange(0, size, 1, { dtype: x.dtype, device: x.device }), stride), pad),
    base = (k: number, dilation: number, of: number) => {
      const step = create.tensor(
        range(taps).map((t) => (of === 0 ? Math.floor(t / kw) : t % kw) * dilation),
        { dtype: x.dtype, device: x.device },
      );
      return views.reshape(step, [taps, 1, 1]) as Tensor;
    },
    y = T.add(
      T.add(base(kh, dilations[0], 0), views.reshape(line(oh, strides[0], pads[0]), [oh, 1])),
      views.select(offsets, 2, 0),
    ),
    z = T.add(
      T.add(base(kw, dilations[1], 1), views.reshape(line(ow, strides[1], pads[1]), [1, ow])),
      views.select(offsets, 2, 1),
    ),
    unit = (v: unknown, size: number) => T.sub(T.div(v, (size - 1) / 2), 1),
    grid = views.reshape(join.stack([unit(z, width), unit(y, height)], -1), [n * parts, taps * oh, ow, 2]),
    images = views.reshape(x, [n * parts, c / parts, height, width]),
    sampled = views.reshape(
      F.grid_sample(images, grid, { mode: "bilinear", padding_mode: "zeros", align_corners: true }),
      [n, parts, c / parts, taps, oh * ow],
    ),
    shown = mask ? T.mul(sampled, views.reshape(mask, [n, parts, 1, taps, oh * ow])) : sampled,
    columns = views.reshape(shown, [n, group, inner * taps, oh * ow]),
    rows = views.reshape(weight, [group, outputs / group, inner * taps]),
    sums = views.reshape(T.matmul(rows, columns), [n, outputs, oh, ow]);
  return bias ? T.add(sums, views.reshape(bias, [-1, 1, 1])) : sums;
};

export const IMAGES: Table = {
  Resize: reading([1, 2, 3], (inputs, attributes, context) =>
    context.version < 11
      ? resize([inputs[0], null, inputs[1]], { ...attributes, ...OLD_RESIZE }, context)
      : resize(inputs, attributes, context),
  ),
  Upsample: reading([1], ([x, scales], attributes, context) =>
    resize(
      [
        x,
        null,
        scales ?? wholes([]),
        scales ? null : wholes((attributes.scales as number[]).map((s, i) => Math.floor(s * x.shape[i]))),
      ],
      { ...attributes, ...OLD_RESIZE },
      context,
    ),
  ),
  GridSample: ([x, grid], { mode = "linear", padding_mode = "zeros", align_corners = 0 }) =>
    F.grid_sample(x, grid, {
      mode: Object.hasOwn(MODES, mode) ? MODES[mode] : mode,
      padding_mode,
      align_corners: align_corners !== 0,
    }),
  AffineGrid: reading([1], ([theta, size], { align_corners = 0 }, { op }) =>
    F.affine_grid(theta, numbers(size, op), align_corners !== 0),
  ),
  RoiAlign: roiAlign,
  DeformConv: deformConv,
};
const OLD_RESIZE = { coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
