// torch.nn by hand: the module class, parameters, and the modules that have some.

export { Module } from "./module.js";
export type { Layer } from "./stateless.js";
export type { BackwardHook, ForwardHook, ForwardPreHook, RemovableHandle } from "./hooks.js";
export type { ForwardHookOptions, HookOptions, NamedForwardHook, NamedForwardPreHook } from "./hooks.js";
export type { LoadReport } from "./load-state.js";
export { Buffer, Parameter } from "./parameter.js";
export * as parameter from "./parameter.js";
export * as init from "./init.js";
export * as modules from "./modules.js";
export * as attention from "./attention/index.js";
export * as utils from "./utils/index.js";
export { ModuleDict, ModuleList, Sequential } from "./containers.js";
export { ParameterDict, ParameterList } from "./parameter-containers.js";
export { Bilinear, Linear, type BilinearOptions, type LinearOptions } from "./layers/linear.js";
export {
  Conv1d,
  Conv2d,
  Conv3d,
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type ConvClass,
  type ConvModule,
  type ConvOptions,
  type ConvTransposeClass,
  type ConvTransposeOptions,
  type PaddingMode,
} from "./layers/conv.js";
export { Embedding, EmbeddingBag, type EmbeddingBagOptions, type EmbeddingOptions } from "./layers/embedding.js";
export {
  BatchNorm1d,
  BatchNorm2d,
  BatchNorm3d,
  InstanceNorm1d,
  InstanceNorm2d,
  InstanceNorm3d,
  type NormOptions,
} from "./layers/norm.js";
export { SyncBatchNorm, type SyncBatchNormOptions } from "./layers/batchnorm.js";
export {
  GroupNorm,
  LayerNorm,
  RMSNorm,
  type GroupNormOptions,
  type LayerNormOptions,
  type RMSNormOptions,
} from "./layers/layer-norm.js";
export { PReLU, type PReLUOptions } from "./layers/prelu.js";
export { MultiheadAttention, type AttentionCall, type MultiheadAttentionOptions } from "./layers/attention.js";
export { GRU, LSTM, RNN, type LSTMOptions, type RNNOptions } from "./layers/recurrent.js";
export type { RecurrentOptions } from "./layers/recurrent-module.js";
export { GRUCell, LSTMCell, RNNCell, type CellOptions, type RNNCellOptions } from "./layers/cells.js";
export { Transformer, TransformerDecoder, TransformerEncoder, type TransformerOptions } from "./layers/transformer.js";
export {
  TransformerDecoderLayer,
  TransformerEncoderLayer,
  type TransformerLayerOptions,
} from "./layers/transformer-layers.js";
export {
  AdaptiveLogSoftmaxWithLoss,
  LinearCrossEntropyLoss,
  type AdaptiveLogSoftmaxOptions,
  type LinearCrossEntropyOptions,
} from "./layers/class-losses.js";
export { FractionalMaxPool2d, FractionalMaxPool3d } from "./layers/fractional-pool.js";
export { TripletMarginWithDistanceLoss } from "./layers/triplet-loss.js";
export {
  LazyBatchNorm1d,
  LazyBatchNorm2d,
  LazyBatchNorm3d,
  LazyConv1d,
  LazyConv2d,
  LazyConv3d,
  LazyConvTranspose1d,
  LazyConvTranspose2d,
  LazyConvTranspose3d,
  LazyInstanceNorm1d,
  LazyInstanceNorm2d,
  LazyInstanceNorm3d,
  LazyLinear,
} from "./layers/lazy.js";
export { Flatten, Identity, Unflatten } from "./layers/shapes.js";
export type { Stateless } from "./stateless.js";
