"""Agents, and what is learnt from preferences: values as distributions, plans by a learnt model."""

import copy

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.distributions import Categorical
from torch.func import functional_call, jacrev, vmap
from torch.utils.data import DataLoader, TensorDataset


class Atoms(nn.Module):
    def __init__(self, actions=3, n_atoms=11, v_min=-2.0, v_max=2.0):
        super().__init__()
        self.actions, self.n_atoms, self.v_min, self.v_max = actions, n_atoms, v_min, v_max
        self.register_buffer("atoms", torch.linspace(v_min, v_max, steps=n_atoms))
        self.network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, actions * n_atoms))

    def get_action(self, x, action=None):
        logits = self.network(x)
        pmfs = torch.softmax(logits.view(len(x), self.actions, self.n_atoms), dim=2)
        q_values = (pmfs * self.atoms).sum(2)
        if action is None:
            action = torch.argmax(q_values, 1)
        return action, pmfs[torch.arange(len(x)), action]


def c51():
    """CleanRL's distributional DQN, whose target is projected to the atoms."""
    q, target = filled(Atoms()), filled(Atoms())
    optimizer = optim.Adam(q.parameters(), lr=1e-2, eps=0.01 / 6)
    data = TensorDataset(
        numbers([6, 4], 3),
        integers(3, [6, 1], 9),
        numbers([6, 4], 70),
        numbers([6, 1], 110),
        (numbers([6, 1], 120) > 0.5).to(torch.get_default_dtype()),
    )
    loader = DataLoader(data, batch_size=6, sampler=range(5, -1, -1))

    def step(i):
        ((obs, actions, next_obs, rewards, dones),) = loader
        with torch.no_grad():
            _, next_pmfs = target.get_action(next_obs)
            next_atoms = rewards + 0.9 * target.atoms * (1 - dones)
            delta_z = target.atoms[1] - target.atoms[0]
            tz = next_atoms.clamp(q.v_min, q.v_max)
            b = (tz - q.v_min) / delta_z
            l, u = b.floor().clamp(0, q.n_atoms - 1), b.ceil().clamp(0, q.n_atoms - 1)
            d_m_l = (u + (l == u).to(b.dtype) - b) * next_pmfs
            d_m_u = (b - l) * next_pmfs
            target_pmfs = torch.zeros_like(next_pmfs)
            for j in range(target_pmfs.size(0)):
                target_pmfs[j].index_add_(0, l[j].long(), d_m_l[j])
                target_pmfs[j].index_add_(0, u[j].long(), d_m_u[j])
        _, old_pmfs = q.get_action(obs, actions.flatten())
        loss = (-(target_pmfs * old_pmfs.clamp(min=1e-5, max=1 - 1e-5).log()).sum(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 2 == 1:
            target.load_state_dict(q.state_dict())
        return loss, target_pmfs

    return q, step


class Tiny(nn.Module):
    def __init__(self, words=11, dim=8):
        super().__init__()
        self.embed = nn.Embedding(words, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, num_layers=2, batch_first=True)
        self.head = nn.Linear(dim, words, bias=False)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def sequence_logps(logits, labels, ignore=-100):
    labels, logits = labels[:, 1:].clone(), logits[:, :-1, :]
    mask = labels != ignore
    labels[labels == ignore] = 0
    each = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (each * mask).sum(-1)


def preferences():
    """Direct preference optimization beside a reference model, with label smoothing; gradients in two halves."""
    model = filled(Tiny())
    reference = copy.deepcopy(model).eval()
    for p in reference.parameters():
        p.requires_grad_(False)
    chosen, rejected = integers(10, [4, 6], 3) + 1, integers(10, [4, 6], 90) + 1
    prompt = torch.arange(6).expand(4, 6) < torch.tensor([[2], [1], [3], [2]])
    decay, other = [], []
    for name, p in model.named_parameters():
        (other if p.ndim < 2 or "embed" in name else decay).append(p)
    optimizer = optim.AdamW(
        [{"params": decay, "weight_decay": 0.1}, {"params": other, "weight_decay": 0.0}],
        lr=5e-3,
        betas=(0.9, 0.95),
        eps=1e-4,
    )
    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 3))

    def step(i):
        optimizer.zero_grad(set_to_none=True)
        total, margins = 0.0, []
        for part in (slice(0, 2), slice(2, None)):
            ids = torch.cat([chosen[part], rejected[part]])
            labels = ids.masked_fill(prompt[part].repeat(2, 1), -100)
            policy = sequence_logps(model(ids), labels)
            with torch.no_grad():
                ref = sequence_logps(reference(ids), labels)
            (pc, pr), (rc, rr) = policy.chunk(2), ref.split(2)
            logits = (pc - pr) - (rc - rr)
            losses = -F.logsigmoid(0.5 * logits) * 0.9 - F.logsigmoid(-0.5 * logits) * 0.1
            loss = losses.mean() / 2
            loss.backward()
            total = total + loss.detach()
            margins.append(logits.detach())
        optimizer.step()
        scheduler.step()
        return total + scheduler.get_last_lr()[0], torch.cat(margins)

    return model, step


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.SiLU(), nn.Linear(8, 2))

    def forward(self, x, u):
        return x + 0.3 * self.net(torch.cat([x, u], -1))


