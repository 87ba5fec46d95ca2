// Programs of other kinds: networks of points, capsules with routing, energies that are sampled, private training;
// structures.py in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  { functional_call, grad, vmap } = torch.func;

/** x[B, N, C] at index[B, ...] */
function gathered(x, index) {
  const batch = torch
    .arange(x.shape[0])
    .view(-1, ...Array(index.dim() - 1).fill(1))
    .expand_as(index);
  return x.index(batch, index);
}

/** Indices of points that are far from each other. */
const farthest = (xyz, count) =>
  torch.no_grad(() => {
    const chosen = torch.zeros(xyz.shape[0], count, { dtype: torch.long });
    let distance = torch.full(xyz.shape.slice(0, 2), 1e10);
    let last = torch.zeros(xyz.shape[0], { dtype: torch.long });
    for (let i = 0; i < count; i++) {
      chosen.set([":", i], last);
      const center = gathered(xyz, last.index(":", null));
      distance = torch.minimum(distance, xyz.sub(center).pow(2).sum(-1));
      last = distance.argmax(-1);
    }
    return chosen;
  });

class SetAbstraction extends nn.Module {
  constructor(count, neighbours, channels) {
    super();
    this.count = count;
    this.neighbours = neighbours;
    const layers = [];
    channels.slice(1).forEach((b, n) => {
      layers.push(nn.Conv2d(channels[n], b, 1, { bias: false }), nn.BatchNorm2d(b), nn.ReLU({ inplace: true }));
    });
    this.mlp = nn.Sequential(...layers);
  }
  forward(xyz, features) {
    const centers = gathered(xyz, farthest(xyz, this.count));
    const near = torch.cdist(centers, xyz).topk(this.neighbours, { dim: -1, largest: false }).indices;
    let local = gathered(xyz, near).sub(centers.unsqueeze(2));
    if (features !== null) local = torch.cat([local, gathered(features, near)], { dim: -1 });
    return [
      centers,
      this.mlp(local.permute(0, 3, 2, 1))
        .amax(2)
        .transpose(1, 2),
    ];
  }
}

class PointNet extends nn.Module {
  constructor(classes = 5) {
    super();
    this.first = new SetAbstraction(8, 6, [3, 8, 12]);
    this.second = new SetAbstraction(4, 4, [15, 16]);
    this.head = nn.Sequential(nn.Linear(16, 12), nn.LayerNorm(12), nn.LeakyReLU(0.2), nn.Linear(12, classes));
  }
  forward(xyz) {
    let [centers, features] = this.first(xyz, null);
    [, features] = this.second(centers, features);
    return this.head(features.max({ dim: 1 }).values);
  }
}

export function points() {
  const model = filled(new PointNet());
  const optimizer = optim.Adam(model.parameters(), { lr: 3e-3, eps: 1e-4 });
  const schedule = optim.lr_scheduler.MultiStepLR(optimizer, { milestones: [1, 2], gamma: 0.3 });

  async function step(i) {
    const [clouds, labels] = [numbers([4, 24, 3], 7 + 100 * i), integers(5, [4], i)];
    const out = model(clouds);
    const loss = F.cross_entropy(out, labels, { label_smoothing: 0.1 });
    optimizer.zero_grad();
    loss.backward();
    nn.utils.clip_grad_value_(model.parameters(), 0.5);
    await optimizer.step();
    schedule.step();
    return [loss, out];
  }

  return [model, step];
}

function squash(x, dim = -1) {
  const square = x.square().sum(dim, { keepdim: true });
  return square.div(square.add(1)).mul(x).div(square.add(1e-8).sqrt());
}

class Capsules extends nn.Module {
  constructor(capsules = 10, size = 4, out = 3, outSize = 6, turns = 3) {
    super();
    this.turns = turns;
    this.conv = nn.Conv2d(1, 8, 5);
    this.primary = nn.ModuleList(Array.from({ length: size }, () => nn.Conv2d(8, capsules, 3, { stride: 2 })));
    this.weight = nn.Parameter(torch.empty(out, capsules * 4, outSize, size));
    this.decoder = nn.Sequential(nn.Linear(out * outSize, 20), nn.ReLU(), nn.Linear(20, 100), nn.Sigmoid());
  }
  forward(images, labels) {
    const h = F.relu(this.conv(images));
    const u = squash(
      torch.stack(
        [...this.primary].map((capsule) => capsule(h).flatten(1)),
        { dim: -1 },
      ),
    );
    const votes = torch.einsum("ocdk,bck->bocd", this.weight, u);
    let logits = torch.zeros(...votes.shape.slice(0, 3), 1);
    let v;
    for (let turn = 0; turn < this.turns; turn++) {
      const shares = logits.softmax({ dim: 1 });
      v = squash(shares.mul(votes).sum({ dim: 2 }));
      if (turn < this.turns - 1)
        logits = logits.add(
          votes
            .detach()
            .mul(v.detach().index(":", ":", null))
            .sum(-1, { keepdim: true }),
        );
    }
    const mask = F.one_hot(labels, v.shape[1]).to(v.dtype);
    return [v.norm({ dim: -1 }), this.decoder(v.mul(mask.index("...", null)).flatten(1))];
  }
}

