// torch.optim and the clipping of gradients, against PyTorch's answers and by what a program does with them.
import recorded from "../recorded/optim.mjs";

const number = (k) => ((k * 7919 + 104729) % 1009) / 504.5 - 1;

const SHAPES = [[2, 3], [3], []],
  MATRICES = [
    [2, 3],
    [3, 2],
  ];

const TOLERANCE = { rtol: 2e-5, atol: 2e-5 };

function made(t, shape, first) {
  const n = shape.reduce((a, b) => a * b, 1);
  return t.tensor(
    Float32Array.from({ length: n }, (_, j) => number(first + j)),
    { shape },
  );
}

const parameters = (t, shapes = SHAPES) => shapes.map((shape, i) => t.torch.nn.Parameter(made(t, shape, 100 * i)));

const flat = async (tensors) => (await Promise.all(tensors.map((x) => x.data()))).flatMap((x) => [...x]);

async function trajectory(t, name, options) {
  const shapes = name === "Muon" ? MATRICES : SHAPES,
    params = parameters(t, shapes),
    targets = shapes.map((s, i) => made(t, s, 1000 + 100 * i));
  const optimizer = new t.torch.optim[name](params, options),
    out = [];
  const closure = () => {
    optimizer.zero_grad();
    const loss = params.map((p, i) => p.sub(targets[i]).pow(2).mul(p.mul(p).add(1)).sum()).reduce((a, b) => a.add(b));
    loss.backward();
    return loss;
  };
  // Each of LBFGS's steps is a search of many launches, which take a software GPU long.
  const steps = name === "LBFGS" && t.device === "webgpu" ? 2 : 10;
  for (let n = 0; n < steps; n++) {
    params.forEach((p, i) => {
      p.grad = made(t, p.shape, 2000 + 300 * n + 100 * i);
    });
    await (name === "LBFGS" ? optimizer.step(closure) : optimizer.step());
    if (n === 0 || n === 1 || n === 9) out.push(await flat(params));
  }
  return out;
}

const trajectories = Object.fromEntries(
  [...new Set(recorded.optimizers.map(([name]) => name))].map((name) => [
    `${name} moves parameters as PyTorch's does, with every option`,
    async (t) => {
      for (const [, options, wanted] of recorded.optimizers.filter(([other]) => other === name)) {
        const got = await trajectory(t, name, options);
        got.forEach((row, i) => t.close(row, wanted[i], TOLERANCE));
      }
    },
  ]),
);

