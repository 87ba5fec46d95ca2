// Random trainings, compiled, equal themselves step for step while somebody freezes parameters, changes options, loads
// states, sets hooks or swaps layers between two steps: what a captured program stands for, it must notice.

import { made, ok } from "./compile.mjs";

const WIDTH = 4,
  STEPS = 22;

/** Numbers that are the same for a seed: a real one below 1, an element of a list, whether something happens. */
function generator(seed) {
  let state = Math.imul(seed, 2654435761);
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < 4; i++) next();
  return { next, pick: (list) => list[Math.floor(next() * list.length)], chance: (share) => next() < share };
}

/** Layers from [N, WIDTH] to [N, WIDTH]: with states, draws, views, weights used twice or computed. */
function layersOf({ torch }) {
  const { nn } = torch,
    F = nn.functional;
  class Residual extends nn.Module {
    constructor(inner) {
      super();
      this.inner = inner;
      this.scale = nn.Parameter(torch.ones([1]));
    }
    forward(x) {
      return x.add(this.inner(x).mul(this.scale));
    }
  }
  class Tied extends nn.Module {
    constructor() {
      super();
      this.first = nn.Linear(WIDTH, WIDTH);
      this.second = nn.Linear(WIDTH, WIDTH, { bias: false });
      this.second.weight = this.first.weight;
    }
    forward(x) {
      return this.second(F.gelu(this.first(x)));
    }
  }
  class Centred extends nn.Module {
    constructor() {
      super();
      this.register_buffer("mean", torch.zeros([WIDTH]));
    }
    forward(x) {
      if (this.training) torch.no_grad(() => this.mean.mul_(0.9).add_(x.detach().mean(0), { alpha: 0.1 }));
      return x.sub(this.mean);
    }
  }
  class Attending extends nn.Module {
    constructor() {
      super();
      this.attention = nn.MultiheadAttention(WIDTH, 2, { batch_first: true });
    }
    forward(x) {
      const tokens = x.unsqueeze(0);
      return this.attention(tokens, tokens, tokens)[0].add(tokens).squeeze(0);
    }
  }
  class Recurrent extends nn.Module {
    constructor(kind) {
      super();
      this.layer = nn[kind](WIDTH, WIDTH, { batch_first: true });
    }
    forward(x) {
      return this.layer(x.unsqueeze(1).expand(-1, 3, -1))[0].select(1, 2);
    }
  }
  class Embedded extends nn.Module {
    constructor() {
      super();
      this.table = nn.Embedding(8, WIDTH);
    }
    forward(x) {
      return x.add(this.table(x.detach().sum(1).abs().floor().to(torch.int64).clamp(0, 7)));
    }
  }
  const { parametrizations } = nn.utils,
    linear = () => nn.Linear(WIDTH, WIDTH);
  return [
    linear,
    () => nn.Tanh(),
    () => nn.PReLU(),
    () => nn.Dropout(0.3),
    () => nn.LayerNorm(WIDTH),
    () => nn.GroupNorm(2, WIDTH),
    () => nn.BatchNorm1d(WIDTH),
    () => nn.BatchNorm1d(WIDTH, { momentum: null }),
    () => parametrizations.weight_norm(linear()),
    () => parametrizations.spectral_norm(linear()),
    () => new Residual(nn.Sequential(linear(), nn.SiLU(), nn.Dropout(0.2), linear())),
    () => new Tied(),
    () => new Centred(),
    () => new Attending(),
    () => new Recurrent("LSTM"),
    () => new Recurrent("GRU"),
    () => new Embedded(),
  ];
}

const OPTIMIZERS = [
    ["SGD", { lr: 0.05 }],
    ["SGD", { lr: 0.05, momentum: 0.9, nesterov: true }],
    ["Adam", { lr: 0.01, amsgrad: true }],
    ["AdamW", { lr: 0.01 }],
    ["RMSprop", { lr: 0.01, momentum: 0.5, centered: true }],
    ["Adagrad", { lr: 0.05, lr_decay: 0.1 }],
    ["NAdam", { lr: 0.01 }],
    ["RAdam", { lr: 0.01 }],
    ["Adamax", { lr: 0.01 }],
    ["ASGD", { lr: 0.05 }],
    ["Rprop", { lr: 0.01 }],
    ["Adafactor", { lr: 0.01 }],
  ],
  SCHEDULERS = [
    null,
    (S, o) => S.ExponentialLR(o, 0.9),
    (S, o) => S.CosineAnnealingLR(o, 10),
    (S, o) => S.LambdaLR(o, (n) => 1 / (n + 1)),
    (S, o) => S.OneCycleLR(o, 0.05, { total_steps: 60, cycle_momentum: false }),
  ];

