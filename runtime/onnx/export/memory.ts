// The memory of a captured program's values as values of an ONNX graph: steps see it through strides, which ONNX has
// not.  What strides say becomes a reshape, slices and a transposition; where they say something else, a table of places.

import { type GraphBuilder, INT64, type Value, numel } from "./model.js";

/** What a step sees of a block of memory. */
export interface Strides {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

/** A grid over memory in which a view is a box: the grid's sizes, where the box begins and how long it is along each axis,
 *  and which axis of the view each is; -1 for what is none. */
interface Box {
  readonly grid: readonly number[];
  readonly from: readonly number[];
  readonly sizes: readonly number[];
  readonly axes: readonly number[];
}

/** The grid of a view; null where it is a box in none. */
export function boxOf(length: number, { shape, strides, offset }: Strides): Box | null {
  const axes = shape.map((_, d) => d).filter((d) => shape[d]! > 1 && strides[d] !== 0),
    grid: number[] = [],
    from: number[] = [],
    sizes: number[] = [];
  axes.sort((a, b) => strides[b]! - strides[a]!);
  let left = offset,
    above = length;
  for (const d of axes) {
    const stride = strides[d]!;
    if (stride < 0 || above % stride !== 0) return null;
    const count = above / stride,
      at = Math.floor(left / stride);
    if (at + shape[d]! > count) return null;
    grid.push(count);
    from.push(at);
    sizes.push(shape[d]!);
    left -= at * stride;
    above = stride;
  }
  if (above > 1) {
    if (left >= above) return null;
    grid.push(above);
    from.push(left);
    sizes.push(1);
    axes.push(-1);
  }
  return { grid, from, sizes, axes };
}

/** The places that a view sees, in its order; `all`: axes of stride 0 at their length, not at 1. */
export function placesOf({ shape, strides, offset }: Strides, all = false): { places: number[]; shape: number[] } {
  const seen = shape.map((size, d) => (strides[d] === 0 && !all ? 1 : size));
  let places = [offset];
  seen.forEach((size, d) => {
    const stride = strides[d]!;
    places = places.flatMap((at) => Array.from({ length: size }, (_, i) => at + i * stride));
  });
  return { places, shape: seen };
}

/** The elements that a view sees; axes of stride 0 have the length 1. */
export function seen(g: GraphBuilder, x: Value, view: Strides): Value {
  const shape = view.shape.map((size, d) => (view.strides[d] === 0 && size > 1 ? 1 : size));
  if (shape.includes(0)) return g.op("Expand", [g.cast(g.number(0, INT64), x.type), g.sizes(shape)], shape);
  const length = numel(x.shape),
    box = boxOf(length, view);
  if (!box) {
    const { places } = placesOf({ ...view, shape });
    return g.op("Gather", [g.reshape(x, [length]), g.constant(places, shape, INT64)], shape);
  }
  let out = g.reshape(x, box.grid);
  box.from.forEach((at, d) => {
    out = g.slice(out, d, at, at + box.sizes[d]!);
  });
  const inner = box.axes.filter((d) => d >= 0);
  if (inner.length < box.axes.length) out = g.reshape(out, box.sizes.slice(0, inner.length));
  const order = [...inner].sort((a, b) => a - b);
  return g.reshape(
    g.transpose(
      out,
      order.map((d) => inner.indexOf(d)),
    ),
    shape,
  );
}

/** A part of a grid of three axes, of which the second is filled piece by piece. */
interface Piece {
  readonly grid: readonly [number, number, number];
  readonly from: number;
  readonly to: number;
  readonly value: Value;
}

/** A block of memory, as steps fill it. */
export class Memory {
  private pieces: Piece[] = [];

  constructor(
    private readonly g: GraphBuilder,
    readonly length: number,
    readonly type: number,
    private value: Value | null = null,
  ) {}

  /** All elements, in a shape of whoever wrote them. */
  all(): Value {
    this.settle();
    return (this.value ??= this.zeros());
  }

  get empty(): boolean {
    return !this.value && this.pieces.length === 0;
  }

  private zeros(): Value {
    return this.g.expand(this.g.cast(this.g.number(0, INT64), this.type), [this.length]);
  }

  /** Puts elements, which have the view's shape, where the view is. */
  put(view: Strides, given: Value): void {
    const { g } = this,
      value = g.cast(given, this.type),
      box = boxOf(this.length, view);
    if (view.shape.includes(0)) return;
    if (!box || view.strides.some((stride, d) => stride === 0 && view.shape[d]! > 1)) {
      const { places, shape } = placesOf(view, true);
      this.scatter(g.constant(places, [places.length], INT64), g.reshape(g.expand(value, shape), [places.length]));
      return;
    }
    const inner = box.axes.filter((d) => d >= 0),
      rest = view.shape.map((_, d) => d).filter((d) => !inner.includes(d)),
      ordered = g.transpose(value, [...inner, ...rest]),
      partial = box.grid.map((_, d) => d).filter((d) => box.sizes[d] !== box.grid[d]);
    if (partial.length === 0) {
      this.pieces = [];
      // in the order of memory, with the axes of length 1 where they can be
      this.value = inner.every((d, i) => i === 0 || d > inner[i - 1]!) ? value : g.reshape(ordered, box.grid);
      return;
    }
    if (partial.length > 1) {
      const { places } = placesOf(view);
      this.scatter(g.constant(places, [places.length], INT64), g.reshape(value, [places.length]));
      return;
    }
    const at = partial[0]!,
      grid = [numel(box.grid.slice(0, at)), box.grid[at]!, numel(box.grid.slice(at + 1))] as const,
      from = box.from[at]!,
      to = from + box.sizes[at]!;
    if (this.pieces.some((p) => p.grid.some((n, d) => n !== grid[d]) || (p.from < to && from < p.to))) this.settle();
    this.pieces.push({ grid, from, to, value: g.reshape(ordered, [grid[0], to - from, grid[2]]) });
  }

  /** Puts elements where a table says; `reduction`: how they join what is there. */
  scatter(places: Value, values: Value, reduction = "none"): void {
    const { g } = this,
      flat = g.reshape(this.all(), [this.length]);
    this.value = g.op("ScatterElements", [flat, places, g.cast(values, this.type)], [this.length], this.type, {
      axis: 0,
      ...(reduction === "none" ? {} : { reduction }),
    });
  }

  set(value: Value): void {
    this.pieces = [];
    this.value = value;
  }

  /** Joins the pieces with what was there between them. */
  private settle(): void {
    const { g, pieces } = this;
    if (pieces.length === 0) return;
    const [outer, count, inner] = pieces[0]!.grid,
      sorted = [...pieces].sort((a, b) => a.from - b.from),
      parts: Value[] = [];
    this.pieces = [];
    const before = (from: number, to: number): void => {
      if (from === to) return;
      this.value ??= this.zeros();
      parts.push(g.slice(g.reshape(this.value, [outer, count, inner]), 1, from, to));
    };
    let end = 0;
    for (const { from, to, value } of sorted) {
      before(end, from);
      parts.push(value);
      end = to;
    }
    before(end, count);
    this.value = g.concat(parts, 1);
  }
}
