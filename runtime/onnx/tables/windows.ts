// How convolutions and pools lie over an image: strides, borders, and how many results each axis has.

import type { Tensor } from "../../tensor/tensor.js";
import { range } from "./definition.js";
import { scattering } from "./library.js";

export interface Windows {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** Borders before and after each axis; `more`: what a last window that is not full needs beyond. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly more: readonly number[];
  /** How many windows each axis has. */
  readonly counts: readonly number[];
}

interface Given {
  auto_pad?: string;
  strides?: number[];
  dilations?: number[];
  pads?: number[];
  ceil_mode?: number;
}

export function windowsOf(sizes: readonly number[], kernel: readonly number[], given: Given): Windows {
  const strides = given.strides ?? kernel.map(() => 1),
    dilations = given.dilations ?? kernel.map(() => 1),
    reach = kernel.map((k, i) => (k - 1) * dilations[i]! + 1),
    auto = given.auto_pad ?? "NOTSET",
    before: number[] = [],
    after: number[] = [],
    more: number[] = [],
    counts: number[] = [];
  sizes.forEach((n, i) => {
    const stride = strides[i]!;
    let [first, last] = auto === "NOTSET" && given.pads ? [given.pads[i]!, given.pads[i + kernel.length]!] : [0, 0];
    if (auto === "SAME_UPPER" || auto === "SAME_LOWER") {
      const total = Math.max(0, (Math.ceil(n / stride) - 1) * stride + reach[i]! - n),
        half = Math.floor(total / 2);
      [first, last] = auto === "SAME_UPPER" ? [half, total - half] : [total - half, half];
    }
    const room = n + first + last - reach[i]!;
    let count = Math.floor(room / stride) + 1;
    // a window that would begin in the border behind is none
    if (given.ceil_mode && room % stride !== 0 && count * stride < n + first) count++;
    before.push(first);
    after.push(last);
    counts.push(count);
    more.push(Math.max(0, (count - 1) * stride - room));
  });
  return { kernel, strides, dilations, before, after, more, counts };
}

/** Whether a border is the same on both sides and nothing is missing, so that the library's own padding will do. */
export const isEven = ({ before, after, more }: Windows): boolean =>
  before.every((n, i) => n === after[i] && more[i] === 0);

/** The image with borders of `value`; those of `more` are of `beyond`. */
export function bordered(x: Tensor, windows: Windows, value: number, beyond = value): Tensor {
  const pairs = (last: (axis: number) => number, first: (axis: number) => number) =>
      range(windows.kernel.length)
        .reverse()
        .flatMap((axis) => [first(axis), last(axis)]),
    { before, after, more } = windows;
  const within = scattering.constant_pad_nd(
    x,
    pairs(
      (i) => after[i]! + (value === beyond ? more[i]! : 0),
      (i) => before[i]!,
    ),
    value,
  ) as Tensor;
  return value === beyond
    ? within
    : (scattering.constant_pad_nd(
        within,
        pairs(
          (i) => more[i]!,
          () => 0,
        ),
        beyond,
      ) as Tensor);
}
