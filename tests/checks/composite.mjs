// Functions made of several ops: Einstein's sum, attention with several heads, bounds that a tensor holds.
export default {
  "attention's masks broadcast over queries, keys and heads": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      // sin(k (i + 1)) of element i
      waves = (shape, k) =>
        t
          .tensor(Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(k * (i + 1))))
          .reshape(shape);
    // PyTorch's weighted sum of the results, the sums of the gradients' sizes, and the first of the mask's gradient.
    for (const [q, k, m, gqa, kind, sum, dq, dk, dm] of [
      [[2, 2, 3, 4], [2, 2, 5, 4], [2, 1, 1, 5], false, "bool", -0.85384, 4.59568, 3.05289, null],
      [
        [2, 2, 3, 4],
        [2, 2, 5, 4],
        [2, 1, 1, 5],
        false,
        "float",
        -0.67026,
        4.02501,
        3.58931,
        [0.125117, 0.108871, 0.090642, -0.304061, -0.020569, -0.058789],
      ],
      [[2, 2, 3, 4], [2, 2, 5, 4], [3, 1], false, "bool", -0.17368, 2.31216, 3.3541, null],
      [[2, 2, 3, 4], [2, 2, 5, 4], [3, 1], false, "float", -0.5628, 3.32517, 4.01767, [0, 0, 0]],
      [[3, 4], [5, 4], [1, 1], false, "bool", -0.16406, 1.14988, 1.15907, null],
      [[3, 4], [5, 4], [1, 1], false, "float", -0.16406, 1.14988, 1.15907, [0]],
      [[2, 4, 3, 4], [2, 2, 5, 4], [2, 1, 1, 5], true, "bool", 0.76271, 8.84922, 3.96658, null],
      [
        [2, 4, 3, 4],
        [2, 2, 5, 4],
        [2, 1, 1, 5],
        true,
        "float",
        0.26472,
        7.23125,
        4.11939,
        [-0.537109, -0.060193, 0.251952, 0.423307, -0.077957, -0.041245],
      ],
      [[4, 3, 4], [2, 5, 4], [4, 3, 5], true, "bool", 0.19862, 4.6743, 4.95101, null],
      [
        [4, 3, 4],
        [2, 5, 4],
        [4, 3, 5],
        true,
        "float",
        -0.21487,
        3.63858,
        3.91066,
        [-0.367283, 0.004866, 0.114195, 0.250428, -0.002206, 0.026108],
      ],
      [[2, 4, 3, 4], [2, 2, 5, 4], [3, 5], true, "bool", 0.97084, 7.79453, 8.92979, null],
      [
        [2, 4, 3, 4],
        [2, 2, 5, 4],
        [3, 5],
        true,
        "float",
        0.66852,
        6.5049,
        7.58091,
        [-0.272731, -0.088246, -0.194892, 0.535788, 0.020081, -0.048133],
      ],
      [[2, 4, 3, 4], [2, 2, 5, 4], [1, 5], true, "bool", 1.04008, 8.62705, 3.21668, null],
      [
        [2, 4, 3, 4],
        [2, 2, 5, 4],
        [1, 5],
        true,
        "float",
        0.43439,
        7.33881,
        4.19578,
        [-0.746895, -0.104476, 0.292204, 0.647347, -0.08818],
      ],
      [[4, 3, 4], [2, 5, 4], [3, 1], true, "bool", -0.07648, 1.90464, 3.47777, null],
      [[4, 3, 4], [2, 5, 4], [3, 1], true, "float", -0.2139, 3.12115, 2.51428, [0.0, -0.0, -0.0]],
      [[2, 4, 3, 4], [2, 2, 5, 4], [4, 1, 5], true, "bool", 1.69486, 8.49768, 4.67931, null],
      [
        [2, 4, 3, 4],
        [2, 2, 5, 4],
        [4, 1, 5],
        true,
        "float",
        0.99129,
        6.51951,
        4.23788,
        [0.236302, 0.22685, 0.283685, -0.473471, -0.273365, -0.281642],
      ],
    ]) {
      const [query, key] = [waves(q, 0.7).requires_grad_(), waves(k, 0.9).requires_grad_()],
        wave = waves(m, 2.1),
        mask = kind === "bool" ? wave.gt(-0.5) : wave.requires_grad_(),
        out = F.scaled_dot_product_attention(query, key, waves(k, 1.3), { attn_mask: mask, enable_gqa: gqa }),
        total = out.mul(waves(out.shape, 0.3)).sum();
      total.backward();
      const sizes = [query.grad, key.grad].map((g) => g.abs().sum());
      t.close(await torch.stack([total.detach(), ...sizes]).tolist(), [sum, dq, dk], { rtol: 1e-4, atol: 1e-4 });
      if (dm) t.close(await mask.grad.flatten().narrow(0, 0, dm.length).tolist(), dm, { rtol: 1e-3, atol: 1e-5 });
    }
    const x = waves([2, 2, 3, 4], 1);
    for (const shape of [
      [2, 1, 2, 3],
      [2, 1, 3, 2],
    ])
      await t.throws(() => F.scaled_dot_product_attention(x, x, x, waves(shape, 1)), /attn_mask/);
  },
  "attention's dropout leaves weights out and makes the others as much larger": async (t) => {
    const { eye, nn, randn } = t.torch,
      on = { device: t.device },
      [q, k, v] = [randn([1, 2, 16, 8], on), randn([1, 2, 16, 8], on), eye(16, on).expand([1, 2, 16, 16])],
      mask = randn([16, 16], on),
      p = 0.25;
    for (const options of [{}, { attn_mask: mask }, { attn_mask: mask.gt(-1) }, { is_causal: true }]) {
      const ask = (dropout_p) =>
        nn.functional
          .scaled_dot_product_attention(q, k, v, { ...options, dropout_p })
          .flatten()
          .tolist();
      const [all, some] = [await ask(0), await ask(p)],
        left = some.filter((x) => x !== 0).length / all.filter((x) => x !== 0).length;
      t.close(
        some,
        all.map((x, i) => (some[i] === 0 ? 0 : x / (1 - p))),
        { rtol: 1e-4, atol: 1e-6 },
      );
      t.equal(left > 0.6 && left < 0.9, true);
    }
  },
  "attention: booleans hide what minus infinity hides; the running statistics are what batch_norm takes by itself":
    async (t) => {
      const { functional: F } = t.torch.nn,
        rows = (n, m, at) =>
          t.tensor(
            Array.from({ length: n }, (_, i) => Array.from({ length: m }, (_, j) => Math.sin(7 * i + 3 * j + at))),
          );
      const q = rows(3, 4, 0),
        k = rows(5, 4, 1),
        v = rows(5, 2, 2),
        mask = t.tensor([
          [true, false, true, true, false],
          [false, true, false, false, false],
          [true, true, true, true, true],
        ]);
      const hidden = t.torch.zeros([3, 5], { device: t.device }).masked_fill(mask.logical_not(), -Infinity);
      t.close(
        await F.scaled_dot_product_attention(q, k, v, mask).tolist(),
        await F.scaled_dot_product_attention(q, k, v, hidden).tolist(),
        { rtol: 1e-5, atol: 1e-6 },
      );
      t.close((await F.scaled_dot_product_attention(q, k, v, mask).tolist())[1], (await v.tolist())[1], {
        rtol: 1e-5,
        atol: 1e-6,
      });
      const mean = t.tensor([0.5, 1, 2, 3]),
        scale = t.tensor([4, 1, 2, 9]);
      t.close(await F.batch_norm(q, mean, scale).tolist(), await q.sub(mean).div(scale.add(1e-5).sqrt()).tolist(), {
        rtol: 1e-5,
        atol: 1e-6,
      });
    },
  "einsum multiplies, sums, transposes and takes diagonals": async (t) => {
    const { einsum } = t.torch,
      a = t.tensor([
        [1, 2],
        [3, 4],
      ]),
      b = t.tensor([
        [1, 0, 2],
        [0, 1, 1],
      ]);
    t.equal(await einsum("ij,jk->ik", a, b).tolist(), [
      [1, 2, 4],
      [3, 4, 10],
    ]);
    const product = await einsum("ij,jk->ik", a, b).tolist();
    t.equal(await einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist(), product);
    t.equal(await einsum(a, ["...", 30], b, [30, 2]).tolist(), await einsum("...e,eC", a, b).tolist());
    await t.throws(() => einsum(a, [0, 52]), /subscript 52 is not within the valid range \[0, 52\)/);
    t.equal(await einsum("ij,jk", [a, b]).tolist(), [
      [1, 2, 4],
      [3, 4, 10],
    ]);
    t.equal(await einsum("ji", a).tolist(), [
      [1, 3],
      [2, 4],
    ]);
    t.equal(await einsum("ii->i", a).tolist(), [1, 4]);
    t.equal(await einsum("ii", a).item(), 5);
    t.equal(await einsum("i,j,k->kji", a.index(0), a.index(1), t.tensor([1, -1])).tolist(), [
      [
        [3, 6],
        [4, 8],
      ],
      [
        [-3, -6],
        [-4, -8],
      ],
    ]);
    t.equal(await einsum("...j,...j->...", a, t.tensor([10, 1])).tolist(), [12, 34]);
  },
  "einsum has gradients and says what is wrong": async (t) => {
    const { einsum } = t.torch,
      a = t.tensor(
        [
          [1, 2],
          [3, 4],
        ],
        { requires_grad: true },
      ),
      v = t.tensor([5, 7]);
    einsum("ij,j->", a, v).backward();
    t.equal(await a.grad.tolist(), [
      [5, 7],
      [5, 7],
    ]);
    await t.throws(
      () => einsum("i,j", a, v),
      /number of subscripts in the equation \(1\) does not match the number of dimensions \(2\)/,
    );
    await t.throws(() => einsum("ij->k", a), /output subscript k does not appear/);
    await t.throws(
      () => einsum("ij,ik->j", a, t.tensor([[1], [2], [3]])),
      /does not broadcast with previously seen size 2/,
    );
  },
  "attention of two heads attends to each half of the features": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      eye = torch.eye(2, { device: t.device }),
      none = torch.zeros([2], { device: t.device });
    const q = t.tensor([[0, 0]]),
      kv = t.tensor([
        [1, 2],
        [3, 6],
      ]),
      all = torch.cat([eye, eye, eye]);
    const [out, weights] = F.multi_head_attention_forward(q, kv, kv, 2, 2, all, null, null, null, false, 0, eye, none);
    t.close(await out.tolist(), [[2, 4]]);
    t.close(await weights.tolist(), [[0.5, 0.5]]);
    const mask = t.tensor([[false, true]]);
    const [masked, absent] = F.multi_head_attention_forward(
      q,
      kv,
      kv,
      2,
      2,
      all,
      null,
      null,
      null,
      false,
      0,
      eye,
      none,
      { attn_mask: mask, need_weights: false },
    );
    t.close(await masked.tolist(), [[1, 2]]);
    t.equal(absent, null);
  },
  "linspace takes its bounds from tensors": async (t) => {
    t.close(await (await t.torch.linspace(t.tensor(0), t.tensor(1), 3)).tolist(), [0, 0.5, 1]);
  },
  "gradient: even and uneven places, along one axis and all, both orders of edges": async (t) => {
    const x = t.tensor([
        [1, 4, 9, 7],
        [2, -3, 5, 0],
        [6, 6, 1, 8],
      ]),
      p = t.tensor([0, 1, 3, 3.5]),
      q = t.tensor([-2, 1, 2]),
      { gradient } = t.torch,
      inner = [3.08333, 6.16667, -3.33333, 5.41667];
    const rows = async (all) => (await Promise.all(all.map((g) => g.tolist()))).flat(),
      tolerance = { rtol: 1e-4, atol: 1e-4 };
    const wanted = {
      // asked of PyTorch 2.13
      1: {
        uneven: [
          [0.33333, -2.33333, -1.33333, -2.33333],
          inner,
          [4, 9, -4, 8],
          [3, 2.83333, -2.7, -4],
          [-5, -2, -7.2, -10],
          [0, -0.83333, 10.7, 14],
        ],
        falling: [
          [-6, -5.3, 0.5, 2],
          [10, 7.2, 2, 5],
          [0, 0.5, -3.83333, -7],
        ],
        even: [
          [2, -14, -8, -14],
          [5, 2, -8, 1],
          [8, 18, -8, 16],
          [6, 8, 3, -4],
          [-10, 3, 3, -10],
          [0, -5, 2, 14],
        ],
      },
      2: {
        uneven: [
          [-2.41667, -10.83333, 0.66667, -10.08333],
          inner,
          [4.91667, 11.83333, -4.66667, 10.58333],
          [3.16667, 2.83333, -2.7, -5.3],
          [-8, -2, -7.2, -12.8],
          [0.83333, -0.83333, 10.7, 17.3],
        ],
        falling: [
          [-6.7, -5.3, 0.5, 3.5],
          [12.8, 7.2, 2, 8],
          [-0.5, 0.5, -3.83333, -10.16667],
        ],
        even: [
          [-1, -30, -8, -29],
          [5, 2, -8, 1],
          [11, 34, -8, 31],
          [4, 8, 3, -11],
          [-23, 3, 3, -23],
          [5, -5, 2, 26],
        ],
      },
    };
    for (const edge_order of [1, 2]) {
      const { uneven, falling, even } = wanted[edge_order];
      t.close(await rows(gradient(x, { spacing: [q, p], edge_order })), uneven, tolerance);
      t.close(await rows(gradient(x, { spacing: [p.flip(0)], dim: 1, edge_order })), falling, tolerance);
      t.close(await rows(gradient(x, { spacing: 0.5, edge_order })), even, tolerance);
      t.close(
        await rows(gradient(x, { spacing: [2, 0.5], edge_order })),
        even.map((row, i) => (i < 3 ? row.map((v) => v / 4) : row)),
        tolerance,
      );
      await t.throws(() => gradient(x.narrow(0, 0, edge_order), { edge_order }), /at least edge_order\+1/);
    }
    await t.throws(() => gradient(x, { spacing: [p, p] }), /to have one dimension with 3 elements, but got \[4\]/);
    await t.throws(() => gradient(x, { edge_order: 3 }), /only supports edge_order=1 and edge_order=2/);
  },
  "unravel_index: coordinates of places, within, beyond and before, in tensors of any size": async (t) => {
    const { unravel_index } = t.torch,
      whole = (values) => t.tensor(values, { dtype: "int32" }),
      listed = async (...args) => Promise.all(unravel_index(...args).map((x) => x.tolist()));
    t.equal(await listed(whole([0, 5, 11, 12, 25, -1]), [3, 4]), [
      [0, 1, 2, 0, 0, 2],
      [0, 1, 3, 0, 1, 3],
    ]);
    t.equal(await listed(whole([[7], [23]]), [2, 3, 4]), [
      [[0], [1]],
      [[1], [2]],
      [[3], [3]],
    ]);
    t.equal([await listed(whole(3), 5), await listed(whole([3]), [])], [[3], []]);
    const small = [t.tensor([3, 5], { dtype: "int16" }), [4, 2 ** 20]];
    t.equal([unravel_index(...small)[1].dtype, (await listed(...small)).flat()], ["int64", [0, 0, 3, 5]]);
    const most = 2 ** 31 - 1;
    t.equal(await listed(whole([5, most - 1, most]), [3, most]), [
      [0, 0, 1],
      [5, most - 1, 0],
    ]);
    t.equal(await listed(whole([5, most]), [3, most + 1]), [
      [0, 0],
      [5, most],
    ]);
    t.equal(await listed(whole([5, most]), [3e9, 4]), [
      [1, 536870911],
      [1, 3],
    ]);
    t.equal(await listed(whole([5, most]), [7, 3, 65536, 65536]), [
      [0, 0],
      [0, 0],
      [0, 32767],
      [5, 65535],
    ]);
    await t.throws(() => unravel_index(whole([1]), [2, -3]), /'shape' cannot have negative values, but got \[2, -3\]/);
    await t.throws(() => unravel_index(t.tensor([1.5]), [2]), /to be an integer tensor, but got float32/);
    await t.throws(() => unravel_index(t.tensor([true]), [2]), /to be an integer tensor, but got bool/);
  },
  "a triplet loss takes any distance": async ({ torch, tensor, equal, close, throws }) => {
    const { nn } = torch,
      f = nn.functional.triplet_margin_with_distance_loss,
      distance_function = (x, y) => x.sub(y).abs().sum(1),
      row = (...numbers) => tensor(numbers).reshape([2, 2]),
      anchor = row(0, 0, 1, 2).requires_grad_(),
      positive = row(0, 1, 3, 1),
      negative = row(2, 0, 1, 1);
    const loss = nn.TripletMarginWithDistanceLoss({ distance_function, swap: true, margin: 3, reduction: "none" }),
      losses = loss(anchor, positive, negative);
    equal(await losses.tolist(), [2, 5]);
    losses.sum().backward();
    equal(await anchor.grad.flatten().tolist(), [1, -1, -1, 0]);
    equal(await f(anchor, positive, negative, { distance_function }).item(), 1.5);
    close(await f(anchor, positive, negative).item(), 1.11803329);
    const refused = (options, message) => throws(() => f(anchor, positive, negative, options), message);
    await refused({ distance_function: 3 }, /'distance_function' must be a function, got number 3/);
    await refused({ distance_function, margin: -1 }, /margin must be greater than 0, got -1/);
    await refused({ distance_function, reduction: "all" }, /'reduction' must be "mean", "sum" or "none", got "all"/);
  },
};
