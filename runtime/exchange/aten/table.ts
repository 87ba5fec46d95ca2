// PyTorch's ATen operators that are called otherwise here, or have no function of their name, by "name" or
// "name.overload"; arguments come in the order of PyTorch's schema.

import * as create from "../../creation/create.js";
import * as random from "../../creation/random-tensors.js";
import { full_like } from "../../creation/filled.js";
import { slice_scatter } from "../../functions/scatter-views.js";
import { native_layer_norm, tensordot } from "../../composite/index.js";
import { type SegmentOptions, segment_reduce } from "../../composite/segments.js";
import * as F from "../../../names/functional.js";
import * as torch from "../../../names/torch.js";
import { capturing } from "../../base/capturing.js";
import { OpError } from "../../base/errors.js";
import { sameShape } from "../../base/shape.js";
import type { DType } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { index_put } from "../../functions/index-put.js";
import { type IndexSpec, index } from "../../functions/indexing.js";
import { cat } from "../../functions/join.js";
import { adjoint } from "../../functions/tensor-functions.js";
import * as views from "../../views/views.js";
import { resize_ } from "../../views/resize.js";
import { to } from "../../views/transfer.js";
import { numberOf } from "../higher-order.js";
import type { Operator } from "../operators.js";
import { PULLBACKS } from "./backward.js";
import { RECURRENT } from "./recurrent-layers.js";
import { BITS } from "./bits.js";
import { COMPLEX } from "./complex.js";
import { IMAGES } from "./images.js";
import { LAYERS } from "./layers.js";
import { LINALG } from "./linalg.js";
import { LOSSES } from "./losses.js";
import { QUANTISED } from "./quantised.js";
import { SIZES } from "./sizes.js";

type Sizes = readonly number[];
type Maybe<T> = T | null | undefined;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Args = any[];
/** How the names of functions end, by how many axes images have. */
const AXES = ["", "1d", "2d", "3d"] as const;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const named = F as unknown as Readonly<Record<string, (...args: any[]) => any>>;
const nothing: Operator = () => null;
/** An operator of its arguments alone. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function by(call: (...args: any[]) => unknown): Operator {
  return ({ args }) => call(...(args as Args));
}

/** What it makes, on the program's device. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
function made(make: (...args: any[]) => unknown): Operator {
  return ({ args, options, device }) => make(...(args as Args), { dtype: options["dtype"] ?? null, device });
}

function convolution(
  input: Tensor,
  weight: Tensor,
  bias: Maybe<Tensor>,
  stride: Sizes,
  padding: Sizes,
  dilation: Sizes,
  transposed: boolean,
  output_padding: Sizes,
  groups: number,
): Tensor {
  const axes = AXES[weight.ndim - 2]!,
    options = { stride, padding, dilation, groups, ...(bias ? { bias } : {}) };
  return transposed
    ? (named[`conv_transpose${axes}`]!(input, weight, { ...options, output_padding }) as Tensor)
    : (named[`conv${axes}`]!(input, weight, options) as Tensor);
}

/** The same tensor under another name: a view that gradients pass through. */
const seen = (x: Tensor): Tensor => views.view(x, [x.shape], "alias");

/** Batch statistics or the running ones; the second and third result are what a gradient would read. */
const batchNorm =
  (training: boolean | null, stats = true): Operator =>
  ({ args, used }) => {
    const [x, weight, bias, ...rest] = args as [Tensor, Maybe<Tensor>, Maybe<Tensor>, ...unknown[]],
      [mean, variance] = stats ? (rest.splice(0, 2) as Maybe<Tensor>[]) : [null, null],
      on = training ?? (rest.shift() as boolean),
      [momentum, eps] = rest as [number, number],
      out = named["batch_norm"]!(x, mean ?? null, variance ?? null, {
        ...(weight ? { weight } : {}),
        ...(bias ? { bias } : {}),
        training: on,
        momentum,
        eps,
      }) as Tensor;
    if (!used[1] && !used[2]) return [out, null, null];
    if (!on) return [out, create.empty([0]), create.empty([0])];
    const dims = x.shape.map((_, i) => i).filter((i) => i !== 1);
    return [out, torch.mean(x, dims), torch.rsqrt(torch.add(torch.var(x, { dim: dims, correction: 0 }), eps))];
  };

