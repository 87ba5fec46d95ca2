// torch.gradient: slopes of sampled functions along axes, by differences of second order.

import * as copying from "../tensor/copy.js";
import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { cat } from "../functions/join.js";
import { taken } from "../base/named-arguments.js";
import { axesOf, integers } from "../base/shape.js";
import { check } from "../tensor/tensor-arguments.js";
import { Tensor } from "../tensor/tensor.js";
import { add, div, mul, sub } from "../../names/torch.js";
import * as views from "../views/views.js";

export interface GradientOptions {
  /** The distance of neighbours, for all axes or for each; or the places of the samples along each. */
  spacing?: number | readonly (number | Tensor)[] | null;
  dim?: number | readonly number[] | null;
  /** 1 or 2: the order of the differences at both ends. */
  edge_order?: number;
}

const plus = (a: Tensor, b: Tensor) => add(a, b) as Tensor,
  minus = (a: Tensor, b: Tensor) => sub(a, b) as Tensor;
const times = (a: Tensor, b: Tensor | number) => mul(a, b) as Tensor,
  over = (a: Tensor, b: Tensor | number) => div(a, b) as Tensor;

function along(x: Tensor, axis: number, spacing: number | Tensor, order: number): Tensor {
  const n = x.shape[axis]!,
    at = (i: number, length = 1) => views.narrow(x, axis, i < 0 ? n + i : i, length);
  if (typeof spacing === "number") {
    const middle = over(minus(at(2, n - 2), at(0, n - 2)), 2 * spacing);
    const first =
      order === 1
        ? over(minus(at(1), at(0)), spacing)
        : over(plus(times(at(0), -3), minus(times(at(1), 4), at(2))), 2 * spacing);
    const last =
      order === 1
        ? over(minus(at(-1), at(-2)), spacing)
        : over(plus(times(at(-1), 3), minus(at(-3), times(at(-2), 4))), 2 * spacing);
    return cat([first, middle, last], axis);
  }
  // The distances of neighbours; h is the one before, k the one after an inner sample.
  const wide = x.shape.map((_, i) => (i === axis ? n - 1 : 1)),
    steps = views.reshape(minus(views.narrow(spacing, 0, 1, n - 1), views.narrow(spacing, 0, 0, n - 1)), wide);
  const step = (i: number, length = 1) => views.narrow(steps, axis, i < 0 ? n - 1 + i : i, length);
  const h = step(0, n - 2),
    k = step(1, n - 2),
    sum = plus(h, k);
  const middle = plus(
    plus(times(at(0, n - 2), over(times(k, -1), times(h, sum))), times(at(1, n - 2), over(minus(k, h), times(h, k)))),
    times(at(2, n - 2), over(h, times(k, sum))),
  );
  const end = (a: number, b: number, c: number, near: Tensor, next: Tensor, sign: number) => {
    if (order === 1) return times(over(minus(at(b), at(a)), near), sign);
    const both = plus(near, next);
    const w0 = over(times(plus(times(near, 2), next), -sign), times(near, both)),
      w1 = over(times(both, sign), times(near, next)),
      w2 = over(times(near, -sign), times(next, both));
    return plus(plus(times(at(a), w0), times(at(b), w1)), times(at(c), w2));
  };
  return cat(
    [
      end(0, 1, order === 1 ? 1 : 2, step(0), order === 1 ? step(0) : step(1), 1),
      middle,
      end(-1, -2, order === 1 ? -2 : -3, step(-1), order === 1 ? step(-1) : step(-2), -1),
    ],
    axis,
  );
}

/**
 * The slope of the samples along each of `dim`, or along all axes: one tensor for each.
 *
 * @param input tensor of any shape: the samples
 * @param dim an axis or several; all unless given
 *
 * @example
 * torch.gradient(torch.tensor([1, 4, 9, 16]))  // [[3, 4, 6, 7]]
 * torch.gradient(torch.tensor([1, 4, 9, 16]), { spacing: 2, edge_order: 2 })  // [[1, 2, 3, 4]]
 */
export function gradient(input: Tensor, options?: GradientOptions): Tensor[];
export function gradient(...args: unknown[]): Tensor[] {
  const [input, spacing, dim, edge_order] = taken("gradient input spacing? dim? edge_order?", args);
  check(input, "gradient", "input");
  const order = (edge_order ?? 1) as number,
    x = input.is_floating_point() || input.dtype === "complex64" ? input : copying.cast(input, "float32", "float");
  if (order !== 1 && order !== 2)
    throw new OpError("gradient: torch.gradient only supports edge_order=1 and edge_order=2.");
  const axes =
    dim === undefined || dim === null
      ? x.shape.map((_, i) => i)
      : axesOf(integers([[dim].flat()], "gradient", "dim"), x.ndim, "gradient");
  const given = (spacing === undefined || spacing === null ? [1] : [spacing].flat()) as (number | Tensor)[];
  const each =
    given.length === 1 && typeof given[0] === "number" && !Array.isArray(spacing) ? axes.map(() => given[0]!) : given;
  if (each.length !== axes.length) {
    throw new OpError(
      `gradient: torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to the number of dimensions given (${axes.length}), but got a list of length ${each.length}`,
    );
  }
  axes.forEach((axis, i) => {
    const n = x.shape[axis]!,
      places = each[i]!;
    if (n < order + 1)
      throw new OpError("gradient: torch.gradient expected each dimension size to be at least edge_order+1");
    if (!(places instanceof Tensor)) {
      if (typeof places !== "number")
        throw new TypeMismatchError(`gradient: 'spacing' must hold numbers or tensors, got ${describe(places)}`);
    } else if (places.ndim !== 1 || places.shape[0] !== n) {
      throw new OpError(
        `gradient: torch.gradient expected each element of spacing to have one dimension with ${n} elements, but got [${places.shape.join(", ")}]`,
      );
    } else if (places.device !== x.device)
      throw new OpError("gradient: torch.gradient expected each tensor to be on the same device");
  });
  return axes.map((axis, i) => along(x, axis, each[i]!, order));
}
