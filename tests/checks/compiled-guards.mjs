// When a captured program stands for a call: hooks, what requires gradients, modes and arguments that were others when it
// was captured.  Each function is called as it is and compiled, by turns, on parameters of its own.

const series = (n, first = 0) => Float32Array.from({ length: n }, (_, k) => (((k + first) * 7919) % 1009) / 504.5 - 1);

function ok(value, message) {
  if (!value) throw new Error(`not so: ${message}`);
}

/** A network, and a function of a batch that leaves gradients at its parameters. */
function network({ torch }) {
  const weight = torch.tensor(series(12), { shape: [3, 4], requires_grad: true }),
    bias = torch.tensor(series(3, 50), { requires_grad: true }),
    forward = (x) => torch.nn.functional.linear(x, weight, bias).tanh();
  const step = (x) => {
    weight.grad = bias.grad = null;
    const loss = forward(x).square().sum();
    loss.backward();
    return loss.detach();
  };
  return { weight, bias, forward, step };
}
const batch = ({ torch }, n) => torch.tensor(series(8, 9 * n), { shape: [2, 4] });

/** Whether a step does the same compiled, call by call, while `change(network, n)` is made before call n of both. */
async function alike(t, calls, change) {
  const plain = network(t),
    own = network(t),
    step = t.torch.compile(own.step, { fullgraph: true });
  for (let n = 0; n < calls; n++) {
    change(plain, n);
    change(own, n);
    const wanted = plain.step(batch(t, n)),
      got = step(batch(t, n));
    t.close(await got.tolist(), await wanted.tolist());
    for (const name of ["weight", "bias"]) {
      const [a, b] = [own[name].grad, plain[name].grad];
      t.equal([n, name, a === null], [n, name, b === null]);
      if (a) t.close(await a.tolist(), await b.tolist());
    }
  }
  const counts = t.torch.compiler.counts(step);
  ok(counts.replays >= 3, JSON.stringify(counts));
}

