// ONNX's operators that pick elements by place, or put them there.

import { OpError } from "../../base/errors.js";
import { contiguousStrides, numelOf } from "../../base/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import { here } from "../../exchange/waiting.js";
import { type Compute, type Table, axisOf, range, reading } from "./definition.js";
import { T, cast, create, views } from "./library.js";
import { fromBest, suppress } from "../../vision/suppress.js";
import { apart, brought, isFixed, number, numbers, integers } from "../values.js";

/** Places on x's device, counted from the first. */
function places(at: Tensor, n: number, x: Tensor, op: string): Tensor {
  if (isFixed(at)) {
    const values = numbers(at, op),
      from = values.some((i) => i < 0)
        ? apart(() =>
            integers(
              values.map((i) => (i < 0 ? i + n : i)),
              at.shape,
            ),
          )
        : cast(at, "int64");
    return brought(from, x.device);
  }
  return counted(brought(at, x.device), n);
}
/** Those below zero count from the end. */
const counted = (at: Tensor, n: number): Tensor => {
  const wide = cast(at, "int64");
  return T.where(T.lt(wide, 0), T.add(wide, n), wide) as Tensor;
};

/** On the device of the places, where only those are on a GPU. */
const beside = (x: Tensor, at: Tensor): Tensor =>
  x.device === "cpu" && at.device !== "cpu" ? brought(x, at.device) : x;

const gather: Compute = ([table, at], { axis: given = 0 }, { op }) => {
  const x = beside(table, at),
    axis = axisOf(given, x.ndim),
    rows = places(at, x.shape[axis]!, x, op);
  if (at.ndim === 0) return views.squeeze(T.index_select(x, axis, views.reshape(rows, [1])), axis);
  const picked = T.index_select(x, axis, views.reshape(rows, [-1]));
  return views.reshape(picked, [...x.shape.slice(0, axis), ...at.shape, ...x.shape.slice(axis + 1)]);
};

/** Places within the first axes of `shape` as one number each; the last axis of `at` has one for every axis. */
function flatPlaces(at: Tensor, shape: readonly number[]): Tensor {
  const strides = contiguousStrides(shape),
    parts = shape.map((n, i) => T.mul(counted(views.select(at, -1, i), n), strides[i]));
  return parts.length > 0
    ? (parts.reduce((a, b) => T.add(a, b) as Tensor) as Tensor)
    : create.zeros(at.shape.slice(0, -1), { dtype: "int64", device: at.device });
}

const gatherND: Compute = ([x, at], { batch_dims: b = 0 }) => {
  const m = at.shape.at(-1) as number,
    inner = x.shape.slice(b, b + m) as number[],
    rest = x.shape.slice(b + m) as number[],
    batch = numelOf(x.shape.slice(0, b)),
    each = numelOf(inner),
    rows = views.reshape(x, [batch * each, ...rest]),
    flat = views.reshape(flatPlaces(at, inner), [batch, -1]),
    starts = views.reshape(T.mul(create.arange(0, batch, 1, { dtype: "int64", device: x.device }), each), [batch, 1]),
    found = T.index_select(rows, 0, views.reshape(T.add(flat, starts), [-1]));
  return views.reshape(found, [...at.shape.slice(0, -1), ...rest]);
};

const REDUCTIONS: Readonly<Record<string, string>> = { add: "sum", mul: "prod", max: "amax", min: "amin" };
function scattered(x: Tensor, axis: number, at: Tensor, updates: Tensor, reduction: string): Tensor {
  if (reduction === "none") return T.scatter(x, axis, at, updates) as Tensor;
  const by = REDUCTIONS[reduction];
  if (!by) throw new OpError(`there is no reduction ${reduction}`);
  return T.scatter_reduce(x, axis, at, updates, by) as Tensor;
}

const scatterElements: Compute = ([x, at, updates], { axis = 0, reduction = "none" }) => {
  const along = axisOf(axis, x.ndim);
  return scattered(x, along, counted(at, x.shape[along]), updates, reduction);
};

const scatterND: Compute = ([x, at, updates], { reduction = "none" }) => {
  const m = at.shape.at(-1) as number,
    inner = x.shape.slice(0, m) as number[],
    each = numelOf(x.shape.slice(m)),
    rows = views.reshape(x, [numelOf(inner), each]),
    flat = views.reshape(flatPlaces(at, inner), [-1, 1]),
    count = flat.shape[0] as number,
    put = scattered(rows, 0, views.expand(flat, [count, each]), views.reshape(updates, [count, each]), reduction);
  return views.reshape(put, x.shape);
};

/** Where `x` is not zero: a list of places for each axis. */
function nonzero(x: Tensor, op: string): number[][] {
  const strides = contiguousStrides(x.shape),
    out: number[][] = x.shape.map(() => []);
  numbers(x, op).forEach((value, i) => {
    if (value !== 0) out.forEach((axis, d) => axis.push(Math.floor(i / strides[d]!) % x.shape[d]!));
  });
  return out;
}

