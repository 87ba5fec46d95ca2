// torch.compile: what is captured and replayed equals what the function does, call for call, whatever it is: functions,
// modules, whole training steps; and what a replay could not do again is run as it is, or refused.

const series = (n, first = 0) =>
  Float32Array.from({ length: n }, (_, k) => (((k + first) * 7919 + 104729) % 1009) / 504.5 - 1);
export const made = (t, shape, first = 0, options = {}) =>
  t.tensor(
    series(
      shape.reduce((a, b) => a * b, 1),
      first,
    ),
    { shape, ...options },
  );
export const all = async (tensors) => (await Promise.all([...tensors].map((x) => x.data()))).flatMap((x) => [...x]);

export function ok(value, message = "is true") {
  if (!value) throw new Error(`not so: ${message}`);
}

/** On the CPU not a bit may differ.  What a GPU's compiler sees in one kernel it may contract to fused multiplications. */
export const same = (t, got, wanted) => (t.device === "cpu" ? t.equal(got, wanted) : t.close(got, wanted));

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

export const mlp = (t) => () => {
  const { nn } = t.torch,
    m = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8, 3));
  return t.device === "cpu" ? m : m.to(t.device);
};
export const plain = (m, [opt], t) =>
  async function step(x, y) {
    opt.zero_grad();
    const loss = t.torch.nn.functional.mse_loss(m(x), y);
    loss.backward();
    await opt.step();
    return loss;
  };

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
    t.equal(Object.values(torch.compiler.counts(f)), [1, 0, 0, 0]);
  },
};
