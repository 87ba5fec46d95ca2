// nn.Linear over weights of few bits.

import { callable } from "../base/callable.js";
import { taken } from "../base/named-arguments.js";
import { Module } from "../nn/module.js";
import { Parameter } from "../nn/parameter.js";
import { flag } from "../nn/shown.js";
import type { Tensor } from "../tensor/tensor.js";
import { type QuantizedFormat, QuantizedWeight, partsOf } from "./quantized-weight.js";

class QuantizedLinearClass extends Module {
  readonly format: QuantizedFormat;
  readonly in_features: number;
  readonly out_features: number;
  bias: Parameter | null;

  /** `y = x Wᵀ + b`, whose weights are buffers (the parts of `weight`) and are not trained; gradients reach x and b. */
  constructor(weight: QuantizedWeight, bias?: Tensor | null) {
    super();
    this.format = weight.format;
    [this.out_features, this.in_features] = weight.shape as [number, number];
    for (const name of partsOf(weight.format)) this.register_buffer(name, weight.parts[name] ?? null);
    this.bias = bias ? (bias instanceof Parameter ? bias : new Parameter(bias)) : null;
  }
  /** The weights, on the device where the module is. */
  get weight(): QuantizedWeight {
    const held = partsOf(this.format)
      .map((name): [string, Tensor | null] => [name, (this as unknown as Record<string, Tensor | null>)[name]!])
      .filter((part): part is [string, Tensor] => part[1] !== null);
    return new QuantizedWeight(this.format, [this.out_features, this.in_features], Object.fromEntries(held));
  }
  override forward(...args: [input: Tensor] | [{ input: Tensor }]): Tensor {
    return this.weight.linear(taken("QuantizedLinear input", args)[0] as Tensor, this.bias);
  }
  override extra_repr(): string {
    const { in_features, out_features, format } = this;
    return `in_features=${in_features}, out_features=${out_features}, bias=${flag(this.bias !== null)}, format=${format}`;
  }
}
export const QuantizedLinear = /* @__PURE__ */ callable(
  QuantizedLinearClass,
  "QuantizedLinear",
  "constructor weight bias?, forward !",
);
export type QuantizedLinear = QuantizedLinearClass;
