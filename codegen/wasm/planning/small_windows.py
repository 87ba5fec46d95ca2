"""Windows of 3 x 3 points whose sums take fewer products (S. Winograd, Arithmetic Complexity of Computations, 1980):
four neighbours of them need 16 products of sums of elements with sums of weights instead of 36.

What is rounded are sums of elements, so errors go by the largest element of a window: over many channels as those of
any sum do, but not over few, as filters of images have."""

from __future__ import annotations

from ...data.nodes import Element, Node
from ...planner.contract import Product
from ...planner.lines import Line, points
from .kernel_plan import Plan, SmallWindows
from .sharing import Sharing, is_apart

MOST_CHANNELS = 640  # products of a sum
LEAST_CHANNELS = 16  # of both sides: fewer do not pay for the sums
MOST_WEIGHTS = 1 << 18  # pairs of channels, for each of which sixteen numbers are kept
LEAST_ROW = 8  # points of a line of windows
LEAST_POINTS = 64  # of all windows, below which the sums of weights, made for each call, are most of the work
TILES = 128  # of a block, of four points each: what is kept of them stays in a core's caches


def small_windows_of(k: Plan) -> SmallWindows | None:
    """The windows of a contraction in tiles; None where it has none, or they do not pay."""
    product = k.product
    if product is None or k.margins is None or k.call.dtype != "float32":
        return None
    if product.left.filter is not None or product.right.filter is not None or len(product.rows) != 1:
        return None
    x = element_of(product.right.body)
    w = element_of(product.left.body)
    if x != k.margins.access or w < 0 or k.types[w] != "float32":
        return None
    code = k.code.accesses[w]
    if code.guard is not None or any(e is not None for e in code.index):
        return None
    row = k.outer[len(product.batch)]
    columns = k.outer[len(product.batch) + 1 :]
    if len(columns) < 2 or len(columns) > 3 or len(k.reduce) != 3:
        return None
    if row.strides[x] != 0 or any(line.strides[w] != 0 for line in columns):
        return None
    channels = k.reduce[0]
    if min(row.size, channels.size) < LEAST_CHANNELS or channels.size > MOST_CHANNELS:
        return None
    if row.size * channels.size > MOST_WEIGHTS:
        return None
    backwards: list[bool] = []
    for at in range(2):
        beside = columns[len(columns) - 2 + at]
        inner = k.reduce[1 + at]
        if inner.size != 3 or beside.size % 2 != 0 or beside.strides[x] < 1:
            return None
        if abs(inner.strides[x]) != beside.strides[x]:
            return None
        backwards.append(inner.strides[x] < 0)
    last = columns[len(columns) - 1]
    if last.strides[x] != 1 or last.size < LEAST_ROW or points(columns) < LEAST_POINTS:
        return None
    if not is_apart([step.target for step in k.kernel.steps if step.target in k.used], columns):
        return None
    along = (last.size // 2 + 3) // 4 * 4
    lines = min(max(1, TILES // along), points(columns) // (2 * last.size))
    return SmallWindows(x, w, backwards, along, lines)


def element_of(e: Node) -> int:
    """The access that a formula is nothing but, or -1."""
    match e:
        case Element(access=n):
            return n
        case _:
            return -1


def in_pairs(sharing: Sharing | None, product: Product, outer: list[Line]) -> Sharing | None:
    """What threads share out: pairs of lines of windows."""
    columns = outer[len(outer) - len(product.columns) :]
    if sharing is None or sharing.side == "":
        return sharing
    pair = 2 * columns[len(columns) - 1].size
    return Sharing(-1, "columns", points(columns), pair, sharing.work, 1)
