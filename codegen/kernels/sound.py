"""The rules of nests, checked when they are made: what formulas.py, codegen/cpu and host/ may rely on.

A break of one is a fault of the compiler, not of a definition.  The rules of the statements before are
dsl/ir/verify.py's, those of the nodes after verified.py's."""

from __future__ import annotations

from collections.abc import Iterable

from dsl.ir.axes import axes
from dsl.ir.expression import (
    E,
    Element,
    Index,
    Inside,
    Local,
    Pack,
    RawResult,
    Read,
    Reduce,
    Result,
    Unknown,
    is_loop,
    show,
)
from dsl.ir.program import Program

from .kernel import Access, Nest, Step


class BrokenNest(Exception):
    """The message lists all that is wrong with a nest; please report it."""


def verify(nests: Iterable[Nest], program: Program) -> None:
    """Raises BrokenNest."""
    found = [f"{program.name}, nest {n}: {m}" for n, nest in enumerate(nests) for m in problems(nest, program)]
    if found:
        raise BrokenNest("\n".join(found))


def problems(nest: Nest, program: Program) -> list[str]:
    """All that is wrong with a nest of a program."""
    check = Check(nest, program)
    if nest.shape == "raw":
        check.raw()
    else:
        check.shape()
        for n, a in enumerate(nest.accesses):
            check.access(n, a)
        for n, s in enumerate(nest.steps):
            check.step(n, s)
    return check.found


class Check:
    def __init__(self, nest: Nest, program: Program):
        self.nest, self.program = nest, program
        self.found: list[str] = []
        self.outer = {l.name for l in nest.loops}
        self.all = self.outer | {l.name for l in nest.rloops}
        self.packs = {l.name for l in nest.loops + nest.rloops if l.pack}
        self.seen: set[E] = set()

    def asked(self, holds: bool, wrong: str) -> None:
        if not holds:
            self.found.append(wrong)

    def raw(self) -> None:
        """A raw body has accesses and words, stores what it makes, and has no loops."""
        nest = self.nest
        self.asked(nest.raw is not None and not self.all, "a raw nest without a body, or with loops")
        self.asked(all(not a.index for a in nest.accesses), "a raw body takes whole tensors")
        self.asked(all(s.kind == "store" and s.result < 0 for s in nest.steps), "a raw body's steps are its stores")

    def shape(self) -> None:
        nest = self.nest
        self.asked(len(self.all) == len(nest.loops) + len(nest.rloops), "two loops of one name")
        reduces = any(s.kind == "reduce" for s in nest.steps)
        match nest.shape:
            case "map":
                self.asked(not reduces and not nest.rloops, "a map that reduces")
            case "scatter":
                self.asked(reduces == bool(nest.rloops), "a scatter whose loops of a reduction nothing reduces")
            case "row":
                self.asked(reduces and bool(nest.rloops), "a row without a reduction")
            case "scan":
                self.asked(reduces and len(nest.rloops) == 1, "a scan runs along one loop")
            case "contract":
                kinds = [s.kind for s in nest.steps]
                self.asked(kinds[0] == "reduce" and "reduce" not in kinds[1:], "a contraction is one sum")
                self.asked(
                    nest.steps[0].red == "sum" and bool(nest.left), "a contraction sums a product of two factors"
                )
        self.asked(all(n < len(nest.accesses) for n in nest.left), "a factor reads an access that is not there")
        self.asked(not nest.reverse or nest.shape == "scan", "only a scan goes backwards")
        for l in nest.loops + nest.rloops:
            self.asked((l.extent is None) == bool(l.pack), f"the loop {l.name} needs an extent or a pack, not both")

    def access(self, n: int, a: Access) -> None:
        t = self.program.tensors.get(a.tensor)
        if t is None:
            self.found.append(f"no tensor for {a.tensor}")
            return
        there = axes(t)
        lasting = [x for x in there if x.when is None]
        self.asked(len(a.index) in (len(there), len(lasting)), f"{a.tensor} has other axes than its access {n}")
        self.asked(a.fallback is None or a.guard is not None, f"access {n} has an answer for a place that it never has")
        for e in a.index:
            if not is_loop(e):
                self.formula(e, self.all, len(self.nest.steps))
            else:
                self.asked(e.loop in self.all, f"no loop for {e.loop}")
                self.asked(isinstance(e, Pack) == (e.loop in self.packs), f"{e.loop} stands for another kind of axis")
        for part in (a.guard, a.fallback):
            if part is not None:
                self.formula(part, self.all, len(self.nest.steps))
        self.asked(n not in self.behind(n, set()), f"access {n} needs its own element")

    def behind(self, n: int, found: set[int]) -> set[int]:
        """The accesses whose elements an access needs."""
        a = self.nest.accesses[n]
        for e in (*a.index, a.guard, a.fallback):
            for m in () if e is None else e.elements:
                if m not in found and m < len(self.nest.accesses):
                    found.add(m)
                    self.behind(m, found)
        return found

    def step(self, n: int, s: Step) -> None:
        self.asked(s.result in (-1, n), f"step {n} is known as step {s.result}")
        if s.kind == "reduce":
            self.asked(s.red is not None and s.result == n and s.target < 0, f"step {n} reduces nothing")
        else:
            self.asked(s.red is None and 0 <= s.target < len(self.nest.accesses), f"step {n} stores nowhere")
        everywhere = s.kind == "reduce" or s.inner or self.nest.shape == "scan"
        for e in (s.body, s.pred):
            if e is not None:
                self.formula(e, self.all if everywhere else self.outer, n)

    def formula(self, e: E, loops: set[str], steps: int) -> None:
        """e is made of loops, of elements of accesses, of results of the first `steps` steps, and of what the host
        knows."""
        self.asked(e.loops <= loops, f"a loop that is not open here: {show(e)}")
        self.asked(all(m < len(self.nest.accesses) for m in e.elements), f"an access that is not there: {show(e)}")
        for n in e.results:
            self.asked(n < steps and self.nest.steps[n].result == n, f"a result that is not there yet: {show(e)}")
        self.visit(e)

    def visit(self, e: E) -> None:
        if e in self.seen:
            return
        self.seen.add(e)
        match e:
            case Index(loop):
                self.asked(loop not in self.packs, f"the pack {loop} as one number")
            case Pack(loop):
                self.asked(False, f"the pack {loop} inside a formula")
            case Read() | Inside() | RawResult() | Reduce() | Unknown() | Local():
                self.asked(False, f"no formula of a nest: {show(e)}")
            case Element() | Result():
                pass
        for p in e.parts():
            self.visit(p)
