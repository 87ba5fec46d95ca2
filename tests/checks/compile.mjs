// torch.compile: what is captured and replayed equals what the function does, call for call, whatever it is: functions,
// modules, whole training steps; and what a replay could not do again is run as it is, or refused.

const series = (n, first = 0) =>
  Float32Array.from({ length: n }, (_, k) => (((k + first) * 7919 + 104729) % 1009) / 504.5 - 1);
const made = (t, shape, first = 0, options = {}) =>
  t.tensor(
    series(
      shape.reduce((a, b) => a * b, 1),
      first,
    ),
    { shape, ...options },
  );
const all = async (tensors) => (await Promise.all([...tensors].map((x) => x.data()))).flatMap((x) => [...x]);

function ok(value, message = "is true") {
  if (!value) throw new Error(`not so: ${message}`);
}

/** On the CPU not a bit may differ.  What a GPU's compiler sees in one kernel it may contract to fused multiplications. */
const same = (t, got, wanted) => (t.device === "cpu" ? t.equal(got, wanted) : t.close(got, wanted));

function quiet(run) {
  const { warn, error } = console,
    said = [];
  console.warn = console.error = (text) => said.push(String(text));
  const over = () => Object.assign(console, { warn, error });
  try {
    const result = run(said);
    return result instanceof Promise ? result.finally(over) : (over(), result);
  } catch (caught) {
    over();
    throw caught;
  }
}

/** Trains a model with and without compiling, and compares losses, parameters, gradients, buffers. */
async function trained(t, { model, optimizers, step, steps = 7, replays = 2, around = () => {} }) {
  const courses = [];
  for (const compiled of [false, true]) {
    t.torch.manual_seed(11);
    const m = model(),
      all_ = optimizers(m),
      state = {},
      own = step(m, all_, state),
      f = compiled ? t.torch.compile(own, { fullgraph: true }) : own,
      course = [];
    for (let n = 0; n < steps; n++) {
      around(n, m, all_, state);
      const loss = await f(made(t, [6, 5], 100 * n), made(t, [6, 3], 50 * n));
      course.push(...(await all([loss].flat().filter(Boolean))));
    }
    for (const p of m.parameters()) course.push(...(await p.data()), ...(p.grad ? await p.grad.data() : [NaN]));
    for (const b of m.buffers()) course.push(...(await b.data()));
    course.push(
      ...(await t
        .tensor([0])
        .add(t.torch.rand([2]))
        .data()),
    );
    courses.push(course);
    if (compiled) {
      const counts = t.torch.compiler.counts(f);
      ok(counts.replays >= replays, `${counts.replays} replays`);
      t.equal(counts.eager, 0);
    }
  }
  same(t, courses[1], courses[0]);
}

const mlp = (t) => () => {
  const { nn } = t.torch,
    m = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8, 3));
  return t.device === "cpu" ? m : m.to(t.device);
};
const plain = (m, [opt], t) =>
  async function step(x, y) {
    opt.zero_grad();
    const loss = t.torch.nn.functional.mse_loss(m(x), y);
    loss.backward();
    await opt.step();
    return loss;
  };

const OPTIMIZERS = [
  ["SGD", { lr: 0.1 }],
  ["SGD", { lr: 0.1, momentum: 0.9, nesterov: true }],
  ["Adam", { lr: 0.01 }],
  ["Adam", { lr: 0.01, amsgrad: true }],
  ["AdamW", { lr: 0.01, weight_decay: 0.1 }],
  ["Adamax", {}],
  ["NAdam", {}],
  ["RAdam", {}],
  ["ASGD", {}],
  ["Rprop", {}],
  ["RMSprop", { momentum: 0.5, centered: true }],
  ["Adagrad", { lr_decay: 0.1 }],
  ["Adadelta", {}],
  ["Adafactor", {}],
];

