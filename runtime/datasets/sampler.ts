// torch.utils.data's samplers: in which order samples are taken.  With a torch.Generator the order is PyTorch's own.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import { type Generator, drawnGenerator } from "../creation/generator.js";
import { refuse } from "../base/argument-kinds.js";
import { taken } from "../base/named-arguments.js";
import { callable } from "../base/callable.js";
import { nameOf, titled } from "../base/class-name.js";
import { generatorOf, lengthOf, numbersOf, untensored } from "./dataset.js";

/** What yields one after the other; one that reads a tensor for it (`await order.tolist()`) is asynchronous. */
export type Order<T> = Iterable<T> | AsyncIterable<T>;

/**
 * A base class to derive from: `*[Symbol.iterator]()` or `async *[Symbol.asyncIterator]()`, and perhaps `length`.
 *
 * @example
 * class Backwards extends torch.utils.data.Sampler {
 *   *[Symbol.iterator]() { yield* [2, 1, 0]; }
 * }
 * const dataset = torch.utils.data.TensorDataset(torch.tensor([10, 20, 30])), found = [];
 * for await (const [x] of torch.utils.data.DataLoader(dataset, { sampler: new Backwards() })) found.push(x);
 * found  // [[30], [20], [10]]
 */
export abstract class Sampler<T = number> implements Iterable<T> {
  [Symbol.iterator](): Iterator<T> {
    throw new OpError(
      Symbol.asyncIterator in this
        ? `${nameOf(this)}: goes through its samples with [Symbol.asyncIterator] alone: for await (… of …)`
        : `${nameOf(this)}: a sampler needs [Symbol.iterator] or [Symbol.asyncIterator]`,
    );
  }
}
titled(Sampler, "Sampler");

/** An order, or an error that says who wanted one. */
export function orderOf<T>(given: Order<T>, op: string, name: string): Order<T> {
  if (typeof given === "object" && given !== null && (Symbol.iterator in given || Symbol.asyncIterator in given))
    return given;
  return refuse(op, name, "a sampler", given);
}
/** One pass. What has both ways goes the asynchronous one, but for batches of an order that is not. */
export function passOf<T>(order: Order<T>): Iterator<T> | AsyncIterator<T> {
  let from: object = order;
  while (from instanceof BatchSamplerClass) from = from.sampler;
  return Symbol.asyncIterator in from
    ? (order as AsyncIterable<T>)[Symbol.asyncIterator]()
    : (order as Iterable<T>)[Symbol.iterator]();
}

const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);
function checkPositive(value: unknown, name: string, op: string): void {
  if (!isWhole(value) || value <= 0)
    throw new OpError(
      `${op}: ${name} should be a positive integer value, but got ${name}=${describe(value).replace(/^number /, "")}`,
    );
}
function checkBoolean(value: unknown, name: string, op: string): void {
  if (typeof value !== "boolean")
    throw new TypeMismatchError(`${op}: ${name} should be a boolean value, but got ${name}=${describe(value)}`);
}

class SequentialSamplerClass extends Sampler {
  readonly data_source: unknown;

  /**
   * All samples in their order.
   *
   * @param data_source a dataset, or a list: what has a `length`
   */
  constructor(data_source: unknown) {
    super();
    this.data_source = data_source;
    lengthOf(data_source, "SequentialSampler");
  }
  get length(): number {
    return lengthOf(this.data_source, "SequentialSampler");
  }
  override *[Symbol.iterator](): IterableIterator<number> {
    for (let i = 0, n = this.length; i < n; i++) yield i;
  }
}
/**
 * @example
 * [...torch.utils.data.SequentialSampler(["a", "b", "c"])]  // [0, 1, 2]
 */
export const SequentialSampler = /* @__PURE__ */ callable(
  SequentialSamplerClass,
  "SequentialSampler",
  "constructor data_source{}",
);
export type SequentialSampler = SequentialSamplerClass;

export interface RandomSamplerOptions {
  /** Whether a sample may come again before all have come. */
  replacement?: boolean;
  /** How many samples a pass has; null: as many as there are. */
  num_samples?: number | null;
  /** Draws the order; null: the one of `torch.manual_seed`. */
  generator?: Generator | null;
}

class RandomSamplerClass extends Sampler {
  readonly data_source: unknown;
  readonly replacement: boolean;
  readonly generator: Generator | null;
  private readonly wanted: number | null;

