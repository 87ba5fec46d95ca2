// Learning to act, to learn, and to tell alike from unlike: decisions.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  { Categorical, Normal } = torch.distributions,
  { functional_call } = torch.func;

class Agent extends nn.Module {
  constructor(observed = 4, actions = 3) {
    super();
    this.critic = nn.Sequential(nn.Linear(observed, 8), nn.Tanh(), nn.Linear(8, 1));
    this.actor = nn.Sequential(nn.Linear(observed, 8), nn.Tanh(), nn.Linear(8, actions));
  }
  get_action_and_value(x, action) {
    const probs = Categorical({ logits: this.actor(x) });
    return [probs.log_prob(action), probs.entropy(), this.critic(x)];
  }
}

function advantages(rewards, values, dones, { gamma = 0.99, gaeLambda = 0.95 } = {}) {
  const result = torch.zeros_like(rewards);
  let last = torch.zeros_like(rewards.index(0));
  for (let t = rewards.size(0) - 1; t >= 0; t--) {
    const following = t + 1 < rewards.size(0) ? values.index(t + 1) : torch.zeros_like(values.index(0));
    const alive = dones.index(t).rsub(1.0);
    const delta = rewards.index(t).add(following.mul(gamma).mul(alive)).sub(values.index(t));
    last = delta.add(alive.mul(gamma * gaeLambda).mul(last));
    result.set([t], last);
  }
  return [result, result.add(values)];
}

export function ppo() {
  const agent = filled(new Agent());
  const optimizer = optim.Adam(agent.parameters(), { lr: 2.5e-3, eps: 1e-5 });
  const [obs, actions] = [numbers([6, 2, 4], 5), integers(3, [6, 2])];
  const [rewards, dones] = [numbers([6, 2], 400), numbers([6, 2], 450).gt(0.6).to(torch.get_default_dtype())];
  const kept = torch.no_grad(() => {
    const [logprobs, , values] = agent.get_action_and_value(obs, actions);
    return [logprobs, values.squeeze(-1), ...advantages(rewards, values.squeeze(-1), dones)];
  });
  const [logprobs, values, adv, returns] = kept.map((x) => x.flatten());
  const [bObs, bActions] = [obs.flatten(0, 1), actions.flatten()];

  async function step(i) {
    const inds = torch.arange(8).mul(5).add(i).remainder(12);
    const [newlogprob, entropy, value] = agent.get_action_and_value(bObs.index(inds), bActions.index(inds));
    const ratio = newlogprob.sub(logprobs.index(inds)).exp();
    let a = adv.index(inds);
    a = a.sub(a.mean()).div(a.std().add(1e-8));
    const pgLoss = torch.max(a.neg().mul(ratio), a.neg().mul(torch.clamp(ratio, 0.8, 1.2))).mean();
    const newvalue = value.view(-1);
    const unclipped = newvalue.sub(returns.index(inds)).pow(2);
    const clipped = values.index(inds).add(torch.clamp(newvalue.sub(values.index(inds)), -0.2, 0.2));
    const vLoss = torch
      .max(unclipped, clipped.sub(returns.index(inds)).pow(2))
      .mean()
      .mul(0.5);
    const loss = pgLoss.sub(entropy.mean().mul(0.01)).add(vLoss.mul(0.5));
    optimizer.zero_grad();
    loss.backward();
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5);
    await optimizer.step();
    return [loss, ratio];
  }
  return [agent, step];
}

export function dqn() {
  const net = () => nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3));
  const [qNetwork, targetNetwork] = [filled(net()), net()];
  targetNetwork.load_state_dict(qNetwork.state_dict());
  const optimizer = optim.Adam(qNetwork.parameters(), { lr: 0.01, eps: 1e-4 });
  const [states, following, actions] = [numbers([5, 4], 3), numbers([5, 4], 60), integers(3, [5, 1])];
  const [rewards, dones] = [numbers([5], 90), torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0])];

  async function step() {
    const target = torch.no_grad(() => {
      const best = qNetwork(following).argmax({ dim: 1, keepdim: true });
      const next = targetNetwork(following).gather(1, best).squeeze(1);
      return rewards.add(next.mul(0.9).mul(dones.rsub(1)));
    });
    const old = qNetwork(states).gather(1, actions).squeeze();
    const loss = F.smooth_l1_loss(old, target);
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    const params = qNetwork.parameters();
    for (const [j, targetParam] of targetNetwork.parameters().entries())
      targetParam.data.copy_(params[j].data.mul(0.1).add(targetParam.data.mul(0.9)));
    return [loss, target];
  }
  return [qNetwork, step];
}

