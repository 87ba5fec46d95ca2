"""The rules of kernels, checked when they are made: what formulas.py and the planners may rely on.

A break of one is a fault of the compiler, not of a definition.  The rules of the statements before are
dsl/ir/verify.py's, those of the nodes after verified.py's."""

from __future__ import annotations

from collections.abc import Iterable

from dsl.ir.axes import axes
from dsl.ir.builders import is_loop
from dsl.ir.expression import E, Element, Index, Inside, Local, Pack, RawResult, Read, Reduce, Result, Unknown, show
from dsl.ir.program import Program

from .kernel import Access, Kernel, Step


class BrokenKernel(Exception):
    """The message lists all that is wrong with a kernel; please report it."""


def verify(kernels: Iterable[Kernel], program: Program) -> None:
    """Raises BrokenKernel."""
    found = [f"{program.name}, kernel {n}: {m}" for n, kernel in enumerate(kernels) for m in problems(kernel, program)]
    if found:
        raise BrokenKernel("\n".join(found))


def problems(kernel: Kernel, program: Program) -> list[str]:
    """All that is wrong with a kernel of a program."""
    check = Check(kernel, program)
    if kernel.shape == "raw":
        check.raw()
    else:
        check.shape()
        for n, a in enumerate(kernel.accesses):
            check.access(n, a)
        for n, s in enumerate(kernel.steps):
            check.step(n, s)
    return check.found


class Check:
    def __init__(self, kernel: Kernel, program: Program):
        self.kernel, self.program = kernel, program
        self.found: list[str] = []
        self.outer = {l.name for l in kernel.loops}
        self.all = self.outer | {l.name for l in kernel.rloops}
        self.packs = {l.name for l in kernel.loops + kernel.rloops if l.pack}
        self.seen: set[E] = set()

    def asked(self, holds: bool, wrong: str) -> None:
        if not holds:
            self.found.append(wrong)

    def raw(self) -> None:
        """A body has accesses and uniforms, stores what it makes, and has no loops."""
        kernel = self.kernel
        self.asked(kernel.raw is not None and not self.all, "a raw kernel without a body, or with loops")
        self.asked(all(not a.index for a in kernel.accesses), "a body takes whole tensors")
        self.asked(all(s.kind == "store" and s.result < 0 for s in kernel.steps), "a body's steps are its stores")

    def shape(self) -> None:
        kernel = self.kernel
        self.asked(len(self.all) == len(kernel.loops) + len(kernel.rloops), "two loops of one name")
        reduces = any(s.kind == "reduce" for s in kernel.steps)
        match kernel.shape:
            case "map":
                self.asked(not reduces and not kernel.rloops, "a map that reduces")
            case "scatter":
                self.asked(reduces == bool(kernel.rloops), "a scatter whose loops of a reduction nothing reduces")
            case "reduce":
                self.asked(reduces and bool(kernel.rloops), "a row without a reduction")
            case "scan":
                self.asked(reduces and len(kernel.rloops) == 1, "a scan runs along one loop")
            case "contract":
                kinds = [s.kind for s in kernel.steps]
                self.asked(kinds[0] == "reduce" and "reduce" not in kinds[1:], "a contraction is one sum")
                self.asked(
                    kernel.steps[0].red == "sum" and bool(kernel.left), "a contraction sums a product of two factors"
                )
        self.asked(all(n < len(kernel.accesses) for n in kernel.left), "a factor reads an access that is not there")
        self.asked(not kernel.reverse or kernel.shape == "scan", "only a scan goes backwards")
        for l in kernel.loops + kernel.rloops:
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
                self.formula(e, self.all, len(self.kernel.steps))
            else:
                self.asked(e.loop in self.all, f"no loop for {e.loop}")
                self.asked(isinstance(e, Pack) == (e.loop in self.packs), f"{e.loop} stands for another kind of axis")
        for part in (a.guard, a.fallback):
            if part is not None:
                self.formula(part, self.all, len(self.kernel.steps))
        self.asked(n not in self.behind(n, set()), f"access {n} needs its own element")

    def behind(self, n: int, found: set[int]) -> set[int]:
        """The accesses whose elements an access needs."""
        a = self.kernel.accesses[n]
        for e in (*a.index, a.guard, a.fallback):
            for m in () if e is None else e.elements:
                if m not in found and m < len(self.kernel.accesses):
                    found.add(m)
                    self.behind(m, found)
        return found

    def step(self, n: int, s: Step) -> None:
        self.asked(s.result in (-1, n), f"step {n} is known as step {s.result}")
        if s.kind == "reduce":
            self.asked(s.red is not None and s.result == n and s.target < 0, f"step {n} reduces nothing")
        else:
            self.asked(s.red is None and 0 <= s.target < len(self.kernel.accesses), f"step {n} stores nowhere")
        everywhere = s.kind == "reduce" or s.inner or self.kernel.shape == "scan"
        for e in (s.body, s.pred):
            if e is not None:
                self.formula(e, self.all if everywhere else self.outer, n)

    def formula(self, e: E, loops: set[str], steps: int) -> None:
        """e is made of loops, of elements of accesses, of results of the first `steps` steps, and of what the host
        knows."""
        self.asked(e.loops <= loops, f"a loop that is not open here: {show(e)}")
        self.asked(all(m < len(self.kernel.accesses) for m in e.elements), f"an access that is not there: {show(e)}")
        for n in e.results:
            self.asked(n < steps and self.kernel.steps[n].result == n, f"a result that is not there yet: {show(e)}")
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
                self.asked(False, f"no formula of a kernel: {show(e)}")
            case Element() | Result():
                pass
        for p in e.parts():
            self.visit(p)
