// Masks of flex_attention: functions of a place, joined, written out, or kept with the sizes that they are for.

import { arange, ones, zeros } from "../../creation/create.js";
import { count, refuse } from "../../base/argument-kinds.js";
import { OpError, describe } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import type { Device } from "../../devices/device.js";
import { check } from "../../tensor/tensor-arguments.js";
import { Tensor } from "../../tensor/tensor.js";
import { to } from "../../views/transfer.js";
import { expand, reshape } from "../../views/views.js";
import { pad } from "../../../names/functional.js";
import { amax, logical_and, logical_or, ne } from "../../../names/torch.js";

/**
 * Whether a query sees a key: of tensors of whole numbers that broadcast with each other, the places in the batch, among
 * the heads, the queries and the keys, a tensor of booleans.
 */
export type MaskMod = (b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) => Tensor;
/** A score changed by where it is; its arguments are the scores [B, H, L, S] and tensors that broadcast with them. */
export type ScoreMod = (score: Tensor, b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) => Tensor;
export type Sizes = readonly [B: number, H: number, Q_LEN: number, KV_LEN: number];

/** Places along each axis, as tensors that broadcast with each other. */
export function places(sizes: Sizes, device: Device | string | null): [Tensor, Tensor, Tensor, Tensor] {
  return sizes.map((n, axis) =>
    reshape(
      arange(0, n, { dtype: "int64", device: device as string }),
      sizes.map((_, i) => (i === axis ? n : 1)),
    ),
  ) as [Tensor, Tensor, Tensor, Tensor];
}

/** What a function says of all places, of a type that is checked. */
export function masked(mask_mod: MaskMod, sizes: Sizes, device: Device | string | null, op: string): Tensor {
  const mask: unknown = mask_mod(...places(sizes, device));
  if (!(mask instanceof Tensor) || mask.dtype !== "bool")
    throw new OpError(
      `${op}: mask_mod must answer a tensor of booleans, got ${mask instanceof Tensor ? mask.dtype : describe(mask)}`,
    );
  return mask;
}

/** One mask of several: what `joins` makes of what they say, beginning with what `begins` makes. */
function joined(op: string, given: readonly unknown[], joins: typeof logical_and, begins: typeof ones): MaskMod {
  const mods = taken(`${op} *mask_mods`, given);
  for (const mod of mods) if (typeof mod !== "function") refuse(op, "mask_mods", "functions", mod);
  return (...at) =>
    (mods as MaskMod[]).reduce<Tensor>(
      (found, mod) => joins(found, mod(...at)) as Tensor,
      begins([], { dtype: "bool", device: at[0].device }),
    );
}

/**
 * What all of the masks let through.
 *
 * @param mask_mods functions of four places that answer booleans
 *
 * @example
 * const { and_masks, create_mask } = torch.nn.attention.flex_attention;
 * const near = and_masks((b, h, q, k) => q.ge(k), (b, h, q, k) => q.sub(k).lt(2));
 * create_mask(near, null, null, 3, 3)  // [[[[true, false, false], [true, true, false], [false, true, true]]]]
 */
export function and_masks(...mask_mods: MaskMod[]): MaskMod {
  return joined("and_masks", mask_mods, logical_and, ones);
}

/**
 * What one of the masks lets through.
 *
 * @param mask_mods functions of four places that answer booleans
 *
 * @example
 * const { or_masks, create_mask } = torch.nn.attention.flex_attention;
 * const seen = or_masks((b, h, q, k) => q.ge(k), (b, h, q, k) => k.lt(2));
 * create_mask(seen, null, null, 2, 3)  // [[[[true, true, false], [true, true, false]]]]
 */
export function or_masks(...mask_mods: MaskMod[]): MaskMod {
  return joined("or_masks", mask_mods, logical_or, zeros);
}

/**
 * The mask that lets everything through.
 *
 * @param batch tensor of whole numbers: places in the batch
 * @param head tensor of whole numbers: places among the heads
 * @param token_q tensor of whole numbers: places of queries
 * @param token_kv tensor of whole numbers: places of keys
 *
 * @example
 * const { noop_mask, create_mask } = torch.nn.attention.flex_attention;
 * create_mask(noop_mask, null, null, 1, 2)  // [[[[true, true]]]]
 */
export function noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor): Tensor {
  const names = ["batch", "head", "token_q", "token_kv"];
  [batch, head, token_q, token_kv] = taken("noop_mask batch head token_q token_kv", arguments);
  [batch, head, token_q, token_kv].forEach((x, i) => check(x, "noop_mask", names[i]));
  return ones([], { dtype: "bool", device: batch.device });
}

/** How many places there are along the axes of a mask; null: one that stands for all. */
function sizesOf(op: string, B: unknown, H: unknown, Q_LEN: unknown, KV_LEN: unknown): Sizes {
  return [
    count(B ?? 1, op, "B", 1),
    count(H ?? 1, op, "H", 1),
    count(Q_LEN, op, "Q_LEN", 1),
    count(KV_LEN, op, "KV_LEN", 1),
  ];
}

type Where = Device | string | null | { device?: Device | string | null };

