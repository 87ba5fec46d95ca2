// What training is made of besides the model: practices.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  { parameters_to_vector, prune } = nn.utils,
  { pack_padded_sequence, pad_packed_sequence, pad_sequence } = nn.utils.rnn,
  { DataLoader, Dataset, Sampler } = torch.utils.data;

class Lion extends optim.Optimizer {
  constructor(params, { lr = 1e-4, betas = [0.9, 0.99], weight_decay = 0.0 } = {}) {
    if (!(lr >= 0.0)) throw new Error(`Invalid learning rate: ${lr}`);
    super(params, { lr, betas, weight_decay });
  }
  step(closure = null) {
    return torch.no_grad(() => {
      let loss = null;
      if (closure !== null) loss = torch.enable_grad(() => closure());
      for (const group of this.param_groups)
        for (const p of group.params) {
          if (p.grad === null) continue;
          p.data.mul_(1 - group.lr * group.weight_decay);
          if (!this.state.has(p)) this.state.set(p, { exp_avg: torch.zeros_like(p) });
          const { exp_avg } = this.state.get(p);
          const [beta1, beta2] = group.betas;
          const update = exp_avg.mul(beta1).add(p.grad.mul(1 - beta1));
          p.add_(torch.tanh(update.mul(50)), { alpha: -group.lr }); // the sign, without its jump
          exp_avg.mul_(beta2).add_(p.grad, { alpha: 1 - beta2 });
        }
      return loss;
    });
  }
}

/** Sharpness-aware minimization: a step up, then a step of the base optimizer from there. */
class SAM extends optim.Optimizer {
  constructor(params, baseOptimizer, { rho = 0.05, adaptive = false, ...rest } = {}) {
    super(params, { rho, adaptive, ...rest });
    this.base_optimizer = new baseOptimizer(this.param_groups, rest);
    this.param_groups = this.base_optimizer.param_groups;
    Object.assign(this.defaults, this.base_optimizer.defaults);
  }
  first_step({ zero_grad = false } = {}) {
    torch.no_grad(() => {
      const norms = this.param_groups.flatMap((g) =>
        g.params
          .filter((p) => p.grad !== null)
          .map((p) => (g.adaptive ? torch.abs(p).mul(p.grad) : p.grad).norm({ p: 2 })),
      );
      const norm = torch.norm(torch.stack(norms), { p: 2 });
      for (const group of this.param_groups) {
        const scale = norm.add(1e-12).reciprocal().mul(group.rho);
        for (const p of group.params) {
          if (p.grad === null) continue;
          this.state.set(p, { ...this.state.get(p), old_p: p.data.clone() });
          p.add_((group.adaptive ? torch.pow(p, 2) : torch.ones_like(p)).mul(p.grad).mul(scale.to(p)));
        }
      }
    });
    if (zero_grad) this.zero_grad();
  }
  async second_step({ zero_grad = false } = {}) {
    for (const group of this.param_groups)
      for (const p of group.params) if (p.grad !== null) p.data = this.state.get(p).old_p;
    await this.base_optimizer.step();
    if (zero_grad) this.zero_grad();
  }
}

class GINLayer extends nn.Module {
  constructor(dim) {
    super();
    this.eps = nn.Parameter(torch.Tensor([0.1]));
    this.mlp = nn.Sequential(
      nn.Linear(dim, dim),
      nn.BatchNorm1d(dim, { momentum: 0.2 }),
      nn.ReLU(),
      nn.Linear(dim, dim),
    );
    this.edge = nn.Embedding(3, dim);
  }
  forward(x, edgeIndex, kind) {
    const [source, target] = edgeIndex;
    const messages = F.relu(x.index(source).add(this.edge(kind)));
    const received = torch.zeros_like(x).scatter_add(0, target.unsqueeze(-1).expand_as(messages), messages);
    return this.mlp(this.eps.add(1).mul(x).add(received));
  }
}

