// Densities and hidden states: flows, Gaussian processes, Markov models, filters; inference.py in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim, distributions: D } = torch,
  F = nn.functional;

class Coupling extends nn.Module {
  constructor(dim, hidden, mask) {
    super();
    this.register_buffer("mask", mask);
    this.scale = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, dim), nn.Tanh());
    this.shift = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU({ negative_slope: 0.2 }), nn.Linear(hidden, dim));
  }
  forward(x) {
    const kept = x.mul(this.mask),
      others = torch.rsub(this.mask, 1),
      s = this.scale(kept).mul(others),
      t = this.shift(kept).mul(others);
    return [others.mul(x.sub(t)).mul(torch.exp(s.neg())).add(kept), s.neg().sum({ dim: -1 })];
  }
}

class RealNVP extends nn.Module {
  constructor({ dim = 4, hidden = 8, layers = 4 } = {}) {
    super();
    const masks = Array.from({ length: layers }, (_, i) =>
      torch.arange(dim).add(i).remainder(2).to(torch.get_default_dtype()),
    );
    this.layers = nn.ModuleList(masks.map((m) => new Coupling(dim, hidden, m)));
    this.register_buffer("loc", torch.zeros(dim));
  }
  log_prob(x) {
    let total = x.new_zeros(x.shape[0]),
      logdet;
    for (const layer of [...this.layers].reverse()) {
      [x, logdet] = layer(x);
      total = total.add(logdet);
    }
    const base = D.Independent(D.Normal(this.loc, torch.ones_like(this.loc)), 1);
    return base.log_prob(x).add(total);
  }
}

/** RealNVP's couplings, by their likelihood. */
export function flow() {
  const model = filled(new RealNVP());
  const optimizer = optim.AdamW(model.parameters(), { lr: 5e-3, betas: [0.9, 0.99], weight_decay: 1e-4 });
  const x = numbers([16, 4], 7).mul(2);
  async function step() {
    optimizer.zero_grad({ set_to_none: true });
    const loss = model.log_prob(x).mean().neg();
    loss.backward();
    nn.utils.clip_grad_norm_(model.parameters(), { max_norm: 5.0 });
    await optimizer.step();
    return [loss, model.log_prob(x)];
  }
  return [model, step];
}

class GP extends nn.Module {
  constructor() {
    super();
    this.raw_scale = nn.Parameter(torch.tensor(0.3));
    this.raw_length = nn.Parameter(torch.zeros(2));
    this.raw_noise = nn.Parameter(torch.tensor(-2.0));
  }
  kernel(a, b) {
    const length = F.softplus(this.raw_length);
    return F.softplus(this.raw_scale).mul(torch.exp(torch.cdist(a.div(length), b.div(length)).square().mul(-0.5)));
  }
  factor(x) {
    return torch.linalg.cholesky(this.kernel(x, x).add(F.softplus(this.raw_noise).mul(torch.eye(x.size(0)))));
  }
  posterior(x, y, at) {
    const L = this.factor(x),
      alpha = torch.cholesky_solve(y.unsqueeze(-1), L),
      k = this.kernel(x, at),
      v = torch.linalg.solve_triangular(L, k, { upper: false });
    return [k.mT.matmul(alpha).squeeze(-1), this.kernel(at, at).diagonal().sub(v.pow(2).sum(0))];
  }
}

/** Regression by the marginal likelihood. */
export function gaussian_process() {
  const model = new GP();
  const x = numbers([10, 2], 2),
    at = numbers([5, 2], 90);
  const y = torch.sin(x.index(":", 0).mul(3)).add(x.index(":", 1).mul(0.5));
  const optimizer = optim.Adam(model.parameters(), { lr: 0.05 });
  async function step() {
    optimizer.zero_grad();
    const L = model.factor(x);
    const loss = D.MultivariateNormal(torch.zeros_like(y), { scale_tril: L }).log_prob(y).neg().div(y.numel());
    loss.backward();
    await optimizer.step();
    const [mean, variance] = torch.no_grad(() => model.posterior(x, y, at));
    return [loss, torch.stack([mean, variance], { dim: -1 })];
  }
  return [model, step];
}

