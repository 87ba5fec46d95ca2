// torch.to_pixels: tensors on canvases, and as ImageData.

import { refuse } from "../base/argument-kinds.js";
import { pixel_bytesOp } from "../../ops/pixels.js";
import { pack_int8Op } from "../../ops/quantised.js";
import { OpError, TypeMismatchError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { showShape } from "../base/shape.js";
import { WebGpuDevice } from "../devices/webgpu/gpu-device.js";
import { run } from "../dispatch/call.js";
import { isFloat } from "../elements/dtype.js";
import { unrecorded } from "../tape/grad-mode.js";
import { uploaded } from "../tensor/copy.js";
import { readElements } from "../tensor/read.js";
import { check } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { permute, squeeze, unsqueeze } from "../views/views.js";
import { LAYOUTS, type PixelLayout, oneOf } from "./from-pixels.js";
import { pitchOf, showWords, shownBy } from "./gpu-images.js";
import { type PixelData, imageData } from "./pixel-sources.js";

export interface ToPixelsOptions {
  /** The order of the tensor's axes; a tensor of two is rows and columns. */
  layout?: PixelLayout;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: string): { putImageData(data: unknown, x: number, y: number): void } | null;
}

/**
 * Shows a tensor on a canvas, which gets its size; without a canvas it answers an ImageData (an object like one where
 * there is no page).  One channel is grey, three are red, green and blue, a fourth is alpha.  Floats count from 0 to 1,
 * whole numbers from 0 to 255; what lies outside is cut off.  A tensor on a GPU goes to a canvas that has no "2d"
 * context without being read; from a GPU that is software, only to one that has a "webgpu" context.
 *
 * @param input tensor [channels, height, width] or [height, width]
 * @param canvas where it is shown; null: an ImageData is answered
 *
 * @example
 * const { width, height, data } = await torch.to_pixels(torch.tensor([[[0, 1]]]));
 * [width, height, [...data]]  // [2, 1, [0, 0, 0, 255, 255, 255, 255, 255]]
 */
export function to_pixels(
  input: Tensor,
  canvas: HTMLCanvasElement | OffscreenCanvas,
  options?: ToPixelsOptions,
): Promise<void>;
export function to_pixels(input: Tensor, canvas?: null, options?: ToPixelsOptions): Promise<PixelData>;
export async function to_pixels(...args: unknown[]): Promise<PixelData | void> {
  const op = "to_pixels",
    [input, canvas = null, layout = "CHW"] = taken(`${op} input canvas? * layout?`, args);
  check(input, op, "input");
  if (canvas !== null && typeof canvas.getContext !== "function") refuse(op, "canvas", "a canvas", canvas);
  const planes = planesOf(input, oneOf<PixelLayout>(layout, LAYOUTS, op, "layout"), op),
    [, height, width] = planes.shape as [number, number, number];
  if (planes.dtype === "bool" || planes.dtype === "complex64")
    throw new TypeMismatchError(`${op}: pixels are floats or whole numbers, got a tensor of ${planes.dtype}`);
  const device = canvas && gpuFor(planes, canvas);
  if (device && show(planes, width, canvas, device)) return void (await device.queue.submitted());
  const words = packed(planes, width, false),
    pixels = imageData((await readElements(words, op)) as Int32Array, width, height);
  words.dispose();
  if (!canvas) return pixels;
  put(canvas, pixels, op);
}

/**
 * The GPU that is to show planes: theirs, or the one that shows the canvas.  A software GPU shows a canvas only if it has
 * a "webgpu" context: for such a GPU memory is memory, and Chromium loses it where it cannot share its textures.
 */
function gpuFor(planes: Tensor, canvas: Canvas): WebGpuDevice | null {
  const { device: own } = planes.storage,
    device = own instanceof WebGpuDevice ? own : shownBy(canvas);
  return device?.software && canvas.getContext("2d") ? null : device;
}

/** Shows planes through a GPU; false where the canvas has a context of another kind. */
function show(planes: Tensor, width: number, canvas: Canvas, device: WebGpuDevice): boolean {
  const alpha = planes.shape[0] === 4,
    here = planes.storage.device === device ? planes : uploaded(planes, device),
    words = packed(here, pitchOf(width), alpha),
    done = showWords(device, words, width, canvas, alpha);
  words.dispose();
  return done;
}

function put(canvas: Canvas, pixels: PixelData, op: string): void {
  const { width, height } = pixels,
    context = canvas.getContext("2d");
  if (!context)
    throw new OpError(`${op}: the canvas has a context of another kind; give it one that has none, or a "2d" one`);
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  context.putImageData(pixels, 0, 0);
}

/** Pixels as words, rows of `pitch`. */
function packed(planes: Tensor, pitch: number, premultiplied: boolean): Tensor {
  return unrecorded(() => {
    const bytes = run(pixel_bytesOp, [planes, pitch, isFloat(planes.dtype) ? 255 : 1, premultiplied]) as Tensor,
      words = run(pack_int8Op, [bytes]) as Tensor;
    bytes.dispose();
    return words;
  });
}

/** [channels, height, width] of a tensor. */
function planesOf(input: Tensor, layout: PixelLayout, op: string): Tensor {
  const refused = (): never => {
    throw new OpError(
      `${op}: expected ${layout}, or height and width, with 1, 3 or 4 channels, got the shape ${showShape(input.shape)}`,
    );
  };
  return unrecorded(() => {
    let x = input.detach();
    if (x.ndim === 2) x = unsqueeze(x, 0);
    else {
      if (layout[0] === "N" && x.ndim === 4 && x.shape[0] === 1) x = squeeze(x, 0);
      if (x.ndim !== 3) refused();
      if (layout.endsWith("HWC")) x = permute(x, [2, 0, 1]);
    }
    const [channels, height, width] = x.shape as [number, number, number];
    if (![1, 3, 4].includes(channels) || !height || !width) refused();
    return x;
  });
}
