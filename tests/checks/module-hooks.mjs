// What modules call besides their forward, with what, in which order, and also where they fail: as PyTorch 2.13 does.

/** A module that multiplies by an argument given by name, or fails. */
function scaling({ torch }) {
  return new (class Scaling extends torch.nn.Module {
    forward(x, { k = 1, fail = false } = {}) {
      if (fail) throw new Error("inner");
      return x.mul(k);
    }
  })();
}
/** What is said on the console while `call` runs. */
function said(call) {
  const { warn } = console,
    lines = [];
  console.warn = (...words) => lines.push(words.map(String).join(" "));
  try {
    call();
  } finally {
    console.warn = warn;
  }
  return lines;
}

export default {
  "hooks on the way back of all modules, also under the old name": async ({ torch, tensor, equal }) => {
    const { register_module_backward_hook: register } = torch.nn.modules.module,
      x = tensor([2]).requires_grad_(true),
      hook = register((_, [grad]) => [grad.mul(3)]);
    torch.nn.ReLU()(x).backward();
    hook.remove();
    torch.nn.ReLU()(x).backward();
    equal(await x.grad.tolist(), [4]);
  },
  "hooks see the arguments that were given by name, and change them": async (t) => {
    const x = t.tensor([1]),
      m = scaling(t),
      seen = [];
    let hook = m.register_forward_hook(
      (module, args, kwargs, out) => void seen.push([module === m, args, kwargs, out]),
      {
        with_kwargs: true,
      },
    );
    const out = m(x, { k: 3 });
    t.equal(
      [seen[0][0], seen[0][1][0] === x, seen[0][1].length, seen[0][2].k, seen[0][3] === out],
      [true, true, 1, 3, true],
    );
    hook.remove();
    hook = m.register_forward_hook((_, args, { k }, y) => y.add(k), { with_kwargs: true });
    t.equal(await m(x, { k: 3 }).tolist(), [6]);
    hook.remove();
    hook = m.register_forward_pre_hook((_, [y], { k }) => [[y.add(1)], { k: k + 1 }], { with_kwargs: true });
    t.equal(await m(x, { k: 3 }).tolist(), [8]);
    hook.remove();
    hook = m.register_forward_pre_hook((_, args, kwargs) => void seen.push(kwargs), { with_kwargs: true });
    m(x);
    t.equal(Object.keys(seen.pop()), []);
    hook.remove();
    for (const wrong of [x, [1, 2, 3], [[x], 4]]) {
      hook = m.register_forward_pre_hook(() => wrong, { with_kwargs: true });
      await t.throws(() => m(x), /forward pre-hook must return \[new_args, new_kwargs\] or nothing, but got/);
      hook.remove();
    }
    // Without names they see the others, and those that are given by name stay.
    hook = m.register_forward_pre_hook((_, args) => {
      seen.push(args.length);
      return args[0].add(1);
    });
    t.equal([await m(x, { k: 3 }).tolist(), seen.pop()], [[6], 1]);
  },
  "hooks that are always called see a call that fails": async (t) => {
    const x = t.tensor([1]),
      seen = [],
      always = { always_call: true },
      note = (name) => (_, args, out) => void seen.push([name, out === null ? out : "result"]),
      boom = (message) => () => {
        throw new Error(message);
      };
    // Each: how hooks are registered, whether forward fails, the error, what was seen.
    for (const [register, fail, error, wanted] of [
      [(m) => m.register_forward_hook(note("a"), always), true, /inner/, [["a", null]]],
      [(m) => m.register_forward_hook(note("a")), true, /inner/, []],
      [
        (m) => [m.register_forward_hook(boom("hook")), m.register_forward_hook(note("a"), always)],
        false,
        /hook/,
        [["a", "result"]],
      ],
      [
        (m) => [m.register_forward_hook(note("a"), always), m.register_forward_hook(boom("hook"))],
        false,
        /hook/,
        [["a", "result"]],
      ],
      [
        (m) => [m.register_forward_pre_hook(boom("before")), m.register_forward_hook(note("a"), always)],
        false,
        /before/,
        [["a", null]],
      ],
      [(m) => m.register_forward_hook(boom("hook"), always), false, /hook/, []],
    ]) {
      const m = scaling(t);
      register(m);
      seen.length = 0;
      await t.throws(() => m(x, { fail }), error);
      t.equal(seen, wanted);
    }
    const m = scaling(t);
    m.register_forward_hook(boom("hook"), always);
    let caught;
    const lines = said(() => {
      try {
        m(x, { fail: true });
      } catch (error) {
        caught = error.message;
      }
    });
    t.equal([caught, lines.length, /raised an exception that was silenced.*hook/.test(lines[0])], ["inner", 1, true]);
  },
  "hooks run in the order that they were given, or before the others": async (t) => {
    const x = t.tensor([1]),
      m = scaling(t),
      seen = [],
      note = (n) => () => void seen.push(n);
    m.register_forward_hook(note(1));
    m.register_forward_hook(note(2), { prepend: true });
    m.register_forward_hook(note(3), true);
    m.register_forward_pre_hook(note(4));
    m.register_forward_pre_hook(note(5), { prepend: true });
    const twice = note(6),
      [one] = [m.register_forward_hook(twice), m.register_forward_hook(twice)];
    m(x);
    t.equal(seen.splice(0), [5, 4, 3, 2, 1, 6, 6]);
    one.remove();
    m(x);
    t.equal(seen, [5, 4, 3, 2, 1, 6]);
  },
  "hooks of all modules come before a module's own": async (t) => {
    const x = t.tensor([1], { requires_grad: true }),
      of = t.torch.nn.modules.module,
      m = scaling(t),
      seen = [],
      note = (n) => () => void seen.push(n);
    m.register_forward_hook(note("own"), { prepend: true });
    m.register_forward_pre_hook(note("own before"), { prepend: true });
    m.register_full_backward_hook(note("own back"));
    m.register_full_backward_pre_hook(note("own back before"));
    const handles = [
      of.register_module_forward_hook((_, args, kwargs, out) => void seen.push([Object.keys(kwargs), out === null]), {
        with_kwargs: true,
        always_call: true,
      }),
      of.register_module_forward_pre_hook(note("before")),
      of.register_module_full_backward_hook(note("back")),
      of.register_module_full_backward_pre_hook(note("back before")),
    ];
    try {
      m(x, { k: 2 }).sum().backward();
      t.equal(seen.splice(0), [
        "before",
        "own before",
        [["k"], false],
        "own",
        "back before",
        "own back before",
        "back",
        "own back",
      ]);
      await t.throws(() => m(x, { fail: true }), /inner/);
      t.equal(seen.splice(0), ["before", "own before", [["fail"], true]]);
    } finally {
      for (const handle of handles) handle.remove();
    }
    m(x).sum().backward();
    t.equal(seen, ["own before", "own", "own back before", "own back"]);
    await t.throws(() => of.register_module_forward_hook(note(1), { prepend: true }), /prepend/);
  },
  "a compiled module is captured anew when hooks of all modules come and go": async (t) => {
    const net = new t.torch.nn.ReLU(),
      compiled = t.torch.compile((x) => net(x)),
      x = t.tensor([-1, 2]);
    for (const _ of [1, 2, 3]) t.equal(await compiled(x).tolist(), [0, 2]);
    const hook = t.torch.nn.modules.module.register_module_forward_hook((_, args, out) => out.add(1));
    try {
      for (const _ of [1, 2, 3]) t.equal(await compiled(x).tolist(), [1, 3]);
    } finally {
      hook.remove();
    }
    t.equal(await compiled(x).tolist(), [0, 2]);
  },
  "hooks that are gone do not keep a function from being captured": async (t) => {
    const { torch } = t,
      x = t.tensor([[1, -2, 3, 0.5]]),
      hooks = {
        register_forward_pre_hook: (net) => net.register_forward_pre_hook(() => {}),
        register_forward_hook: (net) => net.register_forward_hook(() => {}),
        register_full_backward_hook: (net) => net.register_full_backward_hook(() => {}),
        register_full_backward_pre_hook: (net) => net.register_full_backward_pre_hook(() => {}),
        "register_hook of a parameter": (net) => net.weight.register_hook(() => {}),
        register_post_accumulate_grad_hook: (net) => net.weight.register_post_accumulate_grad_hook(() => {}),
        register_multi_grad_hook: (net) =>
          torch.autograd.graph.register_multi_grad_hook([net.weight, net.bias], () => {}),
      };
    for (const [name, hook] of Object.entries(hooks)) {
      const net = torch.nn.Linear(4, 3),
        handle = hook(net);
      net(x).sum().backward();
      handle.remove();
      // The network's result is given back with its way back, which goes by all of its parameters.
      const forward = torch.compile((x) => net(x).tanh(), { fullgraph: true });
      for (let n = 0; n < 4; n++) forward(x).sum().backward();
      t.equal([name, torch.compiler.counts(forward).replays], [name, 2]);
    }
  },

  "hooks of a loaded state see and change what is missing before it is refused": async (t) => {
    const { nn } = t.torch,
      net = () => nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).to(t.device),
      values = (m) => Promise.all(m.parameters().map((p) => p.tolist())),
      seen = [],
      note = (m, { missing_keys, unexpected_keys }) =>
        void seen.push([m.constructor.name, [...missing_keys], [...unexpected_keys]]);
    let m = net();
    const other = net().state_dict(),
      { "0.weight": left, ...rest } = other,
      given = { ...rest, zzz: left },
      before = await values(m);
    m[0].register_load_state_dict_post_hook(note);
    await t.throws(
      () => m.load_state_dict(given),
      /Missing key\(s\) in state_dict: "0.weight". \n\tUnexpected key\(s\) in state_dict: "zzz"/,
    );
    t.equal([seen.splice(0), await values(m)], [[["Linear", ["0.weight"], ["zzz"]]], before]); // nothing is changed
    await t.throws(() => m.load_state_dict(given, { assign: true }), /Missing key/);
    t.equal([seen.splice(0).length, await values(m)], [1, before]);
    m.register_load_state_dict_post_hook((module, keys) => {
      note(module, keys);
      keys.missing_keys.length = keys.unexpected_keys.length = 0;
    });
    const report = m.load_state_dict(given);
    t.equal(
      [report.missing_keys, report.unexpected_keys, seen.splice(0)],
      [[], [], ["Linear", "Sequential"].map((name) => [name, ["0.weight"], ["zzz"]])],
    );
    t.equal(await m[1].weight.tolist(), await other["1.weight"].tolist());
    // What a hook adds is missing; what it answers is refused.
    m = net();
    m[0].register_load_state_dict_post_hook((_, { missing_keys }) => void missing_keys.push("more"));
    await t.throws(() => m.load_state_dict(other), /Missing key\(s\) in state_dict: "more"/);
    m = net();
    m.register_load_state_dict_post_hook((_, keys) => keys);
    await t.throws(() => m.load_state_dict(other), /a post hook must return nothing/);
    // Sizes that differ are refused after the hooks, in any case.
    m = net();
    m.register_load_state_dict_post_hook(note);
    for (const strict of [true, false])
      await t.throws(
        () => m.load_state_dict({ ...other, "0.weight": t.torch.zeros([3, 3]) }, { strict }),
        /:\n\tsize mismatch for 0.weight/,
      );
    t.equal(seen.splice(0), [
      ["Sequential", [], []],
      ["Sequential", [], []],
    ]);
    // The parts come before the whole, each with what was found until then.
    m = net();
    for (const part of m.modules()) part.register_load_state_dict_post_hook(note);
    const { "0.bias": _, "1.bias": __, ...fewer } = other,
      one = t.torch.ones([1]),
      found = m.load_state_dict({ ...fewer, q: one, "0.q": one, "1.q": one }, { strict: false });
    t.equal(seen, [
      ["Linear", ["0.bias"], ["q", "0.q"]],
      ["Linear", ["0.bias", "1.bias"], ["q", "0.q", "1.q"]],
      ["Sequential", ["0.bias", "1.bias"], ["q", "0.q", "1.q"]],
    ]);
    t.equal(
      [found.missing_keys, found.unexpected_keys],
      [
        ["0.bias", "1.bias"],
        ["q", "0.q", "1.q"],
      ],
    );
  },
  "hooks before a state is loaded add to what is missing and to the errors": async (t) => {
    const { nn } = t.torch,
      m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)),
      seen = [];
    for (const part of m.modules())
      part.register_load_state_dict_pre_hook((_, state, prefix, meta, strict, missing, unexpected) => {
        seen.push([prefix, strict, missing.length, unexpected.length]);
        missing.push("m");
        unexpected.push("u");
      });
    const report = m.load_state_dict(m.state_dict(), { strict: false });
    t.equal(
      [report.missing_keys, report.unexpected_keys, seen],
      [
        ["m", "m", "m"],
        ["u", "u", "u"],
        [
          ["", true, 0, 0],
          ["0.", true, 1, 1],
          ["1.", true, 2, 2],
        ],
      ],
    );
    await t.throws(() => m.load_state_dict(m.state_dict()), /Missing key\(s\) in state_dict: "m", "m", "m"/);
    const one = nn.Linear(1, 1);
    one.register_load_state_dict_pre_hook((...args) => void args[7].push("an error of mine"));
    await t.throws(() => one.load_state_dict(one.state_dict(), { strict: false }), /Linear:\n\tan error of mine/);
  },
};
