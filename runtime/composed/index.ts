// Functions made of other functions: what needs shapes rearranged around ops, so that no formula can say it.

export { ComplexView, view_as_complex, view_as_real } from "./complex.js";
export { istft, stft, type IstftOptions, type StftOptions } from "./stft.js";
export { einsum } from "./einsum.js";
export { kron, tensordot } from "./products.js";
export { masked_scatter, put, take, take_along_dim, unravel_index } from "./picking.js";
export { rot90 } from "./turning.js";
