// tensorloom/quantization: weights of few bits.

export { QuantizedLinear } from "./quantized-linear.js";
export { QuantizedWeight, type QuantizedFormat } from "./quantized-weight.js";
export { int4_weight_only, int8_weight_only, quantize_, quantized, WeightOnly } from "./quantize.js";
