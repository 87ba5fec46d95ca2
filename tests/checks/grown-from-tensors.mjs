// Tensors made of numbers that stand in tensors without axes, or are complex: what PyTorch 2.13 answers.

const pairs = (t, x) => t.torch.view_as_real(x).tolist(),
  j = (t, re, im) => t.torch.complex(re, im);

export default {
  "complex bounds make complex numbers, or are refused": async (t) => {
    const { torch } = t,
      of = (re, im) => t.tensor(j(t, re, im)),
      lines = [
        [
          [1, 1],
          [2, -0.5],
          [3, -2],
        ],
        [
          [1, 1],
          [2, 0.5],
          [3, 0],
        ],
        [[0, 2]],
      ],
      curves = [
        [
          [-6.682, 7.4398],
          [40.7307, -91.3291],
          [-107.0134, 994.2577],
        ],
        [
          [-6.682, 7.4398],
          [40.7307, 91.3291],
          [1000, 0],
        ],
        [[-0.107, -0.9943]],
      ];
    for (const [name, [both, one, alone], real] of [
      ["linspace", lines, [1, 2, 3]],
      ["logspace", curves, [10, 100, 1000]],
    ]) {
      const f = torch[name],
        device = { device: t.device };
      for (const call of [
        () => f(j(t, 1, 1), j(t, 3, -2), 3, device),
        () => f(of(1, 1), of(3, -2), 3, device),
        () => f(of(1, 1), j(t, 3, -2), 3, { dtype: "complex64", ...device }),
      ]) {
        const made = await call();
        t.equal([made.dtype, made.device], ["complex64", t.device]);
        t.close(await pairs(t, made), both, { rtol: 1e-4 });
      }
      for (const end of [3, t.tensor(3)])
        t.close(await pairs(t, await f(j(t, 1, 1), end, 3)), one, { rtol: 1e-4, atol: 1e-4 });
      t.close(await pairs(t, f(j(t, 0, 2), 1, 1)), alone, { rtol: 1e-3 });
      t.equal([f(j(t, 0, 2), 1, 0).shape, f(j(t, 0, 2), 1, 0).dtype], [[0], "complex64"]);
      t.close(
        await pairs(t, f(1, 3, 3, { dtype: "complex64" })),
        real.map((x) => [x, 0]),
      );
      for (const dtype of ["float32", "int32", "float64"])
        await t.throws(
          async () => f(of(0, 2), 1, 3, { dtype }),
          /inferred dtype complex64 can't be safely cast to passed dtype/,
        );
      await t.throws(async () => f(t.tensor([j(t, 0, 2)]), 1, 3), /only supports 0-dimensional start and end tensors/);
      await t.throws(() => f(j(t, NaN, 2), 1, 3), /must be finite/);
    }
    t.close(
      await pairs(t, torch.logspace(j(t, 1, 1), 2, 3, 3)),
      [
        [1.3645, 2.6717],
        [4.4317, 2.7129],
        [9, 0],
      ],
      { rtol: 1e-4 },
    );
  },
  "a tensor without axes fills others, as a number of its kind": async (t) => {
    const { torch } = t,
      one = (value, dtype = "float32") => t.tensor(value, { dtype }),
      seen = async (x) => [x.dtype, x.device, await x.tolist()];
    for (const [value, dtype, wanted] of [
      [3, "int32", "int64"],
      [3.5, "float32", "float32"],
      [true, "bool", "bool"],
    ])
      t.equal(await seen(torch.full([2], one(value, dtype), { device: t.device })), [
        wanted === "int64" && t.device !== "cpu"
          ? torch.full([1], 1, { dtype: "int64", device: t.device }).dtype
          : wanted,
        t.device,
        [value, value],
      ]);
    t.equal(await torch.full([2, 1], t.tensor([1, 2, 4]).select(0, 2)).tolist(), [[4], [4]]);
    t.equal(await pairs(t, torch.full([2], t.tensor(j(t, 1, 2)))), [
      [1, 2],
      [1, 2],
    ]);
    const like = t.tensor([1, 2], { dtype: "int32" });
    for (const made of [torch.full_like(like, one(3.5)), like.new_full([2], one(3.5))])
      t.equal(await seen(made), ["int32", t.device, [3, 3]]);
    t.equal(torch.full([1], one(3.5), { requires_grad: true }).requires_grad, true);
    for (const wrong of [t.tensor([1]), t.tensor(1, { requires_grad: true })])
      await t.throws(
        () => torch.full([2], wrong),
        /full: argument 'fill_value' must be a number or a tensor without axes/,
      );
  },
  "tensors of one element are numbers among the data": async ({ torch, equal, throws }) => {
    const one = (value, dtype = "float32") => torch.tensor(value, { dtype, device: "cpu" }),
      at = { device: "cpu" };
    for (const [data, dtype, wanted] of [
      [[one(1, "int64"), one(2, "int64")], "int64", [1, 2]],
      [[one(1), one(2, "int64")], "float32", [1, 2]],
      [[one(1, "float64"), 2], "float64", [1, 2]],
      [[one(1, "uint8"), one(2, "uint8")], "uint8", [1, 2]],
      [[one(1, "uint8"), one(2, "int8")], "int16", [1, 2]],
      [
        [
          [one(1, "int64"), 2],
          [3, one(4, "int64")],
        ],
        "int64",
        [
          [1, 2],
          [3, 4],
        ],
      ],
      [[one(1, "int64"), 2.5], "float32", [1, 2.5]],
      [[one(true, "bool"), false], "bool", [true, false]],
      [[one(true, "bool"), 3], "int64", [1, 3]],
      [[torch.ones([1], at), torch.ones([1, 1], at)], "float32", [1, 1]],
      [[torch.tensor([3, 4, 5], at).select(0, 1)], "float32", [4]],
      [[one(1.5, "float16")], "float16", [1.5]],
    ])
      for (const make of [torch.tensor, torch.as_tensor, torch.asarray]) {
        const made = make(data, at);
        equal([made.dtype, await made.tolist()], [dtype, wanted]);
      }
    const big = torch.tensor([one(2n ** 60n + 1n, "int64")], at);
    equal(String((await big.data())[0]), String(2n ** 60n + 1n));
    equal(await torch.view_as_real(torch.tensor([one(torch.complex(0, 1), "complex64"), 2], at)).tolist(), [
      [0, 1],
      [2, 0],
    ]);
    equal(await torch.tensor([one(1, "int64")], { dtype: "float32", device: "cpu" }).tolist(), [1]);
    await throws(
      () => torch.tensor([torch.ones([2], at)]),
      /only one element tensors on the CPU are numbers, got tensor\(size=\[2\]/,
    );
    await throws(() => torch.tensor([one(1), [2]]), /tensor: expected/);
  },
  "widths of a border come in pairs": async (t) => {
    const F = t.torch.nn.functional,
      x = t.tensor([[[1, 2, 3]]]),
      copy = F.pad(x, []);
    t.equal([copy === x, await copy.tolist()], [false, [[[1, 2, 3]]]]);
    await copy.add_(1);
    t.equal(await x.tolist(), [[[1, 2, 3]]]);
    const y = t.tensor([1, 2], { requires_grad: true });
    F.pad(y, []).sum().backward();
    t.equal(await y.grad.tolist(), [1, 1]);
    for (const mode of ["constant", "reflect", "replicate", "circular"])
      for (const widths of [[1], [1, 1, 1], [1, 1, 1, 1, 1], ...(mode === "constant" ? [] : [[]])])
        await t.throws(() => F.pad(x, widths, mode), /pad: 'pad' must be .*numbers, but got/);
    await t.throws(() => F.pad(t.tensor([1, 2]), [1, 1, 1, 1]), /pad: 'pad' must be .*numbers, but got 4/);
  },
  "one number in a list stands for all axes only where the axes are the tensor's": async (t) => {
    const { torch } = t,
      F = torch.nn.functional;
    await t.throws(
      () => F.affine_grid(torch.zeros([1, 2, 3]), [2]),
      /affine_grid: 'size' must be .*4 numbers, but got 1/,
    );
    t.equal(F.max_pool2d(torch.zeros([1, 4, 4]), [2]).shape, [1, 2, 2]);
    t.equal(F.conv2d(torch.zeros([1, 4, 4]), torch.zeros([1, 1, 2, 2]), null, [2]).shape, [1, 2, 2]);
  },
};
