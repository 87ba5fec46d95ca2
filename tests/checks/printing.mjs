// Tensors as text, as PyTorch prints them, and what is known of the types.
const same = async (t, x, wanted) => t.equal((await x.text()).replace(/,\s+device='webgpu'/, ""), wanted);

export default {
  "one format for all numbers, chosen by their sizes": async (t) => {
    await same(t, t.tensor([1, 2.5, 1000]), "tensor([   1.0000,    2.5000, 1000.0000])");
    await same(t, t.tensor([1, 2.5, 10001]), "tensor([1.0000e+00, 2.5000e+00, 1.0001e+04])");
    await same(
      t,
      t.tensor([
        [1e-5, 1],
        [2, 3],
      ]),
      "tensor([[1.0000e-05, 1.0000e+00],\n        [2.0000e+00, 3.0000e+00]])",
    );
    await same(t, t.tensor([NaN, 1, -2]), "tensor([nan,  1., -2.])");
    await same(t, t.tensor([3, NaN]), "tensor([3., nan])");
    await same(t, t.tensor([1e30, Infinity]), "tensor([1.0000e+30,        inf])");
    await same(t, t.tensor([-0, 0]), "tensor([-0., 0.])");
    await same(t, t.tensor([0.03125, 1]), "tensor([0.0312, 1.0000])");
    await same(t, t.tensor(1e-9), "tensor(1.0000e-09)");
    await same(t, t.tensor([[true, false]]), "tensor([[ True, False]])");
  },
  "long and deep tensors": async (t) => {
    await same(
      t,
      t.torch.arange(1001, { dtype: "float32", device: t.device }).mul(0).add(1),
      "tensor([1., 1., 1.,  ..., 1., 1., 1.])",
    );
    await same(
      t,
      t.torch.zeros([40, 40], { device: t.device }),
      `tensor([${[
        "[0., 0., 0.,  ..., 0., 0., 0.]",
        "[0., 0., 0.,  ..., 0., 0., 0.]",
        "[0., 0., 0.,  ..., 0., 0., 0.]",
        "...",
        "[0., 0., 0.,  ..., 0., 0., 0.]",
        "[0., 0., 0.,  ..., 0., 0., 0.]",
        "[0., 0., 0.,  ..., 0., 0., 0.]",
      ].join(",\n        ")}])`,
    );
    await same(t, t.torch.zeros([2, 1, 2], { device: t.device }), "tensor([[[0., 0.]],\n\n        [[0., 0.]]])");
    const lines = (await t.torch.arange(30, { dtype: "float32", device: t.device }).mul(1.5).text()).split("\n");
    t.equal(lines[0], "tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,");
    const wide = (await t.torch.arange(2000, { dtype: "float32", device: t.device }).reshape(20, 100).text()).split(
      "\n",
    );
    t.equal(wide.slice(0, 2), [
      "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.7000e+01, 9.8000e+01,",
      "         9.9000e+01],",
    ]);
  },
  "size, type and grad_fn": async (t) => {
    await same(t, t.torch.zeros([0, 3], { device: t.device }), "tensor([], size=(0, 3))");
    await same(t, t.torch.zeros([0], { device: t.device }), "tensor([])");
    await same(t, t.tensor([0, 1, 2], { dtype: "int64" }), "tensor([0, 1, 2])");
    await same(t, t.tensor([], { dtype: "int64" }), "tensor([], dtype=torch.int64)");
    await same(t, t.tensor([1, -20], { dtype: "int32" }), "tensor([  1, -20], dtype=torch.int32)");
    const x = t.torch.ones([2], { device: t.device, requires_grad: true });
    await same(t, x, "tensor([1., 1.], requires_grad=True)");
    await same(t, x.mul(2), "tensor([2., 2.], grad_fn=<MulBackward0>)");
  },
  "what is not usual: zeros alone, no memory, no elements, parameters": async (t) => {
    const zeros = (await t.torch.zeros([40], { device: t.device }).text()).split("\n");
    t.equal(zeros[0], `tensor([${"0., ".repeat(24).trimEnd()}`); // PyTorch does not reckon with the points
    t.equal(await t.torch.empty([2, 3], { device: "meta" }).text(), "tensor(..., device='meta', size=(2, 3))");
    await same(t, t.torch.empty([0], { dtype: "complex64", device: t.device }), "tensor([], dtype=torch.complex64)");
    await same(
      t,
      new t.torch.nn.Parameter(t.tensor([1, 2])),
      "Parameter containing:\ntensor([1., 2.], requires_grad=True)",
    );
  },
  "several results, and what they come from": async (t) => {
    const x = t.torch.tensor([[3, 1, 2]], { device: "cpu", requires_grad: true });
    t.equal(
      String(x.max(1)),
      "torch.return_types.max(\nvalues=tensor([3.], grad_fn=<MaxBackward0>),\nindices=tensor([0]))",
    );
    const F = t.torch.nn.functional,
      names = [F.mse_loss(x, x), F.leaky_relu(x), F.avg_pool1d(x, 2), t.torch.cat([x, x]), x.clone(), x.half()];
    t.equal(
      names.map((y) => y.grad_fn.name().replace("Backward0", "")),
      ["MseLoss", "LeakyRelu", "AvgPool1D", "Cat", "Clone", "ToCopy"],
    );
  },
  "options of modules, optimizers and distributions": (t) => {
    const { distributions: D, nn, optim } = t.torch,
      given = (data) => t.torch.tensor(data, { device: "cpu" });
    t.equal([nn.Hardtanh(), nn.Hardtanh(-2, 0.5), nn.Hardswish({ inplace: true })].map(String), [
      "Hardtanh(min_val=-1.0, max_val=1.0)",
      "Hardtanh(min_val=-2.0, max_val=0.5)",
      "Hardswish()",
    ]);
    t.equal(
      String(optim.RMSprop([{ params: [given(1)] }, { params: [given(2)], lr: 1e-5 }])),
      `RMSprop (${["0.01", "1e-05"].map((lr, i) => `\nParameter Group ${i}\n    alpha: 0.99\n    capturable: False\n    centered: False\n    differentiable: False\n    eps: 1e-08\n    foreach: None\n    lr: ${lr}\n    maximize: False\n    momentum: 0\n    weight_decay: 0\n`).join("")})`,
    );
    t.equal(
      [
        D.Normal(given([0, 1]), given([1, 2])),
        D.Uniform(given(0), given(2)),
        D.Bernoulli({ logits: given([0.5]) }).expand([2]),
        D.Pareto(given([1]), given([3])),
        D.Beta(given(1), given(1)),
        D.MultivariateNormal(given([0]), given([[2]])),
        D.Uniform(given(0), given(2)).support,
      ].map(String),
      [
        "Normal(loc: torch.Size([2]), scale: torch.Size([2]))",
        "Uniform(low: 0.0, high: 2.0)",
        "Bernoulli(logits: torch.Size([2]))",
        "Pareto(alpha: tensor([3.]), scale: tensor([1.]))",
        "Beta()",
        "MultivariateNormal(loc: tensor([0.]), covariance_matrix: tensor([[2.]]))",
        "Interval(lower_bound=0.0, upper_bound=2.0)",
      ],
    );
  },
  set_printoptions: async (t) => {
    const { set_printoptions } = t.torch,
      x = t.tensor([1.2345, 2]);
    try {
      set_printoptions({ precision: 2 });
      await same(t, x, "tensor([1.23, 2.00])");
      set_printoptions({ profile: "default", sci_mode: true });
      await same(t, x, "tensor([1.2345e+00, 2.0000e+00])");
      set_printoptions({ profile: "default", threshold: 5, edgeitems: 1, linewidth: 40 });
      await same(
        t,
        t.torch.zeros([3, 3], { device: t.device }),
        "tensor([[0.,  ..., 0.],\n        ...,\n        [0.,  ..., 0.]])",
      );
      await t.throws(() => set_printoptions({ digits: 3 }), /unexpected keyword argument 'digits'/);
      await t.throws(() => set_printoptions({ toString: 3 }), /unexpected keyword argument 'toString'/);
      await t.throws(() => set_printoptions({ profile: "toString" }), /expected the profile .* got "toString"/);
    } finally {
      set_printoptions({ profile: "default" });
    }
  },
  "finfo and iinfo": async (t) => {
    const { finfo, iinfo } = t.torch;
    t.equal(
      String(finfo("float32")),
      "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)",
    );
    t.equal(
      String(finfo("float16")),
      "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)",
    );
    t.equal(finfo("float64").max, Number.MAX_VALUE);
    t.equal(finfo("float64").eps, Number.EPSILON);
    t.equal([iinfo("uint8").max, iinfo("int8").min, iinfo("int32").max], [255, -128, 2147483647]);
    await t.throws(() => finfo("int32"), /requires a floating point input type/);
    await t.throws(() => iinfo("float32"), /requires an integer input type/);
  },
  promotion: async (t) => {
    const { can_cast, promote_types, result_type } = t.torch;
    t.equal(promote_types("uint8", "int8"), promote_types("int8", "uint8"));
    t.equal(promote_types("int32", "float16"), "float16");
    t.equal(
      [can_cast("float32", "int32"), can_cast("int32", "float32"), can_cast("int32", "bool")],
      [false, true, false],
    );
    t.equal(result_type(t.tensor([1, 2], { dtype: "int32" }), 1.5), "float32");
    t.equal(result_type(t.tensor([1, 2], { dtype: "uint8" }), 1), "uint8");
    t.equal(
      result_type(t.torch.tensor([1], { dtype: "float16", device: "cpu" }), t.torch.tensor(2, { device: "cpu" })),
      "float16",
    );
    await t.throws(() => result_type("x", 1), /expected a tensor or a number/);
  },
  "more elements than arrays and texts hold": async (t) => {
    const { torch } = t;
    // Views of one element take no memory.
    const wide = (...shape) => torch.zeros([1], { device: t.device }).expand(...shape);
    await t.throws(
      () => wide(1, 2 ** 27 + 1).tolist(),
      /tolist: an array of shape \[1, 134217729\] does not fit .* data\(\)/,
    );
    await t.throws(() => wide(2 ** 23, 1).tolist(), /tolist: .* shape \[8388608, 1\] .* narrow\(\)/);
    if (t.device !== "cpu") return;
    torch.set_printoptions({ profile: "full" });
    try {
      t.equal(String(wide(2 ** 23 + 1)), "tensor([0., 0., 0.,  ..., 0., 0., 0.])");
    } finally {
      torch.set_printoptions({ profile: "default" });
    }
  },
};
