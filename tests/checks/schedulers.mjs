// torch.optim.lr_scheduler against PyTorch's answers, and what it refuses.
import recorded from "../recorded/optim.mjs";

const number = (k) => ((k * 7919 + 104729) % 1009) / 504.5 - 1;

const LAMBDAS = { decay: (t) => 0.95 ** t, grow: (t) => 1 + t / 4 };

/** A scheduler, and its optimizer. */
function scheduled(t, name, options) {
  const { optim } = t.torch,
    optimizer = optim.SGD(
      [0.05, 0.3].map((lr) => ({ params: [t.torch.nn.Parameter(t.tensor([0]))], lr })),
      { lr: 0.1, momentum: 0.9 },
    );
  const make = (kind, { schedulers, milestones, lr_lambda, ...rest }) => {
    if (schedulers) {
      const parts = schedulers.map((one) => make(...one));
      return kind === "ChainedScheduler"
        ? optim.lr_scheduler.ChainedScheduler(parts)
        : optim.lr_scheduler.SequentialLR(optimizer, parts, milestones);
    }
    if (milestones) rest.milestones = milestones;
    if (lr_lambda) rest.lr_lambda = Array.isArray(lr_lambda) ? lr_lambda.map((f) => LAMBDAS[f]) : LAMBDAS[lr_lambda];
    return new optim.lr_scheduler[kind](optimizer, rest);
  };
  return [make(name, options), optimizer];
}

function course(t, name, options) {
  const momentum = name === "CyclicLR" || name === "OneCycleLR",
    [scheduler, optimizer] = scheduled(t, name, options),
    out = [];
  for (let n = 0; n < 20; n++) {
    out.push([
      ...optimizer.param_groups.map((g) => g.lr),
      ...(momentum ? optimizer.param_groups.map((g) => g.momentum) : []),
    ]);
    optimizer.step();
    scheduler.step(...(name === "ReduceLROnPlateau" ? [number(n) + 1] : []));
  }
  return out;
}

const courses = Object.fromEntries(
  [...new Set(recorded.schedulers.map(([name]) => name))].map((name) => [
    `${name} sets the rates that PyTorch's sets`,
    async (t) => {
      for (const [, options, wanted] of recorded.schedulers.filter(([other]) => other === name)) {
        course(t, name, options).forEach((row, i) => t.close(row, wanted[i], { rtol: 1e-6, atol: 1e-9 }));
      }
    },
  ]),
);

