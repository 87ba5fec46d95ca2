// Equations and scenes: physics-informed networks, differential equations, rays, objects; science.py in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional;

/** Burgers' equation u_t + u u_x = v u_xx, by derivatives of second order of a network. */
export function pinn() {
  const layers = [nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 10), nn.Tanh(), nn.Linear(10, 1)];
  const model = filled(nn.Sequential(...layers));
  const nu = 0.01 / Math.PI;
  const x = numbers([12, 1], 3).requires_grad_();
  const t = numbers([12, 1], 50).div(2).add(0.5).requires_grad_();
  const x0 = torch.linspace(-1, 1, 7).unsqueeze(1);
  const optimizer = optim.LBFGS(model.parameters(), {
    lr: 0.5,
    max_iter: 3,
    history_size: 5,
    line_search_fn: "strong_wolfe",
  });

  const gradient = (y, of) => torch.autograd.grad(y, of, torch.ones_like(y), { create_graph: true })[0];
  function residual() {
    const u = model(torch.cat([x, t], { dim: 1 }));
    const [ut, ux] = [gradient(u, t), gradient(u, x)];
    return ut.add(u.mul(ux)).sub(gradient(ux, x).mul(nu));
  }
  function lossOf() {
    const begun = model(torch.cat([x0, torch.zeros_like(x0)], { dim: 1 })).add(torch.sin(x0.mul(Math.PI)));
    return residual().pow(2).mean().add(begun.pow(2).mean());
  }
  function closure() {
    optimizer.zero_grad();
    const loss = lossOf();
    loss.backward();
    return loss;
  }

  async function step() {
    const loss = await optimizer.step(closure);
    return [loss, residual()];
  }
  return [model, step];
}

class ODE extends nn.Module {
  constructor() {
    super();
    this.net = nn.Sequential(nn.Linear(2, 8), nn.Softplus(), nn.Linear(8, 2));
  }
  forward(t, y) {
    return this.net(y.pow(3)).mul(0.5).mul(torch.cos(t));
  }
}

/** Runge's and Kutta's method, and gradients through it. */
export function neural_ode() {
  const func = filled(new ODE());
  const t = torch.linspace(0.0, 1.0, 5);
  const start = torch.tensor([
    [1.0, 0.0],
    [0.5, -0.8],
  ]);
  const trueA = torch.tensor([
    [-0.1, 2.0],
    [-2.0, -0.1],
  ]);
  const wanted = torch.stack([...t].map((s) => start.matmul(torch.matrix_exp(trueA.mul(s)))));
  const optimizer = optim.RMSprop(func.parameters(), { lr: 1e-3, eps: 1e-4 });

  function odeint(y) {
    const ys = [y],
      times = [...t];
    for (let i = 1; i < times.length; i++) {
      const [t0, t1] = [times[i - 1], times[i]];
      const h = t1.sub(t0);
      const k1 = func(t0, y);
      const k2 = func(t0.add(h.div(2)), y.add(h.mul(k1).div(2)));
      const k3 = func(t0.add(h.div(2)), y.add(h.mul(k2).div(2)));
      const k4 = func(t1, y.add(h.mul(k3)));
      y = y.add(h.mul(k1.add(k2.mul(2)).add(k3.mul(2)).add(k4)).div(6));
      ys.push(y);
    }
    return torch.stack(ys);
  }

  async function step() {
    optimizer.zero_grad();
    const out = odeint(start);
    const loss = torch.mean(torch.abs(out.sub(wanted)));
    loss.backward();
    await optimizer.step();
    return [loss, out];
  }
  return [func, step];
}

/** Density and colour of places, seen along rays. */
class NeRF extends nn.Module {
  constructor(frequencies = 3) {
    super();
    this.register_buffer("bands", torch.pow(2.0, torch.arange(frequencies)));
    this.trunk = nn.Sequential(nn.Linear(3 + 6 * frequencies, 12), nn.ReLU({ inplace: true }), nn.Linear(12, 12));
    this.sigma = nn.Linear(12, 1);
    this.rgb = nn.Linear(12 + 3, 3);
  }
  forward(points, directions) {
    const angles = points.index("...", null, ":").mul(this.bands.index(":", null)).flatten(-2);
    const h = F.relu(this.trunk(torch.cat([points, angles.sin(), angles.cos()], { dim: -1 })));
    return [this.sigma(h).squeeze(-1), torch.sigmoid(this.rgb(torch.cat([h, directions], { dim: -1 })))];
  }
}

