"""Where the elements of accesses stand: pointers of lines, and indices that formulas compute."""

from __future__ import annotations

from ..data.nodes import BoundsCheck, Constant, Node, elements_of
from .printer import KernelPart, Printer
from .scalars.terms import Term


class Addresses(KernelPart):
    """Puts addresses on the stack."""

    def __init__(self, p: Printer):
        super().__init__(p)

    def index_terms(self, n: int) -> list[Term]:
        """The computed indices of an access."""
        return [self.p.terms.of(e, {}) for e in self.k.code.accesses[n].index if e is not None]

    def address(self, n: int, lane: int, safe: bool) -> None:
        """The address of an access's element, on the stack; lane -1: of the first point of this turn of the loop."""
        self.get(self.p.pointers[n])
        if self.w.lanes > 1 and self.p.line >= 0:
            how = self.p.class_of(self.p.line, n)
            if how != "0" and lane >= 0 and lane + self.p.ahead > 0:
                self.p.step(self.p.line, n, lane + self.p.ahead)
                self.emit("i32.add")
        a = self.k.code.accesses[n]
        for i in range(len(a.index)):
            e = a.index[i]
            if e is None or self.is_zero(e):
                continue
            checked = isinstance(e, BoundsCheck) and not e.stores
            if checked:
                self.w.faults = True
                self.get(0)
            self.index(e, lane)
            if checked and a.guard is not None and self.w.lanes > 1:
                self.allowed(n, a.guard, lane)
            if checked or safe or len(elements_of(e)) > 0:
                self.get(self.p.parameter(f"length{n}_{i}"))
                self.w.invoke("check_bounds" if checked else "clamped", 2)
            self.get(self.p.parameter(f"by{n}_{i}"))
            self.emit("i32.mul")
            self.emit("i32.add")

    def allowed(self, n: int, guard: Node, lane: int) -> None:
        """Makes an index 0 where the element is not read: at one point, or at all of this turn where they share it."""
        t = self.p.terms.of(guard, {})
        self.w.keep(t)
        self.get(self.w.known[t.number])
        if any(self.p.moves(t, self.p.line) for t in self.index_terms(n)):
            self.w.extract("b", max(lane, 0))
        else:
            self.emit("v128.any_true")
            self.negative()
        self.emit("i32.and")

    def is_zero(self, e: Node) -> bool:
        return isinstance(e, Constant) and e.value == 0

    def index(self, e: Node, lane: int) -> None:
        """A computed index at one of the points."""
        t = self.p.terms.of(e, {})
        if self.w.lanes == 1:
            self.w.push(t)
            self.w.convert(t.kind, "i")
            return
        self.w.keep(t)
        self.get(self.w.known[t.number])
        self.w.extract("i", max(lane, 0))

    def on_axes(self, n: int, lane: int) -> bool:
        """Whether the places that elements name for a store are on their axes, on the stack; False: there are none."""
        a = self.k.code.accesses[n]
        found = False
        for i in range(len(a.index)):
            e = a.index[i]
            if e is None or len(elements_of(e)) == 0:
                continue
            checked = isinstance(e, BoundsCheck) and e.stores
            if checked:
                self.w.faults = True
                self.get(0)
            self.index(e, lane)
            self.get(self.p.parameter(f"length{n}_{i}"))
            if checked:
                self.w.invoke("in_bounds", 3)
            else:
                self.emit("i32.lt_u")
            if found:
                self.emit("i32.and")
            found = True
        return found
