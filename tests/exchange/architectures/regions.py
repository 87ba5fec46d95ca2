"""Networks with parts that other rules hold in: no gradients, every sample by itself, other types; and layers that take
lists of sizes.  An archive of their own, regions.tar.xz."""

import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan

from .parts import Apply

REGIONS = {}


def region(make):
    REGIONS[make.__name__] = make
    return make


@region
def written_memory():
    """A memory of keys that is written without gradients, and read: what is left of that when it is decomposed."""

    def forward(m, x, at):
        q, k = m.both(x).chunk(2, -1)
        with torch.no_grad():
            m.keys.index_copy_(0, at, k.detach())
            scale = m.both(x).square().mean()
        return (q @ m.keys.mT / scale).softmax(-1) @ m.values

    return (
        Apply(forward, both=nn.Linear(4, 8), keys=torch.randn(6, 4), values=nn.Parameter(torch.randn(6, 3))),
        (torch.randn(3, 4), torch.tensor([1, 4, 2])),
        {},
    )


@region
def each_sample():
    """torch.vmap as it is: one in another, an axis that is not the first, and an answer that is the same for all."""

    def forward(m, x, w):
        ones = torch.vmap(lambda row: m.inner(row).sum() * row)(x)
        both, same = torch.vmap(lambda a, b: (torch.tanh(a) * b.T, b.softmax(-1)), (1, None))(x, w)
        table = torch.vmap(torch.vmap(lambda i, j: i * 2 >= j, (None, 0)), (0, None))(torch.arange(3), torch.arange(4))
        return ones, both, same, table

    return Apply(forward, inner=nn.Linear(4, 4)), (torch.randn(3, 4), torch.randn(3, 5)), {}


@region
def bags_by_offsets():
    """Bags of rows that begin where a list says, weighted, and as the largest of each."""

    def forward(m, ids, begins, weights):
        added = m.sums(ids, begins, per_sample_weights=weights)
        return torch.tanh(added * 2 + m.means(ids, begins)), m.most(ids, begins)

    parts = {
        name: nn.EmbeddingBag(9, 4, mode=mode) for name, mode in (("sums", "sum"), ("means", "mean"), ("most", "max"))
    }
    return Apply(forward, **parts), (torch.tensor([1, 8, 3, 3, 0]), torch.tensor([0, 2, 4]), torch.rand(5)), {}


@region
def mixed_precision():
    def forward(m, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = m.second(torch.relu(m.first(x)))
            with torch.autocast("cpu", enabled=False):
                z = m.third(y.float())
            return z + y.float().sum()

    layers = {"first": nn.Linear(4, 6), "second": nn.Linear(6, 3), "third": nn.Linear(3, 3)}
    return Apply(forward, **layers), (torch.randn(3, 4),), {}


@region
def stacked_recurrence():
    """Layers over layers of all kinds, projected, both ways, without biases, from states that are given."""

    def forward(m, x, h, c):
        y, (last, cell) = m.long(x, (h, c))
        z, after = m.gated(y)
        return (*m.plain(z), last, cell, after)

    return (
        Apply(
            forward,
            long=nn.LSTM(4, 6, 2, proj_size=3, bidirectional=True),
            gated=nn.GRU(6, 5, bidirectional=True, bias=False),
            plain=nn.RNN(10, 4, nonlinearity="relu"),
        ),
        (torch.randn(3, 2, 4), torch.randn(4, 2, 3), torch.randn(4, 2, 6)),
        {},
    )


@region
def scanned_in_pairs():
    """A scan of pairs of pairs, which of an odd number of steps maps none."""

    def join(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    def forward(m, x):
        return associative_scan(join, (torch.sigmoid(m.gate(x)), m.value(x)), dim=1, combine_mode="generic")[1]

    return Apply(forward, gate=nn.Linear(4, 4), value=nn.Linear(4, 4)), (torch.randn(2, 5, 4),), {}
