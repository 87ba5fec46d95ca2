// What is refused says so in PyTorch's words or clearer ones; what is odd and allowed does what PyTorch does.
export default {
  "custom functions and hooks": async (t) => {
    const { torch } = t,
      x = t.tensor([1, 2], { requires_grad: true });
    class Half extends torch.autograd.Function {
      static forward(_context, a) {
        return a.mul(0.5);
      }
      static backward(_context, g) {
        return [g, g, g];
      }
    }
    class Text extends Half {
      static backward() {
        return ["half"];
      }
    }
    class Nothing extends torch.autograd.Function {}
    await t.throws(() => Half.apply(x).sum().backward(), /incorrect number of gradients \(expected 1, got 3\)/);
    await t.throws(() => Text.apply(x).sum().backward(), /expected a tensor as gradient 0, got/);
    await t.throws(() => Nothing.apply(x), /You must implement the forward function/);
    const y = x.mul(2);
    y.register_hook(() => 3);
    for (const bad of [5, "x", null, []])
      await t.throws(() => y.register_hook(bad), /register_hook: argument 'hook' must be a function/);
    await t.throws(() => y.sum().backward(), /a gradient hook must answer a tensor or nothing, got number 3/);
    await t.throws(() => torch.autograd.grad(x.mul(2), [x]), /grad can be implicitly created only for scalar outputs/);
    await t.throws(() => x.mul(2).backward(t.tensor([1, 2, 3])), /Mismatch in shape/);
  },
  "transforms of functions": async (t) => {
    const { func } = t.torch,
      x = t.tensor([1, 2]);
    for (const name of ["grad", "jacrev", "hessian", "vmap"]) await t.throws(() => func[name](3)(x), /'func'/);
    await t.throws(() => func.vmap((a) => a, { in_dims: "all" })(x), /in_dims/);
    await t.throws(() => func.vmap((a) => a)(t.torch.ones([0, 2], { device: t.device })), /vmap/);
    t.equal(
      [
        ...(await func
          .grad((_, b) => b.pow(2).sum(), -1)(t.tensor([5, 5]), x)
          .data()),
      ],
      [2, 4],
    );
  },
  "tensors that are no more": async (t) => {
    const { torch } = t,
      gone = t.tensor(4);
    gone.dispose();
    await t.throws(() => torch.linspace(0, gone, 3), /linspace: this tensor was disposed of/);
    await t.throws(
      () => torch.linspace(0, t.tensor([4]), 3),
      /linspace only supports 0-dimensional start and end tensors/,
    );
    await t.throws(() => t.tensor([1]).add(gone), /add: this tensor was disposed of/);
  },
  "options of ops": async (t) => {
    const x = t.tensor([1, 2]);
    await t.throws(() => x.add(x, { alpha: [1] }), /add: argument 'alpha' must be a number, got an array of 1/);
    await t.throws(
      () => t.torch.nn.functional.leaky_relu(x, { negative_slope: "0.1" }),
      /'negative_slope' must be a number, got/,
    );
  },
  "lazy norms learn their channels from inputs without a batch": async (t) => {
    const { nn } = t.torch;
    for (const [layer, input] of [
      [nn.LazyInstanceNorm1d({ affine: true }), [3, 8]],
      [nn.LazyInstanceNorm2d({ affine: true }), [3, 8, 4]],
      [nn.LazyInstanceNorm1d({ affine: true }), [2, 3, 8]],
      [nn.LazyBatchNorm1d(), [2, 3]],
    ]) {
      layer.to(t.device)(t.torch.ones(input, { device: t.device }));
      t.equal(layer.num_features, 3);
    }
  },
  "packed sequences": async (t) => {
    const { rnn } = t.torch.nn.utils,
      x = t.torch.ones([4, 2, 3], { device: t.device });
    await t.throws(() => rnn.pack_padded_sequence(x, [[4], [2]]), /lengths/);
    await t.throws(() => rnn.pack_padded_sequence(x, [4, 2, 1]), /batch_size/);
    await t.throws(() => rnn.pack_padded_sequence(x, [4, 0]), /Length of all samples has to be greater than 0/);
    await t.throws(() => rnn.pack_padded_sequence(x, [5, 2]), /expected lengths up to 4, but got 5/);
    await t.throws(() => rnn.pad_sequence([]), /received an empty list of sequences/);
    await t.throws(() => rnn.pad_sequence([x], { padding_side: "top" }), /padding_side should be one of/);
    const packed = rnn.pack_padded_sequence(x, [4, 2]);
    await t.throws(() => rnn.pad_packed_sequence(packed, { total_length: 3 }), /total_length=3/);
    const [padded] = rnn.pad_packed_sequence(packed, { total_length: 6, padding_value: 7 });
    t.equal(padded.shape, [6, 2, 3]);
    t.equal([...(await padded.select(2, 0).flatten().data())], [1, 1, 1, 1, 1, 7, 1, 7, 7, 7, 7, 7]);
  },
  "data sets": async (t) => {
    const { data } = t.torch.utils,
      set = new data.TensorDataset(t.tensor([1, 2, 3])),
      part = new data.Subset(set, [2, 0]),
      both = new data.ConcatDataset([set, part]);
    const first = async (sample) => [...(await sample[0].reshape([1]).data())];
    class Bare extends data.Dataset {}
    class Endless extends data.IterableDataset {}
    await t.throws(() => new Bare().get(0), /a dataset needs a method get\(index\)/);
    await t.throws(() => new data.ConcatDataset([new Endless()]), /ConcatDataset does not support IterableDataset/);
    await t.throws(() => new data.Subset(new Endless(), [0]).get(0), /an iterable dataset has no samples by number/);
    await t.throws(() => part.get(2), /Subset: index 2 is out of range for 2 samples/);
    await t.throws(() => data.random_split(set, [1.5, -0.5]), /Fraction at index 0 is not between 0 and 1/);
    t.equal(await first(part.get(-1)), [1]);
    t.equal(await first(both.get(-2)), [3]);
    t.equal(await first(both.get(4)), [1]);
  },
  "schedules and states": async (t) => {
    const { nn, optim } = t.torch,
      { lr_scheduler: s } = optim,
      p = nn.Parameter(t.tensor([1])),
      o = optim.SGD([p], { lr: 1 });
    class Own extends s.LRScheduler {}
    await t.throws(() => new Own(o), /Own: get_lr\(\) is not implemented/);
    await t.throws(() => s.LambdaLR(o, 3), /lr_lambda should be a function, but got number 3/);
    await t.throws(() => s.ChainedScheduler([]), /expects at least one scheduler to be chained/);
    await t.throws(() => s.ReduceLROnPlateau(o).step(), /missing 1 required positional argument: 'metrics'/);
    await t.throws(() => optim.SGD([{ params: new Set([p]) }], { lr: 1 }), /ordered collections/);
    await t.throws(
      () => optim.LBFGS([p], { line_search_fn: "armijo" }).step(() => p.pow(2).sum()),
      /only 'strong_wolfe' is supported/,
    );
    const state = optim.Adam([p]).state_dict();
    await t.throws(
      async () => optim.Adam([p]).load_state_dict({ ...(await state), state: { 7: { step: 1 } } }),
      /state for parameter 7, which no group has/,
    );
  },
  "losses of classes": async (t) => {
    const { nn, ones, zeros, int64 } = t.torch,
      on = { device: t.device };
    await t.throws(
      () => nn.AdaptiveLogSoftmaxWithLoss(8, 20, []),
      /cutoffs should be a sequence of length larger than 0/,
    );
    const loss = nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6]).to(t.device),
      x = ones([2, 4], on);
    await t.throws(() => loss(x, zeros([2, 2], { ...on, dtype: int64 })), /0D or 1D target tensor expected/);
    await t.throws(() => loss(x, zeros([3], { ...on, dtype: int64 })), /same size in the batch dimension/);
    await t.throws(() => loss(x, zeros([], { ...on, dtype: int64 })), /0D target tensor expects 1D input tensors/);
    const { output } = loss(ones([4], on), t.tensor(1, { dtype: int64 }));
    t.equal(output.shape, []);
    const predicted = await loss.predict(x).data(),
      likeliest = await loss.log_prob(x).argmax(1).data();
    t.equal([...predicted], [...likeliest]);
    await t.throws(() => nn.Bilinear(0, 2, 3), /in1_features must be > 0, but got 0/);
    const b = nn.Bilinear(2, 3, 4).to(t.device);
    t.equal(String(b), "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)");
    t.equal(b(ones([5, 2], on), ones([5, 3], on)).shape, [5, 4]);
    t.equal((await b.weight.abs().max().item()) <= Math.SQRT1_2, true);
  },
  "what is of another type than where it should stand": async (t) => {
    const { torch } = t,
      given = (data, dtype) => torch.tensor(data, { dtype, device: t.device });
    await t.throws(() => given([true, false], "bool").square_(), /result type int64 can't be cast to .* bool/);
    t.equal(await given([3, 12], "int8").square_().tolist(), [9, -112]);
    for (const dtype of ["int8", "float32"])
      for (const name of ["add", "sub", "rsub"])
        await t.throws(
          () => torch[name](given([1], dtype), given([3], dtype), { alpha: true }),
          /Boolean alpha only supported/,
        );
    t.equal(
      await given([true], "bool")
        .add(given([true], "bool"), { alpha: true })
        .tolist(),
      [true],
    );
    for (const list of [[1, 2], new Float32Array(2)])
      await t.throws(() => torch.asarray(list, { copy: false }), /asarray: copy=false/);
    const x = given([1, 2], "float32");
    t.equal(torch.asarray(x, { copy: false, device: t.device }) === x, true);
  },
  "types that PyTorch has no kernels for, or no room": async ({ torch, tensor, device, equal, throws }) => {
    const F = torch.nn.functional,
      one = tensor([1], { dtype: "int64" });
    for (const dtype of device === "cpu" ? ["float16", "bfloat16"] : ["bfloat16"]) {
      const log_probs = torch.zeros([2, 1, 2], { device, dtype });
      await throws(() => F.ctc_loss(log_probs, one.view(1, 1), [2], [1]), /not implemented for 'b?float16'/);
    }
    const wide = /result requires dtype float64/;
    if (device === "cpu") {
      await throws(() => tensor([1, 2]).float_power_(2), wide);
      equal(await tensor([1, 2], { dtype: "float64" }).float_power_(2).tolist(), [1, 4]);
      await throws(() => one.clone().float_power_(2), wide);
    } else equal(await tensor([1, 2]).float_power_(2).tolist(), [1, 4]);
  },
};
