// What torch.nn.functional has beyond ops.

export { multi_head_attention_forward } from "./attention.js";
export {
  fractional_max_pool2d,
  fractional_max_pool2d_with_indices,
  fractional_max_pool3d,
  fractional_max_pool3d_with_indices,
  type FractionalPoolOptions,
} from "./fractional-pool.js";
export { conv_tbc, native_channel_shuffle } from "./root-functions.js";
export { interpolate as upsample } from "../../names/functional.js";
export { one_hot } from "./classes.js";
