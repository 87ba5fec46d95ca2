// The types of WebGPU that the package's own mention, for a TypeScript whose library has none (before 6): there they are
// empty; elsewhere these add nothing.

declare global {
  interface GPUBindGroup {}
  interface GPUBindGroupLayout {}
  interface GPUBuffer {}
  interface GPUCommandEncoder {}
  interface GPUComputePassTimestampWrites {}
  interface GPUComputePipeline {}
  interface GPUDevice {}
  interface GPUError {}
  interface GPUPipelineLayout {}
  interface GPUTexture {}
}
export {};
