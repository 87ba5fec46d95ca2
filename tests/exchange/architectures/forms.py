"""Networks whose sizes, control flow, arguments, results or names are as few models have them: recorded with rare.py's."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply, scan

OPEN = getattr(torch.export.Dim, "DYNAMIC", None)  # PyTorch 2.5 has none
FORMS = {}


def form(make):
    FORMS[make.__name__] = make
    return make


@form
def sizes_by_values():
    """Sizes that values decide."""

    def forward(m, x, mask, reps):
        y = m.l(x)
        kept = y[mask]
        at = mask.nonzero()
        rep = torch.repeat_interleave(y, reps, dim=0)
        u, inv, cnt = torch.unique(reps, return_inverse=True, return_counts=True)
        k = reps.max().item()
        torch._check(k >= 0)
        torch._check(k <= 5)
        return (
            m.o(kept).sum(0),
            at,
            rep * 2,
            u,
            inv,
            cnt,
            torch.masked_select(y, y > 0).sum(),
            torch.zeros(k),
            kept.shape[0],
        )

    return (
        Apply(forward, l=nn.Linear(3, 4), o=nn.Linear(4, 2)),
        (torch.randn(4, 3), torch.tensor([True, False, True, True]), torch.tensor([1, 0, 3, 2])),
        {},
    )


@form
def gated_graph():
    """Messages along edges, attention over those of a node, means of graphs."""

    def forward(m, x, edges, batch):
        s, t = edges
        h = x
        for _ in range(2):
            msg = torch.zeros_like(h).index_add_(0, t, m.msg(h)[s])
            h = m.gru(msg, h)
        a = F.leaky_relu(m.att(torch.cat([h[s], h[t]], -1)).squeeze(-1), 0.2)
        top = torch.full((x.shape[0],), float("-inf")).index_reduce(0, t, a, "amax")
        w = (a - top[t]).exp()
        w = w / torch.zeros(x.shape[0]).scatter_add(0, t, w)[t]
        h = torch.zeros_like(h).index_add(0, t, w[:, None] * h[s])
        pooled = torch.zeros(3, h.shape[1]).scatter_reduce(
            0, batch[:, None].expand_as(h), h, "mean", include_self=False
        )
        return m.o(pooled), torch.bincount(t, minlength=0)[:1]

    net = Apply(forward, msg=nn.Linear(4, 4), gru=nn.GRUCell(4, 4), att=nn.Linear(8, 1), o=nn.Linear(4, 2))
    return (
        net,
        (
            torch.randn(6, 4),
            torch.tensor([[0, 1, 2, 3, 4, 5, 1], [1, 2, 0, 4, 5, 3, 0]]),
            torch.tensor([0, 0, 0, 2, 2, 2]),
        ),
        {},
    )


@form
def kv_cache_decode():
    """A cache of keys and values, written in place."""

    def forward(m, tok, pos):
        x = m.e(tok)
        q, k, v = m.qkv(x).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        m.ck.index_copy_(2, pos, k)
        m.cv[:, :, pos] = v
        mask = torch.arange(6)[None] <= pos[:, None]
        y = F.scaled_dot_product_attention(q, m.ck, m.cv, attn_mask=mask)
        return m.o(y.transpose(1, 2).flatten(2)), torch.narrow(m.ck, 2, 0, 2)

    return (
        Apply(
            forward,
            e=nn.Embedding(10, 8),
            qkv=nn.Linear(8, 24),
            o=nn.Linear(8, 10),
            ck=torch.zeros(1, 2, 6, 4),
            cv=torch.zeros(1, 2, 6, 4),
        ).requires_grad_(False),
        (torch.tensor([[3, 4]]), torch.tensor([2, 3])),
        {},
    )


@form
def seq2seq_dynamic():
    """Recurrences over sizes that are open, with attention to padded tokens."""

    def forward(m, src, tgt):
        enc, h = m.enc(m.e(src))
        dec, _ = m.dec(m.e(tgt), h)
        a = torch.bmm(m.w(dec), enc.transpose(1, 2)) / math.sqrt(enc.shape[-1])
        a = a.masked_fill((src == 0)[:, None], float("-inf")).softmax(-1)
        return m.o(torch.cat([torch.bmm(a, enc), dec], -1)).tanh(), a

    class Cell(nn.Module):
        def __init__(s):
            super().__init__()
            s.c = nn.GRUCell(6, 5)

        def forward(s, x, h=None):
            h = torch.zeros(1, x.shape[0], 5) if h is None else h

            def step(h, x):
                h = s.c(x, h)
                return h, h.clone()

            h, ys = scan(step, h[0], x, dim=1)
            return ys, h[None]

    net = Apply(
        forward,
        e=nn.Embedding(12, 6, padding_idx=0),
        enc=Cell(),
        dec=Cell(),
        w=nn.Linear(5, 5, bias=False),
        o=nn.Linear(10, 12),
    )
    net.dynamic_shapes = (({0: OPEN, 1: OPEN}, {0: OPEN, 1: OPEN}),)
    net.others = (
        torch.tensor([[3, 4, 5, 6, 7, 0, 0], [2, 9, 1, 4, 0, 0, 0], [1, 2, 3, 4, 5, 6, 7]]),
        torch.randint(1, 12, (3, 5)),
    )
    return net, (torch.tensor([[3, 4, 5, 0], [2, 9, 1, 4]]), torch.randint(1, 12, (2, 3))), {}


@form
def nested_control():
    """A branch within a scan, and one within another."""

    def step(h, x):
        h = torch.cond(
            x.sum() > 0,
            lambda h, x: torch.tanh(h + x),
            lambda h, x: torch.cond(h.sum() > 0, lambda h: h * 0.5, lambda h: h + 1, (h,)),
            (h, x),
        )
        return h, h + 0

    def forward(m, x):
        return scan(step, torch.zeros(3), m.l(x), dim=0)

    return Apply(forward, l=nn.Linear(3, 3).requires_grad_(False)), (torch.randn(6, 3),), {}


@form
def outputs_of_all_kinds():
    """Arguments and results that are no tensors, parameters and buffers as results."""

    def forward(m, x, n, flag, none):
        m.steps.add_(1)
        return {
            "in": x,
            "n": n,
            "none": none,
            "const": 3,
            "text": "a",
            "buffer": m.steps,
            "param": m.w,
            "t": (x.shape[0], [m.w @ x], ()),
            "flag": flag,
            "c": m.const,
            "empty": x[:0],
        }

    net = Apply(forward, w=nn.Parameter(torch.randn(2, 3)), steps=torch.tensor(0))
    net.const = torch.randn(3)
    return net, (torch.randn(3, 2), 4, True, None), {}


@form
def names_of_objects():
    """Names that every object of JavaScript has."""

    class Named(nn.Module):
        def __init__(s):
            super().__init__()
            s.blocks = nn.ModuleDict(
                {"constructor": nn.Linear(3, 3), "forward-x": nn.Linear(3, 3), "0": nn.Linear(3, 3)}
            )
            s.ps = nn.ParameterList([torch.randn(3), torch.randn(3)])
            s.pd = nn.ParameterDict({"toString": torch.randn(3), "weight": torch.randn(3)})
            s.register_buffer("hidden", torch.randn(3), persistent=False)
            s.tied = s.blocks["0"]
            s.view_of = nn.Parameter(torch.randn(4, 3))
            s.register_buffer("hasOwnProperty", torch.randn(3))

        def forward(s, x):
            for b in s.blocks.values():
                x = torch.tanh(b(x))
            return (
                s.tied(x)
                + s.ps[0] * s.ps[1]
                + s.pd["toString"] / (1 + s.pd["weight"] ** 2)
                + s.hidden
                + s.view_of[1]
                + s.hasOwnProperty
            )

    return Named(), (torch.randn(2, 3),), {}


@form
def no_axes():
    """Reductions over an empty list of axes, which means all of them, but none for `any`, `all` and masked products."""

    def forward(m, x):
        y = m.l(x)
        flat = y.detach()  # a variance's gradient is infinite then, which is a fault
        truths = [f(v, [], keep) for f in (torch.any, torch.all) for v in (y > 0, x.byte()) for keep in (False, True)]
        sums = [f(y, dim=[], keepdim=True) for f in (torch.sum, torch.mean, torch.amax, torch.logsumexp)]
        scalars = [y.nansum([]), y.amin([]), flat.std([]), torch.linalg.vector_norm(y, 3, []), y.count_nonzero([])]
        spread = torch.var(flat, dim=[], correction=0, keepdim=True)
        return truths, sums, scalars, spread, torch.masked.prod(y, [], mask=y > 0), y.where(y.all([]), 0.5).sum([])

    return Apply(forward, l=nn.Linear(3, 2)), (torch.randn(2, 3).mul(2),), {}


@form
def lines_and_places():
    """Numbers from one bound to another, and places where a condition holds, as lists of them for each axis."""

    def forward(m, x):
        n = x.shape[0]
        even = torch.linspace(-1, 1, n) * m.w
        grid = torch.logspace(0, 1, n, 2.0) + torch.linspace(0, n, n, dtype=torch.int64)
        row, column = torch.where(x > 0)
        return even, grid, row, column, x[row, column] * 2, torch.linspace(m.low, m.low + 2, 3)

    net = Apply(forward, w=nn.Parameter(torch.randn(5)), low=torch.tensor(0.5))
    return net, (torch.randn(5, 3),), {}
