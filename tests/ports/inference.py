"""Densities and hidden states: flows, Gaussian processes, Markov models, filters; and what learns without labels."""

import copy
import math

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import distributions as D
from torch import nn, optim


class Coupling(nn.Module):
    def __init__(self, dim, hidden, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, dim), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(negative_slope=0.2), nn.Linear(hidden, dim))

    def forward(self, x):
        kept = x * self.mask
        s = self.scale(kept) * (1 - self.mask)
        t = self.shift(kept) * (1 - self.mask)
        z = (1 - self.mask) * (x - t) * torch.exp(-s) + kept
        return z, -s.sum(dim=-1)


class RealNVP(nn.Module):
    def __init__(self, dim=4, hidden=8, layers=4):
        super().__init__()
        masks = [(torch.arange(dim) + i).remainder(2).to(torch.get_default_dtype()) for i in range(layers)]
        self.layers = nn.ModuleList([Coupling(dim, hidden, m) for m in masks])
        self.register_buffer("loc", torch.zeros(dim))

    def log_prob(self, x):
        total = x.new_zeros(x.shape[0])
        for layer in reversed(self.layers):
            x, logdet = layer(x)
            total = total + logdet
        base = D.Independent(D.Normal(self.loc, torch.ones_like(self.loc)), 1)
        return base.log_prob(x) + total


def flow():
    """RealNVP's couplings, by their likelihood."""
    model = filled(RealNVP())
    optimizer = optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.99), weight_decay=1e-4)
    x = numbers([16, 4], 7) * 2

    def step(i):
        optimizer.zero_grad(set_to_none=True)
        loss = -model.log_prob(x).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=5.0)
        optimizer.step()
        return loss, model.log_prob(x)

    return model, step


class GP(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw_scale = nn.Parameter(torch.tensor(0.3))
        self.raw_length = nn.Parameter(torch.zeros(2))
        self.raw_noise = nn.Parameter(torch.tensor(-2.0))

    def kernel(self, a, b):
        length = F.softplus(self.raw_length)
        return F.softplus(self.raw_scale) * torch.exp(-0.5 * torch.cdist(a / length, b / length).square())

    def factor(self, x):
        return torch.linalg.cholesky(self.kernel(x, x) + F.softplus(self.raw_noise) * torch.eye(x.size(0)))

    def posterior(self, x, y, at):
        L = self.factor(x)
        alpha = torch.cholesky_solve(y.unsqueeze(-1), L)
        k = self.kernel(x, at)
        v = torch.linalg.solve_triangular(L, k, upper=False)
        return (k.mT @ alpha).squeeze(-1), self.kernel(at, at).diagonal() - v.pow(2).sum(0)


def gaussian_process():
    """Regression by the marginal likelihood."""
    model = GP()
    x, at = numbers([10, 2], 2), numbers([5, 2], 90)
    y = torch.sin(3 * x[:, 0]) + 0.5 * x[:, 1]
    optimizer = optim.Adam(model.parameters(), lr=0.05)

    def step(i):
        optimizer.zero_grad()
        L = model.factor(x)
        loss = -D.MultivariateNormal(torch.zeros_like(y), scale_tril=L).log_prob(y) / y.numel()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            mean, var = model.posterior(x, y, at)
        return loss, torch.stack((mean, var), dim=-1)

    return model, step


class HMM(nn.Module):
    def __init__(self, states=3, symbols=5):
        super().__init__()
        self.start = nn.Parameter(numbers([states], 1))
        self.transition = nn.Parameter(numbers([states, states], 5))
        self.emission = nn.Parameter(numbers([states, symbols], 20))

    def logs(self):
        return self.start.log_softmax(0), self.transition.log_softmax(-1), F.log_softmax(self.emission, dim=1)

    def forward(self, x, lengths):
        start, transition, emission = self.logs()
        alpha = start + emission[:, x[:, 0]].t()
        every = [alpha]
        for t in range(1, x.size(1)):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + transition, dim=1) + emission[:, x[:, t]].t()
            every.append(alpha)
        sums = torch.stack(every, 1).logsumexp(2)
        return sums.gather(1, (lengths - 1).view(-1, 1)).squeeze(1)

    @torch.no_grad()
    def viterbi(self, x):
        start, transition, emission = self.logs()
        delta, back = start + emission[:, x[:, 0]].t(), []
        for t in range(1, x.size(1)):
            best, where = (delta[:, :, None] + transition[None]).max(dim=1)
            back.append(where)
            delta = best + emission[:, x[:, t]].t()
        path = [delta.argmax(-1)]
        for where in reversed(back):
            path.insert(0, where.gather(1, path[0].unsqueeze(1)).squeeze(1))
        return torch.stack(path, dim=1)


