// torch.func.replace_all_batch_norm_modules_: batch norm without statistics that calls change.

import { taken } from "../base/named-arguments.js";
import { BatchNorm1d, BatchNorm2d, BatchNorm3d } from "./layers/norm.js";
import type { Module } from "./module.js";
import { checkModule } from "./tree.js";

const CLASSES = [BatchNorm1d, BatchNorm2d, BatchNorm3d];

/**
 * Takes the running statistics from all batch norms of a module, which `vmap` cannot change; answers the module.
 *
 * @param root the module, which is changed
 *
 * @example
 * const model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3));
 * torch.func.replace_all_batch_norm_modules_(model).at(1).running_mean  // null
 */
export function replace_all_batch_norm_modules_<M extends Module>(root: M): M {
  const [module] = taken("replace_all_batch_norm_modules_ root", arguments);
  for (const part of checkModule(module, "replace_all_batch_norm_modules_").modules()) {
    if (!CLASSES.some((known) => part instanceof known)) continue;
    const norm = part as InstanceType<(typeof CLASSES)[number]>;
    norm.running_mean = null;
    norm.running_var = null;
    norm.num_batches_tracked = null;
    Object.defineProperty(norm, "track_running_stats", { value: false });
  }
  return module as M;
}