/** A model and its training step, the same for a seed. */
function trainingOf(t, seed) {
  const { torch } = t,
    { nn, optim } = torch,
    { pick, chance } = generator(seed),
    layers = layersOf(t);
  torch.manual_seed(seed);
  const net = nn.Sequential(...Array.from({ length: pick([1, 2, 3]) }, () => pick(layers)()), nn.Linear(WIDTH, 3));
  if (t.device !== "cpu") net.to(t.device);
  const [name, options] = pick(OPTIMIZERS),
    opt = new optim[name](net.parameters(), options),
    scheduler = pick(SCHEDULERS)?.(optim.lr_scheduler, opt) ?? null,
    clip = pick([null, "norm", "value"]),
    steps = pick([1, 1, 2]), // whose gradients add up
    lowered = chance(0.2),
    answer = pick([(loss) => loss, (loss) => loss.detach()]);
  const forward = (x, y, scale) => nn.functional.mse_loss(net(x), y).mul(scale);
  function step(x, y, last, scale) {
    const loss = lowered
      ? torch.autocast(t.device, { dtype: torch.bfloat16 }, () => forward(x, y, scale))
      : forward(x, y, scale);
    loss.backward();
    if (last) {
      if (clip === "norm") nn.utils.clip_grad_norm_(net.parameters(), 0.5);
      if (clip === "value") nn.utils.clip_grad_value_(net.parameters(), 0.1);
      opt.step();
      opt.zero_grad();
      scheduler?.step();
    }
    return answer(loss);
  }
  return { net, opt, step, steps, scale: 1, hooks: [], states: [], scheduled: scheduler !== null };
}

/** What may happen between two steps, given a generator. */
const EVENTS = {
  "to evaluation": ({ net }) => void net.eval(),
  "to training": ({ net }) => void net.train(),
  "another rate": ({ opt }, { pick }) => void (opt.param_groups[0].lr = pick([0.1, 0.01, 0.001])),
  "other options": ({ opt: { param_groups } }, { pick }) => {
    for (const group of param_groups) {
      if (group.betas) group.betas = [0.5, 0.9];
      if (group.weight_decay !== undefined) group.weight_decay = pick([0, 0.05]);
      if (group.nesterov !== undefined && group.momentum) group.nesterov = pick([true, false]);
    }
  },
  freeze: ({ net }, { pick }) => void pick([...net.parameters()]).requires_grad_(false),
  thaw: ({ net }) => {
    for (const p of net.parameters()) p.requires_grad_(true);
  },
  "weights changed in place": ({ net }, { pick }, { torch }) =>
    torch.no_grad(() => void pick([...net.parameters()]).mul_(0.9)),
  "weights in other memory": ({ net }, { pick }) => {
    const p = pick([...net.parameters()]);
    p.data = p.detach().mul(0.95);
  },
  "a gradient set": ({ net }, { pick }, { torch }) => {
    const p = pick([...net.parameters()]);
    if (p.requires_grad) p.grad = torch.full_like(p, 0.01);
  },
  "gradients gone": ({ opt }) => void opt.zero_grad(),
  "states kept": (training) => {
    const copies = Object.entries(training.net.state_dict()).map(([name, x]) => [name, x.clone()]);
    training.states.push(Object.fromEntries(copies));
  },
  "states loaded": ({ net, states }) => {
    if (states.length) net.load_state_dict(states.pop());
  },
  "a hook on a gradient": ({ net, hooks }, { pick }) => {
    const p = pick([...net.parameters()]);
    if (p.requires_grad) hooks.push(p.register_hook((gradient) => gradient.mul(0.5)));
  },
  "a hook on a layer": ({ net, hooks }) => void hooks.push(net[0].register_forward_hook((_, __, out) => out.mul(0.9))),
  "a hook gone": ({ hooks }) => void hooks.pop()?.remove(),
  "another layer": ({ net, opt, scheduled }, _, { torch }) => {
    if (scheduled) return; // it would know no first rate of the new group
    const last = net.length - 1,
      layer = torch.nn.Linear(WIDTH, 3, { device: net[last].weight.device });
    layer.load_state_dict(net[last].state_dict());
    net[last] = layer;
    opt.add_param_group({ params: layer.parameters() });
  },
  "another dropout": ({ net }, { pick }) => {
    for (const module of net.modules()) if (module.constructor.name === "Dropout") module.p = pick([0, 0.1, 0.5]);
  },
  "another argument": (training, { next }) => void (training.scale = next()),
};

