"""Networks for what programs have beside layers: operators in place, matrices, spectra, names of results."""

from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import _pytree as pytree

from .parts import Apply, image, model

Pair = namedtuple("Pair", ["first", "second"])
pytree._register_namedtuple(Pair, serialized_type_name="Pair")


@model
def in_place():
    def forward(m, x):
        y = m.acts(m.l(x))
        y[:, 1:3] = 0.5
        y[:, ::2] += 1
        y[y > 2] = 0.0
        y.view(3, 2, 4)[:, 0].mul_(3)
        return y

    acts = [nn.Hardswish(True), nn.ReLU6(True), nn.Mish(True), nn.SiLU(True)]
    return Apply(forward, l=nn.Linear(4, 8), acts=nn.Sequential(*acts)), (torch.randn(3, 4),), {}


@model
def kept_slices():
    """What a slice of everything becomes keeps gradients."""
    return (
        Apply(lambda m, x: m.o(torch.tanh(m.l(x))[:, slice(0, None), :]), l=nn.Linear(4, 5), o=nn.Linear(5, 2)),
        (torch.randn(2, 3, 4),),
        {},
    )


@model
def matrices():
    def forward(m, x):
        square = m.w + 4 * torch.eye(4)
        positive = m.w @ m.w.mT + torch.eye(4)
        return (
            torch.linalg.solve(square, x),
            torch.linalg.inv(square) @ x,
            torch.linalg.cholesky(positive) @ x,
            torch.linalg.det(square),
            torch.linalg.slogdet(positive)[1],
            torch.linalg.eigh(positive)[0],
            torch.linalg.svd(square)[1],
        )

    return Apply(forward, w=nn.Parameter(torch.randn(4, 4) / 2)), (torch.randn(4, 2),), {}


@model
def spectra():
    def forward(m, x):
        spectrum = torch.stft(x * m.w, 8, window=m.window, return_complex=True)
        return torch.view_as_real(spectrum), torch.istft(spectrum * 2, 8, window=m.window)

    return Apply(forward, w=nn.Parameter(torch.rand(32)), window=torch.hann_window(8)), (torch.randn(2, 32),), {}


@model
def rotated_pairs():
    """Rotary positions by complex numbers."""

    def forward(m, x):
        turns = torch.polar(torch.ones(5, 2), torch.arange(10.0).view(5, 2))
        return torch.view_as_real(torch.view_as_complex(m.l(x).unflatten(-1, (2, 2))) * turns).flatten(2)

    return Apply(forward, l=nn.Linear(4, 4)), (torch.randn(2, 5, 4),), {}


@model
def named_results():
    def forward(m, pair, items):
        return Pair(m.l(pair.first) + items[1]["more"], (pair.second, [m.l(items[0])]))

    x = lambda: torch.randn(2, 3)
    return Apply(forward, l=nn.Linear(3, 3)), (Pair(x(), x()), [x(), {"more": x()}]), {}


@model
def resized():
    def forward(m, x):
        y = m.c(x)
        grid = F.affine_grid(m.turn, [1, 2, 5, 5], align_corners=False)
        return (
            F.interpolate(y, scale_factor=(1.7, 2.3), mode="bilinear"),
            F.interpolate(y, scale_factor=(0.6, 2.3), mode="nearest"),
            F.interpolate(y, (3, 7), mode="bicubic", antialias=True),
            F.max_unpool2d(*F.max_pool2d(y, 2, return_indices=True), 2),
            F.grid_sample(y, grid, align_corners=False),
        )

    return (
        Apply(
            forward, c=nn.Conv2d(3, 2, 3), turn=nn.Parameter(torch.tensor([[[0.83, 0.31, 0.07], [-0.29, 0.77, 0.03]]]))
        ),
        (image(),),
        {},
    )


@model
def cells():
    def forward(m, x):
        h, c = m.a(x[0])
        return m.n(m.b(x[1], h)), c

    parts = {"a": nn.LSTMCell(4, 3), "b": nn.GRUCell(4, 3), "n": nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))}
    return Apply(forward, **parts), (torch.randn(2, 5, 4),), {}
