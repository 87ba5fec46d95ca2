"""Reductions that answer where the largest or smallest value stands."""

from __future__ import annotations

from .encoder import variable
from .printer import KernelPart
from .reductions import Reductions
from .scalars.values import SCALARS


class ArgReductions(KernelPart):
    """Prints them, with what loops and begins as other reductions do."""

    def __init__(self, reductions: Reductions):
        super().__init__(reductions.p)
        self.reductions = reductions
        self.t = reductions.t

    def place(self, n: int) -> None:
        """Where the largest or smallest value of a reduction first stands."""
        best, at, here = self.begin_place(n)
        self.reductions.reduced(self.t.inner, [self.t.body[n]], 1, 1, lambda: self.meet_place(n, best, at, here, False))
        self.w.known[self.t.results[n].number] = at

    def begin_place(self, n: int) -> tuple[int, int, int]:
        kind = self.t.kind(n)
        best = variable(self.f, SCALARS[kind])
        self.reductions.begin("max" if self.t.steps[n].red == "argmax" else "min", kind)
        self.set(best)
        at = self.zero()
        here = self.zero()
        return best, at, here

    def meet_place(self, n: int, best: int, at: int, here: int, last: bool) -> None:
        """last: whether equal values name the later place."""
        known = self.w.known
        self.w.known = {**known}
        pred = self.t.pred[n]
        if pred is not None:
            self.w.push(pred)
            self.emit("if")
            self.w.known = {**known}
        kind = self.t.kind(n)
        shape = SCALARS[kind]
        self.w.keep(self.t.body[n])
        value = self.w.known[self.t.body[n].number]
        sign = "gt" if self.t.steps[n].red == "argmax" else "lt"
        self.get(value)
        self.get(best)
        self.emit(f"{shape}.{sign}" if kind == "f" else f"{shape}.{sign}_s")
        if kind == "f":  # NaN wins, the first or the last one
            self.get(value)
            self.get(value)
            self.emit("f64.ne")
            if not last:
                self.get(best)
                self.get(best)
                self.emit("f64.eq")
                self.emit("i32.and")
            self.emit("i32.or")
        if last:
            self.get(value)
            self.get(best)
            self.emit(f"{shape}.eq")
            self.emit("i32.or")
        self.emit("if")
        self.get(value)
        self.set(best)
        self.get(here)
        self.set(at)
        self.emit("end")
        if pred is not None:
            self.emit("end")
        self.add(here, 1)
        self.w.known = known