def planning():
    """A learnt model's Jacobians, and Riccati's recursion with them (iLQR); what the plan costs trains the model."""
    model = filled(Dynamics())
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.8, dampening=0.1)
    goal, Q, R = torch.tensor([0.5, -0.3]), torch.diag(torch.tensor([1.0, 0.5])), torch.tensor([[0.1]])

    def step(i):
        params = dict(model.named_parameters())
        f = lambda x, u: functional_call(model, params, (x, u))
        us = 0.3 * numbers([4, 1], 30 + i)
        xs = [numbers([2], 5)]
        for u in us:
            xs.append(f(xs[-1], u))
        xs = torch.stack(xs)
        A, B = vmap(jacrev(f, argnums=(0, 1)))(xs[:-1], us)
        V, v = Q, Q @ (xs[-1] - goal)
        gains = []
        for t in reversed(range(4)):
            Quu = R + B[t].mT @ V @ B[t]
            K = -torch.linalg.solve(Quu, B[t].mT @ V @ A[t])
            k = -torch.linalg.solve(Quu, R @ us[t] + B[t].mT @ v)
            v = Q @ (xs[t] - goal) + A[t].mT @ v + K.mT @ Quu @ k
            V = Q + A[t].mT @ V @ (A[t] + B[t] @ K)
            gains.append((K, k))
        x, cost, path = xs[0], 0, []
        for t, (K, k) in enumerate(reversed(gains)):
            u = us[t] + k + K @ (x - xs[t])
            x = f(x, u)
            path.append(x)
            cost = cost + torch.einsum("i,ij,j->", x - goal, Q, x - goal) + R.squeeze() * u.square().sum()
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
        return cost, torch.vstack(path)

    return model, step


class ImpalaNet(nn.Module):
    def __init__(self, num_actions=4, use_lstm=True):
        super().__init__()
        self.num_actions, self.use_lstm = num_actions, use_lstm
        self.feat_convs = nn.ModuleList()
        self.resnet1 = nn.ModuleList()
        input_channels = 3
        for num_ch in [4, 6]:
            self.feat_convs.append(
                nn.Sequential(
                    nn.Conv2d(input_channels, num_ch, kernel_size=3, stride=1, padding=1),
                    nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
                )
            )
            input_channels = num_ch
            self.resnet1.append(
                nn.Sequential(
                    nn.ReLU(),
                    nn.Conv2d(num_ch, num_ch, 3, padding=1),
                    nn.ReLU(),
                    nn.Conv2d(num_ch, num_ch, 3, padding=1),
                )
            )
        self.fc = nn.Linear(6 * 4, 16)
        core = 16 + num_actions + 1
        if use_lstm:
            self.core = nn.LSTM(core, 12, num_layers=1)
            core = 12
        self.policy = nn.Linear(core, num_actions)
        self.baseline = nn.Linear(core, 1)

    def initial_state(self, batch_size=1):
        if not self.use_lstm:
            return tuple()
        return tuple(torch.zeros(self.core.num_layers, batch_size, self.core.hidden_size) for _ in range(2))

    def forward(self, inputs, core_state=()):
        x = inputs["frame"]
        T, B, *_ = x.shape
        x = torch.flatten(x, 0, 1)
        x = x.float().to(torch.get_default_dtype()) / 255.0
        for i, fconv in enumerate(self.feat_convs):
            x = fconv(x)
            res_input = x
            x = self.resnet1[i](x)
            x += res_input
        x = F.relu(x)
        x = x.view(T * B, -1)
        x = F.relu(self.fc(x))
        one_hot = F.one_hot(inputs["last_action"].view(T * B), self.num_actions).to(x.dtype)
        clipped_reward = torch.clamp(inputs["reward"], -1, 1).view(T * B, 1)
        core_input = torch.cat([x, clipped_reward, one_hot], dim=-1)
        if self.use_lstm:
            core_input = core_input.view(T, B, -1)
            core_output_list = []
            notdone = (~inputs["done"]).to(x.dtype)
            for each, nd in zip(core_input.unbind(), notdone.unbind()):
                nd = nd.view(1, -1, 1)
                core_state = tuple(nd * s for s in core_state)
                output, core_state = self.core(each.unsqueeze(0), core_state)
                core_output_list.append(output)
            core_output = torch.flatten(torch.cat(core_output_list), 0, 1)
        else:
            core_output = core_input
        policy_logits = self.policy(core_output)
        baseline = self.baseline(core_output)
        return dict(policy_logits=policy_logits.view(T, B, self.num_actions), baseline=baseline.view(T, B)), core_state


