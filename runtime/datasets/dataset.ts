// torch.utils.data's datasets: what has a length and answers get(index), or is iterable.  Lists and tensors are
// datasets as well.

import { tensor } from "../creation/create.js";
import { IndexError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { type Generator, drawnGenerator } from "../creation/generator.js";
import { taken } from "../base/named-arguments.js";
import * as kernels from "../views/needed-ops.js";
import { listOf, number, refuse } from "../base/argument-kinds.js";
import { callable } from "../base/callable.js";
import { sourceOf } from "../elements/random.js";
import { Tensor } from "../tensor/tensor.js";
import { titled, nameOf } from "../base/class-name.js";
import * as views from "../views/views.js";

/** A dataset whose samples are asked for by number; `get` may answer a promise. */
export interface MapDataset<T> {
  readonly length: number;
  get(index: number): T | Promise<T>;
}
export type DatasetLike<T> = MapDataset<T> | readonly T[] | Tensor;
export type IterableLike<T> = Iterable<T> | AsyncIterable<T>;

/**
 * A base class to derive from: `get length()` and `get(index)`.
 *
 * @example
 * class Squares extends torch.utils.data.Dataset {
 *   get length() { return 4; }
 *   get(index) { return index * index; }
 * }
 * const batches = [];
 * for await (const batch of torch.utils.data.DataLoader(new Squares(), { batch_size: 2 })) batches.push(batch);
 * batches  // [[0, 1], [4, 9]]
 */
export class Dataset<T> implements MapDataset<T> {
  get length(): number {
    throw new OpError(`${nameOf(this)}: a dataset needs a getter "length"`);
  }
  get(_index: number): T | Promise<T> {
    throw new OpError(`${nameOf(this)}: a dataset needs a method get(index)`);
  }
}
titled(Dataset, "Dataset");

/**
 * A base class for samples that come one after the other: `[Symbol.iterator]` or `[Symbol.asyncIterator]`, and perhaps
 * `length`.
 *
 * @example
 * class Lines extends torch.utils.data.IterableDataset {
 *   *[Symbol.iterator]() { for (const line of ["1", "2", "3"]) yield Number(line); }
 * }
 * const batches = [];
 * for await (const batch of torch.utils.data.DataLoader(new Lines(), { batch_size: 2 })) batches.push(batch);
 * batches  // [[1, 2], [3]]
 */
export abstract class IterableDataset<T> implements AsyncIterable<T> {
  [Symbol.asyncIterator](): AsyncIterator<T> {
    if (!(Symbol.iterator in this))
      throw new OpError(`${nameOf(this)}: an iterable dataset needs [Symbol.iterator] or [Symbol.asyncIterator]`);
    const samples = (this as unknown as Iterable<T>)[Symbol.iterator]();
    return {
      next: async () => samples.next(),
      return: async () => samples.return?.() ?? { done: true, value: undefined },
    };
  }
}
titled(IterableDataset, "IterableDataset");

const isMap = (value: unknown): value is MapDataset<unknown> =>
  typeof value === "object" &&
  value !== null &&
  "length" in value &&
  typeof (value as { get?: unknown }).get === "function";

/** Whether samples are asked for by number; throws for what is no dataset. */
export function isIndexed(dataset: unknown, op: string): dataset is DatasetLike<unknown> {
  if (dataset instanceof IterableDataset) return false;
  if (Array.isArray(dataset) || dataset instanceof Tensor || isMap(dataset)) return true;
  if (
    typeof dataset === "object" &&
    dataset !== null &&
    (Symbol.asyncIterator in dataset || Symbol.iterator in dataset)
  )
    return false;
  throw new TypeMismatchError(
    `${op}: expected a dataset (an object with length and get(index), a list, a tensor, or something iterable), got ${describe(dataset)}`,
  );
}

/** How many samples there are. */
export function lengthOf(dataset: unknown, op: string): number {
  if (dataset instanceof Tensor && dataset.ndim > 0) return dataset.shape[0]!;
  const n = typeof dataset === "string" ? null : (dataset as { length?: unknown } | null)?.length;
  if (dataset instanceof Tensor || typeof n !== "number" || !Number.isInteger(n) || n < 0)
    throw new TypeMismatchError(`${op}: ${describe(dataset)} has no length`);
  return n;
}

/** The sample of that number. */
export function sampleOf<T>(dataset: DatasetLike<T>, index: number): T | Promise<T> {
  if (dataset instanceof Tensor) return views.select(dataset, 0, index) as T;
  if (isMap(dataset)) return dataset.get(index) as T | Promise<T>;
  if (!(index in dataset)) throw new IndexError(`list index ${index} out of range (it has ${dataset.length})`);
  return dataset[index]!;
}

/** Datasets that make a collated batch at once, in fewer steps than sample by sample. */
export interface Batching {
  /** The batch of these samples, as default_collate makes it; null where it must be made sample by sample. */
  getBatch(indices: readonly number[]): unknown;
}
export const isBatching = (dataset: unknown): dataset is Batching =>
  typeof (dataset as Batching).getBatch === "function";

class TensorDatasetClass extends Dataset<Tensor[]> implements Batching {
  readonly tensors: readonly Tensor[];

  /** Samples are the rows of all tensors, which have the same size along their first axis. */
  constructor(...tensors: Tensor[]) {
    super();
    if (!tensors.length || !tensors.every((x) => x instanceof Tensor && x.ndim > 0)) {
      throw new TypeMismatchError(
        `TensorDataset: expected tensors with at least one axis, got ${tensors.map(describe).join(", ") || "none"}`,
      );
    }
    if (!tensors.every((x) => x.shape[0] === tensors[0]!.shape[0]))
      throw new OpError(
        `TensorDataset: Size mismatch between tensors: ${tensors.map((x) => x.shape[0]).join(", ")} rows`,
      );
    this.tensors = tensors;
  }
  override get length(): number {
    return this.tensors[0]!.shape[0]!;
  }
  override get(index: number): Tensor[] {
    return this.tensors.map((x) => views.select(x, 0, index));
  }
  getBatch(indices: readonly number[]): Tensor[] {
    const wrong = indices.find((i) => !Number.isInteger(i) || i < -this.length || i >= this.length);
    if (wrong !== undefined)
      throw new IndexError(`TensorDataset: index ${wrong} is out of bounds for dimension 0 with size ${this.length}`);
    const rows = new Map<string, Tensor>();
    const at = (x: Tensor): Tensor => {
      let found = rows.get(x.device);
      if (!found)
        rows.set(
          x.device,
          (found = tensor(
            indices.map((i) => (i < 0 ? i + this.length : i)),
            { dtype: "int32", device: x.storage.device },
          )),
        );
      return found;
    };
    return this.tensors.map((x) => kernels.index_select(x, 0, at(x)));
  }
}
/**
 * @param tensors of the same length along the first axis; a sample is a row of each
 *
 * @example
 * const dataset = torch.utils.data.TensorDataset(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 1]));
 * dataset.get(1)  // [[3, 4], 1]
 */
export const TensorDataset = /* @__PURE__ */ callable(
  TensorDatasetClass,
  "TensorDataset",
  "get index, getBatch indices",
);
export type TensorDataset = TensorDatasetClass;

class ConcatDatasetClass<T> extends Dataset<T> {
  readonly datasets: readonly DatasetLike<T>[];
  /** How many samples there are up to the end of each dataset. */
  readonly cumulative_sizes: readonly number[];

  /** One dataset after the other. */
  constructor(datasets: Iterable<DatasetLike<T>>) {
    super();
    this.datasets = listOf<DatasetLike<T>>(datasets, "ConcatDataset", "datasets", "a list of datasets");
    if (!this.datasets.length) throw new OpError("ConcatDataset: datasets should not be an empty iterable");
    if (!this.datasets.every((d) => isIndexed(d, "ConcatDataset")))
      throw new TypeMismatchError("ConcatDataset does not support IterableDataset");
    let sum = 0;
    this.cumulative_sizes = this.datasets.map((d) => (sum += lengthOf(d, "ConcatDataset")));
  }
  override get length(): number {
    return this.cumulative_sizes[this.cumulative_sizes.length - 1]!;
  }
  override get(index: number): T | Promise<T> {
    const at = index < 0 ? index + this.length : index;
    if (!(at >= 0 && at < this.length))
      throw new IndexError(`ConcatDataset: index ${index} is out of range for ${this.length} samples`);
    const which = this.cumulative_sizes.findIndex((end) => at < end);
    return sampleOf(this.datasets[which]!, which ? at - this.cumulative_sizes[which - 1]! : at);
  }
}
/**
 * @example
 * const [some, more] = [[1, 2], [3]].map((list) => torch.utils.data.TensorDataset(torch.tensor(list)));
 * const both = torch.utils.data.ConcatDataset([some, more]);
 * [both.length, await both.get(2)]  // [3, [3]]
 */
export const ConcatDataset = /* @__PURE__ */ callable(
  ConcatDatasetClass,
  "ConcatDataset",
  "constructor datasets, get index",
) as typeof ConcatDatasetClass & (<T>(datasets: Iterable<DatasetLike<T>>) => ConcatDatasetClass<T>);
export type ConcatDataset<T> = ConcatDatasetClass<T>;

class SubsetClass<T> extends Dataset<T> implements Batching {
  readonly dataset: DatasetLike<T>;
  readonly indices: readonly number[];

  /** The samples of `dataset` at `indices`. */
  constructor(dataset: DatasetLike<T>, indices: Iterable<number>) {
    super();
    if (!isIndexed(dataset, "Subset"))
      throw new TypeMismatchError("Subset: an iterable dataset has no samples by number");
    this.dataset = dataset;
    this.indices = numbersOf(indices, "Subset", "indices");
  }
  override get length(): number {
    return this.indices.length;
  }
  override get(index: number): T | Promise<T> {
    return sampleOf(this.dataset, this.at(index));
  }
  getBatch(indices: readonly number[]): unknown {
    return isBatching(this.dataset) ? this.dataset.getBatch(indices.map((i) => this.at(i))) : null;
  }
  private at(index: number): number {
    const found = this.indices[index < 0 ? index + this.length : index];
    if (found === undefined) throw new IndexError(`Subset: index ${index} is out of range for ${this.length} samples`);
    return found;
  }
}
/**
 * @param indices which samples it has, in this order
 *
 * @example
 * const dataset = torch.utils.data.TensorDataset(torch.tensor([10, 20, 30, 40]));
 * await torch.utils.data.Subset(dataset, [3, 1]).get(0)  // [40]
 */
export const Subset = /* @__PURE__ */ callable(
  SubsetClass,
  "Subset",
  "constructor dataset indices, get index, getBatch indices, at !",
) as typeof SubsetClass & (<T>(dataset: DatasetLike<T>, indices: Iterable<number>) => SubsetClass<T>);
export type Subset<T> = SubsetClass<T>;

/** A list, or whatever can be gone through, of numbers. */
export const numbersOf = (list: unknown, op: string, name: string): number[] =>
  listOf(untensored(list, op, name), op, name, "a list of numbers").map((n) => number(n, op, name));
/** What is no tensor, for whose values a constructor would have to wait. */
export function untensored<T>(list: T, op: string, name: string): T {
  if (list instanceof Tensor) refuse(op, name, `a list of numbers (await ${name}.tolist())`, list);
  return list;
}

/** An argument or option that holds a generator. */
export function generatorOf(given: unknown, op: string): Generator | null {
  return sourceOf(given, op) as Generator | null;
}

/**
 * Parts of a dataset, without overlap and in random order.  `lengths`: how many samples each has, or fractions that add
 * up to 1.
 *
 * @param lengths how many samples each part has, or fractions that add up to 1
 * @param generator draws which; null: the one of `torch.manual_seed`
 *
 * @example
 * const dataset = torch.utils.data.TensorDataset(torch.arange(10));
 * const [train, test] = torch.utils.data.random_split(dataset, [0.8, 0.2]);
 * [train.length, test.length]  // [8, 2]
 */
export function random_split<T>(
  dataset: DatasetLike<T>,
  lengths: readonly number[],
  generator?: Generator | { generator?: Generator | null } | null,
): Subset<T>[] {
  [dataset, lengths, generator] = taken("random_split dataset lengths generator?", arguments);
  const by = generatorOf(generator, "random_split");
  lengths = numbersOf(lengths, "random_split", "lengths");
  const n = lengthOf(dataset, "random_split"),
    sum = lengths.reduce((a, b) => a + b, 0);
  let sizes = [...lengths];
  if (Math.abs(sum - 1) <= 1e-9 && sum <= 1) {
    lengths.forEach((f, i) => {
      if (f < 0 || f > 1) throw new OpError(`random_split: Fraction at index ${i} is not between 0 and 1`);
    });
    sizes = lengths.map((f) => Math.floor(n * f));
    for (let rest = n - sizes.reduce((a, b) => a + b, 0), i = 0; i < rest; i++) sizes[i % sizes.length]!++;
  }
  const whole = sizes.reduce((a, b) => a + b, 0);
  if (whole !== n || !sizes.every((m) => Number.isInteger(m) && m >= 0)) {
    throw new OpError(
      `random_split: Sum of input lengths does not equal the length of the input dataset! (${lengths.join(" + ")} = ${sum}, it has ${n})`,
    );
  }
  const order = (by ?? drawnGenerator()).permutation(n);
  let at = 0;
  return sizes.map((m) => new Subset(dataset, order.subarray(at, (at += m))));
}
