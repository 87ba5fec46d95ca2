// The types of the web that the package's own mention, for a TypeScript whose library has none: there they are empty;
// elsewhere these add nothing.

declare global {
  interface AudioBuffer {}
  interface AudioData {}
  interface HTMLCanvasElement {}
  interface HTMLImageElement {}
  interface HTMLVideoElement {}
  interface ImageBitmap {}
  interface OffscreenCanvas {}
  interface VideoFrame {}
}
export {};
