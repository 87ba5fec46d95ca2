// What every entry has of torch.autograd.

export { backward, grad } from "./gradients.js";
export { Function, type FunctionContext } from "./custom-function.js";
export {
  enable_grad,
  inference_mode,
  is_grad_enabled,
  is_inference_mode_enabled,
  no_grad,
  set_grad_enabled,
} from "../tape/grad-mode.js";