class HMM extends nn.Module {
  constructor({ states = 3, symbols = 5 } = {}) {
    super();
    this.start = nn.Parameter(numbers([states], 1));
    this.transition = nn.Parameter(numbers([states, states], 5));
    this.emission = nn.Parameter(numbers([states, symbols], 20));
  }
  logs() {
    return [this.start.log_softmax(0), this.transition.log_softmax(-1), F.log_softmax(this.emission, { dim: 1 })];
  }
  forward(x, lengths) {
    const [start, transition, emission] = this.logs();
    const seen = (t) => emission.index(":", x.index(":", t)).t();
    let alpha = start.add(seen(0));
    const every = [alpha];
    for (let t = 1; t < x.size(1); t++) {
      alpha = torch.logsumexp(alpha.unsqueeze(2).add(transition), { dim: 1 }).add(seen(t));
      every.push(alpha);
    }
    const sums = torch.stack(every, 1).logsumexp(2);
    return sums.gather(1, lengths.sub(1).view(-1, 1)).squeeze(1);
  }
  viterbi(x) {
    return torch.no_grad(() => {
      const [start, transition, emission] = this.logs(),
        back = [];
      const seen = (t) => emission.index(":", x.index(":", t)).t();
      let delta = start.add(seen(0));
      for (let t = 1; t < x.size(1); t++) {
        const [best, where] = delta.index(":", ":", null).add(transition.index(null)).max({ dim: 1 });
        back.push(where);
        delta = best.add(seen(t));
      }
      const path = [delta.argmax(-1)];
      for (const where of back.toReversed()) path.unshift(where.gather(1, path[0].unsqueeze(1)).squeeze(1));
      return torch.stack(path, { dim: 1 });
    });
  }
}

/** The forward algorithm and Viterbi's path. */
export function hidden_markov() {
  const model = new HMM();
  const x = integers(5, [4, 7], 3),
    lengths = torch.tensor([7, 5, 6, 3], { dtype: torch.long });
  const optimizer = optim.SGD(model.parameters(), { lr: 0.5, momentum: 0.9, nesterov: true });
  async function step() {
    optimizer.zero_grad();
    const loss = model(x, lengths).div(lengths).mean().neg();
    loss.backward();
    await optimizer.step();
    return [loss, model.viterbi(x).to(torch.get_default_dtype())];
  }
  return [model, step];
}

class Kalman extends nn.Module {
  constructor({ state = 3, seen = 2 } = {}) {
    super();
    const near = numbers([state, state], 4).mul(0.2);
    this.A = nn.Parameter(torch.eye(state).mul(0.8).add(near));
    this.C = nn.Parameter(numbers([seen, state], 40));
    this.log_q = nn.Parameter(torch.full([state], -1.0));
    this.log_r = nn.Parameter(torch.full([seen], -0.5));
  }
  forward(y) {
    const { A, C } = this,
      n = A.shape[0],
      m = C.shape[0];
    const Q = torch.diag(this.log_q.exp()),
      R = torch.diag_embed(this.log_r.exp());
    let x = torch.zeros(y.shape[1], n),
      P = torch.eye(n),
      nll = 0.0;
    const means = [];
    for (const seen of y) {
      [x, P] = [x.matmul(A.T), A.matmul(P).matmul(A.T).add(Q)];
      const S = C.matmul(P).matmul(C.T).add(R),
        gap = seen.sub(x.matmul(C.T)),
        K = torch.linalg.solve(S, C.matmul(P)).mT,
        [, logdet] = torch.linalg.slogdet(S),
        far = torch.einsum("bi,ij,bj->b", gap, torch.linalg.inv(S), gap);
      nll = far
        .add(logdet)
        .add(m * Math.log(2 * Math.PI))
        .mul(0.5)
        .mean()
        .add(nll);
      [x, P] = [x.add(gap.matmul(K.T)), torch.eye(n).sub(K.matmul(C)).matmul(P)];
      means.push(x);
    }
    return [nll.div(y.shape[0]), torch.stack(means)];
  }
}

