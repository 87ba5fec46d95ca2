// Convolutions and their adjoints, over one, two or three axes.

import { nameOf } from "../../base/class-name.js";
import { isOptions } from "../../base/named-arguments.js";
import { OpError } from "../../base/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import { callable, type Callable } from "../../base/callable.js";
import { _calculate_fan_in_and_fan_out, kaiming_uniform_, uniform_ } from "../init.js";
import { Module } from "../module.js";
import {
  DEVICE_AND_TYPE,
  axes,
  construct,
  parameter,
  required,
  size,
  type Arguments,
  type Factory,
  type DeviceAndType,
} from "../options.js";
import type { Parameter } from "../parameter.js";
import { tuple } from "../shown.js";

type Size = number | readonly number[];
export type PaddingMode = "zeros" | "reflect" | "replicate" | "circular";
const MODES: readonly PaddingMode[] = ["zeros", "reflect", "replicate", "circular"];

/** What convolutions and their adjoints keep. */
export abstract class ConvModule extends Module {
  in_channels: number;
  readonly out_channels: number;
  readonly kernel_size: readonly number[];
  readonly stride: readonly number[];
  readonly padding: readonly number[] | "same" | "valid";
  readonly dilation: readonly number[];
  readonly output_padding: readonly number[];
  readonly groups: number;
  readonly padding_mode: PaddingMode;
  weight: Parameter;
  bias: Parameter | null;

  protected constructor(
    rank: number,
    o: {
      in_channels: number;
      out_channels: number;
      kernel_size: Size;
      stride: Size;
      padding: Size | "same" | "valid";
      dilation: Size;
      output_padding?: Size;
      groups: number;
      bias: boolean;
      padding_mode: PaddingMode;
    } & Factory,
  ) {
    super();
    if (!(o.groups > 0)) throw new OpError("groups must be a positive integer");
    if (o.in_channels % o.groups !== 0) throw new OpError("in_channels must be divisible by groups");
    if (o.out_channels % o.groups !== 0) throw new OpError("out_channels must be divisible by groups");
    this.in_channels = o.in_channels;
    this.out_channels = o.out_channels;
    const each = (name: string, value: Size): number[] => axes(nameOf(this), name, value, rank);
    this.kernel_size = each("kernel_size", o.kernel_size);
    this.stride = each("stride", o.stride);
    if (typeof o.padding === "string") {
      if (o.padding !== "same" && o.padding !== "valid")
        throw new OpError(`Invalid padding string '${String(o.padding)}', should be one of {'valid', 'same'}`);
      if (o.padding === "same" && this.stride.some((s) => s !== 1))
        throw new OpError("padding='same' is not supported for strided convolutions");
      this.padding = o.padding;
    } else this.padding = each("padding", o.padding);
    if (!MODES.includes(o.padding_mode))
      throw new OpError(
        `padding_mode must be one of {${MODES.map((m) => `'${m}'`).join(", ")}}, but got padding_mode='${o.padding_mode}'`,
      );
    this.dilation = each("dilation", o.dilation);
    this.output_padding = each("output_padding", o.output_padding ?? 0);
    this.groups = o.groups;
    this.padding_mode = o.padding_mode;
    this.weight = parameter(this.weight_shape(), o);
    this.bias = o.bias ? parameter([o.out_channels], o) : null;
    this.reset_parameters();
  }
  abstract weight_shape(): number[];
  /** Evenly, to 1 over the root of how many values one output depends on. */
  reset_parameters(): void {
    kaiming_uniform_(this.weight, Math.sqrt(5));
    const [values] = _calculate_fan_in_and_fan_out(this.weight),
      bound = values && 1 / Math.sqrt(values);
    if (this.bias) uniform_(this.bias, -bound, bound);
  }
  abstract override forward(input: Tensor, output_size?: readonly number[] | null): Tensor;
  override extra_repr(): string {
    const some = (values: readonly number[] | string, usual: number) =>
      typeof values === "string" || values.some((v) => v !== usual);
    let text = `${this.in_channels}, ${this.out_channels}, kernel_size=${tuple(this.kernel_size)}, stride=${tuple(this.stride)}`;
    if (some(this.padding, 0))
      text += `, padding=${typeof this.padding === "string" ? this.padding : tuple(this.padding)}`;
    if (some(this.dilation, 1)) text += `, dilation=${tuple(this.dilation)}`;
    if (some(this.output_padding, 0)) text += `, output_padding=${tuple(this.output_padding)}`;
    if (this.groups !== 1) text += `, groups=${this.groups}`;
    if (!this.bias) text += ", bias=False";
    if (this.padding_mode !== "zeros") text += `, padding_mode=${this.padding_mode}`;
    return text;
  }
}

