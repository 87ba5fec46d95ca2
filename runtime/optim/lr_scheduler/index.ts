// torch.optim.lr_scheduler.

export { LRScheduler, LRScheduler as _LRScheduler, type SchedulerState } from "./scheduler.js";
export {
  ConstantLR,
  CosineAnnealingLR,
  ExponentialLR,
  LambdaLR,
  LinearLR,
  MultiStepLR,
  MultiplicativeLR,
  PolynomialLR,
  StepLR,
} from "./decay.js";
export { CosineAnnealingWarmRestarts, type WarmRestartsOptions } from "./restarts.js";
export { CyclicLR, OneCycleLR, type CyclicOptions, type OneCycleOptions } from "./cyclic.js";
export { ReduceLROnPlateau, type PlateauOptions } from "./plateau.js";
export { ChainedScheduler, SequentialLR } from "./composed.js";
