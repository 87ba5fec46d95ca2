// One layer of a transformer: attention and a feed-forward part, each with a sum and a norm.
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { add } from "../../../names/torch.js";
import * as F from "../../../names/functional.js";
import { Dropout } from "../../../names/modules.js";
import { MultiheadAttention } from "./attention.js";
import { callable } from "../../base/callable.js";
import { LayerNorm } from "./layer-norm.js";
import { Linear } from "./linear.js";
import { Module } from "../module.js";
import type { Layer } from "../stateless.js";
import { DEVICE_AND_TYPE, construct, size, type Arguments, type Factory, type DeviceAndType } from "../options.js";

export type Mask = Tensor | null;

export type Activation = "relu" | "gelu" | ((x: Tensor) => Tensor);

export interface TransformerLayerOptions extends Factory {
  /** How many features there are between the two linear maps. */
  dim_feedforward?: number;
  /** The part of what each step adds that is set to 0 in training, from 0 to 1. */
  dropout?: number;
  /** What is between the two linear maps: a name, or a function of tensors. */
  activation?: Activation;
  /** Added to the variance before its root is divided by. */
  layer_norm_eps?: number;
  /** Whether inputs are (batch, length, features) and not (length, batch, features). */
  batch_first?: boolean;
  /** Whether normalisation comes before attention and feedforward, not after. */
  norm_first?: boolean;
  /** Whether linear maps and norms add learned vectors. */
  bias?: boolean;
}

type Heads = {
  /** How many features inputs and outputs have. */
  d_model: number;
  /** In how many heads, which divide `d_model`, attention is split. */
  nhead: number;
};

type LayerPlaces = [
  dim_feedforward: number,
  dropout: number,
  activation: Activation,
  layer_norm_eps: number,
  batch_first: boolean,
  norm_first: boolean,
  bias: boolean,
  ...DeviceAndType,
];

type LayerArguments = Arguments<[d_model: number, nhead: number], LayerPlaces, TransformerLayerOptions, Heads>;

type Settings = Heads & Required<TransformerLayerOptions>;

const USUAL = {
  d_model: /* @__PURE__ */ size(),
  nhead: /* @__PURE__ */ size(),
  dim_feedforward: /* @__PURE__ */ size(2048),
  dropout: 0.1,
  activation: "relu" as Activation,
  layer_norm_eps: 1e-5,
  batch_first: false,
  norm_first: false,
  bias: true,
  ...DEVICE_AND_TYPE,
};

const sum = (a: Tensor, b: Tensor): Tensor => add(a, b) as Tensor;

function activate(given: Activation): (x: Tensor) => Tensor {
  if (given === "relu") return (x) => F.relu(x);
  if (given === "gelu") return (x) => F.gelu(x);
  if (typeof given === "function") return given;
  throw new OpError(`activation should be relu/gelu, not ${String(given)}`);
}

/** What layers of both kinds are made of. */
abstract class LayerModule extends Module {
  readonly norm_first: boolean;
  activation: (x: Tensor) => Tensor;

  protected constructor(o: Settings) {
    super();
    this.norm_first = o.norm_first;
    this.activation = activate(o.activation);
  }
  protected norm(o: Settings): LayerNorm {
    return LayerNorm(o.d_model, { eps: o.layer_norm_eps, bias: o.bias, device: o.device, dtype: o.dtype });
  }
  protected linear(o: Settings, from: number, to: number): Linear {
    return Linear(from, to, { bias: o.bias, device: o.device, dtype: o.dtype });
  }
  protected attention(o: Settings): MultiheadAttention {
    const { dropout, bias, batch_first, device, dtype } = o;
    return MultiheadAttention(o.d_model, o.nhead, { dropout, bias, batch_first, device, dtype });
  }
  /** A part of the layer beside its input, normalised before or after. */
  protected residual(x: Tensor, norm: LayerNorm, part: (x: Tensor) => Tensor): Tensor {
    return this.norm_first ? sum(x, part(norm(x))) : norm(sum(x, part(x)));
  }
}

class TransformerEncoderLayerClass extends LayerModule {
  self_attn: MultiheadAttention;
  linear1: Linear;
  dropout: Layer;
  linear2: Linear;
  norm1: LayerNorm;
  norm2: LayerNorm;
  dropout1: Layer;
  dropout2: Layer;

