// ONNX's operators of networks: convolutions, pools, normalisation.

import { isFloat } from "../../elements/dtype.js";
import { numelOf } from "../../base/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Attributes, type Compute, type Table, axisOf, range, reading } from "./definition.js";
import { F, T, cast, create, join, ofAxes, scattering, turned, views } from "./library.js";
import { bordered, isEven, windowsOf } from "./windows.js";
import { numbers } from "../values.js";

/** A convolution with borders that may differ on both sides. */
export function convolved(x: Tensor, weight: Tensor, bias: Tensor | null, attributes: Attributes): Tensor {
  const axes = x.ndim - 2,
    windows = windowsOf(x.shape.slice(2), weight.shape.slice(2), attributes),
    even = isEven(windows);
  return ofAxes("conv", axes)(even ? x : bordered(x, windows, 0), weight, {
    ...(bias ? { bias } : {}),
    stride: windows.strides,
    padding: even ? windows.before : 0,
    dilation: windows.dilations,
    groups: attributes.group ?? 1,
  }) as Tensor;
}

const convTranspose: Compute = ([x, weight, bias], attributes) => {
  const kernel = weight.shape.slice(2) as number[],
    axes = kernel.length,
    strides = (attributes.strides ?? kernel.map(() => 1)) as number[],
    dilations = (attributes.dilations ?? kernel.map(() => 1)) as number[],
    output_padding = (attributes.output_padding ?? kernel.map(() => 0)) as number[],
    auto = attributes.auto_pad ?? "NOTSET",
    pads = (attributes.pads ?? new Array<number>(2 * axes).fill(0)) as number[],
    wanted = (attributes.output_shape ??
      (auto.startsWith("SAME") ? x.shape.slice(2).map((n: number, i: number) => n * strides[i]!) : null)) as
      | number[]
      | null;
  const first: number[] = [],
    last: number[] = [];
  kernel.forEach((k, i) => {
    if (!wanted) {
      first.push(pads[i]!);
      last.push(pads[i + axes]!);
      return;
    }
    const whole = strides[i]! * (x.shape[i + 2] - 1) + output_padding[i]! + (k - 1) * dilations[i]! + 1,
      total = whole - wanted.at(i - axes)!,
      half = Math.floor(total / 2);
    first.push(auto === "SAME_UPPER" ? half : total - half);
    last.push(auto === "SAME_UPPER" ? total - half : half);
  });
  const options = { stride: strides, dilation: dilations, groups: attributes.group ?? 1 },
    run = ofAxes("conv_transpose", axes);
  if (first.every((n, i) => n >= 0 && n === last[i] && output_padding[i]! < strides[i]!))
    return run(x, weight, { ...options, ...(bias ? { bias } : {}), padding: first, output_padding });
  // other borders are cut off the whole, or put on
  const whole = run(x, weight, options) as Tensor,
    pairs = range(axes)
      .reverse()
      .flatMap((i) => [-first[i]!, output_padding[i]! - last[i]!]),
    cut = scattering.constant_pad_nd(whole, pairs) as Tensor;
  return bias ? T.add(cut, views.reshape(bias, [-1, ...kernel.map(() => 1)])) : cut;
};

/** The largest of each window, and its place in the whole tensor. */
const maxPool: Compute = ([given, ...rest], attributes, context) => {
  const x = given as Tensor;
  if (rest.length > 0) return maxPool([given], attributes, context);
  if (!isFloat(x.dtype)) {
    const [values, at] = maxPool([cast(x, "float32")], attributes, context) as Tensor[];
    return [cast(values!, x.dtype), at];
  }
  const axes = x.ndim - 2,
    kernel = attributes.kernel_shape as number[],
    windows = windowsOf(x.shape.slice(2), kernel, attributes),
    { strides: stride, dilations: dilation, before } = windows,
    even = isEven(windows) && before.every((n, i) => 2 * n <= kernel[i]!),
    image = even ? x : bordered(x, windows, -Infinity),
    options = { stride, padding: even ? before : 0, dilation };
  if (!context.used[1]) return [ofAxes("max_pool", axes)(image, kernel, options), null];
  const pool = (F as unknown as Record<string, (...args: unknown[]) => unknown>)[`max_pool${axes}d_with_indices`]!,
    [values, found] = pool(image, kernel, options) as Tensor[];
  // places within one padded image become places within the tensor
  let left = cast(found!, "int64"),
    place: Tensor | null = null,
    size = 1;
  const parts: Tensor[] = [];
  for (let i = axes - 1; i >= 0; i--) {
    const n = image.shape[i + 2]!;
    parts.unshift(T.sub(T.remainder(left, n), even ? 0 : before[i]) as Tensor);
    left = T.div(left, n, { rounding_mode: "floor" }) as Tensor;
  }
  const order = attributes.storage_order ? range(axes) : range(axes).reverse();
  for (const i of order) {
    const part = T.mul(parts[i], size) as Tensor;
    place = place ? (T.add(place, part) as Tensor) : part;
    size *= x.shape[i + 2]!;
  }
  const images = create.arange(0, x.shape[0]! * x.shape[1]!, 1, { dtype: "int64", device: x.device }),
    starts = views.reshape(T.mul(images, size), [x.shape[0], x.shape[1], ...kernel.map(() => 1)]);
  return [values, T.add(place, starts)];
};

