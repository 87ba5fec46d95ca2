// Views share their base's storage; kernels follow any strides.
const grid = (t) =>
  t.tensor([
    [1, 2, 3],
    [4, 5, 6],
  ]);

export default {
  "a window may be as long as its axis; tensors of other ranks broadcast": async (t) => {
    const x = t.tensor([1, 2, 3]);
    t.equal(await x.unfold(0, 3, 1).tolist(), [[1, 2, 3]]);
    await t.throws(() => x.unfold(0, 4, 1), /maximum size for tensor at dimension 0 is 3 but size is 4/);
    const made = t.torch.broadcast_tensors(t.tensor(7), x, t.tensor([[1], [2]]));
    t.equal(
      made.map(({ shape }) => shape),
      Array(3).fill([2, 3]),
    );
    t.equal(await made[0].tolist(), [
      [7, 7, 7],
      [7, 7, 7],
    ]);
  },
  "as_strided as a method takes its offset by name, too": async (t) => {
    const x = t.torch.arange(6, { device: t.device });
    t.equal(await x.as_strided([2], [2], { storage_offset: 1 }).tolist(), [1, 3]);
    t.equal(
      await x.as_strided_scatter(t.tensor([-1, -2], { dtype: "int32" }), [2], [2], { storage_offset: 1 }).tolist(),
      [0, -1, 2, -2, 4, 5],
    );
    const apart = x.as_strided([3], [2], 1),
      src = t.tensor([-1, -2], { dtype: "int32" });
    // the places 2 and 3 of memory, of which 3 is seen
    t.equal(await apart.as_strided_scatter(src, [2], [1], 2).tolist(), [1, -2, 5]);
    t.equal(await apart.as_strided_scatter(src, [2], [1]).tolist(), [-1, 3, 5]);
  },
  "sizes and strides are lists that nobody can change, of whatever makes a tensor": async (t) => {
    const { torch } = t,
      { nn } = torch,
      given = [2, 3],
      x = torch.ones(given, { device: t.device }),
      long = t.tensor([0, 1], { dtype: torch.long });
    t.equal(
      [
        await t.throws(() => x.add(1).shape.reverse(), /read only|immutable|extensible|Cannot assign/),
        [...x.add(1).shape],
      ],
      [undefined, [2, 3]],
    );
    for (const name of ["shape", "strides"])
      await t.throws(() => {
        x[name] = [6];
      }, /only a getter|no setter|setting getter-only/);
    const parts = [];
    await torch.save(
      { x },
      new WritableStream({
        write: (part) => {
          parts.push(part.slice());
        },
      }),
    );
    const loaded = await torch.load(new Blob(parts), { map_location: t.device });
    const leaf = t.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requires_grad: true },
    );
    leaf.mul(leaf).t().sum().backward();
    const made = [
      x,
      torch.empty(3),
      torch.full(given, 1),
      torch.randint(0, 3, given),
      torch.zeros({ size: given }),
      torch.tensor([1, 2, 3, 4, 5, 6], { shape: given }),
      torch.eye(2),
      torch.arange(3),
      torch.linspace(0, 1, 3),
      torch.randperm(3),
      torch.rand(given),
      torch.zeros_like(x),
      torch.tensor(5),
      new torch.Tensor([1]),
      x.clone(),
      await x.to("cpu"),
      x.to(torch.int32),
      x.add(1),
      x.sum(),
      ...x.max(1),
      x.matmul(x.t()),
      x.t(),
      x.view(6),
      x.reshape(3, 2),
      x.expand(2, 2, 3),
      x.unsqueeze(0),
      x.squeeze(),
      x.narrow(1, 0, 2),
      x.select(0, 0),
      x.diagonal(),
      x.unfold(1, 2, 1),
      x.as_strided(given, [3, 1]),
      x.flatten(),
      x.detach(),
      x.permute([1, 0]),
      ...x.split(1),
      ...x.unbind(),
      x.index(long),
      torch.cat([x, x]),
      torch.stack([x, x]),
      torch.einsum("ij,kj->ik", x, x),
      x.clone().resize_(1, 2),
      x.clone().resize_(4, 4),
      x.clone().t_(),
      x.clone().unsqueeze_(0),
      leaf.grad,
      ...torch.meshgrid([long, long]),
      await x.masked_select(x.gt(0)),
      loaded.x,
      ...nn.LSTM(3, 2).to(t.device)(x.unsqueeze(0)).slice(0, 1),
      ...nn.Conv2d(1, 1, 3).parameters(),
    ];
    for (const [i, { shape, strides }] of made.entries()) {
      if (!Object.isFrozen(shape) || !Object.isFrozen(strides))
        throw new Error(`tensor ${i}, of shape [${shape}] and strides [${strides}]`);
    }
    t.equal([x.size(), x.stride(), given].map(Object.isFrozen), [true, true, false]);
    given[0] = 7;
    t.equal(
      made.slice(0, 5).map(({ shape }) => shape[0]),
      [2, 3, 2, 2, 2],
    );
  },
  "options of a call are not the lists that it was given": async (t) => {
    const { conv2d } = t.torch.nn.functional,
      x = t.torch.ones([1, 1, 4, 4], { device: t.device }),
      w = t.torch.ones([1, 1, 3, 3], { device: t.device, requires_grad: true });
    const stride = [2, 2],
      padding = [1, 1],
      out = conv2d(x, w, null, stride, padding);
    stride[0] = padding[1] = 3;
    out.sum().backward();
    t.equal(
      [[...out.shape], await w.grad.tolist()],
      [
        [1, 1, 2, 2],
        [
          [
            [
              [1, 2, 2],
              [2, 4, 4],
              [2, 4, 4],
            ],
          ],
        ],
      ],
    );
    t.equal([...conv2d(x, w, null, [2, 2], [1, 1]).shape], [1, 1, 2, 2]);
  },
  "views of views share one storage": async (t) => {
    const x = grid(t),
      v = x.transpose(0, 1).select(0, 1).unsqueeze(0);
    t.equal([...v.shape], [1, 2]);
    x.mul_(10);
    t.equal(await v.tolist(), [[20, 50]]);
  },
  "a transposed tensor is read by its strides": async (t) => {
    const x = grid(t);
    t.equal(await x.t().add(1).tolist(), [
      [2, 5],
      [3, 6],
      [4, 7],
    ]);
    t.equal(await x.t().matmul(x).tolist(), [
      [17, 22, 27],
      [22, 29, 36],
      [27, 36, 45],
    ]);
    t.equal(await x.permute(1, 0).sum(0).tolist(), [6, 15]);
    t.equal(await x.t().reshape(2, 3).tolist(), [
      [1, 4, 2],
      [5, 3, 6],
    ]);
  },
  "expand broadcasts without a copy": async (t) => {
    const row = t.tensor([1, 2, 3]).expand(2, 3);
    t.equal([...row.stride()], [0, 1]);
    t.equal(await row.add(grid(t)).tolist(), [
      [2, 4, 6],
      [5, 7, 9],
    ]);
  },
  "narrow, slices, steps and negative numbers": async (t) => {
    const x = t.torch.arange(10, { device: t.device });
    t.equal(await x.narrow(0, 2, 3).tolist(), [2, 3, 4]);
    t.equal(await x.index("1:8:3").tolist(), [1, 4, 7]);
    t.equal(await x.index("-3:").tolist(), [7, 8, 9]);
    t.equal(await x.index(-1).item(), 9);
    const y = x.reshape(2, 5);
    t.equal(await y.index(1, "::2").tolist(), [5, 7, 9]);
    t.equal(await y.index("...", null, 0).tolist(), [[0], [5]]);
  },
  "indexing with tensors": async (t) => {
    const x = grid(t);
    t.equal(await x.index(":", t.tensor([2, 0], { dtype: t.torch.long })).tolist(), [
      [3, 1],
      [6, 4],
    ]);
    // on a GPU a promise: only the GPU knows how many there are
    t.equal(await (await x.index(x.gt(3))).tolist(), [4, 5, 6]);
  },
  "assignment to a part": async (t) => {
    const x = t.torch.zeros([2, 3], { device: t.device });
    x.set([":", 1], t.tensor([7, 8]));
    x.set([0, "::2"], 5);
    t.equal(await x.tolist(), [
      [5, 7, 5],
      [0, 8, 0],
    ]);
  },
  "in-place operations write through a view": async (t) => {
    const x = grid(t);
    x.select(1, 0).add_(100);
    t.equal(await x.tolist(), [
      [101, 2, 3],
      [104, 5, 6],
    ]);
    x.t().mul_(t.tensor([1, 0]));
    t.equal(await x.tolist(), [
      [101, 2, 3],
      [0, 0, 0],
    ]);
  },
  "as_strided overlaps": async (t) => {
    const x = t.torch.arange(5, { device: t.device });
    t.equal(await t.torch.as_strided(x, [3, 3], [1, 1]).tolist(), [
      [0, 1, 2],
      [1, 2, 3],
      [2, 3, 4],
    ]);
  },
  "rank 7": async (t) => {
    const x = t.torch.arange(128, { device: t.device }).reshape(2, 2, 2, 2, 2, 2, 2).permute(6, 5, 4, 3, 2, 1, 0);
    t.equal((await x.add(0).flatten().tolist()).slice(0, 5), [0, 64, 32, 96, 16]);
    t.equal(await x.sum([0, 2, 4, 6]).flatten().tolist(), await x.sum([0, 2, 4, 6]).contiguous().flatten().tolist());
  },
  "tensors without elements": async (t) => {
    const none = t.torch.zeros([0, 3], { device: t.device });
    t.equal(await none.add(1).tolist(), []);
    t.equal(await none.sum().item(), 0);
    t.equal(await none.sum(0).tolist(), [0, 0, 0]);
    t.equal(
      await t.torch
        .zeros([2, 0], { device: t.device })
        .matmul(t.torch.zeros([0, 2], { device: t.device }))
        .tolist(),
      [
        [0, 0],
        [0, 0],
      ],
    );
    t.equal(await t.torch.cat([none, t.tensor([[1, 2, 3]])]).tolist(), [[1, 2, 3]]);
  },
  "a tensor turned in place keeps its elements and its gradient": async (t) => {
    const x = grid(t);
    t.equal(await x.t_().tolist(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
    t.equal([...x.unsqueeze_(0).shape], [1, 3, 2]);
    t.equal([...x.transpose_(1, 2).squeeze_().shape], [2, 3]);
    const leaf = grid(t).requires_grad_(true),
      y = leaf.mul(2);
    y.t_()
      .mul(
        t.tensor([
          [1, 2],
          [3, 4],
          [5, 6],
        ]),
      )
      .sum()
      .backward();
    t.equal(await leaf.grad.tolist(), [
      [2, 6, 10],
      [4, 8, 12],
    ]);
    await t.throws(() => grid(t).requires_grad_(true).t_(), /leaf Variable/);
  },
  "flip, roll and diff along several axes": async (t) => {
    const x = grid(t),
      { torch } = t;
    t.equal(await torch.flip(x, { dims: [0, 1] }).tolist(), [
      [6, 5, 4],
      [3, 2, 1],
    ]);
    t.equal(await x.roll([1, -1], [0, 1]).tolist(), [
      [5, 6, 4],
      [2, 3, 1],
    ]);
    t.equal(await x.roll(2).tolist(), [
      [5, 6, 1],
      [2, 3, 4],
    ]);
    t.equal(await x.diff(2).tolist(), [[0], [0]]);
    t.equal(await x.diff(1, 0, x.select(0, 0).unsqueeze(0)).tolist(), [
      [0, 0, 0],
      [3, 3, 3],
    ]);
    t.equal([...x.diff(5, 1).shape], [2, 0]);
    await t.throws(() => x.roll([1, 2]), /must align/);
    await t.throws(() => x.roll(1, 2), /[Dd]imension/);
    t.equal(t.torch.zeros([2, 0], { device: t.device }).roll([1, 2], [0, 7]).shape, [2, 0]);
    await t.throws(() => x.flip(0, 0), /multiple times/);
  },
  "comparisons in place keep the type of the tensor": async (t) => {
    const x = grid(t);
    t.equal(await x.gt_(3).tolist(), [
      [0, 0, 0],
      [1, 1, 1],
    ]);
    t.equal(x.dtype, "float32");
    const leaf = grid(t).requires_grad_(true),
      y = leaf.mul(2);
    y.gt_(3).add(leaf).sum().backward();
    t.equal(await leaf.grad.tolist(), [
      [1, 1, 1],
      [1, 1, 1],
    ]);
    for (const op of ["eq_", "ne_", "lt_", "le_", "gt_", "ge_"]) {
      const other = t.tensor([2, 0, 1], { requires_grad: true }),
        made = grid(t)[op](other);
      t.equal(made.requires_grad, true);
      made.mul(2).sum().backward();
      t.equal(await other.grad.tolist(), [0, 0, 0]);
      t.equal(t.tensor([1, 2])[op](2).requires_grad, false);
      t.equal(t.tensor([1, 2], { dtype: "int32" })[op](t.tensor([1, 2])).requires_grad, false);
    }
  },
  "masked_fill keeps the type": async (t) => {
    const x = t.tensor([true, false]);
    t.equal((await x.masked_fill(t.tensor([false, true]), 10)).dtype, "bool");
    t.equal(await x.masked_fill(t.tensor([false, true]), 10).tolist(), [true, true]);
  },
  "what a function makes anew is no view of it: it may leave the tape": (t) => {
    const { torch } = t,
      x = grid(t).requires_grad_(true),
      at = t.tensor([1], { dtype: "int64" });
    for (const made of [
      torch.take(x, at.reshape([])),
      torch.take(x, at.reshape([1, 1])),
      x.put(at, t.tensor([9])),
      x.put(at, t.tensor([9]), true),
      ...[1, 2, 3, 4].map((k) => torch.rot90(x, k)),
    ]) {
      t.equal([made.requires_grad, made.base], [true, null]);
      made.detach_();
      t.equal(made.requires_grad, false);
    }
  },
};
