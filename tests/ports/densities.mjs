// What is likely: densities.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim, distributions: D } = torch,
  F = nn.functional,
  { parametrizations, parametrize } = nn.utils;

function searchsorted(binLocations, inputs, eps = 1e-6) {
  binLocations = binLocations.clone();
  binLocations.index("...", -1).add_(eps);
  return torch.sum(inputs.index("...", null).ge(binLocations), { dim: -1 }).sub(1);
}

/** Neural spline flows' (nflows). */
function rationalQuadraticSpline(
  inputs,
  widths,
  heights,
  derivatives,
  { inverse = false, tail_bound = 2.0, min_size = 1e-3, min_slope = 1e-3 } = {},
) {
  const K = widths.shape.at(-1);
  const constant = Math.log(Math.exp(1 - min_slope) - 1);
  derivatives = F.softplus(F.pad(derivatives, { pad: [1, 1], value: constant })).add(min_slope);

  function knots(unnormalized) {
    const parts = F.softmax(unnormalized, { dim: -1 })
      .mul(1 - min_size * K)
      .add(min_size);
    let edges = F.pad(torch.cumsum(parts, { dim: -1 }), { pad: [1, 0], mode: "constant", value: 0.0 });
    edges = edges.mul(2 * tail_bound).sub(tail_bound);
    edges.set(["...", 0], -tail_bound);
    edges.set(["...", -1], tail_bound);
    return [edges, edges.index("...", "1:").sub(edges.index("...", ":-1"))];
  }
  const inside = inputs.ge(-tail_bound).logical_and(inputs.le(tail_bound));
  const [[cws, ws], [chs, hs]] = [knots(widths), knots(heights)];
  const x = inputs.clamp(-tail_bound, tail_bound);
  const i = searchsorted(inverse ? chs : cws, x).index("...", null);
  const pick = (t) => t.gather(-1, i).index("...", 0);
  const delta = pick(hs.div(ws));
  const [d0, d1] = [pick(derivatives), pick(derivatives.index("...", "1:"))];
  const [w, h, cw, ch] = [pick(ws), pick(hs), pick(cws), pick(chs)];
  const s = d0.add(d1).sub(delta.mul(2));
  let theta, out;
  if (inverse) {
    const up = x.sub(ch);
    const a = up.mul(s).add(h.mul(delta.sub(d0)));
    const b = h.mul(d0).sub(up.mul(s));
    const c = delta.neg().mul(up);
    theta = c.mul(2).div(b.neg().sub(torch.sqrt(b.pow(2).sub(a.mul(4).mul(c)))));
    out = theta.mul(w).add(cw);
  } else {
    theta = x.sub(cw).div(w);
    const rise = delta.mul(theta.pow(2)).add(d0.mul(theta).mul(theta.rsub(1)));
    out = ch.add(h.mul(rise).div(delta.add(s.mul(theta).mul(theta.rsub(1)))));
  }
  const both = theta.mul(theta.rsub(1));
  const slope = delta.pow(2).mul(
    d1
      .mul(theta.pow(2))
      .add(delta.mul(2).mul(both))
      .add(d0.mul(theta.rsub(1).pow(2))),
  );
  const logdet = torch.log(slope).sub(torch.log(delta.add(s.mul(both))).mul(2));
  const zero = torch.zeros_like(logdet);
  return [torch.where(inside, out, inputs), torch.where(inside, inverse ? logdet.neg() : logdet, zero)];
}

class SplineFlow extends nn.Module {
  constructor(dim = 4, bins = 5, layers = 2) {
    super();
    this.bins = bins;
    this.half = Math.floor(dim / 2);
    const net = () => nn.Sequential(nn.Linear(this.half, 8), nn.ELU(0.7), nn.Linear(8, this.half * (3 * bins - 1)));
    this.nets = nn.ModuleList(Array.from({ length: layers }, net));
    this.register_buffer("order", torch.tensor([2, 0, 3, 1], { dtype: torch.long }), { persistent: false });
  }
  parts(net, known) {
    return net(known)
      .unflatten(-1, [this.half, -1])
      .split([this.bins, this.bins, this.bins - 1], { dim: -1 });
  }
  forward(x) {
    let logdet = 0;
    for (const net of this.nets) {
      const [a, b] = x.index(":", this.order).tensor_split(2, { dim: 1 });
      const [moved, ld] = rationalQuadraticSpline(b, ...this.parts(net, a));
      [x, logdet] = [torch.cat([a, moved], 1), ld.sum(-1).add(logdet)];
    }
    return [x, logdet];
  }
  inverse(z) {
    const back = torch.argsort(this.order);
    for (const net of [...this.nets].reverse()) {
      let [a, b] = z.tensor_split([this.half], { dim: 1 });
      [b] = rationalQuadraticSpline(b, ...this.parts(net, a), { inverse: true });
      z = torch.cat([a, b], { dim: -1 }).index_select(1, back);
    }
    return z;
  }
}

