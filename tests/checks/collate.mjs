// How samples become batches: as PyTorch collates, as a function of one's own does, and how long they live.

import { range, batchesOf } from "./data.mjs";

export default {
  "samples are collated as PyTorch does": async (t) => {
    const { default_collate } = t.torch.utils.data,
      list = async (x) => [x.dtype, await x.tolist()];
    t.equal(await list(default_collate([1, 2])), ["int64", [1, 2]]);
    t.equal(await list(default_collate([1, 2.5])), ["float32", [1, 2.5]]);
    t.equal(await list(default_collate([true, false])), ["bool", [true, false]]);
    t.equal(await list(default_collate([new Float32Array([1, 2]), new Float32Array([3, 4])])), [
      "float32",
      [
        [1, 2],
        [3, 4],
      ],
    ]);
    t.equal(default_collate(["a", "b"]), ["a", "b"]);
    const {
      x,
      pair: [p, q],
    } = default_collate([
      { x: t.tensor([1]), pair: [1, "u"] },
      { x: t.tensor([2]), pair: [3, "v"] },
    ]);
    t.equal([await x.tolist(), x.device, await p.tolist(), q], [[[1], [2]], t.device, [1, 3], ["u", "v"]]);
    t.equal(
      await default_collate([new Map([["k", 1]]), new Map([["k", 2]])])
        .get("k")
        .tolist(),
      [1, 2],
    );
    await t.throws(() => default_collate([[1, 2], [3]]), /each element in list of batch should be of equal size/);
    await t.throws(
      () => default_collate([t.tensor([1]), t.tensor([1, 2])]),
      /stack expects each tensor to be equal size/,
    );
    await t.throws(
      () => default_collate([null]),
      /default_collate: batch must contain tensors, typed arrays, numbers, texts, objects or lists; found null/,
    );
    await t.throws(() => default_collate([{ a: 1 }, { b: 1 }]), /default_collate: a sample lacks "a"/);
    await t.throws(() => default_collate([1, "a"]), /a batch of numbers has "a" among them/);
  },
  "a collate_fn of one's own, and batches or samples as a sampler says": async (t) => {
    const { DataLoader, BatchSampler, SequentialSampler } = t.torch.utils.data,
      letters = ["a", "b", "c", "d", "e"];
    t.equal(await batchesOf(DataLoader(letters, { batch_size: 2, collate_fn: async (batch) => batch.join("") })), [
      "ab",
      "cd",
      "e",
    ]);
    t.equal(await batchesOf(DataLoader(letters, { batch_sampler: [[4, 0], [1]] })), [["e", "a"], ["b"]]);
    t.equal(await batchesOf(DataLoader(letters, { batch_size: null, sampler: [3, 1] })), ["d", "b"]);
    t.equal(
      [...BatchSampler(SequentialSampler(letters), 2, true)],
      [
        [0, 1],
        [2, 3],
      ],
    );
    t.equal([BatchSampler(range(5), 2).length, BatchSampler(range(5), 2, { drop_last: true }).length], [3, 2]);
    await t.throws(
      () => DataLoader(letters, { batch_size: 0 }),
      /batch_size should be a positive integer value, but got batch_size=0/,
    );
    await t.throws(
      () => DataLoader(letters, { sampler: [1], shuffle: true }),
      /sampler option is mutually exclusive with shuffle/,
    );
    await t.throws(
      () => DataLoader(letters, { batch_sampler: [[1]], batch_size: 2 }),
      /batch_sampler option is mutually exclusive with batch_size/,
    );
    await t.throws(
      () => DataLoader(letters, { batch_size: null, drop_last: true }),
      /disables auto-batching and is mutually exclusive with drop_last/,
    );
    await t.throws(
      () => DataLoader(letters, { batchsize: 3 }),
      /DataLoader: got an unexpected keyword argument 'batchsize'/,
    );
    await t.throws(
      () => DataLoader([], { shuffle: true }),
      /num_samples should be a positive integer value, but got num_samples=0/,
    );
    await t.throws(
      () => t.torch.utils.data.random_split(letters, [2, 2]),
      /Sum of input lengths does not equal the length of the input dataset! \(2 \+ 2 = 4, it has 5\)/,
    );
    await t.throws(
      () => [...t.torch.utils.data.RandomSampler([], { num_samples: 1 })],
      /RandomSampler: there are no samples to draw from/,
    );
    await t.throws(
      () => t.torch.utils.data.WeightedRandomSampler([1, -1], 2),
      /not negative, infinite or NaN, got number -1/,
    );
    await t.throws(
      () => t.torch.utils.data.WeightedRandomSampler(t.tensor([1]), 2),
      /must be a list of numbers \(await weights.tolist\(\)\), got Tensor/,
    );
    await t.throws(
      () => [...t.torch.utils.data.WeightedRandomSampler([0, 1], 2, false)],
      /cannot draw 2 samples without replacement where 1 have a weight/,
    );
  },
  "whatever a batch is made of lives on: lists, objects, Maps, within each other": async (t) => {
    const { DataLoader } = t.torch.utils.data,
      { tidy, Tensor } = t.torch,
      one = (i) => t.tensor([i, i + 1]);
    const samples = {
      tensors: one,
      lists: (i) => [one(i), [one(i)]],
      objects: (i) => ({ x: one(i), deep: { y: one(i) }, list: [one(i)] }),
      maps: (i) =>
        new Map([
          ["x", one(i)],
          ["deep", new Map([[3, { y: one(i) }]])],
        ]),
    };
    const tensorsIn = (value) =>
      value instanceof Tensor
        ? [value]
        : value instanceof Map
          ? [...value.values()].flatMap(tensorsIn)
          : Object.values(value).flatMap(tensorsIn);
    for (const [kind, sample] of Object.entries(samples)) {
      const collates = [
        undefined,
        (all) => all,
        async (all) => new Map([["all", { all }]]),
        (all) => ({ first: all[0], made: { x: one(7), y: new Map([[1, one(8)]]) } }),
      ];
      for (const collate_fn of collates) {
        for (const batch_size of [2, null]) {
          if (batch_size === null && collate_fn?.length === 1 && collate_fn !== collates[1]) continue;
          for (const get of [sample, async (i) => sample(i)]) {
            const loader = DataLoader({ length: 4, get }, { batch_size, ...(collate_fn ? { collate_fn } : {}) }),
              pass = loader[Symbol.asyncIterator](),
              out = [];
            for (let i = 0; i < 2; i++)
              await tidy(async () => {
                out.push((await pass.next()).value);
              });
            const found = out.flatMap(tensorsIn);
            t.equal(
              [kind, batch_size, found.length >= 2, found.map((x) => x.is_disposed).includes(true)],
              [kind, batch_size, true, false],
            );
            t.equal((await found[found.length - 1].tolist()).length, 2);
          }
        }
      }
    }
  },
};