def hidden_markov():
    """The forward algorithm and Viterbi's path."""
    model = HMM()
    x, lengths = integers(5, [4, 7], 3), torch.tensor([7, 5, 6, 3])
    optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True)

    def step(i):
        optimizer.zero_grad()
        loss = -(model(x, lengths) / lengths).mean()
        loss.backward()
        optimizer.step()
        return loss, model.viterbi(x).to(torch.get_default_dtype())

    return model, step


class Kalman(nn.Module):
    def __init__(self, state=3, seen=2):
        super().__init__()
        self.A = nn.Parameter(0.8 * torch.eye(state) + 0.2 * numbers([state, state], 4))
        self.C = nn.Parameter(numbers([seen, state], 40))
        self.log_q = nn.Parameter(torch.full((state,), -1.0))
        self.log_r = nn.Parameter(torch.full((seen,), -0.5))

    def forward(self, y):
        n, m = self.A.shape[0], self.C.shape[0]
        Q, R = torch.diag(self.log_q.exp()), torch.diag_embed(self.log_r.exp())
        x, P, nll, means = torch.zeros(y.shape[1], n), torch.eye(n), 0.0, []
        for seen in y:
            x, P = x @ self.A.T, self.A @ P @ self.A.T + Q
            S = self.C @ P @ self.C.T + R
            gap = seen - x @ self.C.T
            K = torch.linalg.solve(S, self.C @ P).mT
            sign, logdet = torch.linalg.slogdet(S)
            far = torch.einsum("bi,ij,bj->b", gap, torch.linalg.inv(S), gap)
            nll = nll + 0.5 * (far + logdet + m * math.log(2 * math.pi)).mean()
            x, P = x + gap @ K.T, (torch.eye(n) - K @ self.C) @ P
            means.append(x)
        return nll / len(y), torch.stack(means)


def kalman():
    """A filter that learns its system, which is to be stable: no eigenvalue beyond 0.5."""
    model = Kalman()
    y = torch.cumsum(0.3 * numbers([6, 4, 2], 11), dim=0)
    optimizer = optim.Adagrad(model.parameters(), lr=0.05)

    def step(i):
        optimizer.zero_grad()
        nll, means = model(y)
        radius = torch.linalg.eigvals(model.A.float()).abs().max().to(nll.dtype)
        loss = nll + F.relu(radius - 0.5)
        loss.backward()
        optimizer.step()
        return loss, means

    return model, step


class Sine(nn.Module):
    def __init__(self, i, o, w0=3.0):
        super().__init__()
        self.w0, self.linear = w0, nn.Linear(i, o)

    def forward(self, x):
        return torch.sin(self.w0 * self.linear(x))


def siren():
    """Poisson's equation by a network of sines: its Laplacian is what is fitted."""
    model = filled(nn.Sequential(Sine(2, 12), Sine(12, 12), nn.Linear(12, 1)))
    optimizer = optim.Adam(model.parameters(), lr=1e-3, amsgrad=True)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=10)
    xy = numbers([10, 2], 8).requires_grad_(True)

    def laplacian(y, x):
        (grad,) = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)
        rows = [torch.autograd.grad(grad[..., i].sum(), x, create_graph=True)[0][..., i] for i in range(x.shape[-1])]
        return torch.stack(rows, dim=-1).sum(-1, keepdim=True)

    def step(i):
        optimizer.zero_grad()
        source = -2 * math.pi**2 * torch.prod(torch.sin(math.pi * xy.detach()), dim=-1, keepdim=True)
        found = laplacian(model(xy), xy)
        loss = F.smooth_l1_loss(found, source, beta=0.5)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, found

    return model, step