export function capsules() {
  const model = filled(new Capsules());
  const optimizer = optim.NAdam(model.parameters(), { lr: 2e-3, eps: 1e-4 });

  async function step(i) {
    const [images, labels] = [numbers([3, 1, 10, 10], 50 * i).abs(), integers(3, [3], 5 + i)];
    const [lengths, drawn] = model(images, labels);
    const target = torch.eye(3).index(labels);
    const margin = target.mul(F.relu(lengths.rsub(0.9)).pow(2)).add(
      target
        .rsub(1)
        .mul(0.5)
        .mul(F.relu(lengths.sub(0.1)).pow(2)),
    );
    const drawing = F.mse_loss(drawn, images.flatten(1), { reduction: "sum" });
    const loss = margin.sum(1).mean().add(drawing.mul(0.05).div(3));
    optimizer.zero_grad({ set_to_none: true });
    loss.backward();
    await optimizer.step();
    return [loss, lengths];
  }

  return [model, step];
}

class Energy extends nn.Module {
  constructor() {
    super();
    this.net = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1));
  }
  forward(x) {
    return this.net(x).squeeze(-1).add(x.pow(2).sum(-1).mul(0.5));
  }
}

export function energies() {
  const model = filled(new Energy());
  const optimizer = optim.RMSprop(model.parameters(), { lr: 1e-3, eps: 1e-3, momentum: 0.9 });
  const replay = numbers([12, 4], 900);

  function langevin(x, i, steps = 4, size = 0.1) {
    for (const parameter of model.parameters()) parameter.requires_grad_(false);
    x = x.clone().requires_grad_();
    for (let k = 0; k < steps; k++) {
      const [slope] = torch.autograd.grad(model(x).sum(), x);
      torch.no_grad(() => {
        x.sub_(slope.clamp(-0.5, 0.5), { alpha: size }).add_(numbers([6, 4], 40 * i + k), { alpha: 0.01 });
        x.clamp_(-2, 2);
      });
    }
    for (const parameter of model.parameters()) parameter.requires_grad_(true);
    return x.detach();
  }

  async function step(i) {
    const [real, places] = [numbers([6, 4], 11 * i).mul(0.5), torch.arange(6).mul(5).add(i).remainder(12)];
    const fake = langevin(replay.index(places), i);
    replay.set([places], fake);
    const [positive, negative] = [model(real), model(fake)];
    const small = positive.pow(2).add(negative.pow(2)).mean();
    const loss = positive.mean().sub(negative.mean()).add(small.mul(0.1));
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    return [loss, replay];
  }

  return [model, step];
}

// `private` is a word of JavaScript's
export { secret as private };
function secret() {
  const model = filled(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.GroupNorm(2, 8), nn.Linear(8, 3)));
  const optimizer = optim.SGD(model.parameters(), { lr: 0.2, momentum: 0.9, dampening: 0.1 });

  function lossOf(parameters, x, y) {
    const out = functional_call(model, parameters, [x.unsqueeze(0)]);
    const loss = F.cross_entropy(out, y.unsqueeze(0));
    return [loss, [loss, out.squeeze(0)]];
  }

  const ofEach = vmap(grad(lossOf, { has_aux: true }), { in_dims: [null, 0, 0] });

  async function step(i) {
    const [inputs, labels] = [numbers([6, 5], 21 * i), integers(3, [6], 3 * i)];
    const parameters = Object.fromEntries([...model.named_parameters()].map(([name, p]) => [name, p.detach()]));
    const [each, [losses, outs]] = ofEach(parameters, inputs, labels);
    const norms = torch.stack(Object.values(each).map((g) => g.flatten(1).norm({ dim: 1 }))).norm({ dim: 0 });
    const factors = norms.add(1e-6).reciprocal().mul(0.8).clamp({ max: 1.0 });
    for (const [k, [name, p]] of [...model.named_parameters()].entries()) {
      const summed = torch.einsum("n,n...->...", factors, each[name]);
      p.grad = summed.add(numbers(p.shape, 70 * i + k).mul(0.1)).div(inputs.shape[0]);
    }
    await optimizer.step();
    return [losses.mean(), outs];
  }

  return [model, step];
}
