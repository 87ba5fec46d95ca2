"""Sums of products in tiles: blocks of both factors are computed into panels once, whatever their formulas are, and a
tile of sums is kept in registers.  So a convolution is a matrix product like any other.

A panel of the left factor holds four rows, one of the right factor two vectors of columns; depth by depth their
elements lie together.  Sums of a block lie in memory between steps of the depth, and what is stored of them is made at
the end."""

from __future__ import annotations

from collections.abc import Callable

from ..data.nodes import Constant, Node, Select
from ..planner.contract import Factor, Product
from .encoder import Function, emit, release, variable
from .lanes import lanes_for
from .plan import TILE_ROWS
from .printer import Printer
from .steps import Steps
from .terms import Term, uses


class Contraction:
    """Prints a contraction whose lines are batch, rows, columns and depth, in this order.  size: bytes of an element of
    panels; across: columns of a tile; relaxed: whether the engine has instructions that multiply and add."""

    def __init__(self, p: Printer, steps: Steps, product: Product, relaxed: bool):
        self.p = p
        self.steps = steps
        self.product = product
        self.relaxed = relaxed
        self.size = 8 if p.k.call.dtype == "float64" else 4
        self.across = 32 // self.size
        first = len(product.batch)
        self.rows = list(range(first, first + len(product.rows)))
        first += len(product.rows)
        self.columns = list(range(first, first + len(product.columns)))
        first += len(product.columns)
        self.depth = list(range(first, first + len(product.depth)))

    def write(self) -> None:
        self.p.start()
        self.batch(0)
        self.p.finish()

    def batch(self, d: int) -> None:
        if d < len(self.product.batch):
            self.p.each(d, lambda: self.batch(d + 1))
            return
        p = self.p
        left = self.p.parameter("scratch")
        right = self.sum(left, lambda: self.bytes_of("mc", "kc"))
        sums = self.sum(right, lambda: self.bytes_of("kc", "nc"))
        self.blocks("rows", "mc", lambda m, ms: self.columns_of(m, ms, left, right, sums))
        release(p.f, right)
        release(p.f, sums)

    def columns_of(self, m: int, ms: int, left: int, right: int, sums: int) -> None:
        self.blocks("columns", "nc", lambda n, ns: self.block(m, ms, n, ns, left, right, sums))

    def block(self, m: int, ms: int, n: int, ns: int, left: int, right: int, sums: int) -> None:
        """The sums of a block of rows and columns, and their stores."""
        p = self.p
        p.get(sums)
        p.integer(0)
        self.bytes_of("mc", "nc")
        p.emit("memory.fill", 0)
        self.blocks("depth", "kc", lambda k, ks: self.add_up(m, ms, n, ns, k, ks, left, right, sums))
        self.store(m, ms, n, ns, sums)

    def add_up(self, m: int, ms: int, n: int, ns: int, k: int, ks: int, left: int, right: int, sums: int) -> None:
        p = self.p
        # Where one step takes all of the depth, the left panels stay for all columns.
        p.get(n)
        if self.is_shared("columns"):
            p.get(p.parameter("begin"))
            p.emit("i32.eq")
        else:
            p.emit("i32.eqz")
        p.get(p.parameter("kc"))
        p.get(p.parameter("depth"))
        p.emit("i32.lt_s")
        p.emit("i32.or")
        p.emit("if")
        self.pack(self.product.left, self.rows, m, ms, TILE_ROWS, k, ks, left)
        p.emit("end")
        self.pack(self.product.right, self.columns, n, ns, self.across, k, ks, right)
        a = p.copied(left)
        c = p.copied(sums)
        i = p.copied(ms)
        tile = self.tile()
        p.emit("loop")
        b = p.copied(right)
        d = p.copied(c)
        j = p.copied(ns)
        p.emit("loop")
        for x in [a, b, d, ks]:
            p.get(x)
        p.get(p.parameter("nc"))
        p.integer(self.size)
        p.emit("i32.mul")
        p.emit("call", tile.number)
        self.add_times(b, ks, self.across * self.size)
        p.add(d, self.across * self.size)
        self.again(j, self.across)
        p.emit("end")
        self.add_times(a, ks, TILE_ROWS * self.size)
        self.add_times(c, p.parameter("nc"), TILE_ROWS * self.size)
        self.again(i, TILE_ROWS)
        p.emit("end")
        for x in [a, b, c, d, i, j]:
            release(p.f, x)

    # --- Counting ---

    def bytes_of(self, a: str, b: str) -> None:
        """Bytes of so many elements, on the stack."""
        self.p.get(self.p.parameter(a))
        self.p.get(self.p.parameter(b))
        self.p.emit("i32.mul")
        self.p.integer(self.size)
        self.p.emit("i32.mul")

    def sum(self, n: int, more: Callable[[], None]) -> int:
        out = variable(self.p.f, "i32")
        self.p.get(n)
        more()
        self.p.emit("i32.add")
        self.p.set(out)
        return out

    def add_times(self, n: int, times: int, by: int) -> None:
        p = self.p
        p.get(n)
        p.get(times)
        p.integer(by)
        p.emit("i32.mul")
        p.emit("i32.add")
        p.set(n)

    def again(self, n: int, by: int) -> None:
        """Goes round the loop again while so many less is more than 0."""
        p = self.p
        p.get(n)
        p.integer(by)
        p.emit("i32.sub")
        p.emit("local.tee", n)
        p.integer(0)
        p.emit("i32.gt_s")
        p.emit("br_if", 0)

    def blocks(self, all_: str, part: str, body: Callable[[int, int], None]) -> None:
        """A loop over `all_` points in parts: of the first one of each, and how many there are."""
        p = self.p
        shared = self.is_shared(all_)
        end = p.parameter("end" if shared else all_)
        start = p.copied(p.parameter("begin")) if shared else p.zero()
        here = variable(p.f, "i32")
        p.emit("loop")
        p.get(end)
        p.get(start)
        p.emit("i32.sub")
        p.emit("local.tee", here)
        p.get(p.parameter(part))
        p.get(here)
        p.get(p.parameter(part))
        p.emit("i32.lt_s")
        p.emit("select")
        p.set(here)
        body(start, here)
        p.get(start)
        p.get(p.parameter(part))
        p.emit("i32.add")
        p.emit("local.tee", start)
        p.get(end)
        p.emit("i32.lt_s")
        p.emit("br_if", 0)
        p.emit("end")
        release(p.f, start)
        release(p.f, here)

    def is_shared(self, side: str) -> bool:
        sharing = self.p.k.sharing
        return sharing is not None and sharing.side == side

    # --- Lines as one ---

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
                    p.get(p.pointers[n])
                    p.get(counter)
                    p.step(d, n, 1)
                    p.emit("i32.mul")
                    p.emit("i32.add")
                    p.set(p.pointers[n])
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

    # --- Panels ---

    def pack(
        self, factor: Factor, lines: list[int], start: int, count: int, width: int, k: int, ks: int, to: int
    ) -> None:
        """The elements of a factor at a block of its lines and of the depth, in panels of `width`."""
        p = self.p
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
        accesses = factor.accesses
        node: Node = factor.body
        if factor.filter is not None:
            node = Select(factor.filter, node, Constant("f", 0))
        at = variable(p.f, "i32")
        term = p.terms.of(node, {})
        four = self.size == 4 and len(lines) > 0 and lanes_for(p, [term], ["float32"]) == 4
        p.w.uses = uses([term])
        if self.neighbours(accesses, lines) > self.neighbours(accesses, self.depth):
            self.walk(
                self.depth,
                accesses,
                k,
                ks,
                lambda depth: self.walk(
                    lines, accesses, start, count, lambda i: self.put(term, at, to, i, depth, width, ks), four
                ),
                False,
            )
        else:
            self.walk(
                lines,
                accesses,
                start,
                count,
                lambda i: self.walk(
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

    # --- Tiles ---

    def tile(self) -> Function:
        """The function that adds a tile's products: of the panels' addresses, that of the sums, the depth, and the
        bytes from one row of sums to the next."""
        f = self.p.functions.named("tile", ["i32", "i32", "i32", "i32", "i32"])
        if len(f.code) > 0:
            return f
        sums = [variable(f, "v128") for _ in range(2 * TILE_ROWS)]
        columns = [variable(f, "v128") for _ in range(2)]
        row = variable(f, "v128")
        self.tile_loop(f, sums, columns, row)
        shape = "f64x2" if self.size == 8 else "f32x4"
        for r in range(TILE_ROWS):
            for c in range(2):
                emit(f, "local.get", 2)
                emit(f, "local.get", 2)
                emit(f, "v128.load", 0, 16 * c)
                emit(f, "local.get", sums[2 * r + c])
                emit(f, f"{shape}.add")
                emit(f, "v128.store", 0, 16 * c)
            emit(f, "local.get", 2)
            emit(f, "local.get", 4)
            emit(f, "i32.add")
            emit(f, "local.set", 2)
        return f

    def tile_loop(self, f: Function, sums: list[int], columns: list[int], row: int) -> None:
        """The steps of the depth, one a turn: V8 would not keep the sums of several in registers."""
        shape = "f64x2" if self.size == 8 else "f32x4"
        emit(f, "loop")
        for c in range(2):
            emit(f, "local.get", 1)
            emit(f, "v128.load", 0, 16 * c)
            emit(f, "local.set", columns[c])
        for r in range(TILE_ROWS):
            emit(f, "local.get", 0)
            emit(f, "v128.load64_splat" if self.size == 8 else "v128.load32_splat", 0, self.size * r)
            emit(f, "local.set", row)
            for c in range(2):
                n = sums[2 * r + c]
                if not self.relaxed:
                    emit(f, "local.get", n)
                emit(f, "local.get", row)
                emit(f, "local.get", columns[c])
                if self.relaxed:
                    emit(f, "local.get", n)
                    emit(f, f"{shape}.relaxed_madd")
                else:
                    emit(f, f"{shape}.mul")
                    emit(f, f"{shape}.add")
                emit(f, "local.set", n)
        self.further(f, 0, TILE_ROWS * self.size)
        self.further(f, 1, 32)
        emit(f, "local.get", 3)
        emit(f, "i32.const", 1)
        emit(f, "i32.sub")
        emit(f, "local.tee", 3)
        emit(f, "br_if", 0)
        emit(f, "end")

    def further(self, f: Function, n: int, by: int) -> None:
        emit(f, "local.get", n)
        emit(f, "i32.const", by)
        emit(f, "i32.add")
        emit(f, "local.set", n)

    # --- Stores ---

    def store(self, m: int, ms: int, n: int, ns: int, sums: int) -> None:
        """What is stored at each point of a block."""
        every = self.p.k.used
        four = self.p.k.singles and len(self.columns) > 0 and not self.filtered()
        self.walk(
            self.rows,
            every,
            m,
            ms,
            lambda i: self.walk(self.columns, every, n, ns, lambda j: self.store_some(i, j, sums), four),
            False,
        )

    def filtered(self) -> bool:
        """Whether products are left out of sums."""
        return self.product.left.filter is not None or self.product.right.filter is not None or self.guard() is not None

    def guard(self) -> Node | None:
        """Where an access says so instead of the sum."""
        n = self.p.k.left_out
        return self.p.k.code.accesses[n].guard if n >= 0 else None

    def store_some(self, i: int, j: int, sums: int) -> None:
        p = self.p
        four = p.w.lanes == 4
        total = variable(p.f, "v128" if four else "f64")
        p.get(sums)
        p.get(i)
        p.get(p.parameter("nc"))
        p.emit("i32.mul")
        p.get(j)
        p.emit("i32.add")
        p.integer(self.size)
        p.emit("i32.mul")
        p.emit("i32.add")
        p.emit("v128.load" if four else "f64.load" if self.size == 8 else "f32.load", 0, 0)
        if self.size == 4 and not four:
            p.emit("f64.promote_f32")
        p.set(total)
        if self.filtered():
            p.get(total)
            p.get(total)
            p.emit("f64.ne")
            p.emit("if")
            self.without_left_out(total)
            p.emit("end")
        self.steps.stores_after(total)
        release(p.f, total)

    def without_left_out(self, total: int) -> None:
        """The sum here, product by product.  A tile multiplies zeros where a condition leaves products out, and an
        infinite factor makes them NaN."""
        p = self.p
        guard = self.guard()
        if guard is not None:
            self.steps.pred[0] = p.terms.of(guard, {})
        p.emit("f64.const", 0)
        p.set(total)
        known = p.w.known
        p.w.known = {}
        self.steps.reduced(self.steps.inner, [], 1, 1, lambda: self.steps.meet(0, total))
        p.w.known = known
