// Agents, and what is learnt from preferences: agents.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/in-node/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
  { Categorical } = torch.distributions,
  { DataLoader, TensorDataset } = torch.utils.data;

class Atoms extends nn.Module {
  constructor({ actions = 3, n_atoms = 11, v_min = -2.0, v_max = 2.0 } = {}) {
    super();
    Object.assign(this, { actions, n_atoms, v_min, v_max });
    this.register_buffer("atoms", torch.linspace(v_min, v_max, { steps: n_atoms }));
    this.network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, actions * n_atoms));
  }
  get_action(x, action = null) {
    const logits = this.network(x);
    const pmfs = torch.softmax(logits.view(x.shape[0], this.actions, this.n_atoms), { dim: 2 });
    const qValues = pmfs.mul(this.atoms).sum(2);
    action ??= torch.argmax(qValues, 1);
    return [action, pmfs.index(torch.arange(x.shape[0]), action)];
  }
}

/** CleanRL's distributional DQN, whose target is projected to the atoms. */
export function c51() {
  const [q, target] = [filled(new Atoms()), filled(new Atoms())];
  const optimizer = optim.Adam(q.parameters(), { lr: 1e-2, eps: 0.01 / 6 });
  const data = TensorDataset(
    numbers([6, 4], 3),
    integers(3, [6, 1], 9),
    numbers([6, 4], 70),
    numbers([6, 1], 110),
    numbers([6, 1], 120).gt(0.5).to(torch.get_default_dtype()),
  );
  const loader = DataLoader(data, { batch_size: 6, sampler: [5, 4, 3, 2, 1, 0] });

  async function step(i) {
    let obs, actions, next_obs, rewards, dones;
    for await (const batch of loader) [obs, actions, next_obs, rewards, dones] = batch;
    const target_pmfs = torch.no_grad(() => {
      const [, next_pmfs] = target.get_action(next_obs);
      const next_atoms = rewards.add(target.atoms.mul(0.9).mul(dones.rsub(1)));
      const delta_z = target.atoms.index(1).sub(target.atoms.index(0));
      const tz = next_atoms.clamp(q.v_min, q.v_max);
      const b = tz.sub(q.v_min).div(delta_z);
      const [l, u] = [b.floor().clamp(0, q.n_atoms - 1), b.ceil().clamp(0, q.n_atoms - 1)];
      const d_m_l = u.add(l.eq(u).to(b.dtype)).sub(b).mul(next_pmfs);
      const d_m_u = b.sub(l).mul(next_pmfs);
      const pmfs = torch.zeros_like(next_pmfs);
      for (let j = 0; j < pmfs.size(0); j++) {
        pmfs.index(j).index_add_(0, l.index(j).long(), d_m_l.index(j));
        pmfs.index(j).index_add_(0, u.index(j).long(), d_m_u.index(j));
      }
      return pmfs;
    });
    const [, old_pmfs] = q.get_action(obs, actions.flatten());
    const logs = old_pmfs.clamp({ min: 1e-5, max: 1 - 1e-5 }).log();
    const loss = target_pmfs.mul(logs).neg().sum(-1).mean();
    optimizer.zero_grad();
    loss.backward();
    await optimizer.step();
    if (i % 2 === 1) target.load_state_dict(q.state_dict());
    return [loss, target_pmfs];
  }
  return [q, step];
}

class Tiny extends nn.Module {
  constructor(words = 11, dim = 8) {
    super();
    this.embed = nn.Embedding(words, dim, { padding_idx: 0 });
    this.rnn = nn.GRU(dim, dim, { num_layers: 2, batch_first: true });
    this.head = nn.Linear(dim, words, { bias: false });
  }
  forward(ids) {
    return this.head(this.rnn(this.embed(ids))[0]);
  }
}

function sequenceLogps(logits, labels, ignore = -100) {
  labels = labels.index(":", "1:").clone();
  logits = logits.index(":", ":-1", ":");
  const mask = labels.ne(ignore);
  labels.set([labels.eq(ignore)], 0);
  const each = torch.gather(logits.log_softmax(-1), { dim: 2, index: labels.unsqueeze(2) }).squeeze(2);
  return each.mul(mask).sum(-1);
}

