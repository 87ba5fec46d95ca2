// Transformers: encoder and decoder layers, stacks of them, and both together (Vaswani et al. 2017).

import { full, type Options } from "../../creation/create.js";
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import { triu } from "../../../names/torch.js";
import { callable } from "../../base/callable.js";
import { ModuleList } from "../containers.js";
import { xavier_uniform_ } from "../init.js";
import { LayerNorm } from "./layer-norm.js";
import { Module } from "../module.js";
import { checkModule } from "../tree.js";
import { DEVICE_AND_TYPE, construct, layers, size, type Arguments, type DeviceAndType } from "../options.js";
import {
  type Activation,
  DECODER,
  type DecoderCall,
  type Mask,
  TransformerDecoderLayer,
  TransformerEncoderLayer,
  type TransformerLayerOptions,
} from "./transformer-layers.js";

/** Copies of a layer, as many as there shall be. */
function stacked(layer: Module, num_layers: number, op: string, name: string): ModuleList {
  checkModule(layer, `${op}: argument '${name}'`);
  const { num_layers: n } = construct(op, { num_layers: layers() }, [num_layers]);
  return ModuleList(Array.from({ length: n }, () => layer.deepcopy()));
}

interface StackOptions {
  /** A module over the last layer's output, as `LayerNorm`; null: none. */
  norm?: Module | null;
  /** Taken for PyTorch's sake, without effect. */
  enable_nested_tensor?: boolean;
  /** Taken for PyTorch's sake, without effect. */
  mask_check?: boolean;
}

class TransformerEncoderClass extends Module {
  readonly layers: ModuleList;
  readonly num_layers: number;
  norm: Module | null;

  /** `num_layers` copies of a layer one after another, then perhaps a norm. */
  constructor(
    encoder_layer: Module,
    num_layers: number | (StackOptions & { num_layers: number }),
    norm?: Module | null | StackOptions,
    _enable_nested_tensor?: boolean,
    _mask_check?: boolean,
  ) {
    super();
    this.layers = stacked(encoder_layer, num_layers as number, "TransformerEncoder", "encoder_layer");
    this.num_layers = num_layers as number;
    this.norm = (norm ?? null) as Module | null;
  }
  override forward(
    src: Tensor,
    ...rest:
      | [{ mask?: Mask; src_key_padding_mask?: Mask; is_causal?: boolean | null }?]
      | [mask: Mask, src_key_padding_mask?: Mask, is_causal?: boolean | null]
  ): Tensor {
    const [input, src_mask = null, src_key_padding_mask = null, causal = false] = taken(
      "TransformerEncoder src mask? src_key_padding_mask? is_causal?",
      arguments,
    ) as [Tensor, Mask?, Mask?, (boolean | null)?];
    let out = input;
    for (const layer of this.layers)
      out = layer(out, { src_mask, src_key_padding_mask, is_causal: causal ?? false }) as Tensor;
    return this.norm ? (this.norm(out) as Tensor) : out;
  }
}

/**
 * @param encoder_layer the layer of which copies are made
 * @param num_layers how many layers there are
 * @param norm a module over the last one's output, as `LayerNorm`; null: none
 * @param _enable_nested_tensor taken for PyTorch's sake, without effect
 * @param _mask_check taken for PyTorch's sake, without effect
 *
 * @example
 * const layer = torch.nn.TransformerEncoderLayer(4, 2, 8);
 * torch.nn.TransformerEncoder(layer, 2)(torch.ones([3, 1, 4])).shape  // [3, 1, 4]
 */
export const TransformerEncoder = /* @__PURE__ */ callable(
  TransformerEncoderClass,
  "TransformerEncoder",
  "constructor encoder_layer num_layers norm? enable_nested_tensor? mask_check?, forward !",
);

export type TransformerEncoder = TransformerEncoderClass;

class TransformerDecoderClass extends Module {
  readonly layers: ModuleList;
  readonly num_layers: number;
  norm: Module | null;

  /** `num_layers` copies of a layer one after another, then perhaps a norm. */
  constructor(
    decoder_layer: Module,
    num_layers: number | { num_layers: number; norm?: Module | null },
    norm?: Module | { norm?: Module | null } | null,
  ) {
    super();
    this.layers = stacked(decoder_layer, num_layers as number, "TransformerDecoder", "decoder_layer");
    this.num_layers = num_layers as number;
    this.norm = (norm ?? null) as Module | null;
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
          tgt_is_causal?: boolean | null,
          memory_is_causal?: boolean,
        ]
  ): Tensor {
    const [input, ...others] = taken(`TransformerDecoder ${DECODER}`, arguments);
    let out = input as Tensor;
    for (const layer of this.layers) out = layer(out, ...Array.from(others, (x) => x ?? null)) as Tensor;
    return this.norm ? (this.norm(out) as Tensor) : out;
  }
}

/**
 * @param decoder_layer the layer of which copies are made
 * @param num_layers how many layers there are
 * @param norm a module over the last one's output, as `LayerNorm`; null: none
 *
 * @example
 * const layer = torch.nn.TransformerDecoderLayer(4, 2, 8);
 * torch.nn.TransformerDecoder(layer, 2)(torch.ones([3, 1, 4]), torch.ones([5, 1, 4])).shape  // [3, 1, 4]
 */
export const TransformerDecoder = /* @__PURE__ */ callable(
  TransformerDecoderClass,
  "TransformerDecoder",
  "constructor decoder_layer num_layers norm?, forward !",
);

export type TransformerDecoder = TransformerDecoderClass;

