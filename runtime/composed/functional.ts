// What torch.nn.functional has beyond ops.

export { multi_head_attention_forward } from "./attention.js";
