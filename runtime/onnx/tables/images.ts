// ONNX's operators of images: resizing, sampling between pixels, regions.

import { isFloat } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Table, range, reading } from "./definition.js";
import { F, T, cast, create, scalar, views } from "./library.js";
import { deformedConvolution, pooledCells, pooledRegions, regionsOf } from "../../vision/regions.js";
import { brought, numbers, integers } from "../values.js";
import { type Taps, type Resizing, tapsOf } from "./taps.js";

/** One axis resized: each result is a weighted sum of a few elements. */
function resizedAxis(x: Tensor, axis: number, { places, weights, outside }: Taps, beyond: number): Tensor {
  const shape = range(x.ndim).map((i) => (i === axis ? -1 : 1)),
    row = (values: readonly number[]) =>
      views.reshape(create.tensor(values, { dtype: x.dtype, device: x.device }), shape),
    terms = places.map((at, k) => {
      const picked = T.index_select(x, axis, brought(integers(at), x.device));
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

const roiAlign: Compute = ([x, boxes, images], attributes, { op, version }) => {
  const { output_height: rows = 1, output_width: columns = 1, spatial_scale = 1, sampling_ratio = 0 } = attributes,
    coordinates = attributes.coordinate_transformation_mode ?? (version < 16 ? "output_half_pixel" : "half_pixel");
  return pooledRegions(
    x,
    boxes,
    cast(images, "int64"),
    {
      rows,
      columns,
      scale: spatial_scale,
      ratio: sampling_ratio,
      aligned: coordinates === "half_pixel",
      mode: attributes.mode ?? "avg",
    },
    () => numbers(boxes, op),
  );
};

const maxRoiPool: Compute = ([x, rois], { pooled_shape, spatial_scale = 1 }, { op }) => {
  const [rows, columns] = pooled_shape as [number, number];
  return pooledCells(x, ...regionsOf(rois, op), { rows, columns, scale: spatial_scale, position: false }, () =>
    numbers(rois, op).filter((_, i) => i % 5 > 0),
  )[0];
};

const deformConv: Compute = ([x, weight, offset, bias, mask], attributes) =>
  deformedConvolution(x, weight, offset, {
    bias,
    mask,
    stride: attributes.strides ?? [1, 1],
    padding: attributes.pads ?? [0, 0],
    dilation: attributes.dilations ?? [1, 1],
    groups: attributes.group ?? 1,
    parts: attributes.offset_group ?? 1,
  });

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
        scales ?? integers([]),
        scales ? null : integers((attributes.scales as number[]).map((s, i) => Math.floor(s * x.shape[i]))),
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
  MaxRoiPool: maxRoiPool,
  DeformConv: deformConv,
};
const OLD_RESIZE = { coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
