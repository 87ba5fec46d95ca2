"""Networks over graphs, points and tables; and programs with loops, branches, states and open sizes."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.while_loop import while_loop

from .parts import Apply, mlp, model, scan, tokens

EDGES = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 2, 0, 4, 1, 2]])


@model
def graph_convolution():
    def forward(m, x, edges):
        s, t = edges[0], edges[1]
        degree = torch.zeros(x.shape[0]).index_add(0, t, torch.ones(s.shape[0])).clamp(min=1)
        y = m.w(x)
        return torch.relu(m.o(x) + torch.zeros_like(y).index_add(0, t, y[s]) / degree[:, None])

    return Apply(forward, w=nn.Linear(4, 8), o=nn.Linear(4, 8)), (torch.randn(5, 4), EDGES), {}


@model
def graph_attention():
    def forward(m, x, edges):
        y = m.w(x)
        s, t = edges[0], edges[1]
        e = F.leaky_relu((torch.cat([y[s], y[t]], 1) * m.a).sum(1), 0.2)
        most = torch.full((5,), -1e9).scatter_reduce(0, t, e, "amax")
        w = (e - most[t]).exp()
        total = torch.zeros(5).scatter_add(0, t, w)
        return torch.zeros(5, 6).scatter_add(0, t[:, None].expand(-1, 6), y[s] * (w / total[t])[:, None])

    return Apply(forward, w=nn.Linear(4, 6), a=nn.Parameter(torch.randn(12))), (torch.randn(5, 4), EDGES), {}


@model
def recommender():
    return (
        Apply(
            lambda m, ids, dense: torch.sigmoid(m.o(torch.cat([m.e(ids), m.d(dense)], 1)) + (m.f(ids).sum(1).pow(2) - m.f(ids).pow(2).sum(1)).sum(1, keepdim=True)),
            e=nn.EmbeddingBag(20, 6, mode="sum"), f=nn.Embedding(20, 4), d=nn.Linear(3, 4), o=nn.Linear(10, 1),
        ),
        (tokens(4, 3), torch.randn(4, 3)),
        {},
    )  # fmt: skip


@model
def twin_encoders():
    return (
        Apply(
            lambda m, a, b: (F.normalize(m.a(a)) @ F.normalize(m.b(b)).T) * m.scale.exp(),
            a=nn.Linear(6, 4),
            b=nn.Linear(5, 4),
            scale=nn.Parameter(torch.tensor(0.5)),
        ),
        (torch.randn(3, 6), torch.randn(3, 5)),
        {},
    )


@model
def point_cloud():
    return (
        Apply(lambda m, x: m.o(m.f(x).max(1).values), f=mlp(3, 8, nn.ReLU), o=nn.Linear(3, 4)),
        (torch.randn(2, 10, 3),),
        {},
    )


@model
def radiance_field():
    def forward(m, x):
        f = 2.0 ** torch.arange(4) * math.pi
        e = (x[..., None] * f).flatten(-2)
        y = m.net(torch.cat([x, e.sin(), e.cos()], -1))
        return torch.sigmoid(y[..., :3]), F.softplus(y[..., 3])

    return Apply(forward, net=nn.Sequential(nn.Linear(27, 16), nn.ReLU(), nn.Linear(16, 4))), (torch.randn(6, 3),), {}


@model
def running_mean():
    def forward(m, x):
        m.mean.mul_(0.9).add_(0.1 * x.detach().mean(0))
        m.steps.add_(1)
        return m.l(x - m.mean)

    return Apply(forward, l=nn.Linear(4, 3), mean=torch.zeros(4), steps=torch.tensor(0)), (torch.randn(6, 4),), {}


@model
def batch_norm_training():
    net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2)).train()
    return net, (torch.randn(8, 4),), {}


@model
def no_grad_inside():
    def forward(m, x):
        with torch.no_grad():
            scale = m.a(x).abs().mean()
        return m.b(x) / scale

    return Apply(forward, a=nn.Linear(4, 4), b=nn.Linear(4, 2)), (torch.randn(3, 4),), {}


@model
def branch():
    return (
        Apply(
            lambda m, x: torch.cond(x.sum() > 0, lambda v: m.a(v), lambda v: m.b(v) * 2, (x,)),
            a=nn.Linear(3, 2),
            b=nn.Linear(3, 2),
        ),
        (torch.randn(2, 3),),
        {},
    )


@model
def dynamic_batch():
    net = Apply(
        lambda m, x, y: m.o(torch.cat([m.e(x).mean(1), y], 1).view(x.shape[0], -1)) * (x.shape[1] / 2),
        e=nn.Embedding(20, 6), o=nn.Linear(10, 3),
    )  # fmt: skip
    batch, length = torch.export.Dim("batch", max=64), torch.export.Dim("length", min=2, max=32)
    net.dynamic_shapes = (({0: batch, 1: length}, {0: batch}),)
    return net, (tokens(3, 5), torch.randn(3, 4)), {}


@model
def nested_arguments():
    net = Apply(
        lambda m, pair, *, extra: {"sum": m.l(pair[0] + pair[1]["b"]), "list": [extra["c"] * 2, pair[0]]},
        l=nn.Linear(3, 2),
    )
    return net, ((torch.randn(2, 3), {"b": torch.randn(2, 3)}),), {"extra": {"c": torch.randn(2)}}


@model
def loop():
    def more(n, v):
        return (v.abs().sum() < 50) & (n < 20)

    def forward(m, x):
        return while_loop(more, lambda n, v: (n + 1, m.l(v) + v), (torch.tensor(0), x))

    # PyTorch 2.13 has wrong gradients of while_loop: none are recorded
    return Apply(forward, l=nn.Linear(3, 3).requires_grad_(False)), (torch.randn(2, 3),), {}


@model
def mapped():
    def forward(m, x, y):
        return map_over(lambda v, w: torch.tanh(m.l(v)) * w, x, y)

    return Apply(forward, l=nn.Linear(3, 3)), (torch.randn(4, 2, 3), torch.randn(2, 3)), {}


@model
def scanned():
    def step(h, x):
        h = torch.tanh(x + 0.5 * h)
        return h, h * 2

    def forward(m, x):
        return scan(step, torch.zeros(2, 3), m.l(x), dim=1, reverse=True)

    return Apply(forward, l=nn.Linear(3, 3)), (torch.randn(2, 5, 3),), {}
