// What programs ask tensors and sizes besides their values, as PyTorch 2.13 answers it.

export default {
  "whether elements lie as a memory format says goes by strides": async ({ torch, device, equal, tensor }) => {
    const { channels_last, channels_last_3d, contiguous_format, preserve_format } = torch,
      asked = (x, memory_format) => x.is_contiguous({ memory_format }),
      ones = (...shape) => torch.ones(shape, { device });
    equal(
      [ones(1, 2, 3, 4), ones(1, 1, 3, 4), ones(1, 3, 1, 1), ones(2, 3, 4), ones(2, 3, 4, 5).permute(0, 3, 1, 2)].map(
        (x) => [asked(x, channels_last), asked(x, contiguous_format), asked(x, preserve_format), x.is_contiguous()],
      ),
      [
        [false, true, true, true],
        [true, true, true, true],
        [true, true, true, true],
        [false, true, true, true],
        [true, false, false, false],
      ],
    );
    equal(asked(ones(2, 3, 4, 5, 6).permute(0, 4, 1, 2, 3), channels_last_3d), true);
    equal(asked(ones(2, 3, 4, 5, 6), channels_last_3d), false);
    equal(asked(tensor([1]), channels_last), false);
  },
  "a view's base is what it is a view of, of views of views as well": async ({ tensor, equal }) => {
    const x = tensor([
        [1, 2],
        [3, 4],
      ]),
      views = [
        x.view([4]),
        x.view([4]).view([2, 2]),
        x.select(0, 0),
        x.reshape([4]),
        x.unbind()[1],
        x.t().unsqueeze(0),
      ];
    equal(
      views.map((view) => view._base === x),
      views.map(() => true),
    );
    equal(
      [x, x.detach(), x.t().reshape([4]), x.contiguous(), x.add(1)].map((other) => other._base),
      [null, null, null, null, null],
    );
  },
  "new makes tensors of the same type in the same place": async ({ torch, tensor, equal, throws }) => {
    const x = tensor([1, 2], { dtype: "int32" }),
      seen = (y) => [[...y.shape], y.dtype, y.device === x.device];
    equal(seen(x.new(2, 3)), [[2, 3], "int32", true]);
    equal(seen(x.new()), [[0], "int32", true]);
    equal(seen(x.new(torch.Size(2, 3))), [[2, 3], "int32", true]);
    equal(seen(x.new(x.size())), [[2], "int32", true]);
    equal(await x.new([4, 5.5]).tolist(), [4, 5]);
    const copy = x.new(x);
    equal([copy === x, await copy.tolist()], [false, [1, 2]]);
    await throws(() => x.new(x.float()), /new: expected a tensor of int32, got one of float32/);
    await throws(() => x.new(1.5), /whole numbers/);
  },
  "arithmetic on sizes": async ({ torch, equal, throws }) => {
    const { sym_float, sym_int, sym_max, sym_min, sym_not, sym_ite, sym_sum, sym_sqrt } = torch;
    equal(
      [sym_float(3), sym_int(3.7), sym_int(-3.7), sym_max(3, 4.5), sym_max(5, 4.5), sym_min(3, 4.5), sym_not(true)],
      [3, 3, -3, 4.5, 5, 3, false],
    );
    equal([sym_not(0), sym_ite(true, 1, 2), sym_ite(false, 1, 2), sym_sum([1, 2, 3]), sym_sqrt(4)], [true, 1, 2, 6, 2]);
    await throws(() => sym_max(1), /sym_max: missing required argument 'b'/);
    await throws(() => sym_int("2"), /sym_int: argument 'a' must be a number/);
  },
  "what has no sizes yet says so wherever they are asked for": async ({ torch, tensor, device, equal, throws }) => {
    const { nn, optim } = torch,
      lazy = {
        LazyLinear: [() => nn.LazyLinear(3), tensor([[1, 2]]), [3, 2]],
        LazyConv1d: [() => nn.LazyConv1d(2, 1), tensor([[[1, 2]]]), [2, 1, 1]],
        LazyBatchNorm1d: [
          () => nn.LazyBatchNorm1d(),
          tensor([
            [1, 2],
            [3, 4],
          ]),
          [2],
        ],
      };
    for (const [name, [make, input, shape]] of Object.entries(lazy)) {
      const module = make().to(device),
        w = module.weight;
      for (const ask of [
        () => w.shape,
        () => w.size(),
        () => w.numel(),
        () => w.mean(),
        () => w.add(1),
        () => w.clone(),
        () => torch.sum(w),
        () => nn.init.zeros_(w),
        () => nn.utils.parameters_to_vector(module.parameters()),
      ])
        await throws(ask, /uninitialized parameter/);
      equal([name, String(w), w.dtype, w.requires_grad], [name, "<UninitializedParameter>", "float32", true]);
      const [copy, optimizer] = [module.deepcopy(), optim.SGD(module.parameters(), { lr: 0.1 })];
      await throws(() => copy.weight.shape, /uninitialized parameter/);
      const out = module(input);
      equal([name, [...module.weight.shape], module.weight === w], [name, shape, true]);
      out.sum().backward();
      await optimizer.step();
      copy(input);
      equal([name, [...copy.weight.shape]], [name, shape]);
      equal(
        Object.values(copy.state_dict()).map((x) => x.shape.length),
        Object.values(module.state_dict()).map((x) => x.shape.length),
      );
    }
    equal([...nn.LazyBatchNorm1d().num_batches_tracked.shape], []);
    await throws(() => nn.LazyBatchNorm1d().running_mean.shape, /uninitialized parameter or buffer/);
  },
};