def byol():
    """Two views, a predictor, and a target that follows slowly."""

    def mlp(i, h, o):
        return nn.Sequential(nn.Linear(i, h, bias=False), nn.BatchNorm1d(h), nn.ReLU(inplace=True), nn.Linear(h, o))

    online = filled(nn.ModuleDict({"encoder": mlp(6, 12, 8), "predictor": mlp(8, 10, 8)}))
    target = copy.deepcopy(online["encoder"]).requires_grad_(False)
    optimizer = optim.SGD(
        [{"params": online.encoder.parameters()}, {"params": online.predictor.parameters(), "lr": 0.2}], 0.1
    )
    x = numbers([8, 6], 3)
    one, two = x + 0.1 * numbers([8, 6], 60), torch.flip(x, [0]) * 0 + x * 0.9

    def regression(a, b):
        return 2 - 2 * F.cosine_similarity(a, b.detach(), dim=-1)

    def step(i):
        p, q = (online["predictor"](online["encoder"](v)) for v in (one, two))
        with torch.no_grad():
            s, t = target(one), target(two)
        loss = (regression(p, t) + regression(q, s)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mine, its in zip(target.parameters(), online["encoder"].parameters()):
                mine.data.mul_(0.9).add_(its.data, alpha=0.1)
        return loss, F.normalize(target(x), p=2, dim=1)

    return online, step


class Experts(nn.Module):
    def __init__(self, dim=6, experts=4, k=2):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 8), nn.GELU(approximate="tanh"), nn.Linear(8, dim)) for _ in range(experts)
        )

    def forward(self, x):
        b, t, d = x.shape
        flat = x.view(-1, d)
        probs = self.gate(flat).softmax(dim=-1)
        weights, chosen = torch.topk(probs, self.k, dim=-1, sorted=True)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        mask = F.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
        for e, expert in enumerate(self.experts):
            slot, token = torch.where(mask[e] > 0)
            out.index_add_(0, token, expert(flat[token]) * weights[token, slot, None])
        load = mask.to(probs.dtype).sum(dim=(1, 2)) / flat.shape[0]
        return out.reshape(b, t, d), len(self.experts) * (load * probs.mean(0)).sum()


def experts():
    """A mixture of experts: tokens go to the best two, and the load is balanced."""
    model = filled(Experts())
    optimizer = optim.NAdam(model.parameters(), lr=1e-2)
    x, y = numbers([2, 5, 6], 13), numbers([2, 5, 6], 200)

    def step(i):
        optimizer.zero_grad()
        out, balance = model(x)
        loss = F.huber_loss(out, y, delta=0.7) + 0.01 * balance
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


class GAT(nn.Module):
    def __init__(self, i, o, heads):
        super().__init__()
        self.heads, self.o = heads, o
        self.lin = nn.Linear(i, heads * o, bias=False)
        self.att = nn.Parameter(numbers([2, 1, heads, o], 17) * 0.3)

    def forward(self, x, edges):
        src, dst = edges
        n = x.size(0)
        h = self.lin(x).view(n, self.heads, self.o)
        left, right = (h * self.att[0]).sum(-1), (h * self.att[1]).sum(-1)
        e = F.leaky_relu(left.index_select(0, src) + right.index_select(0, dst), 0.2)
        where = dst.unsqueeze(-1).expand_as(e)
        top = torch.full((n, self.heads), -math.inf).scatter_reduce(
            0, where, e.detach(), reduce="amax", include_self=False
        )
        w = (e - top[dst]).exp()
        total = torch.zeros(n, self.heads).scatter_add(0, where, w)
        alpha = w / total[dst].clamp(min=1e-16)
        return torch.zeros_like(h).index_add(0, dst, alpha.unsqueeze(-1) * h[src]).flatten(start_dim=1)


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = GAT(5, 4, 2), GAT(8, 3, 1)

    def forward(self, x, edges):
        x = F.elu(self.one(F.dropout(x, p=0.6, training=False), edges))
        return self.two(x, edges).log_softmax(dim=-1)


def attention_of_graphs():
    """Attention over the edges of a graph, half of whose labels are known."""
    model = filled(Graph())
    x, labels = numbers([9, 5], 21), integers(3, [9], 70)
    loops = torch.arange(9)
    edges = torch.stack([torch.cat([integers(9, [20], 31), loops]), torch.cat([integers(9, [20], 77), loops])])
    known = torch.tensor([True, False] * 4 + [True])
    optimizer = optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)

    def step(i):
        optimizer.zero_grad()
        out = model(x, edges)
        loss = F.nll_loss(out[known], labels[known], weight=torch.tensor([1.0, 0.5, 2.0]))
        loss.backward()
        optimizer.step()
        return loss, out

    return model, step


PROGRAMS = [flow, gaussian_process, hidden_markov, kalman, siren, byol, experts, attention_of_graphs]
