// torch.nn.attention.flex_attention: attention whose scores and masks are functions of where they are.

import { flag, refuse } from "../../base/argument-kinds.js";
import { OpError, describe } from "../../base/errors.js";
import { isFloat } from "../../elements/dtype.js";
import { taken } from "../../base/named-arguments.js";
import { showShape } from "../../base/shape.js";
import { check } from "../../tensor/tensor-arguments.js";
import { Tensor } from "../../tensor/tensor.js";
import { to } from "../../views/transfer.js";
import { expand, matrixTranspose, reshape, unsqueeze } from "../../views/views.js";
import { _safe_softmax, logsumexp, matmul, mul, where } from "../../../names/torch.js";
import { BlockMask, type ScoreMod, type Sizes, masked, places } from "./block-mask.js";

export {
  type BlockMask,
  and_masks,
  create_block_mask,
  create_mask,
  type MaskMod,
  noop_mask,
  or_masks,
  type ScoreMod,
} from "./block-mask.js";

export interface FlexOptions {
  score_mod?: ScoreMod | null;
  block_mask?: BlockMask | null;
  scale?: number | null;
  enable_gqa?: boolean;
  return_lse?: boolean;
  /** Means nothing here, default null. */
  kernel_options?: object | null;
}

const SIGNATURE =
  "flex_attention query key value score_mod? block_mask? scale? enable_gqa? return_lse? kernel_options?";

/** What `score_mod` makes of the scores. */
function changed(score_mod: ScoreMod, scores: Tensor, at: [Tensor, Tensor, Tensor, Tensor]): Tensor {
  const out: unknown = score_mod(scores, ...at);
  if (out instanceof Tensor && isFloat(out.dtype)) return out;
  throw new OpError(
    `flex_attention: score_mod must answer a float tensor, got ${out instanceof Tensor ? out.dtype : describe(out)}`,
  );
}

/** Heads of keys or values, each repeated for the queries' heads that share it. */
function shared(x: Tensor, heads: number): Tensor {
  const [B, H, S, E] = x.shape as Sizes;
  return reshape(expand(unsqueeze(x, 2), [B, H, heads / H, S, E]), [B, heads, S, E]);
}

function checkSizes(query: Tensor, key: Tensor, value: Tensor, gqa: boolean): void {
  const fail = (message: string): never => {
    throw new OpError(`flex_attention: ${message}`);
  };
  for (const x of [query, key, value])
    if (x.ndim !== 4) fail(`query, key, and value must be 4D tensors, got a tensor of size ${showShape(x.shape)}`);
  if (query.dtype !== key.dtype || query.dtype !== value.dtype)
    fail(
      `Expected query, key, and value to have the same dtype, but got query.dtype: ${query.dtype}, key.dtype: ` +
        `${key.dtype}, and value.dtype: ${value.dtype} instead.`,
    );
  const [B, Hq, , E] = query.shape as Sizes,
    [Bk, Hkv, S, Ek] = key.shape as Sizes;
  if (E !== Ek) fail(`Expect query and key/value to have the same embedding dimension but got E=${E} and E=${Ek}.`);
  if (Bk !== B || value.shape[0] !== B || value.shape[1] !== Hkv || value.shape[2] !== S)
    fail(
      `query ${showShape(query.shape)}, key ${showShape(key.shape)} and value ${showShape(value.shape)} do not belong ` +
        "together: expected [B, Hq, L, E], [B, Hkv, S, E] and [B, Hkv, S, Ev]",
    );
  if (!gqa && Hq !== Hkv)
    fail(
      `Expect query and key/value to have the same number of heads but got Hq=${Hq} and Hkv=${Hkv}. Try setting ` +
        "enable_gqa=True for GQA.",
    );
  if (Hq % Hkv !== 0)
    fail(`Expect number of query heads to be a multiple of kv heads for GQA but got Hq=${Hq} and Hkv=${Hkv}.`);
}

