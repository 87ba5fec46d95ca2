// ONNX's operators that only say anew how elements lie, or make tensors of sizes.

import { OpError } from "../../base/errors.js";
import { numelOf } from "../../base/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Table, axisOf, drawn, range, reading, sizes } from "./definition.js";
import { cast, create, grids, join, random, scattering, splitting, T, turned, views } from "./library.js";
import { brought, number, numbers, integers } from "../values.js";

/** Axes that are an attribute in old versions, and an input in new ones. */
const axesGiven = (input: Tensor | null | undefined, attribute: number[] | undefined, op: string): number[] | null =>
  input ? numbers(input, op) : (attribute ?? null);

/** x[start:end:step] along one axis, as Python has it. */
function sliced(x: Tensor, axis: number, start: number, end: number, step: number, op: string): Tensor {
  const n = x.shape[axis]!,
    within = (i: number, least: number, most: number) => Math.max(least, Math.min(most, i < 0 ? i + n : i));
  if (step === 0) throw new OpError(`${op}: a step of 0 leads nowhere`);
  if (step > 0) {
    const from = within(start, 0, n),
      length = Math.ceil(Math.max(0, within(end, 0, n) - from) / step);
    return views.sliceAxis(x, axis, length === 0 ? 0 : from, length, step, op) as Tensor;
  }
  const from = within(start, -1, n - 1),
    length = Math.ceil(Math.max(0, from - within(end, -1, n - 1)) / -step);
  // backwards: the axis turned round
  return views.sliceAxis(turned(x, [axis]), axis, length === 0 ? 0 : n - 1 - from, length, -step, op) as Tensor;
}

const slice: Compute = ([x, starts, ends, axes, steps], attributes, { op }) => {
  const from = starts ? numbers(starts, op) : (attributes.starts as number[]),
    to = ends ? numbers(ends, op) : (attributes.ends as number[]),
    along = axesGiven(axes, attributes.axes, op) ?? range(from.length),
    by = steps ? numbers(steps, op) : from.map(() => 1);
  return from.reduce<Tensor>((y, start, i) => sliced(y, axisOf(along[i]!, x.ndim), start, to[i]!, by[i]!, op), x);
};

/** Where each place of a padded axis is read. */
function padPlaces(n: number, before: number, after: number, mode: string): number[] {
  return range(n + before + after).map((i) => {
    let at = i - before;
    if (mode === "edge") return Math.max(0, Math.min(n - 1, at));
    if (mode === "wrap") return ((at % n) + n) % n;
    if (n === 1) return 0;
    const period = 2 * (n - 1);
    at = ((at % period) + period) % period;
    return at < n ? at : period - at;
  });
}

const pad: Compute = ([x, pads, value, axes], attributes, { op }) => {
  const { mode = "constant" } = attributes,
    widths = pads ? numbers(pads, op) : (attributes.pads ?? attributes.paddings),
    along = axes ? numbers(axes, op).map((axis) => axisOf(axis, x.ndim)) : range(x.ndim),
    before = new Array<number>(x.ndim).fill(0),
    after = [...before];
  along.forEach((axis, i) => {
    before[axis] = widths[i];
    after[axis] = widths[i + along.length];
  });
  if (mode === "constant") {
    const pairs = range(x.ndim).flatMap((i) => [before[x.ndim - 1 - i]!, after[x.ndim - 1 - i]!]);
    while (pairs.length > 2 && pairs.at(-1) === 0 && pairs.at(-2) === 0) pairs.length -= 2;
    return scattering.constant_pad_nd(x, pairs, value ? number(value, op) : (attributes.value ?? 0));
  }
  return range(x.ndim).reduce<Tensor>((y, axis) => {
    const [first, last] = [before[axis]!, after[axis]!];
    if (first === 0 && last === 0) return y;
    if (y.shape[axis] === 0) throw new OpError(`${op}: an axis of 0 elements has none to go on with`);
    const at = integers(padPlaces(y.shape[axis]!, first, last, mode));
    return T.index_select(y, axis, brought(at, y.device)) as Tensor;
  }, x);
};

