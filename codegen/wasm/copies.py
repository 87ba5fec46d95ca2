"""The copy with margins that a contraction reads (margins.py), as instructions."""

from __future__ import annotations

from .encoder import release
from .planning.margins import Margins
from .printer import Printer


class Copy:
    """Prints the copy: its margins once, the rest at every point of the lines around it."""

    def __init__(self, p: Printer, margins: Margins):
        self.p = p
        self.margins = margins

    def clear(self) -> None:
        p = self.p
        p.get(p.parameter("scratch"))
        p.integer(0)
        p.get(p.parameter("length"))
        p.emit("memory.fill", 0)

    def fill(self) -> int:
        """Copies what is read from here on; the variable that says where the lines begin in the copy."""
        p = self.p
        source = self.sum(p.pointers[self.margins.access], "first")
        target = self.sum(p.parameter("scratch"), "into")
        self.axis(0, source, target)
        release(p.f, source)
        release(p.f, target)
        return self.sum(p.parameter("scratch"), "base")

    def sum(self, n: int, name: str) -> int:
        out = self.p.copied(n)
        self.further(out, name)
        return out

    def further(self, n: int, name: str) -> None:
        p = self.p
        p.get(n)
        p.get(p.parameter(name))
        p.emit("i32.add")
        p.set(n)

    def axis(self, d: int, source: int, target: int) -> None:
        """A loop over axis d."""
        p = self.p
        last = d + 1 == len(self.margins.sizes)
        here = p.copied(source)
        there = p.copied(target)
        count = p.copied(p.parameter(f"copied{d}"))
        close = last and self.margins.source[d] == 1
        if close:
            self.elements(here, there, count, 4)
        p.emit("block")
        p.get(count)
        p.emit("i32.eqz")
        p.emit("br_if", 0)
        p.emit("loop")
        if last:
            p.get(there)
            p.get(here)
            p.emit("f32.load", 0, 0)
            p.emit("f32.store", 0, 0)
        else:
            self.axis(d + 1, here, there)
        self.further(here, f"source{d}")
        self.further(there, f"target{d}")
        p.count_down(count, 1)
        p.emit("br_if", 0)
        p.emit("end")
        p.emit("end")
        for n in [here, there, count]:
            release(p.f, n)

    def elements(self, here: int, there: int, count: int, many: int) -> None:
        """Neighbours, so many at once."""
        p = self.p
        p.emit("block")
        p.get(count)
        p.integer(many)
        p.emit("i32.lt_s")
        p.emit("br_if", 0)
        p.emit("loop")
        p.get(there)
        p.get(here)
        p.emit("v128.load", 0, 0)
        p.emit("v128.store", 0, 0)
        p.add(here, 4 * many)
        p.add(there, 4 * many)
        p.count_down(count, many)
        p.integer(many)
        p.emit("i32.ge_s")
        p.emit("br_if", 0)
        p.emit("end")
        p.emit("end")
