// The line search of L-BFGS: a step length that meets the strong Wolfe conditions.  After Nocedal and Wright,
// algorithms 3.5 and 3.6, with PyTorch's cubic interpolation and safeguards.  It knows numbers only; vectors are the
// caller's.

/** The function along the line at step `t`: its value, its slope there, and whatever the caller keeps of it. */
export interface Point<G> {
  t: number;
  f: number;
  slope: number;
  gradient: G;
}

/** Where the cubic through two points with these slopes is least, within bounds. */
export function cubicMinimum(a: Point<unknown>, b: Point<unknown>, bounds?: readonly [number, number]): number {
  const [low, high] = bounds ?? [Math.min(a.t, b.t), Math.max(a.t, b.t)];
  const d1 = a.slope + b.slope - (3 * (a.f - b.f)) / (a.t - b.t),
    square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const d2 = Math.sqrt(square),
    [near, far] = a.t <= b.t ? [a, b] : [b, a];
  const least = far.t - (far.t - near.t) * ((far.slope + d2 - d1) / (far.slope - near.slope + 2 * d2));
  return Math.min(Math.max(least, low), high);
}

const ENOUGH = 1e-4,
  FLAT = 0.9;

/**
 * Searches from `start` (at step 0) with `t` tried first.  `reach`: the largest element of the direction; a bracket
 * that moves no element by more than `tolerance` ends the search, as do `most` evaluations beyond the first.
 */
export async function strongWolfe<G>(
  evaluate: (t: number) => Promise<Point<G>>,
  start: Point<G>,
  t: number,
  reach: number,
  tolerance: number,
  most: number,
): Promise<{ found: Point<G>; evaluations: number }> {
  const tooHigh = (p: Point<G>): boolean => p.f > start.f + ENOUGH * p.t * start.slope;
  const flat = (p: Point<G>): boolean => Math.abs(p.slope) <= -FLAT * start.slope;
  let now = await evaluate(t),
    before = start,
    evaluations = 1,
    rounds = 0;
  let bracket: [Point<G>, Point<G>] | null = null;
  for (; rounds < most; rounds++) {
    if (tooHigh(now) || (rounds > 1 && now.f >= before.f)) bracket = [before, now];
    else if (flat(now)) return { found: now, evaluations };
    else if (now.slope >= 0) bracket = [before, now];
    if (bracket) break;
    const next = cubicMinimum(before, now, [now.t + 0.01 * (now.t - before.t), now.t * 10]);
    before = now;
    now = await evaluate(next);
    evaluations++;
  }
  bracket ??= [start, now];
  let stuck = false,
    low = bracket[0].f <= bracket[1].f ? 0 : 1;
  while (rounds < most) {
    const [a, b] = bracket,
      least = Math.min(a.t, b.t),
      greatest = Math.max(a.t, b.t),
      width = greatest - least;
    if (width * reach < tolerance) break;
    let next = cubicMinimum(a, b);
    // Too near to an end twice, or at it: a tenth of the way inside.
    if (Math.min(greatest - next, next - least) < 0.1 * width) {
      if (stuck || next >= greatest || next <= least) {
        next = Math.abs(next - greatest) < Math.abs(next - least) ? greatest - 0.1 * width : least + 0.1 * width;
        stuck = false;
      } else stuck = true;
    } else stuck = false;
    now = await evaluate(next);
    evaluations++;
    rounds++;
    const high = 1 - low;
    if (tooHigh(now) || now.f >= bracket[low]!.f) {
      bracket[high] = now;
      low = bracket[0].f <= bracket[1].f ? 0 : 1;
      continue;
    }
    const done = flat(now);
    if (!done && now.slope * (bracket[high]!.t - bracket[low]!.t) >= 0) bracket[high] = bracket[low]!;
    bracket[low] = now;
    if (done) break;
  }
  return { found: bracket[low]!, evaluations };
}
