// Histograms over several axes.

import { run } from "../dispatch/call.js";
import * as copying from "../views/transfer.js";
import { arange, ones } from "../creation/create.js";
import { OpError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { numelOf } from "../base/shape.js";
import { check } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { counts_betweenOp } from "../../ops/search.js";
import { add, div, eq, ge, histogram, le, logical_and, mul, searchsorted, sub, sum, where } from "../../names/torch.js";
import * as views from "../views/views.js";

export interface HistogramddOptions {
  range?: readonly number[] | null;
  weight?: Tensor | null;
  density?: boolean;
}

/** The edges of `bins` equal parts of what lies between two numbers, or of the range of the data. */
function edgesOf(x: Tensor, bins: number, low: number | null, high: number | null): Tensor {
  if (!(Number.isInteger(bins) && bins > 0))
    throw new OpError(
      `histogramdd: torch.histogramdd(): bins must be > 0, but got ${describe(bins).replace(/^number /, "")}`,
    );
  if (low === null || high === null) return histogram(x, bins).bin_edges;
  const parts = div(arange(bins + 1, { dtype: x.dtype, device: x.device }), bins) as Tensor;
  const width = low === high ? 1 : high - low,
    from = low === high ? low - 0.5 : low;
  return add(mul(parts, width), from) as Tensor;
}

/**
 * How many rows of `input`, or how much `weight`, fall into each box of a grid, and the grid's edges along each column.
 * `bins`: how many parts each column's range has, or their edges; `range`: two numbers for each column.
 *
 * @param input float tensor [*, coordinates]: the points
 * @param weight tensor of the shape of `input` but its last axis: how much each point counts; 1 unless given
 * @param density divides by the sum and by the sizes of the boxes, so that the whole has volume 1; false unless
 *   given
 *
 * @example
 * const points = torch.tensor([[0, 1], [1, 0], [2, 1], [2, 2]]);
 * torch.histogramdd(points, [2, 2])  // [[[0, 1], [1, 2]], [[0, 1, 2], [0, 1, 2]]]
 */
export function histogramdd(
  input: Tensor,
  bins: number | readonly number[] | readonly Tensor[],
  options?: HistogramddOptions,
): [Tensor, Tensor[]];
export function histogramdd(...args: unknown[]): [Tensor, Tensor[]] {
  const [x, bins, range, weight, density] = taken("histogramdd input bins range? weight? density?", args);
  check(x, "histogramdd", "input");
  if (x.ndim < 2) throw new OpError("histogramdd: torch.histogramdd(): input tensor should have at least 2 dimensions");
  const columns = x.shape[x.ndim - 1]!,
    rows = numelOf(x.shape.slice(0, -1)),
    points = views.reshape(x, [rows, columns]);
  const list = (Array.isArray(bins) ? bins : new Array<unknown>(columns).fill(bins)) as (number | Tensor)[];
  if (list.length !== columns)
    throw new OpError(
      `histogramdd: torch.histogramdd(): expected ${columns} sequences of bin edges for a ${columns}-dimensional histogram but got ${list.length}`,
    );
  const limits = (range ?? null) as readonly number[] | null;
  if (limits && limits.length !== 2 * columns)
    throw new OpError(
      `histogramdd: torch.histogramdd(): for a ${columns}-dimensional histogram range should have ${2 * columns} elements, but got ${limits.length}`,
    );
  const column = (d: number) => views.select(points, 1, d).contiguous();
  const edges = list.map((b, d) =>
    b instanceof Tensor ? b : edgesOf(column(d), b, limits ? limits[2 * d]! : null, limits ? limits[2 * d + 1]! : null),
  );
  const counts = edges.map((e) => e.shape[0]! - 1);
  // Every row's box, all counted in one row of boxes; one more holds what lies outside.
  const all = numelOf(counts);
  let place: Tensor | null = null,
    inside: Tensor | null = null;
  edges.forEach((e, d) => {
    const values = column(d),
      n = counts[d]!,
      above = searchsorted(e, values, { right: true }) as Tensor;
    const own = where(eq(values, views.select(e, 0, n)), n - 1, sub(above, 1)) as Tensor;
    // Edges that do not rise have nothing between them.
    const within = logical_and(ge(values, views.select(e, 0, 0)), le(values, views.select(e, 0, n))) as Tensor;
    place = place === null ? own : (add(mul(place, n), own) as Tensor);
    inside = inside === null ? within : (logical_and(inside, within) as Tensor);
  });
  const box = where(inside!, place!, all) as Tensor,
    boxes = arange(all + 2, { dtype: x.dtype, device: x.device });
  const amounts =
    weight instanceof Tensor ? views.reshape(weight, [-1]) : ones([rows], { dtype: x.dtype, device: x.device });
  if (amounts.shape[0] !== rows)
    throw new OpError(
      `histogramdd: torch.histogramdd(): if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got ${amounts.shape[0]} weights for ${rows} rows`,
    );
  let hist = views.reshape(
    views.narrow(run(counts_betweenOp, [copying.to(box, [x.dtype]), amounts, boxes]) as Tensor, 0, 0, all),
    counts,
  );
  if (density === true) {
    hist = div(hist, sum(hist)) as Tensor;
    edges.forEach((e, d) => {
      const lengths = sub(views.narrow(e, 0, 1, counts[d]!), views.narrow(e, 0, 0, counts[d]!)) as Tensor;
      hist = div(
        hist,
        views.reshape(
          lengths,
          counts.map((_, i) => (i === d ? -1 : 1)),
        ),
      ) as Tensor;
    });
  }
  return [hist, edges];
}
