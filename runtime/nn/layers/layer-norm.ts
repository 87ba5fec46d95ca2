// Normalisation within each sample: over the last axes, over groups of channels, by the root mean square.

import { OpError } from "../../base/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import { callable } from "../../base/callable.js";
import { integers } from "../../base/shape.js";
import { ones_, zeros_ } from "../init.js";
import { Module } from "../module.js";
import {
  DEVICE_AND_TYPE,
  construct,
  parameter,
  required,
  size,
  type Arguments,
  type Factory,
  type DeviceAndType,
} from "../options.js";
import type { Parameter } from "../parameter.js";
import { flag, float, tuple } from "../shown.js";

type Shape = number | readonly number[];
const list = (shape: Shape, layer: string): number[] => integers([shape], layer, "normalized_shape");

export interface LayerNormOptions extends Factory {
  /** Added to the variance before its root is divided by. */
  eps?: number;
  /** Whether there is a learned factor for each element, and a shift unless `bias` is false. */
  elementwise_affine?: boolean;
  /** Whether there is a learned shift, where there is a factor. */
  bias?: boolean;
}

class LayerNormClass extends Module {
  readonly normalized_shape: readonly number[];
  readonly eps: number;
  readonly elementwise_affine: boolean;
  weight: Parameter | null;
  bias: Parameter | null;

  /** Gives the last axes, of sizes `normalized_shape`, zero mean and unit variance. */
  constructor(
    ...args: Arguments<
      [normalized_shape: Shape],
      [eps: number, elementwise_affine: boolean, bias: boolean, ...DeviceAndType],
      LayerNormOptions,
      { normalized_shape: Shape }
    >
  ) {
    super();
    const o = construct(
      "LayerNorm",
      { normalized_shape: required<Shape>(), eps: 1e-5, elementwise_affine: true, bias: true, ...DEVICE_AND_TYPE },
      args,
    );
    this.normalized_shape = list(o.normalized_shape, "LayerNorm");
    this.eps = o.eps;
    this.elementwise_affine = o.elementwise_affine;
    this.weight = o.elementwise_affine ? parameter(this.normalized_shape, o) : null;
    this.bias = o.elementwise_affine && o.bias ? parameter(this.normalized_shape, o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    if (this.weight) ones_(this.weight);
    if (this.bias) zeros_(this.bias);
  }
  override forward(input: Tensor): Tensor {
    return F.layer_norm(input, this.normalized_shape, this.weight, this.bias, this.eps);
  }
  override extra_repr(): string {
    return `${tuple(this.normalized_shape)}, eps=${float(this.eps)}, elementwise_affine=${flag(this.elementwise_affine)}, bias=${flag(this.bias !== null)}`;
  }
}
/**
 * @param normalized_shape the sizes of the last axes, which are normalised together
 *
 * @example
 * torch.nn.LayerNorm(2)(torch.tensor([[1, 3], [2, 6]]))  // [[-0.999995, 0.999995], [-0.999999, 0.999999]]
 */
export const LayerNorm = /* @__PURE__ */ callable(LayerNormClass, "LayerNorm", "forward input");
export type LayerNorm = LayerNormClass;

export interface RMSNormOptions extends Factory {
  /** Added to the mean of squares; null: the smallest step from 1 of the input's type. */
  eps?: number | null;
  /** Whether there is a learned factor for each element. */
  elementwise_affine?: boolean;
}

class RMSNormClass extends Module {
  readonly normalized_shape: readonly number[];
  readonly eps: number | null;
  readonly elementwise_affine: boolean;
  weight: Parameter | null;