export function nerf() {
  const model = filled(new NeRF());
  const [origins, directions] = [numbers([4, 3], 5), F.normalize(numbers([4, 3], 60), { dim: -1 })];
  const [wanted, z] = [numbers([4, 3], 90).div(2).add(0.5), torch.linspace(0.5, 2.0, 6)];
  const optimizer = optim.Adam(model.parameters(), { lr: 5e-3, eps: 1e-4 });
  const scheduler = optim.lr_scheduler.ExponentialLR(optimizer, { gamma: 0.9 });

  function render() {
    const along = directions.index(":", null, ":");
    const points = origins.index(":", null, ":").add(along.mul(z.index(null, ":", null)));
    const [sigma, rgb] = model(points, along.expand(points.shape));
    const gaps = torch.cat([z.index("1:").sub(z.index(":-1")), torch.tensor([1e10])]).expand(sigma.shape);
    const alpha = torch.exp(F.relu(sigma).neg().mul(gaps)).rsub(1.0);
    const left = torch.cat([torch.ones(4, 1), alpha.rsub(1.0).add(1e-10)], { dim: -1 });
    const weights = alpha.mul(torch.cumprod(left, { dim: -1 }).index(":", ":-1"));
    return [weights.index("...", null).mul(rgb).sum({ dim: -2 }), weights.mul(z).sum({ dim: -1 })];
  }

  async function step() {
    optimizer.zero_grad();
    const [colour, depth] = render();
    const loss = F.mse_loss(colour, wanted).add(depth.var().mul(0.01));
    loss.backward();
    await optimizer.step();
    scheduler.step();
    return [loss, torch.cat([colour, depth.index(":", null)], { dim: -1 })];
  }
  return [model, step];
}

/** A pyramid of features, and a head that all its floors share. */
class Detector extends nn.Module {
  constructor(classes = 2) {
    super();
    this.c1 = nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.GroupNorm(3, 6), nn.ReLU6());
    this.c2 = nn.Sequential(nn.Conv2d(6, 8, 3, 2, 1), nn.GroupNorm(4, 8), nn.Hardtanh(-1, 3));
    this.lateral = nn.ModuleList([nn.Conv2d(6, 4, 1), nn.Conv2d(8, 4, 1)]);
    this.scores = nn.Conv2d(4, classes, 3, { padding: 1 });
    this.boxes = nn.Conv2d(4, 4, 3, { padding: 1 });
  }
  forward(images) {
    const c1 = this.c1(images);
    const c2 = this.c2(c1);
    const p2 = this.lateral[1](c2);
    const p1 = this.lateral[0](c1).add(F.interpolate(p2, { size: c1.shape.slice(-2), mode: "nearest" }));
    const flat = (head) =>
      torch.cat(
        [p1, p2].map((p) => head(p).flatten(2).transpose(1, 2)),
        { dim: 1 },
      );
    return [flat(this.scores), flat(this.boxes)];
  }
}

/** torchvision's, of boxes (x1, y1, x2, y2). */
function boxIou(a, b) {
  const side = (boxes, i) => boxes.index(":", i + 2).sub(boxes.index(":", i));
  const area = (boxes) => side(boxes, 0).mul(side(boxes, 1));
  const low = torch.max(a.index(":", null, ":2"), b.index(":", ":2"));
  const wh = torch
    .min(a.index(":", null, "2:"), b.index(":", "2:"))
    .sub(low)
    .clamp({ min: 0 });
  const inter = wh.index("...", 0).mul(wh.index("...", 1));
  return inter.div(area(a).index(":", null).add(area(b)).sub(inter));
}

function sigmoidFocalLoss(inputs, targets, { alpha = 0.25, gamma = 2 } = {}) {
  const p = torch.sigmoid(inputs);
  const ce = F.binary_cross_entropy_with_logits(inputs, targets, { reduction: "none" });
  const right = p.mul(targets).add(p.rsub(1).mul(targets.rsub(1)));
  const weight = targets.mul(alpha).add(targets.rsub(1).mul(1 - alpha));
  return weight.mul(ce).mul(right.rsub(1).pow(gamma)).sum();
}

export function detector() {
  const model = filled(new Detector());
  const images = numbers([1, 3, 8, 8], 4);
  const truth = torch.tensor([
    [1.0, 1, 4, 5],
    [3, 2, 7, 7],
  ]);
  const [ys, xs] = torch.meshgrid(torch.arange(4), torch.arange(4), { indexing: "ij" });
  const fine = torch.stack([xs, ys], { dim: -1 }).reshape(-1, 2).mul(2).float();
  const coarse = fine.index("::4").mul(2).remainder(8);
  const corners = [
    [fine, 2.0],
    [coarse, 4.0],
  ];
  const anchors = torch.cat(corners.map(([c, s]) => torch.cat([c, c.add(s)], { dim: 1 })));
  const optimizer = optim.SGD(model.parameters(), { lr: 0.02, momentum: 0.9, weight_decay: 1e-4 });

  async function step() {
    const [best, which] = boxIou(anchors, truth).max({ dim: 1 });
    const positive = best.ge(0.2).to(images.dtype);
    const [scores, deltas] = model(images);
    const targets = F.one_hot(which, 2).to(images.dtype).mul(positive.index(":", null));
    const low = anchors.index(":", ":2").add(deltas.index(0, ":", ":2"));
    const boxes = torch.cat([low, anchors.index(":", "2:").add(deltas.index(0, ":", "2:").exp())], { dim: 1 });
    const overlap = boxIou(boxes, truth).gather(1, which.index(":", null)).squeeze(1);
    const missed = overlap.rsub(1).mul(positive).sum();
    const loss = sigmoidFocalLoss(scores.index(0), targets).add(missed).div(positive.sum());
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    const order = scores.index(0).sigmoid().amax({ dim: 1 }).argsort({ descending: true, stable: true });
    return [loss, boxes.index(order.index(":5"))];
  }
  return [model, step];
}
