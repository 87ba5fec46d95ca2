// torch.nn's modules: those that the definitions declare, what they keep and call.
import attributes from "../recorded/attributes.mjs";

export default {
  "parameters that a vector became are on its memory, and what saw their own keeps it": async (t) => {
    const { torch } = t,
      { nn } = torch,
      net = nn.Linear(2, 3, { device: t.device }),
      own = [...net.parameters()],
      flat = (list) => nn.utils.parameters_to_vector(list).tolist(),
      before = own.map((p) => p.detach()),
      kept = await flat(own),
      row = torch.arange(9, { device: t.device }).float();
    nn.utils.vector_to_parameters(row, own);
    t.equal([await flat(own), await flat(before)], [[0, 1, 2, 3, 4, 5, 6, 7, 8], kept]);
    row.add_(1);
    torch.no_grad(() => own[0].mul_(2));
    t.equal([await row.tolist(), await flat(own)], Array(2).fill([2, 4, 6, 8, 10, 12, 7, 8, 9]));
    const others = own.map((p) => nn.Parameter(p.detach().clone()));
    for (const list of [own, others]) {
      const optimizer = torch.optim.Adam(list, { lr: 0.1 });
      for (let step = 0; step < 2; step++) {
        for (const p of list) p.grad = p.detach().cos();
        await optimizer.step();
      }
    }
    t.close(await flat(own), await flat(others));
  },

  "what a module keeps has PyTorch's names and values": (t) => {
    for (const [name, places, options, kept] of attributes) {
      const module = new t.torch.nn[name](...places, options);
      for (const [key, value] of Object.entries(kept)) t.equal([name, key, module[key]], [name, key, value]);
    }
  },
  "a module keeps its options by position, by name, or by default": async (t) => {
    const { nn } = t.torch,
      x = t.tensor([-2, 1]);
    for (const m of [nn.LeakyReLU(0.5), new nn.LeakyReLU({ negative_slope: 0.5 })])
      t.equal(await m(x).tolist(), [-1, 1]);
    t.close(await nn.LeakyReLU()(x).tolist(), [-0.02, 1]);
    t.equal(String(nn.MaxPool2d(2)), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)");
    await t.throws(() => nn.MaxPool2d(), /MaxPool2d: missing required argument 'kernel_size'/);
    await t.throws(() => nn.LeakyReLU({ slope: 1 }), /LeakyReLU: got an unexpected keyword argument 'slope'/);
  },
  "an option may choose another op of the same name": async (t) => {
    const x = t.tensor([[[3, 5, 4, 1]]]);
    const [values, indices] = t.torch.nn.MaxPool1d({ kernel_size: 2, return_indices: true })(x);
    t.equal([await values.tolist(), await indices.tolist()], [[[[5, 4]]], [[[1, 2]]]]);
  },
  "what the definition fixes is not the user's": async (t) => {
    const x = t.tensor([[[1, 1]], [[1, 1]]]);
    t.equal(await t.torch.nn.Softmax2d()(x).tolist(), [[[0.5, 0.5]], [[0.5, 0.5]]]);
    await t.throws(() => t.torch.nn.Softmax2d({ dim: 1 }), /unexpected keyword argument 'dim'/);
  },
  "what the module calls by another name is kept under that, for as many axes as its name says": async (t) => {
    const { nn } = t.torch,
      x = t.tensor([
        [
          [1, 2],
          [3, 4],
        ],
      ]);
    t.equal(
      await nn
        .ZeroPad2d({ padding: [1, 0, 0, 0] })(x)
        .tolist(),
      [
        [
          [0, 1, 2],
          [0, 3, 4],
        ],
      ],
    );
    t.equal(await nn.ReflectionPad2d(1)(x).tolist(), [
      [
        [4, 3, 4, 3],
        [2, 1, 2, 1],
        [4, 3, 4, 3],
        [2, 1, 2, 1],
      ],
    ]);
    await t.throws(() => nn.ZeroPad1d({ pad: 1 }), /unexpected keyword argument 'pad'/);
  },
  "in place means the input changes": async (t) => {
    const x = t.tensor([-1, 2]),
      y = t.torch.nn.ReLU({ inplace: true })(x);
    t.equal([await x.tolist(), y === x], [[0, 2], true]);
    const z = t.tensor([-1, 2]);
    t.torch.nn.ReLU()(z);
    t.equal(await z.tolist(), [-1, 2]);
  },
  "a module prints what PyTorch's prints": async (t) => {
    const { nn } = t.torch,
      shown = [
        [nn.ReLU(), "ReLU()"],
        [nn.ReLU({ inplace: true }), "ReLU(inplace=True)"],
        [nn.LeakyReLU({ inplace: true }), "LeakyReLU(negative_slope=0.01, inplace=True)"],
        [nn.ELU(), "ELU(alpha=1.0)"],
        [nn.GELU(), "GELU(approximate='none')"],
        [nn.GELU("tanh"), "GELU(approximate='tanh')"],
        [nn.Hardshrink(), "Hardshrink(0.5)"],
        [nn.Dropout(), "Dropout(p=0.5, inplace=False)"],
        [nn.ZeroPad2d(1), "ZeroPad2d((1, 1, 1, 1))"],
        [nn.ConstantPad1d([1, 2], 3.5), "ConstantPad1d(padding=(1, 2), value=3.5)"],
        [nn.MaxUnpool1d(2), "MaxUnpool1d(kernel_size=(2,), stride=(2,), padding=(0,))"],
        [nn.Softmax(1), "Softmax(dim=1)"],
        [nn.CrossEntropyLoss(), "CrossEntropyLoss()"],
        [nn.Upsample({ scale_factor: 2 }), "Upsample(scale_factor=2.0, mode='nearest')"],
        [nn.Upsample({ scale_factor: [2, 1.5] }), "Upsample(scale_factor=(2.0, 1.5), mode='nearest')"],
        [nn.Upsample([2, 3], { mode: "bilinear" }), "Upsample(size=(2, 3), mode='bilinear')"],
        [nn.AdaptiveAvgPool2d([3, null]), "AdaptiveAvgPool2d(output_size=(3, None))"],
        [nn.PairwiseDistance(), "PairwiseDistance()"],
      ];
    for (const [module, text] of shown) t.equal(String(module), text);
  },
  "dropout in place drops in its input": async (t) => {
    const x = t.torch.ones(100, { device: t.device }),
      y = t.torch.nn.Dropout({ p: 0.5, inplace: true })(x);
    t.equal([y === x, (await x.tolist()).every((v) => v === 0 || v === 2)], [true, true]);
  },
  "dropout rests outside training": async (t) => {
    const x = t.torch.ones(100, { device: t.device }),
      drop = t.torch.nn.Dropout({ p: 0.5 });
    const some = (await drop(x).tolist()).filter((v) => v === 0).length;
    t.equal([some > 10 && some < 90, await drop.eval()(x).tolist()], [true, new Array(100).fill(1)]);
  },
  "a loss's weights are part of its state": async (t) => {
    const loss = t.torch.nn.NLLLoss({ weight: t.tensor([1, 3]) });
    t.equal(Object.keys(loss.state_dict()), ["weight"]);
    t.close(
      await loss(
        t.tensor([
          [-1, -2],
          [-3, -4],
        ]),
        t.tensor([0, 1], { dtype: t.torch.long }),
      ).tolist(),
      (1 + 12) / 4,
    );
  },
  "members may have the names that every object of JavaScript has": async (t) => {
    const { nn, compile } = t.torch,
      before = Reflect.ownKeys(nn.Module.prototype).map(String).join(),
      x = t.tensor([[1, 2]]);
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      const one = () => {
          const net = nn.Sequential(nn.Linear(2, 2)).to(t.device);
          net.add_module(name, nn.Linear(2, 2).to(t.device));
          net.at(1).register_parameter(name, new nn.Parameter(t.tensor([2])));
          net.at(1).register_buffer(`${name}_`, t.tensor([3]));
          return net;
        },
        [net, other] = [one(), one()],
        paths = ["0.weight", "0.bias", ...["weight", "bias", name].map((key) => `${name}.${key}`)];
      t.equal([name, [...net.named_parameters()].map(([path]) => path)], [name, paths]);
      t.equal(
        [name, net.get_submodule(name) === net.at(1), net.get_parameter(`${name}.${name}`).numel()],
        [name, true, 1],
      );
      t.equal(String(net).split("\n").at(-2).trim(), `(${name}): Linear(in_features=2, out_features=2, bias=True)`);
      t.equal(Object.keys(net.at(1).state_dict()), ["weight", "bias", name, `${name}_`]);
      other.load_state_dict(net.state_dict());
      const out = await net(x).tolist();
      for (const same of [other, net.deepcopy(), net.slice(0), compile(net)]) t.close(await same(x).tolist(), out);
      net.set_submodule(name, nn.Identity());
      t.equal([net.length, Object.getPrototypeOf(net) === nn.Sequential.prototype], [2, true]);
      await t.throws(() => net.register_buffer(name, t.tensor([1])), new RegExp(`attribute '${name}' already exists`));
      await t.throws(() => new nn.Module().get_submodule(name), new RegExp(name));
    }
    t.equal([Reflect.ownKeys(nn.Module.prototype).map(String).join(), {}.weight], [before, undefined]);
  },
  "messages name a class, of which a member may be called constructor": async (t) => {
    const { nn, optim } = t.torch,
      { parametrizations, parametrize, prune } = nn.utils,
      named = (net) => {
        net.add_module("constructor", nn.Identity());
        return net.to(t.device);
      },
      linear = () => named(nn.Linear(2, 2)),
      wide = t.torch.ones([1, 1, 1, 2], { device: t.device });
    for (const [kind, act] of [
      ["ModuleList", () => named(nn.ModuleList()).at("x")],
      ["ModuleList", () => named(nn.ModuleList()).insert("x", nn.ReLU())],
      ["ModuleList", () => named(nn.ModuleList()).extend(3)],
      ["Sequential", () => named(nn.Sequential()).append(3)],
      ["ModuleDict", () => named(nn.ModuleDict()).has(3)],
      ["ModuleDict", () => named(nn.ModuleDict()).update(3)],
      ["ModuleDict", () => named(nn.ModuleDict()).pop("other")],
      ["ParameterDict", () => nn.ParameterDict({ constructor: t.tensor([1]) }).get(3)],
      ["GRU", () => named(nn.GRU(2, 2))(wide)],
      ["GRUCell", () => named(nn.GRUCell(2, 2))(wide)],
      ["Linear", () => prune.l1_unstructured(linear(), "other", 1)],
      ["Linear", () => prune.remove(linear(), "weight")],
      ["Linear", () => prune.global_unstructured([[linear(), "other"]], prune.L1Unstructured, { amount: 1 })],
      ["Linear", () => nn.utils.weight_norm(linear(), "other")],
      ["Linear", () => nn.utils.remove_weight_norm(linear())],
      ["Linear", () => nn.utils.spectral_norm(linear(), "other")],
      ["Linear", () => nn.utils.remove_spectral_norm(linear())],
      ["Linear", () => parametrizations.weight_norm(linear(), "other")],
      ["Linear", () => parametrize.remove_parametrizations(linear(), "weight")],
      ["Linear", () => parametrize.register_parametrization(linear(), "other", nn.Identity())],
    ])
      await t.throws(act, new RegExp(`\\b${kind}\\b(?!.*undefined)`));
    t.equal(parametrize.type_before_parametrizations(linear()), Object.getPrototypeOf(nn.Linear(1, 1)).constructor);
    // a transposed convolution's weight has its outputs behind
    for (const spectral of [nn.utils.spectral_norm, parametrizations.spectral_norm]) {
      const buffers = spectral(named(nn.ConvTranspose1d(2, 3, 1))).named_buffers();
      t.equal([...buffers].find(([name]) => /_u$/.test(name))[1].shape, [3]);
    }
    const norm = named(nn.BatchNorm1d(2));
    await optim.swa_utils.update_bn(
      [
        t.tensor([
          [1, 2],
          [3, 4],
        ]),
      ],
      norm,
    );
    t.close(await norm.running_mean.tolist(), [2, 3]);
  },
  "what a module has for its own is walked through and changed by name": async (t) => {
    const { nn } = t.torch,
      model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU()),
      norm = model[1];
    t.equal(Object.keys(model._modules), ["0", "1", "2"]);
    for (const [name, module] of Object.entries(model._modules))
      if (module instanceof nn.ReLU) model._modules[name] = nn.Tanh();
    t.equal([String(model[2]), model._modules["2"] === model[2], "3" in model._modules], ["Tanh()", true, false]);
    delete model._modules["0"];
    t.equal([model.length, [...model].length], [2, 2]);
    t.equal([Object.keys(norm._parameters), Object.keys(model._parameters)], [["weight", "bias"], []]);
    norm._parameters.weight = nn.Parameter(t.tensor([3, 4]));
    norm._buffers.running_mean = t.tensor([1, 2]);
    norm._buffers.seen = t.tensor([5]);
    delete norm._buffers.num_batches_tracked;
    t.equal(Object.keys(norm._buffers), ["running_mean", "running_var", "seen"]);
    t.equal([await norm.weight.tolist(), await norm.seen.tolist()], [[3, 4], [5]]);
    t.close(
      await norm
        .eval()(t.tensor([[2, 2]]))
        .tolist(),
      [[3, 0]],
      { rtol: 1e-4, atol: 1e-4 },
    );
    t.equal(Object.keys(norm.state_dict()), ["weight", "bias", "running_mean", "running_var", "seen"]);
    await t.throws(() => (model._modules["0"] = 3), /number 3 is not a Module|not a Module/);
    await t.throws(() => (norm._parameters.weight = t.tensor([1])), /cannot assign/);
  },
};
