// torch.compile of modules and whole training steps: losses, parameters, gradients, buffers and the optimizers' states
// are what they are without it.

import { made, all, ok, same, mlp, plain } from "./compile.mjs";

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
  "a gradient that a step still reads keeps its memory when another takes its place": async (t) => {
    const { torch } = t,
      p = t.tensor([1, 1], { requires_grad: true }),
      step = torch.compile(
        (x) => {
          const before = p.grad;
          p.grad = null;
          p.mul(x).sum().backward();
          return before.add(p.grad);
        },
        { fullgraph: true },
      ),
      found = [];
    p.grad = t.tensor([0, 0]);
    for (let n = 1; n < 8; n++) found.push(await step(t.tensor([n, 10 * n])).tolist());
    t.equal(
      found,
      [1, 3, 5, 7, 9, 11, 13].map((n) => [n, 10 * n]),
    );
    ok(torch.compiler.counts(step).replays >= 3, "it is replayed");
  },

  "an option that chooses other kernels is compiled anew, once": async (t) => {
    const { optim } = t.torch;
    for (const [name, given, later] of [
      ["RAdam", { lr: 0.01 }, {}], // rectifies from the sixth step on
      ["SGD", { lr: 0.01, momentum: 0.9 }, { nesterov: true }],
      ["Adam", { lr: 0.01 }, { maximize: true }],
      ["Adam", { lr: 0.01 }, { amsgrad: true }],
      ["AdamW", { lr: 0.01 }, { weight_decay: 0 }],
    ])
      await trained(t, {
        model: mlp(t),
        optimizers: (m) => [new optim[name](m.parameters(), given)],
        step: (m, o) => plain(m, o, t),
        around: (n, _, [opt]) => {
          if (n === 6) Object.assign(opt.param_groups[0], later);
        },
        steps: 18,
        replays: 11,
      });
  },

  "a batch norm that keeps plain averages is replayed": async (t) => {
    const { nn, optim } = t.torch;
    await trained(t, {
      model: () => {
        const m = nn.Sequential(nn.BatchNorm1d(5, { momentum: null }), nn.Linear(5, 3));
        return t.device === "cpu" ? m : m.to(t.device);
      },
      optimizers: (m) => [new optim.SGD(m.parameters(), { lr: 0.1 })],
      step: (m, o) => plain(m, o, t),
      replays: 4,
    });
  },

  "within autocast a weight that is used twice is cast once, and its gradients are added before": async (t) => {
    const { torch } = t;
    await trained(t, {
      model: mlp(t),
      optimizers: (m) => [new torch.optim.SGD(m.parameters(), { lr: 0.1 })],
      step:
        (m, [opt]) =>
        async (x, y) => {
          opt.zero_grad();
          const loss = torch.autocast(t.device, { dtype: torch.bfloat16 }, () =>
            torch.nn.functional.mse_loss(m(x).add(m[0](x.tanh()).narrow(1, 0, 3)), y),
          );
          loss.backward();
          await opt.step();
          return loss;
        },
      replays: 4,
    });
  },
};
