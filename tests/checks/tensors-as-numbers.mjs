// Tensors without axes where a call takes a number: PyTorch reads them.  On a GPU nobody waits for one; the error says so.

/** Calls with one number `a`, of every way in which functions take their numbers. */
const CALLS = {
  "add alpha": ({ x }, a) => x.add(x, { alpha: a }),
  "sub alpha": ({ x, torch }, a) => torch.sub(x, x, { alpha: a }),
  "add_ alpha": ({ x }, a) => x.clone().add_(x, { alpha: a }),
  rsub: ({ x, torch }, a) => torch.rsub(x, x, { alpha: a }),
  addmm: ({ m, torch }, a) => torch.addmm(m, m, m, { alpha: a, beta: a }),
  addmv: ({ x, m, torch }, a) => torch.addmv(x, m, x, { alpha: a, beta: a }),
  addr: ({ x, m, torch }, a) => torch.addr(m, x, x, { alpha: a, beta: a }),
  addcmul: ({ x, torch }, a) => torch.addcmul(x, x, x, { value: a }),
  addcdiv_: ({ x }, a) => x.clone().addcdiv_(x, x, { value: a }),
  index_add: ({ x, i }, a) => x.index_add(0, i, x, { alpha: a }),
  "scatter value": ({ x, i }, a) => x.scatter(0, i, { value: a }),
  index_fill: ({ x, i }, a) => x.index_fill(0, i, a),
  threshold: ({ x, F }, a) => F.threshold(x, a, a),
  pad: ({ x, F }, a) => F.pad(x, [1, 1], "constant", a),
  leaky_relu: ({ x, F }, a) => F.leaky_relu(x.neg(), a),
  huber_loss: ({ x, F }, a) => F.huber_loss(x, x.neg(), { delta: a }),
  nan_to_num: ({ x, torch }, a) => torch.nan_to_num(x.log(), a),
  arange: ({ torch, device }, a) => torch.arange(a, { device }),
};
/** The same with a whole number. */
const WHOLE = {
  topk: ({ x }, a) => x.topk(a).values,
  "sum dim": ({ m }, a) => m.sum(a.sub?.(1) ?? a - 1),
  tril: ({ m }, a) => m.tril(a),
  eye: ({ torch, device }, a) => torch.eye(a, { device }),
  select: ({ x }, a) => x.select(0, a.sub?.(1) ?? a - 1),
  reshape: ({ m }, a) => m.reshape([a, 2]),
};

export default {
  "a tensor without axes is the number it holds": async (t) => {
    const { torch, device } = t,
      given = {
        torch,
        device,
        F: torch.nn.functional,
        x: t.tensor([1, 2]),
        m: t.tensor([
          [1, 2],
          [3, 4],
        ]),
        i: t.tensor([0, 1], { dtype: "int64" }),
      },
      on = (value, dtype) => torch.tensor(value, { dtype, device: "cpu" });
    for (const [name, call] of Object.entries(CALLS)) {
      const kinds = { float32: 1.5, float64: 1.5, int64: 2 };
      // A number beside the tensors, which index_fill takes for one of them, has its type on a GPU as well.
      if (device !== "cpu") delete kinds.float64;
      for (const [dtype, value] of Object.entries(kinds))
        t.equal([name, await call(given, on(value, dtype)).tolist()], [name, await call(given, value).tolist()]);
    }
    for (const [name, call] of Object.entries(WHOLE)) {
      t.equal([name, await call(given, on(2, "int64")).tolist()], [name, await call(given, 2).tolist()]);
      await t.throws(() => call(given, on(2, "float32")), /must be a whole number|whole numbers/);
    }
  },
  "one that has an axis, needs a gradient or lies on a GPU is refused": async ({ torch, tensor, device, throws }) => {
    const x = tensor([1, 2]),
      of = (value, options) => torch.tensor(value, { device: "cpu", ...options });
    await throws(() => x.add(x, { alpha: of([3]) }), /add: argument 'alpha' must be a number/);
    await throws(() => x.add(x, { alpha: of(3, { requires_grad: true }) }), /add: argument 'alpha' must be a number/);
    await throws(() => x.add(x, { alpha: of(true) }), /Boolean alpha only supported for Boolean results/);
    if (device === "cpu") return;
    await throws(() => x.add(x, { alpha: tensor(3) }), /argument 'alpha' is a tensor on webgpu.*await x.item\(\)/);
    await throws(() => torch.arange(tensor(3)), /argument 'end' is a tensor on webgpu/);
  },
  "a captured program reads the number anew": async ({ torch, tensor, equal }) => {
    const f = torch.compile((x, a) => x.add(x, { alpha: a })),
      { warn } = console;
    console.warn = () => undefined;
    try {
      for (const a of [1, 2, 3, 4])
        equal(await f(tensor([1, 2]), torch.tensor(a, { device: "cpu" })).tolist(), [1 + a, 2 + 2 * a]);
    } finally {
      console.warn = warn;
    }
  },
  "what takes tensors keeps them in captured programs": async ({ torch, tensor, equal }) => {
    // Of ops of one name the one for a tensor is meant, which a program holds without reading it.
    const f = torch.compile((x, a) => x.masked_fill(x.gt(1), a).clamp(a).pow(a));
    for (const a of [2, 3, 4, 5]) equal(await f(tensor([1, 2]), tensor(a)).tolist(), [a ** a, a ** a]);
    equal(/captured/.test(String(torch.compiler.explain(f))), true);
    equal(/a value is read/.test(String(torch.compiler.explain(f))), false);
  },
};