/**
 * A mask written out: a tensor of booleans [B, H, Q_LEN, KV_LEN].
 *
 * @param mod_fn a mask, or what changes scores: then what it leaves above minus infinity
 * @param B size of the batch; null: 1
 * @param H number of heads; null: 1
 * @param Q_LEN number of queries
 * @param KV_LEN number of keys
 * @param device where the mask is made
 *
 * @example
 * const { create_mask } = torch.nn.attention.flex_attention;
 * create_mask((b, h, q_idx, kv_idx) => q_idx.ge(kv_idx), null, null, 2, 3)  // [[[[true, false, false], [true, true, false]]]]
 */
export function create_mask(
  mod_fn: MaskMod | ScoreMod,
  B: number | null,
  H: number | null,
  Q_LEN: number,
  KV_LEN: number,
  device?: Where,
): Tensor;
export function create_mask(...args: unknown[]): Tensor {
  const op = "create_mask",
    [mod, B, H, Q_LEN, KV_LEN, device = null] = taken("create_mask mod_fn B H Q_LEN KV_LEN device?", args),
    sizes = sizesOf(op, B, H, Q_LEN, KV_LEN);
  if (typeof mod !== "function") refuse(op, "mod_fn", "a function", mod);
  if (mod.length === 5) {
    const [b, ...others] = places(sizes, device),
      scores = (mod as ScoreMod)(zeros([], { device }), b, ...others);
    return expand(ne(scores, -Infinity) as Tensor, sizes).clone();
  }
  return expand(masked(mod as MaskMod, sizes, device, op), sizes).clone();
}

/**
 * A mask with the sizes that it is for, in blocks, as `create_block_mask` makes it.
 *
 * @example
 * const { create_block_mask, noop_mask } = torch.nn.attention.flex_attention;
 * create_block_mask(noop_mask, null, null, 4, 8).shape  // [1, 1, 4, 8]
 */
export class BlockMask {
  constructor(
    /** Whether a query sees a key. */
    readonly mask_mod: MaskMod,
    /** Sizes of the batch and the heads, numbers of queries and keys. */
    readonly shape: Sizes,
    /** Queries and keys of a block. */
    readonly BLOCK_SIZE: readonly [number, number],
    readonly device: Device | string | null,
  ) {}
  /** Numbers of queries and keys. */
  get seq_lengths(): [number, number] {
    return [this.shape[2], this.shape[3]];
  }
  /** How many places there are. */
  numel(): number {
    return this.shape.reduce((product, n) => product * n, 1);
  }
  /** Which blocks let something through: an int32 tensor [B, H, blocks of queries, blocks of keys] of ones and zeros. */
  to_dense(): Tensor {
    const [B, H, L, S] = this.shape,
      [q, k] = this.BLOCK_SIZE,
      rows = Math.ceil(L / q),
      columns = Math.ceil(S / k),
      mask = expand(masked(this.mask_mod, this.shape, this.device, "BlockMask"), this.shape),
      whole = pad(to(mask, ["int32"]) as Tensor, [0, columns * k - S, 0, rows * q - L]) as Tensor;
    return amax(reshape(whole, [B, H, rows, q, columns, k]), [3, 5]) as Tensor;
  }
}

/**
 * A mask for flex_attention, with the sizes that it is for.
 *
 * @param mask_mod whether a query sees a key
 * @param B size of the batch; null: the same for all of it
 * @param H number of heads; null: the same for all
 * @param Q_LEN number of queries
 * @param KV_LEN number of keys
 * @param device where the mask is made
 * @param BLOCK_SIZE queries and keys of a block, one number or two
 *
 * @example
 * const { create_block_mask } = torch.nn.attention.flex_attention;
 * create_block_mask((b, h, q, k) => q.ge(k), null, null, 4, 4, { BLOCK_SIZE: 2 }).to_dense()  // [[[[1, 0], [1, 1]]]]
 */
export function create_block_mask(
  mask_mod: MaskMod,
  B: number | null,
  H: number | null,
  Q_LEN: number,
  KV_LEN: number,
  device?:
    | Device
    | string
    | null
    | { device?: Device | string | null; BLOCK_SIZE?: number | readonly [number, number]; _compile?: boolean },
  BLOCK_SIZE?: number | readonly [number, number] | { BLOCK_SIZE?: number | readonly [number, number] },
): BlockMask;
export function create_block_mask(...args: unknown[]): BlockMask {
  const op = "create_block_mask",
    [mod, B, H, Q_LEN, KV_LEN, device = null, size = 128] = taken(
      "create_block_mask mask_mod B H Q_LEN KV_LEN device? BLOCK_SIZE? _compile?",
      args,
    );
  if (typeof mod !== "function") refuse(op, "mask_mod", "a function", mod);
  const [q, k = q] = [size].flat() as unknown[];
  const blocks = [count(q, op, "BLOCK_SIZE", 1), count(k, op, "BLOCK_SIZE", 1)] as const,
    made = new BlockMask(mod as MaskMod, sizesOf(op, B, H, Q_LEN, KV_LEN), blocks, device);
  masked(made.mask_mod, made.shape, device, op); // refused here rather than where it is used
  return made;
}
