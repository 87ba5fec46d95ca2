"""Sums over windows of 3 x 3 points and many channels, four neighbours of which take 16 products instead of 36
(planning/small_windows.py).

Weights become 4 x 4 sums of themselves, and so do the 4 x 4 elements around a tile of 2 x 2 points.  For each of the
sixteen a product of matrices adds up over the channels, in the tiles of contraction.py, and sums of those are the
points.  An infinite element would make NaN of its neighbours: a block with what is no finite number is computed again,
product by product."""

from __future__ import annotations

from ..encoder import release, variable
from .window_sums import ACROSS, SIDE, WindowSums


class Winograd(WindowSums):
    """Prints them into a contraction's function."""

    def write(self, scratch: int) -> None:
        c = self.c
        weights = self.copied(scratch)
        elements = c.sum(weights, lambda: self.bytes_of("mc", self.channels, SIDE * SIDE))
        products = c.sum(elements, lambda: self.bytes_of("tiles", self.channels, SIDE * SIDE))
        sums = c.sum(products, lambda: self.bytes_of("mc", self.p.parameter("tiles"), SIDE * SIDE))
        self.take_weights(weights)
        c.blocks("columns", "nc", lambda n, ns: self.block(n, ns, weights, elements, products, sums))
        for x in [weights, elements, products, sums]:
            release(self.f, x)

    def block(self, n: int, ns: int, weights: int, elements: int, products: int, sums: int) -> None:
        """The sums of some pairs of lines, and their stores."""
        first = self.in_pairs(n)
        count = self.in_pairs(ns)
        self.take_elements(first, count, elements)
        self.multiply(count, weights, elements, products)
        odd = self.zeros()
        self.add_up(count, products, sums, odd)
        self.get(odd)
        self.get(odd)
        self.emit("f32x4.ne")
        self.emit("v128.any_true")
        rows = self.copied(self.p.parameter("rows"))
        start = self.zero()
        self.emit("if")
        self.again(start, rows, n, ns)
        self.emit("else")
        self.c.store(start, rows, n, ns, sums)
        self.emit("end")
        for x in [first, count, odd, rows, start]:
            release(self.f, x)

    def again(self, m: int, ms: int, n: int, ns: int) -> None:
        """A block product by product."""
        walks = self.c.walks
        every = self.k.used
        walks.walk(
            self.c.rows,
            every,
            m,
            ms,
            lambda i: walks.walk(self.c.columns, every, n, ns, lambda j: self.sum_here(), False),
            False,
        )

    def sum_here(self) -> None:
        total = variable(self.f, "f64")
        self.c.without_left_out(total)
        self.c.steps.stores_after([total])
        release(self.f, total)

    # --- Products ---

    def multiply(self, count: int, weights: int, elements: int, products: int) -> None:
        """Sixteen products of matrices."""
        self.get(products)
        self.integer(0)
        self.bytes_of("mc", self.p.parameter("tiles"), SIDE * SIDE)
        self.emit("memory.fill", 0)
        a = self.copied(weights)
        b = self.copied(elements)
        c = self.copied(products)
        tiles = variable(self.f, "i32")
        self.get(count)
        self.get(self.p.parameter("along"))
        self.emit("i32.mul")
        self.set(tiles)
        sixteen = variable(self.f, "i32")
        self.integer(SIDE * SIDE)
        self.set(sixteen)
        self.times(sixteen, lambda: self.multiply_one(tiles, a, b, c))
        for x in [a, b, c, tiles, sixteen]:
            release(self.f, x)

    def multiply_one(self, tiles: int, a: int, b: int, c: int) -> None:
        self.c.add_panels(
            [a, b, c, self.p.parameter("rows"), tiles, self.channels],
            lambda: self.scaled(self.channels, 4 * self.height),
            lambda: self.scaled(self.channels, 4 * ACROSS),
            self.p.parameter("tiles"),
        )
        self.further(a, lambda: self.bytes_of("mc", self.channels, 1))
        self.further(b, lambda: self.bytes_of("tiles", self.channels, 1))
        self.further(c, lambda: self.bytes_of("mc", self.p.parameter("tiles"), 1))
