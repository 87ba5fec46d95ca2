"""Arguments and results that nest in dataclasses and in dictionaries of all kinds, numbers that vary, parameters and buffers
whose memory is not their own or lies otherwise, sizes that follow from others, floats of 16 bits as whole numbers, and complex
numbers whose parts change in place."""

import collections
import dataclasses
import functools

import torch
import torch.nn.functional as F
from torch import nn

from .parts import Apply

OPEN = getattr(torch.export.Dim, "DYNAMIC", None)  # PyTorch 2.5 has none
NESTS = {}


def nest(make):
    NESTS[make.__name__] = make
    return make


@dataclasses.dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor | None = None
    times: int = 3


torch.export.register_dataclass(Pair, serialized_type_name="Pair")


@nest
def dataclasses_of_tensors():
    """Classes that are registered, with fields that are None."""

    def forward(m, a, b):
        y = m.l(a.first) * a.times + a.second
        return {"both": Pair(y, b.first.square(), 7), "one": Pair(m.l(b.first))}

    pairs = Pair(torch.randn(2, 4), torch.randn(2, 3)), Pair(torch.randn(3, 4))
    return Apply(forward, l=nn.Linear(4, 3)), pairs, {}


@nest
def dictionaries():
    """Those that keep an order, and those that make what is not there."""

    def forward(m, d, *, more):
        ordered = collections.OrderedDict(z=m.l(d["b"]), a=d["a"]["c"] * 2)
        made = collections.defaultdict(list)
        made["k"] = [more["u"] - d["b"], {"deep": (m.l(more["u"]).tanh(), None)}]
        return ordered, made, [[], (), {}], collections.defaultdict(list), d["a"]

    given = {"b": torch.randn(2, 4), "a": {"c": torch.randn(2, 4)}}
    more = collections.defaultdict(list, u=torch.randn(2, 4))
    return Apply(forward, l=nn.Linear(4, 4)), (given,), {"more": more}


@nest
def numbers_that_vary():
    """A whole number that is an argument, and no constant."""

    def forward(m, x, n):
        y = m.l(x)[:, :n]
        return y.sum(1) * n, torch.arange(n), F.pad(x, (0, n)), x.new_zeros(n + 1, 2)

    net = Apply(forward, l=nn.Linear(4, 9))
    net.dynamic_shapes = {"args": ({}, OPEN)}
    net.others = (torch.randn(2, 4), 7)
    return net, (torch.randn(2, 4), 5), {}


@nest
def sizes_of_sizes():
    """Sizes that are twice another and one more, and sizes that must be one another's least or most."""

    def forward(m, x, y, more):
        y = m.l(x[::2] + y[1:]) * more["z"].reshape(-1, 3).sum(1, keepdim=True)
        return y, more["w"].narrow(0, 1, more["v"].shape[0]) * more["v"], more["w"].unfold(0, 4, 1).sum(1)

    d = torch.export.Dim("d", min=2, max=20)
    net = Apply(forward, l=nn.Linear(4, 3))
    net.dynamic_shapes = {"args": ({0: 2 * d}, {0: d + 1}, {"z": {0: 3 * d}, "v": {0: OPEN}, "w": {0: OPEN}})}
    net.others = torch.randn(14, 4), torch.randn(8, 4), {"z": torch.randn(21), "v": torch.randn(6), "w": torch.randn(9)}
    more = {"z": torch.randn(18), "v": torch.randn(5), "w": torch.randn(7)}
    return net, (torch.randn(12, 4), torch.randn(7, 4), more), {}


def bits_of(half):
    """Floats of 16 bits as whole numbers of all sizes, and whole numbers as such floats: zeros, the least, infinities."""

    def forward(m, x, bits, wide):
        y = torch.cat([x, m.l(x)]).to(half)
        return (
            y.float(),
            *(y.view(dtype) for dtype in (torch.int16, torch.int32, torch.uint8, torch.int8)),
            bits.view(half).float(),
            wide.view(half).float(),
            wide.view(torch.float32).view(half).float() * 2,
        )

    x = torch.tensor([[0.0, -0.0, 1.0, -2.5], [6e-8, -1e-5, 65504.0, 6.1e-5], [-7e-8, 1e5, -1e6, 0.333]])
    bits = torch.tensor([0, -(2**15), 1, 1023, 1024, 31743, 31744, 15360, -1024, -17408, -32767, 13], dtype=torch.int16)
    wide = torch.tensor([[1, -3], [2**30, 17 * 2**16 + 5]], dtype=torch.int32)
    return Apply(forward, l=nn.Linear(4, 4)), (x, bits, wide), {}


NESTS |= {f"bits_of_{half}s": functools.partial(bits_of, getattr(torch, half)) for half in ("float16", "bfloat16")}


