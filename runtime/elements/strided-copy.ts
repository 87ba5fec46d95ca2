// Copies between strided layouts of typed arrays, on the host.  Used by the CPU device and to unpack what a GPU
// answered.

import type { Elements } from "../program/compiled-op.js";
import type { Shape } from "../base/shape.js";

export interface Layout {
  readonly elements: Elements;
  readonly strides: Shape;
  readonly offset: number;
}

/** Merges axes that both layouts run over in one go; outermost first, at least one axis. */
function collapse(shape: Shape, a: Shape, b: Shape): [number[], number[], number[]] {
  const sizes: number[] = [],
    as: number[] = [],
    bs: number[] = [];
  for (let i = 0; i < shape.length; i++) {
    const n = shape[i]!;
    if (n === 1) continue;
    const last = sizes.length - 1;
    if (last >= 0 && as[last] === a[i]! * n && bs[last] === b[i]! * n) {
      sizes[last]! *= n;
      as[last] = a[i]!;
      bs[last] = b[i]!;
    } else {
      sizes.push(n);
      as.push(a[i]!);
      bs.push(b[i]!);
    }
  }
  return sizes.length ? [sizes, as, bs] : [[1], [1], [1]];
}

/**
 * Copies every element of `from` to its place in `to`; both have the shape `shape`.
 * `convert`: what becomes of each value; null where the array's own conversion is right.
 */
export function copyStrided(to: Layout, from: Layout, shape: Shape, convert: ((value: number) => number) | null): void {
  if (shape.includes(0)) return;
  const [sizes, ts, fs] = collapse(shape, to.strides, from.strides);
  const last = sizes.length - 1,
    n = sizes[last]!,
    tStep = ts[last]!,
    fStep = fs[last]!;
  const target = to.elements,
    source = from.elements;
  const index = new Array<number>(last).fill(0);
  let t = to.offset,
    f = from.offset;
  for (;;) {
    if (tStep === 1 && fStep === 1 && !convert && target.constructor === source.constructor && n > 16) {
      target.set(source.subarray(f, f + n), t);
    } else if (convert) {
      for (let i = 0, p = t, q = f; i < n; i++, p += tStep, q += fStep) target[p] = convert(source[q]!);
    } else {
      for (let i = 0, p = t, q = f; i < n; i++, p += tStep, q += fStep) target[p] = source[q]!;
    }
    let d = last - 1;
    for (; d >= 0; d--) {
      t += ts[d]!;
      f += fs[d]!;
      if (++index[d]! < sizes[d]!) break;
      t -= ts[d]! * sizes[d]!;
      f -= fs[d]! * sizes[d]!;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}
