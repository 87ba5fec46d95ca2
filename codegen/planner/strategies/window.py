"""The `window` strategy: reductions over windows that overlap, each element of a tensor read once for many of them.

A kernel whose input is read at indices like `y * stride + k * dilation - padding`, where `y` runs along its outer lines
and `k` is reduced: pooling, convolution of each channel by itself, and their adjoints.  A workgroup takes a tile of the
last two such outer lines; the patch of the input that the tile's windows cover goes through workgroup memory, and the
reductions, written out point by point, read it there.  Where the patch is known to hold what stands outside of the
tensor, no point asks again."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.nodes import Division, Node, elements_of
from ..affine import Affine, affine
from ..lines import Line, points
from ..writer import KernelWriter, is_bound, uniform_value

MOST_POINTS = 64  # of a window: its points are written out
ACROSS = 32  # points across a tile of two lines: what a warp reads of one line at once
MOST_SHARED = 16384  # bytes of workgroup memory that every device has


@dataclass
class WindowTile:
    """across: threads along the last line; down: along the line before; rows: how many points down each thread has.
    lines: how many of the last outer lines, 1 or 2, the tile has."""

    across: int
    down: int
    rows: int
    lines: int


@dataclass
class Window:
    """What a kernel reads through windows.  accesses: these reads; indices: for each, what its computed indices are, in
    order; outer: all outer lines, those of windows last."""

    accesses: list[int]
    indices: list[list[WindowIndex]]
    outer: list[Line]
    tile: WindowTile


# --- Whether ---------------------------------------------------------------------------------------


def window_of(k: KernelWriter, threads: int, rows: int) -> Window | None:
    """The windows of a kernel and the tile for so many threads with at most so many points each; None where there are
    none."""
    if len(k.reduce) == 0 or points(k.reduce) == 0 or points(k.reduce) > MOST_POINTS or "uniform_random" in k.helpers:
        return None
    for step in k.kernel.steps:
        if step.inner:
            return None
    out = Window([], [], [], WindowTile(1, 1, 1, 0))
    names: list[str] = []
    for n in range(len(k.kernel.accesses)):
        indices = windows_of(k, n)
        if indices is None:
            continue
        out.accesses.append(n)
        out.indices.append(indices)
        for index in indices:
            for line in k.outer:
                if line.name != "" and index.moves_with(line.name) and line.name not in names:
                    names.append(line.name)
    if len(out.accesses) == 0:
        return None
    tiled: list[Line] = []
    for line in k.outer:
        if line.name in names and line.name != "":
            tiled.append(line)
        else:
            out.outer.append(line)
    out.outer = out.outer + tiled
    out.tile = window_tile(k, out, tiled, threads, rows)
    return out if shared(k, out) <= min(MOST_SHARED, k.facts.max_shared) else None


@dataclass
class WindowIndex:
    """A sum of loops, divided by a number and rounded down."""

    sum: Affine
    divisor: int

    def moves_with(self, loop: str) -> bool:
        return self.sum.factors.get(loop, 0) != 0


def index_of(k: KernelWriter, e: Node) -> WindowIndex | None:
    """What an index is, or None if it is nothing of this form."""
    divisor = 1
    dividend = e
    match e:
        case Division(operator="//", operand=operand, divisor=by):
            divisor = by
            dividend = operand
    found = affine(dividend, lambda name: uniform_value(k, name), None)
    return None if found is None else WindowIndex(found, divisor)


def windows_of(k: KernelWriter, n: int) -> list[WindowIndex] | None:
    """The computed indices of access n if it reads through windows: they move with outer and reduced lines, and nothing
    else of it moves with these."""
    if not is_bound(k, n) or not varies_evenly(k, n):
        return None
    for step in k.kernel.steps:
        if step.target == n:
            return None
    out: list[WindowIndex] = []
    through = False
    for e in k.code.accesses[n].index:
        if e is None:
            continue
        index = index_of(k, e)
        if index is None:
            return None
        outer = False
        reduced = False
        for name in index.sum.factors:
            if name == "":
                continue
            at = line_of(k.outer, name)
            if at >= 0 and k.outer[at].strides[n] != 0:
                return None
            if at >= 0 and index.moves_with(name):
                outer = True
            elif line_of(k.reduce, name) < 0:
                return None
            elif index.moves_with(name):
                reduced = True
        if outer and reduced:
            through = True
        out.append(index)
    return out if through else None


def varies_evenly(k: KernelWriter, n: int) -> bool:
    """Whether access n has no place or value that another read decides, and no reduced line moves it by itself."""
    for line in k.reduce:
        if line.strides[n] != 0:
            return False
    return all(len(elements_of(index)) == 0 for index in k.code.accesses[n].index)


def line_of(lines: list[Line], name: str) -> int:
    for d in range(len(lines)):
        if lines[d].name != "" and lines[d].name == name:
            return d
    return -1


# --- How large -------------------------------------------------------------------------------------


def window_tile(k: KernelWriter, w: Window, tiled: list[Line], threads: int, rows: int) -> WindowTile:
    """The tile for so many threads: as wide as the last line up to ACROSS points, with as many points down for each
    thread, up to `rows`, as workgroup memory takes."""
    last = tiled[len(tiled) - 1].size
    tile = WindowTile(8, 1, 1, min(len(tiled), 2))
    most = ACROSS if tile.lines == 2 else threads
    while tile.across < last and tile.across < most:
        tile.across *= 2
    if tile.lines == 1:
        return tile
    before = tiled[len(tiled) - 2].size
    while tile.down < before and tile.across * tile.down * 2 <= threads:
        tile.down *= 2
    w.tile = tile
    while tile.rows * 2 <= rows and tile.rows * tile.down < before:
        tile.rows *= 2
        if shared(k, w) <= min(MOST_SHARED, k.facts.max_shared):
            continue
        tile.rows = tile.rows // 2
        return tile
    while tile.down > 1 and shared(k, w) > min(MOST_SHARED, k.facts.max_shared):
        tile.down = tile.down // 2
    return tile


def extent_in(w: Window, d: int) -> int:
    """How many points of outer line d a tile has."""
    if d == len(w.outer) - 1:
        return w.tile.across
    return w.tile.down * w.tile.rows if d == len(w.outer) - 2 and w.tile.lines == 2 else 1


def spans(k: KernelWriter, w: Window, a: int) -> list[int]:
    """How many elements along each computed axis a tile's windows cover, of window access number a."""
    out: list[int] = []
    for index in w.indices[a]:
        reach = 0
        for name in index.sum.factors:
            if name == "":
                continue
            at = line_of(w.outer, name)
            size = extent_in(w, at) if at >= 0 else k.reduce[line_of(k.reduce, name)].size
            reach += abs(index.sum.factors[name]) * (size - 1)
        out.append(reach // index.divisor + (1 if index.divisor == 1 else 2))
    return out


def elements(k: KernelWriter, w: Window, a: int) -> int:
    total = 1
    for span in spans(k, w, a):
        total *= span
    return total


def shared(k: KernelWriter, w: Window) -> int:
    """Bytes of workgroup memory."""
    total = 0
    for a in range(len(w.accesses)):
        total += 4 * elements(k, w, a)
    return total


def reuse(k: KernelWriter, w: Window) -> float:
    """How many points of windows read each element of the patches."""
    total = 0
    for a in range(len(w.accesses)):
        total += elements(k, w, a)
    return w.tile.across * w.tile.down * w.tile.rows * points(k.reduce) * len(w.accesses) / total


def tiles(w: Window, d: int) -> int:
    return (w.outer[d].size + extent_in(w, d) - 1) // extent_in(w, d)


def workgroups(w: Window) -> int:
    total = 1
    for d in range(len(w.outer)):
        total *= tiles(w, d)
    return total
