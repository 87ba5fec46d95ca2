// torch.optim: optimizers, and `lr_scheduler`.  The arithmetic of a step is in ops/optim.op.

export { Optimizer, type Closure } from "./optimizer.js";
export type { Group, GroupOptions, Named, Params } from "./groups.js";
export type { OptimizerState } from "./state.js";
export type { OptimizerHook, StateHook, StepPostHook, StepPreHook } from "./hooks.js";
export * as optimizer from "./global-hooks.js";
export { ASGD, Rprop, SGD, type ASGDOptions, type RpropOptions, type SGDOptions } from "./sgd.js";
export {
  Adam,
  AdamW,
  Adamax,
  NAdam,
  RAdam,
  type AdamOptions,
  type AdamaxOptions,
  type NAdamOptions,
  type RAdamOptions,
} from "./adam.js";
export {
  Adadelta,
  Adagrad,
  RMSprop,
  type AdadeltaOptions,
  type AdagradOptions,
  type RMSpropOptions,
} from "./squares.js";
export { Adafactor, type AdafactorOptions } from "./adafactor.js";
export { Muon, type MuonOptions } from "./muon.js";
export { LBFGS, type LBFGSOptions } from "./lbfgs.js";
export * as swa_utils from "./swa-utils.js";
export * as lr_scheduler from "./lr_scheduler/index.js";
