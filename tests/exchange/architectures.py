"""Small networks of many kinds, with an input each: what tests/exchange/record_models.py exports.

Each function gives (module, arguments by place, arguments by name); the module has a few thousand parameters."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


class Apply(nn.Module):
    """A module of parts, and what it does with them and its arguments."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)
        self.body = forward

    def forward(self, *args, **kwargs):
        return self.body(self, *args, **kwargs)


def conv(i, o, k=3, s=1, g=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(o), act())


def image(n=1, c=3, s=12):
    return torch.randn(n, c, s, s)


def tokens(n, length, most=20):
    return torch.randint(0, most, (n, length))


def residual(*parts, after=nn.Identity):
    return Apply(lambda m, x: m.after(x + m.parts(x)), parts=nn.Sequential(*parts), after=after())


def head(c, n=5):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, n))


@model
def resnet():
    net = nn.Sequential(
        conv(3, 8, 3, 2),
        nn.MaxPool2d(3, 2, 1),
        residual(conv(8, 8), conv(8, 8, act=nn.Identity), after=nn.ReLU),
        head(8),
    )
    return net, (image(2, 3, 16),), {}


@model
def mobilenet_v3():
    squeeze = Apply(
        lambda m, x: x * m.gate(F.adaptive_avg_pool2d(x, 1)),
        gate=nn.Sequential(nn.Conv2d(16, 4, 1), nn.ReLU(), nn.Conv2d(4, 16, 1), nn.Hardsigmoid()),
    )
    block = residual(
        conv(8, 16, 1, act=nn.Hardswish),
        conv(16, 16, 5, g=16, act=nn.Hardswish),
        squeeze,
        conv(16, 8, 1, act=nn.Identity),
    )
    return nn.Sequential(conv(3, 8, s=2, act=nn.Hardswish), block, head(8)), (image(),), {}


@model
def densenet():
    layer = lambda i: Apply(
        lambda m, x: torch.cat([x, m.c(F.relu(m.n(x)))], 1), n=nn.BatchNorm2d(i), c=nn.Conv2d(i, 4, 3, padding=1)
    )
    return nn.Sequential(nn.Conv2d(3, 8, 3), layer(8), layer(12), nn.AvgPool2d(2), head(16)), (image(),), {}


@model
def inception():
    return (
        Apply(
            lambda m, x: m.end(torch.cat([m.a(x), m.b(x), m.c(F.max_pool2d(x, 3, 1, 1))], 1)),
            a=conv(3, 4, 1),
            b=nn.Sequential(conv(3, 4, 1), conv(4, 6, 5)),
            c=conv(3, 4, 1),
            end=head(14),
        ),
        (image(),),
        {},
    )


@model
def vgg():
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(True),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3),
        nn.ReLU(True),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.Flatten(),
        nn.Linear(32, 16),
        nn.Dropout(),
        nn.Linear(16, 5),
    )
    return net, (image(2),), {}


@model
def convnext():
    class Norm(nn.LayerNorm):
        def forward(self, x):
            return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    block = residual(
        nn.Conv2d(8, 8, 7, padding=3, groups=8), Norm(8), nn.Conv2d(8, 24, 1), nn.GELU(), nn.Conv2d(24, 8, 1)
    )
    return nn.Sequential(nn.Conv2d(3, 8, 4, 4), Norm(8), block, head(8)), (image(),), {}


class Attention(nn.Module):
    def __init__(self, width, heads, groups=None, causal=False):
        super().__init__()
        self.heads, self.groups, self.causal = heads, groups or heads, causal
        d = width // heads
        self.q, self.k, self.v = (
            nn.Linear(width, width),
            nn.Linear(width, d * self.groups),
            nn.Linear(width, d * self.groups),
        )
        self.o = nn.Linear(width, width)

    def forward(self, x, other=None, rotate=None):
        y = x if other is None else other
        split = lambda t, h: t.unflatten(-1, (h, -1)).transpose(1, 2)
        q, k, v = split(self.q(x), self.heads), split(self.k(y), self.groups), split(self.v(y), self.groups)
        if rotate:
            q, k = rotate(q), rotate(k)
        repeat = self.heads // self.groups
        k, v = (t.repeat_interleave(repeat, 1) if repeat > 1 else t for t in (k, v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).flatten(2))


def mlp(width, wider=2, act=nn.GELU):
    return nn.Sequential(nn.Linear(width, wider * width), act(), nn.Linear(wider * width, width))


def block(width, heads, causal=False):
    return Apply(
        lambda m, x: (lambda y: y + m.f(m.b(y)))(x + m.t(m.a(x))),
        a=nn.LayerNorm(width), t=Attention(width, heads, causal=causal), b=nn.LayerNorm(width), f=mlp(width),
    )  # fmt: skip


@model
def vit():
    return (
        Apply(
            lambda m, x: m.h(m.b(torch.cat([m.cls.expand(x.shape[0], -1, -1), m.p(x).flatten(2).transpose(1, 2)], 1) + m.pos)[:, 0]),
            p=nn.Conv2d(3, 16, 4, 4), cls=nn.Parameter(torch.randn(1, 1, 16)), pos=nn.Parameter(torch.randn(1, 10, 16)),
            b=block(16, 4), h=nn.Linear(16, 5),
        ),
        (image(2),),
        {},
    )  # fmt: skip


