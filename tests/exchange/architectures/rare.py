"""Networks of operators that few models have; with those of forms.py in an archive of their own, rare.tar.xz."""

import torch
import torch.ao.quantization.fx._decomposed  # quantized_decomposed
import torch.nn.functional as F
from torch import nn

from .parts import Apply

RARE = {}


def rare(make):
    RARE[make.__name__] = make
    return make


@rare
def losses():
    """Losses with their options."""

    def forward(m, x, t, c):
        y = m.l(x)
        return (
            F.cross_entropy(y, c, label_smoothing=0.1, weight=m.w),
            F.binary_cross_entropy_with_logits(y[:, 0], t, pos_weight=torch.tensor(2.0)),
            F.huber_loss(y[:, 1], t, delta=0.5),
            F.smooth_l1_loss(y[:, 2], t),
            F.kl_div(y.log_softmax(-1), x[:, :4].softmax(-1), reduction="batchmean"),
            F.cosine_embedding_loss(y, x[:, :4], t.sign()),
            F.margin_ranking_loss(y[:, 0], y[:, 1], t.sign()),
            F.triplet_margin_loss(y, x[:, :4], x[:, 1:5]),
            F.poisson_nll_loss(y[:, 0], t.abs()),
            F.multi_margin_loss(y, c),
            F.multilabel_soft_margin_loss(y, (x[:, :4] > 0).float()),
            F.hinge_embedding_loss(y[:, 0], t.sign()),
            F.soft_margin_loss(y[:, 0], t.sign()),
            F.nll_loss(y.log_softmax(-1), c, ignore_index=1),
            F.pairwise_distance(y, x[:, :4]),
            F.cosine_similarity(y, x[:, :4]),
            F.l1_loss(y[:, 3], t),
        )

    return (
        Apply(forward, l=nn.Linear(5, 4), w=torch.tensor([1.0, 2, 0.5, 1])),
        (torch.randn(6, 5), torch.randn(6), torch.tensor([0, 1, 2, 3, 1, 0])),
        {},
    )


@rare
def quant_dequant():
    """Parameters of quantisation that are fixed, and others that the values give."""
    q = torch.ops.quantized_decomposed

    def forward(m, x):
        xq = q.quantize_per_tensor.default(x, 0.05, 3, -128, 127, torch.int8)
        xd = q.dequantize_per_tensor.default(xq, 0.05, 3, -128, 127, torch.int8)
        wd = q.dequantize_per_channel.default(m.w, m.s, m.z, 0, -127, 127, torch.int8)
        y = F.relu(F.linear(xd, wd, m.b))
        sc, zp = q.choose_qparams.tensor(y, 0, 255, 1e-5, torch.uint8)
        yq = q.quantize_per_tensor.tensor(y, sc, zp, 0, 255, torch.uint8)
        sct, zpt = q.choose_qparams_per_token_asymmetric(y, torch.int8)
        tq = q.quantize_per_token(y, sct, zpt, -128, 127, torch.int8)
        return q.dequantize_per_tensor.tensor(yq, sc, zp, 0, 255, torch.uint8), q.dequantize_per_token(
            tq, sct, zpt, -128, 127, torch.int8, torch.float32
        )

    return (
        Apply(
            forward,
            w=torch.randint(-127, 127, (4, 6), dtype=torch.int8),
            s=torch.rand(4, dtype=torch.float64).float() / 50,
            z=torch.randint(-3, 3, (4,)),
            b=nn.Parameter(torch.randn(4), requires_grad=False),
        ),
        (torch.randn(3, 6),),
        {},
    )


@rare
def packed_linear():
    """Products with weights of 8 bits."""

    def forward(m, x):
        a = torch._weight_int8pack_mm(x, m.w, m.s)
        i = torch._int_mm(m.a, m.w.t().contiguous())
        return a, i

    return (
        Apply(
            forward,
            w=torch.randint(-127, 127, (16, 32), dtype=torch.int8),
            s=torch.rand(16),
            a=torch.randint(-127, 127, (20, 32), dtype=torch.int8),
        ),
        (torch.randn(3, 32),),
        {},
    )


@rare
def int8_linear():
    """Weights of 8 bits by channels and by groups, activations quantised as they come."""
    w = torch.randint(-127, 128, (6, 8), dtype=torch.int8)
    g = torch.randint(0, 16, (4, 6), dtype=torch.uint8)

    def forward(m, x):
        y = F.linear(x, (m.w.to(x.dtype) - 3) * m.s[:, None]) + m.b
        amax = y.abs().amax(-1, keepdim=True)
        sc = amax / 127.0
        qy = torch.clamp(torch.round(y / sc), -128, 127).to(torch.int8)
        y = qy.to(torch.float32) * sc + (y - y.detach())
        packed = torch.stack([m.g & 0xF, (m.g >> 4) & 0xF], -1).flatten(1)
        w4 = ((packed.float().view(4, 2, 6) - 8) * m.gs[..., None]).view(4, 12)[:, :6]
        return F.linear(y, w4)

    return (
        Apply(
            forward,
            w=w,
            s=nn.Parameter(torch.rand(6) / 100),
            b=nn.Parameter(torch.randn(6)),
            g=g,
            gs=nn.Parameter(torch.rand(4, 2)),
        ),
        (torch.randn(3, 8),),
        {},
    )


@rare
def spectral_training():
    """The power iteration's vectors change with each call."""
    net = Apply(lambda m, x: m.a(x), a=nn.utils.parametrizations.spectral_norm(nn.Linear(4, 5)))
    net.keeps_training = True
    return net, (torch.randn(3, 4),), {}


