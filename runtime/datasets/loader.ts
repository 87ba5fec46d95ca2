// torch.utils.data.DataLoader: batches of a dataset, one after the other, the next one fetched while one is used.

import { OpError, TypeMismatchError, describe } from "../base/errors.js";
import type { Progress } from "../files/source.js";
import type { Generator } from "../creation/generator.js";
import { keep } from "../tensor/memory.js";
import { taken } from "../base/named-arguments.js";
import { callable } from "../base/callable.js";
import { Tensor } from "../tensor/tensor.js";
import { default_collate, default_convert } from "./collate.js";
import { type DatasetLike, type IterableLike, isBatching, isIndexed, lengthOf, sampleOf } from "./dataset.js";
import { BatchSampler, type Order, RandomSampler, SequentialSampler, orderOf, passOf } from "./sampler.js";

export interface DataLoaderOptions<T = unknown, B = unknown> {
  /** Samples in a batch; null: samples come one by one, without a batch's axis. */
  batch_size?: number | null;
  /** Whether the order is drawn anew for each pass. */
  shuffle?: boolean | null;
  /** In which order samples are taken; not together with `shuffle`. */
  sampler?: Order<number> | null;
  /** Which samples make up each batch; not together with the above or `drop_last`. */
  batch_sampler?: Order<readonly number[]> | null;
  /** Makes a batch of samples; default_collate unless given.  May answer a promise. */
  collate_fn?: ((samples: T[]) => B | Promise<B>) | null;
  /** Whether a last, shorter batch is left out. */
  drop_last?: boolean;
  /** Draws the order where `shuffle` is on: with the same seed the same as PyTorch's. */
  generator?: Generator | null;
  /** How many batches are fetched ahead of the one in use: 1 unless given. */
  prefetch_factor?: number | null;
  /**
   * Called when a batch has been used and the next is asked for: how many of a pass are done, of how many (null
   * where nobody knows).
   */
  progress?: ((progress: Progress) => void) | null;
  /** Taken for PyTorch's sake: there are no worker processes here, only more batches ahead. */
  num_workers?: number;
  /** Taken for PyTorch's sake, without effect. */
  pin_memory?: boolean;
  /** Taken for PyTorch's sake, without effect: no worker is waited for. */
  timeout?: number;
  /** Taken for PyTorch's sake, without effect: no worker begins. */
  worker_init_fn?: unknown;
  /** Taken for PyTorch's sake, without effect: there are no worker processes. */
  multiprocessing_context?: unknown;
  /** Taken for PyTorch's sake, without effect: there are no worker processes. */
  persistent_workers?: boolean;
  /** Taken for PyTorch's sake, without effect. */
  pin_memory_device?: string;
  /** Taken for PyTorch's sake, without effect: batches always come in their order. */
  in_order?: boolean;
}

const NAMES = [
  "batch_size",
  "shuffle",
  "sampler",
  "batch_sampler",
  "num_workers",
  "collate_fn",
  "pin_memory",
  "drop_last",
  "timeout",
  "worker_init_fn",
  "multiprocessing_context",
  "generator",
  "prefetch_factor",
  "persistent_workers",
  "pin_memory_device",
  "in_order",
  "progress",
];
const END = Symbol("end");

/** Keeps the tensors of a sample or batch out of the tidy scope in which they happened to be fetched. */
function kept<T>(value: T): T {
  if (value instanceof Tensor) return keep(value);
  if (value instanceof Map || Array.isArray(value))
    for (const item of value instanceof Map ? value.values() : (value as unknown[])) kept(item);
  else if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    for (const item of Object.values(value)) kept(item);
  return value;
}

// What a batch is depends on the samples: programs that want it typed say so, DataLoader<Batch>.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
class DataLoaderClass<B = any> implements AsyncIterable<B> {
  readonly dataset: DatasetLike<unknown> | IterableLike<unknown>;
  readonly batch_size: number | null;
  readonly drop_last: boolean;
  readonly sampler: Order<number> | null;
  readonly batch_sampler: Order<readonly number[]> | null;
  readonly generator: Generator | null;
  readonly collate_fn: (samples: never) => unknown;
  private readonly ahead: number;
  private readonly progress: ((progress: Progress) => void) | null;

