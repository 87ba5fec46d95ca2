// Functions of PyTorch's root namespace that few programs call: segments, pretended quantisation, control flow, rows cut
// to a norm.  The numbers are PyTorch 2.13.0's.

const flat = (x) => x.detach().flatten().tolist();
const ints = (t, data) => t.tensor(data, { dtype: "int64" });
const near = { atol: 2e-6, rtol: 1e-5 };
/** Twelve numbers from -1.77 on. */
const twelve = (t) =>
  t.torch.arange(12, { dtype: "float32", device: t.device }).sub(5.3).reshape(3, 4).div(3).requires_grad_();
const weighted = (t, y) =>
  y
    .mul(t.torch.arange(1, 13, { device: t.device }).reshape(3, 4))
    .sum()
    .backward();

export default {
  "places mean what they mean in PyTorch's root namespace": async (t) => {
    const { torch } = t,
      x = torch.arange(8, { dtype: "float32", device: t.device }).reshape(2, 2, 2),
      [w, b, mean, variance] = [
        [2, 3],
        [10, 20],
        [1, 1],
        [4, 4],
      ].map((list) => t.tensor(list));
    for (const more of [[], [true], [false]]) {
      t.close(
        await flat(torch.batch_norm(x, w, b, mean, variance, false, 0.1, 0, ...more)),
        [9, 10, 21.5, 23, 13, 14, 27.5, 29],
        near,
      );
      t.close(
        await flat(torch.instance_norm(x, w, b, null, null, true, 0.1, 0, ...more)),
        [8, 12, 17, 23, 8, 12, 17, 23],
        near,
      );
    }
    torch.batch_norm(x, w, b, mean, variance, true, 0.1, 0, false);
    t.close(await flat(mean), [1.15, 1.35], near);
    await t.throws(() => torch.batch_norm(x, w, b, mean, variance), /batch_norm: missing required argument 'training'/);
    const type = t.device === "cpu" ? "float64" : "bfloat16",
      two = t.tensor([0, 1]);
    for (const f of ["softmax", "log_softmax"])
      t.equal([torch[f](two, 0, type).dtype, two[f](0, type).dtype], [type, type]);
    const leaf = t.tensor([1, 2]).requires_grad_(),
      other = t.tensor([1]).requires_grad_(),
      y = leaf.mul(leaf);
    const grads = torch.autograd.grad(y, [leaf, other], torch.ones_like(y), true, false, true, true);
    t.equal([await grads[0].tolist(), grads[1]], [[2, 4], null]);
    await t.throws(() => torch.autograd.grad(y, [leaf, other], torch.ones_like(y), null, false, true), /allow_unused/);
  },
  "rows in segments": async (t) => {
    const { torch } = t,
      rows = [
        [1, 2],
        [3, 0],
        [3, 5],
        [2, 5],
        [-1, 4],
      ];
    const answers = {
      sum: [
        [8, 8, 1, 1, 2, 10],
        [1, 2, 1, 2, 1, 2, 5, 6, 5, 6],
      ],
      mean: [
        [8 / 3, 8 / 3, 1, 1, 1, 5],
        [1 / 3, 2 / 3, 1 / 3, 2 / 3, 1 / 3, 2 / 3, 2.5, 3, 2.5, 3],
      ],
      max: [
        [3, 5, 1, 1, 2, 5],
        [0, 0, 0.5, 0, 0.5, 2, 5, 6, 0, 0],
      ],
      min: [
        [1, 0, 1, 1, -1, 1],
        [1, 0, 0, 2, 0, 0, 0, 0, 5, 0],
      ],
      prod: [
        [9, 0, 1, 1, -2, 20],
        [9, 0, 3, 20, 3, 0, -5, 24, 10, 30],
      ],
    };
    for (const [reduce, [value, slope]] of Object.entries(answers)) {
      const x = t.tensor(rows).requires_grad_(),
        y = torch.segment_reduce(x, reduce, { lengths: ints(t, [3, 0, 2]), initial: 1 });
      t.close(await flat(y), value, near);
      const by = torch.arange(1, 7, { device: t.device }).reshape(3, 2);
      y.mul(by).sum().backward();
      t.close(await flat(x.grad), slope, near);
    }
    const x = t.tensor(rows);
    t.equal(
      await flat(torch.segment_reduce(x, "mean", { lengths: ints(t, [2, 0, 3]) })),
      [2, 1, NaN, NaN, 4 / 3, 14 / 3].map(Math.fround),
    );
    t.equal(await flat(torch.segment_reduce(x, "max", { offsets: ints(t, [0, 2, 2, 5]) })), [
      3,
      2,
      -Infinity,
      -Infinity,
      3,
      5,
    ]);
    t.equal(await flat(torch.segment_reduce(x, "sum", { offsets: ints(t, [0, 2, 4]) })), [4, 2, 5, 10]);
    await t.throws(() => torch.segment_reduce(x, "sum", {}), /Either lengths or offsets must be defined/);
    await t.throws(
      () => torch.segment_reduce(x, "most", { lengths: ints(t, [5]) }),
      /reduce argument must be either sum/,
    );
    if (t.device !== "cpu") return;
    await t.throws(() => torch.segment_reduce(x, "sum", { lengths: ints(t, [2, 2]) }), /to sum to data.size/);
    await t.throws(
      () => torch.segment_reduce(x, "sum", { lengths: ints(t, [-1, 6]) }),
      /lengths contains negative value/,
    );
  },
  "numbers as they would be stored": async (t) => {
    const { torch } = t,
      stored = [-1.1, -1.1, -1.1, -0.8, -0.4, -0.1, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4];
    const x = twelve(t),
      y = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7);
    t.close(await flat(y), stored, near);
    weighted(t, y);
    t.close(await flat(x.grad), [0, 0, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0]);
    const zero = t.tensor(3, { dtype: "int32" });
    t.close(await flat(torch.fake_quantize_per_tensor_affine(x, t.tensor(0.1), zero, -8, 7)), stored, near);
    x.grad = null;
    const zeros = t.tensor([0, 1, -2, 3], { dtype: "int32" }),
      z = torch.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.25, 0.5, 0.3]), zeros, 1, -4, 3);
    t.close(await flat(z), [-0.4, -1.25, -1, -0.9, -0.4, 0, 0, 0, 0.3, 0.5, 1.5, 0], near);
    weighted(t, z);
    t.close(await flat(x.grad), [0, 0, 3, 4, 5, 6, 7, 0, 0, 0, 11, 0]);
    if (t.device === "cpu") {
      const low = twelve(t).detach().bfloat16().requires_grad_(),
        by = t.tensor([0.1, 0.25, 0.5, 0.3]),
        made = torch.fake_quantize_per_channel_affine(low, by, zeros, 1, -4, 3);
      t.equal([made.dtype, (await flat(made)).slice(0, 4)], ["bfloat16", [-0.400390625, -1.25, -1, -0.8984375]]);
      weighted(t, made);
      t.equal([low.grad.dtype, await flat(low.grad)], ["bfloat16", [0, 0, 3, 4, 5, 6, 7, 0, 0, 0, 11, 0]]);
    }
    await t.throws(() => torch.fake_quantize_per_tensor_affine(x, 0.1, 9, -8, 7), /`zero_point` must be between/);
    await t.throws(() => torch.fake_quantize_per_channel_affine(x, zeros, zeros, 0, -4, 3), /1-D tensor of 3 elements/);
  },
  "convolution of any kind, and rows cut to a norm": async (t) => {
    const { torch } = t,
      count = (n) => torch.arange(n, { dtype: "float32", device: t.device }),
      input = count(18).reshape(1, 2, 9).div(10).sub(0.7),
      weight = count(12).reshape(2, 2, 3).div(7).sub(0.5);
    t.close(
      await flat(torch.convolution(input, weight, null, [2], [1], [1], false, [0], 1)),
      [0.457143, 0.678571, 0.507143, 0.335714, -0.028571, -0.228572, 0.421429, 1.278571, 2.135714, 1.685714],
      near,
    );
    const turned = torch.convolution(input, weight, t.tensor([1, 2]), [2], [1], [1], true, [1], 1);
    t.equal(turned.shape, [1, 2, 18]);
    t.close(await flat(turned.index(0, 1, "::6")), [2.135714, 2.435714, 2.735714], { atol: 1e-4 });
    await t.throws(
      () => torch.convolution(input, weight.index(0), null, [2], [1], [1], false, [0], 1),
      /'weight' must be/,
    );
    const table = t.tensor([
      [3, 4],
      [0, 1],
      [6, 8],
    ]);
    t.equal(torch.embedding_renorm_(table, ints(t, [0, 1]), 2, 2) === table, true);
    t.close(await flat(table), [1.2, 1.6, 0, 1, 6, 8], near);
  },
  "branches and loops that values decide": async (t) => {
    const { torch } = t,
      x = t.tensor([1, 2]),
      more = (y) => y.add(1),
      less = (y) => y.sub(1);
    t.equal(await flat(await torch.cond(x.sum().gt(2), more, less, [x])), [2, 3]);
    t.equal(await flat(torch.cond(false, more, less, [x])), [0, 1]);
    t.equal(torch.cond(x.sum().gt(2), more, less, [x]) instanceof Promise, t.device !== "cpu");
    const [i, y] = await torch.while_loop(
      (n) => n.lt(3),
      (n, z) => [n.add(1), z.mul(2)],
      [t.tensor(0), x],
    );
    t.equal([await i.item(), await flat(y)], [3, [8, 16]]);
    await t.throws(() => torch.cond(x, more, less, [x]), /pred must have a single element, got 2/);
    await t.throws(
      () =>
        torch.while_loop(
          () => true,
          () => [],
          [x],
        ),
      /body_fn must answer 1 values/,
    );
  },
  "axes by name": async (t) => {
    const { rearrange } = t.torch.func,
      x = t.torch.arange(24, { device: t.device }).reshape(2, 3, 4);
    t.equal(await flat(rearrange(x, "b h w -> w (h b)")), await flat(x.permute(2, 1, 0)));
    t.equal(rearrange(x, "b (h c) w -> c b h w", { c: 3 }).shape, [3, 2, 1, 4]);
    t.equal(rearrange(x, "... w -> w ...").shape, [4, 2, 3]);
    t.equal(rearrange(x, "b ... -> b (...)").shape, [2, 12]);
    t.equal(rearrange([x, x], "k b h w -> b 1 (k h) w").shape, [2, 1, 6, 4]);
    for (const [pattern, lengths, said] of [
      ["b h w -> b h", {}, /only on one side of rearrange expression .*: w/],
      ["b (h c) w -> c b h w", {}, /cannot infer the sizes of two dimensions at once: h, c/],
      ["b (h c) w -> c b h w", { c: 2 }, /\(h c\) does not fit an axis of length 3/],
      ["b b w -> b w", {}, /'b' stands twice/],
      ["b h w", {}, /single '->'/],
      ["b h w -> b h w", { q: 2 }, /not found in rearrange expression: q/],
      ["b h -> h b", {}, /\(2\) and in tensor \(3\) differ/],
      ["b (h w -> h b w", {}, /is no name of an axis/],
    ])
      await t.throws(() => rearrange(x, pattern, lengths), said);
  },
  "the package's random numbers as a generator": async (t) => {
    const { torch } = t,
      draw = (options) => flat(torch.randn([3], { device: t.device, ...options })),
      { default_generator: own } = torch,
      before = own.get_state();
    own.manual_seed(5);
    const first = await draw({ generator: own });
    t.equal([own.initial_seed(), torch.initial_seed()], [5, 5]);
    torch.manual_seed(5);
    t.equal(await draw({}), first);
    own.set_state(before);
    t.equal(JSON.stringify(own.get_state()), JSON.stringify(before));
  },
  "errors of linear algebra have a class of their own": async (t) => {
    const { linalg } = t.torch,
      m = t.tensor([
        [1, 2],
        [2, 4],
      ]);
    for (const f of [linalg.inv, linalg.cholesky, (x) => linalg.solve(x, x)]) {
      let error;
      try {
        await f(m).tolist();
      } catch (thrown) {
        error = thrown;
      }
      t.equal([error instanceof linalg.LinAlgError, error?.name], [true, "LinAlgError"]);
    }
  },
};
