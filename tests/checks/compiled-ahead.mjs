// f.warmup(): what calls need is captured and compiled ahead of them, and nothing of that is left.

const made = (t, shape, first = 0, options = {}) => {
  const n = shape.reduce((a, b) => a * b, 1);
  return t.tensor(
    Float32Array.from({ length: n }, (_, k) => (((k + first) * 7919) % 1009) / 504.5 - 1),
    { shape, ...options },
  );
};

function ok(value, message) {
  if (!value) throw new Error(`not so: ${message}`);
}

const mlp = (t) => {
  const { nn } = t.torch,
    m = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8, 3));
  return t.device === "cpu" ? m : m.to(t.device);
};

export default {
  "the first call after it is replayed, with other memory too, forward and back": async (t) => {
    const { torch } = t;
    for (const options of [{}, { requires_grad: true }]) {
      const model = mlp(t).eval(),
        f = torch.compile(model, { fullgraph: true });
      await f.warmup(made(t, [4, 5], 0, options));
      t.equal(Object.values(torch.compiler.counts(f)), [0, 0, 1, 0]);
      for (let n = 1; n < 4; n++) {
        const x = made(t, [4, 5], n, options),
          y = made(t, [4, 5], n, options),
          [got, wanted] = [f(x), model.forward(y)];
        t.close(await got.tolist(), await wanted.tolist());
        got.mul(got).sum().backward();
        const gradients = await Promise.all(model.parameters().map((p) => p.grad.data()));
        for (const p of model.parameters()) p.grad = null;
        wanted.mul(wanted).sum().backward();
        for (const [i, p] of model.parameters().entries()) {
          t.close([...gradients[i]], [...(await p.grad.data())]);
          p.grad = null;
        }
        if (options.requires_grad) t.close(await x.grad.tolist(), await y.grad.tolist());
      }
      t.equal(torch.compiler.counts(f).recordings, 0);
      await f.warmup(made(t, [4, 5], 0, options)); // is there already
      await f.warmup(made(t, [6, 5], 0, options));
      t.equal(torch.compiler.counts(f).programs, 2);
    }
  },

  "training is what it would be: optimizers, schedulers, gradients, statistics, random numbers": async (t) => {
    const { torch } = t,
      { nn, optim } = torch,
      makers = [
        (p) => new optim.Adam(p, { lr: 0.05 }),
        (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9 }),
        (p) => new optim.RMSprop(p, { momentum: 0.5 }),
      ];
    for (const make of makers) {
      const courses = [];
      for (const warm of [false, true]) {
        torch.manual_seed(3);
        const model = mlp(t),
          optimizer = make(model.parameters()),
          scheduler = new optim.lr_scheduler.StepLR(optimizer, 2, { gamma: 0.5 }),
          generator = new torch.Generator().manual_seed(4),
          total = torch.zeros([3], { device: t.device }),
          course = [];
        const own = (scale) =>
          async function step(x, y) {
            const noise = torch.rand([3], { generator, device: t.device });
            const loss = nn.functional.mse_loss(model(x).add(noise), y).mul(scale);
            loss.backward();
            nn.utils.clip_grad_norm_(model.parameters(), 0.5);
            await optimizer.step();
            optimizer.zero_grad(scale === 1);
            scheduler.step();
            total.add_(y.detach().sum(0));
            return loss;
          };
        let f = torch.compile(own(1), { fullgraph: true });
        for (let n = 0; n < 9; n++) {
          const words = [made(t, [6, 5], 10 * n), made(t, [6, 3], 7 * n)];
          if (n === 5) f = torch.compile(own(2), { fullgraph: true });
          if (warm && (n === 0 || n === 2 || n === 5)) await f.warmup(...words);
          course.push(await (await f(...words)).item(), optimizer.param_groups[0].lr);
        }
        for (const x of [...model.parameters(), ...model.buffers(), total]) course.push(...(await x.data()));
        for (const p of model.parameters()) course.push(...(p.grad ? await p.grad.data() : [7]));
        course.push(...(await torch.rand([2], { device: t.device }).data()));
        course.push(...(await torch.rand([2], { generator, device: t.device }).data()));
        course.push(...[...optimizer.state.values()].map(({ step = 0 }) => step));
        courses.push(course);
      }
      t.close(courses[1], courses[0]);
    }
  },

  "what it cannot capture it refuses, with nothing changed": async (t) => {
    const { torch } = t,
      w = made(t, [4], 1, { requires_grad: true }),
      optimizer = new torch.optim.SGD([w], { lr: 1 }),
      before = await w.tolist();
    const reading = torch.compile(async function reading(x) {
      w.mul(x).sum().backward();
      await optimizer.step();
      return (await w.sum().item()) > 0 ? x : x.neg();
    });
    await t.throws(() => reading.warmup(made(t, [4])), /a value is read at .*compiled-ahead/);
    t.equal([await w.tolist(), w.grad, w._version], [before, null, 0]);
    const throwing = torch.compile((x) => {
      w.detach().add_(x);
      throw new RangeError("mine");
    });
    await t.throws(() => throwing.warmup(made(t, [4])), /mine/);
    t.equal([await w.tolist(), w._version], [before, 0]);
    // What a function keeps of a call that was not made says so.
    let kept = null;
    const keeping = torch.compile((x) => ((kept = x.mul(2)), x.add(1)));
    await keeping.warmup(made(t, [4]));
    await t.throws(() => kept.add(1), /disposed|freed/);
    t.equal(torch.compiler.is_compiling(), false);
    let inner = null;
    const outer = torch.compile((x) => ((inner = keeping.warmup(x)), x));
    inner = outer(made(t, [4])) && inner;
    await t.throws(() => inner, /being captured/);
  },

  "a graph from before keeps what it needs of what is changed in place": async (t) => {
    const { torch } = t,
      x = made(t, [4], 1, { requires_grad: true }),
      y = x.mul(2).detach(),
      before = x.mul(y).sum(),
      g = made(t, [4], 5);
    const f = torch.compile((z) => {
      y.add_(z);
      return y.sum();
    });
    const wanted = await y.tolist();
    await f.warmup(g);
    before.backward();
    t.close(await x.grad.tolist(), wanted);
    t.close(await f(g).item(), await t.tensor(wanted).add(g).sum().item());
  },

  "a module that is compiled where it is": async (t) => {
    const { nn } = t.torch;
    let runs = 0;
    class Doubled extends nn.Module {
      forward(x) {
        runs++;
        return x.mul(2);
      }
    }
    const model = new Doubled();
    await model.compile().warmup(made(t, [3]));
    const before = runs;
    t.close(await model(t.tensor([1, 2, 3])).tolist(), [2, 4, 6]);
    ok(before > 0 && runs === before, `${runs} runs, ${before} of them ahead`);
  },

  "other calls go on meanwhile": async (t) => {
    const { torch } = t,
      f = torch.compile((x) => x.mul(3).exp().sum(0).log()),
      under_way = f.warmup(made(t, [64, 8])),
      x = made(t, [64, 8], 3),
      eager = x.mul(3).exp().sum(0).log();
    t.close(await eager.tolist(), await f(x).tolist());
    await under_way;
    t.close(await f(x).tolist(), await eager.tolist());
  },
};