  /**
   * All samples in random order; or `num_samples` of them, which may repeat with `replacement`.
   *
   * @param data_source a dataset, or a list: what has a `length`
   */
  constructor(
    data_source: unknown,
    ...options: (boolean | number | Generator | RandomSamplerOptions | null | undefined)[]
  ) {
    super();
    let again: unknown, count: unknown, by: unknown;
    [data_source, again = false, count = null, by] = taken(
      "RandomSampler data_source{} replacement? num_samples? generator?",
      [data_source, ...options],
    );
    checkBoolean(again, "replacement", "RandomSampler");
    this.data_source = data_source;
    this.replacement = again as boolean;
    this.wanted = count as number | null;
    this.generator = generatorOf(by, "RandomSampler");
    checkPositive(this.num_samples, "num_samples", "RandomSampler");
  }
  get num_samples(): number {
    return this.wanted ?? lengthOf(this.data_source, "RandomSampler");
  }
  get length(): number {
    return this.num_samples;
  }
  override *[Symbol.iterator](): IterableIterator<number> {
    const n = lengthOf(this.data_source, "RandomSampler"),
      generator = this.generator ?? drawnGenerator();
    if (n === 0) throw new OpError("RandomSampler: there are no samples to draw from");
    if (this.replacement) {
      // Drawn by 32, as PyTorch does, so that others who share the generator see it in the same state.
      for (let left = this.num_samples; left > 0; left -= 32)
        yield* Array.from({ length: Math.min(left, 32) }, () => generator.below(n));
    } else {
      for (let left = this.num_samples; left >= 0; left -= n) yield* generator.permutation(n).subarray(0, left);
    }
  }
}
/**
 * @example
 * [...torch.utils.data.RandomSampler(["a", "b", "c"])].sort()  // [0, 1, 2]
 */
export const RandomSampler = /* @__PURE__ */ callable(RandomSamplerClass, "RandomSampler");
export type RandomSampler = RandomSamplerClass;

class SubsetRandomSamplerClass extends Sampler {
  readonly indices: readonly number[];
  readonly generator: Generator | null;

  /** The given indices in random order. */
  constructor(indices: Iterable<number>, generator?: Generator | { generator?: Generator | null } | null) {
    super();
    this.indices = numbersOf(indices, "SubsetRandomSampler", "indices");
    this.generator = generatorOf(generator, "SubsetRandomSampler");
  }
  get length(): number {
    return this.indices.length;
  }
  override *[Symbol.iterator](): IterableIterator<number> {
    for (const i of (this.generator ?? drawnGenerator()).permutation(this.length)) yield this.indices[i]!;
  }
}
/**
 * @param indices the samples' numbers
 * @param generator draws the order; null: the one of `torch.manual_seed`
 *
 * @example
 * [...torch.utils.data.SubsetRandomSampler([3, 5, 7])].sort()  // [3, 5, 7]
 */
export const SubsetRandomSampler = /* @__PURE__ */ callable(
  SubsetRandomSamplerClass,
  "SubsetRandomSampler",
  "constructor indices generator?",
);
export type SubsetRandomSampler = SubsetRandomSamplerClass;

class WeightedRandomSamplerClass extends Sampler {
  readonly weights: readonly number[];
  readonly num_samples: number;
  readonly replacement: boolean;
  readonly generator: Generator | null;

