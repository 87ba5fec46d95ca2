"""What earlier versions of PyTorch export otherwise than torch 2.13 does: recorded with each of them."""

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply
from .sequences import gpt, lstm_tagger
from .structures import dynamic_batch, running_mean

EARLIER = {}


def earlier(make):
    EARLIER[make.__name__] = make
    return make


for listed in (gpt, lstm_tagger, dynamic_batch, running_mean):
    earlier(listed)


@earlier
def quotient_of_a_size():
    """Whole numbers divided by a size that varies, of which PyTorch 2.6 writes another type."""
    net = Apply(lambda m, x: m.l(x) + (torch.arange(x.shape[1]) / (x.shape[1] - 1))[:, None], l=nn.Linear(3, 4))
    net.dynamic_shapes = (({1: torch.export.Dim("length", min=3, max=20)},),)
    net.others = (torch.randn(2, 7, 3),)
    return net, (torch.randn(2, 5, 3),), {}


@earlier
def named_and_placed():
    """Arguments that ATen has by name in one operator and by place in another; numbers that JSON does not have."""

    def forward(m, x, i):
        y = m.l(x)
        spd = y.T @ y + torch.eye(4)
        rows, columns = torch.meshgrid(torch.arange(3.0), torch.arange(4.0), indexing="xy")
        least, most = torch.aminmax(y.detach(), dim=1, keepdim=True)
        placed = (
            y.detach().to(torch.float64).to(torch.float32),  # a GPU has no float64, so no gradient goes through it
            y.detach().to(torch.float64).to(x),
            F.softmax(y.detach(), 1, dtype=torch.float64).float(),
            F.log_softmax(y, 1, dtype=torch.float32),
            torch.rsub(y, 2, alpha=3) + torch.add(y, 1, alpha=2),
            F.celu(y, 0.7) + F.elu(y, 0.3) + F.softplus(y, 2.0, 5.0) + F.smooth_l1_loss(y, x[:, :4], beta=0.5),
            torch.isclose(y, y.detach() + 1e-3, rtol=0.0, atol=1e-2),
            x.view(torch.int32) > 0,
            y.masked_fill(i[:, None] > 1, float("-inf")).softmax(0).nan_to_num(nan=0.0),
            y.clamp(min=-float("inf"), max=0.5),
        )
        named = (
            torch.linalg.solve_triangular(spd.tril(), y.T, upper=False, left=True, unitriangular=False),
            torch.linalg.cholesky(spd, upper=True),
            torch.linalg.solve(spd, y, left=False),
            torch.linalg.diagonal(y[None], offset=1, dim1=-2, dim2=-1),
            torch.linalg.cross(y[:, :3], y[:, 1:], dim=1),
            torch.linalg.vecdot(y, y * 2, dim=0),
            torch.linalg.pinv(y, rtol=1e-4),
            torch.addcmul(y, y, y, value=0.3) + torch.addcdiv(y, y, y.abs() + 1, value=-0.5),
            torch.std(y, 1, correction=0, keepdim=True) + torch.var_mean(y, 1, correction=2, keepdim=True)[0],
            most - least,
            torch.sort(y, dim=0, descending=True, stable=True)[0],
            torch.round(y, decimals=1),
            torch.repeat_interleave(y, torch.tensor([1, 0, 2]), dim=0, output_size=3),
            torch.trapezoid(y, dx=0.5, dim=0) + torch.sum(y, 0, dtype=torch.float32),
            torch.scatter_reduce(y, 0, i[:, None].expand(3, 4), y.detach(), "sum", include_self=False),
            torch.searchsorted(torch.tensor([0.0, 1, 2]), y.detach(), right=True, out_int32=True),
            torch.div(y, 0.3, rounding_mode="floor") + F.gelu(y, approximate="tanh"),
            torch.isin(i, torch.tensor([1, 2]), invert=True),
            F.scaled_dot_product_attention(y[None], y[None], y[None], is_causal=True, scale=0.5),
            rows * columns,
        )
        return placed, named

    return Apply(forward, l=nn.Linear(5, 4)), (torch.randn(3, 5), torch.tensor([0, 1, 2])), {}