export interface ConvOptions extends Factory {
  /** How far the window moves at each step. */
  stride?: Size;
  /** How many zeros stand at each end of an axis, "valid" (none) or "same" (as many as keep the size). */
  padding?: Size | "valid" | "same";
  /** How far the elements of the window are apart. */
  dilation?: Size;
  /** In how many groups channels are split; each sees only the inputs of its own. */
  groups?: number;
  /** Whether a learned vector is added. */
  bias?: boolean;
  /** What stands at the ends: zeros, the input mirrored, its last element, or its other end. */
  padding_mode?: PaddingMode;
}
export type Channels = {
  /** How many channels the input has, [N, C, ...]. */
  in_channels: number;
  /** How many channels the output has. */
  out_channels: number;
  /** How large the window is along each axis. */
  kernel_size: Size;
};
type ConvArguments = Arguments<
  [in_channels: number, out_channels: number, kernel_size: Size],
  [
    stride: Size,
    padding: Size | "valid" | "same",
    dilation: Size,
    groups: number,
    bias: boolean,
    padding_mode: PaddingMode,
    ...DeviceAndType,
  ],
  ConvOptions,
  Channels
>;
export type ConvClass = Callable<new (...args: ConvArguments) => ConvModule>;
type Convolution = (input: Tensor, weight: Tensor, bias: Tensor | null, options: object) => Tensor;

const CHANNELS = {
  in_channels: /* @__PURE__ */ size(),
  out_channels: /* @__PURE__ */ size(),
  kernel_size: /* @__PURE__ */ required<Size>(),
};

/** A convolution over `rank` axes; weight is (out_channels, in_channels / groups, *kernel_size). */
function conv(name: string, rank: number, apply: Convolution): ConvClass {
  class Conv extends ConvModule {
    constructor(...args: ConvArguments) {
      super(
        rank,
        construct(
          name,
          {
            ...CHANNELS,
            stride: 1 as Size,
            padding: 0 as Size | "valid" | "same",
            dilation: 1 as Size,
            groups: size(1),
            bias: true,
            padding_mode: "zeros" as PaddingMode,
            ...DEVICE_AND_TYPE,
          },
          args,
        ),
      );
    }
    override weight_shape(): number[] {
      return [this.out_channels, this.in_channels / this.groups, ...this.kernel_size];
    }
    override forward(input: Tensor): Tensor {
      const options = { stride: this.stride, dilation: this.dilation, groups: this.groups };
      if (this.padding_mode === "zeros")
        return apply(input, this.weight, this.bias, { ...options, padding: this.padding });
      const padded = F.pad(input, this.around(), this.padding_mode);
      return apply(padded, this.weight, this.bias, options);
    }
    /** How much is added before and after each axis, the last one first. */
    private around(): number[] {
      const sides = this.kernel_size.map((k, i): [number, number] => {
        if (this.padding === "valid") return [0, 0];
        if (this.padding !== "same") return [this.padding[i]!, this.padding[i]!];
        const all = this.dilation[i]! * (k - 1),
          before = Math.floor(all / 2);
        return [before, all - before];
      });
      return sides.reverse().flat();
    }
  }
  return callable(Conv, name, "forward input");
}
/**
 * A convolution over one axis with weights and a bias of its own: `torch.nn.functional.conv1d`.
 *
 * @example
 * torch.nn.Conv1d(2, 3, 3, { padding: 1 })(torch.ones([1, 2, 8])).shape  // [1, 3, 8]
 */
export const Conv1d = /* @__PURE__ */ conv("Conv1d", 1, (x, w, b, o) => F.conv1d(x, w, b, o));
/**
 * A convolution over two axes with weights and a bias of its own: `torch.nn.functional.conv2d`.
 *
 * @example
 * torch.nn.Conv2d(2, 3, 3, { padding: 1 })(torch.ones([1, 2, 8, 6])).shape  // [1, 3, 8, 6]
 */
export const Conv2d = /* @__PURE__ */ conv("Conv2d", 2, (x, w, b, o) => F.conv2d(x, w, b, o));
/**
 * A convolution over three axes with weights and a bias of its own: `torch.nn.functional.conv3d`.
 *
 * @example
 * torch.nn.Conv3d(2, 3, 3, { padding: 1 })(torch.ones([1, 2, 8, 6, 4])).shape  // [1, 3, 8, 6, 4]
 */
export const Conv3d = /* @__PURE__ */ conv("Conv3d", 3, (x, w, b, o) => F.conv3d(x, w, b, o));