/** Isomorphism networks with attention's pooling, and aggregators of several kinds (principal neighbourhoods). */
class GraphNet extends nn.Module {
  constructor(dim = 6) {
    super();
    this.embed = nn.Embedding(5, dim);
    this.layers = nn.ModuleList([0, 1].map(() => new GINLayer(dim)));
    this.gate = nn.Linear(dim, 1);
    this.out = nn.Linear(4 * dim, 2);
  }
  forward(nodes, edgeIndex, kind, batch, n) {
    let x = this.embed(nodes);
    for (const layer of this.layers) x = x.add(layer(x, edgeIndex, kind));
    const index = batch.index(":", null).expand_as(x);
    const target = edgeIndex.index(1);
    const degree = torch.zeros(nodes.shape[0]).index_add(0, target, torch.ones(target.shape[0])); // no promise
    x = x.mul(degree.add(1).log().index(":", null));
    const gate = this.gate(x).squeeze(-1);
    const peak = gate.new_full([n], -Infinity).scatter_reduce(0, batch, gate, { reduce: "amax", include_self: true });
    const e = gate.sub(peak.index(batch)).exp();
    const attention = e.div(torch.zeros(n).index_add(0, batch, e).index(batch));
    const pooled = torch.zeros(n, x.size(1)).index_add_(0, batch, attention.index(":", null).mul(x));
    const kinds = ["mean", "amax", "amin"].map((r) =>
      torch.zeros_like(pooled).scatter_reduce(0, index, x, r, { include_self: false }),
    );
    return this.out(torch.cat([pooled, ...kinds], { dim: -1 }));
  }
}

class Graphs extends Dataset {
  constructor() {
    super();
    this.sizes = [4, 3, 5, 4];
  }
  get length() {
    return this.sizes.length;
  }
  get(i) {
    const n = this.sizes[i];
    const ring = torch.arange(n);
    const edges = torch.stack([torch.cat([ring, ring.roll(1)]), torch.cat([ring.roll(1), ring])]);
    return { nodes: integers(5, [n], 7 * i), edges, kind: integers(3, [2 * n], 11 * i), y: i % 2 };
  }
}

function collate(graphs) {
  const out = { nodes: [], edges: [], kind: [], batch: [] };
  let offset = 0;
  for (const [i, g] of graphs.entries()) {
    out.nodes.push(g.nodes);
    out.edges.push(g.edges.add(offset));
    out.kind.push(g.kind);
    out.batch.push(torch.full([g.nodes.shape[0]], i, { dtype: torch.long }));
    offset += g.nodes.shape[0];
  }
  const cat = (k, dim = 0) => torch.cat(out[k], { dim });
  const y = torch.tensor(
    graphs.map((g) => g.y),
    { dtype: torch.long },
  );
  return [cat("nodes"), cat("edges", -1), cat("kind"), cat("batch"), graphs.length, y];
}

class Reversed extends Sampler {
  constructor(data) {
    super();
    this.data = data;
  }
  *[Symbol.iterator]() {
    for (let i = this.data.length - 1; i >= 0; i--) yield i;
  }
  get length() {
    return this.data.length;
  }
}

/** Batches of graphs as one, an optimizer of one's own. */
export function graph_bags() {
  const model = filled(new GraphNet());
  const data = new Graphs();
  const loader = DataLoader(data, {
    batch_size: 2,
    sampler: new Reversed(data),
    collate_fn: collate,
    drop_last: false,
  });
  const optimizer = new Lion(model.parameters(), { lr: 3e-3, weight_decay: 0.1 });
  const scheduler = optim.lr_scheduler.MultiStepLR(optimizer, { milestones: [1, 2], gamma: 0.5 });

  async function step() {
    model.train();
    let total = torch.tensor(0.0);
    for await (const batch of loader) {
      const [graph, y] = [batch.slice(0, -1), batch.at(-1)];
      optimizer.zero_grad();
      const logits = model(...graph);
      const loss = nn.CrossEntropyLoss({ weight: torch.tensor([1.0, 2.0]) })(logits, y);
      loss.backward();
      await optimizer.step();
      total = total.add(loss.detach().div(loader.length));
    }
    scheduler.step();
    model.eval();
    const shown = [];
    for await (const batch of loader) shown.push(torch.inference_mode(() => model(...batch.slice(0, -1))));
    return [total, torch.cat(shown)];
  }
  return [model, step];
}

