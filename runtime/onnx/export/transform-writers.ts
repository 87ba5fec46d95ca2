// Discrete Fourier transforms as ONNX's DFT.  What is a pair here, a last axis of length 2, is one there, too.

import type { OpCall, Writer } from "./op-writers.js";
import { FLOAT, INT64, type Value, numel } from "./model.js";

/** Numbers as (before, along the axis, behind, 2). */
function rowsOf(c: OpCall): Value {
  const x = c.input("input")!,
    at = c.call.packs["A"]!.length;
  return c.g.reshape(x, [numel(x.shape.slice(0, at)), x.shape[at]!, numel(x.shape.slice(at + 1, -1)), 2]);
}

/** `scale` times the sums along the second of four axes, cut or filled up with zeros to `n`. */
function transformed({ g, call: { env } }: OpCall, rows: Value): Value {
  const n = env["n"]!,
    shape = [rows.shape[0]!, n, rows.shape[2]!, 2],
    inverse = env["inverse"]!,
    length = g.number(n, INT64),
    // the axis was an attribute once
    made =
      g.opset < 20
        ? g.op("DFT", [rows, length], shape, rows.type, { axis: 1, inverse })
        : g.op("DFT", [rows, length, g.number(1, INT64)], shape, rows.type, { inverse }),
    // the inverse there is divided by n
    factor = env["scale"]! * (inverse ? n : 1);
  return factor === 1 ? made : g.each("Mul", [made, g.number(factor, rows.type)], rows.type);
}

const complex: Writer = (c) => {
  if (c.input("input")!.type !== FLOAT) return false;
  const made = transformed(c, rowsOf(c)),
    n = c.call.env["n"]!;
  c.output("out", c.call.env["half"] ? c.g.slice(made, 1, 0, Math.floor(n / 2) + 1) : made);
  return true;
};

/** Of half of a row whose other half mirrors it: what is mirrored counts twice, and the result is real. */
const real: Writer = (c) => {
  const { g } = c,
    rows = rowsOf(c),
    n = c.call.env["n"]!;
  if (rows.type !== FLOAT) return false;
  const size = rows.shape[1]!,
    counts = Array.from({ length: size }, (_, k) => (2 * k > n ? 0 : k === 0 || 2 * k === n ? 1 : 2)),
    whole = g.each("Mul", [rows, g.constant(counts, [size, 1, 1], FLOAT)]);
  c.output("out", g.slice(transformed(c, whole), 3, 0, 1));
  return true;
};

export const TRANSFORMS: readonly (readonly [op: string, Writer])[] = [
  ["fft_along", complex],
  ["fft_real_along", real],
];
