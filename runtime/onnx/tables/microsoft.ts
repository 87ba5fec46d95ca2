// The operators of com.microsoft that models for browsers are published with: fused parts of transformers, and weights of
// 4 bits.

import { linear_int4Op } from "../../../ops/quantised.js";
import { isFloat } from "../../elements/dtype.js";
import { run } from "../../dispatch/call.js";
import type { Tensor } from "../../tensor/tensor.js";
import { bias as asBias, inHeads, repeatedHeads, rotated, together } from "./attention-heads.js";
import { type Compute, type Table, range } from "./definition.js";
import { cast, create, F, join, scalar, splitting, T, views } from "./library.js";
import { layerNorm, rmsNorm } from "./networks.js";
import { QUANTISED } from "./quantised.js";

type Maybe<X> = X | null | undefined;
const added = (...terms: Maybe<Tensor>[]): Tensor =>
  terms.filter((x): x is Tensor => Boolean(x)).reduce((a, b) => T.add(a, b) as Tensor);

/** Whole numbers of `bits` bits out of bytes that hold several, the lowest first, along the last axis. */
function unpacked(bytes: Tensor, bits: number): Tensor {
  if (bits === 8) return bytes;
  const wide = cast(bytes, "int32"),
    each = range(8 / bits).map((k) => T.bitwise_and(T.bitwise_right_shift(wide, k * bits), 2 ** bits - 1));
  return views.reshape(join.stack(each, -1), [...bytes.shape.slice(0, -1), -1]) as Tensor;
}

/** Rows of weights out of blocks with a scale, and a zero point, each: (rows, blocks, numbers of a block). */
function blocks(packed: Tensor, scales: Tensor, zeros: Maybe<Tensor>, bits: number): Tensor {
  const [rows, count] = packed.shape as [number, number],
    values = cast(unpacked(packed, bits), scales.dtype),
    by = views.reshape(scales, [rows, count, 1]);
  if (!zeros) return T.mul(T.sub(values, 2 ** (bits - 1)), by) as Tensor;
  const points = isFloat(zeros.dtype)
    ? views.reshape(zeros, [rows, count])
    : views.narrow(unpacked(views.reshape(zeros, [rows, -1]), bits), 1, 0, count);
  return T.mul(T.sub(values, views.unsqueeze(cast(points, scales.dtype), 2)), by) as Tensor;
}

const matMulNBits: Compute = ([a, b, scales, zeros, order, bias], { K, N, bits = 4 }) => {
  const source = order ? T.index_select(a, -1, T.argsort(cast(order, "int64"), { stable: true })) : a;
  // weights of the file come as words, and are decoded inside the product
  if (b.dtype === "int32") return small(source, b, scales, zeros, bias ?? null);
  const flat = views.reshape(blocks(b, scales, zeros, bits), [N, -1]),
    weight = views.narrow(flat, 1, 0, K);
  return F.linear(source, cast(weight, a.dtype), bias ?? null);
};

/** A product with weights of 4 bits in words. */
function small(x: Tensor, codes: Tensor, scales: Tensor, zeros: Maybe<Tensor>, bias: Maybe<Tensor>): Tensor {
  const [rows, groups, words] = codes.shape as [number, number, number],
    missing = 8 * groups * words - x.shape[x.ndim - 1]!,
    wide = missing ? F.pad(x, [0, missing]) : x,
    scale = views.reshape(scales, [rows, groups]) as Tensor,
    points = zeros && (isFloat(zeros.dtype) ? zeros : unpacked(views.reshape(zeros, [rows, -1]) as Tensor, 4)),
    zero = points && cast(views.narrow(views.reshape(points, [rows, -1]), 1, 0, groups) as Tensor, scale.dtype);
  return run(linear_int4Op, [
    views.reshape(wide, [...x.shape.slice(0, -1), groups, words, 8]),
    codes,
    scale,
    zero,
    bias,
  ]) as Tensor;
}

