// Attention with several heads as a module; the arithmetic is multi_head_attention_forward.

import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { multi_head_attention_forward } from "../../composite/attention.js";
import * as views from "../../views/views.js";
import { callable } from "../../base/callable.js";
import { constant_, xavier_normal_, xavier_uniform_ } from "../init.js";
import { Linear } from "./linear.js";
import { Module } from "../module.js";
import {
  DEVICE_AND_TYPE,
  construct,
  parameter,
  size,
  type Arguments,
  type Factory,
  type DeviceAndType,
} from "../options.js";
import type { Parameter } from "../parameter.js";

export interface MultiheadAttentionOptions extends Factory {
  /** The part of the weights that is set to 0 in training, from 0 to 1. */
  dropout?: number;
  /** Whether learned vectors are added to queries, keys, values and outputs. */
  bias?: boolean;
  /** Whether a learned element is added to keys and values. */
  add_bias_kv?: boolean;
  /** Whether a zero is added to keys and values. */
  add_zero_attn?: boolean;
  /** How many features keys have; null: `embed_dim`. */
  kdim?: number | null;
  /** How many features values have; null: `embed_dim`. */
  vdim?: number | null;
  /** Whether inputs are (batch, length, features) and not (length, batch, features). */
  batch_first?: boolean;
}
type Heads = {
  /** How many features queries and outputs have. */
  embed_dim: number;
  /** In how many heads, which divide `embed_dim`, the features are split. */
  num_heads: number;
};

export interface AttentionCall {
  /** (batch, keys): true where a key is not looked at; or numbers added to the scores. */
  key_padding_mask?: Tensor | null;
  need_weights?: boolean;
  /** (queries, keys) or (batch * heads, queries, keys), likewise. */
  attn_mask?: Tensor | null;
  average_attn_weights?: boolean;
  /** Says that attn_mask hides what comes later. */
  is_causal?: boolean;
}

/** Under the name that PyTorch prints. */
const OutputLinear = /* @__PURE__ */ callable(class extends Linear {}, "NonDynamicallyQuantizableLinear");

class MultiheadAttentionClass extends Module {
  readonly embed_dim: number;
  readonly num_heads: number;
  readonly head_dim: number;
  readonly kdim: number;
  readonly vdim: number;
  readonly dropout: number;
  readonly batch_first: boolean;
  readonly add_zero_attn: boolean;
  q_proj_weight: Parameter | null = null;
  k_proj_weight: Parameter | null = null;
  v_proj_weight: Parameter | null = null;
  in_proj_weight: Parameter | null = null;
  in_proj_bias: Parameter | null;
  out_proj: Linear;
  bias_k: Parameter | null;
  bias_v: Parameter | null;

  /** Attention of `num_heads` parts of `embed_dim` features each. */
  constructor(
    ...args: Arguments<
      [embed_dim: number, num_heads: number],
      [
        dropout: number,
        bias: boolean,
        add_bias_kv: boolean,
        add_zero_attn: boolean,
        kdim: number | null,
        vdim: number | null,
        batch_first: boolean,
        ...DeviceAndType,
      ],
      MultiheadAttentionOptions,
      Heads
    >
  ) {
    super();
    const o = construct(
      "MultiheadAttention",
      {
        embed_dim: size(),
        num_heads: size(),
        dropout: 0,
        bias: true,
        add_bias_kv: false,
        add_zero_attn: false,
        kdim: null as number | null,
        vdim: null as number | null,
        batch_first: false,
        ...DEVICE_AND_TYPE,
      },
      args,
    );
    const width = o.embed_dim;
    if (!(width > 0 && o.num_heads > 0))
      throw new OpError(
        `embed_dim and num_heads must be greater than 0, got embed_dim=${width} and num_heads=${o.num_heads} instead`,
      );
    if (width % o.num_heads !== 0) throw new OpError("embed_dim must be divisible by num_heads");
    this.embed_dim = width;
    this.num_heads = o.num_heads;
    this.head_dim = width / o.num_heads;
    this.kdim = o.kdim ?? width;
    this.vdim = o.vdim ?? width;
    this.dropout = o.dropout;
    this.batch_first = o.batch_first;
    this.add_zero_attn = o.add_zero_attn;
    if (this.kdim === width && this.vdim === width) this.in_proj_weight = parameter([3 * width, width], o);
    else {
      this.q_proj_weight = parameter([width, width], o);
      this.k_proj_weight = parameter([width, this.kdim], o);
      this.v_proj_weight = parameter([width, this.vdim], o);
    }
    this.in_proj_bias = o.bias ? parameter([3 * width], o) : null;
    this.out_proj = OutputLinear(width, width, { bias: o.bias, device: o.device ?? null, dtype: o.dtype ?? null });
    this.bias_k = o.add_bias_kv ? parameter([1, 1, width], o) : null;
    this.bias_v = o.add_bias_kv ? parameter([1, 1, width], o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    for (const weight of [this.in_proj_weight, this.q_proj_weight, this.k_proj_weight, this.v_proj_weight])
      if (weight) xavier_uniform_(weight);
    if (this.in_proj_bias) constant_(this.in_proj_bias, 0);
    if (this.out_proj.bias) constant_(this.out_proj.bias, 0);
    if (this.bias_k) xavier_normal_(this.bias_k);
    if (this.bias_v) xavier_normal_(this.bias_v);
  }
  /**
   * The output, shaped as `query`, and the weights, averaged over heads unless told otherwise; null if they are not
   * wanted.
   */
  override forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    ...rest:
      | [AttentionCall?]
      | [
          key_padding_mask: Tensor | null,
          need_weights?: boolean,
          attn_mask?: Tensor | null,
          average_attn_weights?: boolean,
          is_causal?: boolean,
        ]
  ): [output: Tensor, weights: Tensor | null] {
    const [
      q,
      k,
      v,
      key_padding_mask = null,
      need_weights = true,
      attn_mask = null,
      average_attn_weights = true,
      is_causal = false,
    ] = taken(
      "MultiheadAttention query key value key_padding_mask? need_weights? attn_mask? average_attn_weights? is_causal?",
      arguments,
    ) as [Tensor, Tensor, Tensor, (Tensor | null)?, boolean?, (Tensor | null)?, boolean?, boolean?];
    const turned = this.batch_first && q.ndim === 3,
      turn = (x: Tensor) => (turned ? views.transpose(x, 0, 1) : x);
    const separate = this.in_proj_weight === null;
    const [out, weights] = multi_head_attention_forward(
      turn(q),
      turn(k),
      turn(v),
      this.embed_dim,
      this.num_heads,
      this.in_proj_weight,
      this.in_proj_bias,
      this.bias_k,
      this.bias_v,
      this.add_zero_attn,
      this.dropout,
      this.out_proj.weight,
      this.out_proj.bias,
      {
        training: this.training,
        key_padding_mask,
        need_weights,
        attn_mask,
        use_separate_proj_weight: separate,
        q_proj_weight: this.q_proj_weight,
        k_proj_weight: this.k_proj_weight,
        v_proj_weight: this.v_proj_weight,
        average_attn_weights,
        is_causal,
      },
    );
    return [turn(out), weights];
  }
}
/**
 * @example
 * const x = torch.ones([5, 1, 4]);
 * torch.nn.MultiheadAttention(4, 2)(x, x, x)[0].shape  // [5, 1, 4]
 */
export const MultiheadAttention = /* @__PURE__ */ callable(MultiheadAttentionClass, "MultiheadAttention", "forward !");
export type MultiheadAttention = MultiheadAttentionClass;
