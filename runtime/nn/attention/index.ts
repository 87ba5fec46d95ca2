// torch.nn.attention.

export { SDPBackend, sdpa_kernel } from "./sdpa-kernel.js";
export * as flex_attention from "./flex-attention.js";
