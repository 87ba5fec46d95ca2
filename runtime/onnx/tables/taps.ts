// Which elements of an axis make each element of a resized one, and with which weights.

import { OpError } from "../../base/errors.js";
import { range } from "./definition.js";

export interface Resizing {
  readonly mode: string;
  /** How places of the result become places of the image. */
  readonly coordinates: string;
  readonly nearest: string;
  readonly cubic: number;
  readonly antialias: boolean;
  /** Whether what lies outside the image counts for nothing. */
  readonly exclude: boolean;
}

/** For the k-th tap of each element, its place and weight; weights are null where they are all 1. */
export interface Taps {
  readonly places: readonly (readonly number[])[];
  readonly weights: readonly (readonly number[])[] | null;
  /** Which elements lie outside, and have a value of their own. */
  readonly outside: readonly boolean[];
}

/** Where the `i`-th element of the result lies in the image. */
function origin(
  i: number,
  n: number,
  size: number,
  scale: number,
  coordinates: string,
  region: readonly number[] | null,
): number {
  const length = scale * n;
  switch (coordinates) {
    // Of the length that it becomes, as the standard says and PyTorch means it; of what the factor makes of it where that
    // is less, as the standard's own tests have it.
    case "align_corners": {
      const last = (scale < 1 ? length : size) - 1;
      return last === 0 ? 0 : (i * (n - 1)) / last;
    }
    case "asymmetric":
      return i / scale;
    case "pytorch_half_pixel":
      return length === 1 ? -0.5 : (i + 0.5) / scale - 0.5;
    case "half_pixel":
      return (i + 0.5) / scale - 0.5;
    case "half_pixel_symmetric":
      return (n / 2) * (1 - size / length) + (i + 0.5) / scale - 0.5;
    case "tf_crop_and_resize": {
      const [from, to] = region ?? [0, 1],
        inner = length === 1 ? ((to! - from!) * (n - 1)) / 2 : (i * (to! - from!) * (n - 1)) / (length - 1);
      return inner + from! * (n - 1);
    }
    default:
      throw new OpError(`Resize: the coordinates ${coordinates} are not known`);
  }
}

const ROUND: Readonly<Record<string, (ratio: number) => number>> = {
  round_prefer_floor: (ratio) => (ratio <= 0.5 ? 0 : 1),
  round_prefer_ceil: (ratio) => (ratio < 0.5 ? 0 : 1),
  floor: () => 0,
  ceil: (ratio) => (ratio > 0 ? 1 : 0),
};

/** The kernel of bicubic interpolation. */
function cubic(distance: number, a: number): number {
  const x = Math.abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}
const linear = (distance: number): number => Math.max(0, 1 - Math.abs(distance));

export function tapsOf(n: number, size: number, scale: number, way: Resizing, region: readonly number[] | null): Taps {
  const at = range(size).map((i) => origin(i, n, size, scale, way.coordinates, region)),
    outside = at.map((x) => way.coordinates === "tf_crop_and_resize" && (x < 0 || x > n - 1)),
    within = (i: number) => Math.max(0, Math.min(n - 1, i));
  if (way.mode === "nearest") {
    const round = Object.hasOwn(ROUND, way.nearest) ? ROUND[way.nearest]! : null;
    if (!round) throw new OpError(`Resize: the rounding ${way.nearest} is not known`);
    return { places: [at.map((x) => within(Math.floor(x) + round(x - Math.floor(x))))], weights: null, outside };
  }
  const shrink = way.antialias ? Math.min(scale, 1) : 1,
    reach = way.mode === "cubic" ? 2 : 1,
    kernel = way.mode === "cubic" ? (x: number) => cubic(x, way.cubic) : linear,
    first = Math.floor(-reach / shrink) + 1,
    steps = range(2 - 2 * first).map((k) => k + first),
    rows = at.map((x) => {
      const base = Math.floor(x),
        weights = steps.map((k) =>
          way.exclude && (base + k < 0 || base + k >= n) ? 0 : kernel(shrink * (base + k - x)),
        ),
        sum = way.exclude || way.antialias ? weights.reduce((a, b) => a + b, 0) : 1;
      return weights.map((w) => w / sum);
    });
  return {
    places: steps.map((k) => at.map((x) => within(Math.floor(x) + k))),
    weights: steps.map((_, k) => rows.map((row) => row[k]!)),
    outside,
  };
}
