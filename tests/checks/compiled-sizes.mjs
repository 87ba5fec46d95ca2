// Compiled functions whose tensors have other sizes from call to call: answers are right whatever the code asks of sizes, and
// the function runs once for each size (twice for the first), not for each call.

import { wrong } from "./compiled-programs.mjs";

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

function ok(value, message) {
  if (!value) throw new Error(`not so: ${message}`);
}

/** Calls a compiled function for sizes in turn, and compares; answers how often its code ran, and what was counted. */
async function turns(t, own, sizes, args, { rounds = 4, close = {}, ...options } = {}) {
  let runs = 0;
  const f = t.torch.compile((...given) => (runs++, own(...given)), options);
  for (let n = 0; n < rounds; n++)
    for (const size of sizes) {
      const got = [await f(...args(size, n))].flat(),
        wanted = [await own(...args(size, n))].flat();
      for (let i = 0; i < wanted.length; i++) {
        t.equal(got[i].shape, wanted[i].shape);
        t.close(await got[i].tolist(), await wanted[i].tolist(), { rtol: 1e-4, atol: 1e-5, ...close });
      }
    }
  return { runs, f, ...t.torch.compiler.counts(f) };
}

/** What console.warn is told meanwhile. */
async function warned(run) {
  const { warn } = console,
    said = [];
  console.warn = (text) => void (/torch\.compile/.test(text) && said.push(String(text)));
  try {
    await run();
  } finally {
    console.warn = warn;
  }
  return said;
}

const network = ({ nn }) => nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3));