export default {
  "a function's calls with like arguments are replayed": async (t) => {
    let runs = 0;
    const f = t.torch.compile((x, y) => {
      runs++;
      return x.mul(2).add(y).relu().sum(0);
    });
    for (let n = 0; n < 6; n++) {
      const x = made(t, [3, 4], n),
        y = made(t, [4], 9 * n);
      same(t, await f(x, y).data(), await x.mul(2).add(y).relu().sum(0).data());
    }
    const counts = t.torch.compiler.counts(f);
    t.equal(counts.programs, 1);
    ok(counts.replays >= 3);
    t.equal(runs, counts.recordings);
    ok(/add > relu/.test(t.torch.compiler.explain(f)));
  },

  "earlier results stay what they were": async (t) => {
    const f = t.torch.compile((x) => x.add(1).mul(x)),
      answers = [];
    for (let n = 0; n < 8; n++) answers.push(f(t.tensor([n, -n])));
    for (let n = 0; n < 8; n++) t.equal(await answers[n].tolist(), [(n + 1) * n, (1 - n) * -n]);
  },

  "nested arguments and results keep their structure, and plain ones are guards": async (t) => {
    const f = t.torch.compile(function nested({ a, list: [b, c] }, way) {
      const out = way === "sum" ? a.add(b) : a.mul(b);
      return { out, twice: [out, c], top: out.max(0), way };
    });
    for (let n = 0; n < 4; n++)
      for (const way of ["sum", "product"]) {
        const [a, b, c] = [made(t, [3], n), made(t, [3], n + 5), t.tensor([n])],
          got = f({ a, list: [b, c] }, way),
          out = way === "sum" ? a.add(b) : a.mul(b);
        same(t, await got.out.data(), await out.data());
        ok(got.twice[0] === got.out && got.twice[1] === c, "one tensor stays one");
        same(t, await got.top.values.data(), await out.max(0).values.data());
        const [values, indices] = got.top;
        same(
          t,
          [...(await values.data()), ...(await indices.data())],
          [...(await out.max(0).values.data()), ...(await out.max(0).indices.data())],
        );
        t.equal(got.way, way);
      }
    t.equal(t.torch.compiler.counts(f).programs, 2);
  },

  "shapes, types, strides, modes and requires_grad are guards": async (t) => {
    const { torch } = t,
      own = (x) => x.mul(3).sum(),
      f = torch.compile(own);
    const calls = [
      () => made(t, [2, 3]),
      () => made(t, [3, 2]),
      () => made(t, [3, 2]).t(),
      () => made(t, [4, 3]).narrow(0, 1, 2),
      () => t.tensor([1, 2, 3], { dtype: "int32" }),
      () => made(t, [2, 3]).requires_grad_(),
    ];
    for (let n = 0; n < 3; n++)
      for (const call of calls) {
        const x = call(),
          got = f(x),
          wanted = own(x);
        same(t, await got.data(), await wanted.data());
        t.equal([got.dtype, got.requires_grad], [wanted.dtype, wanted.requires_grad]);
        const no = torch.no_grad(() => f(x));
        t.equal(no.requires_grad, false);
      }
  },

  "branches by shape are right for every shape": async (t) => {
    const own = (x) => (x.shape[0] > 2 ? x.sum(0) : x.mul(2).sum(0)),
      f = t.torch.compile(own);
    for (let n = 0; n < 12; n++) {
      const x = made(t, [1 + (n % 4), 2], n);
      same(t, await f(x).data(), await own(x).data());
    }
    t.equal(t.torch.compiler.counts(f).programs, 4);
  },

  "more shapes than programs are run as they are, which is said once": async (t) => {
    await quiet(async (said) => {
      const f = t.torch.compile((x) => x.mul(2), { dynamic: false });
      for (let n = 0; n < 12; n++)
        for (let k = 0; k < 3; k++) t.equal((await f(made(t, [n + 1])).data()).length, n + 1);
      t.equal(said.filter((text) => /runs as it is/.test(text)).length, 1);
      ok(t.torch.compiler.counts(f).programs <= 8);
    });
  },

  "random numbers are the ones that would be drawn": async (t) => {
    const { torch } = t,
      own = (x) => torch.nn.functional.dropout(x, 0.5).add(torch.rand([4])),
      f = torch.compile(own),
      courses = [];
    for (const g of [own, f]) {
      torch.manual_seed(5);
      const course = [];
      for (let n = 0; n < 6; n++)
        course.push(...(await g(made(t, [3, 4], n)).data()), ...(await torch.rand([2]).data()));
      courses.push(course);
    }
    same(t, courses[1], courses[0]);
    ok(torch.compiler.counts(f).replays >= 2);
    const g = new torch.Generator().manual_seed(3),
      h = new torch.Generator().manual_seed(3),
      drawing = (generator) => (x) => x.add(torch.rand([4], { generator })),
      drawn = torch.compile(drawing(g)),
      alone = drawing(h);
    for (let n = 0; n < 5; n++) same(t, await drawn(made(t, [4])).data(), await alone(made(t, [4])).data());
  },

  "a module is compiled: in training and in evaluation, its statistics advance, gradients come back": async (t) => {
    const { torch } = t,
      courses = [];
    for (const how of ["eager", "torch.compile", "module.compile"]) {
      torch.manual_seed(2);
      const own = mlp(t)(),
        m = how === "torch.compile" ? torch.compile(own, { fullgraph: true }) : own,
        course = [];
      if (how === "module.compile") own.compile({ fullgraph: true });
      const opt = new torch.optim.Adam(m.parameters(), { lr: 0.02 });
      for (let n = 0; n < 7; n++) {
        m.train();
        const x = made(t, [6, 5], n, { requires_grad: true });
        opt.zero_grad();
        const loss = torch.nn.functional.mse_loss(m(x), made(t, [6, 3], 3 * n));
        loss.backward();
        await opt.step();
        m.eval();
        course.push(await loss.item(), ...(await x.grad.data()), ...(await m(made(t, [2, 5], n)).data()));
      }
      course.push(...(await all(own.buffers())), ...(await all(own.parameters())));
      courses.push(course);
      if (how === "torch.compile") {
        ok(m instanceof torch.nn.Module && m[0] === own[0], "it is used as a module");
        ok(torch.compiler.counts(m).replays >= 6, JSON.stringify(torch.compiler.counts(m)));
      }
    }
    same(t, courses[1], courses[0]);
    same(t, courses[2], courses[0]);
  },

  "several ways forward are under way before one goes back": async (t) => {
    const w = made(t, [4, 4], 3, { requires_grad: true }),
      own = (x) => x.matmul(w.mul(w)).sin().mul(x),
      f = t.torch.compile(own, { fullgraph: true });
    for (let n = 0; n < 3; n++) f(made(t, [2, 4], n));
    const xs = [0, 1, 2].map((n) => made(t, [2, 4], n)),
      outs = xs.map((x) => f(x));
    outs
      .reduce((a, b) => a.add(b.exp()))
      .sum()
      .backward();
    const got = await w.grad.data();
    w.grad = null;
    xs.map(own)
      .reduce((a, b) => a.add(b.exp()))
      .sum()
      .backward();
    t.close(got, await w.grad.data()); // the three sums come in another order
    const out = f(xs[0]).sum();
    out.backward();
    await t.throws(() => out.backward(), /second time/);
    const late = f(xs[1]).sum();
    t.torch.no_grad(() => w.mul_(2));
    await t.throws(() => late.backward(), /modified by an inplace operation/);
    await t.throws(() => t.torch.autograd.grad(f(xs[1]).sum(), [w], { create_graph: true }), /differentiated again/);
  },

  ...Object.fromEntries(
    OPTIMIZERS.map(([name, options]) => [
      `a training step with ${name} ${JSON.stringify(options)} is replayed`,
      (t) =>
        trained(t, {
          model: mlp(t),
          optimizers: (m) => [new t.torch.optim[name](m.parameters(), options)],
          step: (m, o) => plain(m, o, t),
          steps: 9,
        }),
    ]),
  ),

  "a learning rate is not frozen: set by hand, by a scheduler outside, by one inside": async (t) => {
    const { optim } = t.torch,
      adam = (m) => [new optim.Adam(m.parameters(), { lr: 0.1 })];
    await trained(t, {
      model: mlp(t),
      optimizers: adam,
      step: (m, o) => plain(m, o, t),
      around: (n, _, [opt]) => {
        opt.param_groups[0].lr = 0.1 / (n + 1);
        if (n > 4) opt.param_groups[0].betas = [0.5, 0.9];
      },
    });
    await trained(t, {
      model: mlp(t),
      optimizers: adam,
      step: (m, o) => plain(m, o, t),
      around: (n, _, [opt], state) => (state.s ??= new optim.lr_scheduler.ExponentialLR(opt, 0.7)).step(),
    });
    for (const make of [
      (opt) => new optim.lr_scheduler.StepLR(opt, 2, { gamma: 0.3 }),
      (opt) => new optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 3),
      (opt) => new optim.lr_scheduler.OneCycleLR(opt, { max_lr: 0.2, total_steps: 30 }),
      (opt) =>
        new optim.lr_scheduler.SequentialLR(
          opt,
          [new optim.lr_scheduler.ConstantLR(opt, 0.5, 2), new optim.lr_scheduler.ExponentialLR(opt, 0.9)],
          [3],
        ),
    ])
      await trained(t, {
        model: mlp(t),
        optimizers: adam,
        step: (m, [opt]) => {
          const scheduler = make(opt),
            inner = plain(m, [opt], t);
          return async function step(x, y) {
            const loss = await inner(x, y);
            scheduler.step();
            return loss;
          };
        },
      });
  },

  "gradients accumulate, are clipped, zeroed outside, and kept": async (t) => {
    const { nn, optim } = t.torch,
      sgd = (m) => [new optim.SGD(m.parameters(), { lr: 0.1, momentum: 0.5 })];
    for (const clip of [
      (p) => nn.utils.clip_grad_norm_(p, 0.5),
      (p) => nn.utils.clip_grad_value_(p, 0.1),
      () => undefined,
    ])
      await trained(t, {
        model: mlp(t),
        optimizers: sgd,
        step: (m, [opt]) =>
          async function step(x, y) {
            const losses = [];
            for (const part of [0, 3]) {
              const loss = nn.functional.mse_loss(m(x.narrow(0, part, 3)), y.narrow(0, part, 3)).div(2);
              loss.backward();
              losses.push(loss);
            }
            const norm = clip(m.parameters());
            await opt.step();
            opt.zero_grad();
            return norm ? [...losses, norm] : losses;
          },
      });
    // Each call adds to the gradients; every third one is followed by a step outside.
    const courses = [];
    for (const compiled of [false, true]) {
      t.torch.manual_seed(1);
      const m = mlp(t)(),
        [opt] = sgd(m),
        own = (x, y) => {
          nn.functional.mse_loss(m(x), y).backward();
        },
        f = compiled ? t.torch.compile(own, { fullgraph: true }) : own,
        course = [];
      for (let n = 0; n < 15; n++) {
        f(made(t, [6, 5], n), made(t, [6, 3], n));
        if (n % 3 < 2) continue;
        course.push(...(await all(m.parameters().map((p) => p.grad))));
        await opt.step();
        if (n % 2) opt.zero_grad();
        else opt.zero_grad(false);
      }
      courses.push([...course, ...(await all(m.parameters()))]);
      if (compiled) ok(t.torch.compiler.counts(f).replays > 5, JSON.stringify(t.torch.compiler.counts(f)));
    }
    same(t, courses[1], courses[0]);
  },

  "averages in place, two optimizers, and several steps in one function": async (t) => {
    const { nn, optim, no_grad } = t.torch;
    await trained(t, {
      model: mlp(t),
      optimizers: (m) => {
        const [a, ...rest] = m.parameters();
        return [new optim.Adam([a], { lr: 0.01 }), new optim.SGD(rest, { lr: 0.1 })];
      },
      step: (m, [adam, sgd], state) => {
        state.average = m.parameters().map((p) => p.detach().clone());
        return async function step(x, y) {
          const losses = [];
          for (let k = 0; k < 2; k++) {
            adam.zero_grad();
            sgd.zero_grad();
            const loss = nn.functional.mse_loss(m(x), y);
            loss.backward();
            await adam.step();
            if (k) await sgd.step();
            losses.push(loss);
          }
          no_grad(() => m.parameters().forEach((p, i) => state.average[i].mul_(0.9).add_(p, { alpha: 0.1 })));
          return [...losses, state.average[0].mul(1)];
        };
      },
    });
  },

  "in-place changes of arguments, views and what was there before": async (t) => {
    const own = (x, kept) => {
      x.narrow(0, 1, 2).mul_(2);
      kept.add_(x.sum());
      const y = x.clone();
      y.select(0, 0).fill_(7);
      y.t().add_(1);
      return y;
    };
    const courses = [];
    for (const compiled of [false, true]) {
      const kept = t.tensor([1, 2]),
        first = (x) => own(x, kept),
        f = compiled ? t.torch.compile(first, { fullgraph: true }) : first,
        course = [];
      for (let n = 0; n < 6; n++) {
        const x = made(t, [3, 2], n),
          before = x._version,
          at = kept._version,
          y = f(x);
        course.push(...(await all([x, y, kept])), x._version - before, kept._version - at);
      }
      courses.push(course);
      if (compiled) ok(t.torch.compiler.counts(f).replays >= 3);
    }
    same(t, courses[1], courses[0]);
  },

  "a tensor given twice, or whose memory another shares": async (t) => {
    const own = (x, y) => {
        x.add_(1);
        return x.mul(y);
      },
      f = t.torch.compile(own);
    for (let n = 0; n < 9; n++) {
      const [a, b, c, d] = [0, 0, 5, 5].map((k) => made(t, [4], n + k)),
        pair = (x, y) => (n % 3 === 0 ? [x, x] : n % 3 === 1 ? [x, x.view([4])] : [x, y]);
      same(t, await f(...pair(a, c)).data(), await own(...pair(b, d)).data());
    }
  },

  "the same tensor that is also meant by itself": async (t) => {
    const fixed = made(t, [3]),
      own = (x) => x.add(fixed),
      f = t.torch.compile(own);
    for (let n = 0; n < 3; n++) f(fixed);
    for (let n = 0; n < 5; n++) {
      const x = made(t, [3], n + 4);
      same(t, await f(x).data(), await own(x).data());
    }
  },

  "parameters replaced under a plan: load_state_dict, assignment, set_data, requires_grad": async (t) => {
    const { torch } = t,
      { nn } = torch,
      m = mlp(t)().eval(),
      other = mlp(t)().eval(),
      f = torch.compile((x) => m(x)),
      x = made(t, [2, 5]);
    const check = async () => {
      for (let n = 0; n < 4; n++) same(t, await f(x).data(), await m.forward(x).data());
    };
    await check();
    m.load_state_dict(other.state_dict());
    await check();
    m[0].weight = new nn.Parameter(made(t, [8, 5], 77));
    await check();
    m[4].bias.set_data(made(t, [3], 5));
    await check();
    const scale = made(t, [3], 6),
      g = torch.compile((y) => y.mul(scale.detach()));
    for (let n = 0; n < 4; n++) g(made(t, [3]));
    scale.set_data(made(t, [3], 99));
    for (let n = 0; n < 4; n++) same(t, await g(made(t, [3])).data(), await made(t, [3]).mul(scale).data());
    for (const p of m.parameters()) p.requires_grad_(false);
    t.equal(f(x).requires_grad, false);
    m[0].weight.requires_grad_(true);
    t.equal(f(x).requires_grad, true);
    m[2] = nn.Tanh();
    await check();
    m.train();
    ok((await f(made(t, [4, 5])).data()).length === 12);
    const hook = m.register_forward_hook((_, __, out) => out.mul(0));
    t.equal(
      [...(await f(x).data())].every((v) => v === 0),
      true,
    );
    hook.remove();
    m.eval();
    await check();
  },

  "an optimizer's state loaded, groups added, under a plan": async (t) => {
    const { optim } = t.torch;
    await trained(t, {
      model: mlp(t),
      optimizers: (m) => [new optim.Adam(m.parameters().slice(0, 3), { lr: 0.05 })],
      step: (m, o) => plain(m, o, t),
      steps: 16,
      around: (n, m, [opt], state) => {
        if (n === 3) state.saved = JSON.parse(JSON.stringify({ lr: opt.param_groups[0].lr }));
        if (n === 5) {
          const saved = opt.state_dict();
          saved.param_groups[0].lr = 0.01;
          opt.load_state_dict(saved);
        }
        if (n === 10) opt.add_param_group({ params: m.parameters().slice(3), lr: 0.2 });
      },
    });
  },

  "gradients that were read stay what they were": async (t) => {
    const courses = [];
    for (const compiled of [false, true]) {
      t.torch.manual_seed(4);
      const m = mlp(t)(),
        opt = new t.torch.optim.SGD(m.parameters(), { lr: 0.1 }),
        own = plain(m, [opt], t),
        f = compiled ? t.torch.compile(own, { fullgraph: true }) : own,
        seen = [];
      for (let n = 0; n < 7; n++) {
        await f(made(t, [6, 5], n), made(t, [6, 3], n));
        seen.push(m[0].weight.grad);
      }
      courses.push(await all(seen));
    }
    same(t, courses[1], courses[0]);
  },

  "what changes from call to call without being an argument is found, and runs as it is": async (t) => {
    await quiet(async (said) => {
      let count = 0,
        h = t.tensor([0]);
      const counting = t.torch.compile(function counting(x) {
          return x.add(++count);
        }),
        running = t.torch.compile(function running(x) {
          return (h = h.mul(0.5).add(x));
        });
      let wanted = 0;
      for (let n = 1; n < 14; n++) {
        t.equal(await counting(t.tensor([1])).item(), 1 + n);
        wanted = wanted * 0.5 + n;
        t.close(await running(t.tensor([n])).item(), wanted);
      }
      ok(said.some((text) => /counting runs as it is/.test(text)) && said.some((text) => /running runs/.test(text)));
    });
  },

  "a value read inside, a disabled function, and other things that no replay does": async (t) => {
    const { torch } = t;
    await quiet(async (said) => {
      const f = torch.compile(async function reading(x) {
        return (await x.sum().item()) > 0 ? x : x.neg();
      });
      for (const sign of [1, -1, 1, -1]) t.equal(await (await f(t.tensor([1, 2]).mul(sign))).tolist(), [1, 2]);
      t.equal(said.length, 1);
      ok(/reading runs as it is: a value is read at/.test(said[0]), said[0]);
      const aside = torch.compiler.disable((x) => x.mul(2)),
        g = torch.compile((x) => aside(x).add(1));
      for (let n = 0; n < 4; n++) t.equal(await g(t.tensor([n])).item(), 2 * n + 1);
      t.equal(torch.compiler.counts(g).programs, 0);
      const views = torch.compile((x) => x.view([2, 2]));
      for (let n = 0; n < 4; n++) {
        const x = made(t, [4]),
          y = views(x);
        x.fill_(n);
        t.equal(await y.tolist(), [
          [n, n],
          [n, n],
        ]);
      }
      const seeded = torch.compile((x) => (torch.manual_seed(1), torch.rand([2]).add(x))),
        first = await seeded(t.tensor([0])).tolist();
      for (let n = 0; n < 4; n++) t.equal(await seeded(t.tensor([0])).tolist(), first);
    });
    const strict = torch.compile(
      async function strict(x) {
        return x.mul(await x.sum().item());
      },
      { fullgraph: true },
    );
    await t.throws(() => strict(t.tensor([1])), /strict cannot be captured: a value is read at .*compile\.mjs/);
    await t.throws(() => torch.compile(3), /must be a function or a module/);
    await t.throws(() => torch.compile((x) => x, { mode: "fast" }), /'mode' must be one of/);
    await t.throws(() => torch.compiler.explain((x) => x), /what torch.compile answered/);
    t.equal(torch.compiler.is_compiling(), false);
    let inside = null;
    torch.compile((x) => ((inside = torch.compiler.is_compiling()), x.add(1)))(t.tensor([1]));
    t.equal(inside, true);
  },

  "an error of an op is an error of a replay, and leaves what was there": async (t) => {
    const { torch } = t,
      table = made(t, [4, 2]),
      f = torch.compile((ids) => torch.nn.functional.embedding(ids, table).sum());
    const ids = (...list) => t.tensor(list, { dtype: "int32" });
    for (let n = 0; n < 4; n++) await f(ids(n % 4, 1)).item();
    ok(torch.compiler.counts(f).replays > 0);
    await t.throws(async () => await f(ids(9, 1)).item(), /out of bounds|index/i);
    t.close(await f(ids(0, 1)).item(), await table.narrow(0, 0, 2).sum().item());
    if (t.device === "cpu") {
      const unread = torch.compile((ids) => {
        torch.nn.functional.embedding(ids, table);
        return table.sum();
      });
      for (let n = 0; n < 4; n++) await unread(ids(n % 4, 1)).item();
      await t.throws(() => unread(ids(9, 1)), /out of bounds|index/i);
    }
    const g = torch.compile(() => {
      throw new RangeError("mine");
    });
    await t.throws(() => g(), /mine/);
    t.equal(torch.compiler.is_compiling(), false);
  },

  'mode "verify" finds what a replay does otherwise': async (t) => {
    const { torch } = t,
      right = torch.compile((x) => torch.nn.functional.dropout(x.mul(2), 0.5).add(1), { mode: "verify" });
    for (let n = 0; n < 15; n++) await right(made(t, [4], n)).data();
    let rate = 2;
    const wrong = torch.compile((x) => x.mul(rate), { mode: "verify" });
    for (let n = 0; n < 4; n++) wrong(made(t, [4], n));
    rate = 3;
    await t.throws(() => {
      for (let n = 0; n < 12; n++) wrong(made(t, [4], n));
    }, /does not do again what was captured: .*mul/);
    torch.manual_seed(1);
    const m = mlp(t)(),
      opt = new torch.optim.Adam(m.parameters()),
      step = torch.compile(plain(m, [opt], t), { mode: "verify" });
    for (let n = 0; n < 15; n++) await (await step(made(t, [6, 5], n), made(t, [6, 3], n))).item();
    ok(torch.compiler.counts(step).replays > 5);
  },

  "reset forgets, and a tidy scope frees what a replay made": async (t) => {
    const { torch } = t,
      f = torch.compile((x) => x.mul(2).add(1)),
      x = made(t, [64]);
    for (let n = 0; n < 4; n++) f(x).dispose();
    const before = torch.memory()[t.device].buffers;
    for (let n = 0; n < 10; n++) f(x).dispose();
    torch.tidy(() => {
      for (let n = 0; n < 10; n++) f(x);
    });
    t.equal(torch.memory()[t.device].buffers, before);
    const w = made(t, [4], 2, { requires_grad: true }),
      g = torch.compile((y) => y.mul(w).exp().mul(w).sum());
    for (let n = 0; n < 4; n++) g(made(t, [4], n));
    const late = g(made(t, [4]));
    torch.compiler.reset();
    for (let n = 0; n < 9; n++) torch.rand([4]).mul(2);
    late.backward();
    const grad = await w.grad.data();
    w.grad = null;
    made(t, [4]).mul(w).exp().mul(w).sum().backward();
    t.close(grad, await w.grad.data());
    t.equal(Object.values(torch.compiler.counts(f)), [0, 0, 0, 0]);
    same(t, await f(x).data(), await x.mul(2).add(1).data());
  },

  "random programs, compiled, are what they are": async (t) => {
    for (let seed = 1; seed <= 60; seed++) {
      const own = randomProgram(t, seed),
        f = t.torch.compile(own.f),
        g = own.f;
      for (let n = 0; n < 4; n++) {
        const inputs = () =>
            own.shapes.map((shape, i) => made(t, n === 3 ? [shape[0] + 1, shape[1]] : shape, 31 * n + i)),
          [a, b] = [inputs(), inputs()];
        t.torch.manual_seed(seed);
        const got = f(...a);
        t.torch.manual_seed(seed);
        const wanted = g(...b);
        same(t, await all([...got, ...a]), await all([...wanted, ...b]));
      }
    }
  },
};

