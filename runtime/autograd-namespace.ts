// torch.autograd.

export { detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly } from "./anomaly.js";
export { backward, grad } from "./autograd.js";
export { GradcheckError, gradcheck, gradgradcheck, type GradcheckOptions } from "./gradcheck.js";
export * as functional from "./autograd-functional.js";
export { Function, type FunctionContext } from "./function.js";
export { enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled } from "./grad-mode.js";
