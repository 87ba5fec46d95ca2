// Ops that ONNX has an operator for, which is faster or shorter than what their kernels come to.  An op that does not
// stand here is exported by its own formula (kernels.ts), so an op never has to.

import type { Call, Op } from "../../../host/model.js";
import { TRANSFORMS } from "./transform-writers.js";
import { BOOL, FLOAT, type GraphBuilder, INT64, type Value, broadcast, numel } from "./model.js";

/** A call of an op: its tensors as the caller saw them, and its options. */
export interface OpCall {
  readonly g: GraphBuilder;
  readonly op: Op;
  readonly call: Call;
  /** The tensor of a parameter; null: it is not given. */
  input(name: string): Value | null;
  /** Whether an output is wanted, and its shape. */
  shape(name: string): readonly number[];
  output(name: string, value: Value): void;
}

/** Writes the op; false: this call has no operator, and its formula is to be written. */
export type Writer = (c: OpCall) => boolean;

const FLOATING = new Set([FLOAT, 10, 11]);

/** The numbers of an option that has one for each axis of an image. */
const each = ({ call: { env } }: OpCall, name: string, rank: number): number[] =>
  Array.from({ length: rank }, (_, i) => env[`${name}${i}`] ?? env[name]!);

/** An image without a batch gets one. */
const batched = (g: GraphBuilder, x: Value, rank: number): Value =>
  x.shape.length === rank + 2 ? x : g.reshape(x, [1, ...x.shape]);

/** What is added before and behind an image; an option may name it. */
function paddingOf(c: OpCall, kernel: readonly number[]): readonly [before: number[], after: number[]] {
  const option = c.op.params.find(({ name }) => name === "padding")!;
  if (option.kind !== "choice") {
    const all = each(c, "padding", kernel.length);
    return [all, all];
  }
  const dilation = each(c, "dilation", kernel.length),
    same = option.choices[c.call.env["padding"]!] === "same",
    total = kernel.map((size, i) => (same ? dilation[i]! * (size - 1) : 0)),
    before = total.map((n) => Math.floor(n / 2));
  return [before, total.map((n, i) => n - before[i]!)];
}

const convolution =
  (rank: number, transposed: boolean): Writer =>
  (c) => {
    const { g } = c,
      x = c.input("input")!,
      weight = c.input("weight")!,
      image = batched(g, x, rank),
      shape = c.shape("out");
    if (!FLOATING.has(x.type) || numel(shape) === 0 || numel(x.shape) === 0) return false;
    const [before, after] = paddingOf(c, weight.shape.slice(2)),
      made = g.op(
        transposed ? "ConvTranspose" : "Conv",
        [image, weight, c.input("bias")],
        shape.length === rank + 2 ? shape : [1, ...shape],
        x.type,
        {
          strides: each(c, "stride", rank),
          pads: [...before, ...after],
          dilations: each(c, "dilation", rank),
          group: c.call.env["groups"]!,
          ...(transposed ? { output_padding: each(c, "output_padding", rank) } : {}),
        },
      );
    c.output("out", g.reshape(made, shape));
    return true;
  };

const pool =
  (rank: number, kind: string): Writer =>
  (c) => {
    const { g } = c,
      x = c.input("input")!,
      { env } = c.call,
      { output_names } = c.op;
    // with the places of the largest it is another op of that name
    if (output_names.length > 1) return false;
    const shape = c.shape("out"),
      padding = each(c, "padding", rank),
      lead = x.shape.length - rank;
    if (!FLOATING.has(x.type) || env["ceil_mode"] || numel(shape) === 0 || lead < 1) return false;
    if (env["has_divisor_override"]) return false;
    const image = g.reshape(x, [1, numel(x.shape.slice(0, lead)), ...x.shape.slice(lead)]),
      made = g.op(kind, [image], [1, image.shape[1]!, ...shape.slice(lead)], x.type, {
        kernel_shape: each(c, "kernel_size", rank),
        strides: each(c, "stride", rank),
        pads: [...padding, ...padding],
        ...(kind === "MaxPool"
          ? { dilations: each(c, "dilation", rank) }
          : { count_include_pad: env["count_include_pad"]! }),
      });
    c.output("out", g.reshape(made, shape));
    return true;
  };

/** Matrix products: `weight` transposed, and a bias added, where there are. */
const product =
  (a: string, b: string, transposed = false): Writer =>
  (c) => {
    const { g } = c,
      x = c.input(a)!,
      y = c.input(b)!,
      shape = c.shape("out"),
      bias = c.op.params.some(({ name }) => name === "bias") ? c.input("bias") : null;
    if (!FLOATING.has(x.type) || x.type !== y.type || x.shape.length < 2 || y.shape.length < 2) return false;
    const right = transposed ? g.transpose(y, [1, 0]) : y;
    if (transposed && y.shape.length !== 2) return false;
    const made = g.op(
      "MatMul",
      [x, right],
      [...broadcast(x.shape.slice(0, -2), right.shape.slice(0, -2)), x.shape.at(-2)!, right.shape.at(-1)!],
    );
    c.output("out", g.reshape(bias ? g.each("Add", [made, bias]) : made, shape));
    return true;
  };

/** One operator of the first tensor; `attributes`: of the call's numbers. */
const plain =
  (kind: string, attributes: (env: Call["env"]) => Record<string, number | { f: number }> = () => ({})): Writer =>
  (c) => {
    const x = c.input(c.op.params[0]!.name)!;
    if (!FLOATING.has(x.type)) return false;
    c.output("out", c.g.op(kind, [x], x.shape, x.type, attributes(c.call.env)));
    return true;
  };

