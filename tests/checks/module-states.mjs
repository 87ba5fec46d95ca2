// Modules: hooks around states, states that are assigned, paths in errors, methods that PyTorch's programs use.

export default {
  "an error in a module says which module it came from": async (t) => {
    const { nn, OpError } = t.torch;
    class Net extends nn.Module {
      constructor() {
        super();
        this.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(9, 2));
      }
      forward(x) {
        return this.body(x);
      }
    }
    const net = new Net().to(t.device),
      outer = nn.ModuleList([net]);
    let error = null;
    try {
      net(t.torch.ones([1, 4]));
    } catch (e) {
      error = e;
    }
    t.equal(error instanceof OpError, true);
    t.equal(/\(in body\.2: Linear\(in_features=9, out_features=2, bias=True\)\)$/.test(error.message), true);
    t.equal(error.stack.includes("(in body.2: Linear"), true);
    t.equal((error.message.match(/\(in /g) ?? []).length, 1);
    await t.throws(() => outer[0].body[2](t.torch.ones([1, 4])), /^(?!.*\(in )/);
    net.body[2].forward = () => {
      throw new RangeError("its own");
    };
    await t.throws(() => net(t.torch.ones([1, 4])), /^its own$/);
  },
  "a state is assigned: the tensors given are the module's": async (t) => {
    const { nn } = t.torch,
      dtype = t.hasHalf ? "float16" : "float32",
      layer = nn.BatchNorm1d(2).to(t.device),
      before = layer.weight,
      weight = t.tensor([3, 4], { dtype }),
      mean = t.tensor([5, 6]);
    const state = { ...layer.state_dict(), weight, running_mean: mean };
    layer.load_state_dict(state, { assign: true });
    t.equal([layer.weight === before, layer.weight instanceof nn.Parameter, layer.weight.dtype], [false, true, dtype]);
    t.equal(
      [layer.running_mean === mean, layer.weight.requires_grad, await layer.weight.tolist()],
      [true, true, [3, 4]],
    );
    weight.fill_(7);
    t.equal(await layer.weight.tolist(), [7, 7]);
    layer.bias.requires_grad_(false);
    layer.load_state_dict({ ...state, bias: nn.Parameter(mean) }, true, true);
    t.equal(layer.bias.requires_grad, false);
    await t.throws(
      () => layer.load_state_dict({ ...state, weight: t.tensor([1]) }, { assign: true }),
      /size mismatch for weight/,
    );
    t.equal(layer.weight.shape, [2]);
    await t.throws(() => layer.load_state_dict(state, { asign: true }), /did you mean 'assign'/);
  },
  "hooks before and after a state is taken and loaded": async (t) => {
    const { nn } = t.torch,
      net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)).to(t.device),
      seen = [];
    net[0].register_state_dict_pre_hook(
      (module, prefix, keep) => void seen.push(["saving", module === net[0], prefix, keep]),
    );
    const handle = net[0].register_state_dict_post_hook((_, state, prefix) => {
      seen.push(["saved", prefix]);
      state[`${prefix}more`] = state[`${prefix}bias`];
    });
    // A module's hooks see, and change, what is the module's; nothing else that they write is taken.
    net.register_load_state_dict_pre_hook((_, state) => {
      state["1.first"] = state.old;
      delete state.old;
    });
    net[1].register_load_state_dict_pre_hook((_, state, prefix) => {
      seen.push(["loading", prefix, ...Object.keys(state)]);
      state[`${prefix}weight`] = state[`${prefix}first`];
      delete state[`${prefix}first`];
      state["0.bias"] = null;
    });
    net.register_load_state_dict_post_hook(
      (module, report) => void seen.push(["loaded", module === net, report.unexpected_keys]),
    );
    const state = net.state_dict();
    t.equal(Object.keys(state), ["0.weight", "0.bias", "1.weight", "1.bias", "0.more"]);
    handle.remove();
    t.equal("0.more" in net.state_dict(), false);
    const { "1.weight": old, "0.more": _, ...rest } = state;
    net.load_state_dict({ ...rest, old: t.tensor([[9]]) });
    t.equal([await net[1].weight.tolist(), old.shape], [[[9]], [1, 1]]);
    t.equal(seen[0], ["saving", true, "0.", false]);
    t.equal(
      seen.find(([what]) => what === "loading"),
      ["loading", "1.", "1.bias", "1.first"],
    );
    t.equal(seen.at(-1), ["loaded", true, []]);
    net.register_state_dict_post_hook(() => ({}));
    await t.throws(() => net.state_dict(), /state_dict post-hook must return None/);
  },
  "a prefix comes off the names of a state": async (t) => {
    const state = { "module.a": 1, b: 2, "module.module.c": 3 };
    t.torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.");
    t.equal(Object.entries(state), [
      ["b", 2],
      ["a", 1],
      ["module.c", 3],
    ]);
  },
  "extra state, hooks on the way back, submodules by path": async (t) => {
    const { nn } = t.torch;
    class Counter extends nn.Module {
      count = 3;
      forward(x) {
        return x.mul(2);
      }
      get_extra_state() {
        return { count: this.count };
      }
      set_extra_state({ count }) {
        this.count = count;
      }
    }
    const net = nn.Sequential(new Counter(), nn.Linear(1, 1)).to(t.device),
      other = nn.Sequential(new Counter(), nn.Linear(1, 1)).to(t.device);
    net[0].count = 8;
    t.equal(Object.keys(net.state_dict()).includes("0._extra_state"), true);
    other.load_state_dict(net.state_dict());
    t.equal([other[0].count, await other[1].weight.tolist()], [8, await net[1].weight.tolist()]);
    await t.throws(() => nn.Linear(1, 1).set_extra_state({}), /override get_extra_state/);

    const x = t.tensor([1]);
    x.requires_grad_();
    const order = [];
    net[0].register_full_backward_pre_hook((_, grads) => (order.push("pre"), [grads[0].mul(10)]));
    net[0].register_full_backward_hook((_, grad_input, grad_output) => void order.push(grad_output[0].shape));
    net[0](x).sum().backward();
    t.equal([order, await x.grad.tolist()], [["pre", [1]], [20]]);

    net.set_submodule("1", nn.ReLU());
    t.equal(net[1].constructor.name, "ReLU");
    await t.throws(() => net.set_submodule("7", nn.ReLU(), { strict: true }), /Sequential has no attribute `7`/);
    await t.throws(() => net.set_submodule("", nn.ReLU()), /without a target name/);
    const empty = nn.Linear(2, 3).to_empty({ device: t.device });
    t.equal([empty.weight.shape, empty.weight.device, empty.weight.requires_grad], [[3, 2], t.device, true]);
    t.equal(net.share_memory() === net, true);
  },
  "names that programs carry with them": async (t) => {
    const { torch } = t;
    torch.set_float32_matmul_precision("high");
    t.equal(torch.get_float32_matmul_precision(), "high");
    await t.throws(
      () => torch.set_float32_matmul_precision("low"),
      /expected "highest", "high" or "medium", got "low"/,
    );
    torch.set_default_dtype(torch.float32);
    await t.throws(() => torch.set_default_dtype(torch.float64), /the type of new numbers is float32 here/);
    torch.use_deterministic_algorithms(true);
    t.equal(torch.are_deterministic_algorithms_enabled(), true);
    torch.use_deterministic_algorithms(false);
    const x = t.tensor([
      [1, 1],
      [0, 2],
    ]);
    t.equal(await torch.matrix_power(x, 3).tolist(), [
      [1, 7],
      [0, 8],
    ]);
    t.equal(await x.matrix_power(2).tolist(), [
      [1, 3],
      [0, 4],
    ]);
    t.equal(x.contiguous({ memory_format: torch.channels_last }).shape, [2, 2]);
    for (const name of ["uint64", "complex128"])
      await t.throws(
        () => torch.zeros([1], { dtype: torch[name] }),
        new RegExp(`zeros: argument .dtype. must be a dtype .*got "${name}"`),
      );
    t.equal(
      [torch.LongTensor([1, 2]).dtype, torch.FloatTensor(2, 3).shape, torch.BoolTensor([1, 0]).dtype],
      ["int64", [2, 3], "bool"],
    );
    t.equal(
      [x.is_cuda, x.is_cpu, x.layout, x.get_device()],
      [false, t.device === "cpu", torch.strided, t.device === "cpu" ? -1 : 0],
    );
    t.equal(
      [x.pin_memory() === x, x.is_set_to(x.detach()), x.is_set_to(x.clone()), x.is_same_size(x)],
      [true, true, false, true],
    );
    const places = await torch.where(
      t
        .tensor([
          [0, 2],
          [3, 0],
        ])
        .gt(0),
    );
    t.equal(await Promise.all(places.map((at) => at.tolist())), [
      [0, 1],
      [1, 0],
    ]);
    await t.throws(() => torch.where({ condition: x, input: x }), /where: missing required argument 'other'/);
    t.equal([await t.tensor(3).is_nonzero(), await torch.is_nonzero(t.tensor([0]))], [true, false]);
    await t.throws(() => torch.is_nonzero(x), /Boolean value of Tensor with more than one value is ambiguous/);
    t.equal([torch.is_signed(x), torch.is_signed(t.tensor([true]))], [true, false]);
    t.equal(await torch.range(1, 2, 0.5).tolist(), [1, 1.5, 2]);

    const p = t.tensor([1, 2]);
    p.requires_grad_();
    let calls = 0;
    const handle = p.register_post_accumulate_grad_hook((q) => {
      calls++;
      q.grad = null;
    });
    p.sum().backward();
    t.equal([calls, p.grad], [1, null]);
    handle.remove();
    p.sum().backward();
    t.equal([calls, await p.grad.tolist()], [1, [1, 1]]);
    await t.throws(() => p.mul(2).register_post_accumulate_grad_hook(() => 0), /non-leaf/);
  },
  "a buffer that is assigned belongs to the module": async (t) => {
    const { nn } = t.torch;
    class Scaled extends nn.Module {
      constructor() {
        super();
        this.weight = nn.Parameter(t.tensor([1, 2]));
        this.scale = nn.Buffer(t.tensor([3, 4]));
        this.step = nn.Buffer(t.tensor([0]), { persistent: false });
      }
      forward(x) {
        this.step = this.step.add(1);
        return x.mul(this.weight).mul(this.scale);
      }
    }
    const model = new Scaled();
    t.equal(await model(t.tensor([1, 1])).tolist(), [3, 8]);
    t.equal(
      [Object.keys(model.state_dict()), [...model.named_buffers()].map(([name]) => name)],
      [
        ["weight", "scale"],
        ["scale", "step"],
      ],
    );
    t.equal(await model.step.tolist(), [1]);
    t.equal([...new Scaled().named_buffers()].length, 2);
    t.equal(nn.Buffer(t.tensor([1])) instanceof nn.Buffer, true);
    await t.throws(() => nn.Buffer([1]), /Buffer: argument 'data' must be a tensor/);
  },
  "batch norm without statistics, and the inverse of an order": async (t) => {
    const { nn, func } = t.torch,
      model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2), nn.BatchNorm1d(2)).to(t.device);
    t.equal(func.replace_all_batch_norm_modules_(model) === model, true);
    t.equal(
      [model.at(0).running_mean, model.at(2).track_running_stats, [...model.named_buffers()].length],
      [null, false, 0],
    );
    t.equal(model.eval()(t.torch.ones([3, 2], { device: t.device })).shape, [3, 2]);
    const order = t.tensor([2, 0, 3, 1], { dtype: "int64" });
    t.equal(await nn.utils.rnn.invert_permutation(order).tolist(), [1, 3, 0, 2]);
    t.equal(nn.utils.rnn.invert_permutation(null), null);
  },
  "classes that say what is their own in a state": async (t) => {
    const { nn } = t.torch,
      seen = [];
    class Scaled extends nn.Linear {
      _save_to_state_dict(destination, prefix, keep_vars) {
        super._save_to_state_dict(destination, prefix, keep_vars);
        destination[`${prefix}half`] = this.weight.detach().div(2);
      }
      _load_from_state_dict(state, prefix, meta, strict, missing, unexpected, errors) {
        seen.push([prefix, Object.keys(state), strict, [...missing]]);
        if (`${prefix}old` in state) {
          state[`${prefix}weight`] = state[`${prefix}old`];
          delete state[`${prefix}old`];
        }
        delete state[`${prefix}half`];
        super._load_from_state_dict(state, prefix, meta, strict, missing, unexpected, errors);
        const at = missing.indexOf(`${prefix}bias`);
        if (at >= 0) missing.splice(at, 1);
      }
    }
    class Own extends nn.Linear {
      _load_from_state_dict(state, prefix, meta, strict, missing) {
        const given = state[`${prefix}packed`];
        if (given) t.torch.no_grad(() => this.weight.copy_(given.expand([1, 1])));
        else missing.push(`${prefix}packed`);
      }
    }
    const m = nn.Sequential(new Scaled(2, 1), nn.Linear(1, 1), new Own(1, 1)).to(t.device);
    const keys = ["0.weight", "0.bias", "0.half", "1.weight", "1.bias", "2.weight", "2.bias"];
    t.equal(Object.keys(m.state_dict()), keys);
    const given = {
      "0.old": t.tensor([[3, 3]]),
      "1.weight": t.tensor([[1]]),
      "1.bias": t.tensor([0]),
      "2.packed": t.tensor(7),
    };
    const report = m.load_state_dict(given);
    t.equal(
      [
        [report.missing_keys, report.unexpected_keys],
        await m[0].weight.tolist(),
        await m[2].weight.tolist(),
        seen,
        Object.keys(given),
      ],
      [[[], []], [[3, 3]], [[7]], [["0.", ["0.old"], true, []]], ["0.old", "1.weight", "1.bias", "2.packed"]],
    );
    t.equal(m.load_state_dict(m.state_dict(), { strict: false }).missing_keys, ["2.packed"]);
    await t.throws(
      () => m.load_state_dict({ "0.weight": t.tensor([[1, 1]]), "0.zzz": t.tensor([1]), "1.weight": t.tensor([[1]]) }),
      /Missing key\(s\) in state_dict: "1.bias", "2.packed". \n\tUnexpected key\(s\) in state_dict: "0.zzz"/,
    );
    class Fussy extends nn.Linear {
      _load_from_state_dict(...state) {
        super._load_from_state_dict(...state);
        state[6].push(`no ${state[1]}`);
      }
    }
    await t.throws(
      () => nn.Sequential(new Fussy(1, 1)).load_state_dict({ "0.weight": t.tensor([[1]]), "0.bias": t.tensor([1]) }),
      /Error\(s\) in loading state_dict for Sequential:\n\tno 0\./,
    );
    await t.throws(
      () => nn.Linear(1, 1)._load_from_state_dict({}, "", {}, true, [], [], []),
      /Linear._load_from_state_dict: only load_state_dict calls it/,
    );
  },
  "a state is put into an object that is given": async (t) => {
    const into = { step: 3 },
      net = t.torch.nn.Linear(1, 1);
    t.equal(net.state_dict({ destination: into, prefix: "net." }) === into, true);
    t.equal(Object.keys(into), ["step", "net.weight", "net.bias"]);
    class Whole extends t.torch.nn.Linear {
      state_dict(options = {}) {
        const state = super.state_dict(options);
        delete state[`${options.prefix ?? ""}bias`];
        return state;
      }
    }
    t.equal(Object.keys(new Whole(1, 1).state_dict({ destination: into, prefix: "head." })).slice(-1), ["head.weight"]);
    await t.throws(() => net.state_dict({ destination: 3 }), /argument 'destination' must be an object, got number 3/);
  },
  "a dictionary of parameters has PyTorch's methods of dictionaries": async (t) => {
    const { ParameterDict } = t.torch.nn,
      made = ParameterDict({ a: t.tensor([1]) }),
      zeros = t.tensor([0, 0]);
    t.equal(await made.setdefault("b", zeros).tolist(), [0, 0]);
    t.equal([made.setdefault("a", zeros) === made.a, made.keys(), made.length], [true, ["a", "b"], 2]);
    const other = made.copy(),
      [name, last] = made.popitem();
    t.equal([name, last === other.b, made.keys(), other.keys()], ["b", true, ["a"], ["a", "b"]]);
    const alike = made.fromkeys(["x", "y"], last);
    t.equal([alike.keys(), alike.x === alike.y, alike.parameters().length], [["x", "y"], true, 1]);
    made.popitem();
    await t.throws(() => made.popitem(), /popitem: the ParameterDict is empty/);
  },
};
