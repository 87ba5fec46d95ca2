// Linear and bilinear maps.

import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import { callable } from "../../base/callable.js";
import { kaiming_uniform_, uniform_ } from "../init.js";
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
import { flag } from "../shown.js";

export type Features = {
  /** The size of the input's last axis. */
  in_features: number;
  /** The size of the output's last axis. */
  out_features: number;
};
export interface LinearOptions extends Factory {
  /** Whether a learned vector is added. */
  bias?: boolean;
}

class LinearClass extends Module {
  in_features: number;
  readonly out_features: number;
  weight: Parameter;
  bias: Parameter | null;

  /** `y = x Wᵀ + b`; weight is (out_features, in_features), drawn evenly from -1/√in_features to 1/√in_features. */
  constructor(
    ...args: Arguments<
      [in_features: number, out_features: number],
      [bias: boolean, ...DeviceAndType],
      LinearOptions,
      { in_features: number; out_features: number }
    >
  ) {
    super();
    const o = construct("Linear", { in_features: size(), out_features: size(), bias: true, ...DEVICE_AND_TYPE }, args);
    this.in_features = o.in_features;
    this.out_features = o.out_features;
    this.weight = parameter([o.out_features, o.in_features], o);
    this.bias = o.bias ? parameter([o.out_features], o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    kaiming_uniform_(this.weight, Math.sqrt(5));
    const bound = this.in_features > 0 ? 1 / Math.sqrt(this.in_features) : 0;
    if (this.bias) uniform_(this.bias, -bound, bound);
  }
  override forward(...args: [input: Tensor] | [{ input: Tensor }]): Tensor {
    return F.linear(taken("Linear input", args)[0] as Tensor, this.weight, this.bias);
  }
  override extra_repr(): string {
    return `in_features=${this.in_features}, out_features=${this.out_features}, bias=${flag(this.bias !== null)}`;
  }
}
/**
 * @param in_features the size of the input's last axis
 * @param out_features the size of the output's last axis
 *
 * @example
 * torch.nn.Linear(3, 2)(torch.ones([4, 3])).shape  // [4, 2]
 */
export const Linear = /* @__PURE__ */ callable(LinearClass, "Linear", "forward !");
export type Linear = LinearClass;

export interface BilinearOptions extends Factory {
  /** Whether a learned vector is added. */
  bias?: boolean;
}

class BilinearClass extends Module {
  readonly in1_features: number;
  readonly in2_features: number;
  readonly out_features: number;
  weight: Parameter;
  bias: Parameter | null;

  /** `y = x1ᵀ A x2 + b`; weight is (out_features, in1_features, in2_features). */
  constructor(
    ...args: Arguments<
      [in1_features: number, in2_features: number, out_features: number],
      [bias: boolean, ...DeviceAndType],
      BilinearOptions,
      { in1_features: number; in2_features: number; out_features: number }
    >
  ) {
    super();
    const o = construct(
      "Bilinear",
      {
        in1_features: size(),
        in2_features: size(),
        out_features: size(),
        bias: true,
        ...DEVICE_AND_TYPE,
      },
      args,
    );
    if (o.in1_features <= 0) throw new OpError(`in1_features must be > 0, but got ${o.in1_features}`);
    this.in1_features = o.in1_features;
    this.in2_features = o.in2_features;
    this.out_features = o.out_features;
    this.weight = parameter([o.out_features, o.in1_features, o.in2_features], o);
    this.bias = o.bias ? parameter([o.out_features], o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    const bound = 1 / Math.sqrt(this.in1_features);
    uniform_(this.weight, -bound, bound);
    if (this.bias) uniform_(this.bias, -bound, bound);
  }
  override forward(input1: Tensor, input2: Tensor): Tensor {
    return F.bilinear(input1, input2, this.weight, this.bias);
  }
  override extra_repr(): string {
    return `in1_features=${this.in1_features}, in2_features=${this.in2_features}, out_features=${this.out_features}, bias=${flag(this.bias !== null)}`;
  }
}
/**
 * @param in1_features the size of the first input's last axis
 * @param in2_features the size of the second input's last axis
 * @param out_features the size of the output's last axis
 *
 * @example
 * torch.nn.Bilinear(3, 4, 2)(torch.ones([5, 3]), torch.ones([5, 4])).shape  // [5, 2]
 */
export const Bilinear = /* @__PURE__ */ callable(BilinearClass, "Bilinear", "forward input1 input2");
export type Bilinear = BilinearClass;