@model
def swin_windows():
    def forward(m, x):
        n, h, w, c = x.shape
        y = (
            torch.roll(x, (-2, -2), (1, 2))
            .view(n, h // 4, 4, w // 4, 4, c)
            .permute(0, 1, 3, 2, 4, 5)
            .reshape(-1, 16, c)
        )
        y = m.a(y).view(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + torch.roll(y, (2, 2), (1, 2))

    return Apply(forward, a=Attention(12, 3)), (torch.randn(1, 8, 8, 12),), {}


@model
def mixer():
    return (
        Apply(lambda m, x: (lambda y: y + m.c(y))(x + m.t(x.transpose(1, 2)).transpose(1, 2)), t=mlp(9), c=mlp(12)),
        (torch.randn(2, 9, 12),),
        {},
    )


@model
def gpt():
    emb = nn.Embedding(20, 16)
    net = Apply(
        lambda m, t: m.head(m.n(m.b(m.e(t) + m.p(torch.arange(t.shape[1]))))),
        e=emb, p=nn.Embedding(8, 16), b=block(16, 4, True), n=nn.LayerNorm(16), head=nn.Linear(16, 20, bias=False),
    )  # fmt: skip
    net.head.weight = emb.weight
    return net, (tokens(2, 7),), {}


@model
def bert_with_mask():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)

    def forward(m, input_ids, attention_mask):
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        x = m.e(input_ids)
        q = m.q(x).unflatten(-1, (4, -1)).transpose(1, 2)
        w = (q @ q.transpose(-1, -2) / 2 + mask).softmax(-1)
        return {"hidden": m.l(x + (w @ q).transpose(1, 2).flatten(2)), "weights": w}

    return (
        Apply(forward, e=nn.Embedding(20, 16), q=nn.Linear(16, 16), l=layer),
        (),
        {
            "input_ids": tokens(2, 5),
            "attention_mask": torch.tensor([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]),
        },
    )


def rotary(length, d):
    angle = torch.outer(torch.arange(length).float(), 10000.0 ** -(torch.arange(0, d, 2).float() / d)).repeat(1, 2)
    half = lambda x: torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
    return lambda x: x * angle.cos() + half(x) * angle.sin()


@model
def llama():
    norm = lambda: Apply(
        lambda m, x: m.w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6), w=nn.Parameter(torch.rand(16))
    )
    net = Apply(
        lambda m, t: m.out(m.n3((lambda x: x + m.d(F.silu(m.g(m.n2(x))) * m.u(m.n2(x))))((lambda x: x + m.a(m.n1(x), rotate=rotary(6, 4)))(m.e(t))))),
        e=nn.Embedding(20, 16), n1=norm(), n2=norm(), n3=norm(), a=Attention(16, 4, 2, True),
        g=nn.Linear(16, 24, bias=False), u=nn.Linear(16, 24, bias=False), d=nn.Linear(24, 16, bias=False), out=nn.Linear(16, 20, bias=False),
    )  # fmt: skip
    return net, (tokens(1, 6),), {}


@model
def relative_attention():
    def forward(m, x):
        n = x.shape[1]
        away = torch.arange(n)[None] - torch.arange(n)[:, None]
        bias = m.bias(away.abs().clamp(max=4) + 5 * (away > 0).long()).permute(2, 0, 1)
        q = m.q(x).unflatten(-1, (2, -1)).transpose(1, 2)
        return torch.einsum("bhij,bhjd->bihd", (torch.einsum("bhid,bhjd->bhij", q, q) + bias).softmax(-1), q).flatten(2)

    return Apply(forward, q=nn.Linear(8, 8), bias=nn.Embedding(10, 2)), (torch.randn(2, 6, 8),), {}


@model
def encoder_decoder():
    return (
        Apply(
            lambda m, source, target: m.out(m.t(m.e(source), m.e(target), tgt_mask=nn.Transformer.generate_square_subsequent_mask(4), tgt_is_causal=True)),
            e=nn.Embedding(20, 8), t=nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True), out=nn.Linear(8, 20),
        ),
        (tokens(2, 5), tokens(2, 4)),
        {},
    )  # fmt: skip


@model
def speech_convolutions():
    net = nn.Sequential(
        nn.Conv1d(1, 8, 10, 5, bias=False), nn.GroupNorm(8, 8), nn.GELU(), nn.Conv1d(8, 12, 3, 2), nn.GELU()
    )
    return Apply(lambda m, x: m.b(m.c(x).transpose(1, 2)).mean(1), c=net, b=block(12, 2)), (torch.randn(1, 1, 90),), {}