/** Along the axis `dim`. */
const along =
  (kind: string): Writer =>
  (c) => {
    const x = c.input("input")!,
      { dropped, env } = c.call;
    if (!FLOATING.has(x.type) || x.shape.length === 0 || dropped.length !== 1 || env["has_dtype"]) return false;
    c.output("out", c.g.op(kind, [x], x.shape, x.type, { axis: dropped[0]! }));
    return true;
  };

const layerNorm: Writer = (c) => {
  const { g } = c,
    x = c.input("input")!,
    weight = c.input("weight"),
    count = Object.keys(c.call.packs).includes("N") ? c.call.packs["N"]!.length : 0;
  if (x.type !== FLOAT || count === 0 || !weight) return false;
  c.output(
    "out",
    g.op("LayerNormalization", [x, weight, c.input("bias")], x.shape, x.type, {
      axis: x.shape.length - count,
      epsilon: { f: c.call.env["eps"]! },
    }),
  );
  return true;
};

const batchNorm: Writer = (c) => {
  const { g } = c,
    x = c.input("input")!,
    [mean, variance] = [c.input("running_mean"), c.input("running_var")],
    channels = x.shape[1]!,
    { env } = c.call;
  if (env["training"] || env["use_input_stats"] || x.type !== FLOAT || !mean || !variance) return false;
  const filled = (value: number): Value => g.expand(g.number(value, FLOAT), [channels]);
  c.output(
    "out",
    g.op(
      "BatchNormalization",
      [x, c.input("weight") ?? filled(1), c.input("bias") ?? filled(0), mean, variance],
      x.shape,
      x.type,
      { epsilon: { f: env["eps"]! } },
    ),
  );
  return true;
};

/** Rows in order, or the first of them: what bodies compute here. */
const sorted =
  (values: string | null, indices: string, kept: (env: Call["env"], size: number) => number): Writer =>
  (c) => {
    const { g } = c,
      x = c.input("input")!,
      { env } = c.call,
      rank = x.shape.length;
    if (rank === 0) return false;
    const axis = (env["dim"]! + rank) % rank,
      k = kept(env, x.shape[axis]!),
      shape = x.shape.map((size, d) => (d === axis ? k : size)),
      logical = x.type === 9,
      keys = logical ? g.cast(x, INT64) : x,
      [top, at] = g.ops(
        "TopK",
        [keys, g.sizes([k])],
        [
          { shape, type: keys.type },
          { shape, type: INT64 },
        ],
        { axis, largest: (env["largest"] ?? env["descending"])!, sorted: 1 },
      ) as [Value, Value];
    if (values) c.output(values, g.cast(top, x.type));
    c.output(indices, at);
    return true;
  };
/** How many elements of ascending rows lie before each of the input. */
const places =
  (sequence: string): Writer =>
  (c) => {
    const { g } = c,
      { env } = c.call,
      [rows, x, sorter] = [sequence, "input", "sorter"].map((name) =>
        c.op.params.some((p) => p.name === name) ? c.input(name) : null,
      ),
      shape = c.shape("out");
    if (!rows || !x || sorter || rows.type !== x.type) return false;
    const [n] = rows.shape.slice(-1) as [number],
      lead = rows.shape.slice(0, -1),
      behind = g.each(
        env["right"] || (env["has_side"] && env["side"]) ? "Greater" : "GreaterOrEqual",
        [g.reshape(rows, lead.length > 0 ? [...lead, 1, n] : [n]), g.reshape(x, [...shape, 1])],
        BOOL,
      ),
      before = g.cast(g.each("Not", [behind]), INT64);
    c.output("out", g.op("ReduceSum", [before, g.sizes([shape.length])], shape, INT64, { keepdims: 0 }));
    return true;
  };
const everyElement = (_: Call["env"], size: number): number => size;

const AXES = [1, 2, 3];

/** By the name of the op. */
export const OPERATORS: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  ...AXES.flatMap((rank): [string, Writer][] => [
    [`conv${rank}d`, convolution(rank, false)],
    [`conv_transpose${rank}d`, convolution(rank, true)],
    [`max_pool${rank}d`, pool(rank, "MaxPool")],
    [`avg_pool${rank}d`, pool(rank, "AveragePool")],
  ]),
  ["linear", product("input", "weight", true)],
  ["mm", product("input", "mat2")],
  ["bmm", product("input", "mat2")],
  ["matmul", product("input", "other")],
  ["relu", plain("Relu")],
  ["sigmoid", plain("Sigmoid")],
  ["leaky_relu", plain("LeakyRelu", (env) => ({ alpha: { f: env["negative_slope"]! } }))],
  ["elu", plain("Elu", (env) => ({ alpha: { f: env["alpha"]! } }))],
  ["softsign", plain("Softsign")],
  ["hardswish", plain("HardSwish")],
  ["mish", plain("Mish")],
  ["softmax", along("Softmax")],
  ["log_softmax", along("LogSoftmax")],
  ["layer_norm", layerNorm],
  ["batch_norm", batchNorm],
  ...TRANSFORMS,
  ["sort", sorted("values", "indices", everyElement)],
  ["argsort", sorted(null, "out", everyElement)],
  ["searchsorted", places("sorted_sequence")],
  ["bucketize", places("boundaries")],
  ["topk", sorted("values", "indices", (env) => env["k"]!)],
]);
