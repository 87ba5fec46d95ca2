// Parameters of PyTorch's functions that are not taken here, and why.

/** Names of PyTorch's that are not taken. */
const NOT_TAKEN = {
  // Old spellings of `reduction`, which PyTorch warns of.
  size_average: /./,
  reduce: /./,
  // JavaScript has no keyword arguments that a hook could see.
  with_kwargs: /_hook$/,
  always_call: /_hook$/,
  // How a derivative is computed: there is one way here.
  _preallocate_and_copy: /^torch\.func/,
  "nondet_tol|fast_mode|masked|check_\\w+|gen_non_contig_grad_outputs|only_inputs": /^torch\.autograd\.grad/,
  "use_cuda|experimental_config|execution_trace_observer|acc_events|custom_trace_id_callback|with_flops|with_modules|post_processing_timeout_s|args|skip_first_wait":
    /^torch\.profiler\./,
  // How it is computed, or where its memory lies, not what.
  "cudnn_enabled?|sparse_grad|driver|memory_format|_stacklevel|out_dtype|align_to_window|implicit|force|pickle_module|mmap":
    /./,
  // What its compiler's parts take, which are others here.
  "name|recompile_limit|isolate_recompiles|shapes_spec": /^torch\.compile$/,
  // Where it goes over to a series.
  lims: /ContinuousBernoulli$/,
  // Not there yet.
  train: /^torch\.(feature_)?(alpha_)?dropout/,
  "destination|remove_duplicate|default|sequential": /^(Module|Parameter)(List|Dict)?\./,
  "dtype|b|tol|rcond|input|other|range|names|copy":
    /^(torch\.(linalg\.|nanmean|view_copy|lu_solve|histogram|full|asarray|result_type)|Tensor\.(view|nanmean|histogram|data))/,
  "tensor|scalar[12]?": /^torch\.result_type/,
  "weight|distance_function|min_value|max_value|antialias|options|enable_gqa": /^torch\.nn\./,
  // Stubs call them otherwise than the functions do.
  "mode|_new_state|orig_func|a|iterable|_caller|_devices_kw":
    /^(torch\.(device|Size|random\.fork_rng)|Tensor\.requires_grad_|Generator\.set_state|torch\.(autograd\.)?enable_grad)$/,
};

/** Whether the export `name` does without PyTorch's parameter `option`. */
export const notTaken = (name, option) =>
  Object.entries(NOT_TAKEN).some(([options, where]) => new RegExp(`^(${options})$`).test(option) && where.test(name));
