// Regions of images pooled to one size, and convolutions whose samples lie where offsets put them.

import { OpError } from "../base/errors.js";
import { arange, tensor } from "../creation/create.js";
import { run } from "../dispatch/call.js";
import { stack } from "../functions/join.js";
import { ps_roi_alignOp, ps_roi_poolOp, roi_align_maxOp, roi_align_meanOp, roi_pool_maxOp } from "../../ops/regions.js";
import { grid_sample } from "../../names/functional.js";
import * as torch from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import { to } from "../views/transfer.js";
import * as views from "../views/views.js";

/** The size of what each region becomes, and what boxes are multiplied by, to be in pixels of `input`. */
export interface Cells {
  readonly rows: number;
  readonly columns: number;
  readonly scale: number;
}

export interface Pooling extends Cells {
  /** How many places there are in each part along an axis; none or fewer: as many as pixels. */
  readonly ratio: number;
  /** Whether a pixel's middle is at 0.5. */
  readonly aligned: boolean;
  readonly mode: "avg" | "max" | "position";
}

const pair = (results: unknown): readonly [Tensor, Tensor] => results as readonly [Tensor, Tensor];

/** Of `rois` (float [R, 5]: image, x1, y1, x2, y2) the boxes and the images; `name`: who asks. */
export function regionsOf(rois: Tensor, name: string): readonly [boxes: Tensor, images: Tensor] {
  if (rois.ndim !== 2 || rois.shape[1] !== 5)
    throw new OpError(`${name}: rois must have the shape [K, 5], got [${rois.shape.join(", ")}]`);
  return [views.narrow(rois, 1, 1, 4), to(views.select(rois, 1, 0), ["int64"]) as Tensor];
}

/** The length of the longest part along an axis, in pixels; `least`: how long a region is at least. */
function longestPart(corners: readonly number[], { rows, columns, scale }: Cells, least: number): number {
  let longest = 0;
  for (let i = 0; i < corners.length; i += 4)
    for (const [k, parts] of [columns, rows].entries()) {
      const length = (corners[i + 2 + k]! - corners[i + k]!) * scale;
      if (!Number.isFinite(length)) throw new OpError("the regions have corners that are no finite numbers");
      longest = Math.max(longest, Math.max(length, least) / parts);
    }
  return longest;
}

/**
 * The regions `boxes` (float [R, 4]: x1, y1, x2, y2) of the images (float [N, C, H, W]) that `images` (int64 [R]) names, each
 * pooled to float [R, C, rows, columns].  `corners` gives the numbers of `boxes`; it is asked where there are as many
 * places as pixels.  By position the result is a pair: float and int32 [R, C / rows / columns, rows, columns].
 */
export function pooledRegions(
  input: Tensor,
  boxes: Tensor,
  images: Tensor,
  how: Pooling,
  corners: () => readonly number[],
): Tensor | readonly [Tensor, Tensor] {
  const { rows, columns, scale, ratio, aligned, mode } = how,
    // what rounds up beyond a whole number in the kernel's type does here, too
    most = ratio > 0 ? ratio : Math.ceil(longestPart(corners(), how, aligned ? 0 : 1) * (1 + 1e-6)),
    // PyTorch takes the boxes as they are: no gradient flows to them
    given = [input, boxes.detach(), images, rows, columns, scale, ratio];
  if (mode === "position") return pair(run(ps_roi_alignOp, [...given, most]));
  return run(mode === "max" ? roi_align_maxOp : roi_align_meanOp, [...given, aligned, most]) as Tensor;
}

/**
 * The same regions in cells of whole pixels: the largest of each and where it is in its image (int32), both
 * [R, C, rows, columns]; by `position` the mean of one channel and which that is, both [R, C / rows / columns, rows, columns].
 */
export function pooledCells(
  input: Tensor,
  boxes: Tensor,
  images: Tensor,
  how: Cells & { readonly position: boolean },
  corners: () => readonly number[],
): readonly [Tensor, Tensor] {
  const { rows, columns, scale, position } = how,
    // both corners are rounded, the last pixel may count, and both ends of a cell are
    reached = Math.ceil(longestPart(corners(), how, 0) + 2 / Math.min(rows, columns)) + 1,
    most = Math.min(reached, Math.max(...input.shape.slice(2)));
  const op = position ? ps_roi_poolOp : roi_pool_maxOp;
  return pair(run(op, [input, boxes.detach(), images, rows, columns, scale, most]));
}

type Pair = readonly [rows: number, columns: number];
export interface Deformed {
  readonly bias: Tensor | null;
  /** float [N, parts * taps, H_out, W_out]: what each sample counts. */
  readonly mask: Tensor | null;
  readonly stride: Pair;
  readonly padding: Pair;
  readonly dilation: Pair;
  readonly groups: number;
  /** Into how many parts with offsets of their own the channels are divided. */
  readonly parts: number;
}

/**
 * A convolution of `input` (float [N, C, H, W]) with `weight` (float [C_out, C / groups, K_h, K_w]) whose samples are moved by
 * `offset` (float [N, parts * K_h * K_w * 2, H_out, W_out]: y, x of each); beyond the image they are 0.
 */
export function deformedConvolution(input: Tensor, weight: Tensor, offset: Tensor, how: Deformed): Tensor {
  const [n, c, height, width] = input.shape as [number, number, number, number],
    [outputs, inner, kh, kw] = weight.shape as [number, number, number, number],
    { bias, mask, stride, padding, dilation, groups, parts } = how,
    [oh, ow] = offset.shape.slice(2) as [number, number],
    taps = kh * kw,
    like = { dtype: input.dtype, device: input.device },
    offsets = views.reshape(offset, [n * parts, taps, 2, oh, ow]),
    line = (size: number, axis: 0 | 1): Tensor =>
      torch.sub(torch.mul(arange(0, size, 1, like as never), stride[axis]), padding[axis]) as Tensor,
    steps = (axis: 0 | 1): Tensor => {
      const list = Array.from({ length: taps }, (_, t) => (axis === 0 ? Math.floor(t / kw) : t % kw) * dilation[axis]);
      return views.reshape(tensor(list, like as never), [taps, 1, 1]);
    },
    y = torch.add(torch.add(steps(0), views.reshape(line(oh, 0), [oh, 1])), views.select(offsets, 2, 0)) as Tensor,
    x = torch.add(torch.add(steps(1), views.reshape(line(ow, 1), [1, ow])), views.select(offsets, 2, 1)) as Tensor,
    // grids count from -1 to 1, from edge to edge
    unit = (v: Tensor, size: number): Tensor => torch.sub(torch.div(torch.add(torch.mul(v, 2), 1), size), 1) as Tensor,
    grid = views.reshape(stack([unit(x, width), unit(y, height)], -1), [n * parts, taps * oh, ow, 2]),
    images = views.reshape(input, [n * parts, c / parts, height, width]),
    sampled = views.reshape(grid_sample(images, grid), [n, parts, c / parts, taps, oh * ow]),
    shown = mask ? (torch.mul(sampled, views.reshape(mask, [n, parts, 1, taps, oh * ow])) as Tensor) : sampled,
    columns = views.reshape(shown, [n, groups, inner * taps, oh * ow]),
    kernels = views.reshape(weight, [groups, outputs / groups, inner * taps]),
    sums = views.reshape(torch.matmul(kernels, columns) as Tensor, [n, outputs, oh, ow]);
  return bias ? (torch.add(sums, views.reshape(bias, [-1, 1, 1])) as Tensor) : sums;
}
