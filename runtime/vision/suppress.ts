// Which boxes of a detector stay: of those that overlap the one with the best score.  How many that are their values
// decide, so they are numbers here.

/** Overlaps are computed as PyTorch does in the boxes' type: `Math.fround`, or nothing for doubles. */
export type Rounding = (x: number) => number;

/** Places from the best score on, equal ones as they stand; NaN is better than all numbers, as PyTorch sorts. */
export function fromBest(scores: ArrayLike<number>, enough: (score: number) => boolean = () => true): number[] {
  const rank = (x: number): number => (Number.isNaN(x) ? Infinity : x);
  return Array.from(scores, (_, i) => i)
    .filter((i) => enough(scores[i]!))
    .sort((i, j) => {
      const [a, b] = [scores[i]!, scores[j]!];
      if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? -1 : 1;
      return rank(a) === rank(b) ? i - j : rank(b) - rank(a);
    });
}

/**
 * Of the boxes `order`, whose corners are `corners[4 * i]` to `corners[4 * i + 3]` (low, low, high, high), those that share no
 * more than `threshold` of what both cover with each kept before; at most `most`.
 */
export function suppress(
  corners: ArrayLike<number>,
  order: readonly number[],
  threshold: number,
  { most = Infinity, round = Math.fround }: { readonly most?: number; readonly round?: Rounding } = {},
): number[] {
  const kept: number[] = [],
    at = (i: number, k: number): number => corners[4 * i + k]!,
    area = (i: number): number => round(round(at(i, 2) - at(i, 0)) * round(at(i, 3) - at(i, 1))),
    areas = new Map(order.map((i) => [i, area(i)]));
  const covered = (i: number, j: number): boolean => {
    const width = round(Math.min(at(i, 2), at(j, 2)) - Math.max(at(i, 0), at(j, 0))),
      height = round(Math.min(at(i, 3), at(j, 3)) - Math.max(at(i, 1), at(j, 1)));
    // a share of nothing is NaN, and no more than any threshold
    const both = round(Math.max(0, width) * Math.max(0, height)),
      either = round(round(areas.get(j)! + areas.get(i)!) - both);
    return round(both / either) > threshold;
  };
  for (const i of order) {
    if (kept.length >= most) break;
    if (!kept.some((j) => covered(i, j))) kept.push(i);
  }
  return kept;
}