/** The sum of what a block of a network gets and makes, normalised; the sum itself is the fourth output. */
const skipped =
  (norm: (x: Tensor, weight: Tensor, bias: Maybe<Tensor>, epsilon: number) => Tensor, biased: boolean): Compute =>
  ([x, skip, weight, ...rest], { epsilon = 1e-12 }) => {
    const [beta, bias] = biased ? rest : [null, rest[0]],
      sum = added(x, skip, bias);
    return [norm(sum, weight, beta, epsilon), null, null, sum];
  };
const rms = (x: Tensor, weight: Tensor, _: Maybe<Tensor>, epsilon: number): Tensor =>
  rmsNorm(x, weight, x.ndim - 1, epsilon);
const layer = (x: Tensor, weight: Tensor, beta: Maybe<Tensor>, epsilon: number): Tensor =>
  layerNorm(x, weight, beta ?? null, x.ndim - 1, epsilon);

/** Scores, masked and weighted; `mask` is added. */
function attended(q: Tensor, k: Tensor, v: Tensor, scale: number | undefined, mask: Maybe<Tensor>): Tensor {
  const by = scale || 1 / Math.sqrt(q.shape[3]!),
    // one row of a mask stands for all queries
    wide = mask && views.expand(mask, [...mask.shape.slice(0, -2), q.shape[2], k.shape[2]]);
  return F.scaled_dot_product_attention(q, k, v, { scale: by, ...(wide ? { attn_mask: wide } : {}) }) as Tensor;
}
const line = (n: number, like: Tensor): Tensor =>
  create.arange(0, n, 1, { dtype: "int64", device: like.device }) as Tensor;
/** Each query sees the keys up to its own place, of those the last `window` ones; the last query is at the last key. */
function causal(q: Tensor, keys: number, window = -1): Tensor {
  const queries = q.shape[2]!,
    own = T.add(views.unsqueeze(line(queries, q), 1), keys - queries),
    before = T.le(line(keys, q), own) as Tensor;
  if (window < 0) return asBias(before, q.dtype);
  return asBias(T.logical_and(before, T.gt(line(keys, q), T.sub(own, window))) as Tensor, q.dtype);
}
/** Which keys a mask shows: for each batch their number, or a truth for each key, or one for each query, too. */
function shown(mask: Maybe<Tensor>, q: Tensor, keys: number, value: number): Tensor | null {
  if (!mask) return null;
  const wide = cast(mask, "int64"),
    on =
      mask.ndim === 1
        ? T.lt(line(keys, q), views.reshape(views.narrow(wide, 0, 0, q.shape[0]), [-1, 1, 1, 1]))
        : T.ne(
            mask.ndim === 2
              ? views.reshape(wide, [mask.shape[0], 1, 1, -1])
              : mask.ndim === 3
                ? views.unsqueeze(wide, 1)
                : wide,
            0,
          );
  return T.where(on, scalar(0, q), scalar(value, q)) as Tensor;
}
const sum = (...masks: Maybe<Tensor>[]): Tensor | null => {
  const given = masks.filter((x): x is Tensor => Boolean(x));
  return given.length > 0 ? (given.reduce((a, b) => T.add(a, b) as Tensor) as Tensor) : null;
};

/** Query, key and value out of one projection. */
const attention: Compute = (inputs, attributes) => {
  const [x, weight, bias, mask, past, more] = inputs as Maybe<Tensor>[],
    { num_heads: heads, qkv_hidden_sizes, unidirectional = 0, mask_filter_value = -10000, scale } = attributes,
    all = added(T.matmul(x, weight) as Tensor, bias),
    sizes = qkv_hidden_sizes ?? range(3).map(() => all.shape[2]! / 3),
    [q, own, ownValue] = (splitting.split(all, sizes, 2) as Tensor[]).map((y) => inHeads(y, heads)) as [
      Tensor,
      Tensor,
      Tensor,
    ],
    k = past ? (join.cat([views.select(past, 0, 0), own], 2) as Tensor) : own,
    v = past ? (join.cat([views.select(past, 0, 1), ownValue], 2) as Tensor) : ownValue,
    keys = k.shape[2]!,
    y = attended(
      q,
      k,
      v,
      scale,
      sum(shown(mask, q, keys, mask_filter_value), more, unidirectional ? causal(q, keys) : null),
    );
  return [together(y), join.stack([k, v], 0)];
};