/** A filter that learns its system, which is to be stable: no eigenvalue beyond 0.5. */
export function kalman() {
  const model = new Kalman();
  const y = torch.cumsum(numbers([6, 4, 2], 11).mul(0.3), { dim: 0 });
  const optimizer = optim.Adagrad(model.parameters(), { lr: 0.05 });
  async function step() {
    optimizer.zero_grad();
    const [nll, means] = model(y);
    const radius = torch.linalg.eigvals(model.A.float()).abs().max().to(nll.dtype);
    const loss = nll.add(F.relu(radius.sub(0.5)));
    loss.backward();
    await optimizer.step();
    return [loss, means];
  }
  return [model, step];
}

class Sine extends nn.Module {
  constructor(i, o, w0 = 3.0) {
    super();
    this.w0 = w0;
    this.linear = nn.Linear(i, o);
  }
  forward(x) {
    return torch.sin(this.linear(x).mul(this.w0));
  }
}

/** Poisson's equation by a network of sines: its Laplacian is what is fitted. */
export function siren() {
  const model = filled(nn.Sequential(new Sine(2, 12), new Sine(12, 12), nn.Linear(12, 1)));
  const optimizer = optim.Adam(model.parameters(), { lr: 1e-3, amsgrad: true });
  const scheduler = optim.lr_scheduler.OneCycleLR(optimizer, { max_lr: 1e-2, total_steps: 10 });
  const xy = numbers([10, 2], 8).requires_grad_(true);

  function laplacian(y, x) {
    const [grad] = torch.autograd.grad(y, x, { grad_outputs: torch.ones_like(y), create_graph: true });
    const rows = Array.from({ length: x.shape.at(-1) }, (_, i) => {
      const [second] = torch.autograd.grad(grad.index("...", i).sum(), x, { create_graph: true });
      return second.index("...", i);
    });
    return torch.stack(rows, { dim: -1 }).sum(-1, { keepdim: true });
  }
  async function step() {
    optimizer.zero_grad();
    const source = torch.prod(torch.sin(xy.detach().mul(Math.PI)), { dim: -1, keepdim: true }).mul(-2 * Math.PI ** 2);
    const found = laplacian(model(xy), xy);
    const loss = F.smooth_l1_loss(found, source, { beta: 0.5 });
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, found];
  }
  return [model, step];
}

/** Two views, a predictor, and a target that follows slowly. */
export function byol() {
  const mlp = (i, h, o) =>
    nn.Sequential(nn.Linear(i, h, { bias: false }), nn.BatchNorm1d(h), nn.ReLU({ inplace: true }), nn.Linear(h, o));
  const online = filled(nn.ModuleDict({ encoder: mlp(6, 12, 8), predictor: mlp(8, 10, 8) }));
  const target = online.encoder.deepcopy().requires_grad_(false);
  const optimizer = optim.SGD(
    [{ params: online.encoder.parameters() }, { params: online.predictor.parameters(), lr: 0.2 }],
    0.1,
  );
  const x = numbers([8, 6], 3);
  const one = x.add(numbers([8, 6], 60).mul(0.1)),
    two = torch.flip(x, [0]).mul(0).add(x.mul(0.9));
  const regression = (a, b) => F.cosine_similarity(a, b.detach(), { dim: -1 }).mul(-2).add(2);

  async function step() {
    const [p, q] = [one, two].map((v) => online.get("predictor")(online.get("encoder")(v)));
    const [s, t] = torch.no_grad(() => [target(one), target(two)]);
    const loss = regression(p, t).add(regression(q, s)).mean();
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    torch.no_grad(() => {
      const its = [...online.encoder.parameters()];
      for (const [i, mine] of [...target.parameters()].entries()) mine.data.mul_(0.9).add_(its[i].data, { alpha: 0.1 });
    });
    return [loss, F.normalize(target(x), { p: 2, dim: 1 })];
  }
  return [online, step];
}

