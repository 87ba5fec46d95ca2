// Modules that learn from their first input how many channels it has, and are then as if that had been said.

import { OpError } from "../../base/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { callable, type Callable } from "../../base/callable.js";
import { empty, ones, zeros } from "../../creation/create.js";
import {
  Conv1d,
  Conv2d,
  Conv3d,
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type Channels,
  type ConvClass,
  type ConvModule,
  type ConvOptions,
  type ConvTransposeClass,
  type ConvTransposeOptions,
} from "./conv.js";
import { type Features, Linear, type LinearOptions } from "./linear.js";
import type { Loading } from "../load-state.js";
import type { Module } from "../module.js";
import { shapeOf } from "../state.js";
import {
  BatchNorm1d,
  BatchNorm2d,
  BatchNorm3d,
  InstanceNorm1d,
  InstanceNorm2d,
  InstanceNorm3d,
  instanceNorm,
  type Norm,
  type NormLayer,
  type NormOptions,
} from "./norm.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Base<M extends Module> = new (...args: any[]) => M;

interface Learning<M> {
  /** The axis of channels in an input. */
  axis(module: M, input: Tensor): number;
  /** How many channels a state was made for, by its weight or mean; undefined if it does not say. */
  channels(module: M, saved: (name: string) => readonly number[] | undefined): number | undefined;
  /** Gives parameters and buffers their sizes; their values are drawn afterwards. */
  size(module: M, channels: number): void;
}

