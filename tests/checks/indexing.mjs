// x[...] and x[...] = value in every mix, and the gradients through both.  Wanted values are PyTorch's.
const long = (t, data) => t.tensor(data, { dtype: t.torch.long });
const grid = (t, options) =>
  t.torch
    .arange(12, { dtype: "float32", device: t.device })
    .reshape(3, 4)
    .clone()
    .requires_grad_(options?.requires_grad ?? false);

export default {
  "integers, slices, null, dots and booleans are views": async (t) => {
    const x = grid(t);
    t.equal(await x.index(-1, "1::2").tolist(), [9, 11]);
    t.equal(x.index(null, "...", null).shape, [1, 3, 4, 1]);
    t.equal(x.index(true).shape, [1, 3, 4]);
    t.equal(x.index(false).shape, [0, 3, 4]);
    x.index("...", 0).zero_();
    t.equal(await x.index(":", 0).tolist(), [0, 0, 0]);
    await t.throws(() => x.index(0, 0, 0), /too many indices for tensor of dimension 2/);
    await t.throws(() => x.index("...", "..."), /single ellipsis/);
    await t.throws(() => x.index("::-1"), /step must be positive/);
  },
  "index tensors broadcast, and stay in place where they are neighbours": async (t) => {
    const x = t.torch.arange(24, { dtype: "float32", device: t.device }).reshape(2, 3, 4);
    t.equal(
      await x
        .index(long(t, [[0], [1]]), long(t, [0, -1]))
        .index("...", 0)
        .tolist(),
      [
        [0, 8],
        [12, 20],
      ],
    );
    t.equal(x.index(":", long(t, [[0, 1, 2]]), long(t, [[1], [2]])).shape, [2, 2, 3]);
    t.equal(x.index(long(t, [0, 1, 1]), ":", long(t, [3, 0, 1])).shape, [3, 3]);
    t.equal(await x.index(long(t, [0, 1, 1]), ":", long(t, [3, 0, 1])).tolist(), [
      [3, 7, 11],
      [12, 16, 20],
      [13, 17, 21],
    ]);
    t.equal(await x.index(1, [2, 0], "::3").tolist(), [
      [20, 23],
      [12, 15],
    ]);
    t.equal(await x.index(long(t, 1), 0).tolist(), [12, 13, 14, 15]);
    t.equal(x.index(long(t, [])).shape, [0, 3, 4]);
    await t.throws(() => x.index(long(t, [0, 1]), long(t, [0, 1, 2])), /could not be broadcast together/);
    await t.throws(() => x.index(t.tensor([0.5])), /must be long, int, byte or bool/);
    await t.throws(() => x.index([0, 7]), /index 7 is out of bounds for dimension 0 with size 2/);
  },
  masks: async (t) => {
    const x = grid(t);
    t.equal(await (await x.index(x.gt(8))).tolist(), [9, 10, 11]);
    t.equal(await (await x.index(t.tensor([true, false, true]), 1)).tolist(), [1, 9]);
    t.equal(await (await x.index(":", t.tensor([false, true, true, false]))).tolist(), [
      [1, 2],
      [5, 6],
      [9, 10],
    ]);
    t.equal(await (await x.index(t.tensor([1, 0, 1], { dtype: "uint8" }), long(t, [0, 3]))).tolist(), [0, 11]);
    t.equal((await x.index(t.tensor(true))).shape, [1, 3, 4]);
    t.equal((await x.index(x.gt(100))).shape, [0]);
    t.equal(await x.index([true, false, false]).tolist(), [[0, 1, 2, 3]]);
    await t.throws(() => x.index(t.tensor([true, false])), /shape of the mask \[2\] at index 0 does not match/);
  },
  assigning: async (t) => {
    const x = grid(t);
    x.set([0, "1:3"], t.tensor([50, 60]));
    x.set([long(t, [1, -1]), long(t, [0, 0])], t.tensor([7, 8]));
    t.equal(await x.tolist(), [
      [0, 50, 60, 3],
      [7, 5, 6, 7],
      [8, 9, 10, 11],
    ]);
    x.set([x.ge(9)], -1);
    t.equal(await x.tolist(), [
      [0, -1, -1, 3],
      [7, 5, 6, 7],
      [8, -1, -1, -1],
    ]);
    x.set([":", t.tensor([true, false, false, true])], t.tensor([[1], [2], [3]]));
    t.equal(await x.tolist(), [
      [1, -1, -1, 1],
      [2, 5, 6, 2],
      [3, -1, -1, 3],
    ]);
    await x.set([x.lt(0)], t.tensor([10, 20, 30, 40]));
    t.equal(await x.tolist(), [
      [1, 10, 20, 1],
      [2, 5, 6, 2],
      [3, 30, 40, 3],
    ]);
    x.set([[0, 2]], t.tensor([[9, 9, 9, 9]]));
    t.equal(await x.index(":", 0).tolist(), [9, 2, 9]);
    await t.throws(
      () => x.set([[0, 1]], t.tensor([1, 2, 3])),
      /value tensor of shape \[3\] cannot be broadcast to indexing result of shape \[2, 4\]/,
    );
    await t.throws(
      () => x.set([t.tensor([true, false, true])], t.torch.zeros([3, 4], { device: t.device })),
      /cannot be broadcast/,
    );
  },
  "a value of another type is cast in views and, alone, under a mask; places that tensors pick refuse it": async (
    t,
  ) => {
    const x = long(t, [1, 2, 3]),
      half = t.tensor([7.9]),
      other =
        /set: Index put requires the source and destination dtypes match, got int64 for the destination and float32/;
    x.set([1], half);
    t.equal(await x.tolist(), [1, 7, 3]);
    x.set(["1:"], t.tensor([4.5, 5.5]));
    t.equal(await x.tolist(), [1, 4, 5]);
    x.set([t.tensor([true, false, true])], half);
    t.equal(await x.tolist(), [7, 4, 7]);
    x.set([[0, 1]], 2.5);
    t.equal(await x.tolist(), [2, 2, 7]);
    for (const places of [[0, 1], [[1], [0]], long(t, [0, 1]), long(t, [0]), t.tensor([true, false, true])])
      await t.throws(() => x.set([places], t.tensor([1.5, 2.5])), other);
    await t.throws(() => x.set([[0, 1]], t.tensor(1.5)), other);
    await t.throws(() => x.index_put_([long(t, [0])], t.tensor([1.5])), /source and destination dtypes match/);
    await t.throws(
      () => x.float().set([[0]], x.index(":1")),
      /got float32 for the destination and int64 for the source/,
    );
    t.equal(await x.tolist(), [2, 2, 7]);
  },
  "index_put_ adds up places named twice": async (t) => {
    const x = t.torch.zeros([3], { device: t.device });
    x.index_put_([long(t, [0, 2, 0])], t.tensor([1, 2, 4]), true);
    t.equal(await x.tolist(), [5, 0, 2]);
    const y = await t.torch.index_put(x, [t.tensor([true, false, true])], t.tensor([10, 20]), { accumulate: true });
    t.equal(await y.tolist(), [15, 0, 22]);
    t.equal(await x.tolist(), [5, 0, 2]);
    const z = t.torch.zeros([2, 2], { device: t.device }).index_put_([null, long(t, [1])], t.tensor(3));
    t.equal(await z.tolist(), [
      [0, 3],
      [0, 3],
    ]);
  },
  "gradients through reading": async (t) => {
    const x = grid(t, { requires_grad: true });
    const picked = x
      .index(long(t, [0, 0]), "::2")
      .sum()
      .add((await x.index(x.gt(9))).mul(5).sum());
    picked.backward();
    t.equal(await x.grad.tolist(), [
      [2, 0, 2, 0],
      [0, 0, 0, 0],
      [0, 0, 5, 5],
    ]);
  },
  "gradients through assigning": async (t) => {
    const x = grid(t, { requires_grad: true }),
      v = t.tensor([10, 20], { requires_grad: true }),
      y = x.mul(2);
    y.set([long(t, [0, 2]), long(t, [1, 1])], v);
    y.set([y.lt(3)], 0);
    y.mul(3).sum().backward();
    t.equal(await x.grad.tolist(), [
      [0, 0, 6, 6],
      [6, 6, 6, 6],
      [6, 0, 6, 6],
    ]);
    t.equal(await v.grad.tolist(), [3, 3]);
    const w = t.tensor(2, { requires_grad: true }),
      z = t.torch.zeros([2, 3], { device: t.device });
    z.set([t.tensor([true, false])], w);
    z.sum().backward();
    t.equal(await w.grad.item(), 3);
    await t.throws(() => x.set([[0]], 1), /leaf Variable that requires grad/);
  },
  "gradients of gradients through an index": async (t) => {
    const x = t.tensor([1, 2, 3], { requires_grad: true });
    const [first] = t.torch.autograd.grad(x.index([0, 2, 2]).pow(3).sum(), [x], { create_graph: true });
    first.sum().backward();
    t.equal(await x.grad.tolist(), [6, 0, 36]);
  },
  "an index that is a tensor is captured with a program, not its values": async (t) => {
    const { torch } = t,
      step = (x, i, j) => {
        const y = x.index(i, j).mul(2).sum().add(x.index(":", j).sum());
        return y.add(torch.index_put(x, [i, j], x.index(j, i).neg(), { accumulate: true }).pow(2).sum());
      },
      compiled = torch.compile(step, { fullgraph: true });
    for (const [i, j] of [
      [
        [0, 2],
        [1, -1],
      ],
      [
        [0, 2],
        [1, -1],
      ],
      [
        [1, 1],
        [0, 2],
      ],
      [
        [-1, 0],
        [2, 2],
      ],
    ]) {
      const [a, b] = [grid(t, { requires_grad: true }), grid(t, { requires_grad: true })],
        eager = step(a, long(t, i), long(t, j)),
        replayed = compiled(b, long(t, i), long(t, j));
      torch.autograd.backward([eager, replayed]);
      t.close(await replayed.item(), await eager.item(), { rtol: 1e-6 });
      t.close(await b.grad.tolist(), await a.grad.tolist(), { rtol: 1e-6 });
    }
    t.equal(torch.compiler.counts(compiled).replays > 1, true);
    await t.throws(async () => (await compiled(grid(t), long(t, [3, 0]), long(t, [0, 0]))).item(), /out of bounds/);
  },
  "places of complex numbers that are not zero in one part or the other": async (t) => {
    const { torch } = t,
      z = torch.complex(t.tensor([1, 0, 0, NaN, 0, 0]), t.tensor([0, 0, 3, 0, -1, 0]));
    t.equal(await (await torch.nonzero(z)).tolist(), [[0], [2], [3], [4]]);
    t.equal(await (await torch.argwhere(z.reshape(2, 3).t())).tolist(), [
      [0, 0],
      [0, 1],
      [1, 1],
      [2, 0],
    ]);
    t.equal((await torch.nonzero(z.select(0, 1))).shape, [0, 0]);
    await t.throws(() => torch.unique(z), /"unique" not implemented for complex64/);
  },
};
