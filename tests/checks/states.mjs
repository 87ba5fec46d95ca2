// load_state_dict of modules, optimizers and schedulers: all of a state is taken, or nothing is changed and the error
// says where it does not fit.

const listed = async ({ nn }, state) => {
  const value = (x) => (nn.parameter.is_lazy(x) ? "lazy" : x.tolist());
  return Promise.all(Object.entries(state).map(async ([name, x]) => [name, await value(x)]));
};
/** Values, types and text of a module, and the next random number. */
async function picture(t, module) {
  const state = await listed(t.torch, module.state_dict());
  const kept = t.torch.get_rng_state?.();
  const next = await t.torch.rand([1]).item();
  if (kept) t.torch.set_rng_state(kept);
  return [String(module), state, kept ? next : 0];
}

/** What stands for a tensor in a state and cannot be loaded in the place of one of size [3]. */
const misfits = (t) => {
  const gone = t.tensor([1, 2, 3]),
    all = {
      disposed: [gone, /was disposed of/],
      foreign: [
        { shape: [3], data: async () => Float32Array.of(1, 2, 3) },
        /expected a list of numbers or a typed array as the data of Object, got a function; a tensor of another copy of the package/,
      ],
      long: [{ shape: [3], data: { length: 4e8 } }, /as the data of Object, got Object/],
      lying: [{ shape: [4e8], data: [1, 2, 3] }, /3 elements cannot have the shape \[400000000\]/],
      huge: [{ shape: [4e8, 4e8], data: [1, 2, 3] }, /too large/],
      fraction: [{ shape: [1.5], data: [1, 2, 3] }, /'shape' must be whole numbers/],
      ragged: [[[1], 2, 3], /expected sequence of length 1/],
      words: [["a", "b", "c"], /expected numbers or booleans/],
      empty: [null, /expected tensors or arrays, got null/],
      text: ["3", /expected tensors or arrays, got "3"/],
      short: [t.tensor([1, 2]), /size mismatch for \S+: copying a param with shape torch.Size\(\[2\]\)/],
    };
  gone.dispose();
  return all;
};

