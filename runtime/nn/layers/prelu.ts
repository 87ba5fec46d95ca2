// The activation that learns.

import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import { callable } from "../../base/callable.js";
import { constant_ } from "../init.js";
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

export interface PReLUOptions extends Factory {
  /** One slope for all channels, or as many as there are channels. */
  num_parameters?: number;
  /** What the slopes begin with. */
  init?: number;
}

class PReLUClass extends Module {
  readonly num_parameters: number;
  readonly init: number;
  weight: Parameter;

  /** Leaky relu with learned slopes, 0.25 at first. */
  constructor(...args: Arguments<[], [num_parameters: number, init: number, ...DeviceAndType], PReLUOptions, object>) {
    super();
    const o = construct("PReLU", { num_parameters: size(1), init: 0.25, ...DEVICE_AND_TYPE }, args);
    this.num_parameters = o.num_parameters;
    this.init = o.init;
    this.weight = parameter([o.num_parameters], o);
    this.reset_parameters();
  }
  reset_parameters(): void {
    constant_(this.weight, this.init);
  }
  override forward(input: Tensor): Tensor {
    return F.prelu(input, this.weight);
  }
  override extra_repr(): string {
    return `num_parameters=${this.num_parameters}`;
  }
}
/**
 * @example
 * torch.nn.PReLU()(torch.tensor([-4, 2]))  // [-1, 2]
 */
export const PReLU = /* @__PURE__ */ callable(PReLUClass, "PReLU", "forward input");
export type PReLU = PReLUClass;