/** The different elements, or slices along an axis: in order, with where each was first and how often. */
const unique: Compute = ([x], { axis, sorted = 1 }, { op }) => {
  const along = axis === undefined ? null : axisOf(axis, x.ndim),
    read = here(x as Tensor),
    rows =
      along === null
        ? views.reshape(read, [-1, 1])
        : views.reshape(views.movedim(read, along, 0), [x.shape[along], -1]),
    values = numbers(rows, op),
    width = rows.shape[1] as number,
    row = (i: number) => values.slice(i * width, (i + 1) * width),
    seen = new Map<string, number>(),
    first: number[] = [],
    counts: number[] = [],
    inverse = range(rows.shape[0]).map((i) => {
      const key = row(i).join();
      let k = seen.get(key);
      if (k === undefined) {
        seen.set(key, (k = first.length));
        first.push(i);
        counts.push(0);
      }
      counts[k]!++;
      return k;
    });
  const order = range(first.length);
  if (sorted)
    order.sort((a, b) => {
      const left = row(first[a]!),
        right = row(first[b]!),
        at = left.findIndex((v, i) => v !== right[i]);
      return at < 0 ? 0 : left[at]! - right[at]!;
    });
  const rank = new Array<number>(order.length);
  order.forEach((k, i) => (rank[k] = i));
  const picked = integers(order.map((k) => first[k]!)),
    source = along === null ? views.reshape(x, [-1]) : x;
  return [
    T.index_select(source, along ?? 0, brought(picked, x.device)),
    picked,
    integers(inverse.map((k) => rank[k]!)),
    integers(order.map((k) => counts[k]!)),
  ];
};

export const INDEXING: Table = {
  Gather: reading([1], gather),
  GatherElements: ([x, at], { axis = 0 }) => {
    const along = axisOf(axis, x.ndim);
    return T.gather(x, along, counted(at, x.shape[along]));
  },
  GatherND: gatherND,
  Scatter: scatterElements,
  ScatterElements: scatterElements,
  ScatterND: scatterND,
  TensorScatter: ([cache, update, first], { mode = "linear", axis = -2 }) => {
    const along = axisOf(axis, cache.ndim),
      n = update.shape[along] as number,
      most = cache.shape[along] as number,
      form = (at: number, size: number) => range(cache.ndim).map((i) => (i === at ? size : 1)),
      steps = views.reshape(create.arange(0, n, 1, { dtype: "int64", device: cache.device }), form(along, n)),
      starts = first ? views.reshape(cast(first, "int64"), form(0, cache.shape[0])) : 0,
      at = T.add(steps, starts);
    return T.scatter(
      cache,
      along,
      views.expand(mode === "circular" ? T.remainder(at, most) : at, update.shape),
      update,
    );
  },
  OneHot: reading([1], ([at, depth, values], { axis: given = -1 }, { op }) => {
    const n = number(depth, op),
      axis = axisOf(given, at.ndim + 1),
      classes = views.reshape(
        create.arange(0, n, 1, { dtype: "int64", device: at.device }),
        range(at.ndim + 1).map((i) => (i === axis ? n : 1)),
      ),
      hot = T.eq(views.unsqueeze(counted(at, n), axis), classes);
    return T.where(hot, views.select(values, 0, 1), views.select(values, 0, 0));
  }),
  Compress: reading([1], ([x, condition], { axis }, { op }) => {
    const kept = numbers(condition, op).flatMap((keep, i) => (keep ? [i] : [])),
      source = axis === undefined ? views.reshape(x, [-1]) : x;
    return T.index_select(source, axis ?? 0, brought(integers(kept), x.device));
  }),
  NonZero: ([x], _, { op }) => {
    const found = nonzero(x, op);
    return integers(found.flat(), [x.ndim, found[0]?.length ?? 0]);
  },
  Unique: unique,
  NonMaxSuppression: reading([0, 1, 2, 3, 4], (inputs, { center_point_box = 0 }, { op }) => {
    const [places, scores, most, overlap, least] = inputs as (Tensor | null)[],
      corners = numbers(places, op),
      values = numbers(scores, op),
      [batches, classes, n] = scores!.shape as [number, number, number],
      limit = most ? number(most, op) : 0,
      threshold = overlap ? number(overlap, op) : 0,
      enough = least ? number(least, op) : -Infinity,
      out: number[] = [];
    for (let b = 0; b < batches; b++) {
      // (top, left, bottom, right), of which files may have opposite ones exchanged
      const boxes = range(n).flatMap((i) => {
        const [p, q, r, s] = corners.slice((b * n + i) * 4, (b * n + i) * 4 + 4) as [number, number, number, number];
        return center_point_box
          ? [q - s / 2, p - r / 2, q + s / 2, p + r / 2]
          : [Math.min(p, r), Math.min(q, s), Math.max(p, r), Math.max(q, s)];
      });
      for (let c = 0; c < classes; c++) {
        const mine = values.slice((b * classes + c) * n, (b * classes + c + 1) * n),
          order = fromBest(mine, (score) => score > enough);
        for (const i of suppress(boxes, order, threshold, { most: limit })) out.push(b, c, i);
      }
    }
    return integers(out, [out.length / 3, 3]);
  }),
};
