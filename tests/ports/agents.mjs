// Agents, and what is learnt from preferences: agents.py, which is PyTorch's, in JavaScript.
import * as torch from "../../dist/index.js";
import { filled, integers, numbers } from "./given.mjs";

const { nn, optim } = torch,
  F = nn.functional,
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