export default {
  "what is given as tensors are the numbers that they hold then": async ({ torch, close }) => {
    const scalar = (x) => torch.tensor(x, { device: "cpu" }),
      { lr_scheduler, swa_utils } = torch.optim;
    for (const [make, key] of [
      [(o, x) => lr_scheduler.CyclicLR(o, x, scalar(0.4), { base_momentum: scalar(0.8), max_momentum: scalar(0.9) })],
      [
        (o, x) => lr_scheduler.OneCycleLR(o, x, 10, { base_momentum: scalar(0.8), max_momentum: scalar(0.9) }),
        "max_lr",
      ],
      [(o, x) => swa_utils.SWALR(o, x), "swa_lr"],
      [(o, x) => swa_utils.SWALR(o, [x]), "swa_lr"],
    ]) {
      const sgd = () => torch.optim.SGD([torch.nn.Parameter(torch.zeros([1]))], { lr: 0.1, momentum: 0.9 }),
        x = scalar(0.2),
        [one, two] = [sgd(), sgd()],
        all = [make(one, x), make(two, 0.2)];
      x.mul_(5);
      for (const o of [one, two]) await o.step();
      for (const scheduler of all) scheduler.step();
      close(one.param_groups[0].lr, two.param_groups[0].lr);
      close(one.param_groups[0].momentum, two.param_groups[0].momentum);
      if (key) close(one.param_groups[0][key], 0.2);
    }
  },
  ...courses,
  "an epoch that is named has the rates that steps lead to": async (t) => {
    const closed = /^(Lambda|Step|MultiStep|Constant|Linear|Exponential|Polynomial|CosineAnnealing)LR$/,
      met = new Set();
    for (const [name, options, wanted] of recorded.schedulers.filter(([one]) => closed.test(one))) {
      const [scheduler, optimizer] = scheduled(t, name, options);
      optimizer.step();
      for (const epoch of [7, 0, 19, 3, 12, 1, 4, 5, 2, 10, 18, 9, 0]) {
        scheduler.step(epoch);
        t.close([name, epoch, scheduler.get_last_lr()], [name, epoch, wanted[epoch]], { rtol: 1e-6, atol: 1e-9 });
      }
      met.add(name);
    }
    t.equal(met.size, 8);
  },
  "the start of OneCycleLR's way down is a share of it": async (t) => {
    const optimizer = new t.torch.optim.SGD([t.torch.nn.Parameter(t.tensor([0]))], { lr: 1 });
    for (const pct_start of [-0.1, 1.1]) {
      await t.throws(
        () => new t.torch.optim.lr_scheduler.OneCycleLR(optimizer, { max_lr: 1, total_steps: 9, pct_start }),
        /Expected float between 0 and 1 pct_start/,
      );
    }
  },
  "wrong schedules are refused in PyTorch's words; a scheduler's state can be kept": async (t) => {
    const { nn, optim } = t.torch,
      { lr_scheduler: s } = optim,
      fresh = () => optim.SGD([nn.Parameter(t.tensor([1]))], { lr: 1, momentum: 0.9 }),
      o = fresh();
    const cases = [
      [() => s.StepLR({}, 1), /is not an Optimizer/],
      [() => s.StepLR(o), /missing required argument: 'step_size'/],
      [() => s.LambdaLR(o, [Math.sqrt, Math.sqrt]), /Expected 1 lr_lambdas, but got 2/],
      [() => s.ConstantLR(o, { factor: 2 }), /Constant multiplicative factor expected to be between 0 and 1/],
      [() => s.LinearLR(o, { start_factor: 0 }), /Starting multiplicative factor expected to be greater than 0/],
      [() => s.CosineAnnealingWarmRestarts(o, 0), /Expected positive integer T_0, but got 0/],
      [() => s.OneCycleLR(o, { max_lr: 1 }), /You must define either total_steps OR \(epochs AND steps_per_epoch\)/],
      [
        () => s.CyclicLR(optim.Rprop([nn.Parameter(t.tensor([1]))]), { base_lr: 0, max_lr: 1 }),
        /optimizer must support momentum or beta1/,
      ],
      [() => s.ReduceLROnPlateau(o, { factor: 1 }), /Factor should be < 1.0/],
      [
        () => s.SequentialLR(o, [s.ConstantLR(o)], [1]),
        /number of schedulers provided to be one more than the number of milestone points/,
      ],
      [
        () => s.ChainedScheduler([s.ConstantLR(fresh()), s.ConstantLR(fresh())]),
        /expects all schedulers to belong to the same optimizer/,
      ],
      [
        () => s.StepLR(fresh(), { step_size: 1, last_epoch: 3 }),
        /param 'initial_lr' is not specified in param_groups\[0\]/,
      ],
    ];
    for (const [call, words] of cases) await t.throws(call, words);
    t.equal(s.ChainedScheduler([s.ConstantLR(fresh(), { factor: 0.5 })]).get_last_lr(), [0.5]);
    const one = fresh(),
      first = s.StepLR(one, 2),
      other = fresh();
    for (let i = 0; i < 3; i++) {
      await one.step();
      first.step();
    }
    t.equal(
      JSON.stringify(first.state_dict()),
      JSON.stringify({ step_size: 2, gamma: 0.1, base_lrs: [1], last_epoch: 3, _step_count: 4, _last_lr: [0.1] }),
    );
    const second = s.StepLR(other, 5);
    second.load_state_dict(first.state_dict());
    other.load_state_dict(one.state_dict());
    for (const [scheduler, optimizer] of [
      [first, one],
      [second, other],
    ]) {
      await optimizer.step();
      scheduler.step();
    }
    t.close([one.param_groups[0].lr, other.param_groups[0].lr], [0.01, 0.01]);
  },
  "a scheduler of one's own says get_lr": async (t) => {
    const { nn, optim } = t.torch,
      o = optim.SGD([nn.Parameter(t.tensor([1]))], { lr: 8 });
    class Halving extends optim.lr_scheduler.LRScheduler {
      get_lr() {
        return this.base_lrs.map((lr) => lr / 2 ** this.last_epoch);
      }
    }
    const scheduler = new Halving(o),
      seen = [scheduler.get_last_lr()[0]];
    for (let i = 0; i < 2; i++) {
      await o.step();
      scheduler.step();
      seen.push(o.param_groups[0].lr);
    }
    t.equal(seen, [8, 4, 2]);
  },

  "a group of parameters that comes after the scheduler": async (t) => {
    const { SGD, lr_scheduler: S } = t.torch.optim,
      group = (lr) => ({ params: [t.torch.nn.Parameter(t.tensor([0]))], lr }),
      rates = async (make) => {
        const optimizer = SGD([group(1)], { lr: 1 }),
          scheduler = make(optimizer);
        optimizer.add_param_group(group(0.5));
        await optimizer.step();
        const before = optimizer.param_groups.map(({ lr }) => lr);
        try {
          scheduler.step();
        } catch (error) {
          t.equal(
            optimizer.param_groups.map(({ lr }) => lr),
            before,
          );
          throw error;
        }
        return optimizer.param_groups.map(({ lr }) => lr);
      };
    t.equal(await rates((o) => S.ExponentialLR(o, 0.5)), [0.5, 0.25]);
    t.equal(await rates((o) => S.StepLR(o, 1, 0.5)), [0.5, 0.25]);
    // Nobody knows the first rate that these need; a rate that is no number would train silently.
    for (const make of [
      (o) => S.LambdaLR(o, (n) => 0.5 ** n),
      (o) => S.MultiplicativeLR(o, () => 0.5),
      (o) => S.CosineAnnealingWarmRestarts(o, 3),
      (o) => S.CyclicLR(o, 0.1, 0.5, { cycle_momentum: false }),
      (o) => S.OneCycleLR(o, 1, { total_steps: 8, cycle_momentum: false }),
    ])
      await t.throws(() => rates(make), /param_groups\[1\] was added after this scheduler was made/);
  },
  "averages' rates anneal in one of two ways": async (t) => {
    const { SGD, swa_utils } = t.torch.optim,
      optimizer = SGD([t.torch.nn.Parameter(t.tensor([0]))], { lr: 1 });
    await t.throws(
      () => swa_utils.SWALR(optimizer, 0.1, { anneal_strategy: "steps" }),
      /anneal_strategy must by one of "cos" or "linear", instead got steps/,
    );
  },
  "schedulers made of others may be the first of several, and run as PyTorch's": async (t) => {
    const { SGD, lr_scheduler: S } = t.torch.optim,
      fades = (o) => S.ExponentialLR(o, 0.9),
      waits = (o, factor) => S.ConstantLR(o, factor, 2),
      both = (o) => S.ChainedScheduler([fades(o), waits(o, 0.5)], o),
      first = (o, ...schedulers) => S.SequentialLR(o, schedulers, [2]),
      halves = (o) => S.ExponentialLR(o, 0.5);
    for (const [make, wanted] of [
      [(o) => S.SequentialLR(o, [both(o), halves(o)], [3]), [0.45, 0.405, 0.729, 1, 0.5, 0.25]],
      [
        (o) => S.SequentialLR(o, [S.ChainedScheduler([fades(o)], o)], []),
        [0.9, 0.81, 0.729, 0.6561, 0.59049, 0.531441],
      ],
      [(o) => S.SequentialLR(o, [first(o, waits(o, 0.1), fades(o)), halves(o)], [4]), [0.1, 1, 0.9, 0.81, 1, 0.5]],
      [(o) => S.SequentialLR(o, [first(o, both(o), fades(o)), halves(o)], [4]), [0.45, 1, 0.9, 0.81, 1, 0.5]],
      [
        (o) =>
          S.SequentialLR(
            o,
            [
              S.ChainedScheduler([S.StepLR(o, 2, 0.1), S.LinearLR(o, 0.5, 1, 3), S.CosineAnnealingLR(o, 5)], o),
              halves(o),
            ],
            [5],
          ),
        [0.5527864, 0.6666667, 0.0603006, 0.0381966, 0.0010557, 1],
      ],
      [
        (o) => S.ChainedScheduler([S.SequentialLR(o, [waits(o, 0.1), fades(o)], [3]), halves(o)], o),
        [0.1, 0.05, 0.25, 0.5, 0.225, 0.10125],
      ],
      [(o) => S.ChainedScheduler([S.ChainedScheduler([fades(o)], o), halves(o)], o), [1, 0.45, 0.2025, 0.091125]],
    ]) {
      const optimizer = SGD([t.torch.nn.Parameter(t.tensor([0]))], { lr: 1 }),
        scheduler = make(optimizer);
      for (const rate of wanted) {
        t.close([optimizer.param_groups[0].lr, ...scheduler.get_last_lr()], [rate, rate], { rtol: 1e-4 });
        await optimizer.step();
        scheduler.step();
      }
    }
    const optimizer = SGD([t.torch.nn.Parameter(t.tensor([0]))], { lr: 1 }),
      scheduler = S.SequentialLR(optimizer, [halves(optimizer), both(optimizer)], [1]);
    await t.throws(() => scheduler.step(), /only the first may be made of others/);
  },
};
