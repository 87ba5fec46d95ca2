// Attention as ONNX has it, with rotary positions, caches and masks of every kind; com.microsoft's is made of the same.

import { OpError } from "../../base/errors.js";
import { isFloat } from "../../elements/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Attributes, type Compute, type Context, type Table, range, asGiven } from "./definition.js";
import { cast, create, F, join, scattering, scalar, splitting, T, views } from "./library.js";

type Maybe<X> = X | null | undefined;

/** (batch, length, heads · size) as (batch, heads, length, size); four axes stay. */
export const inHeads = (x: Tensor, heads: number): Tensor =>
  x.ndim === 4 ? x : (views.transpose(views.reshape(x, [x.shape[0], x.shape[1], heads, -1]), 1, 2) as Tensor);
/** The way back. */
export const together = (x: Tensor): Tensor =>
  views.reshape(views.transpose(x, 1, 2), [x.shape[0], x.shape[2], -1]) as Tensor;
/** Each head of keys and values for several of queries. */
export const repeatedHeads = (x: Tensor, times: number): Tensor => {
  if (times === 1) return x;
  const [n, heads, length, size] = x.shape as [number, number, number, number];
  return views.reshape(views.expand(views.unsqueeze(x, 2), [n, heads, times, length, size]), [
    n,
    heads * times,
    length,
    size,
  ]) as Tensor;
};

/** What is added to scores: 0 where a query may look, -Infinity elsewhere. */
export const bias = (allowed: Tensor, dtype: string): Tensor =>
  T.where(allowed, scalar(0, allowed, dtype), scalar(-Infinity, allowed, dtype)) as Tensor;

const line = (n: number, device: string): Tensor => create.arange(0, n, 1, { dtype: "int64", device }) as Tensor;

/** How far each key lies before its query: (queries, keys), or one for each batch. */
function distances(queries: number, keys: number, offset: number | Tensor, device: string): Tensor {
  const difference = T.sub(views.unsqueeze(line(queries, device), 1), line(keys, device)) as Tensor;
  return typeof offset === "number"
    ? (T.add(difference, offset) as Tensor)
    : (T.add(difference, views.reshape(offset, [-1, 1, 1, 1])) as Tensor);
}

/** Softmax, but of rows in which nothing may be looked at zeros. */
function weighted(scores: Tensor, mask: Maybe<Tensor>, dtype: string): Tensor {
  const soft = cast(T.softmax(cast(scores, dtype), -1) as Tensor, scores.dtype);
  if (!mask) return soft;
  const nothing = T.eq(T.amax(mask, [-1], true), -Infinity);
  return T.where(nothing, scalar(0, soft), soft) as Tensor;
}

const attention: Compute = (inputs, attributes: Attributes, { used, dtype }: Context) => {
  const [q0, k0, v0, given, pastKey, pastValue, lengths] = inputs as Maybe<Tensor>[],
    { is_causal, softcap, qk_matmul_output_mode: mode = 0, left_window_size: left = -1 } = attributes,
    right = attributes.right_window_size ?? -1,
    q = inHeads(q0!, attributes.q_num_heads),
    own = [inHeads(k0!, attributes.kv_num_heads), inHeads(v0!, attributes.kv_num_heads)] as const,
    key = (pastKey ? join.cat([pastKey, own[0]], 2) : own[0]) as Tensor,
    value = (pastValue ? join.cat([pastValue, own[1]], 2) : own[1]) as Tensor,
    [, heads, queries, size] = q.shape as [number, number, number, number],
    keys = key.shape[2]!,
    times = heads / key.shape[1]!,
    scale = attributes.scale ?? 1 / Math.sqrt(size),
    offset = pastKey || !lengths ? (pastKey?.shape[2] ?? 0) : (T.sub(cast(lengths, "int64"), queries) as Tensor);
  let mask: Tensor | null = null;
  const also = (more: Tensor) => (mask = mask ? (T.add(mask, more) as Tensor) : more);
  if (given) {
    const missing = keys - given.shape.at(-1)!,
      full =
        missing > 0
          ? (scattering.constant_pad_nd(given, [0, missing], isFloat(given.dtype) ? -Infinity : 0) as Tensor)
          : given;
    also(full.dtype === "bool" ? bias(full, q.dtype) : full);
  }
  if (is_causal || left >= 0 || right >= 0) {
    const before = distances(queries, keys, offset, q.device),
      rules = [
        ...(is_causal ? [T.ge(before, 0)] : []),
        ...(left >= 0 ? [T.le(before, left)] : []),
        ...(right >= 0 ? [T.ge(before, -right)] : []),
      ] as Tensor[];
    also(
      bias(
        rules.reduce((a, b) => T.logical_and(a, b) as Tensor),
        q.dtype,
      ),
    );
  }
  if (lengths) also(bias(T.lt(line(keys, q.device), views.reshape(cast(lengths, "int64"), [-1, 1, 1, 1])), q.dtype));
  const [k, v] = [repeatedHeads(key, times), repeatedHeads(value, times)];
  let y: Tensor,
    shown: Tensor | null = null;
  if (!mask && !softcap && !used[3]) y = F.scaled_dot_product_attention(q, k, v, { scale });
  else {
    const root = Math.sqrt(scale),
      scores = T.matmul(T.mul(q, root), T.mul(views.transpose(k, 2, 3), root)) as Tensor,
      capped = softcap ? (T.mul(T.tanh(T.div(scores, softcap)), softcap) as Tensor) : scores,
      masked = mask ? (T.add(capped, mask) as Tensor) : capped,
      weights = weighted(masked, mask, attributes.softmax_precision ? dtype(attributes.softmax_precision) : q.dtype);
    shown = [scores, capped, masked, weights][mode] ?? scores;
    y = T.matmul(weights, v);
  }
  return [q0!.ndim === 3 ? together(y) : y, key, value, shown];
};

