"""What is multiplied for windows of 3 x 3 points, and the points that come of it (winograd.py): sums of weights, of
elements, and of products, which stand in the order of panels."""

from __future__ import annotations

from collections.abc import Callable

from ..encoder import release, variable
from ..planning.kernel_plan import SmallWindows
from ..printer import KernelPart
from .contraction import Contraction
from .panels import FIRST, LAST

EVEN = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]  # bytes of two vectors
ODD = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]
# Sums of three weights, of four elements, and of four products; see WindowSums.sums_of.
WEIGHTS = [[1], [1, 3, 2], [1, 3, -2], [3]]
ELEMENTS = [[1, -3], [2, 3], [3, -2], [2, -4]]
POINTS = [[1, 2, 3], [2, -3, -4]]
SIDE = 4  # of what is multiplied for a tile
ACROSS = 8  # columns of a panel


class WindowSums(KernelPart):
    """Prints them into a contraction's function.  row, channel, down: the numbers of the lines of sums, of channels
    and of a window's first line; height: rows of a panel; channels, length: the variables with how many channels there
    are, and points of a line."""

    def __init__(self, c: Contraction, windows: SmallWindows):
        super().__init__(c.p)
        self.c = c
        self.windows = windows
        self.row = c.rows[0]
        self.channel = len(self.k.outer)
        self.down = self.channel + 1
        self.height = c.rows_of_tile
        self.channels = self.p.parameter(f"size{self.channel}")
        self.length = self.p.parameter(f"size{c.columns[len(c.columns) - 1]}")

    # --- Counting ---

    def bytes_of(self, name: str, times: int, by: int) -> None:
        """Bytes of so many single floats, on the stack."""
        self.get(self.p.parameter(name))
        self.get(times)
        self.emit("i32.mul")
        self.integer(4 * by)
        self.emit("i32.mul")

    def in_pairs(self, columns: int) -> int:
        """A variable with how many pairs of lines so many columns are."""
        out = variable(self.f, "i32")
        self.get(columns)
        self.get(self.length)
        self.integer(1)
        self.emit("i32.shl")
        self.emit("i32.div_u")
        self.set(out)
        return out

    def times(self, count: int, body: Callable[[], None]) -> None:
        """A loop of so many turns, at least one."""
        left = self.copied(count)
        self.emit("loop")
        body()
        self.count_down(left, 1)
        self.emit("br_if", 0)
        self.emit("end")
        release(self.f, left)

    def further(self, n: int, more: Callable[[], None]) -> None:
        """Adds to a variable what is left on the stack."""
        self.get(n)
        more()
        self.emit("i32.add")
        self.set(n)

    def panel(self, to: int, i: int, width: int) -> int:
        """A variable with where line i stands in panels of so many, at the first channel."""
        out = variable(self.f, "i32")
        self.c.panels.before(i, width)
        self.get(self.channels)
        self.emit("i32.mul")
        self.c.panels.within(i, width)
        self.emit("i32.add")
        self.integer(4)
        self.emit("i32.mul")
        self.get(to)
        self.emit("i32.add")
        self.set(out)
        return out

    def scaled(self, n: int, by: int) -> None:
        self.get(n)
        self.integer(by)
        self.emit("i32.mul")

    # --- Weights ---

    def take_weights(self, to: int) -> None:
        i = self.zero()
        self.p.each(self.row, lambda: self.take_row(to, i))
        release(self.f, i)

    def take_row(self, to: int, i: int) -> None:
        at = self.panel(to, i, self.height)
        self.p.each(self.channel, lambda: self.take_weight(at))
        self.add(i, 1)
        release(self.f, at)

    def take_weight(self, at: int) -> None:
        """The sums of the weights of a window, half of what two of three are."""
        half = variable(self.f, "v128")
        self.emit("f64.const", 0.5)
        self.emit("f32.demote_f64")
        self.emit("f32x4.splat")
        self.set(half)
        sums = [self.sums_of([self.weight(down, n) for down in range(3)], WEIGHTS, half) for n in range(3)]
        to = self.copied(at)
        for down in range(SIDE):
            for value in self.sums_of([column[down] for column in sums], WEIGHTS, half):
                self.get(to)
                self.get(value)
                self.emit("v128.store32_lane", 0, 0, 0)
                self.further(to, lambda: self.bytes_of("mc", self.channels, 1))
                release(self.f, value)
        self.add(at, 4 * self.height)
        release(self.f, half)
        release(self.f, to)

    def weight(self, down: int, along: int) -> int:
        """A weight, as windows go forwards."""
        n = self.windows.weights
        out = variable(self.f, "v128")
        self.get(self.p.pointers[n])
        places = [down, along]
        for at in range(2):
            self.p.step(self.down + at, n, 2 - places[at] if self.windows.backwards[at] else places[at])
            self.emit("i32.add")
        self.emit("v128.load32_zero", 0, 0)
        self.set(out)
        return out

    def sums_of(self, given: list[int], terms: list[list[int]], half: int) -> list[int]:
        """Sums of vectors that are not needed afterwards.  terms: which, counted from 1, those that are taken away
        below 0; half: the variable with the factor of sums of three, or -1."""
        out: list[int] = []
        for some in terms:
            for n in range(len(some)):
                self.get(given[abs(some[n]) - 1])
                if n > 0:
                    self.emit("f32x4.add" if some[n] > 0 else "f32x4.sub")
            if half >= 0 and len(some) == 3:
                self.get(half)
                self.emit("f32x4.mul")
            made = variable(self.f, "v128")
            self.set(made)
            out.append(made)
        for x in given:
            release(self.f, x)
        return out

    # --- Elements ---

    def take_elements(self, first: int, count: int, to: int) -> None:
        """The sums of the elements around each tile of some pairs of lines, channel by channel."""
        here = self.copied(to)
        self.p.each(self.channel, lambda: self.take_channel(first, count, here))
        release(self.f, here)

    def take_channel(self, first: int, count: int, here: int) -> None:
        pair = self.copied(first)
        tile = self.zero()
        self.times(count, lambda: self.take_pair(pair, tile, here))
        self.add(here, 4 * ACROSS)
        release(self.f, pair)
        release(self.f, tile)

    def take_pair(self, pair: int, tile: int, here: int) -> None:
        """The tiles of a pair of lines."""
        n = self.windows.elements
        columns = self.c.columns
        source = self.copied(self.p.pointers[n])
        line = self.copied(pair)
        if len(columns) == 3:
            images = variable(self.f, "i32")
            self.get(pair)
            self.get(self.p.parameter(f"size{columns[1]}"))
            self.integer(1)
            self.emit("i32.shr_u")
            self.emit("local.tee", images)
            self.emit("i32.rem_u")
            self.set(line)
            self.get(pair)
            self.get(images)
            self.emit("i32.div_u")
            self.set(images)
            self.p.shift(source, columns[0], n, images)
            release(self.f, images)
        self.get(line)
        self.integer(1)
        self.emit("i32.shl")
        self.set(line)
        self.p.shift(source, columns[len(columns) - 2], n, line)
        for at in range(2):
            if self.windows.backwards[at]:
                self.get(source)
                self.p.step(self.down + at, n, 2)
                self.emit("i32.add")
                self.set(source)
        release(self.f, line)
        quarters = variable(self.f, "i32")
        self.get(self.p.parameter("along"))
        self.integer(2)
        self.emit("i32.shr_u")
        self.set(quarters)
        self.times(quarters, lambda: self.take_four(source, tile, here))
        self.add(pair, 1)
        for x in [source, quarters]:
            release(self.f, x)

    def take_four(self, source: int, tile: int, here: int) -> None:
        """Four tiles beside one another."""
        down = self.c.columns[len(self.c.columns) - 2]
        at = self.copied(source)
        lines: list[list[int]] = []
        for n in range(SIDE):
            if n > 0:
                self.further(at, lambda: self.p.step(down, self.windows.elements, 1))
            lines.append(self.sums_of(self.spread(at), ELEMENTS, -1))
        to = self.panel(here, tile, ACROSS)
        turned = [self.sums_of([line[n] for line in lines], ELEMENTS, -1) for n in range(SIDE)]
        for n in range(SIDE):
            for column in turned:
                self.get(to)
                self.get(column[n])
                self.emit("v128.store", 0, 0)
                self.further(to, lambda: self.bytes_of("tiles", self.channels, 1))
                release(self.f, column[n])
        self.add(source, 32)
        self.add(tile, 4)
        release(self.f, at)
        release(self.f, to)

    def spread(self, at: int) -> list[int]:
        """The first, second, third and fourth elements of four tiles, each two on from the one before."""
        out: list[int] = []
        for far in range(2):
            vectors = [variable(self.f, "v128") for _ in range(2)]
            for n in range(2):
                self.get(at)
                self.emit("v128.load", 0, 8 * far + 16 * n)
                self.set(vectors[n])
            for how in [EVEN, ODD]:
                made = variable(self.f, "v128")
                for n in vectors:
                    self.get(n)
                self.emit("i8x16.shuffle", *how)
                self.set(made)
                out.append(made)
            for n in vectors:
                release(self.f, n)
        return out

    # --- Sums ---

    def add_up(self, count: int, products: int, sums: int, odd: int) -> None:
        """The points of each tile, as they lie in a row of sums.  odd: becomes NaN where one is no finite number."""
        product = self.copied(products)
        row = self.copied(sums)
        self.times(self.p.parameter("rows"), lambda: self.add_row(count, product, row, odd))
        release(self.f, product)
        release(self.f, row)

    def add_row(self, count: int, product: int, row: int, odd: int) -> None:
        at = self.copied(product)
        to = self.copied(row)
        self.times(count, lambda: self.add_pair(at, to, odd))
        self.further(product, lambda: self.scaled(self.p.parameter("tiles"), 4))
        self.further(row, lambda: self.scaled(self.p.parameter("nc"), 4))
        release(self.f, at)
        release(self.f, to)

    def add_pair(self, at: int, to: int, odd: int) -> None:
        """The points of a pair of lines; of the last four tiles some may be computed twice."""
        end = variable(self.f, "i32")
        tile = self.zero()
        near = variable(self.f, "i32")
        self.get(self.length)
        self.integer(1)
        self.emit("i32.shr_u")
        self.set(end)
        self.emit("loop")
        self.get(end)
        self.integer(4)
        self.emit("i32.sub")
        self.emit("local.tee", near)
        self.get(tile)
        self.get(near)
        self.get(tile)
        self.emit("i32.lt_s")
        self.emit("select")
        self.set(near)
        source = self.c.sum(at, lambda: self.scaled(near, 4))
        target = self.c.sum(to, lambda: self.scaled(near, 8))
        self.add_four(source, target, odd)
        for x in [source, target]:
            release(self.f, x)
        self.add(tile, 4)
        self.get(tile)
        self.get(end)
        self.emit("i32.lt_s")
        self.emit("br_if", 0)
        self.emit("end")
        self.further(at, lambda: self.scaled(self.p.parameter("along"), 4))
        self.further(to, lambda: self.scaled(self.length, 8))
        for x in [end, tile, near]:
            release(self.f, x)

    def add_four(self, source: int, target: int, odd: int) -> None:
        """The points of four tiles beside one another."""
        columns: list[list[int]] = [[] for _ in range(SIDE)]
        for _ in range(SIDE):
            for along in range(SIDE):
                value = variable(self.f, "v128")
                self.get(source)
                self.emit("v128.load", 0, 0)
                self.set(value)
                columns[along].append(value)
                self.further(source, lambda: self.bytes_of("mc", self.p.parameter("tiles"), 1))
        halves = [self.sums_of(column, POINTS, -1) for column in columns]
        for line in range(2):
            pair = self.sums_of([half[line] for half in halves], POINTS, -1)
            for value in pair:
                self.get(odd)
                self.get(value)
                self.get(value)
                self.emit("f32x4.sub")
                self.emit("f32x4.add")
                self.set(odd)
            for n in range(2):
                self.get(target)
                for value in pair:
                    self.get(value)
                self.emit("i8x16.shuffle", *(FIRST if n == 0 else LAST))
                self.emit("v128.store", 0, 16 * n)
            if line == 0:
                self.further(target, lambda: self.scaled(self.length, 4))
            for value in pair:
                release(self.f, value)
