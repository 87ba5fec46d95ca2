// torch.segment_reduce: rows one after another in segments, whose lengths or offsets are given.

import { run } from "../dispatch/call.js";
import { OpError, describe } from "../base/errors.js";
import { flag, number, integer } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { zeros } from "../creation/create.js";
import { cat } from "../functions/join.js";
import { tensorOf } from "../tensor/tensor-arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import * as views from "../views/views.js";
import { segmentsOp, segments_maxOp, segments_minOp, segments_prodOp } from "../../ops/segment.js";
import { cumsum } from "../../names/torch.js";

const OPS = { sum: segmentsOp, mean: segmentsOp, max: segments_maxOp, min: segments_minOp, prod: segments_prodOp };

export interface SegmentOptions {
  lengths?: Tensor | null;
  indices?: null;
  offsets?: Tensor | null;
  axis?: number;
  unsafe?: boolean;
  initial?: number | null;
}
/**
 * The sum, mean, largest, smallest or product ("sum", "mean", "max", "min", "prod") of each segment of rows of `data`, float.
 * `lengths` says how long the segments are, or `offsets` where each begins and the last one ends; `initial` counts as one
 * more row. Throws where neither is given; on the CPU, and without `unsafe`, where lengths do not add up to the rows.
 *
 * @param data float tensor, whose axis `axis` has the segments one after another
 * @param reduce what is made of a segment
 * @param lengths whole numbers: how long each segment is
 * @param indices is not taken, as in PyTorch: must be null
 * @param offsets whole numbers, one more than segments: where each begins, and where the last one ends
 * @param axis the axis of the segments
 * @param unsafe skips checking that lengths add up
 * @param initial what an empty segment gives, and every other begins with
 *
 * @example
 * torch.segment_reduce(torch.tensor([1, 2, 3, 4]), "sum", { lengths: torch.LongTensor([1, 3]) })  // [1, 9]
 * torch.segment_reduce(torch.tensor([1, 2, 3, 4]), "max", { offsets: torch.LongTensor([0, 3, 4]) })  // [3, 4]
 */
export function segment_reduce(data: Tensor, reduce: keyof typeof OPS, options: SegmentOptions): Tensor;
export function segment_reduce(...args: unknown[]): Tensor {
  const op = "segment_reduce",
    [given, reduce, lengths, indices, offsets, axis = 0, unsafe = false, initial] = taken(
      `${op} data reduce * lengths? indices? offsets? axis? unsafe? initial?`,
      args,
    ),
    data = tensorOf(given, op, "data");
  if (typeof reduce !== "string" || !Object.hasOwn(OPS, reduce))
    throw new OpError(`${op}: reduce argument must be either sum, prod, mean, max or min, got ${describe(reduce)}`);
  if (indices) throw new OpError(`${op}: indices based reduction is not supported yet.`);
  const first = initial === undefined || initial === null ? {} : { initial: number(initial, op, "initial") },
    bounds = lengths ? boundsOf(tensorOf(lengths, op, "lengths"), data, flag(unsafe, op, "unsafe")) : offsets;
  if (!bounds) throw new OpError(`${op}: Either lengths or offsets must be defined.`);
  if (integer(axis, op, "axis") !== 0)
    throw new OpError(
      `${op}: Expected axis to be the last dimension of ${lengths ? "lengths" : "offsets"} but got ${axis}.`,
    );
  return run(OPS[reduce as keyof typeof OPS], [data, tensorOf(bounds, op, "offsets"), reduce, first]) as Tensor;
}

/** Where segments of these lengths begin, and the last one ends. */
function boundsOf(lengths: Tensor, { shape: [rows] }: Tensor, unsafe: boolean): Tensor {
  if (lengths.ndim !== 1) throw new OpError(`segment_reduce: lengths must have one axis, got ${lengths.ndim}`);
  const { dtype, device } = lengths,
    bounds = cat([zeros([1], { dtype, device }), cumsum(lengths, 0, { dtype }) as Tensor]),
    last = views.select(bounds, 0, -1);
  if (!unsafe && device === "cpu" && Number(last.storage.elements[last.offset]) !== rows)
    throw new OpError(
      "segment_reduce: Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.",
    );
  return bounds;
}
