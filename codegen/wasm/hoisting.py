"""What does not change along a line is computed before the loop over it."""

from __future__ import annotations

from ..data.nodes import Constant, Index, Result, Uniform
from .encoder import variable
from .printer import KernelPart, Printer
from .scalars.terms import Term


class Hoisting(KernelPart):
    """given: the term whose value is read back instead of computed, -1 for none.  along: the lines that formulas must
    not change along to be computed before them; elsewhere: terms, by their numbers, that are known there only.
    waiting: whether a term must wait, by its number; parted: terms whose parts were looked at instead of them."""

    def __init__(self, p: Printer):
        super().__init__(p)
        self.given = -1
        self.along: list[int] = []
        self.elsewhere: dict[int, int] = {}
        self.waiting: dict[int, bool] = {}
        self.parted: set[int] = set()

    def waits(self, t: Term) -> bool:
        """Whether a term changes along the lines, or needs a result that is not known yet."""
        if isinstance(t.e, Result):
            return t.number not in self.w.known
        if t.number not in self.waiting:
            here = any(self.p.changes(t, d) for d in self.along) or t.number in self.elsewhere
            self.waiting[t.number] = here or any(self.waits(p) for p in t.parts)
        return self.waiting[t.number]

    def hoist(self, roots: list[Term], d: int) -> None:
        """Computes before the loop over line d what does not change along it or one inside it."""
        self.hoist_along(roots, list(range(d, len(self.p.lines))), {})

    def hoist_along(self, roots: list[Term], lines: list[int], elsewhere: dict[int, int]) -> None:
        self.along = lines
        self.elsewhere = elsewhere
        self.waiting = {}
        self.parted = set()
        self.hoist_all(roots)

    def hoist_all(self, roots: list[Term]) -> None:
        for t in roots:
            if t.number in self.w.known or t.number == self.given or isinstance(t.e, Result):
                continue
            if t.number in self.elsewhere:
                continue
            if isinstance(t.e, Constant):
                if self.w.lanes > 1:
                    self.w.keep(t)  # engines make a vector of it at each use
                continue
            if self.waits(t):
                if t.number not in self.parted:
                    self.parted.add(t.number)
                    self.hoist_all(t.parts)
            elif not t.called and (self.w.lanes > 1 or not isinstance(t.e, (Uniform, Index))):
                self.w.keep(t)

    def widen(self, roots: list[Term], lanes: int) -> None:
        """From here on formulas are computed at so many points; what is known and needed is so at all of them."""
        known = self.w.known
        self.w.known = {}
        self.w.lanes = lanes
        if lanes == 1:
            self.w.known = {**known}
            return
        todo = roots[:]
        parted: set[int] = set()
        while len(todo) > 0:
            t = todo.pop()
            if t.number in self.w.known or t.number in parted:
                continue
            if t.number in known:
                self.get(known[t.number])
                if t.kind == "b":
                    self.negative()
                self.w.spread("i" if t.kind == "b" else t.kind)
                n = variable(self.f, "v128")
                self.set(n)
                self.w.known[t.number] = n
            else:
                parted.add(t.number)
                todo.extend(t.parts)
