// ONNX's branches and loops.

import { OpError } from "../../base/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Steps, completed, finished, settled } from "../../exchange/waiting.js";
import { type Attributes, type Context, type Inputs, type Table, axisOf, range, asGiven } from "./definition.js";
import { create, join, splitting, views } from "./library.js";
import { combined } from "./sequences.js";
import { apart, fixed, number, integers } from "../values.js";

type Body = (...values: unknown[]) => unknown[] | Promise<unknown[]>;

const known = (make: () => Tensor, device: string): unknown => fixed(apart(make), device);

function* loop([most, first, ...initial]: Inputs, { body }: { body: Body }, { op, device }: Context): Steps<unknown[]> {
  const limit = most ? yield* completed(() => number(most, op)) : Infinity,
    kept = initial.length,
    scans: Tensor[][] = [];
  let values: unknown[] = initial,
    goesOn = first ? (yield* completed(() => number(first, op))) !== 0 : true,
    condition: unknown = first ?? known(() => create.full([], 1, { dtype: "bool", device: "cpu" }), device);
  for (let i = 0; goesOn && i < limit; i++) {
    const [next, ...made] = yield* settled(
      body(
        known(() => integers([i], []), device),
        condition,
        ...values,
      ),
    );
    condition = next;
    // without a condition at first, only the count ends it
    goesOn = first || !most ? (yield* completed(() => number(next, op))) !== 0 : true;
    values = made.slice(0, kept);
    made.slice(kept).forEach((x, k) => (scans[k] ??= []).push(x as Tensor));
  }
  return [...values, ...scans.map((rows) => combined(rows, device, (all) => join.stack(all, 0)))];
}

/** One step of a scan for each slice of the sequences. */
function* scanned(
  body: Body,
  states: unknown[],
  sequences: Tensor[],
  axes: readonly number[],
  back: readonly boolean[],
): Steps<readonly [states: unknown[], rows: Tensor[][]]> {
  const n = sequences[0]!.shape[axes[0]!]!,
    columns = sequences.map((x, k) => {
      if (x.shape[axes[k]!] !== n) throw new OpError("Scan: its sequences have different lengths");
      const slices = splitting.unbind(x, axes[k]) as Tensor[];
      return back[k] ? slices.reverse() : slices;
    }),
    rows: Tensor[][] = [];
  let now = states;
  for (let i = 0; i < n; i++) {
    const made = yield* settled(body(...now, ...columns.map((c) => c[i])));
    now = made.slice(0, states.length);
    made.slice(states.length).forEach((x, k) => (rows[k] ??= []).push(x as Tensor));
  }
  return [now, rows];
}

function* scan(inputs: Inputs, attributes: Attributes, { version, device }: Context): Steps<unknown[]> {
  const { body, num_scan_inputs: count } = attributes as { body: Body; num_scan_inputs: number },
    // version 8 has lengths before, and batches
    all = version < 9 ? inputs.slice(1) : inputs,
    states = all.slice(0, all.length - count),
    sequences = all.slice(all.length - count) as Tensor[],
    flags = (list: number[] | undefined, k: number) => (list?.[k] ?? 0) !== 0;
  if (version < 9) {
    if (inputs[0]) throw new OpError("Scan: sequences of different lengths (version 8) cannot be had here");
    const back = sequences.map((_, k) => flags(attributes.directions, k)),
      batches: Tensor[][] = [];
    for (const b of range(sequences[0]!.shape[0]!)) {
      const of = (x: unknown) => views.select(x, 0, b) as Tensor,
        [ends, rows] = yield* scanned(
          body,
          states.map(of),
          sequences.map(of),
          sequences.map(() => 0),
          back,
        );
      batches.push([...(ends as Tensor[]), ...rows.map((list) => combined(list, device, (l) => join.stack(l, 0)))]);
    }
    return batches[0]!.map((_, k) =>
      combined(
        batches.map((b) => b[k]!),
        device,
        (l) => join.stack(l, 0),
      ),
    );
  }
  const axes = sequences.map((x, k) => axisOf(attributes.scan_input_axes?.[k] ?? 0, x.ndim)),
    [ends, rows] = yield* scanned(
      body,
      states,
      sequences,
      axes,
      sequences.map((_, k) => flags(attributes.scan_input_directions, k)),
    );
  return [
    ...ends,
    ...rows.map((list, k) => {
      const ordered = flags(attributes.scan_output_directions, k) ? [...list].reverse() : list,
        axis = attributes.scan_output_axes?.[k] ?? 0;
      return combined(ordered, device, (l) => join.stack(l, axis));
    }),
  ];
}

export const CONTROL: Table = {
  If: asGiven(([condition], { then_branch, else_branch }, { op }) =>
    ((number(condition, op) ? then_branch : else_branch) as Body)(),
  ),
  Loop: asGiven((...given) => finished(loop(...given))),
  Scan: asGiven((...given) => finished(scan(...given))),
};
