// Normalisation by channel, over the batch or within each sample, with running statistics.  The others are in
// layer-norm.ts.

import { copy_, fill_ } from "../../views/transfer.js";
import { cast } from "../../tensor/copy.js";
import { ones, zeros, tensor } from "../../creation/create.js";
import { OpError } from "../../base/errors.js";
import { unrecorded } from "../../tape/grad-mode.js";
import type { Tensor } from "../../tensor/tensor.js";
import * as F from "../../../names/functional.js";
import { add, mul, neg, reciprocal } from "../../../names/torch.js";
import * as views from "../../views/views.js";
import { callable, type Callable } from "../../base/callable.js";
import { ones_, zeros_ } from "../init.js";
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
import { flag, float } from "../shown.js";

export interface NormOptions extends Factory {
  /** Added to the variance before its root is divided by, default 1e-5. */
  eps?: number;
  /**
   * How far a batch moves the running statistics, from 0 to 1; null: they are the plain average of all batches, default
   * 0.1.
   */
  momentum?: number | null;
  /** Whether there is a learned factor for each channel, and a shift unless `bias` is false, default true. */
  affine?: boolean;
  /** Whether running statistics are kept and used in evaluation; if not, each input's own are, default true. */
  track_running_stats?: boolean;
  /** Whether there is a learned shift, where there is a factor, default true. */
  bias?: boolean;
}
type Places = [eps: number, momentum: number | null, affine: boolean, track_running_stats: boolean, ...DeviceAndType];
export type Features = {
  /** How many channels the input has, [N, C, ...]. */
  num_features: number;
};
type NormArguments = Arguments<[num_features: number], Places, NormOptions, Features>;

interface Defaults {
  affine: boolean;
  track_running_stats: boolean;
  process_group?: null;
}
/** What both kinds keep: a factor and a shift, and the running mean and variance of each channel. */
export abstract class Norm extends Module {
  num_features: number;
  readonly eps: number;
  readonly momentum: number | null;
  readonly affine: boolean;
  readonly track_running_stats: boolean;
  weight: Parameter | null;
  bias: Parameter | null;
  declare running_mean: Tensor | null;
  declare running_var: Tensor | null;
  declare num_batches_tracked: Tensor | null;

  constructor(name: string, defaults: Defaults, args: readonly unknown[]) {
    super();
    const o = construct(
      name,
      {
        num_features: size(),
        eps: 1e-5,
        momentum: 0.1 as number | null,
        ...defaults,
        ...DEVICE_AND_TYPE,
        bias: true,
      },
      args,
    );
    this.num_features = o.num_features;
    this.eps = o.eps;
    this.momentum = o.momentum;
    this.affine = o.affine;
    this.track_running_stats = o.track_running_stats;
    this.weight = o.affine ? parameter([o.num_features], o) : null;
    this.bias = o.affine && o.bias ? parameter([o.num_features], o) : null;
    const place = { device: o.device, dtype: o.dtype },
      tracks = o.track_running_stats;
    this.register_buffer("running_mean", tracks ? zeros([o.num_features], place) : null);
    this.register_buffer("running_var", tracks ? ones([o.num_features], place) : null);
    this.register_buffer("num_batches_tracked", tracks ? tensor(0, { dtype: "int64", device: o.device }) : null);
    this.reset_parameters();
  }
  reset_running_stats(): void {
    unrecorded(() => {
      if (this.running_mean) fill_(this.running_mean, 0);
      if (this.running_var) fill_(this.running_var, 1);
      if (this.num_batches_tracked) fill_(this.num_batches_tracked, 0);
    });
  }
  reset_parameters(): void {
    this.reset_running_stats();
    if (this.weight) ones_(this.weight);
    if (this.bias) zeros_(this.bias);
  }
  /** A state without the number of batches is one of before that was kept. */
  protected override before_load(given: Record<string, unknown>, prefix: string): void {
    const key = `${prefix}num_batches_tracked`;
    if (this.num_batches_tracked && !(key in given)) given[key] = this.num_batches_tracked;
  }
  override extra_repr(): string {
    return (
      `${this.num_features}, eps=${float(this.eps)}, momentum=${this.momentum === null ? "None" : float(this.momentum)}, affine=${flag(this.affine)}, ` +
      `bias=${flag(this.bias !== null)}, track_running_stats=${flag(this.track_running_stats)}`
    );
  }
}

function checkRank(ranks: readonly number[], input: Tensor): void {
  if (!ranks.includes(input.ndim))
    throw new OpError(`expected ${ranks.map((r) => `${r}D`).join(" or ")} input (got ${input.ndim}D input)`);
}

export interface NormLayer extends Norm {
  forward(input: Tensor): Tensor;
}
type NormConstructor = Callable<new (...args: NormArguments) => NormLayer>;

/** Normalises each channel over the batch while training, by the running statistics afterwards. */
export class BatchNormClass extends Norm {
  /** What errors call it, and what its arguments are by default. */
  static readonly title: string = "_BatchNorm";
  static readonly defaults: Defaults = { affine: true, track_running_stats: true };

