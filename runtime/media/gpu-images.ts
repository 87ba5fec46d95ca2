// Pixels that stay on the GPU: pictures of a page become words in a buffer, and words in a buffer what a canvas shows.
// Nothing is read back.

import { DeviceError } from "../base/errors.js";
import type { WebGpuDevice } from "../devices/webgpu/gpu-device.js";
import type { PoolBuffer } from "../devices/webgpu/pool.js";
import { Tensor } from "../tensor/tensor.js";
import { type Picture, unreadable } from "./pixel-sources.js";
import { drawFrame } from "./video-frames.js";

/** Rows in a buffer begin at multiples of 256 bytes, which are so many words. */
const ALIGNED = 64;
const FORMAT = "rgba8unorm";
/** What textures are used for. */
const COPY_SRC = 1,
  COPY_DST = 2,
  STORAGE_BINDING = 8,
  RENDER_ATTACHMENT = 16;

/** How many words a row takes. */
export const pitchOf = (width: number): number => Math.ceil(width / ALIGNED) * ALIGNED;

const textures = new WeakMap<WebGpuDevice, GPUTexture>();

/**
 * A texture of this size, the same one as long as sizes stay the same; one of its own while work waits, which may read
 * the picture before.
 */
function textureOf(device: WebGpuDevice, width: number, height: number, op: string): GPUTexture {
  const { holding } = device.queue,
    before = holding ? undefined : textures.get(device);
  if (before?.width === width && before.height === height) return before;
  const { maxTextureDimension2D: most } = device.gpu.limits;
  if (Math.max(width, height) > most)
    throw new DeviceError(
      `${op}: ${width} x ${height} pixels are more than this GPU's textures hold, ${most} each way`,
    );
  before?.destroy();
  const usage = COPY_SRC | COPY_DST | STORAGE_BINDING | RENDER_ATTACHMENT,
    made = device.gpu.createTexture({ size: [width, height], format: FORMAT, usage });
  if (!holding) textures.set(device, made);
  return made;
}

/** The pixels of a picture of the page as a tensor of words, taken from where the browser has them. */
export function gpuWords(device: WebGpuDevice, { source, moving, width, height }: Picture, op: string): Tensor {
  const texture = textureOf(device, width, height, op),
    pitch = pitchOf(width);
  device.queue.flush(); // what reads the texture's content before
  try {
    if (moving) drawFrame(device.gpu, source, texture);
    else
      device.gpu.queue.copyExternalImageToTexture(
        { source: source as GPUCopyExternalImageSource },
        { texture, premultipliedAlpha: false },
        [width, height],
      );
  } catch (error) {
    throw unreadable(op, error);
  }
  const storage = device.allocate("int32", pitch * height, op),
    words = storage.cell.buffer as PoolBuffer,
    { buffer, offset } = words;
  device.queue.copy([words], (encoder) => {
    encoder.copyTextureToBuffer({ texture }, { buffer, offset, bytesPerRow: 4 * pitch }, [width, height]);
  });
  return new Tensor(storage, "int32", Object.freeze([height, width]), Object.freeze([pitch, 1]), 0);
}

interface GpuCanvas {
  width: number;
  height: number;
  getContext(kind: "webgpu"): GPUCanvasContext | null;
}
const configured = new WeakMap<object, { device: WebGpuDevice; alphaMode: string }>();

/** The GPU that shows a canvas, if `showWords` ever did. */
export const shownBy = (canvas: object): WebGpuDevice | null => {
  const device = configured.get(canvas)?.device;
  return device?.lost === null ? device : null;
};

/**
 * Shows words, whose rows are as long as `pitchOf` says, on a canvas; false where the canvas has a context of another
 * kind.
 */
export function showWords(device: WebGpuDevice, words: Tensor, width: number, canvas: object, alpha: boolean): boolean {
  const target = canvas as GpuCanvas,
    [height, pitch] = words.shape as [number, number],
    context = target.getContext("webgpu");
  if (!context) return false;
  const alphaMode = alpha ? "premultiplied" : "opaque",
    before = configured.get(canvas);
  if (target.width !== width || target.height !== height) [target.width, target.height] = [width, height];
  if (before?.device !== device || before.alphaMode !== alphaMode) {
    context.configure({ device: device.gpu, format: FORMAT, usage: COPY_DST | RENDER_ATTACHMENT, alphaMode });
    configured.set(canvas, { device, alphaMode });
  }
  const shown = words.storage.cell.buffer as PoolBuffer,
    { buffer, offset } = shown;
  device.queue.copy([shown], (encoder) => {
    const texture = context.getCurrentTexture();
    encoder.copyBufferToTexture({ buffer, offset, bytesPerRow: 4 * pitch }, { texture }, [width, height]);
  });
  device.queue.apart(); // the texture is the canvas's until the end of the task in which it was asked for
  return true;
}
