"""What the networks here are made of, and where they are listed."""

import torch
import torch.nn.functional as F
from torch import nn

try:
    from torch._higher_order_ops.scan import scan
except ImportError:  # of PyTorch 2.5, for which only earlier.py is recorded
    scan = None

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