  constructor(...args: unknown[]) {
    super(new.target.title, new.target.defaults, args);
  }
  /** Throws for an input of another number of axes. */
  protected checkInput(_input: Tensor): void {
    throw new OpError("_BatchNorm: checkInput() is not implemented");
  }
  override forward(input: Tensor): Tensor {
    this.checkInput(input);
    const tracked = this.num_batches_tracked,
      batch = this.training || !this.running_mean,
      { running_mean, running_var, weight, bias, eps, momentum } = this;
    if (this.training && tracked) {
      unrecorded(() => copy_(tracked, add(tracked, 1)));
      if (momentum === null && running_mean && running_var) {
        const [mean, variance] = [running_mean.clone(), running_var.clone()],
          out = F.batch_norm(input, mean, variance, weight, bias, true, 1, eps);
        unrecorded(() => {
          // How many batches there were may be on a GPU: nobody waits for it.
          const part = reciprocal(cast(tracked, running_mean.dtype, "batch_norm")),
            rest = add(neg(part), 1);
          for (const [all, one] of [
            [running_mean, mean],
            [running_var, variance],
          ] as const)
            copy_(all, add(mul(all, rest), mul(one, part)));
        });
        return out;
      }
    }
    // Running statistics take no part where they are neither read nor changed.
    const used = this.training || !batch;
    return F.batch_norm(
      input,
      used ? running_mean : null,
      used ? running_var : null,
      weight,
      bias,
      batch,
      momentum ?? 0,
      eps,
    );
  }
}
/**
 * Of which class all of them are.
 *
 * @example
 * torch.nn.BatchNorm2d(3) instanceof torch.nn.modules.batchnorm._BatchNorm  // true
 */
export const _BatchNorm = /* @__PURE__ */ callable(BatchNormClass, "_BatchNorm", "forward input, checkInput !");

function batchNorm(name: string, ranks: readonly number[]): NormConstructor {
  class BatchNorm extends BatchNormClass {
    static override readonly title = name;
    protected override checkInput(input: Tensor): void {
      checkRank(ranks, input);
    }
  }
  return callable(BatchNorm, name, "forward input, checkInput !") as unknown as NormConstructor;
}

/**
 * Normalises each channel of each sample; `rank` axes without the batch.  learns: whether it has weights and keeps
 * averages unless asked otherwise, as PyTorch's lazy ones do.
 */
export function instanceNorm(name: string, rank: number, learns = false): NormConstructor {
  class InstanceNorm extends Norm {
    constructor(...args: NormArguments) {
      super(name, { affine: learns, track_running_stats: learns }, args);
    }
    override forward(input: Tensor): Tensor {
      checkRank([rank, rank + 1], input);
      const at = input.ndim - rank,
        channels = input.shape[at];
      if (this.affine && channels !== this.num_features) {
        throw new OpError(
          `expected input's size at dim=${at} to match num_features (${this.num_features}), but got: ${channels}.`,
        );
      }
      const batched = at === 1,
        x = batched ? input : views.unsqueeze(input, 0);
      const out = F.instance_norm(
        x,
        this.running_mean,
        this.running_var,
        this.weight,
        this.bias,
        this.training || !this.track_running_stats,
        this.momentum ?? 0,
        this.eps,
      );
      return batched ? out : views.squeeze(out, 0);
    }
  }
  return callable(InstanceNorm, name, "forward input");
}

/**
 * Normalises each channel over the batch and one axis or none, and keeps averages for evaluation.
 *
 * @example
 * torch.nn.BatchNorm1d(2)(torch.tensor([[1, 2], [3, 6]]))  // [[-0.999995, -0.999999], [0.999995, 0.999999]]
 */
export const BatchNorm1d = /* @__PURE__ */ batchNorm("BatchNorm1d", [2, 3]);
/**
 * Normalises each channel over the batch and two axes, and keeps averages for evaluation.
 *
 * @example
 * torch.nn.BatchNorm2d(1)(torch.tensor([[[[1, 3]]], [[[5, 7]]]]))  // [[[[-1.34164, -0.447213]]], [[[0.447213, 1.34164]]]]
 */
export const BatchNorm2d = /* @__PURE__ */ batchNorm("BatchNorm2d", [4]);
/**
 * Normalises each channel over the batch and three axes, and keeps averages for evaluation.
 *
 * @example
 * torch.nn.BatchNorm3d(1)(torch.tensor([[[[[1, 3]]]], [[[[5, 7]]]]]))  // [[[[[-1.34164, -0.447213]]]], [[[[0.447213, 1.34164]]]]]
 */
export const BatchNorm3d = /* @__PURE__ */ batchNorm("BatchNorm3d", [5]);
/**
 * Normalises each channel of each sample over one axis.
 *
 * @example
 * torch.nn.InstanceNorm1d(2)(torch.tensor([[[1, 3], [2, 6]]]))  // [[[-0.999995, 0.999995], [-0.999999, 0.999999]]]
 */
export const InstanceNorm1d = /* @__PURE__ */ instanceNorm("InstanceNorm1d", 2);
/**
 * Normalises each channel of each sample over two axes.
 *
 * @example
 * torch.nn.InstanceNorm2d(1)(torch.tensor([[[[1, 3], [1, 3]]]]))  // [[[[-0.999995, 0.999995], [-0.999995, 0.999995]]]]
 */
export const InstanceNorm2d = /* @__PURE__ */ instanceNorm("InstanceNorm2d", 3);
/**
 * Normalises each channel of each sample over three axes.
 *
 * @example
 * torch.nn.InstanceNorm3d(1)(torch.tensor([[[[[1, 3], [1, 3]]]]]))  // [[[[[-0.999995, 0.999995], [-0.999995, 0.999995]]]]]
 */
export const InstanceNorm3d = /* @__PURE__ */ instanceNorm("InstanceNorm3d", 4);