  /** `num_samples` samples, each as often as its weight says; without replacement none twice. */
  constructor(
    weights: Iterable<number>,
    num_samples: number,
    ...options: (boolean | Generator | Omit<RandomSamplerOptions, "num_samples"> | null | undefined)[]
  ) {
    super();
    let again: unknown, by: unknown;
    [weights, num_samples, again = true, by] = taken(
      "WeightedRandomSampler weights num_samples replacement? generator?",
      arguments,
    );
    checkPositive(num_samples, "num_samples", "WeightedRandomSampler");
    checkBoolean(again, "replacement", "WeightedRandomSampler");
    untensored(weights, "WeightedRandomSampler", "weights");
    if (typeof weights !== "object" || weights === null || !(Symbol.iterator in weights))
      refuse("WeightedRandomSampler", "weights", "a list of numbers", weights);
    this.weights = ArrayBuffer.isView(weights) ? numbersOf(weights, "WeightedRandomSampler", "weights") : [...weights];
    this.num_samples = num_samples;
    this.replacement = again as boolean;
    this.generator = generatorOf(by, "WeightedRandomSampler");
    const wrong = this.weights.filter((w) => typeof w !== "number" || !(w >= 0 && w < Infinity)),
      positive = wrong.length ? 0 : this.weights.filter((w) => w > 0).length;
    if (wrong.length || positive === 0) {
      throw new OpError(
        `WeightedRandomSampler: weights should be a 1d sequence of numbers that are not negative, infinite or NaN, got ${wrong.length ? describe(wrong[0]) : "none above zero"}`,
      );
    }
    if (!this.replacement && num_samples > positive) {
      throw new OpError(
        `WeightedRandomSampler: cannot draw ${num_samples} samples without replacement where ${positive} have a weight`,
      );
    }
  }
  get length(): number {
    return this.num_samples;
  }
  override *[Symbol.iterator](): IterableIterator<number> {
    const generator = this.generator ?? drawnGenerator();
    if (!this.replacement) {
      // the first of so many clocks that ring at random, each as often as its weight says
      const times = this.weights.map((w, i) => [-Math.log(1 - generator.uniform()) / w, i] as const);
      yield* times
        .sort(([a], [b]) => a - b)
        .slice(0, this.num_samples)
        .map(([, i]) => i);
      return;
    }
    let sum = 0;
    const ends = this.weights.map((w) => (sum += w));
    for (let k = 0; k < this.num_samples; k++) {
      const at = generator.uniform() * sum;
      let low = 0,
        high = ends.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ends[middle]! <= at) low = middle + 1;
        else high = middle;
      }
      yield low;
    }
  }
}
/**
 * @param weights how likely each sample is, against the others: not negative
 * @param num_samples how many samples a pass has
 *
 * @example
 * [...torch.utils.data.WeightedRandomSampler([0, 1, 0], 4)]  // [1, 1, 1, 1]
 */
export const WeightedRandomSampler = /* @__PURE__ */ callable(WeightedRandomSamplerClass, "WeightedRandomSampler");
export type WeightedRandomSampler = WeightedRandomSamplerClass;

class BatchSamplerClass extends Sampler<number[]> {
  readonly sampler: Order<number>;
  readonly batch_size: number;
  readonly drop_last: boolean;

  /** What another sampler yields, in lists of `batch_size`; a last shorter one is left out with `drop_last`. */
  constructor(sampler: Order<number>, batch_size: number, drop_last?: boolean | { drop_last: boolean }) {
    super();
    const drop = (drop_last ?? false) as boolean;
    this.sampler = orderOf(sampler, "BatchSampler", "sampler");
    checkPositive(batch_size, "batch_size", "BatchSampler");
    checkBoolean(drop, "drop_last", "BatchSampler");
    this.batch_size = batch_size;
    this.drop_last = drop;
  }
  get length(): number {
    const n = lengthOf(this.sampler, "BatchSampler") / this.batch_size;
    return this.drop_last ? Math.floor(n) : Math.ceil(n);
  }
  override *[Symbol.iterator](): IterableIterator<number[]> {
    let batch: number[] = [];
    if (!(Symbol.iterator in this.sampler)) super[Symbol.iterator]();
    for (const index of this.sampler as Iterable<number>) {
      batch.push(index);
      if (batch.length < this.batch_size) continue;
      yield batch;
      batch = [];
    }
    if (batch.length && !this.drop_last) yield batch;
  }
  async *[Symbol.asyncIterator](): AsyncIterableIterator<number[]> {
    let batch: number[] = [];
    for await (const index of this.sampler) {
      batch.push(index);
      if (batch.length < this.batch_size) continue;
      yield batch;
      batch = [];
    }
    if (batch.length && !this.drop_last) yield batch;
  }
}
/**
 * @param sampler in which order indices come: a sampler or a list
 * @param batch_size how many indices make a batch
 * @param drop_last whether a last, shorter batch is left out
 *
 * @example
 * [...torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler([..."abcde"]), 2)]  // [[0, 1], [2, 3], [4]]
 */
export const BatchSampler = /* @__PURE__ */ callable(
  BatchSamplerClass,
  "BatchSampler",
  "constructor sampler{} batch_size drop_last?",
);
export type BatchSampler = BatchSamplerClass;
