// torch.utils.data: datasets, samplers and the loader.  The orders that are compared were drawn by PyTorch 2.13.

export const range = (n) => Array.from({ length: n }, (_, i) => i);

async function passes(loader, count = 1) {
  const out = [];
  for (let i = 0; i < count; i++) {
    const pass = [];
    for await (const batch of loader) pass.push(await batch.tolist());
    out.push(pass);
  }
  return count === 1 ? out[0] : out;
}

/** The batches of one pass. */
export async function batchesOf(loader) {
  const out = [];
  for await (const batch of loader) out.push(batch);
  return out;
}

export default {
  "shuffled with a seeded generator, the order is PyTorch's": async (t) => {
    const { data } = t.torch.utils,
      seeded = (seed) => new t.torch.Generator().manual_seed(seed);
    t.equal([...seeded(42).permutation(10)], [2, 6, 1, 8, 4, 5, 0, 9, 3, 7]);
    t.equal([...seeded(1).permutation(700)].slice(-5), [7, 128, 675, 59, 177]);
    t.equal(
      [...data.RandomSampler(range(5), { num_samples: 12, generator: seeded(3) })],
      [1, 0, 3, 4, 2, 0, 1, 2, 4, 3, 1, 4],
    );
    t.equal([...data.RandomSampler(range(7), true, 40, seeded(3))].slice(0, 12), [5, 3, 3, 4, 0, 6, 2, 4, 5, 0, 6, 6]);
    t.equal([...new data.SubsetRandomSampler([5, 6, 7, 8], seeded(4))], [7, 6, 8, 5]);
    t.equal(
      [...data.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 8, { generator: seeded(5) })],
      [4, 3, 3, 3, 3, 4, 4, 4],
    );
    t.equal([...data.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 4, false, seeded(5))], [4, 1, 3, 2]);
    t.equal(
      data.random_split(range(10), [0.3, 0.3, 0.4], { generator: seeded(42) }).map((s) => s.indices),
      [
        [2, 6, 1],
        [8, 4, 5],
        [0, 9, 3, 7],
      ],
    );
    t.equal(
      data.random_split(range(7), [0.5, 0.5], seeded(1)).map((s) => s.indices),
      [
        [0, 6, 1, 3],
        [5, 2, 4],
      ],
    );
    t.equal(await passes(data.DataLoader(range(7), { batch_size: 3, shuffle: true, generator: seeded(7) }), 3), [
      [[6, 3, 5], [0, 1, 4], [2]],
      [[0, 5, 1], [2, 4, 3], [6]],
      [[1, 5, 3], [6, 0, 4], [2]],
    ]);
    const generator = seeded(7),
      sampler = data.RandomSampler(range(5), { replacement: true, num_samples: 5, generator });
    t.equal(await passes(data.DataLoader(range(5), { batch_size: 2, sampler, generator }), 2), [
      [[1, 1], [3, 2], [2]],
      [[1, 3], [1, 3], [2]],
    ]);
  },
  "samplers draw as many as they are asked for": (t) => {
    const { data } = t.torch.utils;
    for (const n of [1, 4, 5, 6, 10, 11, 31, 32, 33, 64, 65]) {
      for (const replacement of [true, false]) {
        const sampler = data.RandomSampler(range(5), { replacement, num_samples: n }),
          drawn = [...sampler];
        t.equal([sampler.length, drawn.length, drawn.every((i) => range(5).includes(i))], [n, n, true]);
        if (replacement) continue;
        for (let at = 0; at + 5 <= n; at += 5) t.equal(drawn.slice(at, at + 5).sort(), range(5));
        t.equal(new Set(drawn.slice(n - (n % 5))).size, n % 5);
      }
      const weighted = data.WeightedRandomSampler([0.1, 0, 0.3], n);
      t.equal([weighted.length, [...weighted].length], [n, n]);
      const batches = (drop) => [...data.BatchSampler(range(n), 4, drop)].map((batch) => batch.length);
      for (const drop of [false, true]) t.equal(data.BatchSampler(range(n), 4, drop).length, batches(drop).length);
      t.equal(batches(true), Array(Math.floor(n / 4)).fill(4));
      t.equal(batches(false), [...Array(Math.floor(n / 4)).fill(4), ...(n % 4 ? [n % 4] : [])]);
    }
    t.equal([...data.WeightedRandomSampler([0.1, 0, 0.3], 2, false)].sort(), [0, 2]);
    t.throws(() => data.WeightedRandomSampler([0.1, 0, 0.3], 3, false), /cannot draw 3 samples .* where 2 have/);
  },
  "without one, torch.manual_seed decides": async (t) => {
    const {
        manual_seed,
        utils: { data },
      } = t.torch,
      orders = [];
    for (const seed of [1, 1, 2]) {
      manual_seed(seed);
      orders.push(await passes(new data.DataLoader(range(20), { batch_size: 20, shuffle: true }), 2));
    }
    t.equal(orders[0], orders[1]);
    t.equal(
      [
        JSON.stringify(orders[0]) === JSON.stringify(orders[2]),
        JSON.stringify(orders[0][0]) === JSON.stringify(orders[0][1]),
      ],
      [false, false],
    );
    t.equal(
      [...orders[0][0][0]].sort((a, b) => a - b),
      range(20),
    );
  },
  "batches of tensors stay on their device; a last short one comes or is dropped": async (t) => {
    const { DataLoader, TensorDataset, Subset } = t.torch.utils.data,
      x = t.tensor([
        [0, 1],
        [2, 3],
        [4, 5],
      ]),
      y = t.tensor([7, 8, 9], { dtype: "int32" });
    const set = TensorDataset(x, y),
      loader = DataLoader(set, 2),
      seen = [];
    t.equal([set.length, loader.length, DataLoader(set, { batch_size: 2, drop_last: true }).length], [3, 2, 1]);
    for await (const [a, b] of loader) seen.push([await a.tolist(), await b.tolist(), a.device, b.dtype]);
    t.equal(seen, [
      [
        [
          [0, 1],
          [2, 3],
        ],
        [7, 8],
        t.device,
        "int32",
      ],
      [[[4, 5]], [9], t.device, "int32"],
    ]);
    t.equal((await batchesOf(DataLoader(set, { batch_size: 2, drop_last: true }))).length, 1);
    const [a, b] = (await batchesOf(DataLoader(Subset(set, [2, 0]), { batch_size: 2 })))[0];
    t.equal(
      [await a.tolist(), await b.tolist(), await set.get(1)[0].tolist()],
      [
        [
          [4, 5],
          [0, 1],
        ],
        [9, 7],
        [2, 3],
      ],
    );
    t.equal(await passes(DataLoader(x, { batch_size: 2 })), [
      [
        [0, 1],
        [2, 3],
      ],
      [[4, 5]],
    ]);
    await t.throws(() => TensorDataset(x, t.tensor([1])), /TensorDataset: Size mismatch between tensors: 3, 1 rows/);
    await t.throws(
      () => batchesOf(DataLoader(set, { sampler: [0, 3] })),
      /TensorDataset: index 3 is out of bounds for dimension 0 with size 3/,
    );
  },
  "an order may be read from tensors, which is asynchronous": async (t) => {
    const { BatchSampler, DataLoader, Sampler, SequentialSampler } = t.torch.utils.data;
    class Sorted extends Sampler {
      constructor(sizes) {
        super();
        this.sizes = sizes;
      }
      get length() {
        return this.sizes.length;
      }
      async *[Symbol.asyncIterator]() {
        yield* await t.torch.argsort(t.tensor(this.sizes)).tolist();
      }
    }
    const sorted = new Sorted([3, 1, 5, 2, 4]),
      wanted = [[1, 3], [0, 4], [2]];
    t.equal(await passes(DataLoader(range(5), { batch_size: 2, sampler: sorted }), 2), [wanted, wanted]);
    t.equal(await passes(DataLoader(range(5), { batch_size: 2, sampler: sorted, prefetch_factor: 3 })), wanted);
    t.equal(await batchesOf(DataLoader(range(5), { batch_size: null, sampler: sorted })), wanted.flat());
    for (const [drop, count] of [
      [false, 3],
      [true, 2],
    ]) {
      const loader = DataLoader(range(5), { batch_sampler: BatchSampler(sorted, 2, drop) });
      t.equal([loader.length, await passes(loader)], [count, wanted.slice(0, count)]);
    }
    async function* pairs() {
      yield [4, 0];
      yield [1];
    }
    t.equal(await passes(DataLoader(range(5), { batch_sampler: pairs() })), [[4, 0], [1]]);
    t.equal([...BatchSampler(SequentialSampler(range(3)), 2)], [[0, 1], [2]]);
    t.equal(await batchesOf(BatchSampler(SequentialSampler(range(3)), 2)), [[0, 1], [2]]);
    await t.throws(() => [...sorted], /Sorted: goes through its samples with \[Symbol.asyncIterator\] alone/);
    await t.throws(() => [...BatchSampler(sorted, 2)], /Sorted: goes through its samples with/);
    await t.throws(() => [...BatchSampler(pairs(), 2)], /BatchSampler: goes through its samples with/);
    t.equal(t.torch.utils.data.get_worker_info(), null);
    const { Subset, SubsetRandomSampler, WeightedRandomSampler } = t.torch.utils.data;
    for (const make of [
      () => WeightedRandomSampler(t.tensor([0.5, 1]), 4),
      () => SubsetRandomSampler(t.tensor([0, 1])),
      () => Subset(range(3), t.tensor([0, 1])),
    ])
      await t.throws(make, /a list of numbers \(await (weights|indices)\.tolist\(\)\), got .*[Tt]ensor/);
    await t.throws(() => [...new (class Mine extends Sampler {})()], /Mine: a sampler needs \[Symbol.iterator\] or/);
    await t.throws(() => DataLoader(range(5), { sampler: 3 }), /DataLoader: .*sampler.*a sampler.*3/);
    await t.throws(() => DataLoader(range(5), { batch_sampler: {} }), /DataLoader: .*batch_sampler.*a sampler/);
    await t.throws(() => BatchSampler("abc", 2), /BatchSampler: .*a sampler/);
  },
  "a dataset is a class, an object or a list, and may answer promises": async (t) => {
    const { DataLoader, Dataset, ConcatDataset } = t.torch.utils.data;
    class Squares extends Dataset {
      get length() {
        return 5;
      }
      get(i) {
        return Promise.resolve({ x: t.tensor([i]), square: i * i });
      }
    }
    const [first, , last] = await batchesOf(DataLoader(new Squares(), { batch_size: 2 }));
    t.equal(
      [await first.x.tolist(), await first.square.tolist(), first.square.dtype, await last.square.tolist()],
      [[[0], [1]], [0, 1], "int64", [16]],
    );
    t.equal(await passes(DataLoader({ length: 3, get: (i) => i / 2 }, 3)), [[0, 0.5, 1]]);
    const both = ConcatDataset([[1, 2], { length: 2, get: (i) => 10 + i }]);
    t.equal([both.length, both.get(1), both.get(2), both.get(-1), both.cumulative_sizes], [4, 2, 10, 11, [2, 4]]);
    await t.throws(() => both.get(4), /ConcatDataset: index 4 is out of range for 4 samples/);
    await t.throws(() => new Dataset().length, /Dataset: a dataset needs a getter "length"/);
    await t.throws(() => DataLoader(7), /DataLoader: expected a dataset \(.*\), got number 7/);
  },
  "what comes one after the other is batched in its order, and closed when the program stops": async (t) => {
    const { DataLoader, IterableDataset } = t.torch.utils.data;
    let closed = 0;
    class Count extends IterableDataset {
      async *[Symbol.asyncIterator]() {
        try {
          for (let i = 0; i < 5; i++) yield i;
        } finally {
          closed++;
        }
      }
    }
    class Plain extends IterableDataset {
      *[Symbol.iterator]() {
        yield 1.5;
        yield 2;
      }
    }
    t.equal(await passes(DataLoader(new Count(), { batch_size: 2 }), 2), [
      [[0, 1], [2, 3], [4]],
      [[0, 1], [2, 3], [4]],
    ]);
    t.equal(await passes(DataLoader(new Count(), { batch_size: 2, drop_last: true, prefetch_factor: 3 })), [
      [0, 1],
      [2, 3],
    ]);
    t.equal(await passes(DataLoader(new Plain(), { batch_size: 5 })), [[1.5, 2]]);
    closed = 0;
    for await (const batch of DataLoader(new Count())) if (batch) break;
    t.equal(closed, 1);
    await t.throws(
      () => DataLoader(new Count(), { shuffle: true }),
      /with IterableDataset: expected unspecified shuffle option, but got shuffle=true/,
    );
    await t.throws(() => DataLoader(new Count()).length, /has no length/);
  },
  "the next batch is fetched while one is used, and no more than was asked for": async (t) => {
    const { DataLoader } = t.torch.utils.data,
      asked = [],
      wait = (ms) =>
        new Promise((done) => {
          setTimeout(done, ms);
        });
    const dataset = {
      length: 10,
      get: (i) => {
        asked.push(i);
        return wait(1).then(() => i);
      },
    };
    for (const [options, counts] of [
      [{}, [1, 2, 3]],
      [{ prefetch_factor: 0 }, [1, 1, 2]],
      [{ num_workers: 2 }, [1, 5, 6]],
    ]) {
      asked.length = 0;
      const batches = DataLoader(dataset, options)[Symbol.asyncIterator](),
        seen = [];
      await batches.next();
      seen.push(asked.length);
      await wait(20);
      seen.push(asked.length);
      await batches.next();
      await wait(20);
      t.equal([...seen, asked.length], counts);
      await batches.return();
    }
  },
  "a sample that fails makes its batch fail, not those before": async (t) => {
    const { DataLoader } = t.torch.utils.data,
      seen = [];
    const loader = DataLoader({
      length: 4,
      get: (i) => {
        if (i === 2) throw new Error("no sample 2");
        return i;
      },
    });
    await t.throws(async () => {
      for await (const batch of loader) {
        seen.push(await batch.tolist());
        await new Promise((done) => {
          setTimeout(done, 10);
        });
      }
    }, /no sample 2/);
    t.equal(seen, [[0], [1]]);
    const asked = [],
      get = (i) => {
        asked.push(i);
        if (i === 2) throw new Error("no sample 2");
        return i;
      };
    await t.throws(async () => {
      for await (const _ of DataLoader({ length: 9, get }, { num_workers: 1, prefetch_factor: 3 }))
        await new Promise((done) => {
          setTimeout(done, 10);
        });
    }, /no sample 2/);
    t.equal(asked, [0, 1, 2, 3]); // nothing behind it once it is known
  },
  "batches live on when the tidy scope ends in which they were fetched": async (t) => {
    const { DataLoader, TensorDataset } = t.torch.utils.data,
      { tidy } = t.torch,
      out = [];
    for await (const [x] of DataLoader(TensorDataset(t.tensor([1, 2, 3])))) {
      await tidy(async () => {
        await new Promise((done) => {
          setTimeout(done, 10);
        });
        out.push(await x.mul(2).item());
      });
    }
    t.equal(out, [2, 4, 6]);
  },
};
