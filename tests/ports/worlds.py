"""A model of the world, as DreamerV3 learns it: discrete states that gradients pass straight through, values as two-hot
codes, returns that look ahead, an optimizer of its own, a slow critic."""

import copy

import torch
import torch.distributions as D
import torch.nn.functional as F
from given import filled, numbers
from torch import nn


def symlog(x):
    return torch.sign(x) * torch.log1p(torch.abs(x))


def symexp(x):
    return torch.sign(x) * torch.expm1(torch.abs(x))


class TwoHot:
    """A number as weights of the two buckets beside it."""

    def __init__(self, low, high, n):
        self.buckets = torch.linspace(low, high, n)

    def encode(self, x):
        x, n = symlog(x), len(self.buckets)
        below = ((self.buckets <= x[..., None]).sum(-1) - 1).clip(0, n - 1)
        above = (n - (self.buckets > x[..., None]).sum(-1)).clip(0, n - 1)
        equal = below == above
        to_below = torch.where(equal, 1, torch.abs(self.buckets[below] - x))
        to_above = torch.where(equal, 1, torch.abs(self.buckets[above] - x))
        total = to_below + to_above
        first = F.one_hot(below, n) * (to_above / total)[..., None]
        return first + F.one_hot(above, n) * (to_below / total)[..., None]

    def decode(self, logits):
        return symexp((logits.softmax(-1) * self.buckets).sum(-1))

    def loss(self, logits, x):
        return -(self.encode(x).detach() * F.log_softmax(logits, -1)).sum(-1)


class StateSpace(nn.Module):
    def __init__(self, stoch=3, classes=4, deter=6, act=2, embed=5, unimix=0.01):
        super().__init__()
        self.stoch, self.classes, self.unimix = stoch, classes, unimix
        self.inp = nn.Sequential(nn.Linear(stoch * classes + act, 6, bias=False), nn.LayerNorm(6, eps=1e-3), nn.SiLU())
        self.cell = nn.GRUCell(6, deter)
        self.prior_net = nn.Linear(deter, stoch * classes)
        self.post_net = nn.Linear(deter + embed, stoch * classes)
        self.initial = nn.Parameter(torch.zeros(deter))

    def get_dist(self, logits):
        logits = logits.reshape(*logits.shape[:-1], self.stoch, self.classes)
        probs = logits.softmax(-1) * (1 - self.unimix) + self.unimix / self.classes
        return D.Independent(D.OneHotCategoricalStraightThrough(probs=probs), 1)

    def pick(self, dist, u):
        p = dist.base_dist.probs
        index = torch.searchsorted(p.detach().cumsum(-1), u[..., None]).clamp_max(self.classes - 1).squeeze(-1)
        return (F.one_hot(index, self.classes).to(p.dtype) + p - p.detach()).flatten(-2)

    def forward(self, embeds, actions, first, uniform):
        steps, batch = actions.shape[:2]
        h, z = torch.tanh(self.initial).expand(batch, -1), torch.zeros(batch, self.stoch * self.classes)
        rows = []
        for t in range(steps):
            mask = (1.0 - first[t].to(h.dtype)).unsqueeze(-1)
            h = h * mask + torch.tanh(self.initial) * (1 - mask)
            h = self.cell(self.inp(torch.cat([z * mask, actions[t] * mask], -1)), h)
            prior, post = self.prior_net(h), self.post_net(torch.cat((h, embeds[t]), dim=-1))
            z = self.pick(self.get_dist(post), uniform[t])
            rows.append((h, z, post, prior))
        return [torch.stack(x) for x in zip(*rows, strict=True)]

    def kl(self, post, prior, free=0.2):
        dyn = D.kl_divergence(self.get_dist(post.detach()), self.get_dist(prior))
        rep = D.kl_divergence(self.get_dist(post), self.get_dist(prior.detach()))
        return torch.clip(dyn, min=free) * 0.5 + torch.clip(rep, min=free) * 0.1


class LaProp(torch.optim.Optimizer):
    """Momentum of what is normalised, after clipping by the size of each parameter; factors stand where they once did."""

    def __init__(self, params, lr=4e-3, betas=(0.9, 0.99), eps=1e-15, agc=0.3, pmin=1e-3):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, agc=agc, pmin=pmin))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                upper = group["agc"] * torch.maximum(torch.tensor(group["pmin"]), p.norm())
                g = p.grad / torch.maximum(torch.tensor(1.0), p.grad.norm() / upper)
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"], state["nu"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                state["nu"].mul_(b2).addcmul_(1 - b2, g, g)
                update = g / (state["nu"] / (1 - b2 ** state["step"])).sqrt().add_(group["eps"])
                state["exp_avg"].mul_(b1).add_(1 - b1, update)
                p.data.add_(-group["lr"] / (1 - b1 ** state["step"]), state["exp_avg"])


def dreamer():
    world, head = filled(StateSpace()), filled(nn.Linear(18, 11))
    model = nn.ModuleDict({"world": world, "head": head, "slow": copy.deepcopy(head).requires_grad_(False)})
    code = TwoHot(-5, 5, 11)
    embeds, actions, rewards = numbers([4, 3, 5]), numbers([4, 3, 2], 7), numbers([4, 3], 77) * 3
    uniform, first = (numbers([4, 3, 3], 90) + 1) / 2, torch.zeros(4, 3, dtype=torch.bool)
    first[0], first[2, 1] = True, True
    optimizer = LaProp([{"params": world.parameters()}, {"params": head.parameters(), "lr": 1e-2}])
    going, spread = 1 - first.to(rewards.dtype), torch.zeros(2)

    def step(i):
        h, z, post, prior = world(embeds, actions, first, uniform)
        features = torch.cat([h, z], -1)
        values = code.decode(model["slow"](features)).detach()
        returns = [values[-1]]
        for t in reversed(range(3)):
            ahead = 0.1 * values[t + 1] + 0.9 * returns[-1]
            returns.append(rewards[t + 1] + 0.95 * going[t + 1] * ahead)
        returns = torch.stack(returns[:0:-1])
        spread.lerp_(torch.quantile(returns.flatten(), torch.tensor([0.05, 0.95])), 0.2)
        weights = torch.cumprod(0.97 * going, 0)[:-1]
        loss = world.kl(post, prior).mean() + (weights * code.loss(head(features)[:-1], returns)).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for s, d in zip(model["slow"].parameters(), head.parameters(), strict=True):
                s.data.lerp_(d.data, 0.02)
        return loss, torch.cat([returns.flatten(), spread, world.get_dist(post).entropy().flatten()])

    return model, step


PROGRAMS = [dreamer]
