// torch.autograd.

export { backward, grad } from "./autograd.js";
export * as functional from "./autograd-functional.js";
export { Function } from "./function.js";
export { enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled } from "./grad-mode.js";