/** Sums over windows of each channel by itself. */
function summed(x: Tensor, windows: ReturnType<typeof windowsOf>): Tensor {
  const [n, c, ...sizes] = x.shape as number[],
    ones = create.full([1, 1, ...windows.kernel], 1, { dtype: x.dtype, device: x.device }),
    sums = ofAxes("conv", sizes.length)(views.reshape(x, [n! * c!, 1, ...sizes]), ones, {
      stride: windows.strides,
      dilation: windows.dilations,
    }) as Tensor;
  return views.reshape(sums, [n, c, ...sums.shape.slice(2)]) as Tensor;
}

const averagePool: Compute = ([x], attributes) => {
  const kernel = attributes.kernel_shape as number[],
    windows = windowsOf(x.shape.slice(2), kernel, attributes),
    include = attributes.count_include_pad === 1;
  if (isEven(windows) && windows.dilations.every((d) => d === 1) && windows.before.every((n, i) => 2 * n <= kernel[i]!))
    return ofAxes("avg_pool", kernel.length)(x, kernel, {
      stride: windows.strides,
      padding: windows.before,
      count_include_pad: include,
    });
  const one = create.full([1, 1, ...x.shape.slice(2)], 1, { dtype: x.dtype, device: x.device }) as Tensor,
    counts = summed(bordered(one, windows, include ? 1 : 0, 0), windows);
  return T.div(summed(bordered(x, windows, 0), windows), counts);
};

const lpPool: Compute = ([x], attributes) => {
  const windows = windowsOf(x.shape.slice(2), attributes.kernel_shape, attributes),
    p = attributes.p ?? 2,
    powers = bordered(T.pow(T.abs(x), p) as Tensor, windows, 0);
  return T.pow(summed(powers, windows), 1 / p);
};

const imageAxes = (x: Tensor): number[] => range(x.ndim).slice(2);

/** Mean and what to multiply by, for the rows behind `axis`. */
function standing(x: Tensor, axis: number, epsilon: number): readonly [mean: Tensor, factor: Tensor] {
  const axes = range(x.ndim).slice(axis),
    mean = T.mean(x, axes, true) as Tensor,
    centred = T.sub(x, mean);
  return [mean, T.rsqrt(T.add(T.mean(T.mul(centred, centred), axes, true), epsilon)) as Tensor];
}
const plainShape = (weight: Tensor | null, shape: readonly number[]): boolean =>
  !weight || (weight.ndim === shape.length && weight.shape.every((n, i) => n === shape[i]));

export function layerNorm(
  x: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  axis: number,
  epsilon: number,
): Tensor {
  const shape = x.shape.slice(axis);
  if (plainShape(weight, shape) && plainShape(bias, shape))
    return F.layer_norm(x, shape, { ...(weight ? { weight } : {}), ...(bias ? { bias } : {}), eps: epsilon }) as Tensor;
  const [mean, factor] = standing(x, axis, epsilon),
    plain = T.mul(T.sub(x, mean), factor),
    scaled = weight ? T.mul(plain, weight) : plain;
  return (bias ? T.add(scaled, bias) : scaled) as Tensor;
}

export function rmsNorm(x: Tensor, weight: Tensor | null, axis: number, epsilon: number): Tensor {
  const shape = x.shape.slice(axis);
  if (plainShape(weight, shape)) return F.rms_norm(x, shape, { ...(weight ? { weight } : {}), eps: epsilon }) as Tensor;
  const axes = range(x.ndim).slice(axis),
    factor = T.rsqrt(T.add(T.mean(T.mul(x, x), axes, true), epsilon));
  return T.mul(T.mul(x, factor), weight) as Tensor;
}

const groupNorm: Compute = ([x, scale, bias], { num_groups, epsilon = 1e-5 }) => {
  const channels = x.shape[1] as number,
    // before version 21 there was one for each group
    each = (w: Tensor): Tensor =>
      w.shape[0] === channels
        ? w
        : (views.reshape(views.expand(views.unsqueeze(w, 1), [num_groups, channels / num_groups]), [-1]) as Tensor);
  return F.group_norm(x, num_groups, each(scale), each(bias), epsilon);
};

