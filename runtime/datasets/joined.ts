// Datasets made of others: one iterable after the other, and several side by side.

import { IndexError, OpError, TypeMismatchError, describe } from "../base/errors.js";
import { callable } from "../base/callable.js";
import { isOptions } from "../base/named-arguments.js";
import { listOf } from "../base/argument-kinds.js";
import {
  Dataset,
  type DatasetLike,
  IterableDataset,
  type IterableLike,
  isIndexed,
  lengthOf,
  sampleOf,
} from "./dataset.js";

class ChainDatasetClass<T> extends IterableDataset<T> {
  readonly datasets: readonly IterableLike<T>[];

  /** One iterable dataset after the other. */
  constructor(datasets: Iterable<IterableLike<T>>) {
    super();
    this.datasets = listOf<IterableLike<T>>(datasets, "ChainDataset", "datasets", "a list of iterable datasets");
    const other = this.datasets.find((d) => isIndexed(d, "ChainDataset"));
    if (other) throw new TypeMismatchError(`ChainDataset only supports IterableDataset, got ${describe(other)}`);
  }
  override async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (const dataset of this.datasets) yield* dataset as AsyncIterable<T>;
  }
  get length(): number {
    return this.datasets.reduce((sum, d) => sum + lengthOf(d, "ChainDataset"), 0);
  }
}
/**
 * @param datasets iterable datasets, gone through one after another
 *
 * @example
 * class Counting extends torch.utils.data.IterableDataset {
 *   *[Symbol.iterator]() { yield* [1, 2]; }
 * }
 * const found = [];
 * for await (const x of torch.utils.data.ChainDataset([new Counting(), new Counting()])) found.push(x);
 * found  // [1, 2, 1, 2]
 */
export const ChainDataset = /* @__PURE__ */ callable(
  ChainDatasetClass,
  "ChainDataset",
  "constructor datasets",
) as typeof ChainDatasetClass & (<T>(datasets: Iterable<IterableLike<T>>) => ChainDatasetClass<T>);
export type ChainDataset<T> = ChainDatasetClass<T>;

type Named = Readonly<Record<string, DatasetLike<unknown>>>;

class StackDatasetClass extends Dataset<unknown> {
  readonly datasets: readonly DatasetLike<unknown>[] | Named;

  /** The samples of all datasets of one number: a list of them, or by name where the datasets come as an object. */
  constructor(...datasets: DatasetLike<unknown>[] | [Named]) {
    super();
    const [first] = datasets;
    this.datasets = isOptions(first) && !("get" in first) ? (first as Named) : (datasets as DatasetLike<unknown>[]);
    const all = Object.values(this.datasets);
    if (!all.length) throw new OpError("StackDataset: At least one dataset should be passed");
    const sizes = all.map((d) => {
      if (!isIndexed(d, "StackDataset")) throw new TypeMismatchError("StackDataset does not support IterableDataset");
      return lengthOf(d, "StackDataset");
    });
    if (sizes.some((n) => n !== sizes[0])) throw new OpError(`StackDataset: Size mismatch between datasets: ${sizes}`);
  }
  override get length(): number {
    return lengthOf(Object.values(this.datasets)[0], "StackDataset");
  }
  override get(index: number): unknown {
    const at = index < 0 ? index + this.length : index;
    if (!(at >= 0 && at < this.length))
      throw new IndexError(`StackDataset: index ${index} is out of range for ${this.length} samples`);
    const found = Object.values(this.datasets).map((d: DatasetLike<unknown>) => sampleOf(d, at)),
      shown = (samples: unknown[]): unknown =>
        Array.isArray(this.datasets)
          ? samples
          : Object.fromEntries(Object.keys(this.datasets).map((name, i) => [name, samples[i]]));
    return found.some((sample) => sample instanceof Promise) ? Promise.all(found).then(shown) : shown(found);
  }
}
/**
 * @example
 * const [x, y] = [[1, 2], [3, 4]].map((list) => torch.utils.data.TensorDataset(torch.tensor(list)));
 * await torch.utils.data.StackDataset({ x, y }).get(1)  // { x: [2], y: [4] }
 */
export const StackDataset = /* @__PURE__ */ callable(StackDatasetClass, "StackDataset", "get index");
export type StackDataset = StackDatasetClass;
