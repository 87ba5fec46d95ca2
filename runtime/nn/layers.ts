// Modules with parameters: linear maps, convolutions, embeddings, normalisation.

import { ones, randn, zeros } from "../create.js";
import type { Tensor } from "../tensor.js";
import * as F from "../../names/functional.js";
import { callable } from "./callable.js";
import { Module } from "./module.js";
import { axes, construct, uniform } from "./options.js";
import { Parameter } from "./parameter.js";

class LinearClass extends Module {
  readonly in_features: number;
  readonly out_features: number;
  weight: Parameter;
  bias: Parameter | null;

  /** `y = x Wᵀ + b`; weight is (out_features, in_features). */
  constructor(in_features: number, out_features: number, options?: boolean | { bias?: boolean }) {
    super();
    const o = construct("Linear", { in_features: undefined as unknown as number, out_features: undefined as unknown as number, bias: true },
      [in_features, out_features, options]);
    this.in_features = o.in_features;
    this.out_features = o.out_features;
    const bound = 1 / Math.sqrt(o.in_features);
    this.weight = uniform([o.out_features, o.in_features], bound);
    this.bias = o.bias ? uniform([o.out_features], bound) : null;
  }
  override forward(input: Tensor): Tensor { return F.linear(input, this.weight, this.bias); }
  override extra_repr(): string {
    return `in_features=${this.in_features}, out_features=${this.out_features}, bias=${this.bias !== null}`;
  }
}
export const Linear = callable(LinearClass);
export type Linear = LinearClass;

export interface ConvOptions {
  stride?: number | readonly number[];
  padding?: number | readonly number[] | "valid" | "same";
  dilation?: number | readonly number[];
  groups?: number;
  bias?: boolean;
}

export interface ConvModule extends Module {
  weight: Parameter;
  bias: Parameter | null;
}
type ConvArguments = [in_channels: number, out_channels: number, kernel_size: number | readonly number[],
  ...options: [ConvOptions?] | [stride: number | readonly number[], ...unknown[]]];
export interface ConvClass {
  (...args: ConvArguments): ConvModule;
  new (...args: ConvArguments): ConvModule;
}

type Convolution = (input: Tensor, weight: Tensor, bias: Tensor | null, options: object) => Tensor;

/** A convolution over `rank` axes. */
function conv(name: string, rank: number, apply: Convolution): ConvClass {
  class Conv extends Module {
    weight: Parameter;
    bias: Parameter | null;
    readonly options: { stride: unknown; padding: unknown; dilation: unknown; groups: number };
    private readonly about: string;

    constructor(...args: unknown[]) {
      super();
      const o = construct(name, {
        in_channels: undefined as unknown as number, out_channels: undefined as unknown as number,
        kernel_size: undefined as unknown as number | readonly number[], stride: 1 as unknown, padding: 0 as unknown, dilation: 1 as unknown,
        groups: 1, bias: true,
      }, args);
      const kernel = axes(o.kernel_size, rank), fan = (o.in_channels / o.groups) * kernel.reduce((a, b) => a * b, 1);
      this.weight = uniform([o.out_channels, o.in_channels / o.groups, ...kernel], 1 / Math.sqrt(fan));
      this.bias = o.bias ? uniform([o.out_channels], 1 / Math.sqrt(fan)) : null;
      this.options = { stride: o.stride, padding: o.padding, dilation: o.dilation, groups: o.groups };
      this.about = `${o.in_channels}, ${o.out_channels}, kernel_size=(${kernel.join(", ")}), stride=${String(o.stride)}`;
    }
    override forward(input: Tensor): Tensor { return apply(input, this.weight, this.bias, this.options); }
    override extra_repr(): string { return this.about; }
  }
  Object.defineProperty(Conv, "name", { value: name });
  return callable(Conv) as unknown as ConvClass;
}
export const Conv1d = /* @__PURE__ */ conv("Conv1d", 1, (x, w, b, o) => F.conv1d(x, w, b, o));
export const Conv2d = /* @__PURE__ */ conv("Conv2d", 2, (x, w, b, o) => F.conv2d(x, w, b, o));
export const Conv3d = /* @__PURE__ */ conv("Conv3d", 3, (x, w, b, o) => F.conv3d(x, w, b, o));

class EmbeddingClass extends Module {
  weight: Parameter;

  /** A table of `num_embeddings` rows of length `embedding_dim`. */
  constructor(num_embeddings: number, embedding_dim: number) {
    super();
    this.weight = new Parameter(randn([num_embeddings, embedding_dim]));
  }
  override forward(input: Tensor): Tensor { return F.embedding(input, this.weight); }
  override extra_repr(): string { return this.weight.shape.join(", "); }
}
export const Embedding = callable(EmbeddingClass);
export type Embedding = EmbeddingClass;

export interface LayerNormOptions {
  eps?: number;
  elementwise_affine?: boolean;
  bias?: boolean;
}

class LayerNormClass extends Module {
  readonly normalized_shape: readonly number[];
  readonly eps: number;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(normalized_shape: number | readonly number[], eps: number | LayerNormOptions = 1e-5, ...options: unknown[]) {
    super();
    const o = construct("LayerNorm", {
      normalized_shape: undefined as unknown as number | readonly number[], eps: 1e-5, elementwise_affine: true, bias: true,
    }, [normalized_shape, eps, ...options]);
    this.normalized_shape = typeof o.normalized_shape === "number" ? [o.normalized_shape] : [...o.normalized_shape];
    this.eps = o.eps;
    this.weight = o.elementwise_affine ? new Parameter(ones(this.normalized_shape)) : null;
    this.bias = o.elementwise_affine && o.bias ? new Parameter(zeros(this.normalized_shape)) : null;
  }
  override forward(input: Tensor): Tensor {
    return F.layer_norm(input, this.normalized_shape, this.weight, this.bias, this.eps);
  }
  override extra_repr(): string { return `(${this.normalized_shape.join(", ")}), eps=${this.eps}`; }
}
export const LayerNorm = callable(LayerNormClass);
export type LayerNorm = LayerNormClass;
