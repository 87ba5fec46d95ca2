"""Networks that compute with numbers which a GPU lacks: float64, and infinities as whole numbers.  An archive of their
own, numbers.tar.xz."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply, tokens

NUMBERS = {}


def numbers(make):
    NUMBERS[make.__name__] = make
    return make


@numbers
def distance_buckets():
    """T5: distances beyond some share buckets by their logarithm, which is that of 0 where it is not chosen."""

    def forward(m, ids):
        n = ids.shape[1]
        away = torch.arange(n)[None] - torch.arange(n)[:, None]
        before = -torch.min(away, torch.zeros_like(away))
        far = 4 + (torch.log(before.float() / 4) / math.log(16 / 4) * 4).to(torch.long)
        far = torch.min(far, torch.full_like(far, 7))
        bias = m.bias(torch.where(before < 4, before, far)).permute(2, 0, 1)
        x = m.embed(ids)
        q, k, v = m.qkv(x).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        weights = F.softmax((q @ k.transpose(3, 2) + bias).float(), -1)
        return F.linear(x + m.out((weights @ v).transpose(1, 2).flatten(2)), m.embed.weight)

    return (
        Apply(forward, embed=nn.Embedding(20, 8), bias=nn.Embedding(8, 2), qkv=nn.Linear(8, 24), out=nn.Linear(8, 8)),
        (tokens(2, 9),),
        {},
    )


@numbers
def angles_in_doubles():
    """Rotations by angles that are computed in float64, of places that are an argument."""

    def forward(m, x, places):
        frequencies = 1.0 / (1e4 ** (torch.arange(0, 8, 2, dtype=torch.float64) / 8))
        angles = torch.outer(places.to(torch.float64), frequencies)
        c, s = (f(angles).repeat_interleave(2, -1).float() for f in (torch.cos, torch.sin))
        h = m.inner(x)
        return h * c + torch.stack([-h[..., 1::2], h[..., ::2]], -1).flatten(-2) * s

    return Apply(forward, inner=nn.Linear(8, 8)), (torch.randn(2, 5, 8), torch.arange(5)), {}


@numbers
def bands():
    """Positions in bands of frequencies, which logspace is decomposed into float64 for; and a constant of that type."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.out, self.scale = nn.Linear(6, 3), torch.tensor(math.sqrt(2), dtype=torch.float64)

        def forward(self, x):
            waves = x[..., None] * torch.logspace(0, math.log2(5), 3, base=2.0) * math.pi
            return self.out(torch.cat([waves.sin(), waves.cos()], -1)) * self.scale

    return Net(), (torch.randn(2, 4),), {}