async function numbersOf(x, path, found) {
  if (typeof x === "number") found.push([path, [x]]);
  else if (x?.storage) found.push([path, [...(await x.detach().float().data())]]);
  else if (x && typeof x === "object")
    for (const key of Object.keys(x)) await numbersOf(x[key], `${path}.${key}`, found);
  return found;
}
async function stateOf({ net, opt }) {
  const found = [];
  for (const [name, p] of net.named_parameters())
    found.push(...(await numbersOf(p, name, [])), ...(await numbersOf(p.grad ?? NaN, `${name}.grad`, [])));
  for (const [name, b] of net.named_buffers()) await numbersOf(b, name, found);
  return numbersOf(opt.state_dict(), "optimizer", found);
}

/** The first number of two states that differ; null if none does.  What a step adds up in another order may round. */
function unlike(got, wanted) {
  for (const [i, [path, numbers]] of wanted.entries()) {
    const [other, values] = got[i] ?? [];
    if (other !== path || values.length !== numbers.length) return `${other} for ${path}`;
    const size = Math.max(1e-3, ...numbers.map(Math.abs).filter(Number.isFinite));
    for (const [k, number] of numbers.entries())
      if (!Object.is(number, values[k]) && !(Math.abs(number - values[k]) <= 2e-3 * size))
        return `${path}[${k}] is ${values[k]} compiled, ${number} as it is`;
  }
  return got.length === wanted.length ? null : `${got.length} numbers and ${wanted.length}`;
}

/** How many steps of a training were replayed; throws where one differs. */
async function compared(t, seed) {
  const { torch } = t,
    plain = trainingOf(t, seed),
    own = trainingOf(t, seed),
    step = torch.compile(own.step),
    { chance, pick } = generator(seed + 7919),
    happened = [];
  for (let n = 0; n < STEPS; n++) {
    if (n > 3 && chance(0.35)) {
      const name = pick(Object.keys(EVENTS));
      happened.push(`${name} before step ${n}`);
      for (const training of [plain, own]) {
        torch.manual_seed(n);
        EVENTS[name](training, generator(31 * seed + n), t);
      }
    }
    const rows = chance(0.1) ? pick([3, 6]) : 5,
      batch = [made(t, [rows, WIDTH], n), made(t, [rows, 3], n + 50), n % plain.steps === plain.steps - 1];
    torch.manual_seed(n);
    const wanted = plain.step(...batch, plain.scale);
    torch.manual_seed(n);
    const got = step(...batch, own.scale),
      states = [
        [...(await numbersOf(got, "result", [])), ...(await stateOf(own))],
        [...(await numbersOf(wanted, "result", [])), ...(await stateOf(plain))],
      ],
      other = unlike(...states);
    if (other) throw new Error(`training ${seed}, step ${n}: ${other}; ${happened.join(", ") || "nothing"} happened`);
  }
  return torch.compiler.counts(step).replays;
}

export default {
  "random trainings to which something happens": async (t) => {
    const { warn } = console;
    console.warn = () => {}; // that some of them run as they are
    try {
      const [most, least] = t.device === "cpu" ? [24, 120] : [3, 10];
      let replays = 0;
      for (let seed = 1; seed <= most; seed++) replays += await compared(t, seed);
      ok(replays >= least, `${replays} replays`);
    } finally {
      console.warn = warn;
    }
  },
};
