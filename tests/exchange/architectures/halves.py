"""Networks of 16 bits; recorded in an archive of their own, halves.tar.xz, with what one operator has by name alone."""

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply

HALVES = {}


def half(make):
    """The network in both types of 16 bits."""
    for dtype in (torch.float16, torch.bfloat16):
        HALVES[f"{make.__name__}_{str(dtype).removeprefix('torch.')}"] = lambda dtype=dtype: make(dtype)
    return make


@half
def sentences(dtype):
    net = nn.Sequential(nn.Embedding(20, 8), nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
    return net.to(dtype), (torch.randint(0, 20, (2, 5)),), {}


@half
def pictures(dtype):
    net = nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.SiLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 6),
        nn.ConvTranspose2d(6, 4, 2, 2), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 4), nn.Softmax(-1),
    )  # fmt: skip
    return net.to(dtype), (torch.randn(2, 3, 6, 6).to(dtype),), {}


@half
def attending(dtype):
    """Attention, with sums and a softmax in 32 bits, as decoders have them."""

    def forward(m, x):
        q, k, v = m.q(x).chunk(3, -1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        weights = (q @ k.mT * 0.3).softmax(-1, dtype=torch.float32).to(q.dtype)
        return m.o(y + weights @ v), x.float().mean(), (y * 2).to(torch.float32).cumsum(1), F.rms_norm(y, (8,))

    return Apply(forward, q=nn.Linear(8, 24), o=nn.Linear(8, 8)).to(dtype), (torch.randn(2, 5, 8).to(dtype),), {}


@half
def mixed(dtype):
    """With numbers and tensors of 32 bits: what type comes of them."""

    def forward(m, x, i):
        y = m.l(x)
        joined = torch.cat([y, m.e(i).expand_as(y)], 1)
        return (
            y * torch.tensor(2.5), y * torch.ones(6, dtype=torch.float32), y + 1, (y > 0.25).sum(),
            torch.where(y > 0, y, y * 0.1), y.var(-1), y.max(-1)[0], y.norm(dim=-1), y.to(torch.int32),
            F.conv1d(x.mT, m.k, padding=1), torch.einsum("bij,bkj->bik", y, joined), F.mse_loss(y, y * 0.5),
            F.cross_entropy(y.flatten(0, 1), i.repeat(2) % 6), joined.clamp(-1, 1).exp(),
        )  # fmt: skip

    net = Apply(forward, l=nn.Linear(4, 6), e=nn.Embedding(7, 6), k=nn.Parameter(torch.randn(4, 4, 3)))
    return net.to(dtype), (torch.randn(2, 3, 4).to(dtype), torch.tensor([1, 3, 6])), {}


def solved_from_the_right():
    """X A = B, decomposed: which side the unknown is on has no place among the arguments, only a name."""
    forward = lambda m, x: torch.linalg.solve(m.l(x) + 3 * torch.eye(4), x[:3], left=False)
    return Apply(forward, l=nn.Linear(4, 4)), (torch.randn(4, 4),), {}


HALVES["solved_from_the_right"] = solved_from_the_right
