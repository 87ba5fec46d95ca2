"""What kernels do at their points: stores, reductions and stores after them, running reductions, scatters."""

from __future__ import annotations

from ..data.model import Step, is_arg
from ..data.nodes import Constant, Result
from .arg_reductions import ArgReductions
from .columns import Columns
from .copies import Copy
from .elements import Elements
from .encoder import release, variable
from .hoisting import Hoisting
from .lanes import lanes_for, stored_kind
from .passes import passes_of
from .printer import KernelPart, Printer
from .reductions import Reductions
from .scalars.terms import Term, uses
from .scalars.values import SCALARS
from .step_terms import MOST_SMALL, StepTerms
from .stores import Stores

MOST_BESIDE = 2  # reductions whose sums at several neighbours stay in registers


class Steps(KernelPart):
    """Prints the steps of a kernel into its printer's function.  missing: the variable that says whether a sum of
    which products are left out is not a number, -1 for none."""

    def __init__(self, p: Printer):
        super().__init__(p)
        self.stores = Stores(p, Elements(p))
        self.hoisting = Hoisting(p)
        self.t = StepTerms(p)
        self.steps: list[Step] = self.t.steps
        self.reductions = Reductions(self.t, self.hoisting)
        self.passes = passes_of(p.k)
        self.first = self.passes[0] if len(self.passes) > 0 else []
        self.args = ArgReductions(self.reductions)
        self.missing = -1

    def write(self) -> None:
        self.p.start()
        scan = self.k.kernel.shape == "scan"
        last = self.t.inner - 1
        lanes = 1 if last < 0 or scan else self.outer_lanes(last)
        if self.k.margins is not None:
            Copy(self.p, self.k.margins).clear()
        self.outer(0, last, lanes)
        self.p.finish()

    # --- Outer lines ---

    def outer(self, d: int, last: int, lanes: int) -> None:
        """Loops over the outer lines from d on; the last one may take several points at once."""
        pointers = {**self.p.pointers}
        margins = self.k.margins
        made = -1
        if margins is not None and margins.before == d:
            made = Copy(self.p, margins).fill()
            self.p.pointers[margins.access] = made
        if d == self.k.split:
            self.pointwise(d, last, lanes)
        elif d < last:
            self.p.each(d, lambda: self.outer(d + 1, last, lanes))
        elif d == last:
            self.spread(d, lanes, 4 if self.is_short(d) else 1)
        else:
            self.point()
        if made >= 0:
            self.p.pointers = pointers
            release(self.f, made)

    def pointwise(self, d: int, last: int, lanes: int) -> None:
        """Line d, the formulas of each of whose points are printed for themselves."""
        name = self.p.lines[d].name
        state = self.p.open(d)
        known = self.w.known
        for n in range(self.p.lines[d].size):
            self.p.fixed[name] = n
            self.t.read()
            self.w.known = {**known}  # what is computed before an inner line is of this point
            self.outer(d + 1, last, lanes)
            self.p.advance(d, 1)
        del self.p.fixed[name]
        self.w.known = known
        self.p.close(d, state)

    def is_short(self, d: int) -> bool:
        """Whether the formulas are small; a pass over several points computes once what does not change along line
        d."""
        if not self.one_pass():
            return self.t.small(self.t.roots())
        found = uses(self.t.roots())
        return len([t for t in self.p.terms.all if t.number in found and self.p.moves(t, d)]) <= MOST_SMALL

    def spread(self, d: int, lanes: int, times: int) -> None:
        """The loop over the last line, first several points at once, then one by one."""
        if lanes > 1 and self.k.guard is not None:
            self.missing = self.p.zero()
        state = self.p.open(d)
        if lanes > 1 and self.k.floats:
            self.hoisting.hoist(self.t.roots(), d)  # in doubles
        known = self.w.known
        if lanes > 1 and self.k.columns > 0:
            Columns(self.reductions, lambda n: self.store(n)).write(state, self.passes, lanes)
            self.p.close(d, state)
            return
        if lanes > 1:
            self.hoisting.widen(self.t.roots() if self.k.floats else [], lanes)
            self.p.line = d
            self.hoisting.hoist(self.t.roots(), d)
            if times > 1 and len(self.k.reduce) == 0:
                self.p.run(d, state, lanes, times, lambda: self.point())
            elif times > 1 and self.one_pass():
                self.p.run(d, state, lanes * times, 1, lambda: self.beside(d, lanes, times))
            self.p.run(d, state, lanes, 1, lambda: self.point())
            if self.k.singles:
                self.rest(d, state.count, lanes)
            self.p.line = -1
            self.w.lanes = 1
            self.w.known = known
        guard = self.t.pred[0] if len(self.t.pred) > 0 else None
        if lanes == 1 or not self.k.singles:
            self.leave_out()
            self.hoisting.hoist(self.t.roots(), d)
            self.p.run(d, state, 1, 1, lambda: self.point())
        self.p.close(d, state)
        if self.missing >= 0:
            self.without_left_out(d)
        if self.k.guard is not None:
            self.t.pred[0] = guard

    def leave_out(self) -> None:
        """From here on formulas say which products are left out of the sum."""
        if self.k.guard is not None:
            self.t.pred[0] = self.p.terms.of(self.k.guard, {})

    def without_left_out(self, d: int) -> None:
        """The line once more, point by point, where a sum is not a number: zeros were multiplied in place of products
        that are left out, and an infinite factor makes them that."""
        self.get(self.missing)
        self.emit("if")
        known = self.w.known
        self.w.known = {}
        release(self.f, self.missing)
        self.missing = -1
        self.leave_out()
        self.p.each(d, lambda: self.point())
        self.w.known = known
        self.emit("end")

    def find_missing(self, total: int) -> None:
        """Marks that a sum is not a number at one of several points."""
        if self.missing >= 0 and self.w.lanes > 1:
            self.get(total)
            self.get(total)
            self.emit("f32x4.ne")
            self.emit("v128.any_true")
            self.get(self.missing)
            self.emit("i32.or")
            self.set(self.missing)

    def one_pass(self) -> bool:
        """Whether there is one pass of reductions, and then stores at each point."""
        for n in range(len(self.steps)):
            if self.steps[n].inner or (self.steps[n].kind == "reduce") != (n in self.first):
                return False
        return len(self.first) <= MOST_BESIDE and not is_arg(self.steps[0])

    def beside(self, d: int, lanes: int, times: int) -> None:
        """So many points of line d at once: each element that they share is read once for all."""
        totals: list[list[int]] = []
        for n in self.first:
            totals.append([self.reductions.beginning(n) for _ in range(times)])
        self.reductions.reduced(self.t.inner, [], 1, 1, lambda: self.meet_beside(d, totals, lanes))
        for at in range(times):
            self.p.ahead = at * lanes
            self.find_missing(totals[0][at])
            self.stores_after([some[at] for some in totals])
        self.p.ahead = 0
        for some in totals:
            for total in some:
                release(self.f, total)

    def meet_beside(self, d: int, totals: list[list[int]], lanes: int) -> None:
        known = self.w.known
        self.w.known = {**known}
        for n in self.first:
            self.keep_fixed(self.t.body[n], d)
        shared = self.w.known
        for at in range(len(totals[0])):
            self.p.ahead = at * lanes
            self.w.known = {**shared}
            self.reductions.meet_all(self.first, [some[at] for some in totals])
        self.p.ahead = 0
        self.w.known = known

    def keep_fixed(self, t: Term, d: int) -> None:
        """Computes what does not change along line d."""
        if self.p.moves(t, d):
            for part in t.parts:
                self.keep_fixed(part, d)
        elif not isinstance(t.e, (Constant, Result)):
            self.w.keep(t)

    def rest(self, d: int, count: int, lanes: int) -> None:
        """The last points of a line that is not shorter: with some before them that are computed twice."""
        self.get(count)
        self.emit("if")
        back = variable(self.f, "i32")
        self.get(count)
        self.integer(lanes)
        self.emit("i32.sub")
        self.set(back)
        for n in self.k.used:
            if self.p.class_of(d, n) != "0":
                self.p.shift(self.p.pointers[n], d, n, back)
        name = self.p.lines[d].name
        if name != "":
            self.get(self.p.counters[name])
            self.get(back)
            self.emit("i32.add")
            self.set(self.p.counters[name])
        release(self.f, back)
        self.point()
        self.emit("end")

    def outer_lanes(self, last: int) -> int:
        """How many neighbours of the last outer line are computed at once."""
        if len(self.k.reduce) > 0 and not self.k.across or self.k.kernel.shape == "scatter":
            return 1
        stored: list[str] = []
        roots: list[Term] = []
        for n in range(len(self.steps)):
            step = self.steps[n]
            if self.t.pred[n] is not None or is_arg(step) or step.mode != "=" and step.mode != "+=":
                return 1
            if step.kind == "reduce" and stored_kind(self.p, n) == "i":
                return 1
            if step.target >= 0 and self.p.class_of(last, step.target) != "1":
                return 1
            roots.append(self.t.body[n])
            if step.kind == "reduce":
                stored.append(self.t.summed(step.red))
            else:
                stored.append(self.k.types[step.target])
        return lanes_for(self.p, roots, stored)

    # --- A point ---

    def point(self) -> None:
        known = self.w.known
        self.w.known = {**known}
        if self.k.kernel.shape == "scan":
            self.scan()
        else:
            for group in self.passes:
                n = group[0]
                if len(group) > 1:
                    self.reductions.reduce_all(group)
                elif self.steps[n].kind == "reduce" and is_arg(self.steps[n]):
                    self.args.place(n)
                elif self.steps[n].kind == "reduce":
                    self.reductions.reduce(n)
                    self.find_missing(self.w.known[self.t.results[n].number])
                elif self.steps[n].inner:
                    self.along([n])
                else:
                    self.store(n)
        self.w.known = known

    def along(self, which: list[int]) -> None:
        """Stores at every point of the reduction."""
        roots = [self.t.body[n] for n in which]
        lanes = self.reductions.inner_lanes(which)
        self.reductions.begin_kept(which[0])
        times = 4 if self.k.floats and self.t.small(roots) else 1
        self.reductions.reduced(self.t.inner, roots, lanes, times, lambda: self.store_all(which))
        self.reductions.end_kept()

    def store_all(self, which: list[int]) -> None:
        known = self.w.known
        self.w.known = {**known}
        for n in which:
            self.reductions.again(n)
            self.store(n)
        self.w.known = known

    def stores_after(self, totals: list[int]) -> None:
        """What stands after the reductions of the first pass, which variables hold."""
        known = self.w.known
        self.w.known = {}
        for n in range(len(totals)):
            self.w.known[self.t.results[self.first[n]].number] = totals[n]
        for n in range(len(self.steps)):
            if n not in self.first:
                self.store(n)
        self.w.known = known

    def store(self, n: int) -> None:
        """A step's store here."""
        step = self.steps[n]
        pred = self.t.pred[n]
        known = self.w.known
        if pred is not None:
            self.w.push(pred)
            self.emit("if")
            self.w.known = {**known}
        self.w.keep(self.t.body[n])
        value = self.w.known[self.t.body[n].number]
        self.stores.store(step, value, self.t.body[n].kind)
        if pred is not None:
            self.emit("end")
            self.w.known = known
        elif step.name != "":
            self.w.known[self.t.results[n].number] = value

    # --- Running reductions ---

    def scan(self) -> None:
        """Reductions and the stores of what they have come to, point by point of the reduced lines."""
        totals: list[int] = []
        places: list[list[int]] = []
        for n in range(len(self.steps)):
            step = self.steps[n]
            if step.kind != "reduce":
                totals.append(-1)
                places.append([])
            elif is_arg(step):
                best, at, here = self.args.begin_place(n)
                totals.append(at)
                places.append([best, at, here])
            else:
                total = variable(self.f, SCALARS[self.t.kind(n)])
                self.reductions.begin(step.red, self.t.kind(n))
                self.set(total)
                totals.append(total)
                places.append([])
        self.reductions.reduced(self.t.inner, [], 1, 1, lambda: self.running(totals, places))

    def running(self, totals: list[int], places: list[list[int]]) -> None:
        known = self.w.known
        self.w.known = {**known}
        for n in range(len(self.steps)):
            if self.steps[n].kind != "reduce":
                self.store(n)
                continue
            if len(places[n]) > 0:
                self.args.meet_place(n, places[n][0], places[n][1], places[n][2], True)
            else:
                self.reductions.meet(n, totals[n])
            self.w.known[self.t.results[n].number] = self.reductions.so_far(n, totals[n])
        self.w.known = known