/** As `batchNorm` of training, but running statistics are not changed: what they become is the fourth and fifth result. */
const batchNormFunctional: Operator = (call) => {
  const [x, weight, bias, mean, variance, ...rest] = call.args as [
      Tensor,
      Maybe<Tensor>,
      Maybe<Tensor>,
      Tensor,
      Tensor,
    ],
    next = [mean.clone(), variance.clone()],
    results = batchNorm(null)({ ...call, args: [x, weight, bias, ...next, ...rest] });
  return [...(results as unknown[]), ...next];
};

/** Attention, and null for what only its gradient reads; where arguments stand behind query, key and value. */
const attention =
  (mask: number, dropout: number, causal: number): Operator =>
  ({ args: [q, k, v, ...rest], options: { attn_mask = rest[mask], ...options } }) => {
    const out = F.scaled_dot_product_attention(
      q as Tensor,
      k as Tensor,
      v as Tensor,
      {
        dropout_p: rest[dropout] ?? 0,
        is_causal: rest[causal] ?? false,
        ...(attn_mask ? { attn_mask } : {}),
        ...options,
      } as never,
    );
    return [out, ...new Array<null>(8).fill(null)];
  };

/** In the type that is asked for, if one is. */
const typed = (x: Tensor, dtype: Maybe<DType>): Tensor => (dtype ? (to(x, [dtype]) as Tensor) : x);

/** null takes all of an axis. */
const indexSpecs = (indices: readonly Maybe<Tensor>[]): IndexSpec[] => indices.map((at) => at ?? ":");
const picked = by((x: Tensor, indices: readonly Maybe<Tensor>[]) => index(x, indexSpecs(indices)));
const put = by((x: Tensor, indices: readonly Maybe<Tensor>[], values: Tensor, accumulate?: boolean) =>
  index_put(x, indexSpecs(indices) as never, values, { accumulate: accumulate ?? false }),
);

/** Every element after the first that a step of `step` reaches. */
function sliced(x: Tensor, dim: Maybe<number>, start: Maybe<number>, end: Maybe<number>, step?: Maybe<number>): Tensor {
  const axis = ((dim ?? 0) + x.ndim) % x.ndim,
    n = x.shape[axis]!,
    within = (i: number) => Math.max(0, Math.min(n, i < 0 ? i + n : i)),
    from = within(start ?? 0);
  return views.sliceAxis(
    x,
    axis,
    from,
    Math.ceil(Math.max(0, within(end ?? n) - from) / (step ?? 1)),
    step ?? 1,
    "slice",
  );
}

/** Where no axis is named every element is asked for itself. */
const whether = (asked: typeof torch.any): Operator =>
  by((x: Tensor, dim: Maybe<number[]>, keepdim?: boolean) =>
    dim?.length === 0 ? asked(views.unsqueeze(x, 0), 0) : asked(x, dim ?? null, keepdim ?? false),
  );