export function spline_flow() {
  const model = filled(new SplineFlow());
  const x = numbers([10, 4], 3).mul(2.2);
  const optimizer = optim.Adam(model.parameters(), { lr: 1e-2, eps: 1e-4 });
  const base = D.MultivariateNormal(torch.zeros(4), torch.eye(4));

  async function step() {
    optimizer.zero_grad();
    const [z, logdet] = model(x);
    const loss = base.log_prob(z).add(logdet).mean().neg();
    loss.backward();
    await optimizer.step();
    const back = torch.no_grad(() => model.inverse(model(x)[0]));
    return [loss, back.sub(x).add(z.detach())];
  }
  return [model, step];
}

class MaskedLinear extends nn.Linear {
  constructor(inFeatures, outFeatures, mask) {
    super(inFeatures, outFeatures, { bias: true });
    this.register_buffer("mask", mask);
  }
  forward(input) {
    return F.linear(input, this.mask.mul(this.weight), this.bias);
  }
}

/** A masked autoregressive flow, and a mixture over its outputs. */
class MAF extends nn.Module {
  constructor(dim = 3, hidden = 9, k = 2) {
    super();
    Object.assign(this, { dim, k });
    const degrees = [
      torch.arange(dim),
      torch.arange(hidden).remainder(dim - 1),
      torch
        .arange(dim)
        .repeat_interleave(3 * k)
        .sub(1),
    ];
    const masks = [0, 1].map((j) =>
      degrees[j + 1].index(":", null).ge(degrees[j].index(null, ":")).to(torch.get_default_dtype()),
    );
    this.net = nn.Sequential(
      new MaskedLinear(dim, hidden, masks[0]),
      nn.LeakyReLU(0.2),
      new MaskedLinear(hidden, 3 * k * dim, masks[1]),
    );
  }
  dist(x) {
    const [logits, loc, scale] = this.net(x)
      .view(-1, this.dim, 3 * this.k)
      .chunk(3, { dim: -1 });
    const normal = D.Normal(loc, F.softplus(scale).add(1e-2));
    return D.Independent(D.MixtureSameFamily(D.Categorical({ logits }), normal), { reinterpreted_batch_ndims: 1 });
  }
}

export function autoregressive_mixture() {
  const model = filled(new MAF());
  const x = numbers([8, 3], 5);
  const optimizer = optim.Adamax(model.parameters(), { lr: 2e-2, eps: 1e-4 });

  async function step() {
    optimizer.zero_grad();
    const dist = model.dist(x);
    const loss = dist.log_prob(x).mean().neg();
    loss.backward();
    await optimizer.step();
    return [loss, torch.stack([dist.mean, dist.variance.sqrt(), dist.base_dist.cdf(x)], { dim: -1 })];
  }
  return [model, step];
}

