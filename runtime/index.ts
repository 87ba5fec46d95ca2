// What the package offers of the runtime: tensors, creation, views, autograd, devices, memory.

import "./cpu.js";

export { Tensor } from "./tensor-class.js";
export type { TensorOrNumber } from "./tensor.js";
export { Results } from "./results.js";
export { Storage } from "./storage.js";
export {
  type DType, type DType as Dtype, float32, float16, float64, int32, int8, uint8, bool, int64, long, int, float, half, double,
} from "./dtype.js";
export { AutogradError, DeviceError, IndexError, OpError, TypeMismatchError } from "./errors.js";
export {
  arange, as_tensor, asarray, empty, empty_like, eye, full, full_like, linspace, ones, ones_like, rand, rand_like, randint, randn,
  randn_like, randperm, tensor, zeros, zeros_like, type Options, type TensorData, type TensorOptions,
} from "./create.js";
export {
  empty_permuted, empty_strided, logspace, normal, randint_like, scalar_tensor, tril_indices, triu_indices,
} from "./create-shaped.js";
export { conj, conj_physical, real, resolve_conj, resolve_neg } from "./functions.js";
export {
  adjoint, alias_copy, as_strided, as_strided_copy, as_strided_scatter, broadcast_to, chunk, clone, constant_pad_nd, detach, diag,
  diag_embed, diagflat, diagonal, diagonal_copy, diagonal_scatter, diff, dsplit, expand_copy, flatten, flip, hsplit, is_floating_point, is_tensor,
  moveaxis, movedim, narrow, narrow_copy, numel, permute, permute_copy, ravel, reshape, roll, select, select_scatter, slice_scatter, split,
  split_copy, split_with_sizes, split_with_sizes_copy, squeeze, squeeze_copy, swapaxes, swapdims, t, t_copy, tensor_split, tile, to,
  transpose, transpose_copy, unbind, unbind_copy, unflatten, unfold_copy, unsafe_chunk, unsafe_split, unsafe_split_with_sizes,
  unsqueeze, unsqueeze_copy, view_copy, vsplit,
} from "./functions.js";
export {
  atleast_1d, atleast_2d, atleast_3d, block_diag, broadcast_shapes, broadcast_tensors, cartesian_prod, cat, column_stack, combinations,
  concat, concatenate, dstack, hstack, meshgrid, row_stack, stack, vstack,
} from "./join.js";
export { bincount, unique, unique_consecutive } from "./counting.js";
export { allclose, argwhere, equal, masked_select, nonzero, nonzero_static, repeat_interleave } from "./dynamic.js";
export { index_put, index_put_, type IndexSpec } from "./indexing.js";
export { can_cast, finfo, iinfo, promote_types, result_type, type FloatInfo, type IntegerInfo } from "./type-info.js";
export { set_printoptions, type PrintOptions } from "./print.js";
export * as func from "./func.js";
export { vmap } from "./func.js";
export * as autograd from "./autograd-namespace.js";
export { DebugError, is_debug_enabled, set_debug, type DebugOptions } from "./debug.js";
export { is_anomaly_check_nan_enabled, is_anomaly_enabled } from "./anomaly.js";
export { enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled } from "./grad-mode.js";
export { get_rng_state, initial_seed, manual_seed, seed, set_rng_state } from "./random.js";
export { set_slow_warnings } from "./advice.js";
export { keep, memory, tidy, type DeviceMemory, type Origin } from "./memory.js";
export { memory_summary, record_memory_history } from "./memory-history.js";
export { defaultDevice, setDefaultDevice, type Device } from "./device.js";
export { gpuDevice, initWebGPUAsync } from "./webgpu/init.js";
export { Kernel, type KernelSpec, type ShaderType } from "./webgpu/kernel.js";
export type { Quantity } from "./webgpu/quantity.js";
export { AutoFunction, GradientContext, functions, type FunctionInput } from "./auto-function.js";
export type { Shape } from "./shape.js";
export { load, save, type TorchLoadOptions } from "./files/load.js";
export { FileError } from "./files/error.js";
export * as safetensors from "./files/index.js";
export { Generator } from "./generator.js";
export * as profiler from "./profiler/index.js";
export * as utils from "./datasets/namespace.js";