  /** Batches of a dataset: `for await (const [x, y] of DataLoader(dataset, { batch_size: 32, shuffle: true })) …` */
  constructor(
    dataset: DatasetLike<unknown> | IterableLike<unknown>,
    ...options: (DataLoaderOptions<never, B> | number | boolean | null)[]
  ) {
    const values = taken(`DataLoader dataset{} ${NAMES.join("? ")}?`, [dataset, ...options]),
      given = Object.fromEntries(NAMES.map((name, i) => [name, values[i + 1]])) as DataLoaderOptions<never, B>;
    [dataset] = values;
    const fail = (problem: string): OpError => new OpError(`DataLoader: ${problem}`);
    const {
      shuffle = false,
      sampler = null,
      batch_sampler = null,
      drop_last = false,
      generator = null,
      num_workers = 0,
      prefetch_factor = null,
    } = given;
    let { batch_size = 1 } = given;
    const indexed = isIndexed(dataset, "DataLoader");
    if (!(num_workers >= 0)) throw fail("num_workers option should be non-negative");
    if (prefetch_factor !== null && !(prefetch_factor >= 0))
      throw fail("prefetch_factor option should be non-negative");
    if (!indexed) {
      for (const [name, value] of Object.entries({ shuffle: shuffle || null, sampler, batch_sampler })) {
        if (value !== null)
          throw fail(
            `with IterableDataset: expected unspecified ${name} option, but got ${name}=${describe(value).replace(/^boolean /, "")}`,
          );
      }
    }
    if (sampler) orderOf(sampler, "DataLoader", "sampler");
    if (batch_sampler) orderOf(batch_sampler, "DataLoader", "batch_sampler");
    if (sampler && shuffle) throw fail("sampler option is mutually exclusive with shuffle");
    if (batch_sampler) {
      if (batch_size !== 1 || shuffle || sampler || drop_last)
        throw fail("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last");
      batch_size = null;
    } else if (batch_size === null && drop_last)
      throw fail("batch_size=None option disables auto-batching and is mutually exclusive with drop_last");
    if (batch_size !== null && (!Number.isInteger(batch_size) || batch_size <= 0))
      throw fail(
        `batch_size should be a positive integer value, but got batch_size=${describe(batch_size).replace(/^number /, "")}`,
      );
    this.dataset = dataset;
    this.batch_size = batch_size;
    this.drop_last = drop_last;
    this.generator = generator;
    this.sampler =
      !indexed || batch_sampler
        ? null
        : (sampler ?? (shuffle ? new RandomSampler(dataset, { generator }) : new SequentialSampler(dataset)));
    this.batch_sampler =
      batch_sampler ??
      (this.sampler && batch_size !== null ? new BatchSampler(this.sampler, batch_size, drop_last) : null);
    this.collate_fn = given.collate_fn ?? (this.batches ? default_collate : default_convert);
    if (typeof this.collate_fn !== "function")
      throw new TypeMismatchError(`DataLoader: collate_fn must be a function, got ${describe(given.collate_fn)}`);
    this.progress = given.progress ?? null;
    this.ahead = num_workers > 0 ? num_workers * (prefetch_factor ?? 2) : (prefetch_factor ?? 1);
  }

  private get batches(): boolean {
    return this.batch_size !== null || this.batch_sampler !== null;
  }

  /** How many batches a pass has. */
  get length(): number {
    const order = this.batch_sampler ?? this.sampler;
    if (order) return lengthOf(order, "DataLoader");
    const n = lengthOf(this.dataset, "DataLoader") / (this.batch_size ?? 1);
    return this.drop_last ? Math.floor(n) : Math.ceil(n);
  }

  /** As length; null where the dataset does not say how long it is. */
  private get known(): number | null {
    try {
      return this.length;
    } catch {
      return null;
    }
  }

  /** One pass: batches in the order of the samplers. */
  async *[Symbol.asyncIterator](): AsyncGenerator<B, void> {
    const { draw, close } = isIndexed(this.dataset, "DataLoader")
      ? this.byNumber(this.dataset)
      : this.inOrder(this.dataset);
    const queue: Promise<unknown>[] = [];
    const total = this.progress ? this.known : null;
    let ended = false,
      used = 0,
      timer: ReturnType<typeof setTimeout> | undefined;
    const fill = (count: number): void => {
      while (queue.length < count && !ended) {
        const batch = draw();
        batch.then(
          (value) => {
            ended ||= value === END;
          },
          () => {
            ended = true;
          },
        ); // a failure is reported when its batch is asked for
        queue.push(batch);
      }
    };
    try {
      for (;;) {
        clearTimeout(timer);
        if (!queue.length) fill(1);
        const batch = await queue.shift();
        if (batch === END || batch === undefined) return;
        // Fetched as soon as the program waits for something, so that it gets this batch first.
        if (this.ahead > 0)
          timer = setTimeout(() => {
            fill(this.ahead);
          }, 0);
        yield (batch as { value: B }).value;
        this.progress?.({ loaded: ++used, total });
      }
    } finally {
      clearTimeout(timer);
      await close();
    }
  }