/** Direct preference optimization beside a reference model, with label smoothing; gradients in two halves. */
export function preferences() {
  const model = filled(new Tiny());
  const reference = model.deepcopy().eval();
  for (const p of reference.parameters()) p.requires_grad_(false);
  const [chosen, rejected] = [integers(10, [4, 6], 3).add(1), integers(10, [4, 6], 90).add(1)];
  const prompt = torch
    .arange(6)
    .expand(4, 6)
    .lt(torch.tensor([[2], [1], [3], [2]]));
  const [decay, other] = [[], []];
  for (const [name, p] of model.named_parameters()) (p.ndim < 2 || name.includes("embed") ? other : decay).push(p);
  const optimizer = optim.AdamW(
    [
      { params: decay, weight_decay: 0.1 },
      { params: other, weight_decay: 0.0 },
    ],
    { lr: 5e-3, betas: [0.9, 0.95], eps: 1e-4 },
  );
  const scheduler = optim.lr_scheduler.LambdaLR(optimizer, (s) => Math.min(1.0, (s + 1) / 3));

  async function step() {
    optimizer.zero_grad({ set_to_none: true });
    let total = torch.zeros([]);
    const margins = [];
    for (const part of ["0:2", "2:"]) {
      const ids = torch.cat([chosen.index(part), rejected.index(part)]);
      const labels = ids.masked_fill(prompt.index(part).repeat(2, 1), -100);
      const policy = sequenceLogps(model(ids), labels);
      const ref = torch.no_grad(() => sequenceLogps(reference(ids), labels));
      const [[pc, pr], [rc, rr]] = [policy.chunk(2), ref.split(2)];
      const logits = pc.sub(pr).sub(rc.sub(rr));
      const losses = F.logsigmoid(logits.mul(0.5))
        .mul(-0.9)
        .sub(F.logsigmoid(logits.mul(-0.5)).mul(0.1));
      const loss = losses.mean().div(2);
      loss.backward();
      total = total.add(loss.detach());
      margins.push(logits.detach());
    }
    await optimizer.step();
    scheduler.step();
    return [total.add(scheduler.get_last_lr()[0]), torch.cat(margins)];
  }
  return [model, step];
}

class Dynamics extends nn.Module {
  constructor() {
    super();
    this.net = nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 2));
  }
  forward(x, u) {
    return x.add(this.net(torch.cat([x, u], -1)).mul(0.3));
  }
}

/** A learnt model's Jacobians, and Riccati's recursion with them (iLQR); what the plan costs trains the model. */
export function planning() {
  const { functional_call, jacrev, vmap } = torch.func;
  const model = filled(new Dynamics());
  const optimizer = optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.8, dampening: 0.1 });
  const [goal, Q, R] = [torch.tensor([0.5, -0.3]), torch.diag(torch.tensor([1.0, 0.5])), torch.tensor([[0.1]])];

  async function step(i) {
    const params = Object.fromEntries(model.named_parameters());
    const f = (x, u) => functional_call(model, params, [x, u]);
    const us = numbers([4, 1], 30 + i).mul(0.3);
    let xs = [numbers([2], 5)];
    for (const u of us) xs.push(f(xs.at(-1), u));
    xs = torch.stack(xs);
    const [A, B] = vmap(jacrev(f, { argnums: [0, 1] }))(xs.index(":-1"), us);
    let [V, v] = [Q, Q.matmul(xs.index(-1).sub(goal))];
    const gains = [];
    for (let t = 3; t >= 0; t--) {
      const [At, Bt] = [A.index(t), B.index(t)];
      const Quu = R.add(Bt.mT.matmul(V).matmul(Bt));
      const K = torch.linalg.solve(Quu, Bt.mT.matmul(V).matmul(At)).neg();
      const k = torch.linalg.solve(Quu, R.matmul(us.index(t)).add(Bt.mT.matmul(v))).neg();
      v = Q.matmul(xs.index(t).sub(goal)).add(At.mT.matmul(v)).add(K.mT.matmul(Quu).matmul(k));
      V = Q.add(At.mT.matmul(V).matmul(At.add(Bt.matmul(K))));
      gains.unshift([K, k]);
    }
    let [x, cost] = [xs.index(0), 0];
    const path = [];
    for (const [t, [K, k]] of gains.entries()) {
      const u = us
        .index(t)
        .add(k)
        .add(K.matmul(x.sub(xs.index(t))));
      x = f(x, u);
      path.push(x);
      const far = torch.einsum("i,ij,j->", x.sub(goal), Q, x.sub(goal));
      cost = far.add(R.squeeze().mul(u.square().sum())).add(cost);
    }
    optimizer.zero_grad();
    cost.backward();
    await optimizer.step();
    return [cost, torch.vstack(path)];
  }
  return [model, step];
}