/** Soft actor-critic's: a normal number, squashed. */
class Actor extends nn.Module {
  constructor() {
    super();
    this.fc = nn.Linear(4, 8);
    this.fc_mean = nn.Linear(8, 2);
    this.fc_logstd = nn.Linear(8, 2);
    this.register_buffer("action_scale", torch.tensor([2.0, 0.5]));
  }
  forward(x, noise) {
    const h = F.relu(this.fc(x));
    const [mean, logStd] = [this.fc_mean(h), torch.tanh(this.fc_logstd(h))];
    const std = logStd
      .add(1)
      .mul(0.5 * 7)
      .add(-5)
      .exp();
    const sample = mean.add(std.mul(noise));
    const squashed = torch.tanh(sample);
    const slope = torch.log(this.action_scale.mul(squashed.pow(2).rsub(1)).add(1e-6));
    const logProb = Normal(mean, std).log_prob(sample).sub(slope);
    return [squashed.mul(this.action_scale), logProb.sum(1, { keepdim: true })];
  }
}

export function sac() {
  const [actor, qf] = [filled(new Actor()), filled(nn.Bilinear(4, 2, 1)).requires_grad_(false)];
  const logAlpha = torch.zeros(1, { requires_grad: true });
  const actorOptimizer = optim.Adam(actor.parameters(), { lr: 1e-2, eps: 1e-4 });
  const alphaOptimizer = optim.Adam([logAlpha], { lr: 1e-2 });
  const obs = numbers([5, 4], 25);

  async function step(i) {
    const [pi, logPi] = actor(obs, numbers([5, 2], 70 + i));
    const actorLoss = logAlpha.exp().detach().mul(logPi).sub(qf(obs, pi)).mean();
    actorOptimizer.zero_grad();
    actorLoss.backward();
    await actorOptimizer.step();
    const alphaLoss = logAlpha.exp().neg().mul(logPi.detach().sub(2)).mean();
    alphaOptimizer.zero_grad();
    alphaLoss.backward();
    await alphaOptimizer.step();
    return [actorLoss.add(alphaLoss), pi];
  }
  return [actor, step];
}

/** Learns where to begin: gradients through steps of gradients. */
export function maml() {
  const model = filled(nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)));
  const meta = optim.Adam(model.parameters(), { lr: 0.01, eps: 1e-4 });
  const x = torch.linspace(-2, 2, 8).unsqueeze(1);

  async function step(i) {
    const losses = [];
    let out = null;
    for (let task = 0; task < 2; task++) {
      const y = torch.sin(x.mul(1 + task).add(i));
      let params = Object.fromEntries(model.named_parameters());
      for (let inside = 0; inside < 2; inside++) {
        const inner = F.mse_loss(functional_call(model, params, [x.index(":4")]), y.index(":4"));
        const grads = torch.autograd.grad(inner, Object.values(params), { create_graph: true });
        params = Object.fromEntries(Object.entries(params).map(([k, p], j) => [k, p.sub(grads[j].mul(0.1))]));
      }
      out = functional_call(model, params, [x.index("4:")]);
      losses.push(F.mse_loss(out, y.index("4:")));
    }
    const loss = torch.stack(losses).mean();
    meta.zero_grad();
    loss.backward();
    await meta.step();
    return [loss, out];
  }
  return [model, step];
}

