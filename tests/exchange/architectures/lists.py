"""Operators over lists of tensors and that give lists, bits as other types, parameters that a call changes, and sizes that
are 1 although they were open: each as exported and decomposed."""

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply

LISTS = {}


def lists(make):
    """Under its name, and decomposed under another."""
    LISTS[make.__name__] = make
    LISTS[f"{make.__name__}_decomposed"] = make
    return make


@lists
def foreach():
    def forward(m, x):
        y = torch._foreach_mul([m.a, m.b], 2.0)
        torch._foreach_add_(y, [x, x[0].sum()])
        z = torch._foreach_addcdiv(y, y, [1 + v * v for v in y], [0.5, 2.0])
        apart = [v.detach() for v in y]
        moved = [v.clone() for v in apart]
        torch._foreach_lerp_(moved, apart, 0.3)
        torch._foreach_addcmul_(moved, apart, apart, value=0.5)
        torch._foreach_maximum_(moved, 0.1)
        return (
            z,
            moved,
            torch._foreach_addcmul(y, z, y, [0.5, -1.0]),
            torch._foreach_lerp(y, z, [0.3, 0.1]),
            torch._foreach_minimum(y, [0.1, 0.3]),
            torch._foreach_maximum(y, 0.2),
            torch._foreach_clamp_min(y, z),
            torch._foreach_pow([v.abs() + 0.1 for v in y], 1.5),
            torch._foreach_sub(y, z, alpha=2),
            torch._foreach_div(y, [2.0, 3.0]),
            torch._foreach_add(apart, torch.tensor(1.5)),
            torch._foreach_exp(torch._foreach_neg(y)),
            torch._foreach_norm(y),
            torch._foreach_norm(y, float("inf")),
        )

    return Apply(forward, a=nn.Parameter(torch.randn(2, 3)), b=nn.Parameter(torch.randn(4))), (torch.randn(2, 3),), {}


@lists
def boxes():
    """Counts in the boxes of a grid, which come with a list of the boxes' edges."""

    def forward(m, x):
        counts, (rows, columns) = torch.histogramdd(x, [3, 2])
        weighed, edges = torch.histogramdd(x, 2, range=[-1.0, 1, -2, 2], weight=x[:, 0].abs(), density=True)
        return counts, rows, columns, weighed, edges, torch.histogramdd(x, [m.a, m.b])[0], m.l(x[:2])

    net = Apply(forward, l=nn.Linear(2, 2), a=torch.tensor([-1.0, 0, 2]), b=torch.tensor([-1.0, 1]))
    return net, (torch.randn(20, 2),), {}


@lists
def chunked_losses():
    """A linear layer and its loss without all of the layer's results at once."""
    options = nn.LinearCrossEntropyOptions()

    def forward(m, x, target):
        loss = F.linear_cross_entropy
        return (
            loss(x, m.l.weight, target, linear_bias=m.l.bias, options=options),
            loss(x, m.l.weight, target, weight=m.weight, reduction="none", options=options),
            loss(x, m.l.weight, target, reduction="sum", label_smoothing=0.1, ignore_index=2, options=options),
        )

    return (
        Apply(forward, l=nn.Linear(4, 5), weight=torch.rand(5) + 0.5),
        (torch.randn(9, 4), torch.randint(0, 5, (9,))),
        {},
    )


@lists
def lanczos():
    def forward(m, x):
        small = F.interpolate(m.c(x), size=(4, 9), mode="lanczos", antialias=True)
        return small, F.interpolate(m.c(x), scale_factor=(1.5, 0.6), mode="lanczos", antialias=True)

    return Apply(forward, c=nn.Conv2d(2, 3, 1)), (torch.randn(1, 2, 7, 6),), {}


@lists
def other_bits():
    """The bits of numbers as those of other types, some of other sizes."""

    def forward(m, x, small, whole, mask):
        return (
            m.l(x),
            small.view(torch.int8),
            small.view(torch.int8).view(torch.uint8),
            *(small.view(dtype) for dtype in (torch.int16, torch.int32, torch.float32)),
            *(whole.view(dtype) for dtype in (torch.uint8, torch.int8, torch.int16, torch.float32)),
            whole.view(torch.int16).view(torch.int32),
            mask.view(torch.uint8),
            x.view(torch.int32),
            x.view(torch.uint8),
            x.view(torch.complex64),
            torch.complex(x, x + 1).view(torch.float32),
        )

    bits = torch.randint(0, 256, (2, 8), dtype=torch.uint8)
    bits[..., 3] &= 0x3F  # nothing that is no number among the floats of them
    bits[..., 7] &= 0x3F
    whole = torch.tensor([[-(2**31), 2**30 - 1, -5], [7, 2**25 + 3, -(2**24) * 65]], dtype=torch.int32)
    return Apply(forward, l=nn.Linear(4, 4)), (torch.randn(3, 4), bits, whole, torch.tensor([[True, False, True]])), {}


@lists
def changed_parameters():
    """Weights that each call keeps within bounds, without gradients: they stay leaves."""

    def forward(m, x):
        with torch.no_grad():
            m.l.weight.clamp_(-0.3, 0.3)
            m.l.bias.clamp_(min=0.1)
        return m.l(x).tanh()

    return Apply(forward, l=nn.Linear(3, 4)), (torch.randn(2, 3),), {}


@lists
def one_of_a_batch():
    """Sizes that are open, of which PyTorch supposes that they are at least 2, and which are 1."""
    net = nn.Sequential(nn.Conv1d(3, 8, 3, 2, 1), nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True))
    whole = Apply(lambda m, x: m.n[1](m.n[0](x).mT).amax(1), n=net)
    whole.dynamic_shapes = (({0: torch.export.Dim.AUTO, 2: torch.export.Dim.AUTO},),)
    whole.others = (torch.randn(1, 3, 9),)
    return whole, (torch.randn(4, 3, 12),), {}