export interface TransformerOptions extends TransformerLayerOptions {
  /** How many features inputs and outputs have. */
  d_model?: number;
  /** In how many heads, which divide `d_model`, attention is split. */
  nhead?: number;
  /** How many layers the encoder has. */
  num_encoder_layers?: number;
  /** How many layers the decoder has. */
  num_decoder_layers?: number;
  /** A module in the encoder's place; null: one of such layers. */
  custom_encoder?: Module | null;
  /** A module in the decoder's place; null: one of such layers. */
  custom_decoder?: Module | null;
}

interface TransformerCall extends DecoderCall {
  src_mask?: Mask;
  src_key_padding_mask?: Mask;
  src_is_causal?: boolean | null;
}

const BOTH =
  "src tgt src_mask? tgt_mask? memory_mask? src_key_padding_mask? tgt_key_padding_mask? memory_key_padding_mask? " +
  "src_is_causal? tgt_is_causal? memory_is_causal?";

class TransformerClass extends Module {
  encoder: Module;
  decoder: Module;
  readonly d_model: number;
  readonly nhead: number;
  readonly batch_first: boolean;

  /** An encoder of one sequence and a decoder that makes another of it. */
  constructor(
    ...args: Arguments<
      [],
      [
        d_model: number,
        nhead: number,
        num_encoder_layers: number,
        num_decoder_layers: number,
        dim_feedforward: number,
        dropout: number,
        activation: Activation,
        custom_encoder: Module | null,
        custom_decoder: Module | null,
        layer_norm_eps: number,
        batch_first: boolean,
        norm_first: boolean,
        bias: boolean,
        ...DeviceAndType,
      ],
      TransformerOptions,
      object
    >
  ) {
    super();
    const o = construct(
      "Transformer",
      {
        d_model: size(512),
        nhead: size(8),
        num_encoder_layers: layers(6),
        num_decoder_layers: layers(6),
        dim_feedforward: size(2048),
        dropout: 0.1,
        activation: "relu" as Activation,
        custom_encoder: null as Module | null,
        custom_decoder: null as Module | null,
        layer_norm_eps: 1e-5,
        batch_first: false,
        norm_first: false,
        bias: true,
        ...DEVICE_AND_TYPE,
      },
      args,
    );
    const {
      d_model,
      nhead,
      dim_feedforward,
      dropout,
      activation,
      layer_norm_eps,
      batch_first,
      norm_first,
      bias,
      device,
      dtype,
    } = o;
    const layer = {
      dim_feedforward,
      dropout,
      activation,
      layer_norm_eps,
      batch_first,
      norm_first,
      bias,
      device: device ?? null,
      dtype: dtype ?? null,
    };
    const norm = () => LayerNorm(d_model, { eps: layer_norm_eps, bias, device: layer.device, dtype: layer.dtype });
    this.encoder =
      o.custom_encoder ??
      TransformerEncoder(TransformerEncoderLayer(d_model, nhead, layer), o.num_encoder_layers, norm());
    this.decoder =
      o.custom_decoder ??
      TransformerDecoder(TransformerDecoderLayer(d_model, nhead, layer), o.num_decoder_layers, norm());
    this.d_model = d_model;
    this.nhead = nhead;
    this.batch_first = batch_first;
    this.reset_parameters();
  }
  reset_parameters(): void {
    for (const p of this.parameters()) if (p.ndim > 1) xavier_uniform_(p);
  }
  /** A mask that hides what comes later: minus infinity above the diagonal. */
  static generate_square_subsequent_mask(sz: number, options?: Options): Tensor {
    return triu(full([sz, sz], -Infinity, options ?? {}), 1);
  }
  /** The same, of a transformer. */
  generate_square_subsequent_mask(sz: number, options?: Options): Tensor {
    return TransformerClass.generate_square_subsequent_mask(sz, options);
  }

  override forward(src: Tensor, tgt: Tensor, ...rest: [TransformerCall?] | (Mask | boolean | undefined)[]): Tensor;
  override forward(...args: unknown[]): Tensor {
    const [src, tgt, ...given] = taken(`Transformer ${BOTH}`, args);
    const [src_mask, tgt_mask, memory_mask, src_pad, tgt_pad, memory_pad, src_causal, tgt_causal, memory_causal] =
      Array.from({ length: 9 }, (_, i) => given[i] ?? null);
    if (src.ndim === 3 && src.shape[this.batch_first ? 0 : 1] !== tgt.shape[this.batch_first ? 0 : 1])
      throw new OpError("the batch number of src and tgt must be equal");
    if (src.shape[src.ndim - 1] !== this.d_model || tgt.shape[tgt.ndim - 1] !== this.d_model) {
      throw new OpError("the feature number of src and tgt must be equal to d_model");
    }
    const memory = this.encoder(src, {
      mask: src_mask,
      src_key_padding_mask: src_pad,
      is_causal: src_causal,
    }) as Tensor;
    return this.decoder(tgt, memory, {
      tgt_mask,
      memory_mask,
      tgt_key_padding_mask: tgt_pad,
      memory_key_padding_mask: memory_pad,
      tgt_is_causal: tgt_causal,
      memory_is_causal: memory_causal ?? false,
    }) as Tensor;
  }
}

/**
 * @example
 * torch.nn.Transformer(4, 2, 1, 1, 8)(torch.ones([5, 1, 4]), torch.ones([3, 1, 4])).shape  // [3, 1, 4]
 */
export const Transformer = /* @__PURE__ */ callable(
  TransformerClass,
  "Transformer",
  "generate_square_subsequent_mask sz | device dtype, forward !",
);

export type Transformer = TransformerClass;