export default {
  ...trajectories,

  "every optimizer that was recorded, and no other, is in the recording": async (t) => {
    const known = Object.keys(t.torch.optim)
      .filter((key) => /^[A-Z]/.test(key) && key !== "Optimizer")
      .sort();
    t.equal([...new Set(recorded.optimizers.map(([name]) => name))].sort(), known);
  },
  "ASGD keeps the last values until t0, and averages from then on": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([0])),
      optimizer = new t.torch.optim.ASGD([p], { lr: 0.1, lambd: 0, alpha: 0, t0: 2 }),
      found = [];
    for (let n = 0; n < 6; n++) {
      p.grad = t.tensor([1]);
      optimizer.step();
      found.push(await optimizer.state.get(p).ax.item());
    }
    t.close(found, [-0.1, -0.2, -0.3, -0.4, -0.45, -0.5], TOLERANCE);
  },
  "a parameter that is twice in a group is warned of, one of two groups refused": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([0])),
      said = [],
      { warn } = console;
    console.warn = (text) => said.push(text);
    try {
      new t.torch.optim.SGD([p, t.torch.nn.Parameter(t.tensor([0]))], { lr: 1 });
      t.equal(said, []);
      new t.torch.optim.SGD([p, p], { lr: 1 });
    } finally {
      console.warn = warn;
    }
    t.equal([said.length, /duplicate parameters/.test(said[0])], [1, true]);
    await t.throws(() => new t.torch.optim.SGD([{ params: [p] }, { params: [p] }], { lr: 1 }), /more than one/);
  },
  "gradients are clipped by their norm as PyTorch does": async (t) => {
    for (const [order, most, total, wanted] of recorded.clipped) {
      const params = parameters(t),
        norm_type = order.endsWith("inf") ? Number(order.replace("inf", "Infinity")) : Number(order);
      params.forEach((p, i) => {
        p.grad = made(t, p.shape, 500 + 100 * i);
      });
      const norm = t.torch.nn.utils.clip_grad_norm_(params, most, { norm_type });
      t.close(await norm.item(), total, TOLERANCE);
      t.close(await flat(params.map((p) => p.grad)), wanted, TOLERANCE);
    }
  },
  "gradients are clipped by value; a norm can be asked for, and refused": async (t) => {
    const { utils } = t.torch.nn,
      p = t.torch.nn.Parameter(t.tensor([1, 2, 3])),
      q = t.torch.nn.Parameter(t.tensor([1]));
    p.grad = t.tensor([-3, 0.5, 4]);
    t.close(await utils.get_total_norm([p.grad, t.tensor([12])]).item(), Math.sqrt(9 + 0.25 + 16 + 144));
    utils.clip_grad_value_([p, q], 1);
    t.equal([await p.grad.tolist(), q.grad], [[-1, 0.5, 1], null]);
    p.grad = t.tensor([Infinity, 0, 0]);
    await t.throws(
      () => utils.clip_grad_norm_([p, q], 1, { error_if_nonfinite: true }),
      /The total norm of order 2.0 for gradients from `parameters` is non-finite/,
    );
    await t.throws(() => utils.clip_grad_norm_(p, 1, "inf", true), /The total norm of order inf for gradients/);
    t.equal(await utils.get_total_norm([t.tensor([3, -4]), t.tensor([2])], "inf").item(), 4);
    t.equal(await utils.clip_grad_norm_([q], 1).item(), 0);
  },
  "parameters become a vector, through which gradients flow, and come back": async (t) => {
    const { utils } = t.torch.nn,
      params = parameters(t),
      vector = utils.parameters_to_vector(params);
    t.close(await vector.tolist(), await flat(params));
    vector
      .mul(t.torch.arange(10, { device: t.device }).float())
      .sum()
      .backward();
    t.equal(await flat(params.map((p) => p.grad)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    utils.vector_to_parameters(t.torch.arange(10, { device: t.device }).float(), params);
    t.equal(await flat(params), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await t.throws(() => utils.vector_to_parameters(t.tensor([1, 2]), params), /the vector has 2 elements/);
  },

  "groups have options of their own; what is not given is the optimizer's": async (t) => {
    const { nn, optim } = t.torch,
      a = nn.Parameter(t.tensor([1])),
      b = nn.Parameter(t.tensor([1])),
      c = nn.Parameter(t.tensor([1]));
    const optimizer = new optim.SGD([{ params: [a] }, { params: b, lr: 10 }], { lr: 0.5 });
    optimizer.add_param_group({ params: [c], lr: 0 });
    for (const p of [a, b, c]) p.grad = t.tensor([1]);
    await optimizer.step();
    t.equal([await a.item(), await b.item(), await c.item()], [0.5, -9, 1]);
    t.equal([optimizer.defaults.lr, optimizer.param_groups.map((g) => g.lr)], [0.5, [0.5, 10, 0]]);
    optimizer.zero_grad(false);
    t.equal([await a.grad.item(), (optimizer.zero_grad(), a.grad)], [0, null]);
    const named = optim.Adam([
      ["x", a],
      ["y", b],
    ]);
    t.equal([named.param_groups[0].param_names, named.param_groups[0].params.length], [["x", "y"], 2]);
  },
  "a parameter without a gradient waits, and then begins at its own first step": async (t) => {
    const { nn, optim } = t.torch,
      late = nn.Parameter(t.tensor([1])),
      alone = nn.Parameter(t.tensor([1])),
      other = nn.Parameter(t.tensor([5]));
    const both = optim.Adam([late, other], { lr: 0.1 }),
      single = optim.Adam([alone], { lr: 0.1 });
    for (let i = 0; i < 3; i++) {
      other.grad = t.tensor([1]);
      await both.step();
    }
    t.equal(await late.item(), 1);
    for (const g of [0.5, -2]) {
      for (const p of [late, alone, other]) p.grad = t.tensor([g]);
      await both.step();
      await single.step();
    }
    t.close(await late.item(), await alone.item(), { rtol: 1e-6, atol: 0 });
  },
  "a state taken and loaded goes on as if nothing had happened": async (t) => {
    const { optim } = t.torch,
      all = {
        SGD: { momentum: 0.9 },
        Adam: { amsgrad: true },
        NAdam: {},
        ASGD: { t0: 1, lambd: 0.1 },
        Adafactor: {},
        Rprop: {},
        Adagrad: {},
      };
    const grads = (params, n) =>
      params.forEach((p, i) => {
        p.grad = made(t, p.shape, 2000 + 300 * n + 100 * i);
      });
    for (const [name, options] of Object.entries(all)) {
      const through = parameters(t),
        first = parameters(t),
        one = optim[name](through, options),
        before = optim[name](first, options);
      for (let n = 0; n < 3; n++)
        for (const [params, o] of [
          [through, one],
          [first, before],
        ]) {
          grads(params, n);
          await o.step();
        }
      const state = before.state_dict();
      t.equal(
        [Object.keys(state.state), state.param_groups[0].params],
        [
          ["0", "1", "2"],
          [0, 1, 2],
        ],
      );
      const again = optim[name](first, { lr: 123 });
      await again.load_state_dict(state);
      for (let n = 3; n < 6; n++)
        for (const [params, o] of [
          [through, one],
          [first, again],
        ]) {
          grads(params, n);
          await o.step();
        }
      t.close(await flat(first), await flat(through), { rtol: 1e-6, atol: 1e-7 });
    }
  },
  "PyTorch's own state loads: steps and momenta as tensors or arrays": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([1, 2])),
      optimizer = t.torch.optim.Adam([p]);
    await optimizer.load_state_dict({
      state: {
        0: {
          step: t.torch.tensor(4, { device: "cpu", dtype: t.torch.float32 }),
          exp_avg: t.torch.tensor([1, 2], { device: "cpu", dtype: t.torch.float32 }),
          exp_avg_sq: Float32Array.of(3, 4),
        },
      },
      param_groups: [
        {
          lr: 0.5,
          betas: [0.9, 0.99],
          eps: 1e-8,
          weight_decay: 0,
          amsgrad: false,
          maximize: false,
          foreach: null,
          params: [0],
        },
      ],
    });
    const state = optimizer.state.get(p);
    t.equal(
      [state.step, await state.exp_avg.tolist(), await state.exp_avg_sq.tolist(), optimizer.param_groups[0].lr],
      [4, [1, 2], [3, 4], 0.5],
    );
    t.equal(state.exp_avg.device, t.device);
    const matrix = t.torch.nn.Parameter(t.tensor([[1, 2, 3]])),
      factored = t.torch.optim.Adafactor([matrix]);
    matrix.grad = t.torch.ones([1, 3], { device: t.device });
    factored.step();
    const saved = factored.state_dict(),
      { step, row_var, col_var } = saved.state[0],
      arrays = { step, row_var: await row_var.data(), col_var: await col_var.data() };
    await factored.load_state_dict({ ...saved, state: { 0: arrays } });
    const { row_var: rows, col_var: columns } = factored.state.get(matrix);
    t.equal([rows.shape, columns.shape], [row_var.shape, col_var.shape]); // not the parameter's
    await t.throws(
      () => optimizer.load_state_dict({ state: {}, param_groups: [] }),
      /loaded state dict has a different number of parameter groups/,
    );
    await t.throws(
      () => optimizer.load_state_dict({ state: {}, param_groups: [{ params: [0, 1] }] }),
      /doesn't match the size of optimizer's group/,
    );
  },
  "a learning rate may be a tensor; schedulers keep it one": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([1])),
      lr = t.tensor(0.5),
      optimizer = t.torch.optim.SGD([p], { lr });
    p.grad = t.tensor([1]);
    await optimizer.step();
    t.equal(await p.item(), 0.5);
    const other = t.torch.tensor(0.5, { device: "cpu" }),
      slow = t.torch.optim.SGD([p], { lr: other }),
      scheduler = t.torch.optim.lr_scheduler.ExponentialLR(slow, { gamma: 0.5 });
    await slow.step();
    scheduler.step();
    t.equal([await other.item(), scheduler.get_last_lr()], [0.25, [0.25]]);
  },
  "options by position, by name, in camelCase; what PyTorch chooses kernels by has no effect": async (t) => {
    const { nn, optim } = t.torch,
      p = () => [nn.Parameter(t.tensor([1]))];
    t.equal(
      [
        optim.SGD(p(), 0.25).defaults.lr,
        optim.SGD(p(), 0.25, 0.5).defaults.momentum,
        optim.Adam(p(), { weightDecay: 0.5 }).defaults.weight_decay,
      ],
      [0.25, 0.5, 0.5],
    );
    t.equal(optim.Adam(p(), { foreach: true, fused: false }).defaults.lr, 0.001);
    t.equal(
      String(optim.Rprop(p())),
      "Rprop (\nParameter Group 0\n    capturable: False\n    differentiable: False\n    etas: (0.5, 1.2)\n    foreach: None\n    lr: 0.01\n    maximize: False\n    step_sizes: (1e-06, 50)\n)",
    );
    t.equal([optim.Adam(p()) instanceof optim.Adam, new optim.Adam(p()) instanceof optim.Optimizer], [true, true]);
  },
  "hooks are called around each step, and a closure's loss is answered": async (t) => {
    const p = t.torch.nn.Parameter(t.tensor([1])),
      optimizer = t.torch.optim.SGD([p], { lr: 1 }),
      seen = [];
    const hook = optimizer.register_step_pre_hook(() => {
      seen.push("before");
    });
    optimizer.register_step_post_hook((o) => {
      seen.push(o === optimizer);
    });
    const loss = await optimizer.step(() => {
      optimizer.zero_grad();
      const value = p.mul(3).sum();
      value.backward();
      return value;
    });
    hook.remove();
    await optimizer.step();
    t.equal([await loss.item(), await p.item(), seen], [3, -5, ["before", true, true]]);
  },
  "wrong options and parameters are refused in PyTorch's words": async (t) => {
    const { nn, optim } = t.torch,
      p = nn.Parameter(t.tensor([1])),
      q = nn.Parameter(t.tensor([1]));
    const cases = [
      [() => optim.SGD(p), /params argument given to the optimizer should be an iterable of Tensors or dicts/],
      [() => optim.SGD([]), /optimizer got an empty parameter list/],
      [() => optim.SGD([3]), /optimizer can only optimize Tensors/],
      [() => optim.SGD([p.mul(2)]), /can't optimize a non-leaf Tensor/],
      [() => optim.SGD([{ params: [p] }, { params: [p] }]), /some parameters appear in more than one parameter group/],
      [() => optim.SGD([["a", p], q]), /Some param names are missing/],
      [
        () => optim.SGD([{ params: [["a", p]] }, { params: [q] }]),
        /cannot add param group without names to the optimizer/,
      ],
      [() => optim.SGD([p], { rate: 1 }), /SGD.__init__\(\): got an unexpected keyword argument 'rate'/],
      [() => optim.SGD([p], { lr: -1 }), /Invalid learning rate: -1/],
      [() => optim.SGD([p], { lr: t.tensor([1, 2]) }), /Tensor lr must be 1-element/],
      [() => optim.SGD([p], { momentum: -0.5 }), /Invalid momentum value: -0.5/],
      [() => optim.SGD([p], { nesterov: true }), /Nesterov momentum requires a momentum and zero dampening/],
      [() => optim.Adam([p], { betas: [1, 0] }), /Invalid beta parameter at index 0: 1/],
      [() => optim.Adamax([p], { betas: [0, 1] }), /Invalid beta parameter at index 1: 1/],
      [() => optim.AdamW([p], { weight_decay: -1 }), /Invalid weight_decay value: -1/],
      [() => optim.NAdam([p], { momentum_decay: -0.2 }), /Invalid momentum_decay value: -0.2/],
      [() => optim.Rprop([p], { etas: [1, 0.5] }), /Invalid eta values: 1, 0.5/],
      [() => optim.Adagrad([p], { lr_decay: -0.5 }), /Invalid lr_decay value: -0.5/],
      [() => optim.Adadelta([p], { rho: 1.1 }), /Invalid rho value: 1.1/],
      [() => optim.Adafactor([p], { d: 0 }), /Clipping threshold d should be >= 1 but is: 0/],
      [() => optim.Muon([p]), /Muon only supports 2D parameters whereas we found a parameter with size/],
      [
        () => optim.Muon([nn.Parameter(t.tensor([[1]]))], { adjust_lr_fn: "other" }),
        /Adjust learning rate function other is not supported/,
      ],
      [() => optim.LBFGS([{ params: [p] }, { params: [q] }]), /LBFGS doesn't support per-parameter options/],
      [() => optim.LBFGS([p]).step(), /missing 1 required positional argument: 'closure'/],
    ];
    for (const [call, words] of cases) await t.throws(call, words);
  },

  "defaults are PyTorch's": async (t) => {
    // What `torch.optim.X(params).defaults` says in PyTorch 2.13; what chooses its kernels is in optimizer-copies.mjs.
    const KERNELS = /^(params|maximize|foreach|capturable|differentiable|fused)$/,
      betas = [0.9, 0.999],
      wanted = {
        SGD: { lr: 1e-3, momentum: 0, dampening: 0, weight_decay: 0, nesterov: false },
        Adam: { lr: 1e-3, betas, eps: 1e-8, weight_decay: 0, amsgrad: false, decoupled_weight_decay: false },
        AdamW: { lr: 1e-3, betas, eps: 1e-8, weight_decay: 0.01, amsgrad: false, decoupled_weight_decay: true },
        Adamax: { lr: 2e-3, betas, eps: 1e-8, weight_decay: 0 },
        NAdam: { lr: 2e-3, betas, eps: 1e-8, weight_decay: 0, momentum_decay: 4e-3, decoupled_weight_decay: false },
        RAdam: { lr: 1e-3, betas, eps: 1e-8, weight_decay: 0, decoupled_weight_decay: false },
        ASGD: { lr: 0.01, lambd: 1e-4, alpha: 0.75, t0: 1e6, weight_decay: 0 },
        Rprop: { lr: 0.01, etas: [0.5, 1.2], step_sizes: [1e-6, 50] },
        RMSprop: { lr: 0.01, momentum: 0, alpha: 0.99, eps: 1e-8, centered: false, weight_decay: 0 },
        Adagrad: { lr: 0.01, lr_decay: 0, eps: 1e-10, weight_decay: 0, initial_accumulator_value: 0 },
        Adadelta: { lr: 1, rho: 0.9, eps: 1e-6, weight_decay: 0 },
        Adafactor: { lr: 0.01, beta2_decay: -0.8, eps: [null, 1e-3], d: 1, weight_decay: 0 },
        LBFGS: {
          ...{ lr: 1, max_iter: 20, max_eval: 25, tolerance_grad: 1e-7, tolerance_change: 1e-9, history_size: 100 },
          line_search_fn: null,
        },
        Muon: {
          ...{ lr: 1e-3, weight_decay: 0.1, momentum: 0.95, nesterov: true, ns_coefficients: [3.4445, -4.775, 2.0315] },
          ...{ eps: 1e-7, ns_steps: 5, adjust_lr_fn: null },
        },
      };
    for (const [name, defaults] of Object.entries(wanted)) {
      const [group] = t.torch.optim[name]([t.torch.nn.Parameter(t.tensor([[1]]))]).param_groups,
        own = Object.entries(group).filter(([key]) => !KERNELS.test(key));
      t.equal([name, ...own.sort().flat(2)], [name, ...Object.entries(defaults).sort().flat(2)]);
    }
  },
};
