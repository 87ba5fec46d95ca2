"""Some lines of a kernel gone through as if they were one, from any of their points on."""

from __future__ import annotations

from collections.abc import Callable

from ..encoder import release, variable
from ..printer import Printer


class Walks:
    """Prints loops over several lines into a printer's function."""

    def __init__(self, p: Printer):
        self.p = p

    def begin(self, lines: list[int], accesses: list[int], start: int) -> list[int]:
        """Pointers and counters at point `start` of some lines; the counters."""
        p = self.p
        for n in accesses:
            if any(p.class_of(d, n) != "0" for d in lines):
                p.pointers[n] = p.copied(p.pointers[n])
        rest = p.copied(start)
        counters: list[int] = []
        for at in range(len(lines)):
            d = lines[len(lines) - 1 - at]
            counter = variable(p.f, "i32")
            p.get(rest)
            if at + 1 < len(lines):
                p.get(p.parameter(f"size{d}"))
                p.emit("i32.rem_u")
            p.set(counter)
            if at + 1 < len(lines):
                p.get(rest)
                p.get(p.parameter(f"size{d}"))
                p.emit("i32.div_u")
                p.set(rest)
            for n in accesses:
                if p.class_of(d, n) != "0":
                    p.shift(p.pointers[n], d, n, counter)
            if p.lines[d].name != "":
                p.counters[p.lines[d].name] = counter
            counters.insert(0, counter)
        release(p.f, rest)
        return counters

    def next(self, lines: list[int], accesses: list[int], counters: list[int], by: int) -> None:
        """So many points further, which the last line has before its end."""
        p = self.p
        p.emit("block")
        for at in range(len(lines)):
            place = len(lines) - 1 - at
            d = lines[place]
            turn = by if at == 0 else 1
            p.add(counters[place], turn)
            for n in accesses:
                if p.class_of(d, n) != "0":
                    p.get(p.pointers[n])
                    p.step(d, n, turn)
                    p.emit("i32.add")
                    p.set(p.pointers[n])
            if place == 0:
                continue
            p.get(counters[place])
            p.get(p.parameter(f"size{d}"))
            p.emit("i32.lt_s")
            p.emit("br_if", 0)
            p.integer(0)
            p.set(counters[place])
            for n in accesses:
                if p.class_of(d, n) != "0":
                    p.get(p.pointers[n])
                    p.step(d, n, 1)
                    p.get(p.parameter(f"size{d}"))
                    p.emit("i32.mul")
                    p.emit("i32.sub")
                    p.set(p.pointers[n])
        p.emit("end")

    def walk(
        self,
        lines: list[int],
        accesses: list[int],
        start: int,
        count: int,
        body: Callable[[int], None],
        four: bool,
    ) -> None:
        """A loop over so many points from `start` on: the body takes how many points are done.  four: it takes four
        neighbours of the last line at once where they are there, from a multiple of four on; the printer's `lanes` say
        so."""
        p = self.p
        pointers = {**p.pointers}
        names = {**p.counters}
        counters = self.begin(lines, accesses, start)
        done = p.zero()
        p.emit("loop")
        if four:
            self.are_four(lines, counters, done, count)
            p.emit("if")
            self.turn(lines, accesses, counters, done, body, 4)
            p.emit("else")
        self.turn(lines, accesses, counters, done, body, 1)
        if four:
            p.emit("end")
        p.get(done)
        p.get(count)
        p.emit("i32.lt_s")
        p.emit("br_if", 0)
        p.emit("end")
        for n in accesses:
            if p.pointers[n] != pointers[n]:
                release(p.f, p.pointers[n])
        for n in [*counters, done]:
            release(p.f, n)
        p.pointers = pointers
        p.counters = names

    def turn(
        self,
        lines: list[int],
        accesses: list[int],
        counters: list[int],
        done: int,
        body: Callable[[int], None],
        by: int,
    ) -> None:
        p = self.p
        line = p.line
        if by > 1:
            p.w.lanes = by
            p.line = lines[len(lines) - 1]
        body(done)
        if by > 1:
            p.w.lanes = 1
            p.line = line
        self.next(lines, accesses, counters, by)
        p.add(done, by)

    def are_four(self, lines: list[int], counters: list[int], done: int, count: int) -> None:
        """Whether four points begin here that lie in one panel and on one line, on the stack."""
        p = self.p
        p.get(done)
        p.integer(3)
        p.emit("i32.and")
        p.emit("i32.eqz")
        p.get(count)
        p.get(done)
        p.emit("i32.sub")
        p.integer(4)
        p.emit("i32.ge_s")
        p.emit("i32.and")
        p.get(p.parameter(f"size{lines[len(lines) - 1]}"))
        p.get(counters[len(counters) - 1])
        p.emit("i32.sub")
        p.integer(4)
        p.emit("i32.ge_s")
        p.emit("i32.and")
