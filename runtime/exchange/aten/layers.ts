// ATen's operators of layers that lie beneath those of torch.nn.functional: what normalises, hides and selects.

import { embedding_bag } from "../../composite/torch/embedding-bag.js";
import { arange, zeros } from "../../creation/create.js";
import { norm_except_dim } from "../../composite/torch/root-functions.js";
import * as F from "../../../names/functional.js";
import * as torch from "../../../names/torch.js";
import { index_put, index_put_ } from "../../functions/index-put.js";
import { index } from "../../functions/indexing.js";
import { unrecorded } from "../../tape/grad-mode.js";
import type { Tensor } from "../../tensor/tensor.js";
import { to } from "../../views/transfer.js";
import * as views from "../../views/views.js";
import { DECOMPOSED } from "./quantised.js";
import { OWN_LOSSES } from "./losses.js";
import { VISION } from "./vision.js";
import type { Operator } from "../operators.js";

type Maybe<T> = T | null | undefined;
const t = torch as unknown as Readonly<Record<string, (...args: unknown[]) => Tensor>>;

/** A direction per slice along `dim`, times its length. */
const weightNormed = (v: Tensor, g: Tensor, dim: number): readonly [Tensor, Tensor] => {
  const norm = norm_except_dim(v, 2, dim) as Tensor;
  return [torch.mul(v, torch.div(g, norm)) as Tensor, norm];
};

/** Indices of those axes that have one, clamped into the axis, of which `mask` says which count. */
const clamped = (x: Tensor, indices: readonly Maybe<Tensor>[]) =>
  indices.map((at, axis) => (at ? (torch.clamp(at, 0, x.shape[axis]! - 1) as Tensor) : ":"));

/** Rows of each group times the group's matrix; `ends`: where the rows of each group end. */
function groupedProduct(rows: Tensor, matrices: Tensor, ends: Tensor): Tensor {
  const n = rows.shape[0]!,
    at = arange(0, n, 1, { dtype: "int64", device: rows.device } as never),
    after = views.unsqueeze(torch.ge(at, views.unsqueeze(ends, 1)) as Tensor, 2), // (groups, rows, 1)
    groups = matrices.shape[0]!;
  let sum: Tensor | null = null,
    before: Tensor | null = null;
  for (let g = 0; g < groups; g++) {
    const beyond = views.select(after, 0, g),
      inside = before ? t["logical_and"]!(before, t["logical_not"]!(beyond)) : t["logical_not"]!(beyond),
      part = t["where"]!(inside, torch.matmul(rows, views.select(matrices, 0, g)), 0);
    sum = sum ? (torch.add(sum, part) as Tensor) : part;
    before = beyond;
  }
  return sum ?? zeros([n, matrices.shape[2]!], { dtype: rows.dtype, device: rows.device } as never);
}
/** Of input, noise, and the range of slopes. */
const leaky: Operator = ({ args: [x, , lower, upper, training] }) =>
  F.rrelu(x as Tensor, (lower ?? 1 / 8) as number, (upper ?? 1 / 3) as number, (training ?? false) as boolean);

const BAGS = ["sum", "mean", "max"];
/** `wrapped`: whether a padding index below 0 counts from the end, where otherwise it means that there is none, as null does. */
const bag =
  (wrapped: boolean): Operator =>
  ({ args }) => {
    const [weight, indices, offsets, scale_grad_by_freq, mode, , weights, last, at] = args as [Tensor, ...unknown[]],
      given = at as Maybe<number>,
      padding = given === null || given === undefined ? -1 : wrapped && given < 0 ? given + weight.shape[0]! : given;
    const out = (embedding_bag as (...args: unknown[]) => Tensor)(indices, weight, offsets, {
      mode: BAGS[(mode as number | undefined) ?? 0],
      per_sample_weights: weights ?? null,
      include_last_offset: Boolean(last),
      scale_grad_by_freq: Boolean(scale_grad_by_freq),
      ...(padding >= 0 ? { padding_idx: padding } : {}),
    });
    return [out, null, null, null];
  };

export const LAYERS: Readonly<Record<string, Operator>> = {
  _weight_norm: ({ args: [v, g, dim] }) => weightNormed(v as Tensor, g as Tensor, (dim as Maybe<number>) ?? 0)[0],
  _weight_norm_interface: ({ args: [v, g, dim] }) =>
    weightNormed(v as Tensor, g as Tensor, (dim as Maybe<number>) ?? 0),
  _fused_rms_norm: ({ args: [x, shape, weight, eps] }) => {
    const input = x as Tensor,
      axes = (shape as number[]).map((_, i) => input.ndim - 1 - i),
      small = (eps as Maybe<number>) ?? 2 ** -23,
      rstd = torch.rsqrt(torch.add(torch.mean(torch.square(input), axes, true), small)) as Tensor,
      y = torch.mul(input, rstd) as Tensor;
    return [weight ? torch.mul(y, weight as Tensor) : y, rstd];
  },
  _prelu_kernel: ({ args: [x, weight] }) =>
    t["where"]!(torch.gt(x as Tensor, 0), x, torch.mul(x as Tensor, weight as Tensor)),
  rrelu_with_noise: leaky,
  rrelu_with_noise_functional: (call) => [leaky(call), call.args[1]],
  _embedding_bag: bag(false),
  _embedding_bag_forward_only: bag(false),
  embedding_bag: bag(true),
  embedding_renorm_: ({ args: [weight, indices, most, order] }) =>
    unrecorded(() => {
      const rows = views.reshape(to(indices as Tensor, ["int64"]) as Tensor, [-1]),
        found = torch.index_select(weight as Tensor, 0, rows) as Tensor;
      return index_put_(weight as Tensor, [rows], torch.renorm(found, order as number, 0, most as number) as Tensor);
    }),
  log_sigmoid_forward: ({ args: [x] }) => [F.logsigmoid(x as Tensor), null],
  _aminmax: ({ args: [x, dim, keepdim] }) =>
    (dim ?? null) === null
      ? [torch.amin(x as Tensor), torch.amax(x as Tensor)]
      : [t["amin"]!(x, dim, keepdim ?? false), t["amax"]!(x, dim, keepdim ?? false)],
  _unsafe_masked_index: ({ args: [x, mask, indices, fill] }) => {
    const input = x as Tensor,
      picked = index(input, clamped(input, indices as Maybe<Tensor>[]) as never) as Tensor;
    return t["where"]!(mask, picked, fill);
  },
  _unsafe_masked_index_put_accumulate: ({ args: [x, mask, indices, values] }) => {
    const input = x as Tensor;
    return index_put(input, clamped(input, indices as Maybe<Tensor>[]) as never, t["where"]!(mask, values, 0), {
      accumulate: true,
    });
  },
  _convolution_mode: ({ args: [x, weight, bias, stride, padding, dilation, groups] }) => {
    const axes = (weight as Tensor).ndim - 2,
      convolve = (F as unknown as Readonly<Record<string, (...args: unknown[]) => Tensor>>)[`conv${axes}d`]!;
    return convolve(x, weight, { ...(bias ? { bias } : {}), stride, padding, dilation, groups });
  },
  _grouped_mm: ({ args: [rows, matrices, ends], options }) =>
    groupedProduct(rows as Tensor, matrices as Tensor, (ends ?? options["offs"]) as Tensor),
};

/** Operators that libraries over PyTorch define, "library::name". */
export const EXTENSIONS: Readonly<Record<string, Operator>> = {
  "transformers::grouped_mm_fallback": LAYERS["_grouped_mm"]!,
  ...DECOMPOSED,
  ...OWN_LOSSES,
  ...VISION,
};