  /** Divides the last axes, of sizes `normalized_shape`, by their root mean square. */
  constructor(
    ...args: Arguments<
      [normalized_shape: Shape],
      [eps: number | null, elementwise_affine: boolean, ...DeviceAndType],
      RMSNormOptions,
      { normalized_shape: Shape }
    >
  ) {
    super();
    const o = construct(
      "RMSNorm",
      { normalized_shape: required<Shape>(), eps: null as number | null, elementwise_affine: true, ...DEVICE_AND_TYPE },
      args,
    );
    this.normalized_shape = list(o.normalized_shape, "RMSNorm");
    this.eps = o.eps;
    this.elementwise_affine = o.elementwise_affine;
    this.weight = o.elementwise_affine ? parameter(this.normalized_shape, o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    if (this.weight) ones_(this.weight);
  }
  override forward(input: Tensor): Tensor {
    const eps =
      this.eps ??
      (input.dtype === "float64"
        ? 2 ** -52
        : input.dtype === "float16"
          ? 2 ** -10
          : input.dtype === "bfloat16"
            ? 2 ** -7
            : 2 ** -23);
    return F.rms_norm(input, this.normalized_shape, this.weight, eps);
  }
  override extra_repr(): string {
    return `${tuple(this.normalized_shape)}, eps=${this.eps === null ? "None" : float(this.eps)}, elementwise_affine=${flag(this.elementwise_affine)}`;
  }
}
/**
 * @param normalized_shape the sizes of the last axes, which are normalised together
 *
 * @example
 * torch.nn.RMSNorm(2)(torch.tensor([[3, 4]]))  // [[0.848528, 1.13137]]
 */
export const RMSNorm = /* @__PURE__ */ callable(RMSNormClass, "RMSNorm", "forward input");
export type RMSNorm = RMSNormClass;

export interface GroupNormOptions extends Factory {
  /** Added to the variance before its root is divided by. */
  eps?: number;
  /** Whether there is a learned factor for each channel, and a shift unless `bias` is false. */
  affine?: boolean;
  /** Whether there is a learned shift, where there is a factor. */
  bias?: boolean;
}

class GroupNormClass extends Module {
  readonly num_groups: number;
  readonly num_channels: number;
  readonly eps: number;
  readonly affine: boolean;
  weight: Parameter | null;
  bias: Parameter | null;

  /** Normalises groups of channels of each sample. */
  constructor(
    ...args: Arguments<
      [num_groups: number, num_channels: number],
      [eps: number, affine: boolean, ...DeviceAndType],
      GroupNormOptions,
      { num_groups: number; num_channels: number }
    >
  ) {
    super();
    const o = construct(
      "GroupNorm",
      { num_groups: size(), num_channels: size(), eps: 1e-5, affine: true, ...DEVICE_AND_TYPE, bias: true },
      args,
    );
    if (o.num_channels % o.num_groups !== 0)
      throw new OpError(`num_channels (${o.num_channels}) must be divisible by num_groups (${o.num_groups})`);
    this.num_groups = o.num_groups;
    this.num_channels = o.num_channels;
    this.eps = o.eps;
    this.affine = o.affine;
    this.weight = o.affine ? parameter([o.num_channels], o) : null;
    this.bias = o.affine && o.bias ? parameter([o.num_channels], o) : null;
    this.reset_parameters();
  }
  reset_parameters(): void {
    if (this.weight) ones_(this.weight);
    if (this.bias) zeros_(this.bias);
  }
  override forward(input: Tensor): Tensor {
    return F.group_norm(input, this.num_groups, this.weight, this.bias, this.eps);
  }
  override extra_repr(): string {
    return `${this.num_groups}, ${this.num_channels}, eps=${float(this.eps)}, affine=${flag(this.affine)}, bias=${flag(this.bias !== null)}`;
  }
}
/**
 * @param num_groups in how many groups channels are normalised
 * @param num_channels how many channels the input has, [N, C, ...]
 *
 * @example
 * torch.nn.GroupNorm(2, 4)(torch.tensor([[1, 3, 2, 6]]))  // [[-0.999995, 0.999995, -0.999999, 0.999999]]
 */
export const GroupNorm = /* @__PURE__ */ callable(GroupNormClass, "GroupNorm", "forward input");
export type GroupNorm = GroupNormClass;