@model
def wavenet():
    layer = lambda d: Apply(
        lambda m, x: x + m.o(torch.tanh(m.f(F.pad(x, (d, 0)))) * torch.sigmoid(m.g(F.pad(x, (d, 0))))),
        f=nn.Conv1d(6, 6, 2, dilation=d), g=nn.Conv1d(6, 6, 2, dilation=d), o=nn.Conv1d(6, 6, 1),
    )  # fmt: skip
    return (
        nn.Sequential(nn.Conv1d(1, 6, 1), layer(1), layer(2), layer(4), nn.Conv1d(6, 4, 1)),
        (torch.randn(2, 1, 20),),
        {},
    )


@model
def lstm_tagger():
    return (
        Apply(
            lambda m, t: m.o(m.r(m.e(t))[0]),
            e=nn.Embedding(20, 8),
            r=nn.LSTM(8, 6, 2, bidirectional=True, batch_first=True),
            o=nn.Linear(12, 4),
        ),
        (tokens(2, 5),),
        {},
    )


@model
def gru_forecast():
    return (
        Apply(lambda m, x: m.o(m.r(x)[1][-1]), r=nn.GRU(3, 8, 2, batch_first=True), o=nn.Linear(8, 1)),
        (torch.randn(4, 6, 3),),
        {},
    )


@model
def rnn_classifier():
    return (
        Apply(lambda m, x: m.o(m.r(x)[0][:, -1]), r=nn.RNN(3, 8, batch_first=True), o=nn.Linear(8, 3)),
        (torch.randn(2, 5, 3),),
        {},
    )


@model
def unet():
    return (
        Apply(
            lambda m, x: (lambda a, b: m.o(torch.cat([a, F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=True)], 1)))(
                m.a(x), m.b(F.max_pool2d(m.a(x), 2))
            ),
            a=conv(1, 6), b=conv(6, 8), o=nn.Conv2d(14, 2, 1),
        ),
        (image(1, 1, 8),),
        {},
    )  # fmt: skip


@model
def autoencoder():
    net = nn.Sequential(
        nn.Conv2d(1, 6, 3, 2, 1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(6, 8, 3, 2, 1),
        nn.ELU(),
        nn.ConvTranspose2d(8, 6, 3, 2, 1, 1),
        nn.SELU(),
        nn.ConvTranspose2d(6, 1, 4, 2, 1),
        nn.Sigmoid(),
    )
    return net, (image(2, 1, 8),), {}


@model
def diffusion_step():
    def forward(m, x, t):
        f = torch.exp(-math.log(10000) * torch.arange(4) / 4)
        e = torch.cat([(t[:, None] * f).sin(), (t[:, None] * f).cos()], 1)
        h = m.c1(F.silu(m.n1(x))) + m.t(F.silu(e))[:, :, None, None]
        h = m.c2(F.silu(m.n2(h)))
        q = m.qkv(h.flatten(2).transpose(1, 2))
        a, b, c = q.chunk(3, -1)
        return x + (h.flatten(2) + F.scaled_dot_product_attention(a, b, c).transpose(1, 2)).view_as(x)

    net = Apply(
        forward,
        n1=nn.GroupNorm(2, 8),
        c1=nn.Conv2d(8, 8, 3, padding=1),
        t=nn.Linear(8, 8),
        n2=nn.GroupNorm(2, 8),
        c2=nn.Conv2d(8, 8, 3, padding=1),
        qkv=nn.Linear(8, 24),
    )
    return net, (torch.randn(2, 8, 6, 6), torch.tensor([3.0, 50.0])), {}


@model
def vector_quantiser():
    def forward(m, x):
        z = m.e(x)
        d = (z.unsqueeze(1) - m.book).pow(2).sum(-1)
        q = m.book[d.argmin(1)]
        return m.d(z + (q - z).detach()), F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())

    return (
        Apply(forward, e=nn.Linear(6, 4), d=nn.Linear(4, 6), book=nn.Parameter(torch.randn(8, 4))),
        (torch.randn(5, 6),),
        {},
    )


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
def detector_head():
    def forward(m, x):
        y = m.c(x).flatten(2).transpose(1, 2)
        boxes, scores = y[..., :4], y[..., 4:].sigmoid()
        best, at = scores.amax(-1).topk(3, 1)
        return boxes.exp().gather(1, at[..., None].expand(-1, -1, 4)), best

    return Apply(forward, c=nn.Conv2d(4, 7, 1)), (image(2, 4, 4),), {}


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
def selective_scan():
    def forward(m, x):
        a, u = torch.sigmoid(m.a(x)), m.u(x)
        decay = torch.cumsum(torch.log(a), 1)
        return m.o(torch.exp(decay) * torch.cumsum(u * torch.exp(-decay), 1))

    return Apply(forward, a=nn.Linear(4, 6), u=nn.Linear(4, 6), o=nn.Linear(6, 4)), (torch.randn(2, 5, 4),), {}


@model
def experts():
    def forward(m, x):
        weight, at = m.gate(x).softmax(-1).topk(2, -1)
        dense = torch.zeros(x.shape[0], 3).scatter(1, at, weight)
        return torch.einsum("be,beo->bo", dense, torch.einsum("bi,eio->beo", x, m.w))

    return Apply(forward, gate=nn.Linear(6, 3), w=nn.Parameter(torch.randn(3, 6, 4))), (torch.randn(5, 6),), {}


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