/** A program of ops, views, in-place changes and branches by shape; the same for a seed. */
function randomProgram(t, seed) {
  let state = seed * 2654435761;
  const pick = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const lines = Array.from({ length: 4 + pick(8) }, () => [pick(12), pick(100), pick(100)]),
    shapes = Array.from({ length: 1 + pick(2) }, () => [2 + pick(3), 3]);
  shapes.forEach((shape) => {
    shape[0] = shapes[0][0];
  });
  const { torch } = t;
  const f = (...inputs) => {
    const values = [...inputs];
    for (const [kind, first, second] of lines) {
      const a = values[first % values.length],
        b = values[second % values.length];
      switch (kind) {
        case 0:
          values.push(a.add(b));
          break;
        case 1:
          values.push(a.mul(b).sub(0.5));
          break;
        case 2:
          values.push(a.sin());
          break;
        case 3:
          a.mul_(0.5);
          break;
        case 4:
          a.add_(b.detach());
          break;
        case 5:
          a.narrow(0, 1, 1).copy_(b.narrow(0, 0, 1));
          break;
        case 6:
          a.select(1, second % 3).fill_(first / 10);
          break;
        case 7:
          values.push(a.t().contiguous().t());
          break;
        case 8:
          values.push(torch.softmax(a, second % 2));
          break;
        case 9:
          values.push(a.shape[0] > 3 ? a.cumsum(0) : a.sum(0).expand(a.shape).clone());
          break;
        case 10:
          values.push(torch.nn.functional.dropout(a, 0.3));
          break;
        default:
          values.push(torch.where(a.gt(b), a, b.neg()));
      }
    }
    return values.slice(inputs.length);
  };
  return { f, shapes, text: JSON.stringify(lines) };
}