@rare
def parametrized():
    """Weights that are functions of others."""
    P = nn.utils.parametrizations
    net = Apply(
        lambda m, x: m.c(torch.tanh(m.b(torch.tanh(m.a(x))))),
        a=P.spectral_norm(nn.Linear(4, 5)),
        b=P.orthogonal(nn.Linear(5, 5)),
        c=P.weight_norm(nn.Linear(5, 2)),
    )
    return net, (torch.randn(3, 4),), {}


@rare
def complex_layers():
    """Weights and activations that are complex."""

    def forward(m, x):
        z = torch.complex(x, x.flip(-1))
        y = F.linear(z, m.w) + m.b
        y = torch.polar(F.relu(y.abs()), y.angle())
        n = y / (1 + y.abs())
        return torch.view_as_real(n), (n.conj() * n).real.sum(), n.imag.exp()

    return (
        Apply(
            forward,
            w=nn.Parameter(torch.randn(3, 4, dtype=torch.cfloat)),
            b=nn.Parameter(torch.randn(3, dtype=torch.cfloat)),
        ),
        (torch.randn(2, 4),),
        {},
    )


@rare
def gp_regression():
    """A Gaussian process: its likelihood, mean and variance."""

    def forward(m, x, y, z):
        k = lambda a, b: m.s.exp() * torch.exp(-0.5 * torch.cdist(a, b).square() / m.ls.exp())
        L = torch.linalg.cholesky(k(x, x) + (0.1 + m.noise.exp()) * torch.eye(x.shape[0]))
        al = torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, k(x, z), upper=False)
        nll = 0.5 * y @ al[:, 0] + L.diagonal().log().sum()
        return nll, (k(z, x) @ al)[:, 0], k(z, z).diagonal() - v.square().sum(0)

    return (
        Apply(
            forward,
            s=nn.Parameter(torch.tensor(0.1)),
            ls=nn.Parameter(torch.tensor(0.2)),
            noise=nn.Parameter(torch.tensor(-1.0)),
        ),
        (torch.randn(5, 2), torch.randn(5), torch.randn(3, 2)),
        {},
    )


@rare
def kalman():
    """A filter of small matrices."""

    def forward(m, ys):
        x = torch.zeros(2, 1)
        P = torch.eye(2)
        out = []
        for i in range(ys.shape[0]):
            x = m.A @ x
            P = m.A @ P @ m.A.T + 0.1 * torch.eye(2)
            S = m.H @ P @ m.H.T + 0.5 * torch.eye(1)
            K = P @ m.H.T @ torch.linalg.inv(S)
            x = x + K @ (ys[i].view(1, 1) - m.H @ x)
            P = (torch.eye(2) - K @ m.H) @ P
            out.append(x[:, 0])
        return torch.stack(out), torch.linalg.eigvalsh(P), torch.linalg.det(P), torch.trace(P), torch.kron(P, m.H)

    return (
        Apply(
            forward, A=nn.Parameter(torch.tensor([[1.0, 0.3], [-0.2, 0.9]])), H=nn.Parameter(torch.tensor([[1.0, 0.5]]))
        ),
        (torch.randn(4),),
        {},
    )


@rare
def mixture_top1_sparse():
    """Tokens go to experts by sorting, as in routed models."""

    def forward(m, x):
        g = m.gate(x).softmax(-1)
        w, at = g.max(-1)
        order = at.argsort(stable=True)
        counts = F.one_hot(at, 3).sum(0)
        ends = counts.cumsum(0)
        xs = x[order]
        which = torch.searchsorted(ends, torch.arange(x.shape[0]), right=True)
        y = torch.bmm(xs[:, None], m.w[which]).squeeze(1) * w[order, None]
        out = torch.empty_like(y)
        out = out.index_put((order,), y)
        aux = (g.mean(0) * (counts / x.shape[0])).sum() * 3
        return out, aux, counts

    return Apply(forward, gate=nn.Linear(4, 3), w=nn.Parameter(torch.randn(3, 4, 5))), (torch.randn(7, 4),), {}


@rare
def observed_steps():
    """Training for few bits: ranges that follow what comes by, of tensors and of channels, and steps that are learned."""
    from torch.ao.quantization import FusedMovingAvgObsFakeQuantize as Observed
    from torch.ao.quantization import MovingAveragePerChannelMinMaxObserver as ByChannel

    signed = {"quant_min": -128, "quant_max": 127, "dtype": torch.qint8}
    kinds = [
        {},
        {"averaging_constant": 0.2, "reduce_range": False},
        signed | {"qscheme": torch.per_tensor_symmetric},
        signed | {"observer": ByChannel, "qscheme": torch.per_channel_symmetric, "ch_axis": 0},
    ]

    def forward(m, x):
        a, b, c, d, paused = m.observers
        y = F.linear(a(x), d(m.l.weight), m.l.bias)
        y = c(F.relu(b(y))) + paused(y)
        low = torch._fake_quantize_learnable_per_tensor_affine(y, m.s, m.z, 0, 15, 0.5)
        return low, torch._fake_quantize_learnable_per_channel_affine(y, m.ss, m.zs, 1, -8, 7, 0.7)

    observers = nn.ModuleList([Observed(**kind) for kind in [*kinds, {}]])
    for one in observers[1:]:  # the first has seen nothing
        one(torch.randn(4, 5) + 1)
    observers[4].disable_observer()
    net = Apply(
        forward,
        observers=observers,
        l=nn.Linear(5, 4),
        s=nn.Parameter(torch.tensor([0.15])),
        z=nn.Parameter(torch.tensor([5.6])),
        ss=nn.Parameter(torch.rand(4) / 10 + 0.05),
        zs=nn.Parameter(torch.tensor([0.0, 1, -9, 2.5])),
    )
    net.keeps_training = True
    return net, (torch.randn(3, 5),), {}