const multiHead: Compute = (inputs, attributes) => {
  const [query, key, value, bias, padding, more, pastKey, pastValue] = inputs as Maybe<Tensor>[],
    { num_heads: heads, mask_filter_value = -10000, unidirectional = 0, scale } = attributes;
  let parts: Tensor[];
  if (query!.ndim === 5)
    parts = (splitting.unbind(query, 3) as Tensor[]).map((x) => views.transpose(x, 1, 2) as Tensor);
  else if (key?.ndim === 5)
    parts = [query!, ...(splitting.unbind(key, 3) as Tensor[]).map((x) => views.transpose(x, 1, 2) as Tensor)];
  else parts = [query!, key ?? query!, value ?? query!];
  const biases = bias
      ? (splitting.split(
          bias,
          [parts[0]!.shape.at(-1)!, parts[1]!.shape.at(-1)!, parts[2]!.shape.at(-1)!],
          0,
        ) as Tensor[])
      : [null, null, null],
    [q, own, ownValue] = parts.map((x, i) => inHeads(x.ndim === 3 ? added(x, biases[i]) : x, heads)) as [
      Tensor,
      Tensor,
      Tensor,
    ],
    k = pastKey ? (join.cat([pastKey, own], 2) as Tensor) : own,
    v = pastValue ? (join.cat([pastValue, ownValue], 2) as Tensor) : ownValue,
    keys = k.shape[2]!,
    mask = sum(shown(padding, q, keys, mask_filter_value), more, unidirectional ? causal(q, keys) : null);
  return [together(attended(q, k, v, scale, mask)), k, v];
};

/** Causal attention with a cache, in which several heads of queries share one of keys. */
const groupQuery: Compute = (inputs, attributes) => {
  const [query, key, value, pastKey, pastValue, lengths, , cos, sin, given] = inputs as Maybe<Tensor>[],
    {
      num_heads: heads,
      kv_num_heads: shared,
      scale,
      do_rotary = 0,
      rotary_interleaved = 0,
      softcap,
      local_window_size: window = -1,
    } = attributes,
    size = key ? query!.shape[2]! / heads : query!.shape[2]! / (heads + 2 * shared),
    parts = key
      ? [query!, key, value!]
      : (splitting.split(query, [heads * size, shared * size, shared * size], 2) as Tensor[]),
    queries = query!.shape[1]!,
    // each sequence ends at its own place of the cache
    ends = cast(lengths!, "int64"),
    past = pastKey ? pastKey.shape[2]! : 0,
    starts = views.reshape(T.sub(T.add(ends, 1), queries), [-1, 1]) as Tensor,
    positions = (given ?? T.add(starts, line(queries, query!))) as Tensor,
    turn = (x: Tensor) =>
      do_rotary && cos ? rotated(x, cos, sin!, positions, rotary_interleaved !== 0, 2 * cos.shape[1]!) : x,
    q = turn(inHeads(parts[0]!, heads)),
    own = turn(inHeads(parts[1]!, shared)),
    ownValue = inHeads(parts[2]!, shared),
    k = past > 0 ? (join.cat([pastKey!, own], 2) as Tensor) : own,
    v = past > 0 ? (join.cat([pastValue!, ownValue], 2) as Tensor) : ownValue,
    times = heads / shared,
    wide = [repeatedHeads(k, times), repeatedHeads(v, times)] as const;
  if (!softcap) return [together(attended(q, ...wide, scale, causal(q, k.shape[2]!, window))), k, v];
  const scores = T.mul(T.matmul(q, views.transpose(wide[0], 2, 3)), scale || 1 / Math.sqrt(size)),
    capped = T.mul(T.tanh(T.div(scores, softcap)), softcap),
    weights = T.softmax(T.add(capped, causal(q, k.shape[2]!, window)), -1);
  return [together(T.matmul(weights, wide[1]) as Tensor), k, v];
};

