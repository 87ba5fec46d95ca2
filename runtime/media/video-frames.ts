// A frame of a video, as a texture that the GPU decoded it to: `importExternalTexture` copies nothing.

import type { PixelSource } from "./pixel-sources.js";

/**
 * Puts a frame's pixels into a texture of the size they are to have.  Frames come multiplied by alpha, and as wide as
 * they were recorded, which may differ from how wide they are shown.
 */
const SHADER = /* wgsl */ `
@group(0) @binding(0) var frame: texture_external;
@group(0) @binding(1) var pixels: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var between: sampler;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) pixel: vec3u) {
  let size = textureDimensions(pixels);
  if (any(pixel.xy >= size)) {
    return;
  }
  let color = textureSampleBaseClampToEdge(frame, between, (vec2f(pixel.xy) + 0.5) / vec2f(size));
  let alpha = select(color.a, 1.0, color.a == 0.0);
  textureStore(pixels, pixel.xy, vec4f(color.rgb / alpha, color.a));
}
`;
const WORKGROUP = 8;

interface Drawing {
  readonly pipeline: GPUComputePipeline;
  readonly between: GPUSampler;
}
const drawings = new WeakMap<GPUDevice, Drawing>();

function drawingOf(gpu: GPUDevice): Drawing {
  let made = drawings.get(gpu);
  if (!made) {
    const module = gpu.createShaderModule({ label: "a frame's pixels", code: SHADER });
    made = {
      pipeline: gpu.createComputePipeline({ layout: "auto", compute: { module } }),
      between: gpu.createSampler({ magFilter: "linear", minFilter: "linear" }),
    };
    drawings.set(gpu, made);
  }
  return made;
}

/** Submits what puts the frame that a video shows now into a texture of rgba8unorm; a frame is there for one task. */
export function drawFrame(gpu: GPUDevice, source: PixelSource, texture: GPUTexture): void {
  const { pipeline, between } = drawingOf(gpu),
    encoder = gpu.createCommandEncoder(),
    pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    gpu.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [
        { binding: 0, resource: gpu.importExternalTexture({ source: source as HTMLVideoElement | VideoFrame }) },
        { binding: 1, resource: texture.createView() },
        { binding: 2, resource: between },
      ],
    }),
  );
  pass.dispatchWorkgroups(Math.ceil(texture.width / WORKGROUP), Math.ceil(texture.height / WORKGROUP));
  pass.end();
  gpu.queue.submit([encoder.finish()]);
}
