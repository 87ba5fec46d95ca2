// Attention with several heads, from the projections of its inputs to that of its output.

import { zeros } from "../creation/create.js";
import { OpError } from "../base/errors.js";
import { cat } from "../functions/join.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import { taken } from "../base/named-arguments.js";
import { sameShape, showShape } from "../base/shape.js";
import type { Tensor } from "../tensor/tensor.js";
import { add, baddbmm, bmm, mean, mul, where } from "../../names/torch.js";
import { dropout, linear, pad, scaled_dot_product_attention, softmax } from "../../names/functional.js";
import { chunk } from "../views/splitting.js";
import * as views from "../views/views.js";

const SIGNATURE =
  "multi_head_attention_forward query key value embed_dim_to_check num_heads in_proj_weight in_proj_bias bias_k bias_v " +
  "add_zero_attn dropout_p out_proj_weight out_proj_bias training? key_padding_mask? need_weights? attn_mask? " +
  "use_separate_proj_weight? q_proj_weight? k_proj_weight? v_proj_weight? static_k? static_v? average_attn_weights? " +
  "is_causal?";
const NAMES = /* @__PURE__ */ SIGNATURE.replaceAll("?", "").split(" ").slice(1);

type Maybe = Tensor | null | undefined;

/** What follows `dropout_p`, by position or by name. */
export interface AttentionOptions {
  training?: boolean;
  key_padding_mask?: Maybe;
  need_weights?: boolean;
  attn_mask?: Maybe;
  use_separate_proj_weight?: boolean;
  q_proj_weight?: Maybe;
  k_proj_weight?: Maybe;
  v_proj_weight?: Maybe;
  static_k?: Maybe;
  static_v?: Maybe;
  average_attn_weights?: boolean;
  is_causal?: boolean;
}

const check = (holds: boolean, message: string) => {
  if (!holds) throw new OpError(`multi_head_attention_forward: ${message}`);
};

/** A mask that is added to the scores: a mask of bools becomes 0 and minus infinity. */
function additive(mask: Tensor, like: Tensor): Tensor {
  check(
    mask.dtype === "bool" || mask.is_floating_point(),
    `only bool and floating types of masks are supported, but got ${mask.dtype}`,
  );
  if (mask.dtype !== "bool") return mask;
  const nothing = zeros([], { dtype: like.dtype, device: like.device });
  return where(mask, add(nothing, -Infinity) as Tensor, nothing) as Tensor;
}

const wider = (mask: Tensor | null) => mask && (pad(mask, [0, 1]) as Tensor);

/**
 * Attention of `query`, (L, E) or (L, N, E), to `key` and `value`, (S, E) or (S, N, E), in `num_heads` parts of the
 * features.
 *
 * Answers the output, shaped as `query`, and the weights: (L, S) or (N, L, S), with an axis of heads before L unless
 * they are averaged; `null` if they are not wanted.
 *
 * @param query float tensor [L, E] or [L, N, E]
 * @param key float tensor [S, E] or [S, N, E]
 * @param value float tensor [S, E] or [S, N, E]
 * @param embed_dim_to_check E, which is compared with that of `query`
 * @param num_heads into how many parts the features are divided
 * @param in_proj_weight float tensor [3 E, E]: the weights of query, key and value, one below the other
 * @param in_proj_bias float tensor [3 E]
 * @param bias_k float tensor [1, 1, E] that is appended to the keys
 * @param bias_v float tensor [1, 1, E] that is appended to the values
 * @param add_zero_attn whether a key and a value of zeros are appended
 * @param dropout_p the probability that a weight becomes 0, in training
 * @param out_proj_weight float tensor [E, E]
 * @param out_proj_bias float tensor [E]
 * @param training whether weights are dropped
 * @param key_padding_mask truth values [S] or [N, S]: which keys are left out; or float numbers that are added
 * @param need_weights whether the weights are answered, else null
 * @param attn_mask truth values [L, S] or [N * heads, L, S]: which keys are left out; or float numbers that are added
 * @param use_separate_proj_weight whether the three following stand for `in_proj_weight`
 * @param q_proj_weight float tensor [E, E]
 * @param k_proj_weight float tensor [E, features of key]
 * @param v_proj_weight float tensor [E, features of value]
 * @param static_k float tensor [N * heads, S, E / heads] in the place of what comes of `key`
 * @param static_v float tensor [N * heads, S, E / heads] in the place of what comes of `value`
 * @param average_attn_weights whether the weights of the heads are averaged
 * @param is_causal says that `attn_mask` hides later keys
 *
 * @example
 * const same = torch.eye(2), values = torch.tensor([[1, 0], [0, 1]]);
 * const [output, weights] = torch.nn.functional.multi_head_attention_forward(
 *   torch.zeros([1, 2]), values, values, 2, 1, torch.cat([same, same, same]), null, null, null, false, 0, same, null);
 * [output, weights]  // [[[0.5, 0.5]], [[0.5, 0.5]]]
 */
