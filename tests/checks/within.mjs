// What changes part of a tensor in place writes that part and nothing else: caches of fixed size inside compiled steps.

/** In-place methods, their arguments for a tensor (3, 4), and whether they leave some of it as it was. */
const CHANGES = (t) => {
  const long = (x) => t.tensor(x, { dtype: "int64" }),
    two = t.tensor([
      [10, 20, 30, 40],
      [50, 60, 70, 80],
    ]);
  return {
    index_copy: [0, long([2, 0]), two],
    index_add: [0, long([1, 1]), two],
    index_fill: [1, long([3, 1]), 7],
    scatter: [
      1,
      long([
        [0, 2],
        [1, 3],
      ]),
      two,
    ],
    scatter_add: [
      1,
      long([
        [0, 0],
        [1, 3],
      ]),
      two,
    ],
    index_reduce: [0, long([2, 2]), two, "amax"],
    scatter_reduce: [0, long([[0, 1, 2, 2]]), two, "sum"],
    index_put: [[long([0, 2]), long([1, 1])], t.tensor([5, 6])],
  };
};
const start = (t) => t.torch.arange(12, { device: t.device, dtype: "float32" }).reshape(3, 4);

export default {
  "in place is as out of place, in views too": async (t) => {
    for (const [name, args] of Object.entries(CHANGES(t))) {
      const wanted = await t.torch[name](start(t), ...args).tolist(),
        x = start(t);
      t.equal(x[`${name}_`](...args) === x, true);
      t.equal([name, await x.tolist()], [name, wanted]);
      const base = t.torch.full([5, 9], -1, { device: t.device }),
        view = base.narrow(0, 1, 3).index(":", "1:9:2");
      view.copy_(start(t));
      view[`${name}_`](...args);
      t.equal([name, await view.tolist()], [name, wanted]);
      t.equal(await base.sum().item(), wanted.flat().reduce((a, b) => a + b, 0) - (45 - 12));
    }
  },
  "a source in the same memory is read before it is written": async (t) => {
    const x = start(t);
    x.index_copy_(0, t.tensor([1, 2], { dtype: "int64" }), x.narrow(0, 0, 2));
    t.equal(await x.tolist(), [
      [0, 1, 2, 3],
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
  },
  "gradients are those of a copy": async (t) => {
    const x = start(t).requires_grad_(),
      source = t.tensor([[1, 2, 3, 4]]).requires_grad_(),
      y = x.mul(2);
    y.index_copy_(0, t.tensor([1], { dtype: "int64" }), source);
    y.square().sum().backward();
    t.equal((await x.grad.tolist())[1], [0, 0, 0, 0]);
    t.equal((await x.grad.tolist())[0], [0, 8, 16, 24]);
    t.equal(await source.grad.tolist(), [[2, 4, 6, 8]]);
  },
  "a cache in a compiled step is written where a tensor says, without a copy of it": async (t) => {
    const { torch } = t,
      cache = torch.zeros([1, 2, 64, 4], { device: t.device }),
      ways = {
        index_copy_: (k, at) => cache.index_copy_(2, at, k),
        set: (k, at) => cache.set([":", ":", at], k),
        index_put_: (k, at) => cache.index_put_([null, null, at], k),
      };
    for (const [name, write] of Object.entries(ways)) {
      cache.zero_();
      const step = torch.compile((k, at) =>
        torch.no_grad(() => {
          write(k, at);
          return cache.sum(2);
        }),
      );
      for (let i = 0; i < 5; i++) {
        const got = await step(
          torch.full([1, 2, 1, 4], i + 1, { device: t.device }),
          t.tensor([3 * i], { dtype: "int64" }),
        ).tolist();
        t.equal(got[0][1], Array(4).fill(((i + 1) * (i + 2)) / 2));
      }
      t.equal(
        (await cache.select(3, 0).tolist())[0][0].filter((x) => x !== 0),
        [1, 2, 3, 4, 5],
      );
      const { recordings, replays, programs } = torch.compiler.counts(step);
      t.equal([recordings, replays, programs], [2, 3, 1]);
      const text = torch.compiler.explain(step),
        writes = text.split("\n").filter((line) => /= index_copy\(/.test(line));
      // one launch writes, into the cache's own memory, and no block of memory has room for a copy of it
      t.equal([name, writes.length], [name, 1]);
      const [, result, into] = /(%\d+) [^=]*= index_copy\((%\d+)/.exec(writes[0]);
      t.equal([name, result === into], [name, true]);
      t.equal([name, / copy %/.test(text)], [name, false]);
      const held = /(\d+) bytes \(/.exec(text);
      t.equal([name, Number(held[1]) < 2 * 64 * 4 * 4], [name, true]);
    }
  },
};
