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
        self.within(count, width)
        p.emit("if")
        p.get(to)
        p.integer(0)
        self.before(count, width)
        p.integer(width)
        p.emit("i32.add")
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
        """Element i of a factor at a depth, or four from it on, into their panel, or pair by pair into two."""
        p = self.p
        self.place_of(to, i, depth, width, ks, at)
        known = p.w.known
        p.w.known = {}
        p.w.keep(term)
        value = p.w.known[term.number]
        p.get(at)
        p.get(value)
        if p.w.lanes == 4 and width % 4 == 0:
            p.emit("v128.store", 0, 0)
        elif p.w.lanes == 4:
            p.emit("v128.store64_lane", 0, 0, 0)
            second = p.copied(i)
            p.add(second, 2)
            self.place_of(to, second, depth, width, ks, at)
            release(p.f, second)
            p.get(at)
            p.get(value)
            p.emit("v128.store64_lane", 0, 0, 1)
        else:
            if self.size == 4:
                p.emit("f32.demote_f64")
            p.emit("f64.store" if self.size == 8 else "f32.store", 0, 0)
        p.w.known = known

    def place_of(self, to: int, i: int, depth: int, width: int, ks: int, at: int) -> None:
        """Where element i stands at a depth, into the variable `at`."""
        p = self.p
        p.get(to)
        self.before(i, width)
        p.get(ks)
        p.emit("i32.mul")
        p.get(depth)
        p.integer(width)
        p.emit("i32.mul")
        p.emit("i32.add")
        self.within(i, width)
        p.emit("i32.add")
        p.integer(self.size)
        p.emit("i32.mul")
        p.emit("i32.add")
        p.set(at)

    def before(self, i: int, width: int) -> None:
        """How many elements there are in the panels before that of element i, at each depth."""
        self.p.get(i)
        self.within(i, width)
        self.p.emit("i32.sub")

    def within(self, i: int, width: int) -> None:
        """Which element of its panel element i is."""
        self.p.get(i)
        self.p.integer(width)
        self.p.emit("i32.rem_u")

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
        many = 4 if not along and width % 4 == 0 else width
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
                self.turned(n, line, by, width, source, target, left)
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
        self.before(i, width)
        p.get(ks)
        p.emit("i32.mul")
        self.within(i, width)
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
        for at in range((by + 3) // 4 if whole else by):
            p.get(target)
            p.get(source)
            if whole:
                vector = 4 * at + 4 <= by
                p.emit("v128.load" if vector else "i64.load", 0, 16 * at)
                p.emit("v128.store" if vector else "i64.store", 0, 16 * at)
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

    def turned(self, n: int, line: int, by: int, width: int, source: int, target: int, left: int) -> None:
        """Four depths of four lines or six at once, which are neighbours along the depth."""
        p = self.p
        rows = [variable(p.f, "v128") for _ in range(by)]
        pairs = [variable(p.f, "v128") for _ in range(by)]
        steps = [variable(p.f, "i32") for _ in range(by - 1)]
        for at in range(by - 1):
            p.step(line, n, at + 1)
            p.set(steps[at])
        p.emit("block")
        p.get(left)
        p.integer(4)
        p.emit("i32.lt_s")
        p.emit("br_if", 0)
        p.emit("loop")
        for row in range(by):
            p.get(source)
            if row > 0:
                p.get(steps[row - 1])
                p.emit("i32.add")
            p.emit("v128.load", 0, 0)
            p.set(rows[row])
        for pair in range(by):
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
            if by > 4:
                p.get(target)
                p.get(pairs[4 + at // 2])
                p.emit("v128.store64_lane", 0, 4 * width * at + 16, at % 2)
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
