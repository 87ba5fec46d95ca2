"""What is likely: densities by splines and masks, mixtures, transport, games."""

import math

import torch
import torch.distributions as D
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.nn.utils import parametrizations, parametrize


def searchsorted(bin_locations, inputs, eps=1e-6):
    bin_locations = bin_locations.clone()
    bin_locations[..., -1] += eps
    return torch.sum(inputs[..., None] >= bin_locations, dim=-1) - 1


def rational_quadratic_spline(
    inputs, widths, heights, derivatives, inverse=False, tail_bound=2.0, min_size=1e-3, min_slope=1e-3
):
    """Neural spline flows' (nflows)."""
    K = widths.shape[-1]
    constant = math.log(math.exp(1 - min_slope) - 1)
    derivatives = min_slope + F.softplus(F.pad(derivatives, pad=(1, 1), value=constant))

    def knots(unnormalized):
        parts = min_size + (1 - min_size * K) * F.softmax(unnormalized, dim=-1)
        edges = F.pad(torch.cumsum(parts, dim=-1), pad=(1, 0), mode="constant", value=0.0)
        edges = 2 * tail_bound * edges - tail_bound
        edges[..., 0], edges[..., -1] = -tail_bound, tail_bound
        return edges, edges[..., 1:] - edges[..., :-1]

    inside = (inputs >= -tail_bound) & (inputs <= tail_bound)
    (cw, w), (ch, h) = knots(widths), knots(heights)
    x = inputs.clamp(-tail_bound, tail_bound)
    i = searchsorted(ch if inverse else cw, x)[..., None]
    pick = lambda t: t.gather(-1, i)[..., 0]
    delta = pick(h / w)
    d0, d1, w, h, cw, ch = pick(derivatives), pick(derivatives[..., 1:]), pick(w), pick(h), pick(cw), pick(ch)
    s = d0 + d1 - 2 * delta
    if inverse:
        a = (x - ch) * s + h * (delta - d0)
        b = h * d0 - (x - ch) * s
        c = -delta * (x - ch)
        theta = (2 * c) / (-b - torch.sqrt(b.pow(2) - 4 * a * c))
        out = theta * w + cw
    else:
        theta = (x - cw) / w
        out = ch + h * (delta * theta.pow(2) + d0 * theta * (1 - theta)) / (delta + s * theta * (1 - theta))
    slope = delta.pow(2) * (d1 * theta.pow(2) + 2 * delta * theta * (1 - theta) + d0 * (1 - theta).pow(2))
    logdet = torch.log(slope) - 2 * torch.log(delta + s * theta * (1 - theta))
    zero = torch.zeros_like(logdet)
    return torch.where(inside, out, inputs), torch.where(inside, -logdet if inverse else logdet, zero)


class SplineFlow(nn.Module):
    def __init__(self, dim=4, bins=5, layers=2):
        super().__init__()
        self.bins, self.half = bins, dim // 2
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(self.half, 8), nn.ELU(0.7), nn.Linear(8, self.half * (3 * bins - 1)))
            for _ in range(layers)
        )
        self.register_buffer("order", torch.tensor([2, 0, 3, 1]), persistent=False)

    def parts(self, net, known):
        return net(known).unflatten(-1, (self.half, -1)).split([self.bins, self.bins, self.bins - 1], dim=-1)

    def forward(self, x):
        logdet = 0
        for net in self.nets:
            a, b = x[:, self.order].tensor_split(2, dim=1)
            b, ld = rational_quadratic_spline(b, *self.parts(net, a))
            x, logdet = torch.cat([a, b], 1), logdet + ld.sum(-1)
        return x, logdet

    def inverse(self, z):
        back = torch.argsort(self.order)
        for net in reversed(self.nets):
            a, b = z.tensor_split([self.half], dim=1)
            b, _ = rational_quadratic_spline(b, *self.parts(net, a), inverse=True)
            z = torch.cat((a, b), dim=-1).index_select(1, back)
        return z


def spline_flow():
    model = filled(SplineFlow())
    x = 2.2 * numbers([10, 4], 3)
    optimizer = optim.Adam(model.parameters(), lr=1e-2, eps=1e-4)
    base = D.MultivariateNormal(torch.zeros(4), torch.eye(4))

    def step(i):
        optimizer.zero_grad()
        z, logdet = model(x)
        loss = -(base.log_prob(z) + logdet).mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            back = model.inverse(model(x)[0])
        return loss, back - x + z.detach()

    return model, step


class MaskedLinear(nn.Linear):
    def __init__(self, in_features, out_features, mask):
        super().__init__(in_features, out_features, bias=True)
        self.register_buffer("mask", mask)

    def forward(self, input):
        return F.linear(input, self.mask * self.weight, self.bias)


class MAF(nn.Module):
    """A masked autoregressive flow, and a mixture over its outputs."""

    def __init__(self, dim=3, hidden=9, k=2):
        super().__init__()
        self.dim, self.k = dim, k
        degrees = [torch.arange(dim), torch.arange(hidden) % (dim - 1), torch.arange(dim).repeat_interleave(3 * k) - 1]
        masks = [(b[:, None] >= a[None, :]).to(torch.get_default_dtype()) for a, b in zip(degrees, degrees[1:])]
        self.net = nn.Sequential(
            MaskedLinear(dim, hidden, masks[0]), nn.LeakyReLU(0.2), MaskedLinear(hidden, 3 * k * dim, masks[1])
        )

    def dist(self, x):
        logits, loc, scale = self.net(x).view(-1, self.dim, 3 * self.k).chunk(3, dim=-1)
        mixture = D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(loc, F.softplus(scale) + 1e-2))
        return D.Independent(mixture, reinterpreted_batch_ndims=1)