class ImpalaNet extends nn.Module {
  constructor(num_actions = 4, use_lstm = true) {
    super();
    [this.num_actions, this.use_lstm] = [num_actions, use_lstm];
    this.feat_convs = nn.ModuleList();
    this.resnet1 = nn.ModuleList();
    let input_channels = 3;
    for (const num_ch of [4, 6]) {
      this.feat_convs.append(
        nn.Sequential(
          nn.Conv2d(input_channels, num_ch, { kernel_size: 3, stride: 1, padding: 1 }),
          nn.MaxPool2d({ kernel_size: 3, stride: 2, padding: 1 }),
        ),
      );
      input_channels = num_ch;
      this.resnet1.append(
        nn.Sequential(
          nn.ReLU(),
          nn.Conv2d(num_ch, num_ch, 3, { padding: 1 }),
          nn.ReLU(),
          nn.Conv2d(num_ch, num_ch, 3, { padding: 1 }),
        ),
      );
    }
    this.fc = nn.Linear(6 * 4, 16);
    let core = 16 + num_actions + 1;
    if (use_lstm) {
      this.core = nn.LSTM(core, 12, { num_layers: 1 });
      core = 12;
    }
    this.policy = nn.Linear(core, num_actions);
    this.baseline = nn.Linear(core, 1);
  }
  initial_state(batch_size = 1) {
    if (!this.use_lstm) return [];
    return [0, 1].map(() => torch.zeros(this.core.num_layers, batch_size, this.core.hidden_size));
  }
  forward(inputs, core_state = []) {
    let x = inputs.frame;
    const [T, B] = x.shape;
    x = torch.flatten(x, 0, 1);
    x = x.float().to(torch.get_default_dtype()).div(255.0);
    for (const [i, fconv] of this.feat_convs.entries()) {
      x = fconv(x);
      const res_input = x;
      x = this.resnet1[i](x);
      x.add_(res_input);
    }
    x = F.relu(x);
    x = x.view(T * B, -1);
    x = F.relu(this.fc(x));
    const one_hot = F.one_hot(inputs.last_action.view(T * B), this.num_actions).to(x.dtype);
    const clipped_reward = torch.clamp(inputs.reward, -1, 1).view(T * B, 1);
    let core_input = torch.cat([x, clipped_reward, one_hot], { dim: -1 });
    let core_output = core_input;
    if (this.use_lstm) {
      core_input = core_input.view(T, B, -1);
      const core_output_list = [];
      const notdone = inputs.done.bitwise_not().to(x.dtype);
      const nds = notdone.unbind();
      for (const [t, input] of core_input.unbind().entries()) {
        const nd = nds[t].view(1, -1, 1);
        core_state = core_state.map((s) => nd.mul(s));
        let output;
        [output, core_state] = this.core(input.unsqueeze(0), core_state);
        core_output_list.push(output);
      }
      core_output = torch.flatten(torch.cat(core_output_list), 0, 1);
    }
    const policy_logits = this.policy(core_output);
    const baseline = this.baseline(core_output);
    return [{ policy_logits: policy_logits.view(T, B, this.num_actions), baseline: baseline.view(T, B) }, core_state];
  }
}
const actionLogProbs = (policy_logits, actions) =>
  F.nll_loss(F.log_softmax(torch.flatten(policy_logits, 0, 1), { dim: -1 }), torch.flatten(actions, 0, 1), {
    reduction: "none",
  })
    .view_as(actions)
    .neg();