/** Lets a tensor print as what has no values yet, and say so where its shape is asked for. */
const stand = (x: Tensor, stand_in: string) =>
  Object.defineProperties(x, {
    stand_in: { value: stand_in, configurable: true },
    shape: {
      get(): never {
        throw new OpError(
          "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in " +
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` " +
            "to initialize the parameters before accessing their attributes.",
        );
      },
      configurable: true,
    },
  });
/** Its sizes are known. */
function settle(x: Tensor): void {
  delete (x as { stand_in?: string }).stand_in;
  delete (x as { shape?: unknown }).shape;
}

/** Lets all of a module print so. */
function wait(module: Module): void {
  for (const [, p] of module.named_parameters()) stand(p, "<UninitializedParameter>");
  for (const [, b] of module.named_buffers()) if (b.ndim > 0) stand(b, "<UninitializedBuffer>");
}

/** The class `name`, constructed as `start` without its first argument; it becomes one of `base`. */
function lazy<M extends Module & { reset_parameters(): void }, L>(
  name: string,
  base: Base<M>,
  how: Learning<M>,
  start = base,
): L {
  const Start = start as unknown as Base<Module & { reset_parameters(): void }>;
  class Lazy extends Start {
    constructor(...args: unknown[]) {
      super(0, ...args);
      wait(this);
    }
    /** Becomes one of `base` for so many channels; its values are still to be drawn. */
    private become(channels: number): void {
      for (const x of [...this.parameters(), ...this.buffers()]) settle(x);
      how.size(this as unknown as M, channels);
      Object.setPrototypeOf(this, base.prototype as object);
    }
    /** Learns the number of channels from an input. */
    initialize_parameters(input: Tensor): void {
      this.become(input.shape[how.axis(this as unknown as M, input)]!);
      this.reset_parameters();
    }
    /** Whether it has parameters or buffers that wait for an input. */
    has_uninitialized_params(): boolean {
      return true;
    }
    override forward(input: Tensor, ...rest: unknown[]): Tensor {
      this.initialize_parameters(input);
      return this.forward(input, ...rest);
    }
    protected override before_load(given: Record<string, unknown>, prefix: string): Loading | void {
      const channels = how.channels(this as unknown as M, (key) => shapeOf(given[prefix + key]));
      super.before_load(given, prefix);
      if (!(channels! >= 0)) return undefined;
      const fields = { ...this },
        memory = [...this.named_parameters()].map(([, p]) => [p, p.detach()] as const),
        buffers = [...this.named_buffers()];
      const kind = Object.getPrototypeOf(this) as object;
      const undo = (): void => {
        Object.setPrototypeOf(this, kind);
        for (const [p, before] of memory) p.set_data(before);
        Object.assign(this, fields, Object.fromEntries(buffers));
        wait(this);
      };
      try {
        this.become(channels!);
      } catch (error) {
        undo();
        throw error;
      }
      return {
        settle: () => {
          this.reset_parameters();
        },
        undo,
      };
    }
  }
  return callable(Lazy, name, "initialize_parameters input, become !, forward !, before_load !") as unknown as L;
}

const like = (x: Tensor) => ({ dtype: x.dtype, device: x.storage.device });

const conv = (transposed: boolean): Learning<ConvModule> => ({
  axis: (m, input) => input.ndim - m.kernel_size.length - 1,
  channels: (m, saved) => {
    const shape = saved("weight");
    return shape && (transposed ? shape[0]! : shape[1]! * m.groups);
  },
  size: (m, channels) => {
    m.in_channels = channels;
    m.weight.set_data(empty(m.weight_shape(), like(m.weight)));
  },
});
type Sizes = Pick<Channels, "out_channels" | "kernel_size">;
type LazyConv = Callable<
  new (
    ...args: [out_channels: number, kernel_size: number | readonly number[], ...rest: unknown[]] | [ConvOptions & Sizes]
  ) => ConvModule
>;
type LazyConvTranspose = Callable<
  new (
    ...args:
      | [out_channels: number, kernel_size: number | readonly number[], ...rest: unknown[]]
      | [ConvTransposeOptions & Sizes]
  ) => ConvModule
>;
const lazyConv = (name: string, base: ConvClass) => lazy<ConvModule, LazyConv>(name, base, conv(false));
const lazyConvTranspose = (name: string, base: ConvTransposeClass) =>
  lazy<ConvModule, LazyConvTranspose>(name, base, conv(true));

/**
 * `Conv1d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyConv1d(3, 3)(torch.ones([1, 2, 8])).shape  // [1, 3, 6]
 */
export const LazyConv1d = /* @__PURE__ */ lazyConv("LazyConv1d", Conv1d);
/**
 * `Conv2d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyConv2d(3, 3)(torch.ones([1, 2, 8, 6])).shape  // [1, 3, 6, 4]
 */
export const LazyConv2d = /* @__PURE__ */ lazyConv("LazyConv2d", Conv2d);
/**
 * `Conv3d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyConv3d(3, 3)(torch.ones([1, 2, 8, 6, 4])).shape  // [1, 3, 6, 4, 2]
 */
export const LazyConv3d = /* @__PURE__ */ lazyConv("LazyConv3d", Conv3d);
/**
 * `ConvTranspose1d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyConvTranspose1d(3, 3)(torch.ones([1, 2, 8])).shape  // [1, 3, 10]
 */
export const LazyConvTranspose1d = /* @__PURE__ */ lazyConvTranspose("LazyConvTranspose1d", ConvTranspose1d);
/**
 * `ConvTranspose2d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyConvTranspose2d(3, 3)(torch.ones([1, 2, 8, 6])).shape  // [1, 3, 10, 8]
 */
export const LazyConvTranspose2d = /* @__PURE__ */ lazyConvTranspose("LazyConvTranspose2d", ConvTranspose2d);
/**
 * `ConvTranspose3d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyConvTranspose3d(3, 3)(torch.ones([1, 2, 8, 6, 4])).shape  // [1, 3, 10, 8, 6]
 */
export const LazyConvTranspose3d = /* @__PURE__ */ lazyConvTranspose("LazyConvTranspose3d", ConvTranspose3d);

type LazyLinearClass = Callable<
  new (
    ...args:
      | [out_features: number, bias?: boolean | LinearOptions, ...rest: unknown[]]
      | [LinearOptions & Pick<Features, "out_features">]
  ) => Linear
>;
/**
 * `Linear` whose number of inputs the first input says.
 *
 * @example
 * torch.nn.LazyLinear(2)(torch.ones([4, 3])).shape  // [4, 2]
 */
export const LazyLinear = /* @__PURE__ */ lazy<Linear, LazyLinearClass>("LazyLinear", Linear, {
  axis: (_, input) => input.ndim - 1,
  channels: (_, saved) => saved("weight")?.[1],
  size: (m, channels) => {
    m.in_features = channels;
    m.weight.set_data(empty([m.out_features, channels], like(m.weight)));
  },
});

type LazyNorm = Callable<new (...args: [NormOptions?] | [eps: number, ...rest: unknown[]]) => NormLayer>;
/** `unbatched`: axes of an input without the batch, for norms that take it so. */
const lazyNorm = (name: string, base: Base<NormLayer>, unbatched = 0) =>
  lazy<NormLayer, LazyNorm>(
    name,
    base,
    {
      axis: (_, input) => (input.ndim === unbatched ? 0 : 1),
      channels: (_, saved) => (saved("weight") ?? saved("running_mean"))?.[0],
      size: (m: Norm, channels) => {
        m.num_features = channels;
        for (const p of [m.weight, m.bias]) p?.set_data(empty([channels], like(p)));
        if (m.running_mean) m.running_mean = zeros([channels], like(m.running_mean));
        if (m.running_var) m.running_var = ones([channels], like(m.running_var));
      },
    },
    unbatched ? instanceNorm(name, unbatched, true) : base,
  );
/**
 * `BatchNorm1d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyBatchNorm1d()(torch.tensor([[1, 2], [3, 6]]))  // [[-0.999995, -0.999999], [0.999995, 0.999999]]
 */
export const LazyBatchNorm1d = /* @__PURE__ */ lazyNorm("LazyBatchNorm1d", BatchNorm1d);
/**
 * `BatchNorm2d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyBatchNorm2d()(torch.tensor([[[[1, 3]]], [[[5, 7]]]]))  // [[[[-1.34164, -0.447213]]], [[[0.447213, 1.34164]]]]
 */
export const LazyBatchNorm2d = /* @__PURE__ */ lazyNorm("LazyBatchNorm2d", BatchNorm2d);
/**
 * `BatchNorm3d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyBatchNorm3d()(torch.tensor([[[[[1, 3]]]], [[[[5, 7]]]]]))  // [[[[[-1.34164, -0.447213]]]], [[[[0.447213, 1.34164]]]]]
 */
export const LazyBatchNorm3d = /* @__PURE__ */ lazyNorm("LazyBatchNorm3d", BatchNorm3d);
/**
 * `InstanceNorm1d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyInstanceNorm1d()(torch.tensor([[[1, 3], [2, 6]]]))  // [[[-0.999995, 0.999995], [-0.999999, 0.999999]]]
 */
export const LazyInstanceNorm1d = /* @__PURE__ */ lazyNorm("LazyInstanceNorm1d", InstanceNorm1d, 2);
/**
 * `InstanceNorm2d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyInstanceNorm2d()(torch.tensor([[[[1, 3], [1, 3]]]]))  // [[[[-0.999995, 0.999995], [-0.999995, 0.999995]]]]
 */
export const LazyInstanceNorm2d = /* @__PURE__ */ lazyNorm("LazyInstanceNorm2d", InstanceNorm2d, 3);
/**
 * `InstanceNorm3d` whose number of channels the first input says.
 *
 * @example
 * torch.nn.LazyInstanceNorm3d()(torch.tensor([[[[[1, 3], [1, 3]]]]]))  // [[[[[-0.999995, 0.999995], [-0.999995, 0.999995]]]]]
 */
export const LazyInstanceNorm3d = /* @__PURE__ */ lazyNorm("LazyInstanceNorm3d", InstanceNorm3d, 4);
