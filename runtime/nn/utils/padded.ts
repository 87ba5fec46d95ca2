// Padded sequences of torch.nn.utils.rnn; packed ones are in packed.ts.

import { taken } from "../../base/named-arguments.js";
import { OpError, describe } from "../../base/errors.js";
import { flag, refuse } from "../../base/argument-kinds.js";
import { integers } from "../../base/shape.js";
import { full } from "../../creation/create.js";
import { cat, stack } from "../../functions/join.js";
import { Tensor } from "../../tensor/tensor.js";
import { check, tensorsOf } from "../../tensor/tensor-arguments.js";
import * as views from "../../views/views.js";
import { sliceAxis } from "../../views/views.js";

/**
 * The arguments of one of these functions, by position or by name: those that `line` names, and options with defaults; one
 * that is a boolean by default is one.
 */
export function optionsOf<T extends unknown[]>(
  line: string,
  defaults: Readonly<Record<string, unknown>>,
  args: ArrayLike<unknown>,
): T {
  const names = Object.keys(defaults),
    [op] = line.split(" ", 1) as [string],
    given = taken(`${line} ${names.join("? ")}?`, args),
    own = line.split(" ").length - 1;
  return [
    ...given.slice(0, own),
    ...names.map((name, i) => {
      const value = given[own + i] as unknown;
      return value === undefined ? defaults[name] : typeof defaults[name] === "boolean" ? flag(value, op, name) : value;
    }),
  ] as T;
}

/** Lengths as numbers: a list, or a tensor on the CPU. */
export function numbers(op: string, lengths: readonly number[] | Tensor): number[] {
  if (Array.isArray(lengths)) return integers([lengths], op, "lengths");
  if (!(lengths instanceof Tensor)) refuse(op, "lengths", "a list of whole numbers or a tensor", lengths);
  lengths.check(op);
  if (lengths.device !== "cpu")
    throw new OpError(
      `${op}: 'lengths' argument should be a 1D CPU int64 tensor, but got ${lengths.ndim}D ${lengths.device} tensor`,
    );
  const elements = lengths.storage.elements as ArrayLike<number>;
  return Array.from({ length: lengths.numel() }, (_, i) =>
    Number(elements[lengths.offset + i * (lengths.strides[0] ?? 1)]),
  );
}

export function sequencesOf(given: readonly Tensor[], op: string): Tensor[] {
  const sequences = tensorsOf(given, op, "sequences");
  if (sequences.some((x) => x.ndim === 0))
    throw new OpError(`${op}: expected sequences of at least 1 dimension, got one of none`);
  return sequences;
}

export const rows = (x: Tensor, count: number, op: string): Tensor => sliceAxis(x, 0, 0, count, 1, op);

export interface PadOptions {
  batch_first?: boolean;
  padding_value?: number;
  padding_side?: "left" | "right";
}

/**
 * Tensors (length, ...) of several lengths as one, (longest, count, ...) or with `batch_first` (count, longest, ...).
 *
 * @param sequences tensors of shapes [length, ...]
 * @param batch_first whether the sequences' axis comes first, not time
 * @param padding_value what fills up shorter sequences
 * @param padding_side at which end they are filled up
 *
 * @example
 * const sequences = [torch.tensor([1, 2, 3]), torch.tensor([4])];
 * torch.nn.utils.rnn.pad_sequence(sequences, { batch_first: true, padding_value: -1 })  // [[1, 2, 3], [4, -1, -1]]
 */
export function pad_sequence(
  sequences: readonly Tensor[],
  ...rest: [PadOptions?] | [batch_first: boolean, padding_value?: number, padding_side?: "left" | "right"]
): Tensor {
  let batch_first: boolean, value: number, side: "left" | "right";
  const options = { batch_first: false, padding_value: 0, padding_side: "right" };
  [sequences, batch_first, value, side] = optionsOf("pad_sequence sequences", options, arguments);
  sequences = sequencesOf(sequences, "pad_sequence");
  if (sequences.length === 0) throw new OpError("pad_sequence: received an empty list of sequences");
  if (side !== "left" && side !== "right")
    throw new OpError(`pad_sequence: padding_side should be one of 'right' or 'left', got ${describe(side)}`);
  const longest = Math.max(...sequences.map((s) => s.shape[0]!));
  const padded = sequences.map((s) => {
    if (s.shape[0] === longest) return s;
    const gap = full([longest - s.shape[0]!, ...s.shape.slice(1)], value, { dtype: s.dtype, device: s.storage.device });
    return cat(side === "right" ? [s, gap] : [gap, s]);
  });
  return stack(padded, batch_first ? 0 : 1);
}

/**
 * The sequences of a padded tensor, each as long as `lengths` says.
 *
 * @param padded_sequences as `pad_sequence` makes them
 * @param lengths how long each is
 * @param batch_first whether the sequences' axis comes first, not time
 *
 * @example
 * const padded = torch.tensor([[1, 2, 3], [4, 0, 0]]), lengths = torch.tensor([3, 1]);
 * torch.nn.utils.rnn.unpad_sequence(padded, lengths, { batch_first: true })  // [[1, 2, 3], [4]]
 */
export function unpad_sequence(
  padded_sequences: Tensor,
  lengths: readonly number[] | Tensor,
  ...rest: [{ batch_first?: boolean }?] | [batch_first: boolean]
): Tensor[] {
  let batch_first: boolean;
  const options = { batch_first: false };
  [padded_sequences, lengths, batch_first] = optionsOf("unpad_sequence padded_sequences lengths", options, arguments);
  check(padded_sequences, "unpad_sequence", "padded_sequences");
  return numbers("unpad_sequence", lengths).map((n, i) =>
    rows(views.select(padded_sequences, batch_first ? 0 : 1, i), n, "unpad_sequence"),
  );
}
