// What every entry offers of the runtime: tensors, creation, views, autograd, devices, memory.

export { Tensor } from "./tensor-class.js";
export type { TensorOrNumber } from "./tensor.js";
export { Results } from "./results.js";
export { Storage } from "./storage.js";
export {
  type DType,
  type DType as Dtype,
  float32,
  float16,
  float64,
  int32,
  int8,
  uint8,
  bool,
  int64,
  long,
  int,
  float,
  half,
  double,
} from "./dtype.js";
export { AutogradError, DeviceError, IndexError, OpError, TypeMismatchError } from "./errors.js";
export {
  arange,
  as_tensor,
  asarray,
  empty,
  empty_like,
  eye,
  full,
  full_like,
  linspace,
  ones,
  ones_like,
  rand,
  rand_like,
  randint,
  randn,
  randn_like,
  randperm,
  tensor,
  zeros,
  zeros_like,
  type Options,
  type TensorData,
  type TensorOptions,
} from "./create.js";
export {
  as_strided,
  broadcast_to,
  chunk,
  clone,
  detach,
  diag,
  diagonal,
  diff,
  flatten,
  flip,
  is_floating_point,
  is_tensor,
  movedim,
  narrow,
  numel,
  permute,
  ravel,
  reshape,
  roll,
  select,
  split,
  split_with_sizes,
  squeeze,
  t,
  tensor_split,
  to,
  transpose,
  unbind,
  unflatten,
  unsqueeze,
} from "./functions.js";
export {
  broadcast_shapes,
  broadcast_tensors,
  cat,
  concat,
  concatenate,
  hstack,
  meshgrid,
  stack,
  vstack,
} from "./join.js";
export { bincount } from "./counting.js";
export { allclose, equal, masked_select, nonzero, repeat_interleave } from "./dynamic.js";
export { index_put, index_put_, type IndexSpec } from "./indexing.js";
export { set_printoptions, type PrintOptions } from "./print.js";
export * as autograd from "./autograd-core.js";
export {
  enable_grad,
  inference_mode,
  is_grad_enabled,
  is_inference_mode_enabled,
  no_grad,
  set_grad_enabled,
} from "./grad-mode.js";
export { get_rng_state, initial_seed, manual_seed, seed, set_rng_state } from "./random.js";
export { keep, memory, tidy, type DeviceMemory, type Origin } from "./memory.js";
export { defaultDevice, setDefaultDevice, type Device } from "./device.js";
export { gpuDevice, initWebGPUAsync } from "./webgpu/init.js";
export type { Shape } from "./shape.js";
export { Generator } from "./generator.js";
