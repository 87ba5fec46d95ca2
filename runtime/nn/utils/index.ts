// torch.nn.utils.

export { clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm, type NormOptions } from "./clip.js";
export { parameters_to_vector, vector_to_parameters } from "./vector.js";
export { remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm } from "./weight-norms.js";
export { skip_init, type ModuleMaker } from "./skip-init.js";
export {
  convert_conv2d_weight_memory_format,
  convert_conv3d_weight_memory_format,
  fuse_conv_bn_eval,
  fuse_conv_bn_weights,
  fuse_linear_bn_eval,
  fuse_linear_bn_weights,
} from "./fused.js";
export * as parametrizations from "./parametrizations.js";
export * as parametrize from "./parametrize.js";
export * as prune from "./prune.js";
export * as rnn from "./packed.js";
export * as stateless from "./stateless.js";
