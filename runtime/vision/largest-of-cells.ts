// The largest pixel of each cell that regions of images are cut into: torchvision's roi_pool.

import { OpError } from "../base/errors.js";
import { tensor } from "../creation/create.js";
import * as torch from "../../names/torch.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";

/** What regions are cut into, and what their corners are multiplied by. */
export interface Cells {
  readonly rows: number;
  readonly columns: number;
  readonly scale: number;
}

/** Rounds halves away from zero, as C does. */
const rounded = (x: number): number => Math.sign(x) * Math.round(Math.abs(x));

/** The pixels along an axis from where to where, for each of the cells; none of a cell beyond the image. */
function cuts(low: number, high: number, { scale }: Cells, cells: number, length: number): [number, number][] {
  const f = Math.fround,
    begin = rounded(f(low * scale)),
    each = f(Math.max(rounded(f(high * scale)) - begin + 1, 1) / cells),
    within = (n: number): number => Math.min(Math.max(n + begin, 0), length);
  return Array.from({ length: cells }, (_, n) => [
    within(Math.floor(f(n * each))),
    within(Math.ceil(f((n + 1) * each))),
  ]);
}

/**
 * For `rois`, rows of (image, x1, y1, x2, y2): [K, C, rows, columns] largest elements of `input` [N, C, H, W], 0 in cells
 * without a pixel, and where in their image they are, -1 there.  Gradients go to the first of equal ones, as in torchvision.
 */
export function largestOfCells(input: Tensor, rois: readonly number[], cells: Cells): [Tensor, Tensor] {
  const [n, channels, height, width] = input.shape as [number, number, number, number],
    { rows, columns } = cells,
    found: number[][] = [],
    count = rois.length / 5;
  for (let k = 0; k < count; k++) {
    const [image, x1, y1, x2, y2] = rois.slice(5 * k, 5 * k + 5) as [number, number, number, number, number];
    if (!Number.isInteger(image) || image < 0 || image >= n)
      throw new OpError(`roi_pool: region ${k} is of image ${image}, but there are ${n}`);
    if (![x1, y1, x2, y2].every(Number.isFinite))
      throw new OpError(`roi_pool: region ${k} has corners that are no finite numbers`);
    const across = cuts(x1, x2, cells, columns, width);
    for (const [top, bottom] of cuts(y1, y2, cells, rows, height))
      for (const [left, right] of across) {
        const places: number[] = [];
        for (let y = top; y < bottom; y++)
          for (let x = left; x < right; x++) places.push((image * height + y) * width + x);
        found.push(places);
      }
  }
  const most = found.reduce((m, { length }) => Math.max(m, length), 1),
    on = <D extends string>(dtype: D) => ({ dtype, device: input.device }) as never,
    // a cell with fewer pixels has its first again and again, which changes neither the largest nor which is first
    places = found.flatMap((list) => Array.from({ length: most }, (_, i) => list[i] ?? list[0] ?? 0)),
    empty = tensor(
      found.map(({ length }) => length === 0),
      on("bool"),
    ),
    at = tensor(places, on("int64")),
    pixels = views.reshape(views.permute(input, [0, 2, 3, 1]), [n * height * width, channels]),
    apart = views.reshape(torch.index_select(pixels, 0, at) as Tensor, [found.length, most, channels]),
    { values, indices } = torch.max(apart, 1) as unknown as { values: Tensor; indices: Tensor },
    where = torch.gather(
      views.reshape(torch.remainder(at, height * width) as Tensor, [found.length, most]),
      1,
      indices,
    ) as Tensor,
    laid = (x: Tensor, none: number): Tensor =>
      views
        .permute(
          views.reshape(torch.masked_fill(x, views.unsqueeze(empty, 1), none) as Tensor, [
            count,
            rows,
            columns,
            channels,
          ]),
          [0, 3, 1, 2],
        )
        .contiguous();
  return [laid(values, 0), laid(where, -1)];
}
