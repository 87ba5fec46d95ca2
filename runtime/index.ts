// What the package offers of the runtime: core.ts, and what serves programs beside their tensors.

export * from "./core.js";
export {
  conj,
  conj_physical,
  real,
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
  moveaxis,
  narrow_copy,
  permute_copy,
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
} from "./functions.js";
export {
  atleast_1d,
  atleast_2d,
  atleast_3d,
  block_diag,
  cartesian_prod,
  column_stack,
  combinations,
  dstack,
  row_stack,
} from "./join.js";
export { unique, unique_consecutive } from "./counting.js";
export { argwhere, nonzero_static } from "./dynamic.js";
export {
  empty_permuted,
  empty_strided,
  logspace,
  normal,
  randint_like,
  scalar_tensor,
  tril_indices,
  triu_indices,
} from "./create-shaped.js";
export { can_cast, finfo, iinfo, promote_types, result_type, type FloatInfo, type IntegerInfo } from "./type-info.js";
export { Kernel, type KernelSpec, type ShaderType } from "./webgpu/kernel.js";
export type { Quantity } from "./webgpu/quantity.js";
export * as autograd from "./autograd-namespace.js";
export * as func from "./func.js";
export { vmap } from "./func.js";
export { AutoFunction, GradientContext, functions, type FunctionInput } from "./auto-function.js";
export { DebugError, is_debug_enabled, set_debug, type DebugOptions } from "./debug.js";
export { is_anomaly_check_nan_enabled, is_anomaly_enabled } from "./anomaly.js";
export { set_slow_warnings } from "./advice.js";
export { memory_summary, record_memory_history } from "./memory-history.js";
export { load, save, type TorchLoadOptions } from "./files/load.js";
export { FileError } from "./files/error.js";
export * as safetensors from "./files/index.js";
export * as profiler from "./profiler/index.js";
export * as utils from "./datasets/namespace.js";
