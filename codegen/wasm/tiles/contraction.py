"""Sums of products in tiles: blocks of both factors are computed into panels once, whatever their formulas are, and a
tile of sums is kept in registers.  So a convolution is a matrix product like any other.

A panel of the left factor holds the rows of a tile, one of the right factor two vectors of columns; depth by depth
their elements lie together.  Twelve sums leave a processor of sixteen registers those for a step of the depth; eight,
where products need one of their own.  Sums of a block lie in memory between steps of the depth, and what is stored of
them is made at the end."""

from __future__ import annotations

from collections.abc import Callable

from ...data.nodes import Node
from ...planner.contract import Product
from ..copies import Copy
from ..encoder import Function, emit, release, variable
from ..planning.kernel_plan import FEW_ROWS, TILE_ROWS
from ..printer import Printer
from ..steps import Steps
from .panels import Panels
from .walks import Walks


class Contraction:
    """Prints a contraction whose lines are batch, rows, columns and depth, in this order.  size: bytes of an element of
    panels; rows_of_tile, across: rows and columns of a tile; relaxed: whether the engine has instructions that multiply
    and add; inner: what adds up at each point of batch lines instead, from the variable with the scratch's address."""

    def __init__(self, p: Printer, steps: Steps, product: Product, relaxed: bool):
        self.p = p
        self.steps = steps
        self.product = product
        self.relaxed = relaxed
        self.size = 8 if p.k.call.dtype == "float64" else 4
        self.rows_of_tile = TILE_ROWS if relaxed and not p.k.low else FEW_ROWS
        self.across = 32 // self.size
        first = len(product.batch)
        self.rows = list(range(first, first + len(product.rows)))
        first += len(product.rows)
        self.columns = list(range(first, first + len(product.columns)))
        first += len(product.columns)
        self.inner: Callable[[int], None] | None = None
        self.walks = Walks(p)
        self.panels = Panels(p, self.walks, list(range(first, first + len(product.depth))), self.size)

    def write(self) -> None:
        self.p.start()
        if self.p.k.margins is not None:
            Copy(self.p, self.p.k.margins).clear()
        self.batch(0)
        self.p.finish()

    def batch(self, d: int) -> None:
        """Loops over the lines of batch from d on; a copy with margins is made where it is read from."""
        margins = self.p.k.margins
        if margins is not None and margins.before == d:
            pointers = {**self.p.pointers}
            made = Copy(self.p, margins).fill()
            self.p.pointers[margins.access] = made
            self.inside(d)
            self.p.pointers = pointers
            release(self.p.f, made)
        else:
            self.inside(d)

    def inside(self, d: int) -> None:
        if d < len(self.product.batch):
            self.p.each(d, lambda: self.batch(d + 1))
            return
        p = self.p
        left = p.copied(p.parameter("scratch"))
        if p.k.margins is not None:
            p.get(left)
            p.get(p.parameter("length"))
            p.emit("i32.add")
            p.set(left)
        if p.k.windows is not None and self.inner is not None:
            self.inner(left)
            release(p.f, left)
            return
        right = self.sum(left, lambda: self.bytes_of("mc", "held"))
        sums = self.sum(right, lambda: self.bytes_of("kc", "nc"))
        tables = self.sum(sums, lambda: self.bytes_of("mc", "nc"))
        self.panels.places.tables = tables
        self.blocks("rows", "mc", lambda m, ms: self.columns_of(m, ms, left, right, sums))
        for x in [left, right, sums, tables]:
            release(p.f, x)

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
        here = self.sum(left, lambda: self.held(k))
        # Where they are held for all of the depth, the left panels stay for all columns.
        p.get(n)
        if self.is_shared("columns"):
            p.get(p.parameter("begin"))
            p.emit("i32.eq")
        else:
            p.emit("i32.eqz")
        p.get(p.parameter("held"))
        p.get(p.parameter("depth"))
        p.emit("i32.lt_s")
        p.emit("i32.or")
        p.emit("if")
        self.panels.pack(self.product.left, self.rows, m, ms, self.rows_of_tile, k, ks, here)
        p.emit("end")
        self.panels.pack(self.product.right, self.columns, n, ns, self.across, k, ks, right)
        self.add_panels(
            [here, right, sums, ms, ns, ks],
            lambda: self.times(ks, self.rows_of_tile * self.size),
            lambda: self.times(ks, self.across * self.size),
            p.parameter("nc"),
        )
        release(p.f, here)

    def add_panels(self, given: list[int], tall: Callable[[], None], wide: Callable[[], None], stride: int) -> None:
        """The products of some panels.  given: the variables with their addresses and that of the sums, with rows,
        columns and depth; tall, wide: leave bytes from one panel to the next; stride: sums of a row."""
        p = self.p
        a = p.copied(given[0])
        c = p.copied(given[2])
        i = p.copied(given[3])
        p.emit("loop")
        b = p.copied(given[1])
        d = p.copied(c)
        j = p.copied(given[4])
        ks = given[5]
        p.emit("loop")
        if self.rows_of_tile > FEW_ROWS:
            p.get(i)
            p.integer(FEW_ROWS)
            p.emit("i32.gt_s")
            p.emit("if")
            self.add_tile(self.rows_of_tile, [a, b, d, ks, stride])
            p.emit("else")
            self.add_tile(FEW_ROWS, [a, b, d, ks, stride])
            p.emit("end")
        else:
            self.add_tile(FEW_ROWS, [a, b, d, ks, stride])
        p.get(b)
        wide()
        p.emit("i32.add")
        p.set(b)
        p.add(d, self.across * self.size)
        self.again(j, self.across)
        p.emit("end")
        p.get(a)
        tall()
        p.emit("i32.add")
        p.set(a)
        p.get(c)
        self.times(stride, self.rows_of_tile * self.size)
        p.emit("i32.add")
        p.set(c)
        self.again(i, self.rows_of_tile)
        p.emit("end")
        for x in [a, b, c, d, i, j]:
            release(p.f, x)

    def held(self, k: int) -> None:
        """How far on the left panels of depth k are, in bytes, on the stack."""
        p = self.p
        p.get(k)
        p.get(p.parameter("mc"))
        p.emit("i32.mul")
        p.integer(self.size)
        p.emit("i32.mul")
        p.integer(0)
        p.get(p.parameter("held"))
        p.get(p.parameter("depth"))
        p.emit("i32.ge_s")
        p.emit("select")

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

    def times(self, n: int, by: int) -> None:
        self.p.get(n)
        self.p.integer(by)
        self.p.emit("i32.mul")

    def again(self, n: int, by: int) -> None:
        """Goes round the loop again while so many less is more than 0."""
        p = self.p
        p.count_down(n, by)
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

    # --- Tiles ---

    def add_tile(self, rows: int, given: list[int]) -> None:
        p = self.p
        for x in given:
            p.get(x)
        p.integer(self.size)
        p.emit("i32.mul")
        p.emit("call", self.tile(rows).number)

    def tile(self, rows: int) -> Function:
        """The function that adds the products of a tile's first rows: of the panels' addresses, that of the sums, the
        depth, and the bytes from one row of sums to the next."""
        f = self.p.functions.named(f"tile{rows}", ["i32", "i32", "i32", "i32", "i32"])
        if len(f.code) > 0:
            return f
        sums = [variable(f, "v128") for _ in range(2 * rows)]
        columns = [variable(f, "v128") for _ in range(2)]
        row = variable(f, "v128")
        self.tile_loop(f, sums, columns, row)
        shape = "f64x2" if self.size == 8 else "f32x4"
        for r in range(rows):
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
        for r in range(len(sums) // 2):
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
        self.further(f, 0, self.rows_of_tile * self.size)
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
        self.walks.walk(
            self.rows,
            every,
            m,
            ms,
            lambda i: self.walks.walk(self.columns, every, n, ns, lambda j: self.store_some(i, j, sums), four),
            False,
        )

    def filtered(self) -> bool:
        """Whether products are left out of sums; where windows are multiplied as sums, that has been looked after."""
        if self.p.k.windows is not None:
            return False
        return self.product.left.filter is not None or self.product.right.filter is not None or self.guard() is not None

    def guard(self) -> Node | None:
        """Where an access says so instead of the sum."""
        return self.p.k.guard

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
        self.steps.stores_after([total])
        release(p.f, total)

    def without_left_out(self, total: int) -> None:
        """The sum here, product by product.  A tile multiplies zeros where a condition leaves products out, and an
        infinite factor makes them NaN."""
        p = self.p
        guard = self.guard()
        if guard is not None:
            self.steps.t.pred[0] = p.terms.of(guard, {})
        p.emit("f64.const", 0)
        p.set(total)
        known = p.w.known
        p.w.known = {}
        reductions = self.steps.reductions
        reductions.reduced(self.steps.t.inner, [], 1, 1, lambda: reductions.meet(0, total))
        p.w.known = known
