// Normalisation with parameters over batches, groups and root mean squares.  LayerNorm is in layers.ts.

import { ones, zeros, tensor } from "../create.js";
import { OpError } from "../errors.js";
import { no_grad } from "../grad-mode.js";
import type { Tensor } from "../tensor.js";
import * as F from "../../names/functional.js";
import { add } from "../../names/torch.js";
import { callable } from "./callable.js";
import { Module } from "./module.js";
import { construct } from "./options.js";
import { Parameter } from "./parameter.js";

export interface BatchNormOptions {
  eps?: number;
  /** How far a batch moves the running statistics; null: their plain average. */
  momentum?: number | null;
  affine?: boolean;
  track_running_stats?: boolean;
}

/** Normalises each channel over the batch while training, by the running statistics afterwards. */
class BatchNormClass extends Module {
  readonly num_features: number;
  readonly eps: number;
  readonly momentum: number | null;
  weight: Parameter | null;
  bias: Parameter | null;
  declare running_mean: Tensor | null;
  declare running_var: Tensor | null;
  declare num_batches_tracked: Tensor | null;

  constructor(num_features: number, options?: BatchNormOptions);
  constructor(...args: unknown[]);
  constructor(...args: unknown[]) {
    super();
    const o = construct(this.constructor.name, {
      num_features: undefined as unknown as number, eps: 1e-5, momentum: 0.1 as number | null, affine: true, track_running_stats: true,
    }, args);
    this.num_features = o.num_features;
    this.eps = o.eps;
    this.momentum = o.momentum;
    this.weight = o.affine ? new Parameter(ones([o.num_features])) : null;
    this.bias = o.affine ? new Parameter(zeros([o.num_features])) : null;
    this.register_buffer("running_mean", o.track_running_stats ? zeros([o.num_features]) : null);
    this.register_buffer("running_var", o.track_running_stats ? ones([o.num_features]) : null);
    this.register_buffer("num_batches_tracked", o.track_running_stats ? tensor(0, { dtype: "int32" }) : null);
  }
  /** The ranks of input it takes. */
  protected accepts(): readonly number[] { return []; }
  override forward(input: Tensor): Tensor {
    const ranks = this.accepts();
    if (!ranks.includes(input.ndim)) {
      throw new OpError(`${this.constructor.name}: expected ${ranks.map((r) => `${r}D`).join(" or ")} input (got ${input.ndim}D input)`);
    }
    const tracked = this.num_batches_tracked, batch = this.training || !this.running_mean;
    let momentum = this.momentum ?? 0;
    if (this.training && tracked) {
      this.batches++;
      no_grad(() => tracked.copy_(add(tracked, 1)));
      if (this.momentum === null) momentum = 1 / this.batches;
    }
    // Running statistics take no part where they are neither read nor changed.
    const mean = this.training || !batch ? this.running_mean : null, variance = this.training || !batch ? this.running_var : null;
    return F.batch_norm(input, mean, variance, this.weight, this.bias, batch, momentum, this.eps);
  }
  /** Training batches since the module was made, for plain averages: the buffer's value may be on a GPU. */
  private batches = 0;
  override extra_repr(): string {
    return `${this.num_features}, eps=${this.eps}, momentum=${String(this.momentum)}, affine=${this.weight !== null}, ` +
      `track_running_stats=${this.running_mean !== null}`;
  }
}

type BatchNormConstructor = typeof BatchNormClass & ((num_features: number, options?: BatchNormOptions) => BatchNormClass);

function batchNorm(name: string, ranks: readonly number[]): BatchNormConstructor {
  class BatchNorm extends BatchNormClass {
    protected override accepts(): readonly number[] { return ranks; }
  }
  Object.defineProperty(BatchNorm, "name", { value: name });
  return callable(BatchNorm) as unknown as BatchNormConstructor;
}
export const BatchNorm1d = /* @__PURE__ */ batchNorm("BatchNorm1d", [2, 3]);
export const BatchNorm2d = /* @__PURE__ */ batchNorm("BatchNorm2d", [4]);
export const BatchNorm3d = /* @__PURE__ */ batchNorm("BatchNorm3d", [5]);

export interface GroupNormOptions {
  eps?: number;
  affine?: boolean;
}

class GroupNormClass extends Module {
  readonly num_groups: number;
  readonly eps: number;
  weight: Parameter | null;
  bias: Parameter | null;

  /** Normalises groups of channels of each sample. */
  constructor(num_groups: number, num_channels: number, options?: GroupNormOptions | number) {
    super();
    const o = construct("GroupNorm", {
      num_groups: undefined as unknown as number, num_channels: undefined as unknown as number, eps: 1e-5, affine: true,
    }, [num_groups, num_channels, options].filter((x) => x !== undefined));
    if (o.num_channels % o.num_groups !== 0) throw new OpError("GroupNorm: num_channels must be divisible by num_groups");
    this.num_groups = o.num_groups;
    this.eps = o.eps;
    this.weight = o.affine ? new Parameter(ones([o.num_channels])) : null;
    this.bias = o.affine ? new Parameter(zeros([o.num_channels])) : null;
  }
  override forward(input: Tensor): Tensor { return F.group_norm(input, this.num_groups, this.weight, this.bias, this.eps); }
  override extra_repr(): string { return `${this.num_groups}, ${this.weight?.shape[0] ?? ""}, eps=${this.eps}, affine=${this.weight !== null}`; }
}
export const GroupNorm = callable(GroupNormClass);
export type GroupNorm = GroupNormClass;