export default {
  "hooks on a parameter that come and go after a step was captured": async (t) => {
    const on = new Map();
    await alike(t, 12, (net, n) => {
      if (n === 4)
        on.set(
          net,
          net.weight.register_hook((gradient) => gradient.mul(3)),
        );
      if (n === 8) on.get(net).remove();
    });
  },

  "hooks on a parameter with its gradient, of which one may be there twice": async (t) => {
    const on = new Map(),
      twice = (p) => void p.grad.mul_(2);
    await alike(t, 14, (net, n) => {
      if (n === 4 || n === 6) on.set(net, [...(on.get(net) ?? []), net.bias.register_post_accumulate_grad_hook(twice)]);
      if (n === 8 || n === 11) on.get(net).pop().remove();
    });
  },

  "a hook that keeps what it sees is called each time": async (t) => {
    const { torch } = t;
    const hooks = {
      register_forward_pre_hook: (net, see) => net.register_forward_pre_hook((_, [x]) => see(x)),
      register_forward_hook: (net, see) => net.register_forward_hook((_, __, output) => see(output)),
      register_full_backward_hook: (net, see) =>
        net.register_full_backward_hook((_, __, gradients) => see(gradients[0])),
      register_full_backward_pre_hook: (net, see) =>
        net.register_full_backward_pre_hook((_, gradients) => see(gradients[0])),
      "register_hook of a parameter": (net, see) => net.weight.register_hook((gradient) => see(gradient.norm())),
      register_post_accumulate_grad_hook: (net, see) =>
        net.weight.register_post_accumulate_grad_hook((p) => see(p.grad.sum())),
      register_multi_grad_hook: (net, see) =>
        torch.autograd.graph.register_multi_grad_hook([...net.parameters()], ([, gradient]) => see(gradient.square())),
    };
    const said = [],
      warn = console.warn;
    console.warn = (text) => said.push(text);
    try {
      for (const [name, hook] of Object.entries(hooks)) {
        const runs = [false, true].map((compiled) => {
          const net = torch.nn.Linear(4, 3),
            seen = [];
          torch.no_grad(() =>
            [...net.parameters()].forEach((p, i) => p.copy_(torch.tensor(series(p.numel(), i)).view_as(p))),
          );
          hook(net, (x) => void seen.push(x.clone()));
          const step = (x) => {
            const loss = net(x).square().sum();
            loss.backward();
            return loss.detach();
          };
          return { seen, step: compiled ? torch.compile(step) : step };
        });
        for (let n = 0; n < 4; n++) for (const { step } of runs) await step(batch(t, n));
        const [wanted, got] = await Promise.all(runs.map(({ seen }) => Promise.all(seen.map((x) => x.tolist()))));
        t.equal([name, got.length], [name, 4]);
        t.close(got, wanted);
      }
    } finally {
      console.warn = warn;
    }
    t.equal([said.length, said.every((text) => text.includes("a hook answers nothing"))], [7, true]);
  },

  "a hook that takes an optimizer's step once a parameter has its gradient is captured": async (t) => {
    const { torch } = t;
    await alike(t, 8, (net, n) => {
      if (n > 0) return;
      for (const p of [net.weight, net.bias]) {
        const opt = torch.optim.SGD([p], { lr: 0.01, momentum: 0.9 });
        p.register_post_accumulate_grad_hook(() => {
          opt.step();
          opt.zero_grad();
        });
      }
    });
  },

  "what a call changes in an object or a list of its arguments it changes each time": async (t) => {
    const { torch } = t,
      said = [],
      warn = console.warn;
    const changes = {
      "a new member": (x, o) => void (o.k = o.k ? torch.cat([o.k, x]) : x.mul(1)),
      "another tensor": (x, o) => void (o.sum = o.sum.add(x.sum())),
      "a longer list": (x, o) => void o.list.push(x.mul(2)),
      "another number": (x, o) => void (o.count += 1),
      "within a list": (x, o) => void (o.pair[0].at = x.mul(3)),
    };
    const plain = (value) =>
      value instanceof torch.Tensor
        ? value.tolist()
        : Array.isArray(value)
          ? Promise.all(value.map(plain))
          : value && typeof value === "object"
            ? Promise.all(Object.entries(value).map(async ([name, one]) => [name, await plain(one)]))
            : value;
    console.warn = (text) => text.startsWith("torch.compile") && said.push(text);
    try {
      for (const [what, change] of Object.entries(changes)) {
        const f = (x, o) => {
            change(x, o);
            return x.add(o.count);
          },
          compiled = torch.compile(f);
        for (let n = 0; n < 5; n++) {
          const objects = [0, 1].map(() => ({ list: [], count: 0, sum: torch.zeros([]), pair: [{}] }));
          for (let again = 0; again < 3; again++)
            t.close(
              await compiled(batch(t, n + again), objects[0]).tolist(),
              await f(batch(t, n + again), objects[1]).tolist(),
            );
          t.equal([what, await plain(objects[0])], [what, await plain(objects[1])]);
        }
      }
    } finally {
      console.warn = warn;
    }
    t.equal(said.length, Object.keys(changes).length);
    ok(
      said.every((text) => text.includes("changes an object or a list of its arguments")),
      said.join(),
    );
  },

  "other tensors on the memory of parameters, with gradients or without": async (t) => {
    const { torch } = t,
      net = torch.nn.Linear(4, 3),
      compiled = torch.compile(net),
      state = (change) =>
        Object.fromEntries([...net.named_parameters()].map(([name, p]) => [name, change(p.detach())])),
      [without, own] = [state((p) => p), state((p) => p.requires_grad_())];
    for (let n = 0; n < 12; n++) {
      const x = batch(t, n),
        call = (given) => (given ? torch.func.functional_call(compiled, given, [x]) : compiled(x)),
        results = [without, null, own].map(call);
      t.equal([n, ...results.map((y) => y.requires_grad)], [n, false, true, true]);
      net.zero_grad();
      for (const p of Object.values(own)) p.grad = null;
      results[1].sum().backward();
      t.equal([n, net.weight.grad === null, own.weight.grad === null], [n, false, true]);
      results[2].sum().backward();
      t.close(await own.weight.grad.tolist(), await net.weight.grad.tolist());
    }
    ok(torch.compiler.counts(compiled).replays >= 12, JSON.stringify(torch.compiler.counts(compiled)));
  },

  "a parameter that is frozen, and thawed, after a step was captured": async (t) => {
    await alike(t, 12, (net, n) => {
      if (n % 4 === 0) net.weight.requires_grad_(n % 8 === 0);
    });
  },

  "a parameter that is frozen is none of a captured function's that gradients come to from outside": async (t) => {
    const { torch } = t,
      { weight, bias, forward } = network(t),
      f = torch.compile(forward, { fullgraph: true });
    for (let n = 0; n < 9; n++) {
      weight.grad = bias.grad = null;
      weight.requires_grad_(n < 3 || n >= 6);
      f(batch(t, n)).sum().backward();
      t.equal([n, weight.grad === null, bias.grad === null], [n, n >= 3 && n < 6, false]);
    }
  },

  "a leaf that is given is left with its gradient, one call after another": async (t) => {
    const { torch } = t,
      { weight, bias, forward } = network(t);
    for (const parameter of [weight, bias]) parameter.requires_grad_(false);
    const own = (x) => {
      forward(x).square().sum().backward();
      return x.grad.clone();
    };
    const f = torch.compile(own, { fullgraph: true }),
      kept = [];
    for (let n = 0; n < 6; n++) {
      const [a, b] = [batch(t, n).requires_grad_(), batch(t, n).requires_grad_()];
      t.close(await f(a).tolist(), await own(b).tolist());
      t.close(await a.grad.tolist(), await b.grad.tolist());
      kept.push([a, b]);
    }
    for (const [a, b] of kept) t.close(await a.grad.tolist(), await b.grad.tolist()); // none is another's
    ok(torch.compiler.counts(f).replays === 4, JSON.stringify(torch.compiler.counts(f)));
  },

  "modes by turns: each has a program of its own, whose results track what they did": async (t) => {
    const { torch } = t,
      { forward } = network(t),
      f = torch.compile(forward, { fullgraph: true });
    for (let n = 0; n < 12; n++) {
      const call = () => f(batch(t, n)),
        result = n % 2 ? torch.no_grad(call) : call();
      t.equal([n, result.requires_grad, result.grad_fn === null], [n, n % 2 === 0, n % 2 === 1]);
    }
    const { replays, programs } = torch.compiler.counts(f);
    ok(replays === 8 && programs === 2, `${replays} replays of ${programs} programs`);
  },

  "an argument that changes nothing has one program for all that it was": async (t) => {
    const { torch } = t,
      f = torch.compile((x, name) => x.mul(name.length), { fullgraph: true });
    for (let n = 0; n < 12; n++) f(batch(t, n), ["ab", "cd", "ef"][n % 3]);
    const { replays, programs } = torch.compiler.counts(f);
    ok(programs === 1 && replays >= 8, `${replays} replays of ${programs} programs`);
  },

  "a gradient that comes back as it came is a copy, of nobody's": async (t) => {
    const { torch } = t,
      f = torch.compile((a, b) => a.add(b), { fullgraph: true });
    for (let n = 0; n < 5; n++) {
      const [a, b] = [batch(t, n).requires_grad_(), batch(t, n + 1).requires_grad_()],
        gradient = torch.ones([2, 4]);
      f(a, b).backward(gradient);
      gradient.zero_();
      t.equal(await a.grad.add(b.grad).sum().item(), 16);
    }
    ok(torch.compiler.counts(f).replays === 3, JSON.stringify(torch.compiler.counts(f)));
  },

  "gradients of one result are those of that alone": async (t) => {
    const { torch } = t,
      [first, second] = [torch.ones([4], { requires_grad: true }), torch.zeros([4], { requires_grad: true })],
      // The slope of the second result is infinite, of which no zeros come.
      f = torch.compile((x) => [x.mul(first).tanh(), x.mul(second).abs().sqrt(), x.mul(2)], { fullgraph: true });
    for (let n = 0; n < 6; n++) {
      const [near, far, both] = f(batch(t, n).requires_grad_());
      first.grad = second.grad = null;
      near.sum().backward(null, true);
      t.equal([await first.grad.isfinite().all().item(), second.grad], [true, null]);
      both.sum().add(near.sum()).backward(null, true);
      t.equal([await first.grad.isfinite().all().item(), second.grad], [true, null]);
      far.sum().backward();
      t.equal(await second.grad.isfinite().any().item(), false);
    }
    ok(torch.compiler.counts(f).replays === 4, JSON.stringify(torch.compiler.counts(f)));
  },

  "a tensor that only another result's gradients need may be changed": async (t) => {
    const { torch } = t,
      [first, second] = [torch.ones([4]), torch.ones([4])],
      f = torch.compile((x) => [x.mul(first), x.mul(second)], { fullgraph: true });
    for (let n = 0; n < 5; n++) {
      const x = batch(t, n).requires_grad_(),
        [near, far] = f(x);
      second.add_(1);
      near.sum().backward(null, true);
      t.equal(await x.grad.sum().item(), 8);
      await t.throws(() => far.sum().backward(), /modified by an inplace operation/);
    }
  },

  "what has no elements stays so when memory grows between replays": async (t) => {
    const { torch } = t,
      f = torch.compile((x) => [x.narrow(0, 0, 0).mul(2).fill_(1).sum(), x.sum()], { fullgraph: true });
    const held = [];
    for (let n = 0; n < 6; n++) {
      const [none, all] = f(torch.ones([4, 2]));
      t.equal([await none.item(), await all.item()], [0, 8]);
      held.push(torch.zeros([1 << (18 + n)])); // more than there is room for
    }
    for (const x of held) x.dispose();
  },

  "a tensor from outside that is only copied: hooks, memory and what requires gradients are guards": async (t) => {
    const { torch } = t,
      copies = {
        cast: (w) => w.to(torch.bfloat16).float(),
        clone: (w) => w.clone(),
        join: (w) => torch.cat([w, w]),
        part: (w) => w.narrow(0, 0, 2).clone(),
        "copy into": (w) => torch.zeros([3], { device: t.device }).copy_(w),
        "copy into a part": (w) => {
          const x = torch.zeros([2, 3], { device: t.device });
          x.select(0, 1).copy_(w);
          return x;
        },
        "without gradients": (w) => w.detach().clone().add(w.mul(0)),
      };
    for (const [name, copy] of Object.entries(copies)) {
      const leaves = [0, 1].map(() => t.tensor([1, 2, 3], { requires_grad: true })),
        [plain, step] = leaves.map((w, i) => {
          const own = () => {
            w.grad = null;
            const sum = copy(w).sum();
            if (sum.requires_grad) sum.backward();
            return sum.detach();
          };
          return i ? torch.compile(own, { fullgraph: true }) : own;
        }),
        hooks = [];
      for (let n = 0; n < 20; n++) {
        for (const w of leaves) {
          if (n === 4) hooks.push(w.register_hook((gradient) => gradient.mul(3)));
          if (n === 8) hooks.pop().remove();
          if (n === 11) w.data = t.tensor([4, 5, 6]);
          if (n === 14) w.requires_grad_(false);
          if (n === 17) w.requires_grad_(true);
        }
        const wanted = [await plain().item(), (await leaves[0].grad?.tolist()) ?? null];
        t.equal([name, n, await step().item(), (await leaves[1].grad?.tolist()) ?? null], [name, n, ...wanted]);
      }
      ok(torch.compiler.counts(step).replays >= 8, JSON.stringify(torch.compiler.counts(step)));
    }
  },

  "what a module of one's own may ask for that it does not have yet": async (t) => {
    const { torch } = t;
    class Doubling extends torch.nn.Module {
      forward(x) {
        return this.twice ? x.mul(2) : x.add(1);
      }
    }
    const m = new Doubling(),
      f = torch.compile(m, { fullgraph: true });
    for (let n = 0; n < 15; n++) {
      if (n === 5) m.twice = true;
      if (n === 10) delete m.twice;
      t.equal(await f(t.tensor([n])).item(), n >= 5 && n < 10 ? 2 * n : n + 1);
    }
    ok(torch.compiler.counts(f).replays >= 8, JSON.stringify(torch.compiler.counts(f)));
  },

  "a weight that is computed is not computed to see whether it changed": async (t) => {
    const { torch } = t,
      { nn } = torch,
      made = () => {
        torch.manual_seed(3);
        const m = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3), { n_power_iterations: 2 });
        return t.device === "cpu" ? m : m.to(t.device);
      },
      [plain, own] = [made(), made()],
      f = torch.compile(own, { fullgraph: true });
    for (let n = 0; n < 12; n++) {
      t.close(await f(batch(t, n)).tolist(), await plain(batch(t, n)).tolist());
      for (const [i, b] of own.buffers().entries()) t.close(await b.tolist(), await plain.buffers()[i].tolist());
      if (n !== 6) continue;
      for (const m of [plain, own]) nn.utils.parametrize.remove_parametrizations(m, "weight");
    }
    ok(torch.compiler.counts(f).replays >= 6, JSON.stringify(torch.compiler.counts(f)));
  },
};