export const NETWORKS: Table = {
  Conv: ([x, weight, bias], attributes) => convolved(x, weight, bias ?? null, attributes),
  ConvTranspose: convTranspose,
  CausalConvWithState: ([x, weight, bias, past], { activation = "none" }) => {
    const k = weight.shape[2] as number,
      padded = past ? (join.cat([past, x], 2) as Tensor) : (scattering.constant_pad_nd(x, [k - 1, 0]) as Tensor),
      y = F.conv1d(padded, weight, { ...(bias ? { bias } : {}), groups: x.shape[1] });
    return [activation === "none" ? y : F.silu(y), views.narrow(padded, 2, padded.shape[2]! - (k - 1), k - 1)];
  },
  MaxPool: maxPool,
  AveragePool: averagePool,
  LpPool: lpPool,
  GlobalAveragePool: ([x]) => T.mean(x, imageAxes(x), true),
  GlobalMaxPool: ([x]) => T.amax(x, imageAxes(x), true),
  GlobalLpPool: ([x], { p = 2 }) => T.pow(T.sum(T.pow(T.abs(x), p), imageAxes(x), true), 1 / p),
  MaxUnpool: reading([2], ([x, at, shape], { kernel_shape: kernel, strides, pads }, { op }) => {
    const sizes = (kernel as number[]).map(
        (k, i) => (x.shape[i + 2] - 1) * (strides?.[i] ?? 1) + k - (pads?.[i] ?? 0) - (pads?.[i + kernel.length] ?? 0),
      ),
      whole = [x.shape[0], x.shape[1], ...sizes] as number[],
      flat = create.zeros([numelOf(whole)], { dtype: x.dtype, device: x.device }),
      put = views.reshape(T.scatter(flat, 0, views.reshape(cast(at, "int64"), [-1]), views.reshape(x, [-1])), whole);
    if (!shape) return put;
    const wanted = numbers(shape, op);
    return scattering.constant_pad_nd(
      put,
      range(whole.length)
        .reverse()
        .flatMap((i) => [0, wanted[i]! - whole[i]!]),
    );
  }),
  BatchNormalization: ([x, weight, bias, mean, variance], attributes, { version, used }) => {
    const { epsilon = 1e-5, momentum = 0.9, training_mode } = attributes,
      options = { weight, bias, eps: epsilon };
    // before version 14 what a training has besides its result said that it is one
    if (!(training_mode ?? (version < 14 && used.length > 1)))
      return [F.batch_norm(x, mean, variance, { ...options, training: false }), null, null, null, null];
    const axes = range(x.ndim).filter((i) => i !== 1),
      now = T.mean(x, axes),
      spread = T.var(x, { dim: axes, correction: 0 }),
      next = (old: Tensor, value: Tensor) => T.add(T.mul(old, momentum), T.mul(value, 1 - momentum));
    return [F.batch_norm(x, null, null, { ...options, training: true }), next(mean, now), next(variance, spread)];
  },
  InstanceNormalization: ([x, weight, bias], { epsilon = 1e-5 }) =>
    F.instance_norm(x, null, null, weight, bias, true, 0.1, epsilon),
  LayerNormalization: ([x, weight, bias], { axis: given = -1, epsilon = 1e-5 }, { used }) => {
    const axis = axisOf(given, x.ndim),
      y = layerNorm(x, weight ?? null, bias ?? null, axis, epsilon);
    return used[1] || used[2] ? [y, ...standing(x, axis, epsilon)] : [y, null, null];
  },
  GroupNormalization: groupNorm,
  RMSNormalization: ([x, weight], { axis = -1, epsilon = 1e-5 }) =>
    rmsNorm(x, weight ?? null, axisOf(axis, x.ndim), epsilon),
  SimplifiedLayerNormalization: ([x, weight], { axis = -1, epsilon = 1e-5 }) =>
    rmsNorm(x, weight ?? null, axisOf(axis, x.ndim), epsilon),
  LRN: ([x], { size, alpha = 1e-4, beta = 0.75, bias = 1 }) => {
    // of an even number of channels PyTorch takes one more before, ONNX one more behind
    const flip = (y: Tensor) => (size % 2 === 0 ? turned(y, [1]) : y);
    return flip(F.local_response_norm(flip(x), size, alpha, beta, bias) as Tensor);
  },
  Col2Im: reading([1, 2], ([x, image, block], { dilations, pads, strides }, { op }) => {
    const sizes = numbers(image, op),
      kernel = numbers(block, op),
      each = numelOf(kernel),
      channels = (x.shape[1] as number) / each,
      at = (list: number[] | undefined, i: number, otherwise: number) => list?.[i] ?? otherwise,
      before = kernel.map((_, i) => at(pads, i, 0)),
      after = kernel.map((_, i) => at(pads, i + kernel.length, 0)),
      counts = kernel.map((k, i) =>
        Math.floor((sizes[i]! + before[i]! + after[i]! - (at(dilations, i, 1) * (k - 1) + 1)) / at(strides, i, 1) + 1),
      ),
      // each column is put back by a kernel that is 1 at its own place
      one = views.reshape(create.eye(each, { dtype: x.dtype, device: x.device }), [each, 1, ...kernel]),
      weight = views.reshape(views.expand(views.unsqueeze(one, 0), [channels, each, 1, ...kernel]), [
        channels * each,
        1,
        ...kernel,
      ]),
      whole = ofAxes("conv_transpose", kernel.length)(views.reshape(x, [x.shape[0], x.shape[1], ...counts]), weight, {
        stride: kernel.map((_, i) => at(strides, i, 1)),
        dilation: kernel.map((_, i) => at(dilations, i, 1)),
        groups: channels,
      }) as Tensor;
    return scattering.constant_pad_nd(
      whole,
      range(kernel.length)
        .reverse()
        .flatMap((i) => [-before[i]!, sizes[i]! + before[i]! - whole.shape[i + 2]!]),
    );
  }),
};
