// torch.nn by hand: the module class, parameters, and the modules of a first network.

export { Module, type LoadReport } from "./module.js";
export { Parameter } from "./parameter.js";
export { ModuleList, Sequential } from "./containers.js";
export { Conv1d, Conv2d, Conv3d, Embedding, LayerNorm, Linear, type ConvClass, type ConvModule, type ConvOptions, type LayerNormOptions } from "./layers.js";
export { BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, type BatchNormOptions, type GroupNormOptions } from "./norm.js";
export { Flatten, Identity, Unflatten } from "./shapes.js";
export type { Stateless } from "./stateless.js";
