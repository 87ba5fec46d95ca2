// The trapezoidal rule: where the places of the points stand, as one line or broadcast.

import { run } from "../dispatch/call.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { taken } from "../base/named-arguments.js";
import { broadcastShapes, showShape } from "../base/shape.js";
import { Tensor } from "../tensor/tensor.js";
import {
  cumulative_trapezoidOp,
  cumulative_trapezoid_atOp,
  cumulative_trapezoid_lineOp,
  trapezoidOp,
  trapezoid_atOp,
  trapezoid_lineOp,
} from "../../ops/scan.js";
import * as views from "../views/views.js";

export interface AreaOptions {
  x?: Tensor;
  dx?: number;
  dim?: number;
}
type Area = (y: Tensor, x?: Tensor | AreaOptions, options?: AreaOptions) => Tensor;

function area(op: string, even: typeof trapezoidOp, at: typeof trapezoidOp, line: typeof trapezoidOp): Area {
  return (...args: unknown[]) => {
    const [y, x, dx, dim] = taken(`${op} y x? * dx? dim?`, args),
      along = { dim: (dim ?? -1) as number };
    for (const t of [y, x ?? y])
      if (!(t instanceof Tensor)) throw new TypeMismatchError(`${op}: 'y' and 'x' must be tensors, got ${describe(t)}`);
    if (x === undefined || x === null) return run(even, [y, { dx: dx ?? 1, ...along }]) as Tensor;
    const points = y as Tensor,
      places = x as Tensor;
    if (places.ndim === 1 && points.ndim !== 1) return run(line, [points, places, along]) as Tensor;
    const shape = broadcastShapes(points.shape, places.shape);
    if (!shape)
      throw new OpError(`${op}: the shapes ${showShape(points.shape)} and ${showShape(places.shape)} do not broadcast`);
    return run(at, [views.expand(points, shape), views.expand(places, shape), along]) as Tensor;
  };
}

/**
 * The area under the points `y`, at distances `dx` or at the places `x`, by the trapezoidal rule.
 *
 * @param y tensor: the heights, at least two along `dim`
 * @param x tensor: the places of the points, of one axis or of the shape of `y`, default null
 * @param dx how far neighbours are apart
 * @param dim the axis along which the points lie
 *
 * @example
 * torch.trapezoid(torch.tensor([1, 5, 10]))  // 10.5
 * torch.trapezoid(torch.tensor([1, 5, 10]), torch.tensor([0, 1, 3]))  // 18
 */
export const trapezoid = /* @__PURE__ */ area("trapezoid", trapezoidOp, trapezoid_atOp, trapezoid_lineOp);
/**
 * The same as `trapezoid`.
 *
 * @param y tensor: the heights, at least two along `dim`
 * @param x tensor: the places of the points, of one axis or of the shape of `y`, default null
 * @param dx how far neighbours are apart
 * @param dim the axis along which the points lie
 *
 * @example
 * torch.trapz(torch.tensor([1, 5, 10]))  // 10.5
 */
export const trapz = /* @__PURE__ */ area("trapz", trapezoidOp, trapezoid_atOp, trapezoid_lineOp);
/**
 * The area up to each point but the first.
 *
 * @param y tensor: the heights, at least two along `dim`
 * @param x tensor: the places of the points, of one axis or of the shape of `y`, default null
 * @param dx how far neighbours are apart
 * @param dim the axis along which the points lie
 *
 * @example
 * torch.cumulative_trapezoid(torch.tensor([1, 5, 10]))  // [3, 10.5]
 */
export const cumulative_trapezoid = /* @__PURE__ */ area(
  "cumulative_trapezoid",
  cumulative_trapezoidOp,
  cumulative_trapezoid_atOp,
  cumulative_trapezoid_lineOp,
);