export function multi_head_attention_forward(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  embed_dim_to_check: number,
  num_heads: number,
  in_proj_weight: Maybe,
  in_proj_bias: Maybe,
  bias_k: Maybe,
  bias_v: Maybe,
  add_zero_attn: boolean,
  dropout_p: number,
  out_proj_weight: Tensor,
  out_proj_bias: Maybe,
  ...rest: [AttentionOptions?] | readonly unknown[]
): [Tensor, Tensor | null] {
  const given = taken(SIGNATURE, arguments);
  [query, key, value, embed_dim_to_check, num_heads] = given;
  [in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias] =
    given.slice(5);
  const o = Object.fromEntries(NAMES.map((name, i) => [name, given[i] ?? null])) as unknown as Record<
    string,
    Tensor | null
  > &
    Required<AttentionOptions>;
  Object.entries({ query, key, value, out_proj_weight }).forEach(([name, x]) => {
    tensorOf(x, "multi_head_attention_forward", name);
  });
  const flag = (name: keyof AttentionOptions, usual: boolean) => (o[name] as boolean | null) ?? usual;
  const needWeights = flag("need_weights", true),
    batched = query.ndim === 3;
  check(
    query.ndim === 2 || batched,
    `query should be unbatched 2D or batched 3D tensor but received ${query.ndim}-D query tensor`,
  );
  check(
    key.ndim === query.ndim && value.ndim === query.ndim,
    `key and value should be ${query.ndim}-D as query, but are ${key.ndim}-D and ${value.ndim}-D`,
  );
  const stack = (x: Tensor) => (batched ? x : views.unsqueeze(x, 1));
  const [q0, k0, v0] = [stack(query), stack(key), stack(value)],
    [length, batch, width] = q0.shape as [number, number, number];
  let padding =
    o.key_padding_mask && additive(batched ? o.key_padding_mask : views.unsqueeze(o.key_padding_mask, 0), query);
  const causal = flag("is_causal", false);
  check(!causal || o.attn_mask !== null, "Need attn_mask if specifying the is_causal hint.");
  const hint = causal && padding === null && !needWeights;
  let mask = hint || o.attn_mask === null ? null : additive(o.attn_mask!, query);
  check(width === embed_dim_to_check, `was expecting embedding dimension of ${embed_dim_to_check}, but got ${width}`);
  check(width % num_heads === 0, `embed_dim ${width} not divisible by num_heads ${num_heads}`);
  const separate = flag("use_separate_proj_weight", false),
    size = width / num_heads;
  if (separate)
    check(
      sameShape(k0.shape.slice(0, 2), v0.shape.slice(0, 2)),
      `key's sequence and batch dims ${showShape(k0.shape)} do not match value's ${showShape(v0.shape)}`,
    );
  else
    check(
      sameShape(k0.shape, v0.shape),
      `key shape ${showShape(k0.shape)} does not match value shape ${showShape(v0.shape)}`,
    );
  for (const name of separate ? ["q_proj_weight", "k_proj_weight", "v_proj_weight"] : ["in_proj_weight"]) {
    check(o[name] !== null, `use_separate_proj_weight is ${separate} but ${name} is None`);
  }

  const weights = separate ? [o.q_proj_weight!, o.k_proj_weight!, o.v_proj_weight!] : chunk(in_proj_weight!, 3);
  const biases = in_proj_bias ? chunk(in_proj_bias, 3) : [null, null, null];
  let [q, k, v] = [q0, k0, v0].map((x, i) => linear(x, weights[i]!, biases[i]) as Tensor) as [Tensor, Tensor, Tensor];

  if (mask?.ndim === 2) {
    check(
      sameShape(mask.shape, [length, k0.shape[0]!]),
      `The shape of the 2D attn_mask is ${showShape(mask.shape)}, but should be ${showShape([length, k0.shape[0]!])}.`,
    );
    mask = views.unsqueeze(mask, 0);
  } else if (mask) {
    const wanted = [batch * num_heads, length, k0.shape[0]!];
    check(mask.ndim === 3, `attn_mask's dimension ${mask.ndim} is not supported`);
    check(
      sameShape(mask.shape, wanted),
      `The shape of the 3D attn_mask is ${showShape(mask.shape)}, but should be ${showShape(wanted)}.`,
    );
  }
  check((o.bias_k === null) === (o.bias_v === null), "bias_k and bias_v must be given together");
  if (o.bias_k && o.bias_v) {
    check(o.static_k === null && o.static_v === null, "bias cannot be added to static key or value");
    const bias = (x: Tensor) => views.expand(views.reshape(x, [1, 1, width]), [1, batch, width]);
    [k, v, mask, padding] = [cat([k, bias(o.bias_k)]), cat([v, bias(o.bias_v)]), wider(mask), wider(padding)];
  }
  const heads = (x: Tensor) => views.transpose(views.reshape(x, [x.shape[0]!, batch * num_heads, size]), 0, 1);
  [q, k, v] = [heads(q), o.static_k ?? heads(k), o.static_v ?? heads(v)];
  if (add_zero_attn) {
    const nothing = zeros([batch * num_heads, 1, size], { dtype: k.dtype, device: k.device });
    [k, v, mask, padding] = [cat([k, nothing], 1), cat([v, nothing], 1), wider(mask), wider(padding)];
  }
  const source = k.shape[1]!;
  if (padding) {
    check(
      sameShape(padding.shape, [batch, source]),
      `expecting key_padding_mask shape of ${showShape([batch, source])}, but got ${showShape(padding.shape)}`,
    );
    const all = views.reshape(
      views.expand(views.reshape(padding, [batch, 1, 1, source]), [batch, num_heads, length, source]),
      [batch * num_heads, length, source],
    );
    mask = mask ? (add(mask, all) as Tensor) : all;
  }
  const p = flag("training", true) ? dropout_p : 0,
    merged = (x: Tensor) => linear(views.reshape(x, [-1, width]), out_proj_weight, out_proj_bias ?? null) as Tensor;
  const shaped = (x: Tensor) => views.reshape(merged(x), batched ? [length, batch, -1] : [length, -1]);
  if (!needWeights) {
    const apart = (x: Tensor) => views.reshape(x, [batch, num_heads, x.shape[1]!, size]);
    const scores =
      mask && (mask.shape[0] === 1 ? views.unsqueeze(mask, 0) : views.reshape(mask, [batch, num_heads, -1, source]));
    const out = scaled_dot_product_attention(apart(q), apart(k), apart(v), scores, p, hint) as Tensor;
    return [shaped(views.permute(out, [2, 0, 1, 3])), null];
  }
  const scaled = mul(q, Math.sqrt(1 / size)) as Tensor,
    turned = views.transpose(k, 1, 2);
  const all = softmax((mask ? baddbmm(mask, scaled, turned) : bmm(scaled, turned)) as Tensor, -1) as Tensor;
  const kept = p > 0 ? (dropout(all, p) as Tensor) : all;
  const apart = views.reshape(kept, [batch, num_heads, length, source]),
    seen = flag("average_attn_weights", true) ? (mean(apart, 1) as Tensor) : apart;
  return [shaped(views.transpose(bmm(kept, v) as Tensor, 0, 1)), batched ? seen : views.squeeze(seen, 0)];
}