/**
 * Attention whose scores `score_mod` changes, and of which `block_mask` says which queries see which keys:
 * `softmax(score_mod(scale * query @ key.T)) @ value`; queries that see no key get 0.  All scores are computed and kept
 * for the gradient, [B, Hq, L, S].
 *
 * @param query float tensor [B, Hq, L, E]
 * @param key float tensor [B, Hkv, S, E]
 * @param value float tensor [B, Hkv, S, Ev]
 * @param score_mod of the scores [B, Hq, L, S] and the places in the batch, among the heads, the queries and the keys, as
 *   tensors that broadcast with them, other scores, default null
 * @param block_mask what `create_block_mask` made; null: every query sees every key, default null
 * @param scale what products are multiplied by; null: `1 / sqrt(E)`, default null
 * @param enable_gqa whether several heads of queries share one of keys and values, default false
 * @param return_lse whether the logarithms of the sums of exponentials come, too: a list of both, default false
 * @param kernel_options means nothing here, default null
 *
 * @example
 * const { flex_attention } = torch.nn.attention.flex_attention, x = torch.tensor([[[[1], [2]]]]);
 * flex_attention(x, x, x, (score, b, h, q_idx, kv_idx) => score.sub(kv_idx.mul(50)))  // [[[[1], [1]]]]
 */
export function flex_attention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  ...options:
    | [FlexOptions & { return_lse: true }]
    | [score_mod: ScoreMod | null, FlexOptions & { return_lse: true }]
    | [score_mod: ScoreMod | null, block_mask: BlockMask | null, FlexOptions & { return_lse: true }]
): [Tensor, Tensor];
export function flex_attention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  score_mod?: ScoreMod | null | FlexOptions,
  block_mask?: BlockMask | null | FlexOptions,
  scale?: number | null | FlexOptions,
  enable_gqa?: boolean | FlexOptions,
  return_lse?: boolean | FlexOptions,
  kernel_options?: object | null,
): Tensor;
export function flex_attention(...args: unknown[]): Tensor | [Tensor, Tensor] {
  const op = "flex_attention",
    [query, key, value, score_mod = null, block_mask = null, scale = null, gqa = false, lse = false] = taken(
      SIGNATURE,
      args,
    );
  for (const [name, x] of Object.entries({ query, key, value })) check(x, op, name);
  if (score_mod !== null && typeof score_mod !== "function") refuse(op, "score_mod", "a function", score_mod);
  if (block_mask !== null && !(block_mask instanceof BlockMask))
    refuse(op, "block_mask", "a BlockMask, which create_block_mask makes", block_mask);
  if (scale !== null && typeof scale !== "number") refuse(op, "scale", "a number", scale);
  checkSizes(query, key, value, flag(gqa, op, "enable_gqa"));
  const [B, H, L, E] = query.shape as Sizes,
    S = key.shape[2] as number,
    sizes = [B, H, L, S] as const,
    { device } = query.storage;
  if (block_mask && (block_mask.shape[2] !== L || block_mask.shape[3] !== S))
    throw new OpError(
      `${op}: block_mask was created for block_mask.shape=(${block_mask.shape.join(", ")}) but got q_len=${L} and ` +
        `kv_len=${S}`,
    );
  const products = matmul(query, matrixTranspose(shared(key, H))) as Tensor,
    half = query.dtype === "float16" || query.dtype === "bfloat16";
  let scores = mul(half ? (to(products, ["float32"]) as Tensor) : products, scale ?? 1 / Math.sqrt(E)) as Tensor;
  if (score_mod) scores = changed(score_mod, scores, places(sizes, device));
  if (block_mask) scores = where(masked(block_mask.mask_mod, sizes, device, op), scores, -Infinity) as Tensor;
  const shares = _safe_softmax(scores, -1) as Tensor,
    out = matmul(half ? (to(shares, [query.dtype]) as Tensor) : shares, shared(value, H)) as Tensor;
  return flag(lse, op, "return_lse") ? [out, logsumexp(scores, -1) as Tensor] : out;
}
