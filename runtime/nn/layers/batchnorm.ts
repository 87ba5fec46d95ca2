// torch.nn.modules.batchnorm: what all batch normalisations are, and the one over all processes, of which there is one here.

import { callable } from "../../base/callable.js";
import { OpError } from "../../base/errors.js";
import { taken } from "../../base/named-arguments.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Module } from "../module.js";
import { checkModule } from "../tree.js";
import { BatchNormClass, type Features, type NormOptions } from "./norm.js";

export { BatchNorm1d, BatchNorm2d, BatchNorm3d, _BatchNorm } from "./norm.js";

export interface SyncBatchNormOptions extends NormOptions {
  /** Taken for PyTorch's sake: there is one process, default null. */
  process_group?: null;
}
type Places = [eps?: number, momentum?: number | null, affine?: boolean, track_running_stats?: boolean];

class SyncBatchNormClass extends BatchNormClass {
  static override readonly title = "SyncBatchNorm";
  static override readonly defaults = { affine: true, track_running_stats: true, process_group: null };

  constructor(
    ...args:
      | [num_features: number, ...Places]
      | [num_features: number, ...Places, SyncBatchNormOptions]
      | [num_features: number, SyncBatchNormOptions]
      | [SyncBatchNormOptions & Features]
  ) {
    super(...args);
  }
  protected override checkInput({ ndim }: Tensor): void {
    if (ndim < 2) throw new OpError(`expected at least 2D input (got ${ndim}D input)`);
  }

  /** Puts one of these, with its parameters and statistics, in the place of each BatchNorm within `module`. */
  static convert_sync_batchnorm(module: Module, process_group?: null): Module;
  static convert_sync_batchnorm(...args: unknown[]): Module {
    const op = "convert_sync_batchnorm",
      [module] = taken(`${op} module process_group?`, args) as [Module];
    checkModule(module, op);
    let out = module;
    if (module instanceof BatchNormClass) {
      const { num_features, eps, momentum, affine, track_running_stats, bias } = module,
        made = new SyncBatchNormClass(num_features, eps, momentum, affine, track_running_stats, {
          bias: bias !== null,
        });
      made.weight = module.weight;
      made.bias = bias;
      for (const name of ["running_mean", "running_var", "num_batches_tracked"] as const) made[name] = module[name];
      made.training = module.training;
      out = made;
    }
    for (const [name, child] of module.named_children())
      out.add_module(name, SyncBatchNormClass.convert_sync_batchnorm(child));
    return out;
  }
}
/**
 * Normalises each channel over the batches of all processes, which are one here: as BatchNorm does, of any number of axes.
 *
 * @example
 * torch.nn.SyncBatchNorm(2)(torch.tensor([[1, 2], [3, 6]]))  // [[-0.999995, -0.999999], [0.999995, 0.999999]]
 */
export const SyncBatchNorm = /* @__PURE__ */ callable(
  SyncBatchNormClass,
  "SyncBatchNorm",
  "forward input, checkInput !, convert_sync_batchnorm !",
);
export type SyncBatchNorm = SyncBatchNormClass;
