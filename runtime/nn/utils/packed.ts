// torch.nn.utils.rnn: sequences of several lengths, padded to one length or packed step by step.

import { arange, full, tensor } from "../../creation/create.js";
import { OpError } from "../../base/errors.js";
import { cat, stack } from "../../functions/join.js";
import { count, refuse } from "../../base/argument-kinds.js";
import { check } from "../../tensor/tensor-arguments.js";
import { taken } from "../../base/named-arguments.js";
import type { Device } from "../../devices/device.js";
import { integers } from "../../base/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import { callable } from "../../base/callable.js";
import { sliceAxis } from "../../views/views.js";
import { index_select, scatter } from "../../../names/torch.js";
import * as views from "../../views/views.js";
import { to } from "../../views/transfer.js";
import { numbers, optionsOf, pad_sequence, rows, sequencesOf, unpad_sequence } from "./padded.js";

export { type PadOptions, pad_sequence, unpad_sequence } from "./padded.js";

/** Permutations as numbers, of tensors of them whose numbers are on a GPU. */
const orders = new WeakMap<Tensor, readonly number[]>();
type Target = readonly [target: string | Device | Tensor | object, ...rest: unknown[]];

/**
 * The elements of all sequences, step by step: at each step those of the sequences that are so long, the longest first.
 * Named and in order as in PyTorch: `const [data, batch_sizes] = packed`.
 */
class PackedSequenceClass {
  readonly data: Tensor;
  /** How many sequences have each step. */
  readonly batch_sizes: readonly number[];
  /** Where each packed sequence was in the batch, and the other way round; null: in this order. */
  readonly sorted_indices: Tensor | null;
  readonly unsorted_indices: Tensor | null;

  constructor(
    data: Tensor,
    batch_sizes: readonly number[],
    sorted_indices: Tensor | null = null,
    unsorted_indices: Tensor | null = null,
  ) {
    check(data, "PackedSequence", "data");
    if (sorted_indices !== null) check(sorted_indices, "PackedSequence", "sorted_indices");
    if (unsorted_indices !== null) check(unsorted_indices, "PackedSequence", "unsorted_indices");
    this.data = data;
    this.batch_sizes = integers([batch_sizes], "PackedSequence", "batch_sizes");
    this.sorted_indices = sorted_indices;
    this.unsorted_indices = unsorted_indices ?? invert_permutation(sorted_indices);
  }
  *[Symbol.iterator](): Generator<Tensor | readonly number[] | null> {
    yield* [this.data, this.batch_sizes, this.sorted_indices, this.unsorted_indices];
  }
  /** The same but for what is named. */
  _replace(fields: Partial<Pick<PackedSequence, "data" | "batch_sizes" | "sorted_indices" | "unsorted_indices">>) {
    const { data, batch_sizes, sorted_indices, unsorted_indices } = { ...this, ...fields };
    return new PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices);
  }
  /** The same places with other elements. */
  with(data: Tensor): PackedSequence {
    return this._replace({ data });
  }
  /** sorted_indices as numbers; undefined where a GPU would have to be asked. */
  get order(): readonly number[] | null | undefined {
    const sorted = this.sorted_indices;
    return sorted && (orders.get(sorted) ?? (sorted.device === "cpu" ? numbers("PackedSequence", sorted) : undefined));
  }

  /** On another device or of another type; a promise from a GPU to the CPU. */
  to(...target: Target): PackedSequence | Promise<PackedSequence> {
    const moved = to(this.data, target);
    if (moved === this.data) return this;
    return moved instanceof Promise ? moved.then((data) => this.beside(data)) : this.beside(moved);
  }
  /** Other elements, with the permutations where those are. */
  private beside(data: Tensor): PackedSequence {
    const { sorted_indices: sorted, order } = this;
    if (!sorted || sorted.device === data.device) return this.with(data);
    const there = places(known(order, "to"), data.storage.device);
    return this._replace({ data, sorted_indices: there, unsorted_indices: null });
  }
  cpu(): PackedSequence | Promise<PackedSequence> {
    return this.to("cpu");
  }
  double(): PackedSequence {
    return this.to("float64") as PackedSequence;
  }
  float(): PackedSequence {
    return this.to("float32") as PackedSequence;
  }
  half(): PackedSequence {
    return this.to("float16") as PackedSequence;
  }
  long(): PackedSequence {
    return this.to("int64") as PackedSequence;
  }
  int(): PackedSequence {
    return this.to("int32") as PackedSequence;
  }
  short(): PackedSequence {
    return this.to("int16") as PackedSequence;
  }
  char(): PackedSequence {
    return this.to("int8") as PackedSequence;
  }
  byte(): PackedSequence {
    return this.to("uint8") as PackedSequence;
  }
  /** Always false: a GPU is "webgpu" here. */
  get is_cuda(): boolean {
    return false;
  }
  /** Always false: there is no such memory here. */
  is_pinned(): boolean {
    return false;
  }
  /** Itself: there is no such memory here. */
  pin_memory(): this {
    return this;
  }
}
/**
 * @param data the elements of all sequences, step by step
 * @param batch_sizes how many sequences each step has
 * @param sorted_indices the place of each sequence, the longest first, in the list given; null: as given
 * @param unsorted_indices the inverse of that
 *
 * @example
 * const { data, batch_sizes } = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]);
 * const packed = torch.nn.utils.rnn.PackedSequence(data, batch_sizes);
 * torch.nn.utils.rnn.unpack_sequence(packed)  // [[1, 2, 3], [4]]
 */