  /** Attention of a sequence to itself, then two linear maps for each element. */
  constructor(...args: LayerArguments) {
    const o = construct("TransformerEncoderLayer", USUAL, args) as Settings;
    super(o);
    this.self_attn = this.attention(o);
    this.linear1 = this.linear(o, o.d_model, o.dim_feedforward);
    this.dropout = Dropout(o.dropout);
    this.linear2 = this.linear(o, o.dim_feedforward, o.d_model);
    this.norm1 = this.norm(o);
    this.norm2 = this.norm(o);
    this.dropout1 = Dropout(o.dropout);
    this.dropout2 = Dropout(o.dropout);
  }
  override forward(
    src: Tensor,
    ...rest: [EncoderCall?] | [src_mask: Mask, src_key_padding_mask?: Mask, is_causal?: boolean]
  ): Tensor {
    const [input, attn_mask = null, key_padding_mask = null, is_causal = false] = taken(
      "TransformerEncoderLayer src src_mask? src_key_padding_mask? is_causal?",
      arguments,
    ) as [Tensor, Mask?, Mask?, boolean?];
    const attended = this.residual(input, this.norm1, (x) =>
      this.dropout1(this.self_attn(x, x, x, { attn_mask, key_padding_mask, is_causal, need_weights: false })[0]),
    );
    return this.residual(attended, this.norm2, (x) =>
      this.dropout2(this.linear2(this.dropout(this.activation(this.linear1(x))))),
    );
  }
}

interface EncoderCall {
  src_mask?: Mask;
  src_key_padding_mask?: Mask;
  /** Says that the mask hides what comes later. */
  is_causal?: boolean;
}

/**
 * @example
 * torch.nn.TransformerEncoderLayer(4, 2, 8)(torch.ones([3, 1, 4])).shape  // [3, 1, 4]
 */
export const TransformerEncoderLayer = /* @__PURE__ */ callable(
  TransformerEncoderLayerClass,
  "TransformerEncoderLayer",
  "forward !",
);

export type TransformerEncoderLayer = TransformerEncoderLayerClass;

class TransformerDecoderLayerClass extends LayerModule {
  self_attn: MultiheadAttention;
  multihead_attn: MultiheadAttention;
  linear1: Linear;
  dropout: Layer;
  linear2: Linear;
  norm1: LayerNorm;
  norm2: LayerNorm;
  norm3: LayerNorm;
  dropout1: Layer;
  dropout2: Layer;
  dropout3: Layer;

  /** Attention of a sequence to itself and to another, then two linear maps for each element. */
  constructor(...args: LayerArguments) {
    const o = construct("TransformerDecoderLayer", USUAL, args) as Settings;
    super(o);
    this.self_attn = this.attention(o);
    this.multihead_attn = this.attention(o);
    this.linear1 = this.linear(o, o.d_model, o.dim_feedforward);
    this.dropout = Dropout(o.dropout);
    this.linear2 = this.linear(o, o.dim_feedforward, o.d_model);
    this.norm1 = this.norm(o);
    this.norm2 = this.norm(o);
    this.norm3 = this.norm(o);
    this.dropout1 = Dropout(o.dropout);
    this.dropout2 = Dropout(o.dropout);
    this.dropout3 = Dropout(o.dropout);
  }
  override forward(
    tgt: Tensor,
    memory: Tensor,
    ...rest:
      | [DecoderCall?]
      | [
          tgt_mask: Mask,
          memory_mask?: Mask,
          tgt_key_padding_mask?: Mask,
          memory_key_padding_mask?: Mask,
          tgt_is_causal?: boolean,
          memory_is_causal?: boolean,
        ]
  ): Tensor {
    const [input, seen, own = null, other = null, ownPadding = null, otherPadding = null, ownCausal, otherCausal] =
      taken(`TransformerDecoderLayer ${DECODER}`, arguments) as [
        Tensor,
        Tensor,
        Mask?,
        Mask?,
        Mask?,
        Mask?,
        boolean?,
        boolean?,
      ];
    const looked = this.residual(input, this.norm1, (x) =>
      this.dropout1(
        this.self_attn(x, x, x, {
          attn_mask: own,
          key_padding_mask: ownPadding,
          is_causal: ownCausal ?? false,
          need_weights: false,
        })[0],
      ),
    );
    const attended = this.residual(looked, this.norm2, (x) =>
      this.dropout2(
        this.multihead_attn(x, seen, seen, {
          attn_mask: other,
          key_padding_mask: otherPadding,
          is_causal: otherCausal ?? false,
          need_weights: false,
        })[0],
      ),
    );
    return this.residual(attended, this.norm3, (x) =>
      this.dropout3(this.linear2(this.dropout(this.activation(this.linear1(x))))),
    );
  }
}

export interface DecoderCall {
  tgt_mask?: Mask;
  memory_mask?: Mask;
  tgt_key_padding_mask?: Mask;
  memory_key_padding_mask?: Mask;
  tgt_is_causal?: boolean | null;
  memory_is_causal?: boolean;
}

export const DECODER =
  "tgt memory tgt_mask? memory_mask? tgt_key_padding_mask? memory_key_padding_mask? tgt_is_causal? memory_is_causal?";

/**
 * @example
 * torch.nn.TransformerDecoderLayer(4, 2, 8)(torch.ones([3, 1, 4]), torch.ones([5, 1, 4])).shape  // [3, 1, 4]
 */
export const TransformerDecoderLayer = /* @__PURE__ */ callable(
  TransformerDecoderLayerClass,
  "TransformerDecoderLayer",
  "forward !",
);

export type TransformerDecoderLayer = TransformerDecoderLayerClass;
