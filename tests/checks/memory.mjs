// When memory goes, and what torch.memory() says of what stays.  Ops that no other check uses tell this file's buffers
// from garbage.
export default {
  "dispose frees at once, with the last view": async (t) => {
    const held = holding(t, "sinc"),
      x = t.torch.sinc(t.torch.ones([64, 64], { device: t.device })),
      rows = x.view(4096);
    const [bytes, buffers] = held();
    t.equal([bytes >= 4 * 4096, buffers], [true, 1]);
    x.dispose();
    t.equal(held(), [bytes, buffers]);
    rows.dispose();
    t.equal(held(), [0, 0]);
    await t.throws(() => x.add(1), /disposed/);
  },
  "tidy frees all but its answer, of an async function when its promise settles": async (t) => {
    const held = holding(t, "erfc"),
      one = () => t.torch.erfc(t.torch.ones([64], { device: t.device }));
    const kept = t.torch.tidy(() => ({ answer: [one(), one()], number: [one(), one(), one()].length }));
    t.equal(held()[1], 2);
    kept.answer.forEach((x) => x.dispose());
    const sum = await t.torch.tidy(async () => {
      const [a, b] = [one(), one()];
      await a.data();
      return a.add(b);
    });
    t.equal(held()[1], 0);
    t.close((await sum.data())[0], 0.3145984, { rtol: 1e-4 });
    await t.throws(
      () =>
        t.torch.tidy(() => {
          one();
          throw new Error("meant");
        }),
      /meant/,
    );
    t.equal(held()[1], 0);
  },
  "what a graph has saved stays until the way back, or the end of its tidy scope": async (t) => {
    const held = holding(t, "expm1"),
      w = t.torch.ones([64], { device: t.device, requires_grad: true });
    const loss = t.torch.tidy(() => t.torch.expm1(w).mul(w).sum());
    t.equal(held()[1], 1);
    loss.backward();
    t.equal(held()[1], 0);
    t.close((await w.grad.data())[0], 2 * Math.E - 1, { rtol: 1e-4 });
  },
  "a loop that keeps what it should not is found by op and line": async (t) => {
    const { nn } = t.torch,
      net = nn.Linear(16, 8).to(t.device),
      x = t.torch.ones([4, 16], { device: t.device }),
      one = t.tensor(1),
      losses = [];
    const step = () => t.torch.logaddexp(net(x).sum(), one);
    t.torch.record_memory_history();
    try {
      for (let i = 0; i < 50; i++) {
        const loss = step();
        loss.backward();
        losses.push(loss); // meant: await loss.item()
      }
    } finally {
      t.torch.record_memory_history(false);
    }
    const { bytes, buffers, origins } = t.torch.memory()[t.device],
      [found, ...others] = origins.filter(({ op }) => op === "logaddexp");
    t.equal(
      [others.length, found.buffers, found.bytes >= 200, buffers > 50, bytes > found.bytes],
      [0, 50, true, true, true],
    );
    t.equal(/^step memory\.mjs:\d+ < .*memory\.mjs:\d+/.test(found.where), true);
    t.equal(/ 50 +logaddexp +step memory\.mjs:\d+ </.test(t.torch.memory_summary(100)), true);
    const heads = t.torch
      .memory_summary(0)
      .split("\n")
      .filter((line) => line.startsWith(`${t.device}: `));
    t.equal(
      heads.map((line) => line.replace(/[\d.]+ ([KM]i)?B/g, "SIZE")),
      [`${t.device}: SIZE in ${buffers} buffers${t.device === "cpu" ? "" : ", SIZE of the device"}`],
    );
    losses.forEach((loss) => loss.dispose());
    t.equal(holding(t, "logaddexp")(), [0, 0]);
  },
  "a result alone holds its memory: what was made on the way to it holds none": async (t) => {
    const { torch } = t,
      on = { device: t.device },
      x = torch.rand([4, 4], on),
      y = torch.rand([4, 4], on),
      z = torch.complex(x, y),
      w = z.clone(),
      calls = {
        rand: () => torch.rand([4], on),
        randn: () => torch.randn([4], { ...on, dtype: "complex64" }),
        full: () => torch.full([4], torch.complex(1, 2), on),
        cat: () => torch.cat([x, y], 1),
        stack: () => torch.stack([x, y]),
        roll: () => x.roll(1, 0),
        pad: () => torch.constant_pad_nd(x, [1, 2]),
        scatter: () => torch.select_scatter(x, y.select(0, 0), 0, 1),
        einsum: () => torch.einsum("ij,jk->ik", x, y),
        complex: () => torch.complex(x, y),
        polar: () => torch.polar(x, y),
        clone: () => z.clone(),
        join: () => torch.cat([z, w]),
        add: () => z.add(x),
        mul: () => z.mul(w),
        "mul by a number": () => z.mul(torch.complex(0, 1)),
        exp: () => z.exp(),
        abs: () => z.abs(),
        sum: () => z.sum(0),
        matmul: () => z.matmul(w),
        conj: () => z.conj_physical(),
        fft: () => torch.fft.fft(z),
        rfft: () => torch.fft.rfft(x),
        irfftn: () => torch.fft.irfftn(z),
        "in place": () => z.clone().mul_(w),
      };
    for (const [name, call] of Object.entries(calls)) {
      call().dispose(); // numbers are kept for all calls
      const before = torch.memory()[t.device].buffers;
      call().dispose();
      t.equal([name, torch.memory()[t.device].buffers], [name, before]);
    }
    const [a, b] = [z.detach().requires_grad_(), x.detach().requires_grad_()];
    torch
      .stack([a.mul(w).exp(), torch.complex(b, y)])
      .abs()
      .sum()
      .backward();
    t.equal([a.grad.dtype, b.grad.dtype], ["complex64", "float32"]);
  },
  "gradients have an origin of their own": async (t) => {
    const held = holding(t, "sinc backward"),
      x = t.torch.ones([64], { device: t.device, requires_grad: true });
    t.torch.sinc(x).sum().backward();
    t.equal(held()[1], 1);
    x.grad.dispose();
    t.equal(held()[1], 0);
  },
};

/** [bytes, buffers] that `op` made and that are held now. */
const holding = (t, op) => () => {
  const found = t.torch.memory()[t.device].origins.filter((origin) => origin.op === op);
  return [found.reduce((sum, { bytes }) => sum + bytes, 0), found.reduce((sum, { buffers }) => sum + buffers, 0)];
};