def action_log_probs(policy_logits, actions):
    return -F.nll_loss(
        F.log_softmax(torch.flatten(policy_logits, 0, 1), dim=-1), torch.flatten(actions, 0, 1), reduction="none"
    ).view_as(actions)


@torch.no_grad()
def from_importance_weights(
    log_rhos, discounts, rewards, values, bootstrap_value, clip_rho_threshold=1.0, clip_pg_rho_threshold=1.0
):
    rhos = torch.exp(log_rhos)
    clipped_rhos = torch.clamp(rhos, max=clip_rho_threshold) if clip_rho_threshold is not None else rhos
    cs = torch.clamp(rhos, max=1.0)
    values_t_plus_1 = torch.cat([values[1:], torch.unsqueeze(bootstrap_value, 0)], dim=0)
    deltas = clipped_rhos * (rewards + discounts * values_t_plus_1 - values)
    acc = torch.zeros_like(bootstrap_value)
    result = []
    for t in range(discounts.shape[0] - 1, -1, -1):
        acc = deltas[t] + discounts[t] * cs[t] * acc
        result.append(acc)
    result.reverse()
    vs_minus_v_xs = torch.stack(result)
    vs = torch.add(vs_minus_v_xs, values)
    broadcasted_bootstrap_values = torch.ones_like(vs[0]) * bootstrap_value
    vs_t_plus_1 = torch.cat([vs[1:], broadcasted_bootstrap_values.unsqueeze(0)], dim=0)
    clipped_pg_rhos = torch.clamp(rhos, max=clip_pg_rho_threshold)
    pg_advantages = clipped_pg_rhos * (rewards + discounts * vs_t_plus_1 - values)
    return vs, pg_advantages


def vtrace():
    """IMPALA: a residual network and an LSTM whose state ends with an episode; V-trace's corrections."""
    model = filled(ImpalaNet())
    optimizer = optim.RMSprop(model.parameters(), lr=0.01, momentum=0.1, eps=0.01, alpha=0.99)
    scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 - min(epoch * 8, 100) / 100)
    T, B = 5, 2

    def step(i):
        frame = (numbers([T, B, 3, 8, 8], 7 * i).abs() * 255).to(torch.uint8)
        action, reward = integers(4, [T, B], 3 + i), numbers([T, B], 90 + i) * 2
        done, behaviour = numbers([T, B], 50 + i) > 0.7, numbers([T, B, 4], 21 + i)
        batch = dict(frame=frame, last_action=action, reward=reward, done=done)
        learner_outputs, _ = model(batch, model.initial_state(B))
        bootstrap_value = learner_outputs["baseline"][-1]
        batch = {k: t[1:] for k, t in batch.items()}
        learner_outputs = {k: t[:-1] for k, t in learner_outputs.items()}
        rewards = torch.clamp(batch["reward"], -1, 1)
        discounts = (~batch["done"]).to(rewards.dtype) * 0.99
        target = action_log_probs(learner_outputs["policy_logits"], batch["last_action"])
        log_rhos = target.detach() - action_log_probs(behaviour[:-1], batch["last_action"])
        vs, pg = from_importance_weights(log_rhos, discounts, rewards, learner_outputs["baseline"], bootstrap_value)
        pg_loss = torch.sum(
            F.cross_entropy(
                torch.flatten(learner_outputs["policy_logits"], 0, 1),
                torch.flatten(batch["last_action"], 0, 1),
                reduction="none",
            ).view_as(pg)
            * pg.detach()
        )
        baseline_loss = 0.5 * 0.5 * torch.sum((vs - learner_outputs["baseline"]) ** 2)
        dist = Categorical(logits=learner_outputs["policy_logits"])
        entropy_loss = -0.01 * dist.entropy().sum()
        total_loss = pg_loss + baseline_loss + entropy_loss
        optimizer.zero_grad()
        total_loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 4.0)
        optimizer.step()
        scheduler.step()
        return total_loss + norm, torch.stack([vs, pg])

    return model, step


PROGRAMS = [c51, preferences, planning, vtrace]
