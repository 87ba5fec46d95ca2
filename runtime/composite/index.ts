// Functions made of other functions: what needs shapes rearranged around ops, so that no formula can say it.

export { cumulative_trapezoid, trapezoid, trapz, type AreaOptions } from "./areas.js";
export {
  corrcoef,
  cov,
  dist,
  float_power,
  grid_sampler,
  grid_sampler_2d,
  grid_sampler_3d,
  native_layer_norm,
  nextafter,
  type CovOptions,
} from "./adapted.js";
export { istft, stft, type IstftOptions, type StftOptions } from "./stft.js";
export { gradient, type GradientOptions } from "./gradient.js";
export { histogramdd, type HistogramddOptions } from "./histogram.js";
export { einsum } from "./einsum.js";
export { p_norm as norm, type Order, type PNormOptions } from "./matrix-norms.js";
export { cross_of_first as cross, kron, tensordot } from "./products.js";
export { matrix_power } from "./matrix-chains.js";
export { masked_scatter, put, take, take_along_dim, unravel_index } from "./picking.js";
export { rot90 } from "./turning.js";