/** The parts of an axis: their sizes, or how many. */
const split: Compute = ([x, parts], attributes, { op, used }) => {
  const axis = axisOf(attributes.axis ?? 0, x.ndim),
    n = x.shape[axis],
    given = parts ? numbers(parts, op) : attributes.split,
    count = attributes.num_outputs ?? used.length,
    each = Math.ceil(n / count),
    lengths = given ?? range(count).map((i) => Math.max(0, Math.min(each, n - i * each)));
  return splitting.split(x, lengths, axis);
};

const depthToSpace: Compute = ([x], { blocksize: b, mode = "DCR" }) => {
  const [n, c, h, w] = x.shape as number[],
    d = c! / (b * b),
    apart = mode === "DCR" ? [n, b, b, d, h, w] : [n, d, b, b, h, w],
    order = mode === "DCR" ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3];
  return views.reshape(views.permute(views.reshape(x, apart), order), [n, d, h! * b, w! * b]);
};
const spaceToDepth: Compute = ([x], { blocksize: b, mode = "DCR" }) => {
  const [n, c, h, w] = x.shape as number[],
    blocks = views.reshape(x, [n, c, h! / b, b, w! / b, b]);
  const order = mode === "DCR" ? [0, 3, 5, 1, 2, 4] : [0, 1, 3, 5, 2, 4];
  return views.reshape(views.permute(blocks, order), [n, c! * b * b, h! / b, w! / b]);
};

