// Arguments that PyTorch's own tests give and few programs do: sizes, indices and axes of nothing, numbers instead of
// floats, what a module's call is told besides its tensors.
const long = { dtype: "int64" };

export default {
  "an index without elements changes nothing, whatever its rank": async (t) => {
    const { torch } = t,
      x = t.tensor([
        [1, 2],
        [3, 4],
      ]);
    for (const shape of [[0], [0, 2, 3], [2, 0]]) {
      const index = torch.zeros(shape, { dtype: "int64", device: t.device });
      const same = async (out) =>
        t.equal(await out.tolist(), [
          [1, 2],
          [3, 4],
        ]);
      await same(x.scatter(0, index, x));
      await same(x.scatter(-2, index, 1.5));
      await same(x.scatter(0, index, x, { reduce: "add" }));
      await same(x.scatter(0, index, x, { reduce: "multiply" }));
      await same(x.scatter(0, index, 2, { reduce: "multiply" }));
      await same(x.scatter_add(0, index, x));
      for (const reduce of ["sum", "mean", "prod", "amax", "amin"]) await same(x.scatter_reduce(0, index, x, reduce));
      await same(x.clone().scatter_(0, index, x));
    }
    const one = t.tensor([1], long);
    await t.throws(() => x.scatter(0, one, x), /scatter: Index tensor must have the same number of dimensions/);
    await t.throws(
      () => x.scatter(2, torch.zeros([0], { dtype: "int64", device: t.device }), x),
      /Dimension out of range/,
    );
  },
  "tensors of nothing are joined along any axis": async (t) => {
    const nothing = t.torch.zeros([0], { device: t.device });
    t.equal([...t.torch.cat([nothing, nothing], { dim: 1 }).shape], [0]);
    t.equal([...t.torch.cat([nothing, t.torch.ones([2, 1], { device: t.device })], { dim: 1 }).shape], [2, 1]);
  },
  "pools refuse inputs without channels, and take batches of nothing": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      zeros = (...shape) => torch.zeros(shape, { device: t.device });
    const around = { 1: [6], 2: [6, 6], 3: [6, 6, 6] };
    for (const D of [1, 2, 3]) {
      const pools = {
        max: (x) => F[`max_pool${D}d`](x, 3),
        "max with indices": (x) => F[`max_pool${D}d`](x, 3, { return_indices: true })[0],
        average: (x) => F[`avg_pool${D}d`](x, 3),
        power: (x) => F[`lp_pool${D}d`](x, 2, 3),
        "adaptive max": (x) => F[`adaptive_max_pool${D}d`](x, 3),
        ...(D > 1 && { fractional: (x) => F[`fractional_max_pool${D}d`](x, 3, { output_size: 2 }) }),
      };
      for (const [, pool] of Object.entries(pools)) {
        await t.throws(() => pool(zeros(1, 0, ...around[D])), /batch mode|non-zero size/);
        await t.throws(() => pool(zeros(0, ...around[D])), /batch mode|non-zero size/);
        t.equal(pool(zeros(0, 2, ...around[D])).shape.slice(0, 2), [0, 2]);
      }
      t.equal(F[`adaptive_avg_pool${D}d`](zeros(1, 0, ...around[D]), 3).shape.slice(0, 2), [1, 0]);
    }
  },
  "a pool's module is told the size in its call, by name or by place": async (t) => {
    const { nn } = t.torch,
      pool = new nn.MaxPool2d(2, { stride: 2, return_indices: true }),
      unpool = new nn.MaxUnpool2d(2, { stride: 2 }),
      x = t.torch.arange(1, 26, { dtype: "float32", device: t.device }).reshape(1, 1, 5, 5),
      [y, at] = pool(x);
    for (const size of [[5, 5], [1, 1, 5, 5], x.shape]) {
      for (const out of [unpool(y, at, { output_size: size }), unpool(y, at, size), unpool.forward(y, at, size)]) {
        t.equal([...out.shape], [1, 1, 5, 5]);
        t.equal(await out.sum().item(), await y.sum().item());
      }
    }
    t.equal([...unpool(y, { indices: at, output_size: [5, 5] }).shape], [1, 1, 5, 5]);
    await t.throws(() => unpool(y, at, { output_size: [9, 9] }), /invalid output_size/);
    await t.throws(
      () => unpool(y, at, { kernel_size: 3 }),
      /MaxUnpool2d: got an unexpected keyword argument 'kernel_size'/,
    );
    await t.throws(() => unpool(y, at, { size: 3 }), /unexpected keyword argument 'size'/);
    await t.throws(() => unpool(y, at, [5, 5], 1), /MaxUnpool2d: takes at most 3 positional arguments, but got 4/);
    await t.throws(() => new nn.ReLU()(y, y), /positional argument/);
  },
  "tables of whole numbers and of bools are looked up": async (t) => {
    const { torch } = t,
      at = t.tensor([1, 0, 1], long);
    for (const [dtype, rows] of [
      [
        "int64",
        [
          [1, 2],
          [3, 4],
        ],
      ],
      [
        "int32",
        [
          [1, 2],
          [3, 4],
        ],
      ],
      [
        "uint8",
        [
          [1, 2],
          [3, 255],
        ],
      ],
      [
        "bool",
        [
          [true, false],
          [false, true],
        ],
      ],
    ]) {
      const table = t.tensor(rows, { dtype }),
        wanted = [rows[1], rows[0], rows[1]];
      for (const out of [torch.nn.functional.embedding(at, table), torch.nn.Embedding.from_pretrained(table)(at)]) {
        t.equal(await out.tolist(), wanted);
        t.equal(out.dtype, table.dtype);
        t.equal(out.requires_grad, false);
      }
    }
    await t.throws(
      () => torch.nn.Embedding.from_pretrained(t.tensor([[1]], long), { freeze: false }),
      /only Tensors of floating point/,
    );
    const learned = torch.nn.Embedding.from_pretrained(t.tensor([[1, 2]]), { freeze: false });
    t.equal(learned.weight.requires_grad, true);
  },
  "a number is no list of widths, but where one length is possible": async (t) => {
    const { F, x } = { F: t.torch.nn.functional, x: t.tensor([[[[1, 2]]]]) };
    for (const mode of ["constant", "reflect", "replicate", "circular"])
      for (const call of [() => F.pad(x, 1, { mode }), () => F.pad(x, { pad: 1, mode })])
        await t.throws(call, /pad\w*: argument 'pad' must be a list of whole numbers, got number 1/);
    t.equal([...F.pad(x, [1, 1]).shape], [1, 1, 1, 4]);
    t.equal([...t.torch.nn.ConstantPad2d(1, 0)(x).shape], [1, 1, 3, 4]);
    t.equal([...t.torch.nn.ZeroPad1d(1)(x.squeeze(0)).shape], [1, 1, 4]);
    t.equal([...F.unfold(x, 1).shape], [1, 1, 2]);
    t.equal([...F.max_pool2d(x, 1).shape], [1, 1, 1, 2]);
  },
  "one variance of all may be a number": async (t) => {
    const { torch } = t,
      x = t.tensor(
        [
          [0.5, 1.5, 2.5],
          [2, 4, 6],
        ],
        { requires_grad: true },
      ),
      y = t.tensor([
        [1, 2, 3],
        [1, 2, 3],
      ]),
      loss = (v, full) => torch.nn.functional.gaussian_nll_loss(x, y, v, { full });
    for (const full of [false, true]) {
      const as = t.torch.full([2], 0.5, { device: t.device });
      t.close(await loss(0.5, full).item(), full ? 3.0307 : 2.1118, { atol: 1e-4 });
      const [g, w] = [0.5, as].map((v) => torch.autograd.grad(loss(v, full), [x])[0]);
      t.close(await g.tolist(), await w.tolist());
    }
    t.close(await new torch.nn.GaussianNLLLoss()(x, y, 0.5).item(), 2.1118, { atol: 1e-4 });
    await t.throws(() => loss(-0.5, false), /var has negative entry/);
  },
  "a tensor that asks for more elements than fit is refused, not obeyed": async (t) => {
    const { torch } = t,
      most = t.tensor([2 ** 31 - 1, 2 ** 31 - 1], long);
    for (const f of [
      () => torch.repeat_interleave(most),
      () => torch.repeat_interleave(t.tensor([1, 2]), most),
      () => torch.repeat_interleave(t.tensor([[1], [2]]), most, { dim: 0 }),
      () => torch.repeat_interleave(t.tensor([1, 2, 3]), most.select(0, 0)),
    ])
      await t.throws(f, /repeat_interleave: a tensor of size .* is too large/);
    t.equal(await (await torch.repeat_interleave(t.tensor([2, 0, 3], long))).tolist(), [0, 0, 2, 2, 2]);
    t.equal(await (await torch.repeat_interleave(t.tensor([5, 6]), t.tensor(2, long))).tolist(), [5, 5, 6, 6]);
  },
  "what is no text and no number is described": async (t) => {
    const { torch } = t,
      { nn, linalg, utils } = torch,
      x = t.tensor([[1, 2]]),
      places = {
        num_classes: (a) => nn.functional.one_hot(t.tensor([0], long), a),
        ind: (a) => linalg.tensorinv(x, a),
        norm: (a) => linalg.cond(x, a),
        reduce: (a) => torch.segment_reduce(x, a, { lengths: t.tensor([1], long) }),
        bins: (a) => torch.histogramdd(x, a),
        batch_size: (a) => utils.data.DataLoader([1], { batch_size: a }),
      };
    for (const [place, f] of Object.entries(places)) await t.throws(() => f(Symbol("s")), new RegExp(place));
    for (const place of ["reduce", "batch_size"])
      await t.throws(() => places[place](Object.create(null)), new RegExp(place));
    for (const odd of [null, 3, "x"]) await t.throws(() => torch.keep(odd), /keep: argument 'tensor' must be a tensor/);
    await torch.testing.assert_close(x, x, null);
  },
  "what would be wrong silently is refused": async (t) => {
    const { torch } = t;
    await t.throws(() => torch.repeat_interleave(t.tensor([1, -1], long)), /repeats can not be negative/);
    await t.throws(() => torch.repeat_interleave(t.tensor([1, 2])), /repeats has to be Long or Int/);
    for (const draw of [
      () => torch.randint(6, [2], { dtype: "complex64", device: t.device }),
      () => torch.randint_like(t.tensor([1, 2]), 6, { dtype: "complex64" }),
    ])
      await t.throws(draw, /randint\w*: handles only integral, floating-point and boolean types/);
    await t.throws(
      () => torch.complex(t.tensor([3]), t.tensor([4])).abs_(),
      /In-place abs is not supported for complex/,
    );
    t.equal(
      await torch
        .complex(t.tensor([3]), t.tensor([4]))
        .abs()
        .tolist(),
      [5],
    );
  },
  "numbers that elements are compared with are rounded as these are": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      x = t.tensor([0.3, -0.3, 0.1, 0.30000004]);
    t.equal(await F.hardshrink(x, 0.3).tolist(), [0, 0, 0, Math.fround(0.30000004)]);
    t.equal((await F.softshrink(x, 0.3).tolist()).map(Math.abs), [0, 0, 0, 2 ** -25]);
    t.equal(await F.threshold(x, 0.3, 5).tolist(), [5, 5, 5, Math.fround(0.30000004)]);
    t.equal(await F.threshold(t.tensor([0, 1, 2], long), 0.5, 9).tolist(), [9, 1, 2]);
  },
};