  private async collated(samples: readonly unknown[]): Promise<{ value: unknown }> {
    return { value: kept(await this.collate_fn(samples as never)) };
  }

  private byNumber(dataset: DatasetLike<unknown>): Drawing {
    // PyTorch draws a seed for its workers first; so does this, that what follows is the same.
    if (this.generator) for (let i = 0; i < 2; i++) this.generator.bits();
    const order = passOf<number | readonly number[]>(this.batch_sampler ?? this.sampler!);
    const whole = async (indices: readonly number[]): Promise<{ value: unknown }> => {
      const batch = this.collate_fn === default_collate && isBatching(dataset) ? dataset.getBatch(indices) : null;
      if (batch !== null) return { value: kept(batch) };
      const samples = indices.map((i) => sampleOf(dataset, i));
      return this.collated(kept(samples.some((s) => s instanceof Promise) ? await Promise.all(samples) : samples));
    };
    const one = async (index: number): Promise<{ value: unknown }> => ({
      value: kept(await this.collate_fn(kept(await sampleOf(dataset, index)) as never)),
    });
    return {
      async draw() {
        const next = order.next(),
          { done, value } = next instanceof Promise ? await next : next; // at once, where it can be
        return done ? END : typeof value === "number" ? one(value) : whole(value);
      },
      close: async () => {
        await order.return?.();
      },
    };
  }

  private inOrder(dataset: IterableLike<unknown>): Drawing {
    const samples = Symbol.asyncIterator in dataset ? dataset[Symbol.asyncIterator]() : dataset[Symbol.iterator]();
    const batch = async (): Promise<unknown> => {
      const list: unknown[] = [];
      for (const size = this.batch_size ?? 1; list.length < size; ) {
        const { done, value } = await samples.next();
        if (done) break;
        list.push(kept(value));
      }
      if (!list.length || (this.drop_last && list.length < this.batch_size!)) return END;
      return this.batch_size === null ? { value: kept(await this.collate_fn(list[0] as never)) } : this.collated(list);
    };
    // One after the other: an iterator has only one next.
    let last: Promise<unknown> = Promise.resolve();
    return {
      draw: () => (last = last.then((before) => (before === END ? END : batch()))),
      close: async () => {
        await samples.return?.();
      },
    };
  }
}

interface Drawing {
  /** The next batch as {value}, or END. */
  draw(): Promise<unknown>;
  close(): Promise<void>;
}

/* eslint-disable @typescript-eslint/no-explicit-any */
type Arguments<B> = [
  dataset: DatasetLike<unknown> | IterableLike<unknown>,
  ...options: (DataLoaderOptions<never, B> | number | boolean | null)[],
];
// Spelled out, since `callable` knows no type parameters.
/**
 * @example
 * const dataset = torch.utils.data.TensorDataset(torch.tensor([[1], [2], [3]]), torch.tensor([0, 1, 0]));
 * const batches = [];
 * for await (const [x, y] of torch.utils.data.DataLoader(dataset, { batch_size: 2 })) batches.push([x, y]);
 * batches  // [[[[1], [2]], [0, 1]], [[[3]], [0]]]
 */
export const DataLoader = /* @__PURE__ */ callable(
  DataLoaderClass,
  "DataLoader",
  "collated !, byNumber !, inOrder !",
) as typeof DataLoaderClass & (<B = any>(...args: Arguments<B>) => DataLoaderClass<B>);
export type DataLoader<B = any> = DataLoaderClass<B>;

/**
 * What an iterable dataset asks to share its samples with other workers: null, as in PyTorch where there are none.
 *
 * @example
 * torch.utils.data.get_worker_info()  // null
 */
export function get_worker_info(): null {
  taken("get_worker_info", arguments);
  return null;
}
