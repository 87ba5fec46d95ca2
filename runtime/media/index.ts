// tensorloom/media: pictures and sound of pages as tensors, and tensors as those.

export { type FromPixelsOptions, from_pixels, type PixelLayout } from "./from-pixels.js";
export { to_pixels, type ToPixelsOptions } from "./to-pixels.js";
export type { PixelData, PixelSource } from "./pixel-sources.js";
export { type AudioSource, from_audio, to_audio } from "./audio.js";
