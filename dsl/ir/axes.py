"""A tensor's logical axes: what each place in an index of a statement stands for.

A shape pattern (dsl.ir.program.Dim) describes physical axes; an index has one entry per *logical* axis: a
split axis counts once per factor, a pack counts once whatever its rank.  Nothing here knows numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .builders import ONE, idx, mul, pack, sym
from .expression import E
from .program import Dim, Loop, Tensor


@dataclass(frozen=True)
class Axis:
    """`extent` for a single axis, `pack` for a pack.  broadcast: a pack whose axes may have length 1 or
    be missing.  when: the axis exists only if this holds."""

    extent: E | None = None
    pack: str = ""
    broadcast: bool = False
    when: E | None = None

    @property
    def length(self) -> E:
        """The extent of a single axis."""
        assert self.extent is not None
        return self.extent


def of_dim(d: Dim) -> list[Axis]:
    """The logical axes of one entry of a pattern."""
    if d.kind == "domain":
        if not d.option:
            return [Axis(pack="I", broadcast=True, when=d.when)]
        kept = Axis(pack="kept", broadcast=True, when=d.when)
        return [kept, Axis(pack="dropped", broadcast=True, when=d.when)] if d.part == "all" else [kept]
    if d.kind == "pack":
        return [Axis(pack=d.name, broadcast=d.broadcast, when=d.when)]
    if d.factors:
        return [Axis(extent=f, when=d.when) for f in d.factors]
    return [Axis(extent=sym(d.name) if d.size is None else d.size, when=d.when)]


def axes(t: Tensor) -> list[Axis]:
    """The logical axes of a tensor, in order."""
    return [a for d in t.dims for a in of_dim(d)]


def stretches(t: Tensor, tensors: dict[str, Tensor]) -> bool:
    """Whether axes of t may be broadcast: only what a caller passes in beside another such tensor is ever
    smaller than its loops, and the slope of its gradient, in derivatives of higher order."""
    if t.role == "cotangent" and t.like in tensors:
        return stretches(tensors[t.like], tensors)
    return (
        t.role == "input"
        and any(a.broadcast for a in axes(t))
        and any(o.name != t.name and o.role == "input" and any(a.broadcast for a in axes(o)) for o in tensors.values())
    )


def loop_dim(loop: Loop) -> Dim:
    """The entry that a temporary indexed by this loop has in its pattern."""
    return Dim("pack", loop.pack) if loop.pack else Dim("one", size=loop.extent)


def loop_index(loop: Loop) -> E:
    """A loop as an index."""
    return pack(loop.name) if loop.pack else idx(loop.name)


def extent(a: Axis) -> E:
    """How long an axis is; a pack: the product of its axes."""
    return sym(f"count_{a.pack}") if a.pack else a.length


def points(loops: Iterable[Loop]) -> E:
    """Over how many points loops run together."""
    out: E = ONE
    for v in loops:
        out = mul(out, extent(Axis(v.extent, v.pack or "")))
    return out