class Margins extends nn.Module {
  constructor() {
    super();
    this.embed = nn.Embedding(9, 5);
    this.rnn = nn.LSTM(5, 4, { batch_first: true, bidirectional: true, proj_size: 3 });
    this.centres = nn.Parameter(torch.empty(3, 6));
    nn.init.xavier_uniform_(this.centres, { gain: nn.init.calculate_gain("leaky_relu", 0.2) });
  }
  async forward(words, lengths) {
    const x = pad_sequence(words, { batch_first: true, padding_value: 0 });
    const packed = await pack_padded_sequence(this.embed(x), lengths, { batch_first: true, enforce_sorted: false });
    const [out, [h]] = this.rnn(packed);
    const [padded, onCpu] = await pad_packed_sequence(out, { batch_first: true });
    const sizes = onCpu.to(padded.device);
    const mask = torch.arange(padded.size(1)).index(null).lt(sizes.index(":", null));
    const mean = padded.mul(mask.index("...", null)).sum(1).div(sizes.index(":", null));
    return mean.add(h.permute(1, 0, 2).flatten(1));
  }
  margins(h, y, { s = 4.0, m = 0.2 } = {}) {
    const cosine = F.linear(F.normalize(h), F.normalize(this.centres)).clamp(-1 + 1e-6, 1 - 1e-6);
    const oneHot = torch.zeros_like(cosine).scatter_(1, y.view(-1, 1), 1.0);
    return torch.cos(torch.acos(cosine).add(oneHot.mul(m))).mul(s);
  }
}

/** SAM around SGD, a recurrent network over packed sequences, a head by cosines and margins (ArcFace). */
export function sharpness() {
  const words = [3, 5, 2, 4].map((n) => integers(9, [n], 13 * n));
  const lengths = torch.tensor([3, 5, 2, 4], { dtype: torch.long, device: "cpu" });
  const y = torch.tensor([0, 2, 1, 2], { dtype: torch.long });
  const model = filled(new Margins());
  const optimizer = new SAM(model.parameters(), optim.SGD, { rho: 0.1, adaptive: true, lr: 0.1, momentum: 0.9 });
  const seen = {};
  model.rnn.register_forward_hook((module, args, output) => {
    seen.h = output[1][0].detach();
  });

  async function step() {
    const loss = F.cross_entropy(model.margins(await model(words, lengths), y), y);
    loss.backward();
    optimizer.first_step({ zero_grad: true });
    F.cross_entropy(model.margins(await model(words, lengths), y), y).backward();
    await optimizer.second_step({ zero_grad: false });
    return [loss, seen.h];
  }
  return [model, step];
}

/** To few bits, with a gradient straight through where nothing is cut off. */
class Round extends torch.autograd.Function {
  static forward(ctx, x, scale, bits) {
    const top = 2 ** (bits - 1) - 1;
    const q = torch.round(x.div(scale));
    ctx.save_for_backward(q.ge(-top).bitwise_and(q.le(top)));
    ctx.n = x.numel();
    return q.clamp(-top, top).mul(scale);
  }
  static backward(ctx, gradOutput) {
    const [inside] = ctx.saved_tensors;
    return [gradOutput.mul(inside), gradOutput.mul(inside.bitwise_not()).sum().div(Math.sqrt(ctx.n)), null];
  }
}

class FewBits extends nn.Linear {
  constructor(inFeatures, outFeatures, { bits = 4, ...rest } = {}) {
    super(inFeatures, outFeatures, rest);
    this.bits = bits;
    this.scale = nn.Parameter(torch.tensor(0.11));
  }
  forward(x) {
    const scale = this.scale.abs().mul(0.01).add(0.0973);
    return F.linear(x, Round.apply(this.weight, scale, this.bits), this.bias);
  }
}

