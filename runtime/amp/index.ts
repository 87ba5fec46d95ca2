// torch.amp: automatic mixed precision.

export { autocast, is_autocast_available, type AutocastOptions } from "./modes.js";
export { GradScaler, type GradScalerOptions, type GradScalerState } from "./grad-scaler.js";
export { custom_bwd, custom_fwd } from "./custom.js";
