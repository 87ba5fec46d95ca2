// What the package offers of the runtime: tensors, creation, views, autograd, devices, memory.

import "./cpu.js";

export { Tensor, type TensorOrNumber } from "./tensor.js";
export { Results } from "./results.js";
export { Storage } from "./storage.js";
export {
  type DType, float32, float16, float64, int32, int8, uint8, bool, int64, long, int, float, half, double,
} from "./dtype.js";
export { AutogradError, DeviceError, IndexError, OpError, TypeMismatchError } from "./errors.js";
export {
  arange, as_tensor, asarray, empty, empty_like, eye, full, full_like, linspace, ones, ones_like, rand, rand_like, randint, randn,
  randn_like, randperm, tensor, zeros, zeros_like, type Options, type TensorData, type TensorOptions,
} from "./create.js";
export {
  empty_permuted, empty_strided, logspace, normal, randint_like, scalar_tensor, tril_indices, triu_indices,
} from "./create-shaped.js";
export {
  adjoint, as_strided, broadcast_to, chunk, clone, detach, diagonal, flatten, is_floating_point, is_tensor, moveaxis, movedim, narrow,
  numel, permute, ravel, reshape, select, split, split_with_sizes, squeeze, swapaxes, swapdims, t, tensor_split, tile, transpose,
  unbind, unflatten, unsqueeze,
} from "./functions.js";
export {
  atleast_1d, atleast_2d, atleast_3d, broadcast_tensors, cat, column_stack, concat, concatenate, dstack, hstack, meshgrid, row_stack,
  stack, vstack,
} from "./join.js";
export { allclose, argwhere, equal, masked_select, nonzero } from "./dynamic.js";
export * as autograd from "./autograd-namespace.js";
export { enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled } from "./grad-mode.js";
export { get_rng_state, initial_seed, manual_seed, seed, set_rng_state } from "./random.js";
export { keep, memory, tidy } from "./memory.js";
export { defaultDevice, setDefaultDevice, type Device } from "./device.js";
export { gpuDevice, initWebGPUAsync } from "./webgpu/init.js";
