// Parameters of PyTorch's functions that are not taken here, and why: exactly those (by_name.test.mjs).

/** Names of PyTorch's that are not taken, and by which exports. */
const NOT_TAKEN = {
  // How a derivative is computed: there is one way here.
  "_preallocate_and_copy|strict": /^torch\.func\.j/,
  "nondet_tol|fast_mode|masked|check_\\w+|gen_non_contig_grad_outputs": /^torch\.autograd\.grad/,
  "use_cuda|experimental_config|execution_trace_observer|acc_events|custom_trace_id_callback|with_flops|with_modules|post_processing_timeout_s|args|skip_first_wait":
    /^torch\.profiler\./,
  // How it is computed, or where its memory lies, not what.
  "_stacklevel|out_dtype|align_to_window|implicit|force": /./,
  "cudnn_enabled?": /^(?!torch\.(batch|instance)_norm$)/,
  driver: /svd/,
  memory_format: /resize_/,
  // What its compiler's parts take, which are others here.
  "name|recompile_limit|isolate_recompiles|shapes_spec": /^torch\.compile$/,
  // Where it goes over to a series.
  lims: /ContinuousBernoulli$/,
  // Other names of what is taken under its documented one.
  train: /dropout$/,
  "tol|rcond": /^torch\.linalg\.(matrix_rank|pinv)$/,
  b: /lstsq$/,
  input: /(vector_norm|lu_solve)$/,
  other: /(tensorsolve|result_type)$/,
  "tensor|scalar[12]?": /^torch\.result_type/,
  "min_value|max_value": /Hardtanh$/,
  // Not there yet.
  "default|sequential": /^(Module|Parameter)(List|Dict)?\.(?!get$)/,
  remove_duplicate: /\.modules$/,
  dtype: /^torch\.view_copy$/,
  names: /^torch\.full$/,
  options: /functional\.linear_cross_entropy$/,
  // Stubs call them otherwise than the functions do.
  seed: /^torch\.Generator$/,
  "mode|_new_state|orig_func|a|iterable|_caller|_devices_kw":
    /^(torch\.(device|Size|random\.fork_rng)|Tensor\.requires_grad_|Generator\.set_state|torch\.(autograd\.)?enable_grad)$/,
};

/** Whether the export `name` takes PyTorch's parameter `option` by name alone: old spellings of `reduction`. */
export const byNameAlone = (name, option) =>
  option === "size_average" || (option === "reduce" && /^torch\.nn\./.test(name));

/** Whether the export `name` does without PyTorch's parameter `option`. */
export const notTaken = (name, option) =>
  Object.entries(NOT_TAKEN).some(([options, where]) => new RegExp(`^(${options})$`).test(option) && where.test(name));
