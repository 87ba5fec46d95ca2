// What has pixels in a page: how large it is, and its pixels as words (ops/pixels.op) in the program's own memory.
// A GPU copies them without that: gpu-images.ts.

import { refuse } from "../base/argument-kinds.js";
import { OpError } from "../base/errors.js";

/** Bytes of red, green, blue and alpha, row by row: an ImageData, or an object like one. */
export interface PixelData {
  readonly data: Uint8ClampedArray | Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** What pixels come from. */
export type PixelSource =
  | PixelData
  | HTMLCanvasElement
  | OffscreenCanvas
  | ImageBitmap
  | HTMLImageElement
  | HTMLVideoElement
  | VideoFrame;

/** A source whose pixels there are now, and its size in pixels. */
export interface Picture {
  readonly source: PixelSource;
  /** Its bytes, where they lie in the program's memory already. */
  readonly bytes: Uint8ClampedArray | Uint8Array | null;
  /** Whether it is a frame of a video. */
  readonly moving: boolean;
  readonly width: number;
  readonly height: number;
}

type Sized = Record<
  "width" | "height" | "naturalWidth" | "naturalHeight" | "videoWidth" | "videoHeight" | "displayWidth",
  number
> & { displayHeight: number; complete: boolean; readyState: number };

/** For each kind of object of the web its size, and what to wait for where it has no pixels yet. */
const SIZES: Readonly<Record<string, (x: Sized) => [width: number, height: number, wait: string]>> = {
  HTMLCanvasElement: (x) => [x.width, x.height, "its width or height is 0"],
  OffscreenCanvas: (x) => [x.width, x.height, "its width or height is 0"],
  ImageBitmap: (x) => [x.width, x.height, "it was closed"],
  HTMLImageElement: (x) => [
    x.complete ? x.naturalWidth : 0,
    x.naturalHeight,
    "it is not there yet: await image.decode() first",
  ],
  // 2: there is a frame for where it stands
  HTMLVideoElement: (x) => [
    x.readyState >= 2 ? x.videoWidth : 0,
    x.videoHeight,
    'it has no frame yet: wait for its event "loadeddata"',
  ],
  VideoFrame: (x) => [x.displayWidth, x.displayHeight, "it was closed"],
};

/** The name of an object's kind, in whichever window it was made. */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** A source and its size; throws for what has no pixels, or none yet. */
export function pictureOf(source: unknown, op: string): Picture {
  const size = SIZES[kindOf(source)];
  if (size) {
    const [width, height, wait] = size(source as Sized);
    if (!width || !height) throw new OpError(`${op}: the ${kindOf(source)} has no pixels: ${wait}`);
    return { source: source as PixelSource, bytes: null, moving: /Video/.test(kindOf(source)), width, height };
  }
  const { data, width, height } = (typeof source === "object" && source !== null ? source : {}) as Partial<PixelData>;
  if (!(data instanceof Uint8ClampedArray || data instanceof Uint8Array) || !isSize(width) || !isSize(height))
    refuse(op, "source", "a canvas, an ImageData, an ImageBitmap, an image, a video or a VideoFrame", source);
  if (data.length !== 4 * width * height)
    throw new OpError(
      `${op}: ${width} x ${height} pixels have ${4 * width * height} bytes, red, green, blue and alpha of each, but 'data' has ${data.length}`,
    );
  return { source: source as PixelData, bytes: data, moving: false, width, height };
}

const isSize = (n: unknown): n is number => typeof n === "number" && Number.isInteger(n) && n > 0;

interface Painter {
  canvas: { width: number; height: number };
  clearRect(x: number, y: number, width: number, height: number): void;
  drawImage(source: unknown, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): PixelData;
  putImageData(data: unknown, x: number, y: number): void;
}
interface Canvases {
  OffscreenCanvas?: new (width: number, height: number) => { getContext(kind: "2d", options?: object): Painter | null };
  document?: { createElement(name: "canvas"): { getContext(kind: "2d", options?: object): Painter | null } };
  ImageData?: new (data: Uint8ClampedArray<ArrayBuffer>, width: number, height: number) => PixelData;
}

let painter: Painter | null = null;

/** A canvas of the package's own, on which pictures are drawn to be read. */
function ownCanvas(op: string): Painter {
  if (painter) return painter;
  const { OffscreenCanvas: Canvas, document } = globalThis as unknown as Canvases,
    canvas = Canvas ? new Canvas(1, 1) : document?.createElement("canvas");
  painter = canvas?.getContext("2d", { willReadFrequently: true }) ?? null;
  if (!painter) throw new OpError(`${op}: there is no canvas here; hand in an object {data, width, height}`);
  return painter;
}

/** The pixels of a picture as words; a view of the caller's memory where they lie there. */
export function wordsOf({ source, bytes, width, height }: Picture, op: string): Int32Array {
  let data = bytes;
  if (!data) {
    const own = ownCanvas(op),
      { canvas } = own;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    else own.clearRect(0, 0, width, height);
    try {
      own.drawImage(source, 0, 0, width, height);
      ({ data } = own.getImageData(0, 0, width, height));
    } catch (error) {
      painter = null; // what was drawn on it makes it unreadable for ever
      throw unreadable(op, error);
    }
  }
  return data.byteOffset % 4 === 0
    ? new Int32Array(data.buffer, data.byteOffset, width * height)
    : new Int32Array(data.slice().buffer);
}

/** The error for pixels that a page may not see, or that the browser cannot give. */
export const unreadable = (op: string, error: unknown): OpError =>
  new OpError(
    (error as Error).name === "SecurityError"
      ? `${op}: the picture comes from another server, which did not allow this page to read it (crossOrigin = "anonymous" asks for that)`
      : `${op}: the picture cannot be read: ${(error as Error).message}`,
  );

/** Bytes as the page's ImageData; where there is none, as an object like one. */
export function imageData(words: Int32Array, width: number, height: number): PixelData {
  const data = new Uint8ClampedArray(words.slice().buffer),
    { ImageData: Made } = globalThis as unknown as Canvases;
  return Made ? new Made(data, width, height) : { data, width, height };
}