function fromImportanceWeights(log_rhos, discounts, rewards, values, bootstrap_value, clipRho = 1.0, clipPgRho = 1.0) {
  return torch.no_grad(() => {
    const rhos = torch.exp(log_rhos);
    const clipped_rhos = torch.clamp(rhos, { max: clipRho });
    const cs = torch.clamp(rhos, { max: 1.0 });
    const values_t_plus_1 = torch.cat([values.index("1:"), torch.unsqueeze(bootstrap_value, 0)], { dim: 0 });
    const deltas = clipped_rhos.mul(rewards.add(discounts.mul(values_t_plus_1)).sub(values));
    let acc = torch.zeros_like(bootstrap_value);
    const result = [];
    for (let t = discounts.shape[0] - 1; t > -1; t--) {
      acc = deltas.index(t).add(discounts.index(t).mul(cs.index(t)).mul(acc));
      result.push(acc);
    }
    result.reverse();
    const vs = torch.add(torch.stack(result), values);
    const b = torch.ones_like(vs.index(0)).mul(bootstrap_value);
    const vs1 = torch.cat([vs.index("1:"), b.unsqueeze(0)], { dim: 0 });
    const pg = torch.clamp(rhos, { max: clipPgRho }).mul(rewards.add(discounts.mul(vs1)).sub(values));
    return [vs, pg];
  });
}
const mapObject = (o, f) => Object.fromEntries(Object.entries(o).map(([k, v]) => [k, f(v)]));
/** IMPALA: a residual network and an LSTM whose state ends with an episode; V-trace's corrections. */
export function vtrace() {
  const model = filled(new ImpalaNet());
  const optimizer = optim.RMSprop(model.parameters(), { lr: 0.01, momentum: 0.1, eps: 0.01, alpha: 0.99 });
  const scheduler = optim.lr_scheduler.LambdaLR(optimizer, (epoch) => 1 - Math.min(epoch * 8, 100) / 100);
  const [T, B] = [5, 2];
  async function step(i) {
    const frame = numbers([T, B, 3, 8, 8], 7 * i)
      .abs()
      .mul(255)
      .to(torch.uint8);
    const [action, reward] = [integers(4, [T, B], 3 + i), numbers([T, B], 90 + i).mul(2)];
    const [done, behaviour] = [numbers([T, B], 50 + i).gt(0.7), numbers([T, B, 4], 21 + i)];
    let batch = { frame, last_action: action, reward, done };
    let [lo] = model(batch, model.initial_state(B));
    const bootstrap_value = lo.baseline.index(-1);
    batch = mapObject(batch, (t) => t.index("1:"));
    lo = mapObject(lo, (t) => t.index(":-1"));
    const rewards = torch.clamp(batch.reward, -1, 1);
    const discounts = batch.done.logical_not().to(rewards.dtype).mul(0.99);
    const target = actionLogProbs(lo.policy_logits, batch.last_action);
    const log_rhos = target.detach().sub(actionLogProbs(behaviour.index(":-1"), batch.last_action));
    const [vs, pg] = fromImportanceWeights(log_rhos, discounts, rewards, lo.baseline, bootstrap_value);
    const pg_loss = torch.sum(
      F.cross_entropy(torch.flatten(lo.policy_logits, 0, 1), torch.flatten(batch.last_action, 0, 1), {
        reduction: "none",
      })
        .view_as(pg)
        .mul(pg.detach()),
    );
    const baseline_loss = torch.sum(vs.sub(lo.baseline).pow(2)).mul(0.5 * 0.5);
    const dist = new Categorical({ logits: lo.policy_logits });
    const entropy_loss = dist.entropy().sum().mul(-0.01);
    const total_loss = pg_loss.add(baseline_loss).add(entropy_loss);
    optimizer.zero_grad();
    total_loss.backward();
    const norm = nn.utils.clip_grad_norm_(model.parameters(), 4.0);
    await optimizer.step();
    scheduler.step();
    return [total_loss.add(norm), torch.stack([vs, pg])];
  }
  return [model, step];
}
