"""Networks over images."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply, Attention, block, conv, head, image, mlp, model, residual


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


@model
def detector_head():
    def forward(m, x):
        y = m.c(x).flatten(2).transpose(1, 2)
        boxes, scores = y[..., :4], y[..., 4:].sigmoid()
        best, at = scores.amax(-1).topk(3, 1)
        return boxes.exp().gather(1, at[..., None].expand(-1, -1, 4)), best

    return Apply(forward, c=nn.Conv2d(4, 7, 1)), (image(2, 4, 4),), {}