export default {
  "batches of any size: the function runs once for each, and twice for the first": async (t) => {
    const model = network(t.torch).to(t.device),
      sizes = [5, 1, 2, 3, 4, 6, 7, 8, 9, 16, 31, 32];
    const own = (x) => t.torch.no_grad(() => model(x).softmax(-1)),
      { runs, recordings, replays, programs, eager } = await turns(t, own, sizes, (b, n) => [made(t, [b, 6], n)]);
    t.equal([runs, recordings, replays, programs, eager], [13, 13, 35, 12, 0]);
  },

  "sequences: sizes that the code asks for, computes with and branches on": async (t) => {
    const { torch } = t,
      F = torch.nn.functional,
      w = made(t, [8, 24], 3);
    const own = (x) => {
      const [b, n, c] = x.shape,
        [q, k, v] = x
          .matmul(w)
          .view([b, n, 3, 2, c / 2])
          .permute([2, 0, 3, 1, 4])
          .unbind(0),
        scores = q.matmul(k.transpose(-2, -1)),
        // Long ones look at what is near, as a branch by size that a few sizes do not tell.
        kept = n > 6 ? scores.tril(0).triu(-3) : scores;
      const rest = n % 3 === 0 ? x.slice?.(1, 0, n) : x;
      return F.softmax(kept, -1)
        .matmul(v)
        .transpose(1, 2)
        .reshape([b, n, c])
        .add(rest ?? x);
    };
    const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((n) => [
        [2, n, 8],
        [1, n, 8],
      ]),
      found = await turns(t, own, sizes, (shape, n) => [made(t, shape, n)]);
    // Each of the kinds of programs that there are is recorded twice once; most sizes once.
    t.equal([found.programs, found.eager], [20, 0]);
    ok(found.recordings <= 26, `${found.recordings} recordings`);
    t.equal(found.runs, found.recordings);
  },

  "gradients come back through each size": async (t) => {
    const model = network(t.torch).to(t.device),
      f = t.torch.compile((x) => model(x));
    for (let n = 0; n < 4; n++)
      for (const b of [4, 4, 7, 2, 9]) {
        const x = made(t, [b, 6], n, { requires_grad: true }),
          y = made(t, [b, 6], n, { requires_grad: true });
        const all = [x, ...model.parameters()];
        const got = t.torch.autograd.grad(f(x).square().sum(), all),
          wanted = t.torch.autograd.grad(model(y).square().sum(), [y, ...model.parameters()]);
        for (let i = 0; i < all.length; i++)
          t.close(await got[i].tolist(), await wanted[i].tolist(), { rtol: 1e-4, atol: 1e-5 });
      }
    const { recordings, programs } = t.torch.compiler.counts(f);
    t.equal([recordings, programs], [5, 4]);
  },

  "training in batches, the last of which is smaller": async (t) => {
    const { torch } = t,
      courses = [];
    for (const compiled of [false, true]) {
      torch.manual_seed(3);
      const model = network(torch).to(t.device),
        optimizer = new torch.optim.Adam(model.parameters(), { lr: 0.01 });
      const own = async (x, y) => {
        optimizer.zero_grad();
        const loss = torch.nn.functional.mse_loss(torch.nn.functional.dropout(model(x), 0.2), y);
        loss.backward();
        await optimizer.step();
        return loss;
      };
      const step = compiled ? torch.compile(own, { fullgraph: true }) : own,
        course = [];
      for (let epoch = 0; epoch < 4; epoch++)
        for (const b of [8, 8, 8, 5])
          course.push(await (await step(made(t, [b, 6], epoch * 40 + b), made(t, [b, 3], epoch))).item());
      for (const p of model.parameters()) course.push(...(await p.detach().flatten().tolist()));
      courses.push(course);
      if (compiled) {
        const { recordings, programs } = torch.compiler.counts(step);
        // The first step makes the optimizer's state.
        t.equal([recordings, programs], [4, 2]);
      }
    }
    t.close(courses[1], courses[0], { rtol: 2e-4, atol: 1e-6 });
  },

  "numbers that follow from sizes, and numbers that follow from nothing": async (t) => {
    const scaled = await turns(
      t,
      (x) => x.mul(1 / x.shape[0]).sum(),
      [2, 3, 4, 5],
      (b, n) => [made(t, [b], n)],
    );
    // Whether a number belongs to the size, a second call of that size says.
    t.equal([scaled.recordings, scaled.programs, scaled.eager], [8, 4, 0]);
    const said = await warned(async () => {
      let scale = 1,
        calls = 0;
      const f = t.torch.compile((x) => x.mul((scale *= 2)).add(x.shape[0] > 2 ? ++calls : 0));
      let wanted = 0;
      for (let n = 0; n < 24; n++) {
        const b = 1 + (n % 4);
        if (b > 2) wanted++;
        const got = await f(t.torch.ones([b], { device: t.device })).tolist();
        t.equal(got, Array(b).fill(2 ** (n + 1) + (b > 2 ? wanted : 0)));
      }
      t.equal(t.torch.compiler.counts(f).replays, 0);
    });
    t.equal(said.length, 1);
    // Where a slice begins is no size of an argument.
    let at = 0;
    const g = t.torch.compile((x) => x.narrow(0, at++ % 2, 2).mul(3));
    for (let n = 0; n < 20; n++) {
      const x = made(t, [4 + (n % 5)], n),
        [a, b] = (await x.tolist()).slice(n % 2);
      t.close(await g(x).tolist(), [3 * a, 3 * b]);
    }
  },

  "plain arguments beside sizes are guards as ever": async (t) => {
    const own = (x, { by }) => x.mul(by).cumsum(0),
      sizes = [2, 5].flatMap((b) => [1, 2].map((by) => [b, by])),
      found = await turns(t, own, sizes, ([b, by], n) => [made(t, [b], n), { by }]);
    t.equal([found.programs, found.eager], [4, 0]);
  },

  "a module whose mode changes between sizes": async (t) => {
    const { nn } = t.torch,
      pair = [0, 1].map(() => {
        t.torch.manual_seed(5);
        return nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4)).to(t.device);
      }),
      f = t.torch.compile(pair[0]);
    for (let n = 0; n < 6; n++)
      for (const b of [4, 6, 3]) {
        for (const model of pair) model.train((n + b) % 4 !== 0);
        const x = made(t, [b, 6], n);
        t.close(await f(x).tolist(), await pair[1](x).tolist(), { rtol: 1e-4, atol: 1e-5 });
        t.close(await pair[0].at(1).running_mean.tolist(), await pair[1].at(1).running_mean.tolist());
      }
  },

  "dynamic: false keeps to eight programs, automatic gives up where no size comes again, true does not": async (t) => {
    const own = (x) => x.mul(2).add(1).sum(),
      args = (b, n) => [made(t, [b], n)],
      numbers = (n) => Array.from({ length: n }, (_, k) => k + 1);
    const none = await warned(async () => {
      const each = numbers(12).flatMap((n) => [n, n, n]),
        few = await turns(t, own, each, args, { dynamic: false, rounds: 1 });
      t.equal([few.programs, few.recordings, few.replays, few.eager], [8, 18, 8, 10]);
    });
    ok(none.length === 1 && /there are 8 programs/.test(none[0]), none.join());
    const gave = await warned(async () => {
      const once = await turns(t, own, numbers(70), args, { rounds: 1 });
      t.equal([once.replays, once.eager], [0, 5]);
      t.torch.compiler.reset(); // and it begins anew
      for (const n of numbers(70)) await once.f(...args(n, 1));
      t.equal(t.torch.compiler.counts(once.f).eager, 5);
    });
    ok(gave.length === 2 && gave.every((said) => /64 calls in a row had other sizes/.test(said)), gave.join());
    const quiet = await warned(async () => {
      const all = await turns(t, own, [...numbers(70), 70, 70, 69, 68, 1], args, { rounds: 1, dynamic: true });
      // One is confirmed and with it all others that are kept still; what came first is forgotten.
      t.equal([all.eager, all.recordings, all.replays], [0, 72, 3]);
    });
    t.equal(quiet, []);
    await t.throws(() => t.torch.compile(own, { dynamic: "yes" }), /argument 'dynamic' must be true or false/);
  },

  "programs of all sizes take turns in the same memory": async (t) => {
    const own = (x) => {
      const a = x.cumsum(0),
        b = a.cumsum(1);
      return b.cumsum(0).sum();
    };
    const f = t.torch.compile(own),
      blocks = () =>
        t.torch.compiler
          .explain(f)
          .match(/block \d+, (\d+) bytes/g)
          .map((text) => Number(/, (\d+)/.exec(text)[1])),
      held = () =>
        t.torch
          .memory()
          [t.device].origins.filter(({ op }) => op === "compiled")
          .reduce((sum, { bytes }) => sum + bytes, 0),
      before = held();
    for (let round = 0; round < 3; round++) for (let n = 1; n <= 40; n++) await f(made(t, [8 * n, 16], round)).item();
    const all = blocks(),
      largest = Math.max(...all),
      apart = all.reduce((a, b) => a + b, 0);
    const took = held() - before;
    ok(apart > 12 * largest, `${apart} bytes for all, ${largest} for one`);
    ok(took < 12 * largest, `${took} bytes more, where the largest block has ${largest} of ${apart}`);
  },

  "warmup makes programs of other sizes, too": async (t) => {
    const model = network(t.torch).to(t.device),
      f = t.torch.compile((x) => t.torch.no_grad(() => model(x)));
    for (const b of [2, 3, 5]) await f.warmup(t.torch.empty([b, 6], { device: t.device }));
    for (const b of [2, 3, 5]) {
      const x = made(t, [b, 6], b);
      t.close(await f(x).tolist(), await t.torch.no_grad(() => model(x)).tolist(), { rtol: 1e-4, atol: 1e-5 });
    }
    t.equal(Object.values(t.torch.compiler.counts(f)), [0, 3, 3, 0]);
  },

  "random programs, whose code asks for sizes, for sizes in turn": async (t) => {
    const grown = (shapes, by) => shapes.map((shape) => shape.map((n) => (n > 2 ? n + by : n)));
    let replays = 0;
    const count = t.device === "cpu" ? 120 : 8;
    for (let seed = 0; seed < count; seed++) {
      const message = await wrong(t, seed, {
        turns: [0, 0, 1, 2, 1, 3, 2, 0, 3, 1],
        grown,
        counted: (counts) => void (replays += counts.replays),
        fullgraph: false,
      });
      if (message !== null) throw new Error(`program ${seed}: ${message}`);
    }
    ok(replays > 3 * count, `${replays} replays`);
  },
};
