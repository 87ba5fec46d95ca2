"""Reductions side by side, in blocks of neighbours: row after row of what is reduced, each read from end to end.

Going down one column of a large tensor, and then the next, reads a cache line again for each few numbers in it.  So
what a block's columns have come to lies in scratch memory, and every row joins it.  What later steps compute of results
alone is computed once for each column."""

from __future__ import annotations

from collections.abc import Callable

from ..data.nodes import Result
from .encoder import release, variable
from .planning.kernel_plan import COLUMN_ARRAYS
from .printer import KernelPart, LoopState
from .reductions import Reductions
from .scalars.terms import Term

CELL = 8  # bytes of a number that is kept of a column


class Columns(KernelPart):
    """Prints them into a printer's function.  store: prints the store of a step.  arrays: the number of the array with
    what each column has of a term, by the term's number."""

    def __init__(self, reductions: Reductions, store: Callable[[int], None]):
        super().__init__(reductions.p)
        self.reductions = reductions
        self.hoisting = reductions.hoisting
        self.t = reductions.t
        self.store = store
        self.line = self.t.inner - 1
        self.reduced = list(range(self.t.inner, len(self.p.lines)))
        self.arrays: dict[int, int] = {}

    def write(self, state: LoopState, passes: list[list[int]], lanes: int) -> None:
        """Goes on along the opened line in blocks, and through the passes in each."""
        p = self.p
        here = variable(p.f, "i32")
        row = p.row
        p.row = self.line
        p.get(state.count)
        p.emit("if")
        p.emit("loop")
        p.get(state.count)
        p.integer(self.k.columns)
        p.get(state.count)
        p.integer(self.k.columns)
        p.emit("i32.lt_s")
        p.emit("select")
        p.set(here)
        self.arrays = {}
        for group in passes:
            self.work(group, here, lanes)
        for n in self.k.used:
            if p.class_of(self.line, n) != "0":
                p.shift(p.pointers[n], self.line, n, here)
        name = p.lines[self.line].name
        if name != "":
            p.get(p.counters[name])
            p.get(here)
            p.emit("i32.add")
            p.set(p.counters[name])
        p.get(state.count)
        p.get(here)
        p.emit("i32.sub")
        p.emit("local.tee", state.count)
        p.emit("br_if", 0)
        p.emit("end")
        p.emit("end")
        p.row = row
        release(p.f, here)

    def work(self, group: list[int], here: int, lanes: int) -> None:
        """One pass: a reduction of each column, or stores."""
        steps = self.t.steps
        bodies = [self.t.body[n] for n in group]
        self.prepare(bodies, here, lanes)
        n = group[0]
        if steps[n].kind == "reduce":
            made: list[int] = []
            for m in group:
                made.append(self.array_of(self.t.results[m]))
            self.beside(here, lanes, [], lambda: self.begin_all(group, made))
            self.begin_kept(n)
            self.rows(0, bodies, here, lanes, lambda: self.join_all(group, made))
            self.reductions.end_kept()
        elif steps[n].inner:
            self.begin_kept(n)
            self.rows(0, bodies, here, lanes, lambda: self.store_here(n))
            self.reductions.end_kept()
        else:
            named = self.array_of(self.t.results[n]) if steps[n].name != "" else -1
            self.beside(here, lanes, bodies, lambda: self.store_once(n, named))

    # --- Loops ---

    def rows(self, at: int, roots: list[Term], here: int, lanes: int, body: Callable[[], None]) -> None:
        """Loops over the reduced lines, and over the block's columns inside them."""
        if at == len(self.reduced):
            self.beside(here, lanes, roots, body)
        else:
            self.p.each(self.reduced[at], lambda: self.rows(at + 1, roots, here, lanes, body))

    def beside(self, here: int, lanes: int, roots: list[Term], body: Callable[[], None]) -> None:
        """A loop over the block's columns where the kernel stands, several at once and then one by one."""
        p = self.p
        state = p.stay(self.line, here)
        p.column = p.copied(p.parameter("scratch"))
        known = self.w.known
        for some in [lanes, 1]:
            self.w.known = {}
            self.w.lanes = some
            p.line = self.line if some > 1 else -1
            self.hoisting.hoist_along(roots, [self.line], self.arrays)
            p.run(self.line, state, some, 1, lambda: self.turn(roots, body))
        p.line = -1
        self.w.known = known
        release(p.f, p.column)
        p.column = -1
        p.close(self.line, state)

    def turn(self, roots: list[Term], body: Callable[[], None]) -> None:
        """The body where what the columns have of its terms is known."""
        known = self.w.known
        self.w.known = {**known}
        self.recall(roots)
        body()
        self.w.known = known

    # --- What columns have ---

    def recall(self, roots: list[Term]) -> None:
        for t in roots:
            if t.number in self.w.known:
                continue
            if t.number in self.arrays:
                self.w.known[t.number] = self.loaded(t.kind, self.arrays[t.number])
            else:
                self.recall(t.parts)

    def array_of(self, t: Term) -> int:
        if t.number not in self.arrays:
            self.arrays[t.number] = len(self.arrays)
        return self.arrays[t.number]

    def loaded(self, kind: str, array: int) -> int:
        """A variable with what the columns here have in an array."""
        shape = self.w.type_of(kind)
        out = variable(self.f, shape)
        self.get(self.p.column)
        self.emit(f"{shape}.load", 0, CELL * self.k.columns * array)
        self.set(out)
        return out

    def keep(self, kind: str, array: int, value: int) -> None:
        self.get(self.p.column)
        self.get(value)
        self.emit(f"{self.w.type_of(kind)}.store", 0, CELL * self.k.columns * array)

    def prepare(self, roots: list[Term], here: int, lanes: int) -> None:
        """Computes for each column what formulas make of results alone."""
        found: list[Term] = []
        for t in roots:
            self.collect(t, found)
        if len(found) == 0:
            return
        self.beside(here, lanes, found, lambda: self.keep_all(found))
        for t in found:
            self.array_of(t)

    def collect(self, t: Term, found: list[Term]) -> None:
        """The largest parts of a term that are the same for all rows, and take a result."""
        if t.number in self.arrays or any(other.number == t.number for other in found):
            return
        if len(self.arrays) + len(found) >= len(self.t.steps) + COLUMN_ARRAYS:
            return
        if len(t.parts) > 0 and takes_result(t) and self.stays(t):
            found.append(t)
            return
        for part in t.parts:
            self.collect(part, found)

    def stays(self, t: Term) -> bool:
        """Whether a term is the same at all rows, and needs no result that is not known yet."""
        if isinstance(t.e, Result):
            return t.number in self.arrays
        return not any(self.p.changes(t, d) for d in self.reduced) and all(self.stays(part) for part in t.parts)

    def keep_all(self, terms: list[Term]) -> None:
        first = len(self.arrays)
        for n in range(len(terms)):
            self.w.keep(terms[n])
            self.keep(terms[n].kind, first + n, self.w.known[terms[n].number])

    # --- Steps ---

    def begin_all(self, group: list[int], arrays: list[int]) -> None:
        for n in range(len(group)):
            total = self.reductions.beginning(group[n])
            self.keep(self.t.kind(group[n]), arrays[n], total)
            release(self.f, total)

    def join_all(self, group: list[int], arrays: list[int]) -> None:
        totals = [self.loaded(self.t.kind(group[n]), arrays[n]) for n in range(len(group))]
        if len(group) == 1:
            self.reductions.meet(group[0], totals[0])
        else:
            self.reductions.meet_all(group, totals)
        for n in range(len(group)):
            self.keep(self.t.kind(group[n]), arrays[n], totals[n])
            release(self.f, totals[n])

    def store_here(self, n: int) -> None:
        self.reductions.again(n)
        self.store(n)

    def store_once(self, n: int, array: int) -> None:
        """A store at each column, which later steps may ask for."""
        self.store(n)
        if array >= 0:
            result = self.t.results[n]
            self.keep(result.kind, array, self.w.known[result.number])

    def begin_kept(self, n: int) -> None:
        """Values of rows are kept behind the arrays."""
        self.reductions.begin_kept(n)
        if self.p.kept >= 0:
            self.p.add(self.p.kept, CELL * self.k.columns * (len(self.t.steps) + COLUMN_ARRAYS))


def takes_result(t: Term) -> bool:
    return isinstance(t.e, Result) or any(takes_result(part) for part in t.parts)
