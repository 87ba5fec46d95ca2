// ONNX's sequences, which are lists here, and its optional values, which may be null.

import { IndexError } from "../../base/errors.js";
import { type Steps, finished, settled } from "../../exchange/waiting.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Compute, type Definition, type Table, axisOf, range, asGiven } from "./definition.js";
import { create, join, splitting, views } from "./library.js";
import { apart, brought, fixed, isFixed, number, numbers, integers } from "../values.js";

/** A tensor that stays when the graph gives up the one it is of, with its gradient. */
const held = (x: unknown): unknown => (x instanceof Tensor && !isFixed(x) ? views.view(x, x.shape, "held") : x);

/** Tensors of one device; of fixed ones what is made is fixed, too. */
export function combined(list: readonly Tensor[], device: string, make: (list: Tensor[]) => Tensor): Tensor {
  if (list.every(isFixed))
    return fixed(
      apart(() => make([...list])),
      device,
    ) as Tensor;
  const where = list.find((x) => x.device !== "cpu")?.device ?? "cpu";
  return make(list.map((x) => brought(x, where)));
}

function place(at: unknown, n: number, most: number, op: string): number {
  const given = number(at, op),
    i = given < 0 ? given + n : given;
  if (!(i >= 0 && i <= most)) throw new IndexError(`${op}: a sequence of ${n} has no place ${given}`);
  return i;
}

const truth = (value: boolean, device: string): unknown =>
  fixed(
    apart(() => create.full([], value ? 1 : 0, { dtype: "bool", device: "cpu" })),
    device,
  );

const insert: Compute = ([list, x, at], _, { op }) => {
  const out = [...(list as unknown[])];
  out.splice(at ? place(at, out.length, out.length, op) : out.length, 0, held(x));
  return [out];
};

const splitToSequence: Definition = asGiven(([x, parts], { axis: given = 0, keepdims = 1 }, { op }) => {
  const axis = axisOf(given, x.ndim),
    n = x.shape[axis],
    sizes = parts ? numbers(parts, op) : range(n).map(() => 1),
    each = parts && parts.ndim === 0 ? sizes[0]! : null,
    lengths = each ? range(Math.ceil(n / each)).map((i) => Math.min(each, n - i * each)) : sizes,
    split = splitting.split(x, lengths, axis) as Tensor[];
  return [parts || keepdims ? split : split.map((y) => views.squeeze(y, axis))];
});

/** What a graph gives for each element of a sequence, as a sequence for each of its results. */
function* mapped(
  list: readonly unknown[],
  more: readonly unknown[],
  body: (...values: unknown[]) => unknown[] | Promise<unknown[]>,
): Steps<unknown[][]> {
  const rows: unknown[][] = [];
  for (const [i, x] of list.entries())
    rows.push(yield* settled(body(x, ...more.map((y) => (Array.isArray(y) ? (y as unknown[])[i] : y)))));
  return (rows[0] ?? []).map((_, k) => rows.map((row) => held(row[k])));
}

export const SEQUENCES: Table = {
  SequenceEmpty: asGiven(() => [[]]),
  SequenceConstruct: asGiven((inputs) => [inputs.map(held)]),
  SequenceAt: asGiven(([list, at], _, { op }) => [held(list[place(at, list.length, list.length - 1, op)])]),
  SequenceInsert: asGiven(insert),
  SequenceErase: asGiven(([list, at], _, { op }) => {
    const out = [...(list as unknown[])];
    out.splice(at ? place(at, out.length, out.length - 1, op) : out.length - 1, 1);
    return [out];
  }),
  SequenceLength: asGiven(([list], _, { device }) =>
    fixed(
      apart(() => integers([list.length], [])),
      device,
    ),
  ),
  SplitToSequence: splitToSequence,
  ConcatFromSequence: asGiven(([list], { axis, new_axis = 0 }, { device }) =>
    combined(list, device, (all) => (new_axis ? join.stack(all, axis) : join.cat(all, axis))),
  ),
  SequenceMap: asGiven(([list, ...more], { body }) => finished(mapped(list, more, body))),
  Optional: asGiven(([x]) => [x ?? null]),
  OptionalHasElement: asGiven(([x], _, { device }) => truth(x !== null && x !== undefined, device)),
  OptionalGetElement: asGiven(([x]) => [x]),
};
