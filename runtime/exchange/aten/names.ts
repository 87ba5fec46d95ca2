// ATen's operators that are a function here under another name, and the rules by which one name follows from another;
// and which of their arguments are by name alone.

/** What ATen calls it, and what the function is called here. */
const RENAMED: Readonly<Record<string, string>> = {
  __and__: "bitwise_and",
  __or__: "bitwise_or",
  __xor__: "bitwise_xor",
  __lshift__: "bitwise_left_shift",
  __rshift__: "bitwise_right_shift",
  __iand__: "bitwise_and_",
  __ior__: "bitwise_or_",
  __ixor__: "bitwise_xor_",
  __ilshift__: "bitwise_left_shift_",
  __irshift__: "bitwise_right_shift_",
  _cast_Byte: "byte",
  _cast_Char: "char",
  _cast_Double: "double",
  _cast_Float: "float",
  _cast_Half: "half",
  _cast_Int: "int",
  _cast_Long: "long",
  _cast_Short: "short",
  _euclidean_dist: "cdist",
  _is_all_true: "all",
  _is_any_true: "any",
  _logcumsumexp: "logcumsumexp",
  _stack: "stack",
  lift: "alias",
  log_sigmoid: "logsigmoid",
};

/**
 * The names under which an operator may be found beside its own, the likeliest first: another name of the same; what a
 * copy copies (`expand_copy`); what is done in place here and to a copy there (`uniform`, `uniform_`), or the other way
 * round.  `changes`: whether it is the argument that becomes the result, or a copy of it.
 */
export interface OtherName {
  readonly name: string;
  readonly changes: "argument" | "copy" | null;
}

export function otherNames(name: string): OtherName[] {
  const out: OtherName[] = [];
  if (Object.hasOwn(RENAMED, name)) out.push({ name: RENAMED[name]!, changes: null });
  if (/[^_]_$/.test(name)) out.push({ name: name.slice(0, -1), changes: "argument" });
  else {
    if (name.endsWith("_functional")) out.push({ name: `${name.slice(0, -"_functional".length)}_`, changes: "copy" });
    if (name.endsWith("_copy")) out.push({ name: name.slice(0, -"_copy".length), changes: "copy" });
    out.push({ name: `${name}_`, changes: "copy" });
  }
  return out;
}

// --- arguments -----------------------------------------------------------------------------------------
// Files of PyTorch before 2.7 do not say of each argument whether it is by name alone.  This is as the schemas of PyTorch
// 2.5 and 2.6 have it.

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** By name in every operator, or in all but those below. */
const ALWAYS = words(
  "adjoint alpha approximate assume_unique atol aweights beta check_errors correction decimals density device driver dtype dx edge_order enable_gqa fweights generator hermitian implicit include_self indexing initial interpolation invert is_matrix layout left log_target memory_format out_int32 path pin_memory pivot range right rounding_mode rtol side sorter spacing sparse_grad stable",
);

/** Operators in which such an argument has a place all the same. */
const BY_PLACE: Readonly<Record<string, ReadonlySet<string>>> = {
  alpha: words("add.Scalar add_.Scalar celu celu_ elu elu_ hamming_window rsub.Scalar sub.Scalar sub_.Scalar"),
  atol: words("allclose isclose"),
  beta: words("hamming_window kaiser_window smooth_l1_loss softplus"),
  device: words("to.device"),
  dtype: words(
    "_assert_tensor_metadata _safe_softmax log_softmax native_norm quantize_per_channel quantize_per_tensor softmax special_softmax to.device to.dtype to_mkldnn view view_copy",
  ),
  generator: words("poisson rrelu rrelu_ rrelu_with_noise rrelu_with_noise_"),
  hermitian: words("linalg_matrix_rank.default linalg_matrix_rank.tol_tensor linalg_pinv.default"),
  left: words("ormqr"),
  memory_format: words("is_contiguous to.device to.dtype to.other"),
  rtol: words("allclose isclose"),
};

/** Operators in which an argument is by name, and in the others not. */
const BY_NAME: Readonly<Record<string, ReadonlySet<string>>> = {
  N: words("linalg_vander"),
  attn_mask: words("_scaled_dot_product_flash_attention_for_cpu"),
  axis: words("segment_reduce"),
  copy: words("to.dtype_layout"),
  descending: words("argsort.stable sort.stable"),
  dim: words(
    "aminmax argsort.stable cumulative_trapezoid gradient linalg_cross linalg_vecdot sort.stable trapezoid trapz",
  ),
  dim1: words("linalg_diagonal"),
  dim2: words("linalg_diagonal"),
  fill_value: words("nonzero_static"),
  indices: words("segment_reduce"),
  keepdim: words("aminmax std.correction std_mean.correction var.correction var_mean.correction"),
  lengths: words("segment_reduce"),
  max: words("sym_constrain_range sym_constrain_range_for_size"),
  min: words("sym_constrain_range sym_constrain_range_for_size"),
  non_blocking: words("_to_copy to.dtype_layout"),
  offset: words("linalg_diagonal"),
  offsets: words("segment_reduce"),
  output_size: words("repeat_interleave"),
  reduce: words("scatter scatter_"),
  scale: words(
    "_scaled_dot_product_attention_math _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu scaled_dot_product_attention",
  ),
  size: words("nonzero_static"),
  unitriangular: words("linalg_solve_triangular"),
  unsafe: words("segment_reduce"),
  upper: words("linalg_cholesky linalg_cholesky_ex linalg_solve_triangular"),
  value: words("addcdiv addcdiv_ addcmul addcmul_"),
  weight: words("histogram"),
};

/** Whether the argument of an operator, such as `torch.ops.aten.to.dtype`, is by name alone. */
export function isByName(target: string, argument: string): boolean {
  const overload = target.replace("torch.ops.aten.", ""),
    among = (operators: ReadonlySet<string> | undefined): boolean =>
      operators !== undefined && (operators.has(overload) || operators.has(overload.split(".")[0]!));
  return ALWAYS.has(argument) ? !among(BY_PLACE[argument]) : among(BY_NAME[argument]);
}
