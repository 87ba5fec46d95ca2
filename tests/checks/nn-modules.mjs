// torch.nn's module class: what belongs to a module, its state, hooks, copies; and how modules print.
const net = (nn) => nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Tanh());

export default {
  "the bias of a convolution over no channels is drawn, or zero where it depends on nothing": async ({
    torch,
    device,
    equal,
  }) => {
    const { nn } = torch,
      biasOf = async (make) => (await make({ device }).bias.tolist())[0];
    torch.full([1], 7, { device }).dispose(); // memory that would be seen
    equal(await biasOf((o) => nn.Conv1d(0, 1, 2, o)), 0);
    for (let n = 0; n < 5; n++) {
      torch.full([1], 7, { device }).dispose();
      const drawn = await biasOf((o) => nn.ConvTranspose3d(0, 1, [2, 1, 3], o));
      equal(drawn !== 0 && Math.abs(drawn) <= 1 / Math.sqrt(6), true);
    }
  },
  "parameters, buffers and modules have paths, in the order they were made": async (t) => {
    const { nn } = t.torch;
    class Net extends nn.Module {
      constructor() {
        super();
        this.a = nn.Linear(2, 2, { bias: false });
        this.scale = new nn.Parameter(t.torch.ones([2]));
        this.again = this.a;
        this.register_buffer("seen", t.torch.zeros([1]), { persistent: false });
        this.register_buffer("kept", t.torch.zeros([1]));
        this.none = null;
      }
      forward(x) {
        return this.a(x).mul(this.scale);
      }
    }
    const m = new Net();
    t.equal(
      Array.from(m.named_parameters(), ([n]) => n),
      ["scale", "a.weight"],
    );
    t.equal(
      Array.from(m.named_parameters({ prefix: "net", recurse: false }), ([n]) => n),
      ["net.scale"],
    );
    t.equal(
      Array.from(m.named_buffers(), ([n]) => n),
      ["seen", "kept"],
    );
    t.equal(
      Array.from(m.named_modules(), ([n]) => n),
      ["", "a"],
    );
    t.equal(
      Array.from(m.named_children(), ([n]) => n),
      ["a"],
    );
    t.equal(Object.keys(m.state_dict()), ["scale", "kept", "a.weight", "again.weight"]);
    t.equal(m.get_parameter("a.weight") === m.a.weight, true);
    t.equal(m.get_submodule("again") === m.a, true);
    await t.throws(() => m.get_submodule("b"), /Net has no attribute `b`/);
    await t.throws(() => m.get_parameter("a"), /`a` is not an nn.Parameter/);
    await t.throws(() => m.register_buffer("a", null), /attribute 'a' already exists/);
    await t.throws(() => m.add_module("x.y", nn.ReLU()), /module name can't contain "\."/);
    await t.throws(() => nn.Module()(1), /missing the required "forward" function/);
  },
  "modes, gradients and functions reach every module": async (t) => {
    const { nn } = t.torch,
      m = net(nn),
      names = [];
    m.eval();
    t.equal(
      Array.from(m.modules(), (x) => x.training),
      [false, false, false, false],
    );
    m.train();
    m.apply((x) => names.push(x.constructor.name));
    t.equal(names, ["Linear", "BatchNorm1d", "Tanh", "Sequential"]);
    m(
      t.tensor([
        [1, 2],
        [3, 5],
      ]),
    )
      .sum()
      .backward();
    m.zero_grad({ set_to_none: false });
    t.equal(await m[0].bias.grad.tolist(), [0, 0, 0]);
    m.zero_grad();
    t.equal(m[0].bias.grad, null);
    m.requires_grad_(false);
    t.equal(
      m.parameters().some((p) => p.requires_grad),
      false,
    );
    const norm = nn.BatchNorm1d(3, { device: "cpu" }).double();
    t.equal(
      [norm.weight.dtype, norm.running_var.dtype, norm.num_batches_tracked.dtype],
      ["float64", "float64", "int64"],
    );
    await t.throws(
      () => norm.to("int32"),
      /nn.Module.to only accepts floating point dtypes, but got desired dtype=torch.int32/,
    );
  },
  "a state goes from one module to another, or not at all": async (t) => {
    const { nn } = t.torch,
      a = net(nn),
      b = net(nn);
    t.equal(String(b.load_state_dict(a.state_dict())), "<All keys matched successfully>");
    t.close(await b[0].weight.tolist(), await a[0].weight.tolist());
    const { "0.bias": gone, ...rest } = a.state_dict();
    await t.throws(
      () => b.load_state_dict({ ...rest, extra: gone }),
      /Error\(s\) in loading state_dict for Sequential:\n\tMissing key\(s\) in state_dict: "0.bias"\. \n\tUnexpected key\(s\) in state_dict: "extra"\./,
    );
    const report = b.load_state_dict({ ...rest, extra: gone }, { strict: false });
    t.equal([report.missing_keys, report.unexpected_keys], [["0.bias"], ["extra"]]);
    const before = await b[0].weight.tolist();
    await t.throws(
      () => b.load_state_dict({ ...a.state_dict(), "0.weight": t.torch.zeros([3, 2]), "0.bias": t.torch.zeros([4]) }),
      /size mismatch for 0.bias: copying a param with shape torch.Size\(\[4\]\) from checkpoint, the shape in current model is torch.Size\(\[3\]\)\./,
    );
    t.equal(await b[0].weight.tolist(), before);
    const { "1.num_batches_tracked": count, ...older } = a.state_dict();
    t.equal([b.load_state_dict(older).missing_keys, count.shape], [[], []]);
  },
  "hooks see and replace arguments, results and gradients": async (t) => {
    const { nn } = t.torch,
      m = nn.Linear(1, 1),
      seen = [];
    m.load_state_dict({ weight: t.tensor([[2]]), bias: t.tensor([1]) });
    m.to(t.device);
    const first = m.register_forward_pre_hook((_, [x]) => x.mul(10));
    const second = m.register_forward_hook((_, args, out) => {
      seen.push(args.length);
      return out.add(1);
    });
    t.equal(await m(t.tensor([[3]])).tolist(), [[62]]);
    first.remove();
    second.remove();
    t.equal(await m(t.tensor([[3]])).tolist(), [[7]]);
    const back = m.register_full_backward_hook((_, input, output) => {
      seen.push(input.length, output.length);
      return [input[0].mul(5)];
    });
    const x = t.tensor([[3]], { requires_grad: true });
    m(x).mul(3).sum().backward();
    t.equal([await x.grad.tolist(), await m.weight.grad.tolist(), seen], [[[30]], [[9]], [1, 1, 1]]);
    back.remove();
    m.register_backward_hook((_, input) => {
      seen.push(input);
    });
    m(t.tensor([[3]]))
      .sum()
      .backward();
    t.equal(seen.pop(), [null]); // no argument wants a gradient
  },
  "a deep copy shares nothing, but what was shared within it": async (t) => {
    const { nn } = t.torch,
      m = net(nn);
    m[0].twin = m[0].weight;
    m[1].running_mean.add_(3);
    const copy = m.deepcopy();
    t.equal(
      [copy[0].weight === m[0].weight, copy[0].twin === copy[0].weight, String(copy) === String(m)],
      [false, true, true],
    );
    t.equal(
      [await copy[1].running_mean.tolist(), Object.keys(copy.state_dict())],
      [[3, 3, 3], Object.keys(m.state_dict())],
    );
    const x = t.tensor([
      [1, 2],
      [3, 5],
    ]);
    t.close(await copy(x).tolist(), await m(x).tolist());
  },
  "lists and dictionaries of modules and of parameters": async (t) => {
    const { nn } = t.torch,
      list = nn.ModuleList([nn.ReLU(), nn.Tanh()]);
    for (const [i, layer] of list.entries()) t.equal(layer === list[i], true);
    t.equal([[...list.entries()].length, [...nn.ParameterList([t.tensor(1)]).entries()][0][0]], [2, 0]);
    list.insert(1, nn.Sigmoid()).append(nn.ReLU());
    t.equal(
      [list.length, String(list[1]), String(list.pop()), String(list.at(-1))],
      [4, "Sigmoid()", "ReLU()", "Tanh()"],
    );
    await t.throws(() => list.insert(9, nn.ReLU()), /Index out of range: 9/);
    await t.throws(() => nn.ModuleList([1]), /is not a Module subclass/);
    const dict = nn.ModuleDict({ a: nn.Linear(1, 1), b: nn.ReLU() });
    t.equal(
      [dict.keys(), Object.keys(dict.state_dict()), String(dict.pop("b")), dict.has("b")],
      [["a", "b"], ["a.weight", "a.bias"], "ReLU()", false],
    );
    for (const pair of ["ab", ["a"], ["a", nn.ReLU(), 1]])
      await t.throws(() => nn.ModuleDict([pair]), /ModuleDict: .*a list of pairs of names and values/);
    const params = nn.ParameterList([t.torch.zeros([2]), t.torch.zeros([3])]);
    t.equal([params.parameters().length, params[1].shape, Object.keys(params.state_dict())], [2, [3], ["0", "1"]]);
    t.equal(nn.ParameterDict({ w: t.torch.ones([1]) }).get("w").requires_grad, true);
    // As in PyTorch, whose optimizers' states go by the order: a plain dictionary is sorted, what has an order keeps it.
    const [w, v] = [t.torch.zeros([1]), t.torch.zeros([2])],
      orders = {
        object: [nn.ParameterDict({ w, v, b: w }), ["b", "v", "w"]],
        pairs: [
          nn.ParameterDict([
            ["w", w],
            ["v", v],
          ]),
          ["w", "v"],
        ],
        Map: [
          nn.ParameterDict(
            new Map([
              ["w", w],
              ["v", v],
            ]),
          ),
          ["w", "v"],
        ],
        "another one": [
          nn.ParameterDict(
            nn.ParameterDict([
              ["w", w],
              ["v", v],
            ]),
          ),
          ["w", "v"],
        ],
        update: [nn.ParameterDict([["w", w]]).update({ v, b: w }), ["w", "b", "v"]],
        ModuleDict: [nn.ModuleDict({ w: nn.ReLU(), v: nn.ReLU() }), ["w", "v"]],
        "ModuleDict of another": [nn.ModuleDict(nn.ModuleDict({ w: nn.ReLU() })).update({ v: nn.ReLU() }), ["w", "v"]],
      };
    for (const [name, [made, wanted]] of Object.entries(orders)) t.equal(made.keys(), wanted, name);
    const named = nn.Sequential({ first: nn.Linear(1, 2), last: nn.ReLU() });
    t.equal(
      [Object.keys(named.state_dict()), named(t.tensor([[1]])).shape],
      [
        ["first.weight", "first.bias"],
        [1, 2],
      ],
    );
  },
  "members stay in their order, whatever they are called, and parts of a row are a row": async (t) => {
    const { nn } = t.torch,
      add = (n) => nn.Threshold(-100, n),
      names = (m) => Array.from(m.named_children(), ([name]) => name);
    const row = nn.Sequential({ last: nn.Softplus(), first: nn.ReLU() }).append(nn.Linear(1, 1)); // its name is 2
    row.add_module("x", nn.Identity());
    t.equal(
      [names(row), names(row.deepcopy()), names(row.slice(0, -1)), names(row.slice(-2))],
      [
        ["last", "first", "2", "x"],
        ["last", "first", "2", "x"],
        ["last", "first", "2"],
        ["2", "x"],
      ],
    );
    t.equal(
      [String(row.pop(0)), names(row), String(row[1])],
      ["Softplus(beta=1.0, threshold=20.0)", ["0", "1", "2"], "Linear(in_features=1, out_features=1, bias=True)"],
    );
    const dict = nn.ModuleDict(
      new Map([
        ["2", add(1)],
        ["a", add(2)],
        ["1", nn.Linear(1, 1)],
      ]),
    );
    t.equal(
      [dict.keys(), Object.keys(dict.state_dict())],
      [
        ["2", "a", "1"],
        ["1.weight", "1.bias"],
      ],
    );
    t.equal(
      [
        String(nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.ReLU()]).slice(1)),
        nn.ParameterList([t.torch.ones([1]), t.torch.ones([2])]).slice(-1)[0].shape,
      ],
      ["ModuleList(\n  (0): Tanh()\n  (1): ReLU()\n)", [2]],
    );
  },
  "modules print as PyTorch's": async (t) => {
    const { nn } = t.torch;
    t.equal(
      String(
        nn.Sequential(
          nn.Linear(2, 3),
          nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Conv2d(1, 2, 3, { padding: 1, bias: false })]),
        ),
      ),
      [
        "Sequential(",
        "  (0): Linear(in_features=2, out_features=3, bias=True)",
        "  (1): ModuleList(",
        "    (0-1): 2 x ReLU()",
        "    (2): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)",
        "  )",
        ")",
      ].join("\n"),
    );
    const shown = [
      [nn.BatchNorm2d(3), "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"],
      [nn.LayerNorm(4), "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)"],
      [nn.GroupNorm(2, 4), "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"],
      [
        nn.LSTM(2, 3, 2, { bidirectional: true, dropout: 0.1 }),
        "LSTM(2, 3, num_layers=2, dropout=0.1, bidirectional=True)",
      ],
      [nn.Embedding(3, 4, { padding_idx: -1 }), "Embedding(3, 4, padding_idx=2)"],
      [
        nn.MultiheadAttention(4, 2),
        "MultiheadAttention(\n  (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)\n)",
      ],
      [
        nn.Sequential(
          nn.ParameterList([t.torch.ones([2]), t.torch.ones([2, 3])]),
          nn.ParameterDict({ a: t.torch.ones([2]) }),
        ),
        [
          "Sequential(",
          "  (0): ParameterList(",
          "      (0): Parameter containing: [torch.float32 of size 2]",
          "      (1): Parameter containing: [torch.float32 of size 2x3]",
          "  )",
          "  (1): ParameterDict(  (a): Parameter containing: [torch.FloatTensor of size 2])",
          ")",
        ].join("\n"),
      ],
      [nn.LazyConv2d(3, 2), "LazyConv2d(0, 3, kernel_size=(2, 2), stride=(1, 1))"],
    ];
    for (const [module, text] of shown) t.equal(String(module), text);
  },
  "a linear map takes its input by name, too": async (t) => {
    const m = t.torch.nn.Linear(2, 1, { device: t.device }),
      x = t.tensor([[1, 2]]);
    t.equal(await m({ input: x }).tolist(), await m(x).tolist());
    await t.throws(() => m({ inputs: x }), /Linear: got an unexpected keyword argument 'inputs'/);
  },
  "an instance norm without momentum leaves its running statistics": async (t) => {
    const m = t.torch.nn.InstanceNorm1d(2, { momentum: null, track_running_stats: true, device: t.device });
    m(
      t.tensor([
        [
          [1, 2],
          [3, 5],
        ],
      ]),
    );
    t.equal(
      [await m.running_mean.tolist(), await m.running_var.tolist()],
      [
        [0, 0],
        [1, 1],
      ],
    );
  },
  "a batch of nothing leaves the running statistics": async (t) => {
    const m = t.torch.nn.BatchNorm1d(2, { device: t.device });
    t.equal(m(t.torch.zeros([0, 2, 3], { device: t.device })).shape, [0, 2, 3]);
    t.equal(
      [await m.running_mean.tolist(), await m.running_var.tolist()],
      [
        [0, 0],
        [1, 1],
      ],
    );
  },
  "attention whose keys and values have other widths has a weight for each": async (t) => {
    const m = t.torch.nn.MultiheadAttention(4, 2, { kdim: 3, vdim: 5, device: t.device }),
      x = (width) => t.torch.ones([2, 1, width], { device: t.device });
    t.equal(
      ["q", "k", "v"].flatMap((name) => [...m.state_dict()[`${name}_proj_weight`].shape]),
      [4, 4, 4, 3, 4, 5],
    );
    const [out] = m(x(4), x(3), x(5));
    out.sum().backward();
    t.equal([...m.k_proj_weight.grad.shape], [4, 3]);
  },
};