def autoregressive_mixture():
    model = filled(MAF())
    x = numbers([8, 3], 5)
    optimizer = optim.Adamax(model.parameters(), lr=2e-2, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        dist = model.dist(x)
        loss = -dist.log_prob(x).mean()
        loss.backward()
        optimizer.step()
        return loss, torch.stack([dist.mean, dist.variance.sqrt(), dist.base_dist.cdf(x)], dim=-1)

    return model, step


def sinkhorn():
    """Optimal transport in logarithms between learnt points and given ones, with weights, and a soft sort."""
    model = nn.ParameterDict(
        {"points": nn.Parameter(numbers([6, 2], 3)), "logits": nn.Parameter(0.5 * numbers([6], 90))}
    )
    target = numbers([8, 2], 40) * 0.5 + 0.7
    optimizer = optim.ASGD(model.parameters(), lr=0.1)

    def plan(x, log_a, y, eps=0.3, iters=12):
        C = torch.cdist(x, y, p=2).pow(2)
        log_b = torch.full((y.size(0),), -math.log(y.size(0)))
        f, g = torch.zeros_like(log_a), torch.zeros_like(log_b)
        for _ in range(iters):
            f = -eps * torch.logsumexp((g - C) / eps + log_b, dim=1)
            g = -eps * ((f[:, None] - C) / eps + log_a[:, None]).logsumexp(0)
        P = torch.exp((f[:, None] + g[None, :] - C) / eps + log_a[:, None] + log_b)
        return P, (P * C).sum()

    def step(i):
        optimizer.zero_grad()
        P, cost = plan(model["points"], model["logits"].log_softmax(0), target)
        ranks, _ = torch.sort(model["points"][:, 0], descending=True)
        loss = (
            cost
            + 0.1 * (ranks[:-1] - ranks[1:]).clamp_min(0.1).sum()
            + 0.05 * D.Categorical(logits=model["logits"]).entropy()
        )
        loss.backward()
        optimizer.step()
        return loss, P

    return model, step


class Half(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).mT


class Critic(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.conv = parametrizations.spectral_norm(nn.Conv2d(1, 4, 3, stride=2, padding=1), n_power_iterations=2)
        self.fc = parametrizations.weight_norm(nn.Linear(16, 4))
        self.mix = nn.Linear(4, 4, bias=False)
        parametrize.register_parametrization(self.mix, "weight", Half())
        self.embed = nn.Embedding(classes, 4)

    def forward(self, x, y):
        h = F.leaky_relu(self.conv(x), 0.1).flatten(1)
        h = self.mix(torch.tanh(self.fc(h)))
        return h.sum(1) + (self.embed(y) * h).sum(dim=1)


def projection_gan():
    """A game of conditions: a projection critic with bounded weights, hinge losses, an average of the generator."""
    G = nn.Sequential(
        nn.Linear(5, 8),
        nn.BatchNorm1d(8),
        nn.ReLU(True),
        nn.Unflatten(1, (2, 2, 2)),
        nn.ConvTranspose2d(2, 1, 4, 2, 1),
        nn.Tanh(),
    )
    nets = nn.ModuleDict(dict(G=G, D=Critic()))
    filled(nets)
    state = nets["D"].state_dict()
    for key in state:
        if key.endswith(("_u", "_v")):
            state[key] = F.normalize(numbers(list(state[key].shape), 77), dim=0)
    nets["D"].load_state_dict(state)
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    ema = AveragedModel(nets["G"], multi_avg_fn=get_ema_multi_avg_fn(0.8), use_buffers=True)
    opt_g = optim.Adam(nets["G"].parameters(), lr=2e-3, betas=(0.0, 0.9), eps=1e-4)
    opt_d = optim.Adam(nets["D"].parameters(), lr=4e-3, betas=(0.0, 0.9), eps=1e-4)
    real, y = numbers([6, 1, 4, 4], 5), integers(3, [6], 8)

    def step(i):
        z = torch.cat([numbers([6, 2], 100 + i), F.one_hot(y, num_classes=3).to(real.dtype)], dim=1)
        with torch.no_grad():
            fake = nets["G"](z)
        nets["D"].zero_grad()
        loss_d = F.relu(1.0 - nets["D"](real, y)).mean() + F.relu(1.0 + nets["D"](fake, y)).mean()
        loss_d.backward()
        opt_d.step()
        nets["D"].requires_grad_(False)
        opt_g.zero_grad()
        loss_g = -nets["D"](nets["G"](z), y).mean()
        loss_g.backward()
        opt_g.step()
        nets["D"].requires_grad_(True)
        ema.update_parameters(nets["G"])
        with torch.no_grad():
            shown = ema.eval()(z)
        return loss_d + loss_g, shown

    return nets, step


PROGRAMS = [spline_flow, autoregressive_mixture, sinkhorn, projection_gan]
