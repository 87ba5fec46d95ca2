"""Panels of elements whose places are sums: of where a line stands, and of how far on the depth is.

Windows of a convolution are such, and what several lines or several steps of the depth go through.  Both are written to
tables once, so that an element takes a load and a store."""

from __future__ import annotations

from collections.abc import Callable

from ...data.nodes import Element
from ...planner.contract import Factor
from ..encoder import release, variable
from ..printer import KernelPart, Printer
from .walks import Walks


class Places(KernelPart):
    """Prints what fills panels of single floats.  depth: the numbers of its lines; tables: the variable with the
    address of the tables, that of the depth first."""

    def __init__(self, p: Printer, walks: Walks, depth: list[int]):
        super().__init__(p)
        self.walks = walks
        self.depth = depth
        self.tables = -1

    def access_of(self, factor: Factor) -> int:
        """The access that a factor is nothing but, if places of its elements are sums; -1 for others."""
        if factor.filter is not None:
            return -1
        match factor.body:
            case Element(access=n):
                code = self.k.code.accesses[n]
                if self.k.types[n] != "float32" or code.guard is not None or any(e is not None for e in code.index):
                    return -1
                return n
            case _:
                return -1

    def pack(self, n: int, lines: list[int], start: int, count: int, width: int, k: int, ks: int, to: int) -> None:
        """The elements of access n at a block of its lines and of the depth, in panels of `width`.  What the last
        panel has beyond the lines' end are its last elements again, whose sums nobody stores."""
        p = self.p
        first = p.pointers[n]
        self.walks.walk(self.depth, [n], k, ks, lambda done: self.note(n, self.tables, done, first), False)
        lined = p.copied(self.tables)
        p.get(lined)
        p.get(p.parameter("kc"))
        p.integer(4)
        p.emit("i32.mul")
        p.emit("i32.add")
        p.set(lined)
        self.walks.walk(lines, [n], start, count, lambda done: self.note(n, lined, done, -1), False)
        self.repeat_last(lined, count, width)
        here = p.copied(lined)
        target = p.copied(to)
        left = p.copied(count)
        at = [variable(p.f, "i32") for _ in range(width)]
        p.emit("loop")
        for j in range(width):
            p.get(here)
            p.emit("i32.load", 0, 4 * j)
            p.set(at[j])
        if len(lines) > 0 and p.class_of(lines[len(lines) - 1], n) == "1":
            self.are_neighbours(at)
            p.emit("if")
            self.along_depth(ks, lambda offset: self.copy_vectors(at[0], offset, target, width), target, width)
            p.emit("else")
            self.along_depth(ks, lambda offset: self.copy_each(at, offset, target), target, width)
            p.emit("end")
        else:
            self.along_depth(ks, lambda offset: self.copy_each(at, offset, target), target, width)
        p.add(here, 4 * width)
        p.count_down(left, width)
        p.integer(0)
        p.emit("i32.gt_s")
        p.emit("br_if", 0)
        p.emit("end")
        for x in [*at, here, target, left, lined]:
            release(p.f, x)

    # --- Tables ---

    def note(self, n: int, table: int, done: int, first: int) -> None:
        """Where access n stands, into a table; from `first` on, if that is a variable."""
        p = self.p
        p.get(done)
        p.integer(4)
        p.emit("i32.mul")
        p.get(table)
        p.emit("i32.add")
        p.get(p.pointers[n])
        if first >= 0:
            p.get(first)
            p.emit("i32.sub")
        p.emit("i32.store", 0, 0)

    def repeat_last(self, lined: int, count: int, width: int) -> None:
        p = self.p
        end = p.copied(count)
        last = variable(p.f, "i32")
        p.get(count)
        p.integer(4)
        p.emit("i32.mul")
        p.get(lined)
        p.emit("i32.add")
        p.emit("local.tee", end)
        p.integer(4)
        p.emit("i32.sub")
        p.emit("i32.load", 0, 0)
        p.set(last)
        for j in range(width - 1):
            p.get(end)
            p.get(last)
            p.emit("i32.store", 0, 4 * j)
        release(p.f, end)
        release(p.f, last)

    def are_neighbours(self, at: list[int]) -> None:
        """Whether elements lie one after another, on the stack."""
        p = self.p
        for j in range(1, len(at)):
            p.get(at[j])
            p.get(at[0])
            p.emit("i32.sub")
            p.integer(4 * j)
            p.emit("i32.xor")
            if j > 1:
                p.emit("i32.or")
        p.emit("i32.eqz")

    # --- Copies ---

    def along_depth(self, ks: int, body: Callable[[int], None], target: int, width: int) -> None:
        """A loop over the depth: the body takes how far on an element is."""
        p = self.p
        place = p.copied(self.tables)
        left = p.copied(ks)
        offset = variable(p.f, "i32")
        p.emit("loop")
        p.get(place)
        p.emit("i32.load", 0, 0)
        p.set(offset)
        body(offset)
        p.add(target, 4 * width)
        p.add(place, 4)
        p.count_down(left, 1)
        p.emit("br_if", 0)
        p.emit("end")
        for x in [place, left, offset]:
            release(p.f, x)

    def copy_vectors(self, at: int, offset: int, target: int, width: int) -> None:
        p = self.p
        source = variable(p.f, "i32")
        p.get(at)
        p.get(offset)
        p.emit("i32.add")
        p.set(source)
        for v in range((width + 3) // 4):
            vector = 4 * v + 4 <= width
            p.get(target)
            p.get(source)
            p.emit("v128.load" if vector else "i64.load", 0, 16 * v)
            p.emit("v128.store" if vector else "i64.store", 0, 16 * v)
        release(p.f, source)

    def copy_each(self, at: list[int], offset: int, target: int) -> None:
        p = self.p
        for j in range(len(at)):
            p.get(target)
            p.get(at[j])
            p.get(offset)
            p.emit("i32.add")
            p.emit("i32.load", 0, 0)
            p.emit("i32.store", 0, 4 * j)