class Experts extends nn.Module {
  constructor({ dim = 6, experts = 4, k = 2 } = {}) {
    super();
    this.k = k;
    this.gate = nn.Linear(dim, experts, { bias: false });
    this.experts = nn.ModuleList(
      Array.from({ length: experts }, () =>
        nn.Sequential(nn.Linear(dim, 8), nn.GELU({ approximate: "tanh" }), nn.Linear(8, dim)),
      ),
    );
  }
  async forward(x) {
    const [b, t, d] = x.shape,
      flat = x.view(-1, d),
      probs = this.gate(flat).softmax({ dim: -1 });
    let [weights, chosen] = torch.topk(probs, this.k, { dim: -1, sorted: true });
    weights = weights.div(weights.sum(-1, { keepdim: true }));
    const out = torch.zeros_like(flat);
    const mask = F.one_hot(chosen, { num_classes: this.experts.length }).permute(2, 1, 0);
    for (const [e, expert] of [...this.experts].entries()) {
      const [slot, token] = await torch.where(mask.index(e).gt(0));
      out.index_add_(0, token, expert(flat.index(token)).mul(weights.index(token, slot, null)));
    }
    const load = mask
      .to(probs.dtype)
      .sum({ dim: [1, 2] })
      .div(flat.shape[0]);
    return [out.reshape(b, t, d), load.mul(probs.mean(0)).sum().mul(this.experts.length)];
  }
}

/** A mixture of experts: tokens go to the best two, and the load is balanced. */
export function experts() {
  const model = filled(new Experts());
  const optimizer = optim.NAdam(model.parameters(), { lr: 1e-2 });
  const x = numbers([2, 5, 6], 13),
    y = numbers([2, 5, 6], 200);
  async function step() {
    optimizer.zero_grad();
    const [out, balance] = await model(x);
    const loss = F.huber_loss(out, y, { delta: 0.7 }).add(balance.mul(0.01));
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}

class GAT extends nn.Module {
  constructor(i, o, heads) {
    super();
    this.heads = heads;
    this.o = o;
    this.lin = nn.Linear(i, heads * o, { bias: false });
    this.att = nn.Parameter(numbers([2, 1, heads, o], 17).mul(0.3));
  }
  forward(x, edges) {
    const [src, dst] = edges,
      n = x.size(0),
      h = this.lin(x).view(n, this.heads, this.o);
    const [left, right] = [0, 1].map((i) => h.mul(this.att.index(i)).sum(-1));
    const e = F.leaky_relu(left.index_select(0, src).add(right.index_select(0, dst)), 0.2),
      where = dst.unsqueeze(-1).expand_as(e);
    const top = torch
      .full([n, this.heads], -Infinity)
      .scatter_reduce(0, where, e.detach(), { reduce: "amax", include_self: false });
    const w = e.sub(top.index(dst)).exp(),
      total = torch.zeros(n, this.heads).scatter_add(0, where, w),
      alpha = w.div(total.index(dst).clamp({ min: 1e-16 }));
    return torch
      .zeros_like(h)
      .index_add(0, dst, alpha.unsqueeze(-1).mul(h.index(src)))
      .flatten({ start_dim: 1 });
  }
}

class Graph extends nn.Module {
  constructor() {
    super();
    this.one = new GAT(5, 4, 2);
    this.two = new GAT(8, 3, 1);
  }
  forward(x, edges) {
    x = F.elu(this.one(F.dropout(x, { p: 0.6, training: false }), edges));
    return this.two(x, edges).log_softmax({ dim: -1 });
  }
}

/** Attention over the edges of a graph, half of whose labels are known. */
export function attention_of_graphs() {
  const model = filled(new Graph());
  const x = numbers([9, 5], 21),
    labels = integers(3, [9], 70),
    loops = torch.arange(9);
  const edges = torch.stack([torch.cat([integers(9, [20], 31), loops]), torch.cat([integers(9, [20], 77), loops])]);
  const known = torch.tensor([true, false, true, false, true, false, true, false, true]);
  const optimizer = optim.Adam(model.parameters(), { lr: 0.02, weight_decay: 5e-4 });
  async function step() {
    optimizer.zero_grad();
    const out = model(x, edges);
    const loss = F.nll_loss(await out.index(known), await labels.index(known), {
      weight: torch.tensor([1.0, 0.5, 2.0]),
    });
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [model, step];
}
