// What every entry offers of the runtime: tensors, creation, views, autograd, devices, memory.

export { Tensor } from "./creation/tensor-constructor.js";
export type { TensorOrNumber } from "./tensor/tensor.js";
export { Results } from "./tensor/results.js";
export { Storage } from "./tensor/storage.js";
export {
  type DType,
  type DType as Dtype,
  float32,
  float16,
  bfloat16,
  float64,
  int32,
  int16,
  int8,
  uint32,
  uint16,
  uint8,
  bool,
  int64,
  long,
  int,
  short,
  float,
  half,
  double,
} from "./elements/dtype.js";
export { AutogradError, DeviceError, IndexError, OpError, TypeMismatchError } from "./base/errors.js";
export {
  arange,
  as_tensor,
  asarray,
  empty,
  eye,
  ones,
  tensor,
  zeros,
  type Options,
  type TensorData,
  type TensorOptions,
} from "./creation/create.js";
export { rand, randint, randn, randperm } from "./creation/random-tensors.js";
export { linspace } from "./creation/lines.js";
export { full, full_like } from "./creation/filled.js";
export { empty_like, ones_like, rand_like, randn_like, zeros_like } from "./creation/like.js";
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
} from "./functions/tensor-functions.js";
export { broadcast_shapes, broadcast_tensors, meshgrid } from "./functions/grids.js";
export { cat, concat, concatenate, hstack, stack, vstack } from "./functions/join.js";
export { bincount } from "./functions/counting.js";
export { allclose, equal, masked_select, nonzero, repeat_interleave } from "./functions/data-dependent.js";
export { index_put, index_put_ } from "./functions/index-put.js";
export type { IndexSpec } from "./functions/indexing.js";
export { set_printoptions, type PrintOptions } from "./tensor/print.js";
export * as autograd from "./autograd/core-namespace.js";
export {
  enable_grad,
  inference_mode,
  is_grad_enabled,
  is_inference_mode_enabled,
  no_grad,
  set_grad_enabled,
} from "./tape/grad-mode.js";
export { get_rng_state, initial_seed, manual_seed, seed, set_rng_state } from "./elements/random.js";
export { keep, memory, tidy, type DeviceMemory, type Origin } from "./tensor/memory.js";
export { defaultDevice, setDefaultDevice, type Device } from "./devices/device.js";
export { gpuDevice, initWebGPUAsync } from "./init-webgpu.js";
export type { Shape } from "./base/shape.js";
export { Generator } from "./creation/generator.js";