export const PackedSequence = /* @__PURE__ */ callable(
  PackedSequenceClass,
  "PackedSequence",
  "constructor data batch_sizes sorted_indices? unsorted_indices?, to !, with data, _replace fields{}, beside !",
);
export type PackedSequence = PackedSequenceClass;

/**
 * The inverse of a permutation, a tensor of one axis: where each index stands.
 *
 * @param permutation whole numbers [N], each from 0 to N - 1 once
 *
 * @example
 * torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1], { dtype: "int64" }))  // [1, 2, 0]
 */
export function invert_permutation(permutation: Tensor | null): Tensor | null {
  [permutation] = taken("invert_permutation permutation", arguments);
  if (permutation === null) return null;
  check(permutation, "invert_permutation", "permutation");
  const { dtype, device } = permutation,
    places = arange(0, permutation.numel(), 1, { dtype, device });
  return scatter(places, 0, permutation, places) as Tensor;
}

/** A permutation as a tensor, whose numbers are known. */
function places(order: readonly number[], device: Device): Tensor {
  const there = tensor(Int32Array.from(order), { dtype: "int64", device });
  orders.set(there, order);
  return there;
}
function known(order: readonly number[] | undefined | null, op: string): readonly number[] {
  if (order) return order;
  throw new OpError(
    `${op}: sorted_indices are on a GPU and not known: make the PackedSequence with a tensor on the CPU`,
  );
}
/** What is sorted as it was before. */
const unsorted = <T>(sorted: readonly T[], order: readonly number[]): T[] =>
  sorted.map((_, i) => sorted[order.indexOf(i)]!);

function checkPacked(value: unknown, op: string, name: string): asserts value is PackedSequence {
  if (!(value instanceof PackedSequence)) refuse(op, name, "a PackedSequence", value);
}
const turned = (x: Tensor, batch_first: boolean): Tensor => (batch_first ? views.transpose(x, 0, 1) : x);

export interface PackOptions {
  batch_first?: boolean;
  /** Whether lengths must come sorted, the longest first: true. */
  enforce_sorted?: boolean;
}

/**
 * Packs (time, batch, ...) or (batch, time, ...), of whose sequences only the first `lengths` elements count.
 *
 * @param input padded sequences
 * @param lengths how long each is
 * @param batch_first whether the batch is the first axis, not time
 * @param enforce_sorted whether lengths must come sorted, the longest first
 *
 * @example
 * const padded = torch.tensor([[1, 2, 3], [4, 0, 0]]);
 * const { data, batch_sizes } = torch.nn.utils.rnn.pack_padded_sequence(padded, [3, 1], { batch_first: true });
 * [data, batch_sizes]  // [[1, 4, 2, 3], [2, 1, 1]]
 */
export function pack_padded_sequence(
  input: Tensor,
  lengths: readonly number[] | Tensor,
  ...rest: [PackOptions?] | [batch_first: boolean, enforce_sorted?: boolean]
): PackedSequence {
  const op = "pack_padded_sequence",
    options = { batch_first: false, enforce_sorted: true };
  let batch_first: boolean, enforce_sorted: boolean;
  [input, lengths, batch_first, enforce_sorted] = optionsOf(`${op} input lengths`, options, arguments);
  check(input, op, "input");
  if (input.ndim < 2) throw new OpError(`${op}: expected an input of at least 2 dimensions, got ${input.ndim}`);
  const given = numbers(op, lengths),
    order = given.map((_, i) => i);
  if (!enforce_sorted) order.sort((a, b) => given[b]! - given[a]! || a - b);
  const sorted = order.map((i) => given[i]!),
    steps = turned(input, batch_first),
    batch = steps.shape[1]!;
  if (sorted.length !== batch)
    throw new OpError(
      `Expected \`len(lengths)\` to be equal to batch_size, but got ${sorted.length} (batch_size=${batch})`,
    );
  if (sorted.some((n) => !(n > 0)))
    throw new OpError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
  if (sorted.some((n, i) => i > 0 && n > sorted[i - 1]!)) {
    throw new OpError(
      "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence " +
        "and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.",
    );
  }
  if (sorted[0]! > steps.shape[0]!)
    throw new OpError(`${op}: expected lengths up to ${steps.shape[0]}, but got ${sorted[0]}`);
  const sizes = Array.from({ length: sorted[0]! }, (_, t) => sorted.filter((n) => n > t).length);
  const there = enforce_sorted ? null : places(order, input.storage.device);
  const own = there ? (index_select(steps, 1, there) as Tensor) : steps;
  return new PackedSequence(
    cat(sizes.map((size, t) => rows(views.select(own, 0, t), size, op))),
    sizes,
    there,
    there &&
      places(
        order.map((_, i) => order.indexOf(i)),
        input.storage.device,
      ),
  );
}