class CLIP extends nn.Module {
  constructor() {
    super();
    this.image = nn.Sequential(
      nn.Conv2d(3, 6, 3, { stride: 2 }),
      nn.ReLU(),
      nn.Flatten(),
      nn.Linear(24, 5, { bias: false }),
    );
    this.words = nn.Embedding(9, 6);
    this.text_projection = nn.Linear(6, 5, { bias: false });
    this.logit_scale = nn.Parameter(torch.ones([]).mul(Math.log(1 / 0.07)));
  }
  forward(images, text) {
    let imageFeatures = this.image(images);
    const x = this.words(text);
    let textFeatures = this.text_projection(x.index(torch.arange(x.shape[0]), text.argmax({ dim: -1 })));
    imageFeatures = imageFeatures.div(imageFeatures.norm({ dim: 1, keepdim: true }));
    textFeatures = F.normalize(textFeatures, { dim: 1 });
    return this.logit_scale.exp().mul(imageFeatures).matmul(textFeatures.t());
  }
}

export function clip() {
  const model = filled(new CLIP());
  const [images, text, labels] = [numbers([4, 3, 5, 5], 3), integers(9, [4, 5]), torch.arange(4)];
  const optimizer = optim.AdamW(model.parameters(), { lr: 1e-2, eps: 1e-4 });

  async function step() {
    optimizer.zero_grad();
    const logits = model(images, text);
    const loss = F.cross_entropy(logits, labels).add(F.cross_entropy(logits.t(), labels)).div(2);
    loss.backward();
    await optimizer.step();
    torch.no_grad(() => model.logit_scale.clamp_(0, Math.log(100)));
    const [values] = logits.softmax({ dim: -1 }).topk(3);
    return [loss, values];
  }
  return [model, step];
}

export function siamese() {
  const model = filled(nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Mish(), nn.Linear(8, 4)));
  const inputs = [numbers([5, 6], 1), numbers([5, 6], 100), numbers([5, 6], 200)];
  const triplet = nn.TripletMarginLoss({ margin: 0.5, swap: true });
  const cosine = nn.CosineEmbeddingLoss({ margin: 0.1 });
  const optimizer = optim.Rprop(model.parameters(), { lr: 0.01 });

  async function step() {
    optimizer.zero_grad();
    const [a, p, n] = inputs.map((x) => model(x));
    const ranking = F.margin_ranking_loss(a.index(":", 0), p.index(":", 0), torch.ones(5));
    const loss = triplet(a, p, n)
      .add(cosine(a, n, torch.ones(5).neg()))
      .add(ranking);
    loss.backward();
    await optimizer.step();
    return [loss, torch.cdist(a, p)];
  }
  return [model, step];
}

/** DLRM: bags of categories, and their products with each other. */
class Recommender extends nn.Module {
  constructor(sizes = [7, 5], dim = 4) {
    super();
    this.bags = nn.ModuleList(sizes.map((n) => nn.EmbeddingBag(n, dim, { mode: "sum" })));
    this.bottom = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, dim), nn.ReLU());
    this.top = nn.Linear(dim + 3, 1);
  }
  forward(dense, bags) {
    const x = this.bottom(dense);
    const each = bags.map(([ids, offsets], i) => this.bags[i](ids, offsets));
    const t = torch.stack([x, ...each], { dim: 1 });
    const products = torch.bmm(t, t.transpose(1, 2));
    const [rows, columns] = torch.tril_indices(3, 3, { offset: -1 });
    return this.top(torch.cat([x, products.index(":", rows, columns)], { dim: 1 })).squeeze(1);
  }
}

export function recommender() {
  const model = filled(new Recommender());
  const long = (list) => torch.tensor(list, { dtype: torch.long });
  const bags = [
    [integers(7, [6]), long([0, 2, 3])],
    [integers(5, [4], 30), long([0, 1, 1])],
  ];
  const [dense, clicked] = [numbers([3, 3], 5), torch.tensor([1.0, 0.0, 1.0])];
  const optimizer = optim.Adagrad(model.parameters(), { lr: 0.05 });

  async function step() {
    optimizer.zero_grad();
    const logits = model(torch.log1p(dense.abs()), bags);
    const loss = F.binary_cross_entropy_with_logits(logits, clicked, { pos_weight: torch.tensor(2.0) });
    loss.backward();
    await optimizer.step();
    return [loss, logits];
  }
  return [model, step];
}