@nest
def parts_in_place():
    """Real and imaginary parts, views as complex numbers and as pairs: changed through one, seen through another."""

    def forward(m, x):
        y = m.l(x)
        c = torch.view_as_complex(y.clone().reshape(4, 4, 2))
        c.real.mul_(3)
        c.imag[1:].add_(x[1:, :4])
        c[:, 1].mul_(1j)
        pairs = torch.view_as_real(c)
        pairs[..., 0].exp_()
        z = y.clone()
        seen = torch.view_as_complex(z.view(4, 4, 2))
        seen.mul_(torch.complex(x[:, :4], x[:, 4:]))
        seen[0].zero_()
        w = torch.polar(y.abs(), x).clone()
        w.imag.copy_(x)
        w.real[:, 0] = 2.0
        real = w.real
        w.mul_(2).div_(torch.complex(x, y))
        return c.abs(), pairs, z, torch.view_as_real(seen), torch.view_as_real(w), real * 2

    return Apply(forward, l=nn.Linear(8, 8)), (torch.randn(4, 8),), {}


NESTS["parts_in_place_decomposed"] = parts_in_place


class Memories(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
        self.out.weight = self.embed.weight
        large = torch.randn(5, 8)
        self.register_buffer("window", large[1:4, 2:6])
        self.register_buffer("turned", large.t())
        self.register_buffer("expanded", torch.ones(1, 4).expand(3, 4))
        self.register_buffer("none", torch.zeros(0, 4))
        self.register_buffer("one", torch.tensor(3.0))
        self.register_buffer("last", torch.randn(1, 3, 2, 4).to(memory_format=torch.channels_last))
        self.register_buffer("bytes", torch.arange(4, dtype=torch.uint8))
        self.register_buffer("truths", torch.tensor([True, False, True, True]))
        self.register_buffer("complex", torch.randn(4, dtype=torch.complex64))
        self.flipped, self.rows = nn.Parameter(torch.randn(4, 4).t()), nn.Parameter(torch.randn(6, 4)[::2])
        self.constant, self.places = torch.randn(4, 3).t(), torch.arange(12).view(3, 4)[:, ::2]

    def forward(self, ids):
        h = self.embed(ids) @ self.flipped
        return (
            self.out(h),
            h * self.expanded[0],
            self.window @ h.mT + self.turned[:3, :3],
            self.rows * self.constant,
            self.places + 1,
            torch.cat([h, self.none]) * self.one,
            self.last.permute(0, 2, 3, 1),
            self.bytes + 1,
            (h * self.truths * self.complex).abs(),
        )


@nest
def memories():
    """Tied and transposed parameters, buffers in one memory, an expanded one, and constants with strides."""
    return Memories(), (torch.tensor([1, 0, 5]),), {}


@nest
def primitives():
    """Operators that decomposing a program may leave."""
    p = torch.ops.prims

    def forward(m, x):
        where = {"device": torch.device("cpu"), "requires_grad": False}
        return (
            p.iota(5, start=1, step=2, dtype=torch.int64, **where),
            p.broadcast_in_dim(x, [2, 3, 5, 4], [1, 3]),
            p.collapse_view(x, 0, 1),
            p.split_dim(x, 1, 2),
            p.transpose(x, [1, 0]),
            p.convert_element_type(x * 3, torch.int32),
            p.sum(x, [0]) + p.amax(x, [0]) - p.amin(x, [0]) * p.prod(x, [0]),
            p.var(x, [0, 1], 0),
            p.rev(x, [1]) + p.mul(p.exp(x), p.rsqrt(p.abs(x))),
            p.where(
                p.gt(x, p.scalar_tensor(0, dtype=torch.float32, device=where["device"])),
                x,
                p.full_like(x, 2.0, dtype=x.dtype, **where),
            ),
            p.full([2], 1.0, dtype=torch.float32, **where),
            p.cat([x, x], 1),
            p.squeeze(x.reshape(3, 1, 4), [1]),
        )

    return Apply(forward), (torch.randn(3, 4),), {}


@nest
def floats_beside_integers():
    """Floats of Python that are whole numbers make floats, which need not fit into integers."""

    def forward(m, i, truths, x):
        least = torch.finfo(torch.float32).min
        return (
            torch.where(truths, 0.0, least),
            torch.where(truths, i, -1e10),
            torch.where(truths, 1, 2),
            (1 - i) * least,
            i * 1e10,
            2.0**i,
            i**20.0,
            i.clamp(0.0, 3.0),
            1e10 - i,
            truths * -1e10,
            torch.full((2,), -1e10),
            torch.scalar_tensor(3e9),
            torch.where(truths, x, least),
            (i > 1e10).sum(),
        )

    given = torch.tensor([-3, 0, 2, 7]), torch.tensor([True, False, True, True]), torch.randn(4)
    return Apply(forward), given, {}


NESTS["floats_beside_integers_decomposed"] = floats_beside_integers


@nest
def assertions():
    """What a program asserts of its values."""

    def forward(m, x, places):
        torch._assert_async((places >= 0).all(), "a negative place")
        return m.e(places.clamp(min=0)) + m.l(x)

    return Apply(forward, e=nn.Embedding(5, 4), l=nn.Linear(4, 4)), (torch.randn(3, 4), torch.tensor([1, 0, 4])), {}