export interface PadPackedOptions {
  batch_first?: boolean;
  padding_value?: number;
  total_length?: number | null;
}

/**
 * Packed sequences as (time, batch, ...) or (batch, time, ...), and their lengths, on the CPU where the order is known.
 *
 * @param sequence packed sequences
 * @param batch_first whether the batch is the first axis of the result, not time
 * @param padding_value what fills up shorter sequences
 * @param total_length how long the result is at least; null: as its longest sequence
 *
 * @example
 * const packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]);
 * const [padded, lengths] = torch.nn.utils.rnn.pad_packed_sequence(packed, { batch_first: true });
 * [padded, lengths]  // [[[1, 2, 3], [4, 0, 0]], [3, 1]]
 */
export function pad_packed_sequence(
  sequence: PackedSequence,
  ...rest: [PadPackedOptions?] | [batch_first: boolean, padding_value?: number, total_length?: number | null]
): [padded: Tensor, lengths: Tensor] {
  const op = "pad_packed_sequence";
  let batch_first: boolean, value: number, total: number | null;
  const options = { batch_first: false, padding_value: 0, total_length: null };
  [sequence, batch_first, value, total] = optionsOf(`${op} sequence`, options, arguments);
  checkPacked(sequence, op, "sequence");
  const { data, batch_sizes: sizes, unsorted_indices: back, order } = sequence,
    batch = sizes[0]!,
    length = total ?? sizes.length;
  count(length, op, "total_length");
  if (length < sizes.length) {
    throw new OpError(
      `Expected total_length to be at least the length of the longest sequence in input, but got total_length=${length} and max sequence length being ${sizes.length}`,
    );
  }
  let at = 0;
  const how = { dtype: data.dtype, device: data.storage.device },
    shape = data.shape.slice(1);
  const steps = sizes.map((size) => {
    const step = sliceAxis(data, 0, (at += size) - size, size, 1, op);
    return size < batch ? cat([step, full([batch - size, ...shape], value, how)]) : step;
  });
  while (steps.length < length) steps.push(full([batch, ...shape], value, how));
  const padded = stack(steps),
    lengths = Array.from({ length: batch }, (_, i) => sizes.filter((size) => size > i).length);
  return [
    turned(back ? (index_select(padded, 1, back) as Tensor) : padded, batch_first),
    order === undefined
      ? (index_select(tensor(lengths, { dtype: "int64", device: data.storage.device }), 0, back!) as Tensor)
      : tensor(order ? unsorted(lengths, order) : lengths, { dtype: "int64", device: "cpu" }),
  ];
}

/**
 * Packs tensors (length, ...).
 *
 * @param sequences tensors of shapes [length, ...]
 * @param enforce_sorted whether they must come sorted, the longest first
 *
 * @example
 * const packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]);
 * [packed.data, packed.batch_sizes]  // [[1, 4, 2, 3], [2, 1, 1]]
 */
export function pack_sequence(
  sequences: readonly Tensor[],
  ...rest: [{ enforce_sorted?: boolean }?] | [enforce_sorted: boolean]
): PackedSequence {
  let enforce_sorted: boolean;
  [sequences, enforce_sorted] = optionsOf("pack_sequence sequences", { enforce_sorted: true }, arguments);
  sequences = sequencesOf(sequences, "pack_sequence");
  return pack_padded_sequence(
    pad_sequence(sequences),
    sequences.map((s) => s.shape[0]!),
    { enforce_sorted },
  );
}

/**
 * The tensors of packed sequences.
 *
 * @param packed_sequences packed sequences
 *
 * @example
 * const packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]);
 * torch.nn.utils.rnn.unpack_sequence(packed)  // [[1, 2, 3], [4]]
 */
export function unpack_sequence(packed_sequences: PackedSequence): Tensor[] {
  [packed_sequences] = taken("unpack_sequence packed_sequences", arguments);
  checkPacked(packed_sequences, "unpack_sequence", "packed_sequences");
  const { batch_sizes: sizes, order } = packed_sequences,
    [padded] = pad_packed_sequence(new PackedSequence(packed_sequences.data, sizes));
  const lengths = Array.from({ length: sizes[0]! }, (_, i) => sizes.filter((size) => size > i).length),
    sequences = unpad_sequence(padded, lengths);
  return order === null ? sequences : unsorted(sequences, known(order, "unpack_sequence"));
}
