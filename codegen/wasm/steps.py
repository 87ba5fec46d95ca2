"""What kernels do at their points: stores, reductions and stores after them, running reductions, scatters."""

from __future__ import annotations

from collections.abc import Callable

from ..data.dtypes import compute_class
from ..data.model import Step, is_arg
from ..data.nodes import Constant, Result, contains
from ..planner.writer import INFINITY, is_wide
from .copies import Copy
from .encoder import release, variable
from .formulas import SCALARS
from .lanes import lanes_for, stored_kind
from .printer import Printer
from .terms import Term

STARTS: dict[str, float] = {"sum": 0, "prod": 1, "max": -INFINITY, "min": INFINITY, "any": 0, "all": 1}
LEAST = -2147483648
GREATEST = 2147483647


class Steps:
    """Prints the steps of a kernel into its printer's function.  body, pred: the terms of the steps."""

    def __init__(self, p: Printer):
        self.p = p
        self.w = p.w
        self.k = p.k
        self.steps: list[Step] = p.k.kernel.steps
        self.body = [p.terms.of(s.body, {}) for s in p.k.code.steps]
        self.pred = [None if s.pred is None else p.terms.of(s.pred, {}) for s in p.k.code.steps]
        self.results = [p.terms.of(Result(n), {}) for n in range(len(self.steps))]
        self.inner = len(p.k.outer)  # the number of the first reduced line

    def write(self) -> None:
        self.p.start()
        self.w.uses = self.uses()
        scan = self.k.kernel.shape == "scan"
        last = self.inner - 1
        lanes = 1 if last < 0 or scan else self.outer_lanes(last)
        if self.k.margins is not None:
            Copy(self.p, self.k.margins).clear()
        self.outer(0, last, lanes)
        self.p.finish()

    def uses(self) -> dict[int, int]:
        """How often each term is asked for."""
        out: dict[int, int] = {}
        todo = self.roots()
        while len(todo) > 0:
            t = todo.pop()
            before = out.get(t.number, 0)
            out[t.number] = before + 1
            if before == 0:
                todo.extend(t.parts)
        return out

    def roots(self) -> list[Term]:
        out: list[Term] = []
        for n in range(len(self.body)):
            out.append(self.body[n])
            pred = self.pred[n]
            if pred is not None:
                out.append(pred)
        return out

    # --- Outer lines ---

    def outer(self, d: int, last: int, lanes: int) -> None:
        """Loops over the outer lines from d on; the last one may take several points at once."""
        pointers = {**self.p.pointers}
        margins = self.k.margins
        made = -1
        if margins is not None and margins.before == d:
            made = Copy(self.p, margins).fill()
            self.p.pointers[margins.access] = made
        if d < last:
            self.p.each(d, lambda: self.outer(d + 1, last, lanes))
        elif d == last:
            self.spread(d, lanes, 4 if self.small(self.roots()) else 1)
        else:
            self.point()
        if made >= 0:
            self.p.pointers = pointers
            release(self.p.f, made)

    def small(self, roots: list[Term]) -> bool:
        """Whether a turn of the loop would cost as much as the formulas."""
        return sum([len(t.parts) for t in roots]) <= 3 * len(roots) and all(
            all(len(part.parts) <= 2 for part in t.parts) for t in roots
        )

    def spread(self, d: int, lanes: int, times: int) -> None:
        """The loop over the last line, first several points at once, then one by one."""
        state = self.p.open(d)
        known = self.w.known
        if lanes > 1:
            self.p.widen([], lanes)
            self.p.line = d
            self.p.hoist(self.roots(), d)
            if times > 1 and len(self.k.reduce) == 0:
                self.p.run(d, state, lanes, times, lambda: self.point())
            elif times > 1 and self.one_reduction():
                self.p.run(d, state, lanes * times, 1, lambda: self.beside(d, lanes, times))
            self.p.run(d, state, lanes, 1, lambda: self.point())
            if self.k.singles:
                self.rest(d, state.count, lanes)
            self.p.line = -1
            self.w.lanes = 1
            self.w.known = known
        if lanes == 1 or not self.k.singles:
            self.p.hoist(self.roots(), d)
            self.p.run(d, state, 1, 1, lambda: self.point())
        self.w.known = known
        self.p.close(d, state)

    def one_reduction(self) -> bool:
        """Whether there is one, and then stores at each point."""
        return all(
            (self.steps[n].kind == "reduce") == (n == 0) and not self.steps[n].inner for n in range(len(self.steps))
        )

    def beside(self, d: int, lanes: int, times: int) -> None:
        """So many points of line d at once: each element that they share is read once for all."""
        red = self.steps[0].red
        kind = self.kind(0)
        totals = [variable(self.p.f, "v128") for _ in range(times)]
        for total in totals:
            self.begin(red, kind)
            self.p.set(total)
        self.reduced(self.inner, [], 1, 1, lambda: self.meet_beside(d, totals, lanes))
        for n in range(times):
            self.p.ahead = n * lanes
            self.stores_after(totals[n])
            release(self.p.f, totals[n])
        self.p.ahead = 0

    def meet_beside(self, d: int, totals: list[int], lanes: int) -> None:
        known = self.w.known
        self.w.known = {**known}
        self.keep_fixed(self.body[0], d)
        shared = self.w.known
        for n in range(len(totals)):
            self.p.ahead = n * lanes
            self.w.known = {**shared}
            self.p.get(totals[n])
            self.w.push(self.body[0])
            self.join(self.steps[0].red, self.kind(0))
            self.p.set(totals[n])
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
        self.p.get(count)
        self.p.emit("if")
        back = variable(self.p.f, "i32")
        self.p.get(count)
        self.p.integer(lanes)
        self.p.emit("i32.sub")
        self.p.set(back)
        for n in self.k.used:
            if self.p.class_of(d, n) != "0":
                self.p.get(self.p.pointers[n])
                self.p.get(back)
                self.p.step(d, n, 1)
                self.p.emit("i32.mul")
                self.p.emit("i32.add")
                self.p.set(self.p.pointers[n])
        name = self.p.lines[d].name
        if name != "":
            self.p.get(self.p.counters[name])
            self.p.get(back)
            self.p.emit("i32.add")
            self.p.set(self.p.counters[name])
        release(self.p.f, back)
        self.point()
        self.p.emit("end")

    def outer_lanes(self, last: int) -> int:
        """How many neighbours of the last outer line are computed at once."""
        if len(self.k.reduce) > 0 and not self.k.across or self.k.kernel.shape == "scatter":
            return 1
        stored: list[str] = []
        roots: list[Term] = []
        for n in range(len(self.steps)):
            step = self.steps[n]
            if self.pred[n] is not None or is_arg(step) or step.mode != "=" and step.mode != "+=":
                return 1
            if step.kind == "reduce" and stored_kind(self.p, n) == "i":
                return 1
            if step.target >= 0 and self.p.class_of(last, step.target) != "1":
                return 1
            roots.append(self.body[n])
            if step.kind == "reduce":
                stored.append(self.summed(step.red))
            else:
                stored.append(self.k.types[step.target])
        return lanes_for(self.p, roots, stored)

    def summed(self, red: str) -> str:
        """What values of a reduction are met as, "" for just what they are."""
        return "" if red == "max" or red == "min" else "float32" if self.k.singles else "float64"

    # --- A point ---

    def point(self) -> None:
        known = self.w.known
        self.w.known = {**known}
        if self.k.kernel.shape == "scan":
            self.scan()
        else:
            for n in range(len(self.steps)):
                if self.steps[n].kind == "reduce":
                    self.reduce(n)
                elif self.steps[n].inner:
                    self.along([n])
                else:
                    self.store(n)
        self.w.known = known

    def stores_after(self, total: int) -> None:
        """What stands after the first step, which is a sum that a variable holds."""
        known = self.w.known
        self.w.known = {self.results[0].number: total}
        for n in range(1, len(self.steps)):
            self.store(n)
        self.w.known = known

    def store(self, n: int) -> None:
        """A step's store here."""
        step = self.steps[n]
        pred = self.pred[n]
        known = self.w.known
        if pred is not None:
            self.w.push(pred)
            self.p.emit("if")
            self.w.known = {**known}
        self.w.keep(self.body[n])
        value = self.w.known[self.body[n].number]
        self.p.store(step, value, self.body[n].kind)
        if pred is not None:
            self.p.emit("end")
            self.w.known = known
        elif step.name != "":
            self.w.known[self.results[n].number] = value

    # --- Reductions ---

    def along(self, which: list[int]) -> None:
        """Stores at every point of the reduction."""
        roots = [self.body[n] for n in which]
        lanes = self.inner_lanes(which)
        self.begin_kept(which[0])
        self.reduced(self.inner, roots, lanes, 1, lambda: self.store_all(which))
        self.end_kept()

    # --- Values of a row that are kept ---

    def begin_kept(self, n: int) -> None:
        """Before the pass of step n over a row of whose values some are kept."""
        if self.k.kept >= 0:
            self.p.kept = self.p.copied(self.p.parameter("scratch"))
            self.p.given = self.body[self.k.kept].number if self.asks(n) else -1

    def end_kept(self) -> None:
        if self.p.kept >= 0:
            release(self.p.f, self.p.kept)
            self.p.kept = -1
            self.p.given = -1

    def keep(self, n: int) -> None:
        """Keeps the value of step n here, if a later step asks for it again."""
        if n != self.k.kept:
            return
        self.w.keep(self.body[n])
        self.p.get(self.p.kept)
        self.p.get(self.w.known[self.body[n].number])
        self.p.emit("v128.store" if self.w.lanes == 2 else "f64.store", 0, 8 * self.p.ahead)

    def asks(self, n: int) -> bool:
        """Whether step n asks for what an earlier one kept."""
        steps = self.k.code.steps
        return 0 <= self.k.kept < n and contains(steps[n].body, steps[self.k.kept].body)

    def again(self, n: int) -> None:
        """Makes known what was kept here for step n."""
        if not self.asks(n):
            return
        found = variable(self.p.f, self.w.type_of("f"))
        self.p.get(self.p.kept)
        self.p.emit("v128.load" if self.w.lanes == 2 else "f64.load", 0, 8 * self.p.ahead)
        self.p.set(found)
        self.w.known[self.body[self.k.kept].number] = found

    def store_all(self, which: list[int]) -> None:
        known = self.w.known
        self.w.known = {**known}
        for n in which:
            self.again(n)
            self.store(n)
        self.w.known = known

    def inner_lanes(self, which: list[int]) -> int:
        """How many neighbours along the reduction are computed at once."""
        last = len(self.p.lines) - 1
        if self.w.lanes > 1 or last < self.inner:
            return 1
        stored: list[str] = []
        for n in which:
            step = self.steps[n]
            if self.pred[n] is not None or is_arg(step):
                return 1
            if step.target >= 0 and (self.p.class_of(last, step.target) != "1" or step.mode != "="):
                return 1
            if step.kind == "reduce" and stored_kind(self.p, n) == "i":
                return 1
            if step.target >= 0:
                stored.append(self.k.types[step.target])
            else:
                stored.append(self.summed(step.red))
        return lanes_for(self.p, [self.body[n] for n in which], stored)

    def reduced(self, d: int, roots: list[Term], lanes: int, times: int, body: Callable[[], None]) -> None:
        """Loops over the reduced lines; the last one may take several points at once, and so the rest of it one by
        one."""
        lines = len(self.p.lines)
        if d == lines:
            body()
            return
        if d < lines - 1:
            self.p.each(d, lambda: self.reduced(d + 1, roots, lanes, times, body))
            return
        state = self.p.open(d)
        known = self.w.known
        if lanes > 1:
            self.p.widen(roots, lanes)
            self.p.line = d
            self.p.hoist(roots, d)
            if times > 1:
                self.p.run(d, state, lanes, times, body)
            self.p.run(d, state, lanes, 1, body)
            self.p.line = -1
            self.w.lanes = 1
            self.w.known = {**known}
        self.p.hoist(roots, d)
        self.p.run(d, state, 1, 1, body)
        self.w.known = known
        self.p.close(d, state)

    def wide(self, n: int) -> bool:
        """Whether a step is kept in 64 bits until its end."""
        return is_wide(self.steps[n], compute_class(self.k.call.dtype))

    def kind(self, n: int) -> str:
        """The kind of what step n brings together: argmax compares numbers and answers a place."""
        return self.body[n].kind

    def reduce(self, n: int) -> None:
        """What step n comes to at this point."""
        step = self.steps[n]
        if is_arg(step):
            self.place(n)
            return
        kind = self.kind(n)
        lanes = self.inner_lanes([n])
        outside = self.w.lanes
        total = variable(self.p.f, self.w.type_of(kind))
        self.begin(step.red, kind)
        self.p.set(total)
        many: list[int] = []
        if lanes > 1:
            self.w.lanes = lanes
            for _ in range(4 if self.small([self.body[n]]) else 1):
                many.append(variable(self.p.f, "v128"))
                self.begin(step.red, kind)
                self.p.set(many[len(many) - 1])
            self.w.lanes = outside
        self.begin_kept(n)
        self.reduced(
            self.inner,
            [self.body[n]],
            lanes,
            len(many),
            lambda: self.meet(n, many[self.p.ahead // lanes] if self.w.lanes > outside else total),
        )
        self.end_kept()
        if lanes > 1:
            self.w.lanes = lanes
            for other in many[1:]:
                self.p.get(many[0])
                self.p.get(other)
                self.join(step.red, kind)
                self.p.set(many[0])
                release(self.p.f, other)
            for lane in range(lanes):
                self.w.lanes = 1
                self.p.get(total)
                self.w.lanes = lanes
                self.p.get(many[0])
                self.w.extract(kind, lane)
                if kind == "b":
                    self.p.integer(1)
                    self.p.emit("i32.and")
                self.w.lanes = 1
                self.join(step.red, kind)
                self.p.set(total)
            release(self.p.f, many[0])
            self.w.lanes = outside
        if kind == "w":
            narrow = variable(self.p.f, "i32")
            if self.w.narrow:
                self.p.get(total)
                self.p.emit("i32.wrap_i64")
            else:
                self.w.lead("narrow_checked")
                self.p.get(total)
                self.p.emit("call", self.p.functions.number("narrow_checked", 2))
            self.p.set(narrow)
            total = narrow
        self.w.known[self.results[n].number] = total

    def begin(self, red: str, kind: str) -> None:
        """What a reduction of nothing is."""
        value = STARTS[red]
        if kind == "w":
            self.p.emit("i64.const", value)
        elif kind == "i" and (red == "max" or red == "min"):
            self.w.constant("i", LEAST if red == "max" else GREATEST)
        else:
            self.w.constant(kind, value)

    def meet(self, n: int, total: int) -> None:
        """The value here joins what was met before."""
        known = self.w.known
        self.w.known = {**known}
        pred = self.pred[n]
        self.again(n)
        self.keep(n)
        if pred is not None:
            self.w.push(pred)
            self.p.emit("if")
            self.w.known = {**self.w.known}
        step = self.steps[n]
        kind = self.kind(n)
        if kind == "w" and step.red == "sum" and not self.w.narrow:
            self.p.get(0)
            self.w.faults = True
        self.p.get(total)
        self.w.push(self.body[n])
        self.join(step.red, kind)
        self.p.set(total)
        if pred is not None:
            self.p.emit("end")
        self.w.known = known

    def join(self, red: str, kind: str) -> None:
        """Two values on the stack as one."""
        if kind == "w":
            if red == "sum":
                self.p.emit("i64.add" if self.w.narrow else "call", *([] if self.w.narrow else [self.wide_sum()]))
            else:
                self.p.emit("call", self.p.functions.number("wide_times", 2))
        elif kind == "b" or red == "any" or red == "all":
            self.w.binary("||" if red == "any" or red == "max" or red == "sum" else "&&", "b")
        elif red == "sum" or red == "prod":
            self.w.binary("+" if red == "sum" else "*", kind)
        elif kind == "f":
            self.p.emit(f"{self.w.shape('f')}.{red}")
        elif self.w.lanes > 1:
            self.p.emit(f"i32x4.{red}_s")
        else:
            self.pick(red)

    def wide_sum(self) -> int:
        return self.p.functions.number("wide_sum", 3)

    def pick(self, red: str) -> None:
        """The larger or smaller of two whole numbers on the stack."""
        b = variable(self.p.f, "i32")
        a = variable(self.p.f, "i32")
        self.p.set(b)
        self.p.set(a)
        self.p.get(a)
        self.p.get(b)
        self.p.get(a)
        self.p.get(b)
        self.p.emit("i32.gt_s" if red == "max" else "i32.lt_s")
        self.p.emit("select")
        release(self.p.f, a)
        release(self.p.f, b)

    # --- Places ---

    def place(self, n: int) -> None:
        """Where the largest or smallest value of a reduction first stands."""
        best, at, here = self.begin_place(n)
        self.reduced(self.inner, [self.body[n]], 1, 1, lambda: self.meet_place(n, best, at, here, False))
        self.w.known[self.results[n].number] = at

    def begin_place(self, n: int) -> tuple[int, int, int]:
        kind = self.kind(n)
        best = variable(self.p.f, SCALARS[kind])
        self.begin("max" if self.steps[n].red == "argmax" else "min", kind)
        self.p.set(best)
        at = self.p.zero()
        here = self.p.zero()
        return best, at, here

    def meet_place(self, n: int, best: int, at: int, here: int, last: bool) -> None:
        """last: whether equal values name the later place."""
        known = self.w.known
        self.w.known = {**known}
        pred = self.pred[n]
        if pred is not None:
            self.w.push(pred)
            self.p.emit("if")
            self.w.known = {**known}
        kind = self.kind(n)
        shape = SCALARS[kind]
        self.w.keep(self.body[n])
        value = self.w.known[self.body[n].number]
        sign = "gt" if self.steps[n].red == "argmax" else "lt"
        self.p.get(value)
        self.p.get(best)
        self.p.emit(f"{shape}.{sign}" if kind == "f" else f"{shape}.{sign}_s")
        if kind == "f":  # NaN wins, the first or the last one
            self.p.get(value)
            self.p.get(value)
            self.p.emit("f64.ne")
            if not last:
                self.p.get(best)
                self.p.get(best)
                self.p.emit("f64.eq")
                self.p.emit("i32.and")
            self.p.emit("i32.or")
        if last:
            self.p.get(value)
            self.p.get(best)
            self.p.emit(f"{shape}.eq")
            self.p.emit("i32.or")
        self.p.emit("if")
        self.p.get(value)
        self.p.set(best)
        self.p.get(here)
        self.p.set(at)
        self.p.emit("end")
        if pred is not None:
            self.p.emit("end")
        self.p.add(here, 1)
        self.w.known = known

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
                best, at, here = self.begin_place(n)
                totals.append(at)
                places.append([best, at, here])
            else:
                total = variable(self.p.f, SCALARS[self.kind(n)])
                self.begin(step.red, self.kind(n))
                self.p.set(total)
                totals.append(total)
                places.append([])
        self.reduced(self.inner, [], 1, 1, lambda: self.running(totals, places))

    def running(self, totals: list[int], places: list[list[int]]) -> None:
        known = self.w.known
        self.w.known = {**known}
        for n in range(len(self.steps)):
            if self.steps[n].kind != "reduce":
                self.store(n)
                continue
            if len(places[n]) > 0:
                self.meet_place(n, places[n][0], places[n][1], places[n][2], True)
            else:
                self.meet(n, totals[n])
            self.w.known[self.results[n].number] = self.so_far(n, totals[n])
        self.w.known = known

    def so_far(self, n: int, total: int) -> int:
        if self.kind(n) != "w":
            return total
        narrow = variable(self.p.f, "i32")
        if self.w.narrow:
            self.p.get(total)
            self.p.emit("i32.wrap_i64")
        else:
            self.w.lead("narrow_checked")
            self.p.get(total)
            self.p.emit("call", self.p.functions.number("narrow_checked", 2))
        self.p.set(narrow)
        return narrow
