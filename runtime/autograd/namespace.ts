// torch.autograd.

export * from "./core-namespace.js";
export {
  detect_anomaly,
  is_anomaly_check_nan_enabled,
  is_anomaly_enabled,
  set_detect_anomaly,
} from "../tools/anomaly.js";
export { Variable } from "./variable.js";
export { GradcheckError, gradcheck, gradgradcheck, type GradcheckOptions } from "./gradcheck.js";
export * as forward_ad from "./forward-ad.js";
export * as function from "./function-namespace.js";
export * as graph from "./graph.js";
export * as functional from "./derivatives.js";