/** A pruned student of few bits, whose teacher's features and answers are seen by hooks; gradients add up. */
export function compression() {
  const layers = [nn.Linear(5, 10), nn.GELU(), nn.Linear(10, 10), nn.GELU(), nn.Linear(10, 3)];
  const teacher = filled(nn.Sequential(...layers));
  const student = filled(
    nn.Sequential(new FewBits(5, 8), nn.Hardswish(), nn.Linear(8, 10), nn.Hardsigmoid(), nn.Linear(10, 3)),
  );
  prune.l1_unstructured(student[2], { name: "weight", amount: 0.3 });
  prune.ln_structured(student[4], "weight", { amount: 2, n: 2, dim: 1 });
  const features = {};
  const keep = (name) => (module, args, output) => {
    features[name] = output;
  };
  const handles = [teacher[3].register_forward_hook(keep("t")), student[3].register_forward_hook(keep("s"))];
  const optimizer = optim.Adadelta(student.parameters(), { lr: 1.0, rho: 0.8, eps: 1e-3 });
  const [x, y] = [numbers([8, 5], 3), integers(3, [8], 20)];
  const kl = nn.KLDivLoss({ reduction: "batchmean", log_target: true });

  async function step(i) {
    optimizer.zero_grad();
    let total = torch.tensor(0.0);
    for (let part = 0; part < 8; part += 4) {
      const [xs, ys] = [x.index(`${part}:${part + 4}`), y.index(`${part}:${part + 4}`)];
      const wanted = torch.no_grad(() => F.log_softmax(teacher(xs).div(3.0), { dim: -1 }));
      const logits = student(xs);
      let loss = kl(F.log_softmax(logits.div(3.0), -1), wanted)
        .mul(0.5 * 9)
        .add(F.cross_entropy(logits, ys).mul(0.5));
      const apart = F.cosine_similarity(features.s, features.t, { dim: 1 }).rsub(1);
      loss = loss.add(apart.mul(0.1).mean()).div(2);
      loss.backward();
      total = total.add(loss.detach());
    }
    await optimizer.step();
    if (i === 1) {
      prune.remove(student[4], "weight");
      handles.pop().remove();
      student[3].register_forward_hook(keep("s"));
    }
    return [total, student[2].weight];
  }
  return [student, step];
}

/** Two tasks: Fisher's information and the path of each weight hold what the first needs; a memory replays. */
export function remembering() {
  const model = filled(nn.Sequential(nn.Linear(4, 8, { bias: false }), nn.Tanh(), nn.Linear(8, 3)));
  const first = [numbers([6, 4], 3), integers(3, [6], 9)];
  const second = [numbers([6, 4], 90), integers(3, [6], 60)];
  const byName = (f) => Object.fromEntries([...model.named_parameters()].map(([n, p]) => [n, f(p)]));
  const fisher = byName((p) => torch.zeros_like(p));
  const labels = [...first[1]];
  for (const [j, xi] of [...first[0]].entries()) {
    model.zero_grad({ set_to_none: true });
    F.nll_loss(F.log_softmax(model(xi.index(null)), { dim: 1 }), labels[j].index(null)).backward();
    for (const [n, p] of model.named_parameters()) fisher[n].add_(p.grad.data.pow(2).div(first[0].shape[0]));
  }
  const start = byName((p) => p.detach().clone());
  const frozen = model.deepcopy().eval().requires_grad_(false);
  const path = byName((p) => torch.zeros_like(p));
  const optimizer = optim.RAdam(model.parameters(), { lr: 2e-2, eps: 1e-4 });

  async function step(i) {
    const before = parameters_to_vector(model.parameters()).detach();
    optimizer.zero_grad();
    const [x, y] = second;
    const held = [...model.named_parameters()].map(([n, p]) => fisher[n].mul(p.sub(start[n]).pow(2)).sum());
    const ewc = held.reduce((a, b) => a.add(b));
    const old = first[0].index(`${i}::2`);
    const replay = F.mse_loss(model(old), frozen(old));
    const loss = F.multi_margin_loss(model(x), y, { p: 2, margin: 0.8 }).add(ewc.mul(50)).add(replay.mul(0.5));
    loss.backward();
    await optimizer.step();
    const moved = parameters_to_vector(model.parameters()).detach().sub(before);
    const parts = moved.split(model.parameters().map((p) => p.numel()));
    for (const [j, [n, p]] of [...model.named_parameters()].entries())
      path[n].addcmul_(p.grad.neg(), parts[j].view_as(p));
    return [loss, torch.cat(Object.values(path).map((v) => v.flatten()))];
  }
  return [model, step];
}