export const ATEN: Readonly<Record<string, Operator>> = {
  ...PULLBACKS,
  ...RECURRENT,
  ...SIZES,
  ...BITS,
  ...LOSSES,
  ...QUANTISED,
  ...COMPLEX,
  ...IMAGES,
  ...LAYERS,
  ...LINALG,
  // what says something of sizes and values, or does nothing to them
  "sym_size.int": by((x: Tensor, dim: number) => x.size(dim)),
  "sym_stride.int": by((x: Tensor, dim: number) => x.stride(dim)),
  sym_numel: by((x: Tensor) => x.numel()),
  sym_storage_offset: by((x: Tensor) => x.storage_offset()),
  sym_is_contiguous: by((x: Tensor) => x.is_contiguous()),
  _local_scalar_dense: ({ args: [x], target }) => numberOf(x, target),
  item: ({ args: [x], target }) => numberOf(x, target),
  _assert_scalar: ({ args: [holds, message] }) => {
    if (!holds) throw new OpError(`an assertion of the program does not hold: ${String(message)}`);
  },
  _assert_async: ({ args: [holds, message], target }) => {
    const { device, storage, offset } = holds as Tensor,
      refusal = `an assertion of the program does not hold: ${String(message ?? "")}`;
    if (device !== "cpu") return;
    capturing?.asked(storage, offset, refusal); // a replay asks it, too
    if (!numberOf(holds, target)) throw new OpError(refusal);
  },
  _assert_tensor_metadata: nothing,
  sym_constrain_range: nothing,
  sym_constrain_range_for_size: nothing,
  _log_api_usage_once: nothing,
  _has_compatible_shallow_copy_type: () => true, // asked before an assignment to `data`
  alias: by(seen),
  detach: by((x: Tensor) => x.detach()),
  detach_copy: by((x: Tensor) => x.detach().clone()),
  lift_fresh: by(seen),
  lift_fresh_copy: by((x: Tensor) => x.clone()),
  contiguous: by((x: Tensor) => x.contiguous()),
  clone: by((x: Tensor) => x.clone()),
  _to_copy: ({ args: [x], options }) =>
    options["dtype"] ? to(x as Tensor, [options["dtype"]]) : (x as Tensor).clone(),
  "to.dtype": by((x: Tensor, dtype: string) => to(x, [dtype])),
  "to.dtype_layout": ({ args: [x], options }) => (options["dtype"] ? to(x as Tensor, [options["dtype"]]) : x),
  "to.device": by((x: Tensor, _device: unknown, dtype: string) => to(x, [dtype])),
  to: by((x: Tensor, dtype: string) => to(x, [dtype])),
  copy: by((x: Tensor, source: Tensor) => {
    const like = to(source, [x.dtype]) as Tensor;
    return sameShape(like.shape, x.shape) ? like.clone() : views.expand(like, x.shape).clone();
  }),
  _shape_as_tensor: ({ args: [x] }) => create.tensor((x as Tensor).shape, { dtype: "int64" } as never),
  _reshape_alias: by((x: Tensor, size: Sizes) => views.reshape(x, size as number[])),
  sym_size: by((x: Tensor) => [...x.shape]),
  sym_stride: by((x: Tensor) => x.stride()),
  numpy_T: by((x: Tensor) => views.reverseAxes(x)),
  mT: by((x: Tensor) => views.matrixTranspose(x)),
  mH: by((x: Tensor) => adjoint(x)),
  matrix_H: by((x: Tensor) => adjoint(x)),
  // views
  view: by((x: Tensor, size: Sizes) => views.reshape(x, size as number[])), // memory may lie otherwise than PyTorch's
  _unsafe_view: by((x: Tensor, size: number[]) => views.reshape(x, size)),
  "slice.Tensor": by(sliced),
  slice_scatter: by((x: Tensor, source: Tensor, dim?: number, start?: number, end?: number, step?: number) =>
    slice_scatter(
      x,
      source,
      dim ?? 0,
      start ?? 0,
      end === undefined || end === null ? x.size(dim ?? 0) : Math.min(end, x.size(dim ?? 0)),
      step ?? 1,
    ),
  ),
  unfold: by(views.unfold), // windows along an axis, not F.unfold
  as_strided: by((x: Tensor, size: number[], stride: number[], offset: Maybe<number>) =>
    views.as_strided(x, size, stride, offset ?? x.storage_offset()),
  ),
  cat: by((tensors: Tensor[], dim?: number) => {
    // PyTorch leaves out the empty ones of one axis, whatever the others' shapes are
    const some = tensors.filter((x) => x.ndim !== 1 || x.numel() > 0);
    return cat(some.length > 0 ? some : tensors.slice(0, 1), dim ?? 0);
  }),
  _chunk_cat: by((tensors: Tensor[], dim: number, chunks: number) => {
    const axis = dim < 0 ? dim + tensors[0]!.ndim : dim,
      rows = tensors.map((x) => {
        const short = -x.shape[axis]! % chunks,
          none = [...x.shape];
        none[axis] = short + (short < 0 ? chunks : 0);
        const full = none[axis] ? cat([x, create.zeros(none, { dtype: x.dtype, device: x.device } as never)], axis) : x;
        return views.reshape(full, [...x.shape.slice(0, axis), chunks, -1]);
      });
    return cat(rows, axis + 1);
  }),
  segment_reduce: ({ args: [data, reduce], options }) =>
    segment_reduce(data as Tensor, reduce as never, options as SegmentOptions),
  // creation
  "arange.start_step": made((start: number, end: number, ...rest: unknown[]) => {
    const options = rest.pop();
    return create.arange(start, end, (rest[0] as Maybe<number>) ?? 1, options as never);
  }),
  "arange.start": made(create.arange),
  arange: made((end: number, options: unknown) => create.arange(0, end, 1, options as never)),
  full: made(create.full),
  full_like: ({ args: [x, value], options }) =>
    full_like(x as Tensor, value as number, (options["dtype"] ? { dtype: options["dtype"] } : {}) as never),
  "fill.Scalar": by((x: Tensor, value: number) => full_like(x, value)),
  "fill.Tensor": by((x: Tensor, value: Tensor) => views.expand(to(value, [x.dtype]) as Tensor, x.shape).clone()),
  scalar_tensor: made((value: number, options: unknown) => create.full([], value, options as never)),
  empty: made(create.empty),
  "empty.memory_format": made(create.empty),
  empty_strided: made((size: Sizes, _stride: Sizes, options: unknown) => create.empty(size, options as never)),
  zeros: made(create.zeros),
  ones: made(create.ones),
  rand: made(random.rand),
  randn: made(random.randn),
  randperm: made(random.randperm),
  resize_: by((x: Tensor, size: number[]) => resize_(x, size)),
  // arithmetic with a name of its own
  _softmax: by((x: Tensor, dim: number, wide?: boolean) => torch.softmax(typed(x, wide ? "float32" : null), dim)),
  "softmax.int": by((x: Tensor, dim: number, dtype: Maybe<DType>) => torch.softmax(typed(x, dtype), dim)),
  _log_softmax: by((x: Tensor, dim: number, wide?: boolean) =>
    torch.log_softmax(typed(x, wide ? "float32" : null), dim),
  ),
  "log_softmax.int": by((x: Tensor, dim: number, dtype: Maybe<DType>) => torch.log_softmax(typed(x, dtype), dim)),
  tensordot: by((a: Tensor, b: Tensor, of: number[], and: number[]) => tensordot(a, b, [of, and] as never)),
  cdist: by((a: Tensor, b: Tensor, p?: number) => torch.cdist(a, b, p ?? 2)), // the rest says how it is computed
  elu: by((x: Tensor, alpha?: number, scale?: number, input_scale?: number) => {
    const inner = input_scale ?? 1,
      out = F.elu(inner === 1 ? x : torch.where(torch.gt(x, 0), x, torch.mul(x, inner)), alpha ?? 1);
    return (scale ?? 1) === 1 ? out : torch.mul(out, scale!);
  }),
  "var.dim": by((x: Tensor, dim: Maybe<number[]>, unbiased?: boolean, keepdim?: boolean) =>
    torch.var(x, { dim: dim ?? null, correction: (unbiased ?? true) ? 1 : 0, keepdim: keepdim ?? false } as never),
  ),
  "any.dims": whether(torch.any),
  "all.dims": whether(torch.all),
  // networks
  convolution: by(convolution),
  _convolution: by(convolution),
  _adaptive_avg_pool2d: by(F.adaptive_avg_pool2d),
  _adaptive_avg_pool3d: by(F.adaptive_avg_pool3d),
  col2im: by(F.fold),
  im2col: by(F.unfold),
  _cdist_forward: by((a: Tensor, b: Tensor, p: number) => torch.cdist(a, b, p)),
  _pdist_forward: by((x: Tensor, p?: number) => F.pdist(x, p ?? 2)),
  embedding: by((weight: Tensor, indices: Tensor, padding_idx?: number, scale_grad_by_freq?: boolean) =>
    F.embedding(indices, weight, {
      ...((padding_idx ?? -1) >= 0 ? { padding_idx: padding_idx! } : {}),
      scale_grad_by_freq: scale_grad_by_freq ?? false,
    }),
  ),
  index: picked,
  _unsafe_index: picked,
  index_put: put,
  _unsafe_index_put: put,
  native_dropout: by((x: Tensor, p: number, train: Maybe<boolean>) => {
    if (train === false || p === 0) return [x.clone(), torch.eq(x, x)];
    const mask = torch.ge(random.rand(x.shape, { dtype: x.dtype, device: x.device }), p);
    return [torch.mul(torch.mul(x, mask), p === 1 ? 0 : 1 / (1 - p)), mask];
  }),
  native_group_norm: by(
    (
      x: Tensor,
      weight: Maybe<Tensor>,
      bias: Maybe<Tensor>,
      n: number,
      c: number,
      hw: number,
      groups: number,
      eps: number,
    ) => torch.native_group_norm(x, weight ?? null, bias ?? null, n, c, hw, groups, eps),
  ),
  native_layer_norm: by((x: Tensor, shape: number[], weight: Maybe<Tensor>, bias: Maybe<Tensor>, eps: number) =>
    native_layer_norm(x, shape, weight ?? null, bias ?? null, eps),
  ),
  batch_norm: by(
    (
      x: Tensor,
      weight: Maybe<Tensor>,
      bias: Maybe<Tensor>,
      mean: Maybe<Tensor>,
      variance: Maybe<Tensor>,
      training: boolean,
      momentum: number,
      eps: number,
    ) =>
      named["batch_norm"]!(x, mean ?? null, variance ?? null, {
        ...(weight ? { weight } : {}),
        ...(bias ? { bias } : {}),
        training,
        momentum,
        eps,
      }),
  ),
  // what is behind eps asks for a library of NVIDIA's
  layer_norm: by((x: Tensor, shape: number[], weight: Maybe<Tensor>, bias: Maybe<Tensor>, eps?: number) =>
    F.layer_norm(x, shape, weight ?? null, bias ?? null, eps ?? 1e-5),
  ),
  group_norm: by((x: Tensor, groups: number, weight: Maybe<Tensor>, bias: Maybe<Tensor>, eps?: number) =>
    F.group_norm(x, groups, weight ?? null, bias ?? null, eps ?? 1e-5),
  ),
  instance_norm: ({ args }) => {
    const [x, weight, bias, mean, variance, useInput, momentum, eps] = args as Args;
    return named["instance_norm"]!(x, mean, variance, weight, bias, useInput, momentum, eps);
  },
  _native_batch_norm_legit: batchNorm(null),
  "_native_batch_norm_legit.no_stats": batchNorm(null, false),
  _native_batch_norm_legit_functional: batchNormFunctional,
  _native_batch_norm_legit_no_training: batchNorm(false),
  native_batch_norm: batchNorm(null),
  _batch_norm_with_update: batchNorm(true),
  _batch_norm_no_update: batchNorm(false),
  scaled_dot_product_attention: (call) => (attention(0, 1, 2)(call) as unknown[])[0],
  _scaled_dot_product_flash_attention_for_cpu: attention(-1, 0, 1),
  _scaled_dot_product_flash_attention: attention(-1, 0, 1),
  _scaled_dot_product_efficient_attention: attention(0, 2, 3),
  _scaled_dot_product_cudnn_attention: attention(0, 2, 3),
  _scaled_dot_product_attention_math: attention(0, 1, 2),
  _scaled_dot_product_fused_attention_overrideable: attention(0, 1, 2),
};