export interface ConvTransposeOptions extends Factory {
  /** How far the window moves at each step of the input. */
  stride?: Size;
  /** How much is cut off each end of an axis. */
  padding?: Size;
  /** How much longer one end of an axis becomes, where several sizes lead to the same input. */
  output_padding?: Size;
  /** In how many groups channels are split; each sees only the inputs of its own. */
  groups?: number;
  /** Whether a learned vector is added. */
  bias?: boolean;
  /** How far the elements of the window are apart. */
  dilation?: Size;
  /** Zeros alone. */
  padding_mode?: "zeros";
}
type ConvTransposeArguments = Arguments<
  [in_channels: number, out_channels: number, kernel_size: Size],
  [
    stride: Size,
    padding: Size,
    output_padding: Size,
    groups: number,
    bias: boolean,
    dilation: Size,
    padding_mode: "zeros",
    ...DeviceAndType,
  ],
  ConvTransposeOptions,
  Channels
>;
export type ConvTransposeClass = Callable<new (...args: ConvTransposeArguments) => ConvModule>;

/** The adjoint of a convolution over `rank` axes; weight is (in_channels, out_channels / groups, *kernel_size). */
function convTranspose(name: string, rank: number, apply: Convolution): ConvTransposeClass {
  class ConvTranspose extends ConvModule {
    constructor(...args: ConvTransposeArguments) {
      const o = construct(
        name,
        {
          ...CHANNELS,
          stride: 1 as Size,
          padding: 0 as Size,
          output_padding: 0 as Size,
          groups: size(1),
          bias: true,
          dilation: 1 as Size,
          padding_mode: "zeros" as PaddingMode,
          ...DEVICE_AND_TYPE,
        },
        args,
      );
      if (o.padding_mode !== "zeros") throw new OpError(`Only "zeros" padding mode is supported for ${name}`);
      super(rank, o);
    }
    override weight_shape(): number[] {
      return [this.in_channels, this.out_channels / this.groups, ...this.kernel_size];
    }
    override forward(
      input: Tensor,
      output_size?: readonly number[] | { output_size: readonly number[] } | null,
    ): Tensor {
      const size = isOptions(output_size)
        ? (output_size as { output_size?: readonly number[] }).output_size
        : (output_size as readonly number[] | null);
      return apply(input, this.weight, this.bias, {
        stride: this.stride,
        padding: this.padding,
        output_padding: size ? this.missing(input, size) : this.output_padding,
        groups: this.groups,
        dilation: this.dilation,
      });
    }
    /** How much the result must be longer for the size that is asked for. */
    private missing(input: Tensor, size: readonly number[]): number[] {
      const spatial = size.length === rank + 2 ? size.slice(2) : size,
        batched = input.ndim === rank + 2 ? 2 : 1;
      if (spatial.length !== rank) {
        throw new OpError(
          `${name}: for ${input.ndim}D input, output_size must have ${rank} or ${rank + 2} elements (got ${size.length})`,
        );
      }
      const least = spatial.map(
        (_, i) =>
          (input.shape[i + batched]! - 1) * this.stride[i]! -
          2 * (this.padding as readonly number[])[i]! +
          this.dilation[i]! * (this.kernel_size[i]! - 1) +
          1,
      );
      const most = least.map((low, i) => low + this.stride[i]! - 1);
      if (spatial.some((s, i) => s < least[i]! || s > most[i]!)) {
        throw new OpError(
          `requested an output size of [${spatial.join(", ")}], but valid sizes range from [${least.join(", ")}] to ` +
            `[${most.join(", ")}] (for an input of [${input.shape.slice(batched).join(", ")}])`,
        );
      }
      return spatial.map((s, i) => s - least[i]!);
    }
  }
  return callable(ConvTranspose, name, "forward input output_size?, missing !");
}
/**
 * The adjoint of a convolution over one axis: `torch.nn.functional.conv_transpose1d`.
 *
 * @example
 * torch.nn.ConvTranspose1d(2, 3, 2, { stride: 2 })(torch.ones([1, 2, 8])).shape  // [1, 3, 16]
 */
export const ConvTranspose1d = /* @__PURE__ */ convTranspose("ConvTranspose1d", 1, (x, w, b, o) =>
  F.conv_transpose1d(x, w, b, o),
);
/**
 * The adjoint of a convolution over two axes: `torch.nn.functional.conv_transpose2d`.
 *
 * @example
 * torch.nn.ConvTranspose2d(2, 3, 2, { stride: 2 })(torch.ones([1, 2, 8, 6])).shape  // [1, 3, 16, 12]
 */
export const ConvTranspose2d = /* @__PURE__ */ convTranspose("ConvTranspose2d", 2, (x, w, b, o) =>
  F.conv_transpose2d(x, w, b, o),
);
/**
 * The adjoint of a convolution over three axes: `torch.nn.functional.conv_transpose3d`.
 *
 * @example
 * torch.nn.ConvTranspose3d(2, 3, 2, { stride: 2 })(torch.ones([1, 2, 8, 6, 4])).shape  // [1, 3, 16, 12, 8]
 */
export const ConvTranspose3d = /* @__PURE__ */ convTranspose("ConvTranspose3d", 3, (x, w, b, o) =>
  F.conv_transpose3d(x, w, b, o),
);