/** Optimal transport in logarithms between learnt points and given ones, with weights, and a soft sort. */
export function sinkhorn() {
  const model = nn.ParameterDict({
    points: nn.Parameter(numbers([6, 2], 3)),
    logits: nn.Parameter(numbers([6], 90).mul(0.5)),
  });
  const target = numbers([8, 2], 40).mul(0.5).add(0.7);
  const optimizer = optim.ASGD(model.parameters(), { lr: 0.1 });

  function plan(x, logA, y, { eps = 0.3, iters = 12 } = {}) {
    const C = torch.cdist(x, y, { p: 2 }).pow(2);
    const logB = torch.full([y.size(0)], -Math.log(y.size(0)));
    let [f, g] = [torch.zeros_like(logA), torch.zeros_like(logB)];
    for (let k = 0; k < iters; k++) {
      f = torch.logsumexp(g.sub(C).div(eps).add(logB), { dim: 1 }).mul(-eps);
      g = f.index(":", null).sub(C).div(eps).add(logA.index(":", null)).logsumexp(0).mul(-eps);
    }
    const sums = f.index(":", null).add(g.index(null, ":"));
    const P = torch.exp(sums.sub(C).div(eps).add(logA.index(":", null)).add(logB));
    return [P, P.mul(C).sum()];
  }

  async function step() {
    optimizer.zero_grad();
    const [P, cost] = plan(model.points, model.logits.log_softmax(0), target);
    const [ranks] = torch.sort(model.points.index(":", 0), { descending: true });
    const gaps = ranks.index(":-1").sub(ranks.index("1:")).clamp_min(0.1).sum();
    const loss = cost.add(gaps.mul(0.1)).add(D.Categorical({ logits: model.logits }).entropy().mul(0.05));
    loss.backward();
    await optimizer.step();
    return [loss, P];
  }
  return [model, step];
}

class Half extends nn.Module {
  forward(X) {
    return X.triu().add(X.triu(1).mT);
  }
}

class Critic extends nn.Module {
  constructor(classes = 3) {
    super();
    this.conv = parametrizations.spectral_norm(nn.Conv2d(1, 4, 3, { stride: 2, padding: 1 }), {
      n_power_iterations: 2,
    });
    this.fc = parametrizations.weight_norm(nn.Linear(16, 4));
    this.mix = nn.Linear(4, 4, { bias: false });
    parametrize.register_parametrization(this.mix, "weight", new Half());
    this.embed = nn.Embedding(classes, 4);
  }
  forward(x, y) {
    let h = F.leaky_relu(this.conv(x), 0.1).flatten(1);
    h = this.mix(torch.tanh(this.fc(h)));
    return h.sum(1).add(this.embed(y).mul(h).sum({ dim: 1 }));
  }
}

/** A game of conditions: a projection critic with bounded weights, hinge losses, an average of the generator. */
export function projection_gan() {
  const G = nn.Sequential(
    nn.Linear(5, 8),
    nn.BatchNorm1d(8),
    nn.ReLU(true),
    nn.Unflatten(1, [2, 2, 2]),
    nn.ConvTranspose2d(2, 1, 4, 2, 1),
    nn.Tanh(),
  );
  const nets = nn.ModuleDict({ G, D: new Critic() });
  filled(nets);
  const state = nets.D.state_dict();
  for (const key of Object.keys(state))
    if (/_[uv]$/.test(key)) state[key] = F.normalize(numbers([...state[key].shape], 77), { dim: 0 });
  nets.D.load_state_dict(state);
  const { AveragedModel, get_ema_multi_avg_fn } = optim.swa_utils;

  const ema = AveragedModel(nets.G, { multi_avg_fn: get_ema_multi_avg_fn(0.8), use_buffers: true });
  const optG = optim.Adam(nets.G.parameters(), { lr: 2e-3, betas: [0.0, 0.9], eps: 1e-4 });
  const optD = optim.Adam(nets.D.parameters(), { lr: 4e-3, betas: [0.0, 0.9], eps: 1e-4 });
  const [real, y] = [numbers([6, 1, 4, 4], 5), integers(3, [6], 8)];

  async function step(i) {
    const z = torch.cat([numbers([6, 2], 100 + i), F.one_hot(y, { num_classes: 3 }).to(real.dtype)], { dim: 1 });
    const fake = torch.no_grad(() => nets.G(z));
    nets.D.zero_grad();
    const lossD = F.relu(nets.D(real, y).rsub(1.0))
      .mean()
      .add(F.relu(nets.D(fake, y).add(1.0)).mean());
    lossD.backward();
    await optD.step();
    nets.D.requires_grad_(false);
    optG.zero_grad();
    const lossG = nets.D(nets.G(z), y).mean().neg();
    lossG.backward();
    await optG.step();
    nets.D.requires_grad_(true);
    ema.update_parameters(nets.G);
    const shown = torch.no_grad(() => ema.eval()(z));
    return [lossD.add(lossG), shown];
  }
  return [nets, step];
}