export const SHAPES: Table = {
  Shape: sizes(([x], { start = 0, end }) => integers(x.shape.slice(start, end ?? undefined))),
  Size: sizes(([x]) => integers([x.numel()], [])),
  Reshape: reading([1], ([x, shape], attributes, { op }) => {
    const wanted = shape ? numbers(shape, op) : (attributes.shape as number[]);
    return views.reshape(
      x,
      wanted.map((n, i) => (n === 0 && !attributes.allowzero ? (x.shape[i] ?? 0) : n)),
    );
  }),
  Squeeze: reading([1], ([x, axes], attributes, { op }) => {
    const given = axesGiven(axes, attributes.axes, op);
    return given ? views.squeeze(x, given) : views.squeeze(x);
  }),
  Unsqueeze: reading([1], ([x, axes], attributes, { op }) => {
    const given = axesGiven(axes, attributes.axes, op) ?? [],
      rank = x.ndim + given.length,
      at = new Set(given.map((axis) => axisOf(axis, rank))),
      own = [...(x.shape as number[])];
    return views.reshape(
      x,
      range(rank).map((i) => (at.has(i) ? 1 : own.shift()!)),
    );
  }),
  Flatten: ([x], { axis = 1 }) => {
    const rows = numelOf(x.shape.slice(0, axisOf(axis, x.ndim)));
    return views.reshape(x, [rows, numelOf(x.shape.slice(axisOf(axis, x.ndim)))]);
  },
  Transpose: ([x], { perm }) => views.permute(x, perm ?? range(x.ndim).reverse()),
  Concat: (inputs, { axis }) => join.cat(inputs, axis),
  Split: reading([1], split),
  Expand: reading([1], ([x, shape], _, { op }) => {
    const wanted = numbers(shape, op);
    return views.expand(x, grids.broadcast_shapes(x.shape, wanted));
  }),
  Tile: reading([1], ([x, repeats], _, { op }) => join.repeat(x, numbers(repeats, op))),
  Slice: reading([1, 2, 3, 4], slice),
  Pad: reading([1, 2, 3], pad),
  DepthToSpace: depthToSpace,
  SpaceToDepth: spaceToDepth,
  Trilu: reading([1], ([x, k], { upper = 1 }, { op }) => {
    const diagonal = k ? number(k, op) : 0;
    return upper ? T.triu(x, diagonal) : T.tril(x, diagonal);
  }),
  EyeLike: ([x], { dtype, k = 0 }, context) => {
    const [n, m] = x.shape as number[],
      ones = create.full([Math.max(0, Math.min(n! + Math.min(k, 0), m! - Math.max(k, 0)))], 1, {
        dtype: dtype ? context.dtype(dtype) : x.dtype,
        device: x.device,
      }),
      square = scattering.diag(ones, k) as Tensor,
      rows = Math.min(n!, square.shape[0]!),
      cut = views.narrow(views.narrow(square, 0, 0, rows), 1, 0, Math.min(m!, square.shape[1]!)) as Tensor;
    return scattering.constant_pad_nd(cut, [0, m! - cut.shape[1]!, 0, n! - cut.shape[0]!]);
  },
  ConstantOfShape: reading([0], ([shape], { value }, { op, device }) =>
    create.full(numbers(shape, op), value ? number(value, op) : 0, { dtype: value ? value.dtype : "float32", device }),
  ),
  Range: reading([0, 1, 2], ([start, limit, delta], _, { op, device }) => {
    const from = number(start, op),
      step = number(delta, op),
      count = Math.max(0, Math.ceil((number(limit, op) - from) / step));
    if (!Number.isFinite(count)) throw new OpError(`${op}: a step of ${step} reaches no end`);
    const places = create.arange(0, count, 1, { dtype: start.dtype, device });
    return cast(T.add(T.mul(places, step), from) as Tensor, start.dtype);
  }),
  CenterCropPad: reading([1], ([x, shape], { axes }, { op }) => {
    const wanted = numbers(shape, op),
      along = (axes ?? range(x.ndim)) as number[];
    return along.reduce<Tensor>((y, given, i) => {
      const axis = axisOf(given, x.ndim),
        more = wanted[i]! - y.shape[axis]!;
      if (more <= 0) return views.narrow(y, axis, Math.floor(-more / 2), wanted[i]!) as Tensor;
      const pairs = new Array<number>(2 * (x.ndim - axis)).fill(0);
      pairs[pairs.length - 2] = Math.floor(more / 2);
      pairs[pairs.length - 1] = more - Math.floor(more / 2);
      return scattering.constant_pad_nd(y, pairs) as Tensor;
    }, x);
  }),
  ReverseSequence: ([x, lengths], { batch_axis = 1, time_axis = 0 }) => {
    const n = x.shape[time_axis],
      form = (axis: number, size: number) => range(x.ndim).map((i) => (i === axis ? size : 1)),
      steps = views.reshape(create.arange(0, n, 1, { dtype: "int64", device: x.device }), form(time_axis, n)),
      ends = views.reshape(cast(lengths, "int64"), form(batch_axis, x.shape[batch_axis])),
      at = T.where(T.lt(steps, ends), T.sub(T.sub(ends, 1), steps), steps);
    return T.gather(x, time_axis, views.expand(at, x.shape));
  },
  RandomNormal: drawn((_, { mean = 0, scale = 1, shape, dtype = 1 }, context) =>
    T.add(T.mul(random.randn(shape, { dtype: context.dtype(dtype), device: context.device }), scale), mean),
  ),
  RandomUniform: drawn((_, { low = 0, high = 1, shape, dtype = 1 }, context) =>
    T.add(T.mul(random.rand(shape, { dtype: context.dtype(dtype), device: context.device }), high - low), low),
  ),
  RandomNormalLike: drawn(([x], { mean = 0, scale = 1, dtype }, context) =>
    T.add(
      T.mul(random.randn(x.shape, { dtype: dtype ? context.dtype(dtype) : x.dtype, device: x.device }), scale),
      mean,
    ),
  ),
  RandomUniformLike: drawn(([x], { low = 0, high = 1, dtype }, context) =>
    T.add(
      T.mul(random.rand(x.shape, { dtype: dtype ? context.dtype(dtype) : x.dtype, device: x.device }), high - low),
      low,
    ),
  ),
  Bernoulli: drawn(([x], { dtype }, context) => cast(T.bernoulli(x), dtype ? context.dtype(dtype) : x.dtype)),
  Multinomial: drawn(([x], { sample_size = 1, dtype = 6 }, context) =>
    cast(T.multinomial(T.softmax(x, -1), sample_size, true), context.dtype(dtype)),
  ),
};