/** How many places of each sequence a mask shows; 0 without one. */
const lengths = (mask: Maybe<Tensor>, ids: Tensor): Tensor =>
  cast(mask ? T.sum(mask, 1) : create.zeros([ids.shape[0]!], { device: ids.device }), "int32");

export const MICROSOFT: Table = {
  Attention: attention,
  MultiHeadAttention: multiHead,
  GroupQueryAttention: groupQuery,
  MatMulNBits: matMulNBits,
  RotaryEmbedding: ([x, positions, cos, sin], { interleaved = 0, num_heads = 0, rotary_embedding_dim = 0 }) => {
    const size = rotary_embedding_dim || 2 * cos.shape[1],
      heads = x.ndim === 4 ? inHeads(x, 0) : inHeads(x, num_heads || x.shape[2] / size),
      steps = line(x.ndim === 4 ? x.shape[2] : x.shape[1], x),
      at = positions.numel() === 1 ? T.add(views.reshape(positions, [1, 1]), views.unsqueeze(steps, 0)) : positions,
      y = rotated(heads, cos, sin, at, interleaved !== 0, size);
    return x.ndim === 4 ? y : together(y);
  },
  SkipLayerNormalization: skipped(layer, true),
  SkipSimplifiedLayerNormalization: skipped(rms, false),
  SimplifiedLayerNormalization: ([x, weight], { axis = -1, epsilon = 1e-5 }) =>
    rmsNorm(x, weight, axis < 0 ? axis + x.ndim : axis, epsilon),
  EmbedLayerNormalization: (inputs, { epsilon = 1e-12 }) => {
    const [ids, segments, words, places, kinds, weight, beta, mask, given] = inputs as Maybe<Tensor>[],
      rows = given ?? (views.expand(line(ids!.shape[1]!, ids!), ids!.shape) as Tensor),
      picked = (at: Maybe<Tensor>, table: Maybe<Tensor>) => (at && table ? (F.embedding(at, table) as Tensor) : null),
      sums = added(picked(ids, words), picked(rows, places), picked(segments, kinds));
    return [layer(sums, weight!, beta, epsilon), lengths(mask, ids!), sums];
  },
  Gelu: ([x]) => F.gelu(x),
  FastGelu: ([x, bias]) => F.gelu(added(x, bias), { approximate: "tanh" }),
  BiasGelu: ([x, bias]) => F.gelu(added(x, bias)),
  QuickGelu: ([x], { alpha = 1.702 }) => T.mul(x, T.sigmoid(T.mul(x, alpha))),
  BiasAdd: ([x, bias, skip]) => added(x, bias, skip),
  BiasSplitGelu: ([x, bias]) => {
    const [a, b] = splitting.chunk(added(x, bias), 2, -1) as Tensor[];
    return T.mul(a, F.gelu(b));
  },
  FusedMatMul: ([a, b], { alpha = 1, transA = 0, transB = 0 }) => {
    const turn = (x: Tensor, on: number) => (on && x.ndim > 1 ? views.transpose(x, -1, -2) : x),
      product = T.matmul(turn(a, transA), turn(b, transB));
    return alpha === 1 ? product : T.mul(product, alpha);
  },
  QuantizeLinear: QUANTISED["QuantizeLinear"]!,
  DequantizeLinear: QUANTISED["DequantizeLinear"]!,
};
