// torch.nn.utils.

export { clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm, type NormOptions } from "./clip.js";
export { parameters_to_vector, vector_to_parameters } from "./vector.js";
export * as rnn from "./packed.js";
