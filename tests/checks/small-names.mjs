// Small names that programs use in passing, with what PyTorch 2.13 answers.
export default {
  "constants, devices and sizes": async (t) => {
    const { torch } = t;
    t.equal([torch.pi, torch.e, torch.inf, Number.isNaN(torch.nan)], [Math.PI, Math.E, Infinity, true]);
    t.equal(t.tensor([1, 2]).index(":", torch.newaxis).shape, [2, 1]);
    t.equal(torch.get_default_dtype(), "float32");
    const here = torch.device(t.device);
    t.equal([here.type, here.index, String(here)], [t.device, null, t.device]);
    t.equal([torch.device("cpu", 0).index, String(torch.device("cpu:0"))], [0, "cpu:0"]);
    t.equal(torch.zeros(2, { device: here }).device, t.device);
    t.equal(t.tensor([1]).to(here).device, t.device);
    await t.throws(() => torch.device("tpu"), /device: argument .device. must be a device/);
    for (const name of ["cuda", "cuda:1", "mps"])
      await t.throws(() => t.tensor([1]).to(name), /must be a device \(cpu, webgpu, meta\), got "(cuda|cuda:1|mps)"/);
    t.equal(torch.Size([2, 3]), [2, 3]);
    t.equal(torch.zeros(torch.Size([2, 3]), { device: t.device }).shape, [2, 3]);
  },
  "whether there is a GPU, as programs ask before they begin": async (t) => {
    const { cuda, accelerator } = t.torch,
      gpu = t.device !== "cpu";
    cuda.manual_seed_all(1);
    cuda.manual_seed(1);
    cuda.empty_cache();
    t.equal([cuda.is_available(), cuda.device_count(), cuda.is_initialized()], [false, 0, false]);
    await t.throws(() => cuda.manual_seed("x"), /argument 'seed' must be a whole number/);
    const device = accelerator.current_accelerator() ?? t.torch.device("cpu");
    if (gpu) t.equal([accelerator.is_available(), accelerator.device_count(), String(device)], [true, 1, "webgpu"]);
    t.equal(accelerator.device_count(), Number(accelerator.is_available()));
    t.equal(await t.torch.ones(2, { device }).sum().item(), 2);
    if (!accelerator.is_available()) return;
    await accelerator.synchronize();
    t.equal([accelerator.current_device_index(), String(accelerator.current_accelerator(true))], [0, "webgpu"]);
  },
  "variables are tensors": async (t) => {
    const { Variable } = t.torch.autograd,
      x = t.tensor([1, 2]),
      v = Variable(x, { requires_grad: true }),
      w = new Variable(v.mul(2));
    t.equal([x.requires_grad, v.requires_grad, w.requires_grad, w.is_leaf], [false, true, false, true]);
    t.equal([v instanceof Variable, v instanceof t.torch.Tensor, 3 instanceof Variable], [true, true, false]);
    v.square().sum().backward();
    w.mul_(10);
    x.add_(1);
    t.equal(
      [await v.grad.tolist(), await v.detach().tolist(), await w.tolist()],
      [
        [2, 4],
        [2, 3],
        [20, 40],
      ],
    );
    await t.throws(() => Variable([1]), /Variable: argument 'data' must be a tensor/);
  },
  "trees of values are taken apart and put together": async (t) => {
    const tree = t.torch.utils._pytree,
      state = { step: 3, moments: [t.tensor([1, 2]), null], more: new Map([["w", t.tensor([5])]]) };
    const [leaves, spec] = tree.tree_flatten(state);
    t.equal([leaves.length, leaves[0], leaves[2], spec.num_leaves], [4, 3, null, 4]);
    const again = tree.tree_unflatten(leaves, spec);
    t.equal([again.moments[0] === state.moments[0], again.more.get("w") === leaves[3]], [true, true]);
    t.equal(tree.tree_leaves([1, [2, { a: 3 }]]), [1, 2, 3]);
    t.equal(tree.tree_structure({ a: 1 }).unflatten([2]).a, 2);
    const twice = tree.tree_map_only(t.torch.Tensor, (x) => x.mul(2), state);
    t.equal([twice.step, await twice.moments[0].tolist(), await twice.more.get("w").tolist()], [3, [2, 4], [10]]);
    t.equal(
      tree.tree_map_only(
        (x) => x === 3,
        () => 4,
        state,
      ).step,
      4,
    );
    const { x, y } = tree.tree_map((a, b, c) => a + b + c, { x: 1, y: [2] }, { x: 10, y: [20] }, [100, 200]);
    t.equal([x, y], [111, [222]]);
    await t.throws(
      () => tree.tree_map((a) => a, [1], [1, 2]),
      /tree_map: tree 1 after the first has 2 leaves, the first 1/,
    );
    await t.throws(() => spec.unflatten([1]), /unflatten: expected 4 leaves, .* but got 1/);
    await t.throws(() => tree.tree_map(3, [1]), /tree_map: argument 'func' must be a function/);
  },
  "what a tensor is of": async (t) => {
    const of = (dtype) => t.tensor([1, 0], { dtype });
    const gpu = t.device === "cpu" ? "" : `${t.device}.`;
    for (const [dtype, name, bytes, signed] of [
      ["float32", "Float", 8, true],
      ["int32", "Int", 8, true],
      ["uint8", "Byte", 2, false],
      ["int8", "Char", 2, true],
      ["bool", "Bool", 2, false],
    ]) {
      const x = of(dtype);
      t.equal([x.type(), x.nbytes, x.is_signed()], [`torch.${gpu}${name}Tensor`, bytes, signed]);
    }
    const x = of("float32");
    t.equal([x.is_complex(), t.torch.is_complex(x)], [false, false]);
    t.equal([x.type("int32").dtype, x.type({ dtype: t.torch.bool }).dtype], ["int32", "bool"]);
    t.equal(t.tensor([[1, 2, 3]]).transpose(0, 1).nbytes, 12);
  },
  "what answers the tensor itself": async (t) => {
    const { torch } = t,
      x = t.tensor([1, 2]).requires_grad_(),
      y = x.mul(2);
    t.equal([torch.positive(y) === y, y.positive() === y, y.conj() === y, y.float() === y], [true, true, true, true]);
    await t.throws(() => torch.positive(t.tensor([true])), /the `\+` operator, on a bool tensor, is not supported/);
    // Also of tensors that require a gradient, which goes through.
    t.equal([torch.as_tensor(y) === y, torch.asarray(y) === y, torch.asarray(x) === x], [true, true, true]);
    const copy = torch.asarray(y, { copy: true }),
      cast = torch.as_tensor(y, "bfloat16");
    t.equal([copy === y, copy.requires_grad, cast.dtype, cast.requires_grad], [false, true, "bfloat16", true]);
    copy.sum().add(cast.sum()).backward();
    t.equal(await x.grad.tolist(), [4, 4]);
    t.equal(torch.asarray(y, { requires_grad: false }).requires_grad, false);
    await t.throws(
      () => torch.asarray(y, { dtype: "int32", copy: false }),
      /asarray: a tensor of float32 on \w+ cannot become int32 on \w+ uncopied/,
    );
  },
  "dropout that leaves nothing out answers its input": async (t) => {
    const { torch } = t,
      { nn } = torch,
      F = nn.functional,
      x = t.tensor([[[1, 2, 3]]]).requires_grad_(),
      y = x.mul(2);
    for (const name of ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"]) {
      const input = name === "dropout3d" ? y.index(null) : y;
      t.equal([name, F[name](input, { p: 0.5, training: false }) === input], [name, true]);
      t.equal([name, F[name](input, { p: 0, training: true }) === input], [name, true]);
      t.equal([name, F[name](input, { p: 0.5, training: true }) === input], [name, false]);
      // Wrong numbers are refused all the same.
      await t.throws(() => F[name](input, { p: 2, training: false }), /has to be between 0 and 1, but got 2/);
    }
    // The functions that work in place draw, too.
    for (const name of ["dropout_", "feature_dropout_", "alpha_dropout_", "feature_alpha_dropout_"]) {
      const changed = t.tensor([[[1, 2, 3]]]);
      t.equal([name, torch[name](changed, 0.5, true) === changed, changed._version], [name, true, 1]);
      t.equal([name, (await changed.tolist())[0][0].includes(1)], [name, false]);
    }
    const layer = nn.Dropout(0.5),
      within = nn.Dropout(0.5, { inplace: true });
    t.equal([layer.eval()(y) === y, within.eval()(y) === y, layer.train()(y) === y], [true, true, false]);
    t.equal([torch.dropout(y, 0.5, false) === y, torch.native_dropout(y, 0.5, false)[0] === y], [true, false]);
    const [dropped, kept] = torch.native_dropout(torch.ones([64], { device: t.device }), 0.75, true);
    t.equal(await dropped.tolist(), await kept.mul(4).float().tolist()); // what is kept stands for four
    // Nothing is written, so that a leaf may stand there, and its number of changes stays.
    F.dropout(x, { training: false, inplace: true });
    layer.eval()(y).sum().backward();
    t.equal([await x.grad.tolist(), x._version], [[[[2, 2, 2]]], 0]);
    // In a captured program, too: what is written into the answer is written into the input.
    const layered = torch.compile((a) => layer(a.mul(1)).add_(1));
    for (let i = 0; i < 3; i++) t.equal(await layered(x.detach()).tolist(), [[[2, 3, 4]]]);
  },
  "images made smaller, each element an average of what falls on it": async (t) => {
    const F = t.torch.nn.functional,
      x = t.torch.arange(24, { device: t.device }).reshape(1, 1, 4, 6).sin(),
      small = async (options) =>
        (
          await F.interpolate(x, { ...options, antialias: true })
            .flatten()
            .tolist()
        ).slice(0, 4);
    for (const [options, wanted] of [
      [{ size: [2, 3], mode: "bilinear" }, [0.3532395, 0.4949089, -0.6280723, 0.028063]],
      [{ size: [3, 4], mode: "bilinear", align_corners: true }, [0.2711064, 0.7474077, -0.369266, -0.9148611]],
      [{ size: [6, 9], mode: "bicubic" }, [-0.0365664, 0.4084639, 0.9170488, 0.9528095]],
      [{ scale_factor: 0.5, mode: "bilinear" }, [0.3532395, 0.4949089, -0.6280723, 0.028063]],
      [{ size: [3, 4], mode: "bicubic", align_corners: true }, [0.2983596, 0.8406866, -0.3961402, -1.01512]],
    ])
      t.close(await small(options), wanted, 1e-5);
    const leaf = x.detach().requires_grad_();
    F.interpolate(leaf, { size: [2, 4], mode: "bicubic", antialias: true })
      .square()
      .sum()
      .backward();
    t.close((await leaf.grad.flatten().tolist()).slice(0, 4), [0.0695654, 0.3528383, 0.4888962, 0.1006846], 1e-5);
    await t.throws(
      () => F.interpolate(x, { size: 2, mode: "area", antialias: true }),
      /Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input/,
    );
    t.equal(F.interpolate(x, { size: 2, antialias: false }).shape, [1, 1, 2, 2]);
  },
  "the version of PyTorch, devices as values, borders of value 0": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      x = t.tensor([[1, 2, 3]]);
    t.equal([/^2\.13\.0\+tensorloom\.\d/.test(torch.__version__), torch.__version__ >= "2.0"], [true, true]);
    t.equal([torch.device("cpu") instanceof torch.Device, "cpu" instanceof torch.Device], [true, false]);
    const node = x.requires_grad_().mul(2).sum().grad_fn;
    t.equal([node.name(), node.next_functions[0][0].name()], ["SumBackward0", "MulBackward0"]);
    for (const mode of ["reflect", "replicate", "circular"]) {
      const padded = F.pad(x, [1, 1], { mode, value: 0 });
      t.equal(await padded.tolist(), await F.pad(x, [1, 1], mode).tolist());
      await t.throws(
        () => F.pad(x, [1, 1], mode, 2),
        new RegExp(`Padding mode '${mode}' doesn't take in value argument`),
      );
    }
    const z = torch.complex(x.detach(), x.detach().neg());
    t.equal(await torch.view_as_real(F.pad(z, [1, 0], { mode: "reflect", value: 0 })).tolist(), [
      [
        [2, -2],
        [1, -1],
        [2, -2],
        [3, -3],
      ],
    ]);
    t.equal(await F.pad(z, [1, 0], { value: 5 }).real.tolist(), [[5, 1, 2, 3]]);
  },
  "images resized by a factor for each axis": async (t) => {
    const F = t.torch.nn.functional,
      x = t.torch.arange(24, { device: t.device }).reshape(1, 1, 4, 6).sin();
    for (const [scale_factor, options, wanted, slopes] of [
      [[1.7, 2.3], { mode: "nearest" }, [-0.2879033, -0.9613975], [-3.352986, 5.255893, 7.914866]],
      [[1.7, 2.3], { mode: "nearest-exact" }, [-0.8462204, -0.8462204], [-1.117662, 3.94192, 3.957433]],
      [[0.6, 2.3], { mode: "bilinear" }, [-0.6246504, -0.9174739], [0.075833, 1.054013, 1.197557]],
      [
        [1.7, 2.3],
        { mode: "bilinear", recompute_scale_factor: true },
        [-0.6851881, -0.8462203],
        [-0.753905, 3.447247, 5.526241],
      ],
      [[1.7, 0.5], { mode: "bicubic" }, [1.0156189, -0.5508078], [0.304772, 0.098734, 1.609676]],
      [[0.6, 1.5], { mode: "bicubic", antialias: true }, [-0.6786166, -0.9878671], [-0.424357, 1.200189, 1.916811]],
      [[0.6, 1.5], { mode: "area" }, [-0.5260931, -0.903809], [0.012673, 0.901609, 1.255815]],
    ]) {
      const leaf = x.detach().requires_grad_(),
        y = F.interpolate(leaf, { scale_factor, ...options });
      t.equal(
        y.shape.slice(2),
        [4, 6].map((n, i) => Math.floor(n * scale_factor[i])),
      );
      t.close((await y.flatten().tolist()).slice(-2), wanted, 1e-5);
      y.square().sum().backward();
      t.close((await leaf.grad.flatten().tolist()).slice(6, 9), slopes, 1e-4);
    }
    const { Upsample } = t.torch.nn;
    t.equal(await Upsample({ scale_factor: [1, 1.5] })(t.tensor([[[[1, 2]]]])).tolist(), [[[[1, 1, 2]]]]);
    await t.throws(() => F.interpolate(x, { scale_factor: [2, 2, 2] }), /'scale_factor' must be a number or 2 numbers/);
    await t.throws(() => F.interpolate(x, { scale_factor: [2, null] }), /'scale_factor' must be numbers, but got null/);
  },
  "tensors of memory that is there": async (t) => {
    const { torch } = t,
      array = new Float64Array([1, 2, 3]);
    t.equal([torch.from_numpy(array).dtype, await torch.from_numpy(array).tolist()], ["float64", [1, 2, 3]]);
    await t.throws(() => torch.from_numpy([1, 2]), /argument 'ndarray' must be a typed array, got an array of 2/);
    const bytes = new Uint8Array([1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255]);
    const read = (options) => torch.frombuffer(bytes, { dtype: "int32", ...options }).tolist();
    t.equal(await read({}), [1, 2, -1]);
    t.equal(await read({ count: 2 }), [1, 2]);
    t.equal(await read({ offset: 4 }), [2, -1]);
    t.equal(await read({ offset: 1, count: 1 }), [2 ** 25]);
    t.equal(await torch.frombuffer(bytes.buffer, { dtype: "uint8", count: 3 }).tolist(), [1, 0, 0]);
    t.equal(await torch.frombuffer(bytes.subarray(4, 8), { dtype: "int8" }).tolist(), [2, 0, 0, 0]);
    // As PyTorch words them.
    await t.throws(
      () => read({ offset: 12 }),
      /offset \(12 bytes\) must be non-negative and no greater than buffer length \(12/,
    );
    await t.throws(
      () => read({ count: 4 }),
      /requested buffer length \(4 \* 4 bytes\) after offset \(0 bytes\) must not be/,
    );
    await t.throws(() => read({ count: 0 }), /both buffer length \(12\) and count \(0\) must not be 0/);
    await t.throws(() => torch.frombuffer(bytes), /missing required argument 'dtype'/);
    await t.throws(() => torch.frombuffer("abc", { dtype: "int8" }), /argument 'buffer' must be a buffer/);
  },
  "how results may differ from run to run": async (t) => {
    const { torch } = t,
      told = () => [
        torch.get_deterministic_debug_mode(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
      ];
    t.equal(told(), [0, false, false]);
    torch.set_deterministic_debug_mode("warn");
    t.equal(told(), [1, true, true]);
    torch.set_deterministic_debug_mode({ debug_mode: 2 });
    t.equal(told(), [2, true, false]);
    torch.use_deterministic_algorithms(false);
    t.equal(told(), [0, false, false]);
    await t.throws(
      () => torch.set_deterministic_debug_mode("wrong"),
      /'debug_mode' must be 0 "default", 1 "warn" or 2/,
    );
  },
  "how a tensor lies": async (t) => {
    const x = t.torch.zeros([2, 3, 4], { device: t.device });
    t.equal(
      [x.dim_order(), x.permute([2, 0, 1]).dim_order()],
      [
        [0, 1, 2],
        [1, 2, 0],
      ],
    );
    t.equal(
      [x.adjoint().shape, x.unsafe_split_with_sizes([1, 3], 2).map((v) => v.shape[2])],
      [
        [2, 4, 3],
        [1, 3],
      ],
    );
    t.equal([t.torch.is_inference(x), t.torch.is_conj(x), t.torch.is_neg(x)], [false, false, false]);
    t.equal(t.torch.get_device(x), t.device === "cpu" ? -1 : 0);
  },
};
