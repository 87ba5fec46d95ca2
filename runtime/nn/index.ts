// torch.nn by hand: the module class, parameters, and the modules of a first network.

export { Module, type LoadReport } from "./module.js";
export { Parameter } from "./parameter.js";
export { ModuleList, Sequential } from "./containers.js";
export { Conv1d, Conv2d, Conv3d, Embedding, LayerNorm, Linear, type ConvClass, type ConvModule, type ConvOptions, type LayerNormOptions } from "./layers.js";
export { BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, type BatchNormOptions, type GroupNormOptions } from "./norm.js";
export {
  AvgPool1d, AvgPool2d, BCEWithLogitsLoss, CrossEntropyLoss, Dropout, ELU, Flatten, GELU, Identity, L1Loss, LeakyReLU, LogSoftmax,
  MSELoss, MaxPool1d, MaxPool2d, NLLLoss, ReLU, ReLU6, SiLU, Sigmoid, Softmax, Softplus, Tanh, Unflatten,
  type SimpleModule,
} from "./functions.js";