/** Pairs of numbers turned by angles whose cosines and sines are given for each place of a sequence. */
export function rotated(
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  positions: Maybe<Tensor>,
  interleaved: boolean,
  part: number,
): Tensor {
  const n = part || x.shape[3]!,
    angles = (table: Tensor) => {
      const rows = positions
        ? views.reshape(T.index_select(table, 0, views.reshape(cast(positions, "int64"), [-1])), [
            ...positions.shape,
            table.shape.at(-1),
          ])
        : table;
      return views.narrow(views.unsqueeze(rows, 1), -1, 0, n / 2) as Tensor;
    },
    [c, s] = [angles(cos), angles(sin)],
    turning = views.narrow(x, 3, 0, n) as Tensor,
    pairs = interleaved ? views.reshape(turning, [...x.shape.slice(0, 3), n / 2, 2]) : null,
    [a, b] = (pairs ? splitting.unbind(pairs, -1) : splitting.chunk(turning, 2, 3)) as [Tensor, Tensor],
    real = T.sub(T.mul(c, a), T.mul(s, b)),
    imaginary = T.add(T.mul(s, a), T.mul(c, b)),
    turned = pairs ? views.reshape(join.stack([real, imaginary], -1), turning.shape) : join.cat([real, imaginary], 3);
  return (n === x.shape[3] ? turned : join.cat([turned, views.narrow(x, 3, n, x.shape[3]! - n)], 3)) as Tensor;
}

/** A state of outer products of keys and values, which each query reads. */
const linearAttention: Compute = ([q0, k0, v0, past, decay, beta], attributes) => {
  const { q_num_heads, kv_num_heads, update_rule: rule = "gated_delta" } = attributes,
    wide = (x: Tensor, heads: number) => cast(inHeads(x, heads), "float32"),
    [q, k, v] = [wide(q0, q_num_heads), wide(k0, kv_num_heads), wide(v0, kv_num_heads)],
    [n, , steps, size] = q.shape as [number, number, number, number],
    scale = attributes.scale || 1 / Math.sqrt(size),
    each = (x: Tensor, heads: number) =>
      x.shape[2] === heads || x.shape[2] === 1 ? inHeads(x, x.shape[2]!) : inHeads(x, heads),
    fading = decay && rule.startsWith("gated") ? T.exp(cast(each(decay, kv_num_heads), "float32")) : null,
    rate = beta && rule.endsWith("delta") ? cast(each(beta, kv_num_heads), "float32") : null;
  let state = (
    past
      ? cast(past, "float32")
      : create.zeros([n, kv_num_heads, size, v.shape[3]!], { dtype: "float32", device: q.device })
  ) as Tensor;
  const outputs = range(steps).map((t) => {
    const at = (x: Tensor) => views.select(x, 2, t) as Tensor,
      key = views.unsqueeze(at(k), -1);
    let added = views.unsqueeze(at(v), -2) as Tensor;
    if (fading) state = T.mul(state, views.unsqueeze(at(fading), -1)) as Tensor;
    if (rate) {
      const known = T.matmul(views.transpose(key, -1, -2), state);
      added = T.mul(views.unsqueeze(at(rate), -1), T.sub(added, known)) as Tensor;
    }
    state = T.add(state, T.matmul(key, added)) as Tensor;
    const read = repeatedHeads(state, q_num_heads / kv_num_heads);
    return T.mul(views.squeeze(T.matmul(views.unsqueeze(at(q), -2), read), -2), scale) as Tensor;
  });
  const y = together(join.stack(outputs, 2) as Tensor);
  return [cast(y, q0.dtype), cast(state, (past ?? q0).dtype)];
};

export const ATTENTION: Table = {
  Attention: attention,
  LinearAttention: linearAttention,
  RotaryEmbedding: ([x, cos, sin, positions], { interleaved = 0, num_heads, rotary_embedding_dim = 0 }) => {
    const y = rotated(inHeads(x, num_heads), cos, sin, positions, interleaved !== 0, rotary_embedding_dim);
    return x.ndim === 3 ? together(y) : y;
  },
};

/** Attention with graphs that change scores and probabilities. */
export const PREVIEW: Table = {
  FlexAttention: asGiven(([q, k0, v0], { scale, score_mod, prob_mod, softmax_precision }, { dtype }) => {
    const times = q.shape[1] / k0.shape[1],
      [k, v] = [repeatedHeads(k0, times), repeatedHeads(v0, times)],
      precise = softmax_precision ? dtype(softmax_precision) : q.dtype === "float64" ? "float64" : "float32",
      by = scale ?? 1 / Math.sqrt(q.shape[3]),
      scores = cast(T.mul(T.matmul(q, views.transpose(k, 2, 3)), by) as Tensor, precise),
      changed = score_mod ? (score_mod(scores)[0] as Tensor) : scores,
      weights = T.softmax(changed, -1) as Tensor,
      final = prob_mod ? (prob_mod(weights)[0] as Tensor) : weights;
    if (!isFloat(q.dtype)) throw new OpError("FlexAttention: queries are floating");
    return T.matmul(cast(final, q.dtype), v);
  }),
};
