"""Sums in single floats, which join doubles after so many points: what a lane adds up by itself stays short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .encoder import release, variable
from .printer import KernelPart, LoopState, Printer

BLOCK = 256  # points, in four lanes or sixteen
UPPER = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]  # bytes


@dataclass
class FloatSum:
    """The sum of a step: in floats, in as many variables as a turn of the loop adds to, and the doubles that those
    join."""

    step: int
    floats: list[int]
    doubles: int


class FloatSums(KernelPart):
    """Prints them into a printer's function.  sums: those that are being made."""

    def __init__(self, p: Printer):
        super().__init__(p)
        self.sums: list[FloatSum] = []

    def begin(self, step: int, floats: list[int]) -> None:
        self.sums.append(FloatSum(step, floats, self.zeros()))

    def in_blocks(self, state: LoopState, body: Callable[[], None]) -> None:
        """A loop over the points of an opened line, a block at a time if anything is added up."""
        if len(self.sums) == 0:
            body()
            return
        rest = state.count
        here = variable(self.f, "i32")
        state.count = here
        self.emit("loop")
        self.get(rest)
        self.integer(BLOCK)
        self.get(rest)
        self.integer(BLOCK)
        self.emit("i32.lt_s")
        self.emit("select")
        self.set(here)
        self.get(rest)
        self.get(here)
        self.emit("i32.sub")
        self.set(rest)
        body()
        for s in self.sums:
            self.join(s)
        self.get(rest)
        self.emit("br_if", 0)
        self.emit("end")
        self.get(here)  # points that are left over
        self.set(rest)
        state.count = rest
        release(self.f, here)

    def join(self, s: FloatSum) -> None:
        """The floats join the doubles, and begin again."""
        first = s.floats[0]
        for other in s.floats[1:]:
            self.get(first)
            self.get(other)
            self.emit("f32x4.add")
            self.set(first)
        for half in range(2):
            self.get(s.doubles)
            self.get(first)
            if half == 1:
                self.get(first)
                self.emit("i8x16.shuffle", *UPPER)
            self.emit("f64x2.promote_low_f32x4")
            self.emit("f64x2.add")
            self.set(s.doubles)
        for n in s.floats:
            self.w.constant("f", 0)
            self.set(n)

    def bring(self, step: int, total: int) -> bool:
        """What a step's sum has come to joins a total; whether it is one of these."""
        for s in self.sums:
            if s.step == step:
                for lane in range(2):
                    self.get(total)
                    self.get(s.doubles)
                    self.emit("f64x2.extract_lane", lane)
                    self.emit("f64.add")
                    self.set(total)
                for n in [s.doubles, *s.floats]:
                    release(self.f, n)
                self.sums.remove(s)
                return True
        return False
