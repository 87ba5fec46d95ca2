// torch.from_pixels: pictures of a page as tensors.

import { pixel_planesOp } from "../../ops/pixels.js";
import { round } from "../../names/torch.js";
import { flag, text } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import type { Options } from "../creation/create.js";
import { defaultDevice, toDevice } from "../devices/device.js";
import { WebGpuDevice } from "../devices/webgpu/gpu-device.js";
import { run } from "../dispatch/call.js";
import { type DType, isFloat, toDType } from "../elements/dtype.js";
import { unrecorded } from "../tape/grad-mode.js";
import { contiguous } from "../tensor/copy.js";
import { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import { permute, unsqueeze } from "../views/views.js";
import { gpuWords } from "./gpu-images.js";
import { type Picture, type PixelSource, pictureOf, wordsOf } from "./pixel-sources.js";

/** The order of axes: rows and columns of pixels, their channels, and one for a batch of one picture. */
export type PixelLayout = "CHW" | "HWC" | "NCHW" | "NHWC";
export const LAYOUTS = ["CHW", "HWC", "NCHW", "NHWC"];

export interface FromPixelsOptions extends Options {
  /** 3: red, green, blue; 4: alpha as well; 1: how light a pixel is (ITU-R 601). */
  channels?: 1 | 3 | 4;
  /** Floats are from 0 to 1, whole numbers from 0 to 255. */
  layout?: PixelLayout;
}

/** One of a few texts; throws for others. */
export function oneOf<T extends string>(value: unknown, all: readonly string[], op: string, name: string): T {
  if (!all.includes(text(value, op, name)))
    throw new OpError(
      `${op}: argument '${name}' must be one of ${all.map((x) => `"${x}"`).join(", ")}, got "${value}"`,
    );
  return value as T;
}

/**
 * The pixels of a canvas, ImageData, ImageBitmap, image, video (a webcam's, too) or VideoFrame, as they are now: a
 * tensor [channels, height, width] of floats from 0 to 1, unless `layout` and `dtype` say otherwise.  On a GPU pictures
 * are taken from where the browser has them, and nothing goes through the program's memory.  What is not opaque keeps its
 * colours, and alpha is the fourth channel.
 *
 * @example
 * const picture = { data: new Uint8ClampedArray([255, 0, 0, 255, 0, 255, 0, 255]), width: 2, height: 1 };
 * torch.from_pixels(picture)  // [[[1, 0]], [[0, 1]], [[0, 0]]]
 */
export function from_pixels(source: PixelSource, options?: FromPixelsOptions): Tensor;
export function from_pixels(...args: unknown[]): Tensor {
  const op = "from_pixels",
    [source, channels = 3, type, layout = "CHW", where, requires_grad] = taken(
      `${op} source{} channels? dtype? layout? device? requires_grad?`,
      args,
    ),
    picture = pictureOf(source, op),
    dtype = type == null ? "float32" : toDType(type, op),
    device = where == null ? defaultDevice() : toDevice(where, op),
    order = oneOf<PixelLayout>(layout, LAYOUTS, op, "layout");
  if (![1, 3, 4].includes(channels)) throw new OpError(`${op}: argument 'channels' must be 1, 3 or 4, got ${channels}`);
  if (dtype === "bool" || dtype === "complex64")
    throw new OpError(`${op}: pixels are floats or whole numbers, and cannot be ${dtype}`);
  if (requires_grad != null) flag(requires_grad, op, "requires_grad");
  const out = unrecorded(() => arranged(planes(picture, channels, dtype, device, op), order));
  return requires_grad ? out.requires_grad_() : out;
}

type AnyDevice = ReturnType<typeof toDevice>;

function planes(picture: Picture, channels: number, dtype: DType, device: AnyDevice, op: string): Tensor {
  const words =
      device instanceof WebGpuDevice && !picture.bytes
        ? gpuWords(device, picture, op)
        : uploaded(wordsOf(picture, op), picture, device, op),
    made = run(pixel_planesOp, [words, channels, isFloat(dtype) ? 1 / 255 : 1]) as Tensor;
  words.dispose();
  if (dtype === made.dtype) return made;
  return to(isFloat(dtype) ? made : (round(made) as Tensor), [dtype]) as Tensor;
}

/** Words of the program's memory on a device. */
function uploaded(words: Int32Array, { width, height }: Picture, device: AnyDevice, op: string): Tensor {
  return new Tensor(
    device.upload(words, "int32", op),
    "int32",
    Object.freeze([height, width]),
    Object.freeze([width, 1]),
    0,
  );
}

/** [channels, height, width] in another order of axes. */
function arranged(x: Tensor, layout: PixelLayout): Tensor {
  const turned = layout.endsWith("HWC") ? contiguous(permute(x, [1, 2, 0])) : x;
  return layout[0] === "N" ? unsqueeze(turned, 0) : turned;
}
