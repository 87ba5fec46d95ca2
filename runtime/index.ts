// What the package offers of the runtime: core.ts, and what serves programs beside their tensors.

export * from "./core.js";
export {
  complex,
  conj,
  conj_physical,
  imag,
  real,
  view_as_complex,
  view_as_complex_copy,
  view_as_real,
  view_as_real_copy,
} from "./functions/complex-parts.js";
export { cfloat, complex64 } from "./elements/dtype.js";
export type { Complex } from "./elements/complex-number.js";
export {
  resolve_conj,
  resolve_neg,
  adjoint,
  alias_copy,
  as_strided_copy,
  as_strided_scatter,
  constant_pad_nd,
  diag_embed,
  diagflat,
  diagonal_copy,
  diagonal_scatter,
  dsplit,
  expand_copy,
  hsplit,
  is_complex,
  moveaxis,
  narrow_copy,
  permute_copy,
  positive,
  select_scatter,
  slice_scatter,
  split_copy,
  split_with_sizes_copy,
  squeeze_copy,
  swapaxes,
  swapdims,
  t_copy,
  tile,
  transpose_copy,
  unbind_copy,
  unfold_copy,
  unsafe_chunk,
  unsafe_split,
  unsafe_split_with_sizes,
  unsqueeze_copy,
  view_copy,
  vsplit,
} from "./functions/tensor-functions.js";
export { block_diag, cartesian_prod, combinations } from "./functions/grids.js";
export { atleast_1d, atleast_2d, atleast_3d, column_stack, dstack, row_stack } from "./functions/join.js";
export {
  __version__,
  device,
  e,
  get_default_device,
  get_default_dtype,
  inf,
  nan,
  newaxis,
  pi,
  set_default_device,
  Size,
  Device,
  type Device as DeviceName,
} from "./functions/constants.js";
export {
  BFloat16Tensor,
  BoolTensor,
  ByteTensor,
  CharTensor,
  DoubleTensor,
  FloatTensor,
  HalfTensor,
  IntTensor,
  LongTensor,
  ShortTensor,
  are_deterministic_algorithms_enabled,
  get_deterministic_debug_mode,
  is_deterministic_algorithms_warn_only_enabled,
  set_deterministic_debug_mode,
  cdouble,
  channels_last,
  channels_last_3d,
  complex128,
  contiguous_format,
  get_float32_matmul_precision,
  get_num_threads,
  is_nonzero,
  is_same_size,
  is_signed,
  preserve_format,
  range,
  set_default_dtype,
  set_float32_matmul_precision,
  set_num_threads,
  strided,
  uint64,
  use_deterministic_algorithms,
} from "./functions/settings.js";
export {
  adaptive_avg_pool1d,
  affine_grid_generator,
  as_strided_,
  avg_pool1d,
  batch_norm,
  bilinear,
  binary_cross_entropy_with_logits,
  chain_matmul,
  conj_physical_,
  conv_tbc,
  convolution,
  cosine_embedding_loss,
  embedding_renorm_,
  detach_,
  detach_copy,
  embedding,
  fill_,
  frobenius_norm,
  get_device,
  gru_cell,
  hinge_embedding_loss,
  instance_norm,
  is_conj,
  is_inference,
  is_neg,
  kl_div,
  lstm_cell,
  margin_ranking_loss,
  max_pool1d_with_indices,
  native_channel_shuffle,
  native_dropout,
  norm_except_dim,
  nuclear_norm,
  poisson_nll_loss,
  resize_as_,
  rnn_relu_cell,
  rnn_tanh_cell,
  select_copy,
  slice_copy,
  triplet_margin_loss,
  zero_,
} from "./composite/torch/root-functions.js";
export {
  sym_float,
  sym_int,
  sym_ite,
  sym_max,
  sym_min,
  sym_not,
  sym_sqrt,
  sym_sum,
} from "./composite/torch/symbolic.js";
export { cond, while_loop } from "./functions/control.js";
export { fake_quantize_per_channel_affine } from "./composite/adapted.js";
export { segment_reduce, type SegmentOptions } from "./composite/segments.js";
export { default_generator } from "./creation/default-generator.js";
export { pca_lowrank, svd_lowrank } from "./composite/low-rank.js";
export { from_numpy, frombuffer } from "./creation/from-memory.js";
export { unique, unique_consecutive } from "./functions/counting.js";
export { argwhere, nonzero_static } from "./functions/data-dependent.js";
export {
  empty_permuted,
  empty_strided,
  normal,
  randint_like,
  scalar_tensor,
  tril_indices,
  triu_indices,
} from "./creation/create-shaped.js";
export { logspace } from "./creation/lines.js";
export {
  can_cast,
  finfo,
  iinfo,
  promote_types,
  result_type,
  type FloatInfo,
  type IntegerInfo,
} from "./functions/type-info.js";
export { Kernel, type KernelSpec, type ShaderType } from "./devices/webgpu/custom-kernel.js";
export type { Quantity } from "./devices/webgpu/quantity.js";
export * as amp from "./amp/index.js";
export { GradScaler } from "./amp/grad-scaler.js";
export {
  autocast,
  clear_autocast_cache,
  get_autocast_cpu_dtype,
  get_autocast_dtype,
  get_autocast_gpu_dtype,
  is_autocast_cache_enabled,
  is_autocast_cpu_enabled,
  is_autocast_enabled,
  set_autocast_cache_enabled,
  set_autocast_cpu_dtype,
  set_autocast_cpu_enabled,
  set_autocast_dtype,
  set_autocast_enabled,
  set_autocast_gpu_dtype,
  type AutocastOptions,
} from "./amp/modes.js";
export * as autograd from "./autograd/namespace.js";
export { compile, type CompileOptions } from "./capture/compile.js";
export * as compiler from "./capture/compiler.js";
export * as export from "./exchange/index.js";
export * as onnx from "./onnx/index.js";
export * as func from "./nn/func.js";
export { vmap } from "./autograd/transforms.js";
export { AutoFunction, GradientContext, functions, type FunctionInput } from "./autograd/auto-function.js";
export { DebugError, is_debug_enabled, set_debug, type DebugOptions } from "./tools/debug.js";
export {
  is_anomaly_check_nan_enabled,
  is_anomaly_enabled,
  set_detect_anomaly as set_anomaly_enabled,
} from "./tools/anomaly.js";
export * as backends from "./tools/backends.js";
export { set_slow_warnings } from "./devices/slow-warnings.js";
export { memory_summary, record_memory_history } from "./tools/memory-history.js";
export { load, type TorchLoadOptions } from "./files/load.js";
export { save } from "./files/save.js";
export { FileError } from "./files/error.js";
export * as safetensors from "./files/index.js";
export * as distributions from "./distributions/index.js";
export * as random from "./elements/forked.js";
export * as testing from "./tools/testing.js";
export * as profiler from "./tools/profiler/index.js";
export * as utils from "./datasets/namespace.js";
export * as hub from "./hub/index.js";
export * as accelerator from "./interop/accelerator.js";
export * as cuda from "./interop/cuda.js";
export * as webgpu from "./interop/webgpu.js";
export { from_gpu_buffer, gpu_buffer, type GpuBufferOptions, type GpuBufferRange } from "./interop/gpu-buffers.js";
export { typed_array } from "./interop/typed-arrays.js";
export * from "./media/index.js";
