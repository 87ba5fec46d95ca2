// torch.autograd.

export * from "./autograd-core.js";
export { detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly } from "./anomaly.js";
export { GradcheckError, gradcheck, gradgradcheck, type GradcheckOptions } from "./gradcheck.js";
export * as functional from "./autograd-functional.js";
