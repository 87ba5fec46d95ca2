// The device "meta": shapes and types without elements, and models that are built without being filled.
export default {
  "an op works out what its result looks like": async (t) => {
    const { torch } = t,
      x = torch.empty([2, 3], { device: "meta" });
    t.equal([x.device, x.is_meta, x.dtype, String(torch.device("meta"))], ["meta", true, "float32", "meta"]);
    const y = torch.matmul(x, torch.ones([3, 4], { device: "meta", dtype: "float32" }));
    t.equal([y.shape, y.device], [[2, 4], "meta"]);
    t.equal(y.add(1).sum(0).argmax().shape, []);
    t.equal(x.to("float16").dtype, "float16");
    t.equal(t.tensor([1, 2]).to("meta").shape, [2]);
    t.equal(String(y), "tensor(..., device='meta', size=(2, 4))");
    x.fill_(1).add_(2);
    x.copy_(torch.ones([2, 3], { device: "meta" }));
    t.equal(torch.distributions.Normal(x, x.exp()).log_prob(x).shape, [2, 3]);
    await t.throws(() => y.add(t.tensor([1, 2, 3, 4])), /Expected all tensors to be on the same device/);
  },
  "it has no values": async (t) => {
    const x = t.torch.ones([2], { device: "meta" });
    await t.throws(() => x.tolist(), /Cannot copy out of meta tensor; no data!/);
    await t.throws(() => x.item(), /cannot be converted to Scalar/);
    await t.throws(
      () => x.to(t.device),
      /Cannot copy out of meta tensor; no data! Please use torch\.nn\.Module\.to_empty/,
    );
    await t.throws(() => x.to("cpu"), /Cannot copy out of meta tensor/);
    await t.throws(() => t.tensor([1, 2]).copy_(x), /copy|meta/);
    await t.throws(() => t.torch.nonzero(x), /Cannot copy out of meta tensor/);
  },
  "gradients have shapes there, too": async (t) => {
    const { nn, ones } = t.torch,
      layer = nn.Linear(3, 4, { device: "meta" });
    layer(ones([2, 3], { device: "meta" }))
      .pow(2)
      .sum()
      .backward();
    t.equal([layer.weight.grad.shape, layer.weight.grad.device], [[4, 3], "meta"]);
  },
  "a model is built without values, and loaded": async (t) => {
    const { torch } = t,
      { nn } = torch,
      build = (device) => nn.Sequential(nn.Linear(3, 4, { device }), nn.BatchNorm1d(4, { device }), nn.ReLU()),
      model = build(t.device).eval(),
      x = t.tensor([[1, -2, 3]]),
      wanted = await model(x).tolist(),
      empty = build("meta").eval();
    t.equal(
      empty.parameters().every((p) => p.is_meta && p.requires_grad),
      true,
    );
    empty.load_state_dict(model.state_dict(), { assign: true });
    t.equal(await empty(x).tolist(), wanted);
    const other = build("meta").eval().to_empty({ device: t.device });
    other.load_state_dict(model.state_dict());
    t.equal(await other(x).tolist(), wanted);
    const skipped = nn.utils.skip_init(nn.Linear, 3, 4, { bias: false });
    t.equal([skipped.weight.shape, skipped.weight.device, skipped.bias], [[4, 3], t.device, null]);
    await t.throws(() => nn.utils.skip_init(torch.relu, 3), /skip_init: Expected a Module/);
  },
  "building there draws no random numbers": async (t) => {
    const { torch } = t,
      draw = async (between) => {
        torch.manual_seed(3);
        between();
        return torch.rand(4, { device: t.device }).tolist();
      };
    const wanted = await draw(() => {});
    t.equal(await draw(() => torch.nn.Transformer(8, 2, 1, 1, 16, { device: "meta" })), wanted);
  },
  "loading into what has no values says that nothing is loaded": async (t) => {
    const layer = t.torch.nn.Linear(1, 1, { device: "meta" }),
      said = [],
      { warn } = console;
    console.warn = (text) => said.push(text);
    try {
      layer.load_state_dict({ weight: t.tensor([[1]]), bias: t.tensor([1]) });
    } finally {
      console.warn = warn;
    }
    t.equal(said.length, 1);
    t.equal(/weight, bias: copying to a meta parameter is a no-op/.test(said[0]), true);
  },
  "the default device": async (t) => {
    const { torch } = t,
      before = torch.get_default_device();
    torch.set_default_device("meta");
    try {
      t.equal(
        [String(torch.get_default_device()), torch.randn(3).device, torch.nn.Linear(2, 2).weight.device],
        ["meta", "meta", "meta"],
      );
    } finally {
      torch.set_default_device(before);
    }
    t.equal(String(torch.get_default_device()), String(before));
  },
  "batch norm goes into the layer before it": async (t) => {
    const { torch } = t,
      { nn } = torch,
      norm = (bn) => {
        bn.running_mean.normal_();
        bn.running_var.uniform_(0.5, 2);
        bn.weight.data.uniform_(0.5, 2);
        return bn.eval();
      };
    const cases = [
      [nn.Conv2d(2, 3, 3), norm(nn.BatchNorm2d(3)), [1, 2, 5, 5], nn.utils.fuse_conv_bn_eval],
      [nn.Conv1d(2, 4, 3, { bias: false }), norm(nn.BatchNorm1d(4)), [2, 2, 6], nn.utils.fuse_conv_bn_eval],
      [
        nn.ConvTranspose2d(2, 3, 3),
        norm(nn.BatchNorm2d(3)),
        [1, 2, 4, 4],
        (a, b) => nn.utils.fuse_conv_bn_eval(a, b, { transpose: true }),
      ],
      [nn.Linear(3, 4), norm(nn.BatchNorm1d(4)), [2, 3], nn.utils.fuse_linear_bn_eval],
    ];
    for (const [layer, bn, shape, fuse] of cases) {
      layer.eval().to(t.device);
      bn.to(t.device);
      const x = torch.randn(shape, { device: t.device }),
        one = fuse(layer, bn);
      t.equal(await torch.allclose(one(x), bn(layer(x)), { atol: 1e-5 }), true);
      t.equal([one.weight.requires_grad, one.bias.requires_grad], [true, layer.bias !== null]); // PyTorch's
      await t.throws(() => fuse(layer.train(), bn), /Fusion only for eval/);
    }
  },
  "factors of few directions": async (t) => {
    const { torch } = t,
      low = torch.randn([9, 2], { device: t.device }).matmul(torch.randn([2, 6], { device: t.device }));
    for (const A of [low, low.mT.contiguous()]) {
      const [U, S, V] = torch.svd_lowrank(A, 2);
      t.equal([U.shape, S.shape, V.shape], [[A.shape[0], 2], [2], [A.shape[1], 2]]);
      t.equal(await torch.allclose(U.mul(S).matmul(V.mT), A, { atol: 1e-4 }), true);
    }
    const [U, S, V] = torch.pca_lowrank(low.add(5), { q: 2 });
    t.equal(await torch.allclose(U.mul(S).matmul(V.mT), low.sub(low.mean(0)), { atol: 1e-4 }), true);
    await t.throws(
      () => torch.svd_lowrank(low, 7),
      /svd_lowrank: q\(=7\) must be non-negative integer and not greater/,
    );
  },
};