export default {
  "a module's state is loaded whole or not at all": async (t) => {
    const { nn } = t.torch,
      make = () => nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).to(t.device);
    const m = make(),
      good = make().state_dict(),
      before = await picture(t, m);
    for (const [kind, [value, words]] of Object.entries(misfits(t))) {
      await t.throws(() => m.load_state_dict({ ...good, "1.running_var": value }), words);
      await t.throws(() => m.load_state_dict({ ...good, "1.running_var": value }, { strict: false }), /1\.running_var/);
      t.equal([kind, await picture(t, m)], [kind, before]);
    }
    for (const key of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      await t.throws(
        () => m.load_state_dict(new Map([...Object.entries(good), [key, t.tensor([1])]])),
        new RegExp(`Unexpected key\\(s\\) in state_dict: "${key}"`),
      );
      t.equal(
        m.load_state_dict(new Map([...Object.entries(m.state_dict()), [key, t.tensor([1])]]), { strict: false })
          .unexpected_keys,
        [key],
      );
    }
    for (const source of [null, 3, [], () => 1])
      await t.throws(() => m.load_state_dict(source), /Expected state_dict to be dict-like/);
    t.equal(await picture(t, m), before);
    t.equal([...m.load_state_dict(good).missing_keys], []);
    t.close(await m[0].weight.tolist(), await good["0.weight"].tolist());
  },
  "a lazy module says that it waits, and what it waits for can be given": async (t) => {
    const { nn } = t.torch,
      { is_lazy } = nn.parameter,
      made = [nn.LazyLinear(2), nn.LazyConv1d(2, 1), nn.LazyBatchNorm1d()].map((m) => m.to(t.device));
    for (const m of made) {
      t.equal(
        [m.has_uninitialized_params(), m.parameters().map((p) => is_lazy(p))],
        [true, m.parameters().map(() => true)],
      );
      m.initialize_parameters(t.tensor([[[1, 2, 3]]]));
      t.equal(
        m.parameters().map((p) => is_lazy(p)),
        m.parameters().map(() => false),
      );
      t.equal("has_uninitialized_params" in m && m.has_uninitialized_params(), false);
    }
    t.equal([made[0].weight.shape, is_lazy(nn.Linear(1, 1).weight)], [[2, 3], false]);
  },
  "a lazy module stays lazy where the state does not fit": async (t) => {
    const { nn } = t.torch,
      make = () =>
        nn.Sequential(nn.LazyConv1d(2, 1), nn.LazyBatchNorm1d(), nn.LazyLinear(3), nn.Linear(3, 3)).to(t.device);
    const m = make(),
      full = nn.Sequential(nn.Conv1d(4, 2, 1), nn.BatchNorm1d(2), nn.Linear(5, 3), nn.Linear(3, 3)).to(t.device),
      before = await picture(t, m),
      waiting = m.parameters().map((_, i) => i < 6);
    const good = full.state_dict();
    for (const [kind, [value, words]] of Object.entries(misfits(t))) {
      for (const place of ["3.bias", "2.bias", "2.weight", "1.weight"]) {
        if (kind === "short" && place === "1.weight") continue; // as many channels as there are
        await t.throws(
          () => m.load_state_dict({ ...good, [place]: value }),
          place.endsWith("s") ? words : new RegExp(place.replace(".", "\\.")),
        );
        t.equal([kind, place, await picture(t, m)], [kind, place, before]);
        t.equal([kind, place, m.parameters().map((p) => nn.parameter.is_lazy(p))], [kind, place, waiting]);
      }
    }
    m.load_state_dict(good);
    t.equal(String(m), String(full));
    const x = t.tensor(Array.from({ length: 40 }, (_, i) => i / 7)).reshape(2, 4, 5);
    t.close(await m.eval()(x).tolist(), await full.eval()(x).tolist());
    const { "2.bias": gone, ...rest } = good,
      partly = make();
    t.equal(
      [partly.load_state_dict(rest, false).missing_keys, gone.shape, partly[2].bias.shape],
      [["2.bias"], [3], [3]],
    );
  },
  "values on a GPU are not copied into a module on the CPU": async (t) => {
    if (t.device === "cpu") return;
    const m = t.torch.nn.Linear(2, 1, { device: "cpu" }),
      before = await listed(t.torch, m.state_dict());
    const weight = t.torch.zeros([1, 2], { device: "cpu" });
    await t.throws(
      () => m.load_state_dict({ weight, bias: t.tensor([1]) }),
      /"bias": load_state_dict: the value is on webgpu, the parameter on cpu; await value\.to\("cpu"\) first/,
    );
    t.equal(await listed(t.torch, m.state_dict()), before);
  },
  "an optimizer's state of another shape is refused, with the parameter's name": async (t) => {
    const { nn, optim } = t.torch;
    const all = {
      SGD: { momentum: 0.9 },
      Adam: { amsgrad: true },
      AdamW: {},
      Adamax: {},
      NAdam: {},
      RAdam: {},
      ASGD: {},
      Adadelta: {},
      Adafactor: {},
      Adagrad: {},
      RMSprop: { momentum: 0.5, centered: true },
      Rprop: {},
      Muon: {},
      LBFGS: {},
    };
    let replaced = 0;
    for (const [name, options] of Object.entries(all)) {
      const params = [[2, 3], ...(name === "Muon" ? [[3, 2]] : [[4]])].map((shape) =>
        nn.Parameter(t.torch.rand(shape, { device: t.device })),
      );
      const o = optim[name](
          params.map((p, i) => [`layer.${i}`, p]),
          { lr: 0.1, ...options },
        ),
        closure = () => {
          o.zero_grad();
          const loss = params.map((p) => p.sub(3).pow(4).sum()).reduce((a, b) => a.add(b));
          loss.backward();
          return loss;
        };
      await o.step(closure);
      await o.step(closure);
      const state = o.state_dict(),
        groups = o.param_groups,
        kept = o.state;
      const unchanged = () => t.equal([o.param_groups === groups, o.state === kept], [true, true]);
      for (const [number, entries] of Object.entries(state.state)) {
        for (const [key, value] of Object.entries(entries)) {
          const put = (other) => ({
            ...state,
            param_groups: state.param_groups.map((g) => ({ ...g, lr: 7 })),
            state: { ...state.state, [number]: { ...entries, [key]: other } },
          });
          if (value instanceof t.torch.Tensor) {
            replaced++;
            const words = new RegExp(
              `${key} of parameter ${number} \\("layer\\.${number}"\\) has the size \\[1, 2, 1\\], expected \\[${value.shape.join(", ")}\\]`,
            );
            await t.throws(() => o.load_state_dict(put(t.torch.zeros([1, 2, 1], { device: t.device }))), words);
            await t.throws(() => o.load_state_dict(put({ shape: [1, 2, 1], data: [1, 2] })), words);
            await t.throws(() => o.load_state_dict(put(Float32Array.of(1))), /has the size \[1\], expected/);
            for (const other of [3, "x", {}, true])
              await t.throws(() => o.load_state_dict(put(other)), /expected a tensor of size/);
            await t.throws(
              () => o.load_state_dict(put({ shape: [4e8], data: { length: 4e8 } })),
              /as the data of Object, got Object/,
            );
            const gone = t.torch.zeros(value.shape, { device: t.device });
            gone.dispose();
            await t.throws(
              () => o.load_state_dict(put(gone)),
              new RegExp(`${key} of parameter ${number}.*was disposed of`),
            );
          } else if (typeof value === "number") {
            for (const other of ["x", {}, t.tensor([1, 2])])
              await t.throws(
                () => o.load_state_dict(put(other)),
                new RegExp(`${key} of parameter ${number} .*expected a number`),
              );
          } else if (value.length && value[0] instanceof t.torch.Tensor)
            await t.throws(() => o.load_state_dict(put([t.tensor([1, 2, 3])])), /has the size \[3\], expected \[10\]/);
        }
      }
      for (const wrong of [
        null,
        3,
        { state: null, param_groups: [] },
        { state: {} },
        { ...state, param_groups: [null] },
        { ...state, param_groups: [{}] },
        { ...state, state: { 0: 5 } },
      ]) {
        await t.throws(() => o.load_state_dict(wrong), /load_state_dict: expected/);
      }
      unchanged();
      t.equal(o.param_groups[0].lr, 0.1);
      await o.load_state_dict(state);
      t.equal(o.state !== kept, true);
      await o.step(closure);
    }
    t.equal(replaced > 40, true);
  },
  "states of schedulers are such as PyTorch goes on from": async (t) => {
    const { nn, optim } = t.torch,
      { lr_scheduler: s } = optim,
      fresh = () => optim.SGD([nn.Parameter(t.tensor([1]))], { lr: 1 });
    // PyTorch keeps how often each milestone is given; older files of this package a list
    const other = s.MultiStepLR(fresh(), [2, 4, 4], 0.5),
      own = other.state_dict();
    t.equal(JSON.stringify(own.milestones), '{"2":1,"4":2}');
    for (const milestones of [{ 1: 1, 3: 2 }, [3, 1, 3]]) {
      other.load_state_dict({ ...own, milestones });
      t.equal(JSON.stringify(other.state_dict().milestones), '{"1":1,"3":2}');
    }
    const rates = [];
    for (let n = 0; n < 4; n++) {
      await other.optimizer.step();
      other.step();
      rates.push(...other.get_last_lr());
    }
    t.equal(rates, [0.5, 0.5, 0.125, 0.125]);
    // what a file holds of it is read by PyTorch's collections.Counter
    const parts = [];
    await t.torch.save(other.state_dict(), new WritableStream({ write: (part) => void parts.push(part) }));
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    t.equal(new TextDecoder("latin1").decode(bytes).includes("ccollections\nCounter\n"), true);
    const read = await t.torch.load(bytes);
    t.equal(JSON.stringify(read.milestones), '{"1":1,"3":2}');
    // PyTorch's CyclicLR asks for this entry, and calls what is named scale_fn
    const cyclic = s.CyclicLR(fresh(), 0.1, 1, { cycle_momentum: false, scale_fn: (x) => 1 / x }).state_dict();
    t.equal([cyclic._scale_fn_custom, "scale_fn" in cyclic], [null, false]);
  },
  "a scheduler takes what it keeps, whole or not at all": async (t) => {
    const { nn, optim } = t.torch,
      { lr_scheduler: s } = optim;
    const fresh = () => optim.SGD([nn.Parameter(t.tensor([1]))], { lr: 1 });
    const make = (o) => s.SequentialLR(o, [s.ExponentialLR(o, 0.5), s.MultiStepLR(o, [2, 4])], [3]);
    const first = make(fresh()),
      second = make(fresh()),
      text = JSON.stringify(second.state_dict());
    for (let i = 0; i < 5; i++) {
      await first.optimizer.step();
      first.step();
    }
    const state = () => JSON.parse(JSON.stringify(first.state_dict()));
    const wrongs = [
      [{ last_epoch: "5" }, /last_epoch of SequentialLR: expected number 0, got "5"/],
      [{ last_epoch: null }, /last_epoch of SequentialLR/],
      [{ _milestones: 3 }, /_milestones/],
      [{ _milestones: ["a"] }, /_milestones/],
      [{ _last_lr: [1, 2] }, /_last_lr of SequentialLR has 2 values, the optimizer has 1 groups/],
      [{ base_lrs: [] }, /base_lrs of SequentialLR has 0 values/],
      [{ _schedulers: [] }, /expected the states of 2 schedulers/],
      [{ _schedulers: null }, /expected the states of 2 schedulers/],
      [{ _schedulers: [state()._schedulers[0], { ...state()._schedulers[1], gamma: "x" }] }, /gamma of MultiStepLR/],
      [
        { _schedulers: [state()._schedulers[0], { ...state()._schedulers[1], milestones: "2" }] },
        /milestones of MultiStepLR/,
      ],
      [{ _schedulers: [state()._schedulers[0], { ...state()._schedulers[1], milestones: { a: 1 } }] }, /milestones/],
      [{ _schedulers: [state()._schedulers[0], 5] }, /expected an object, got number 5/],
    ];
    for (const [wrong, words] of wrongs) {
      await t.throws(() => second.load_state_dict({ ...state(), ...wrong }), words);
      t.equal(JSON.stringify(second.state_dict()), text);
    }
    const prototype = Object.getPrototypeOf(second);
    second.load_state_dict({
      ...state(),
      constructor: 1,
      step: 2,
      toString: 3,
      optimizer: 4,
      get_lr: 5,
      verbose: false,
      ...JSON.parse('{"__proto__": {"a": 1}}'),
    });
    t.equal(
      [Object.getPrototypeOf(second) === prototype, typeof second.step, second.a, second.optimizer === first.optimizer],
      [true, "function", undefined, false],
    );
    t.equal(JSON.stringify(second.state_dict()), JSON.stringify(first.state_dict()));
    const plateau = s.ReduceLROnPlateau(fresh());
    plateau.load_state_dict(JSON.parse(JSON.stringify(plateau.state_dict())));
    t.equal([plateau.best, plateau.get_last_lr()], [Infinity, [1]]);
  },
};
