// Mistakes that compilers of programs have made elsewhere, each with the check that would find it here.  Two of them are
// checks of compile.mjs: "a learning rate is not frozen: ..." and "parameters replaced under a plan: ...".

const series = (n, first = 0) => Float32Array.from({ length: n }, (_, k) => (((k + first) * 7919) % 1009) / 504.5 - 1);
const made = (t, shape, first = 0, options = {}) =>
  t.tensor(
    series(
      shape.reduce((a, b) => a * b, 1),
      first,
    ),
    { shape, ...options },
  );

function ok(value, message) {
  if (!value) throw new Error(`not so: ${message}`);
}

const CALLS = 6;

/** Calls a function compiled and as it is, and compares each answer. */
async function like(t, own, inputs) {
  const f = t.torch.compile(own, { fullgraph: true });
  for (let n = 0; n < CALLS; n++) {
    const got = await f(...inputs(n)),
      wanted = await own(...inputs(n));
    t.close(await got.tolist(), await wanted.tolist());
  }
  ok(t.torch.compiler.counts(f).replays >= 3, JSON.stringify(t.torch.compiler.counts(f)));
  return f;
}

export default {
  "a plan's key knows which of an op's outputs, and which of its gradients, are wanted": async (t) => {
    const { torch } = t;
    // One op, one shape, one kernel or another for each: as they are first, then compiled, in both orders.
    const outputs = [
      (x) => x.max(0).values,
      (x) => x.max(0).indices,
      (x) => x.sort(0).indices,
      (x) => x.sort(0).values,
      (x) => torch.var_mean(x, 0)[0],
      (x) => torch.var_mean(x, 0)[1],
    ];
    for (const own of [...outputs, ...outputs.reverse()]) await like(t, own, (n) => [made(t, [4, 4], n)]);
    for (const wanted of [[0], [1], [0, 1], [1], [0]]) {
      const back = (a, b) => {
        const given = [a, b];
        wanted.forEach((i) => given[i].requires_grad_());
        const found = torch.autograd.grad(
          a.matmul(b).tanh().sum(),
          wanted.map((i) => given[i]),
        );
        return torch.stack(found.map((x) => x.detach()));
      };
      await like(t, back, (n) => [made(t, [4, 4], n), made(t, [4, 4], 50 + n)]);
    }
    // Two outputs at once, one of them read by nobody else.
    await like(
      t,
      (x) => {
        const [variance, mean] = torch.var_mean(x, 1, { keepdim: true });
        return x.sub(mean).div(variance.add(1).sqrt());
      },
      (n) => [made(t, [4, 4], n)],
    );
  },

  "memory is given back only after what reads it has run": async (t) => {
    const { torch } = t,
      w = made(t, [32, 32], 3),
      own = (x) => x.matmul(w).relu().matmul(w).add(x),
      f = torch.compile(own, { fullgraph: true }),
      answers = [];
    for (let n = 0; n < 30; n++) {
      const x = made(t, [32, 32], n);
      answers.push(f(x));
      x.dispose();
      // What takes the freed memory at once.
      torch.full([32, 32], 1e9, { device: t.device }).dispose();
      if (n % 7 === 6) torch.compiler.reset();
    }
    for (let n = 0; n < 30; n++) {
      const x = made(t, [32, 32], n);
      t.close(await answers[n].tolist(), await own(x).tolist(), { rtol: 1e-4, atol: 1e-4 });
    }
  },

  "a copy is recorded once, however it comes about": async (t) => {
    const total = t.torch.zeros([3, 4], { device: t.device }),
      kept = made(t, [4, 3]);
    const f = t.torch.compile(
      (x) => {
        total.add_(x.t());
        kept.copy_(x.mul(2).t().contiguous().t());
        return kept.t().contiguous().reshape([12]);
      },
      { fullgraph: true },
    );
    let sum = new Float32Array(12);
    for (let n = 0; n < CALLS; n++) {
      const x = made(t, [4, 3], n),
        got = await f(x).data(),
        back = await x.t().contiguous().data();
      sum = sum.map((v, i) => v + back[i]);
      t.close([...got], [...back.map((v) => 2 * v)]);
      t.close((await total.tolist()).flat(), [...sum]);
    }
    const { programs } = t.torch.compiler.counts(f);
    t.equal(programs, 1);
    // What the function says four times, in steps that are joined: (add > copy), (mul > copy > copy > copy).
    t.equal(t.torch.compiler.explain(f).match(/\bcopy\b/g).length, 4);
  },

  "a refusal of elements concerns what is made of the result, too, though steps are joined": async (t) => {
    const { torch } = t,
      table = made(t, [5, 3]),
      begins = (...at) => t.tensor(at, { dtype: "int64" });
    const f = await like(
      t,
      (ids, at) => torch.nn.functional.embedding_bag(ids, table, at).mul(2).add(1),
      (n) => [begins(1, n % 5, 0, 4), begins(0, 2)],
    );
    await t.throws(async () => (await f(begins(1, 2, 0, 4), begins(1, 2))).tolist(), /offsets\[0\] has to be 0/);
    t.equal((await f(begins(1, 2, 0, 4), begins(0, 2)).tolist()).length, 2);
  },

  "a module that is called with other parameters is replayed so": async (t) => {
    const { nn, func } = t.torch,
      layer = t.device === "cpu" ? nn.Linear(3, 2) : nn.Linear(3, 2).to(t.device),
      own = layer.weight;
    await like(
      t,
      (x, weight) => func.functional_call(layer, { weight }, [x]).add(layer(x)),
      (n) => [made(t, [2, 3], n), made(t, [2, 3], 40 + n)],
    );
    ok(layer.weight === own, "the module has its own again");
  },

  "what a call brings and changes is brought anew by each replay": async (t) => {
    // In part, as a whole after it was read, by a kernel of its own, and where a view of it is left.
    const bringing = [
      (x, a) => (a.narrow(0, 0, 1).add_(x.narrow(0, 0, 1)), a.mul(2)),
      (x, a) => {
        const before = a.mul(x);
        a.zero_();
        return before;
      },
      (x, a) => (a.index_add_(0, t.tensor([1, 1], { dtype: "int64" }), x.narrow(0, 0, 2)), a),
      (x, a) => (
        a
          .fill_(3)
          .narrow(0, 1, 2)
          .mul_(x.narrow(0, 0, 2)),
        a.narrow(0, 1, 2)
      ),
      (x, a) => (a.copy_(x.mul(a)), a.reshape([3, 1]).mul(x)),
    ];
    for (const own of bringing)
      await like(
        t,
        (x) => own(x, t.tensor([1, 2, 3])),
        (n) => [made(t, [3], n)],
      );
  },

  "what a function does by turns is not replayed": async (t) => {
    const { warn } = console,
      said = [];
    console.warn = (text) => void (/torch\.compile/.test(text) && said.push(String(text)));
    try {
      for (const period of [2, 3]) {
        let calls = 0;
        const f = t.torch.compile((x) => x.mul(1 + (calls++ % period)));
        for (let n = 0; n < 20; n++)
          t.equal(
            await f(t.tensor([2, 3])).tolist(),
            [2, 3].map((v) => v * (1 + (n % period))),
          );
      }
    } finally {
      console.warn = warn;
    }
    t.equal(said.length, 2);
  },

  "what a function does beside tensors is refused where it would run on capture only": async (t) => {
    const { torch } = t,
      { warn } = console,
      said = [];
    console.warn = (text) => said.push(String(text));
    try {
      class Counting extends torch.nn.Module {
        calls = 0;
        forward(x) {
          this.calls++;
          return x.add(1);
        }
      }
      const model = new Counting(),
        f = torch.compile(model);
      for (let n = 0; n < 9; n++) await f(made(t, [2], n)).data();
      t.equal(model.calls, 9);
      ok(/runs as it is: it changes 'calls' of Counting/.test(said[0] ?? ""), said.join("\n"));
      // A number that a call leaves for the next one reaches tensors: so it is seen.
      let scale = 1;
      const g = torch.compile((x) => x.mul((scale *= 2)));
      for (let n = 1; n < 13; n++) t.equal(await g(t.tensor([1])).item(), 2 ** n);
      // Optimizers, schedulers, gradients and random numbers are what a replay does do beside tensors.
      const w = made(t, [3], 1, { requires_grad: true }),
        optimizer = new torch.optim.SGD([w], { lr: 1 }),
        scheduler = new torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5);
      const step = torch.compile(
        async (x) => {
          optimizer.zero_grad();
          w.mul(x).sum().backward();
          await optimizer.step();
          scheduler.step();
          return w.detach().clone();
        },
        { fullgraph: true },
      );
      let wanted = await w.tolist();
      for (let n = 0; n < CALLS; n++) {
        const x = made(t, [3], n),
          gradient = await x.tolist();
        wanted = wanted.map((v, i) => v - 0.5 ** n * gradient[i]);
        t.close(await (await step(x)).tolist(), wanted);
        t.equal([scheduler.last_epoch, optimizer.param_groups[0].lr], [n + 1, 0.5 ** (n + 1)]);
      }
      ok(torch.compiler.counts(step).replays >= 2, JSON.stringify(torch.compiler.counts(step)));
    } finally {
      console.warn = warn;
    }
  },

  "rows that a product reads on both sides are each its own": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      rows = {
        "less the mean": (x) => x.sub(x.mean(-1, true)),
        normalize: (x) => F.normalize(x, { dim: -1 }),
        softmax: (x) => x.softmax(-1),
        layer_norm: (x) => F.layer_norm(x, [5]),
      },
      products = {
        "with themselves": [[3, 5], (y) => y.matmul(y.t())],
        "in a batch": [[2, 3, 5], (y) => y.bmm(y.transpose(1, 2))],
        "of two of a batch": [[2, 3, 5], (y) => y.index(0).matmul(y.index(1).t())],
        "of the first with all": [[3, 5], (y) => y.narrow(0, 0, 1).matmul(y.t())],
        "of all with the last": [[3, 5], (y) => y.mv(y.index(-1))],
        "each with itself": [[3, 5], (y) => torch.einsum("ij,ij->i", y, y)],
        "of every second": [[4, 5], (y) => y.index("::2").matmul(y.index("1::2").t())],
        "by columns": [[3, 5], (y) => y.t().matmul(y)],
      };
    for (const own of Object.values(rows))
      for (const [shape, product] of Object.values(products))
        await like(
          t,
          (x) => product(own(x)),
          (n) => [made(t, shape, n)],
        );
    await like(
      t,
      (x) => torch.cov(x),
      (n) => [made(t, [3, 5], n)],
    );
  },

  "a tensor that one formula reads as a condition and as a number is read as both": async (t) => {
    const { torch } = t,
      mask = (n) => made(t, [3], n).gt(0);
    for (const own of [
      (x, m) => torch.where(m, x.square(), m).add(m),
      (x, m) => torch.where(m, x.matmul(x.diag()), m),
      (x, m) => torch.where(m, x.softmax(0), m).mul(m).sum().add(m),
    ])
      await like(t, own, (n) => [made(t, [3], n), mask(n)]);
  },

  "kernels of one op that go apart keep their own numbers": async (t) => {
    const { torch } = t,
      [near, far] = [made(t, [4, 3], 40), made(t, [4, 3], 70)];
    for (const p of [2, 3])
      await like(
        t,
        (x) => {
          const loss = torch.nn.functional.triplet_margin_loss(x.mT, near, far, { p, margin: 3 });
          return torch.autograd.grad(loss, [x])[0].clone();
        },
        (n) => [made(t, [3, 4], n, { requires_grad: true })],
      );
  },

  "what no kernel of an op makes are zeros where these kernels are joined with others, too": async (t) => {
    const { torch } = t,
      [mean, weight, bias] = [made(t, [3], 20), made(t, [3], 30), made(t, [3], 50)],
      variance = made(t, [3], 40).abs().add(0.5);
    await like(
      t,
      (x) => {
        const y = torch.nn.functional.batch_norm(x, mean, variance, { weight, bias, training: false });
        const [first] = torch.autograd.grad(y.pow(3).sum(), [x], { create_graph: true });
        return torch.autograd.grad(first.square().sum(), [x])[0].clone();
      },
      (n) => {
        for (const x of Array.from({ length: 40 }, (_, k) => torch.full([3 + (k % 7)], NaN))) x.dispose();
        return [made(t, [4, 3], n, { requires_grad: true })];
      },
    );
  },

  "zero by itself, and infinity by itself, are none where both are one formula": async (t) => {
    const { torch } = t,
      numbers = Float32Array.of(0, -0, 3, Infinity, -Infinity, NaN, 1e-45, 1e38);
    await like(
      t,
      (x) => x.mul(0.5).div(x.mul(0.5)),
      () => [torch.tensor(numbers)],
    );
    await like(
      t,
      (x) => x.abs().div(x.neg()),
      () => [torch.tensor(numbers)],
    );
  },

  "what is not finite times zeros that the function makes is none": async (t) => {
    const { torch } = t,
      numbers = Float32Array.of(3, Infinity, -Infinity, NaN);
    await like(
      t,
      (x) => x.mul(torch.zeros([4])).add(x.mul(torch.zeros_like(x))),
      () => [torch.tensor(numbers)],
    );
  },

  "what a function changes of a tensor besides elements, a replay changes too, or there is none": async (t) => {
    const { torch } = t,
      { warn } = console,
      said = [];
    console.warn = (text) => said.push(text);
    try {
      const outside = made(t, [2, 3]);
      const changes = {
        requires_grad: (x) => x.requires_grad_().mul(2).detach(),
        "no gradient any more": (x) => x.requires_grad_(false).mul(2),
        t: (x) => [x.sum(), x.t_()][0],
        unsqueeze: (x) => x.unsqueeze_(0).mul(2),
        squeeze: (x) => [x.mul(2), x.narrow(0, 0, 1).squeeze_(0)][0],
        detach: (x) => x.detach_().mul(3),
        "a tensor from outside": (x) => [outside.mul(x.sum()), outside.transpose_(0, 1)][0],
      };
      for (const [name, own] of Object.entries(changes)) {
        const f = torch.compile(own),
          input = (n) => made(t, [2, 3], n, { requires_grad: name === "no gradient any more" });
        for (let n = 0; n < CALLS; n++) {
          const [a, b] = [input(n), input(n)],
            before = outside.shape,
            got = f(a);
          if (name === "a tensor from outside") outside.t_();
          t.equal(outside.shape, before);
          const wanted = own(b);
          t.equal([name, a.shape, a.requires_grad, a.is_leaf], [name, b.shape, b.requires_grad, b.is_leaf]);
          t.equal([name, got.shape, await got.tolist()], [name, wanted.shape, await wanted.tolist()]);
        }
        const { replays } = torch.compiler.counts(f);
        if (["requires_grad", "no gradient any more", "squeeze", "detach"].includes(name))
          ok(replays >= 3, `${name}: ${replays} replays`);
      }
      for (const what of ["the shape of tensor 0 of the arguments", "the layout of a tensor from outside"])
        ok(
          said.some((text) => text.includes(`it changes ${what}, which a replay would not`)),
          said.join("\n"),
        );
    } finally {
      console.warn = warn;
    }
  },
};
