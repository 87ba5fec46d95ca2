// Differential equations in networks: gradients by the adjoint equation, and paths that data control.
import * as torch from "../../dist/in-node/index.js";
import { filled, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional;

const flattened = (tensors) => torch.cat(tensors.map((x) => x.contiguous().view(-1)));

/** torchdiffeq's fixed steps by the 3/8 rule. */
function solve(func, y0, t) {
  const solution = torch.empty(t.length, ...y0.shape, { dtype: y0.dtype, device: y0.device });
  solution.set([0], y0);
  let y = y0;
  const times = [...t];
  for (let j = 0; j + 1 < times.length; j++) {
    const [t0, t1] = [times[j], times[j + 1]],
      dt = t1.sub(t0);
    const k1 = func(t0, y),
      k2 = func(t0.add(dt.div(3)), y.add(dt.mul(k1).div(3))),
      k3 = func(t0.add(dt.mul(2).div(3)), y.add(dt.mul(k2.sub(k1.div(3))))),
      k4 = func(t1, y.add(dt.mul(k1.sub(k2).add(k3))));
    y = y.add(k1.add(k2.add(k3).mul(3)).add(k4).mul(dt).mul(0.125));
    solution.set([j + 1], y);
  }
  return solution;
}

class Adjoint extends torch.autograd.Function {
  static forward(ctx, func, y0, t, ...params) {
    ctx.func = func;
    return torch.no_grad(() => {
      const solution = solve(func, y0, t);
      ctx.save_for_backward(t, solution, ...params);
      return solution;
    });
  }

  static backward(ctx, grad_y) {
    const [t, y, ...params] = ctx.saved_tensors;
    let augmented = [torch.zeros([]), y.index(-1), grad_y.index(-1), ...params.map((p) => torch.zeros_like(p))];
    const shapes = augmented.map((x) => x.shape),
      sizes = augmented.map((x) => x.numel());
    const apart = (flat) => torch.split(flat, sizes).map((x, i) => x.view(shapes[i]));

    const dynamics = (t, flat) => {
      const [, y0, adj_y] = apart(flat);
      return torch.enable_grad(() => {
        const inputs = [t.detach().requires_grad_(true), y0.detach().requires_grad_(true), ...params],
          f = ctx.func(inputs[0], inputs[1]);
        const slopes = torch.autograd
          .grad(f, inputs, adj_y.neg(), { allow_unused: true, retain_graph: true })
          .map((g, i) => g ?? torch.zeros_like(inputs[i]));
        return flattened([slopes[0], f, ...slopes.slice(1)]).detach();
      });
    };

    const by_time = ctx.needs_input_grad[2] ? torch.empty(t.length) : null;
    for (let i = t.length - 1; i > 0; i--) {
      if (by_time !== null) {
        by_time.set([i], ctx.func(t.index(i), y.index(i)).reshape(-1).dot(grad_y.index(i).reshape(-1)));
        augmented[0].sub_(by_time.index(i));
      }
      augmented = apart(solve(dynamics, flattened(augmented), t.index(`${i - 1}:${i + 1}`).flip(0)).index(1));
      augmented[1] = y.index(i - 1);
      augmented[2] = augmented[2].add(grad_y.index(i - 1));
    }
    if (by_time !== null) by_time.set([0], augmented[0]);
    return [null, augmented[2], by_time, ...augmented.slice(3)];
  }
}

class Dynamics extends nn.Module {
  constructor() {
    super();
    this.net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2));
    this.unused = nn.Parameter(torch.ones(2));
    this.y0 = nn.Parameter(torch.zeros(3, 2));
    this.t = nn.Parameter(torch.zeros(4));
  }

  forward(t, y) {
    return this.net(torch.cat([y.pow(3), t.expand(y.shape[0], 1)], 1));
  }
}

export function adjoint() {
  const model = filled(new Dynamics());
  model.net[-1] = filled(nn.Linear(6, 2));
  torch.no_grad(() => model.t.copy_(torch.tensor([0, 0.2, 0.5, 0.6])));
  const optimizer = optim.Adam(model.parameters(), { lr: 0.05 });
  const odeint_adjoint = Adjoint.apply,
    wanted = numbers([3, 3, 2], 60);

  const step = async () => {
    optimizer.zero_grad();
    const y = odeint_adjoint(model, model.y0, model.t, ...model.parameters());
    const loss = F.smooth_l1_loss(y.index("1:"), wanted);
    loss.backward();
    await optimizer.step();
    return [loss, y];
  };
  return [model, step];
}

/** What is missing is what was there last. */
function filled_forward(x) {
  const places = torch
    .isnan(x)
    .logical_not()
    .mul(torch.arange(1, x.size(-2) + 1).unsqueeze(-1));
  const last = places.cummax({ dim: -2 }).values.sub(1);
  const found = torch.gather(torch.nan_to_num(x), -2, last.clamp({ min: 0 }));
  return torch.where(last.lt(0), torch.zeros([]), found);
}

function hermite(x, t) {
  const dx = torch.diff(x, { dim: -2 }).div(torch.diff(t).index(":", null)),
    d = torch.cat([dx.index("...", ":1", ":"), dx], -2);
  const a = x.index("...", ":-1", ":"),
    b = d.index("...", ":-1", ":"),
    rise = d.index("...", "1:", ":").sub(b);
  const two_c = dx.sub(b).mul(3).sub(rise).mul(2);
  return torch.cat([a, b, two_c, rise.sub(two_c)], { dim: -1 });
}

class Controlled extends nn.Module {
  constructor(t) {
    super();
    this.register_buffer("t", t, { persistent: false });
    [this.initial, this.readout] = [nn.Linear(3, 4), nn.Linear(4, 1)];
    [this.first, this.second] = [nn.Linear(4, 6), nn.Linear(6, 4 * 3)];
  }

  field(z) {
    return this.second(this.first(z).relu())
      .tanh()
      .view(...z.shape.slice(0, -1), 4, 3);
  }

  forward(coeffs) {
    const [a, b, two_c, three_d] = coeffs.chunk(4, { dim: -1 });
    let z = this.initial(a.index(":", 0));
    for (const t of torch.linspace(0.01, 0.95, 6)) {
      const i = torch
        .bucketize(t, this.t)
        .sub(1)
        .clamp(0, this.t.length - 2);
      const part = t.sub(this.t.index(i)),
        at = (x) => x.index("...", i, ":");
      const slope = at(b).add(at(two_c).add(at(three_d).mul(part)).mul(part));
      z = z.add(this.field(z).matmul(slope.unsqueeze(-1)).squeeze(-1).mul(0.19));
    }
    return this.readout(z).squeeze(-1);
  }
}

export function controlled() {
  const x = numbers([4, 6, 3]),
    t = torch.linspace(0, 1, 6);
  x.set([0, 2, 1], NaN);
  x.set([1, "4:", 0], NaN);
  x.set([1, 0, 2], NaN);
  const coeffs = hermite(filled_forward(x), t),
    model = filled(new Controlled(t));
  const optimizer = optim.SGD(model.parameters(), { lr: 0.5, momentum: 0.9, nesterov: true });

  const step = async () => {
    optimizer.zero_grad({ set_to_none: false });
    const out = model(coeffs);
    const loss = F.binary_cross_entropy_with_logits(out, torch.tensor([1, 0, 0, 1]));
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), 0.3, { norm_type: "inf" });
    await optimizer.step();
    return [loss, out];
  };
  return [model, step];
}
