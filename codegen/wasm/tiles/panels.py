"""The panels of a contraction in tiles: elements of a factor, `width` of its lines beside one another, depth by depth.

What is read as it lies, along the depth or along the lines, is copied or turned round some at once, and what lies at
places that are sums by tables of them (places.py); any other factor is computed element by element, four at a time
where they are neighbours of one panel."""

from __future__ import annotations

from ...data.nodes import Constant, Element, Node, Select
from ...planner.contract import Factor
from ...planner.lines import Line
from ..encoder import release, variable
from ..lanes import lanes_for
from ..planning.kernel_plan import nested
from ..printer import Printer
from ..scalars.terms import Term, uses
from .places import Places
from .walks import Walks

# How bytes of two vectors become pairs of their first or last two elements, and then halves of both.
FIRST = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23]
LAST = [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31]
LOWER = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
UPPER = [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]


class Panels:
    """Prints what fills panels.  depth: the numbers of its lines; size: bytes of an element."""

    def __init__(self, p: Printer, walks: Walks, depth: list[int], size: int):
        self.p = p
        self.walks = walks
        self.depth = depth
        self.size = size
        self.places = Places(p, walks, depth)

    def pack(
        self, factor: Factor, lines: list[int], start: int, count: int, width: int, k: int, ks: int, to: int
    ) -> None:
        """The elements of a factor at a block of its lines and of the depth, in panels of `width`."""
        p = self.p
        accesses = factor.accesses
        if self.size == 4 and not self.is_plain(factor, lines):
            access = self.places.access_of(factor)
            if access >= 0:
                self.places.pack(access, lines, start, count, width, k, ks, to)
                return
        p.get(count)
        p.integer(width - 1)
        p.emit("i32.and")
        p.emit("if")
        p.get(to)
        p.integer(0)
        p.get(count)
        p.integer(width - 1)
        p.emit("i32.add")
        p.integer(-width)
        p.emit("i32.and")
        p.get(ks)
        p.emit("i32.mul")
        p.integer(self.size)
        p.emit("i32.mul")
        p.emit("memory.fill", 0)
        p.emit("end")
        if self.is_plain(factor, lines):
            self.pack_plain(accesses[0], lines[len(lines) - 1], start, count, width, k, ks, to)
            return
        node: Node = factor.body
        if factor.filter is not None:
            node = Select(factor.filter, node, Constant("f", 0))
        at = variable(p.f, "i32")
        term = p.terms.of(node, {})
        four = self.size == 4 and len(lines) > 0 and lanes_for(p, [term], ["float32"]) == 4
        p.w.uses = uses([term])
        if self.neighbours(accesses, lines) > self.neighbours(accesses, self.depth):
            self.walks.walk(
                self.depth,
                accesses,
                k,
                ks,
                lambda depth: self.walks.walk(
                    lines, accesses, start, count, lambda i: self.put(term, at, to, i, depth, width, ks), four
                ),
                False,
            )
        else:
            self.walks.walk(
                lines,
                accesses,
                start,
                count,
                lambda i: self.walks.walk(
                    self.depth, accesses, k, ks, lambda depth: self.put(term, at, to, i, depth, width, ks), False
                ),
                four,
            )
        p.w.uses = {}
        release(p.f, at)

    def neighbours(self, accesses: list[int], lines: list[int]) -> int:
        """How many accesses have neighbours along the last of some lines."""
        if len(lines) == 0:
            return 0
        return len([n for n in accesses if self.p.class_of(lines[len(lines) - 1], n) == "1"])

    def put(self, term: Term, at: int, to: int, i: int, depth: int, width: int, ks: int) -> None:
        """Element i of a factor at a depth, or four from it on, into their panel."""
        p = self.p
        p.get(to)
        p.get(i)
        p.integer(-width)
        p.emit("i32.and")
        p.get(ks)
        p.emit("i32.mul")
        p.get(depth)
        p.integer(width)
        p.emit("i32.mul")
        p.emit("i32.add")
        p.get(i)
        p.integer(width - 1)
        p.emit("i32.and")
        p.emit("i32.add")
        p.integer(self.size)
        p.emit("i32.mul")
        p.emit("i32.add")
        p.set(at)
        known = p.w.known
        p.w.known = {}
        p.w.keep(term)
        p.get(at)
        p.get(p.w.known[term.number])
        if p.w.lanes == 4:
            p.emit("v128.store", 0, 0)
        else:
            if self.size == 4:
                p.emit("f32.demote_f64")
            p.emit("f64.store" if self.size == 8 else "f32.store", 0, 0)
        p.w.known = known

    # --- Elements as they lie ---

    def is_plain(self, factor: Factor, lines: list[int]) -> bool:
        """Whether a factor is nothing but single floats, neighbours along the depth or along its lines, each of which
        it goes through as if they were one."""
        k = self.p.k
        if self.size != 4 or factor.filter is not None:
            return False
        match factor.body:
            case Element(access=n):
                code = k.code.accesses[n]
                if k.types[n] != "float32" or code.guard is not None or any(e is not None for e in code.index):
                    return False
                if not nested(self.lines_of(lines), n) or not nested(self.lines_of(self.depth), n):
                    return False
                last = [lines[len(lines) - 1], self.depth[len(self.depth) - 1]]
                return any(self.p.class_of(d, n) == "1" for d in last)
            case _:
                return False

    def lines_of(self, numbers: list[int]) -> list[Line]:
        return [self.p.lines[d] for d in numbers]

    def pack_plain(self, n: int, line: int, start: int, count: int, width: int, k: int, ks: int, to: int) -> None:
        """Panels of access n: whole vectors at once while there are enough lines, the last ones alone."""
        p = self.p
        depth = self.depth[len(self.depth) - 1]
        along = p.class_of(line, n) == "1"
        many = width if along else 4
        here = p.copied(p.pointers[n])
        p.shift(here, depth, n, k)
        p.shift(here, line, n, start)
        i = p.zero()
        target = variable(p.f, "i32")
        source = variable(p.f, "i32")
        left = variable(p.f, "i32")
        for by in [many, 1]:
            p.emit("block")
            p.emit("loop")
            p.get(count)
            p.get(i)
            p.emit("i32.sub")
            p.integer(by)
            p.emit("i32.lt_s")
            p.emit("br_if", 1)
            self.target_of(to, i, width, ks, target)
            p.get(here)
            p.set(source)
            p.get(ks)
            p.set(left)
            if by > 1 and not along:
                self.turned(n, line, width, source, target, left)
            self.copied(n, by, depth, width, source, target, left, line)
            p.get(here)
            p.step(line, n, by)
            p.emit("i32.add")
            p.set(here)
            p.add(i, by)
            p.emit("br", 0)
            p.emit("end")
            p.emit("end")
        for x in [here, i, target, source, left]:
            release(p.f, x)

    def target_of(self, to: int, i: int, width: int, ks: int, target: int) -> None:
        """Where element i of the lines stands in its panel, at the first depth."""
        p = self.p
        p.get(i)
        p.integer(-width)
        p.emit("i32.and")
        p.get(ks)
        p.emit("i32.mul")
        p.get(i)
        p.integer(width - 1)
        p.emit("i32.and")
        p.emit("i32.add")
        p.integer(self.size)
        p.emit("i32.mul")
        p.get(to)
        p.emit("i32.add")
        p.set(target)

    def copied(self, n: int, by: int, depth: int, width: int, source: int, target: int, left: int, line: int) -> None:
        """`by` elements at each of the `left` depths: vectors where they are neighbours, or one after another."""
        p = self.p
        whole = by == width and p.class_of(line, n) == "1"
        p.emit("block")
        p.get(left)
        p.emit("i32.eqz")
        p.emit("br_if", 0)
        p.emit("loop")
        for at in range(by // 4 if whole else by):
            p.get(target)
            p.get(source)
            if whole:
                p.emit("v128.load", 0, 16 * at)
                p.emit("v128.store", 0, 16 * at)
            else:
                if at > 0:
                    p.step(line, n, at)
                    p.emit("i32.add")
                p.emit("f32.load", 0, 0)
                p.emit("f32.store", 0, 4 * at)
        p.get(source)
        p.step(depth, n, 1)
        p.emit("i32.add")
        p.set(source)
        p.add(target, 4 * width)
        p.count_down(left, 1)
        p.emit("br_if", 0)
        p.emit("end")
        p.emit("end")

    def turned(self, n: int, line: int, width: int, source: int, target: int, left: int) -> None:
        """Four depths of four lines at once, which are neighbours along the depth."""
        p = self.p
        rows = [variable(p.f, "v128") for _ in range(4)]
        pairs = [variable(p.f, "v128") for _ in range(4)]
        steps = [variable(p.f, "i32") for _ in range(3)]
        for at in range(3):
            p.step(line, n, at + 1)
            p.set(steps[at])
        p.emit("block")
        p.get(left)
        p.integer(4)
        p.emit("i32.lt_s")
        p.emit("br_if", 0)
        p.emit("loop")
        for row in range(4):
            p.get(source)
            if row > 0:
                p.get(steps[row - 1])
                p.emit("i32.add")
            p.emit("v128.load", 0, 0)
            p.set(rows[row])
        for pair in range(4):
            p.get(rows[pair // 2 * 2])
            p.get(rows[pair // 2 * 2 + 1])
            p.emit("i8x16.shuffle", *(FIRST if pair % 2 == 0 else LAST))
            p.set(pairs[pair])
        for at in range(4):
            p.get(target)
            p.get(pairs[at // 2])
            p.get(pairs[at // 2 + 2])
            p.emit("i8x16.shuffle", *(LOWER if at % 2 == 0 else UPPER))
            p.emit("v128.store", 0, 4 * width * at)
        p.add(source, 16)
        p.add(target, 16 * width)
        p.count_down(left, 4)
        p.integer(4)
        p.emit("i32.ge_s")
        p.emit("br_if", 0)
        p.emit("end")
        p.emit("end")
        for x in [*rows, *pairs, *steps]:
            release(p.f, x)
