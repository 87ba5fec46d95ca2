"""Reductions: loops over a kernel's reduced lines, and values that come together there."""

from __future__ import annotations

from collections.abc import Callable

from ..data.model import is_arg
from ..data.nodes import contains
from ..planner.writer import INFINITY, infinite
from .encoder import release, variable
from .float_sums import FloatSums
from .hoisting import Hoisting
from .lanes import lanes_for, stored_kind
from .printer import KernelPart, LoopState
from .scalars.terms import GREATEST, LEAST, MOST_LONG, Term
from .scalars.values import SCALARS
from .step_terms import StepTerms

STARTS: dict[str, float] = {"sum": 0, "prod": 1, "max": -INFINITY, "min": INFINITY, "any": 0, "all": 1}


class Reductions(KernelPart):
    """Prints the reductions of a kernel at one point, or at several neighbours at once.  sums: those in floats; nan:
    the variable that marks what was no number beside a largest or smallest one, -1 for none."""

    def __init__(self, t: StepTerms, hoisting: Hoisting):
        super().__init__(t.p)
        self.t = t
        self.hoisting = hoisting
        self.sums = FloatSums(self.p)
        self.nan = -1

    def inner_lanes(self, which: list[int]) -> int:
        """How many neighbours along the reduction are computed at once."""
        last = len(self.p.lines) - 1
        if self.w.lanes > 1 or last < self.t.inner:
            return 1
        stored: list[str] = []
        for n in which:
            step = self.t.steps[n]
            if self.t.pred[n] is not None or is_arg(step):
                return 1
            if step.target >= 0 and (self.p.class_of(last, step.target) != "1" or step.mode != "="):
                return 1
            if step.kind == "reduce" and stored_kind(self.p, n) == "i":
                return 1
            if step.target >= 0:
                stored.append(self.k.types[step.target])
            else:
                stored.append(self.t.summed(step.red))
        return lanes_for(self.p, [self.t.body[n] for n in which], stored)

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
        if lanes > 1 and self.k.floats:
            self.hoisting.hoist(roots, d)  # in doubles
        known = self.w.known
        if lanes > 1:
            self.hoisting.widen(roots, lanes)
            self.p.line = d
            self.hoisting.hoist(roots, d)
            self.sums.in_blocks(state, lambda: self.many(d, state, lanes, times, body))
            self.p.line = -1
            self.w.lanes = 1
            self.w.known = {**known}
        self.hoisting.hoist(roots, d)
        self.p.run(d, state, 1, 1, body)
        self.w.known = known
        self.p.close(d, state)

    def many(self, d: int, state: LoopState, lanes: int, times: int, body: Callable[[], None]) -> None:
        if times > 1:
            self.p.run(d, state, lanes, times, body)
        self.p.run(d, state, lanes, 1, body)

    # --- Values of a row that are kept ---

    def begin_kept(self, n: int) -> None:
        """Before the pass of step n over a row of whose values some are kept."""
        if self.k.kept >= 0:
            self.p.kept = self.copied(self.p.parameter("scratch"))
            self.hoisting.given = self.t.body[self.k.kept].number if self.asks(n) else -1

    def end_kept(self) -> None:
        if self.p.kept >= 0:
            release(self.f, self.p.kept)
            self.p.kept = -1
            self.hoisting.given = -1

    def keep(self, n: int) -> None:
        """Keeps the value of step n here, if a later step asks for it again."""
        if n != self.k.kept:
            return
        self.w.keep(self.t.body[n])
        self.get(self.p.kept)
        self.get(self.w.known[self.t.body[n].number])
        size = self.k.kept_bytes()
        if self.w.lanes == 1 and size == 4:
            self.emit("f32.demote_f64")
        self.emit("v128.store" if self.w.lanes > 1 else f"f{8 * size}.store", 0, size * self.p.ahead)

    def asks(self, n: int) -> bool:
        """Whether step n asks for what an earlier one kept."""
        steps = self.k.code.steps
        return 0 <= self.k.kept < n and contains(steps[n].body, steps[self.k.kept].body)

    def again(self, n: int) -> None:
        """Makes known what was kept here for step n."""
        if not self.asks(n):
            return
        found = variable(self.f, self.w.type_of("f"))
        self.get(self.p.kept)
        size = self.k.kept_bytes()
        self.emit("v128.load" if self.w.lanes > 1 else f"f{8 * size}.load", 0, size * self.p.ahead)
        if self.w.lanes == 1 and size == 4:
            self.emit("f64.promote_f32")
        self.set(found)
        self.w.known[self.t.body[self.k.kept].number] = found

    # --- Values that come together ---

    def reduce(self, n: int) -> None:
        """What step n comes to at this point."""
        lanes = self.inner_lanes([n])
        outside = self.w.lanes
        total = self.beginning(n)
        many: list[int] = []
        if lanes > 1:
            self.w.lanes = lanes
            for _ in range(4 if self.t.small([self.t.body[n]]) else 1):
                many.append(self.beginning(n))
            self.w.lanes = outside
            self.begin_floats([n], [many])
            if self.k.floats and self.t.steps[n].red != "sum" and self.is_for_others(n):
                self.nan = self.zeros()
        self.begin_kept(n)
        self.reduced(
            self.t.inner,
            [self.t.body[n]],
            lanes,
            len(many),
            lambda: self.meet(n, many[self.p.ahead // lanes] if self.w.lanes > outside else total),
        )
        self.end_kept()
        if lanes > 1:
            self.bring_together(n, many, total, lanes)
            self.w.lanes = outside
        self.w.known[self.t.results[n].number] = self.so_far(n, total)

    def reduce_all(self, group: list[int]) -> None:
        """What some steps come to at this point, in one pass."""
        bodies = [self.t.body[n] for n in group]
        lanes = self.inner_lanes(group)
        outside = self.w.lanes
        totals = [self.beginning(n) for n in group]
        self.w.lanes = lanes if lanes > 1 else outside
        many = [self.beginning(n) for n in group] if lanes > 1 else []
        self.w.lanes = outside
        self.begin_floats(group, [[n] for n in many])
        self.reduced(
            self.t.inner,
            bodies,
            lanes,
            1,
            lambda: self.meet_all(group, many if self.w.lanes > outside else totals),
        )
        for n in range(len(group)):
            if lanes > 1:
                self.bring_together(group[n], [many[n]], totals[n], lanes)
                self.w.lanes = outside
            self.w.known[self.t.results[group[n]].number] = totals[n]

    def begin_floats(self, group: list[int], many: list[list[int]]) -> None:
        """many: for each step of a group the variables that hold what it has come to at several points."""
        for n in range(len(many)):
            if self.k.floats and self.t.steps[group[n]].red == "sum":
                self.sums.begin(group[n], many[n])

    def beginning(self, n: int) -> int:
        """A variable with what step n is before its first value."""
        kind = self.t.kind(n)
        total = variable(self.f, self.w.type_of(kind))
        self.begin(self.t.steps[n].red, kind)
        self.set(total)
        return total

    def meet_all(self, group: list[int], totals: list[int]) -> None:
        """The values here of some steps join what was met before."""
        known = self.w.known
        self.w.known = {**known}
        for n in range(len(group)):
            self.get(totals[n])
            self.w.push(self.t.body[group[n]])
            self.join(self.t.steps[group[n]].red, self.t.kind(group[n]))
            self.set(totals[n])
        self.w.known = known

    def bring_together(self, n: int, many: list[int], total: int, lanes: int) -> None:
        """What several variables hold at several points each joins a total."""
        red = self.t.steps[n].red
        kind = self.t.kind(n)
        if self.sums.bring(n, total):
            return
        self.w.lanes = lanes
        nan = self.nan
        for other in many[1:]:
            self.get(many[0])
            self.get(other)
            self.join(red, kind)
            self.set(many[0])
            release(self.f, other)
        self.nan = -1
        for lane in range(lanes):
            self.w.lanes = 1
            self.get(total)
            self.w.lanes = lanes
            self.get(many[0])
            self.w.extract_one(kind, lane)
            self.w.lanes = 1
            self.join(red, kind)
            self.set(total)
        release(self.f, many[0])
        if nan >= 0:
            self.get(nan)
            self.emit("v128.any_true")
            self.emit("if")
            self.w.constant("f", infinite("nan"))
            self.set(total)
            self.emit("end")
            release(self.f, nan)

    def begin(self, red: str, kind: str) -> None:
        """What a reduction of nothing is."""
        value = STARTS[red]
        if kind == "w":
            self.emit("i64.const", value)
        elif kind == "l" and (red == "max" or red == "min"):
            self.w.constant("l", -MOST_LONG if red == "max" else MOST_LONG)
        elif kind == "i" and (red == "max" or red == "min"):
            self.w.constant("i", LEAST if red == "max" else GREATEST)
        else:
            self.w.constant(kind, value)

    def meet(self, n: int, total: int) -> None:
        """The value here joins what was met before."""
        known = self.w.known
        self.w.known = {**known}
        pred = self.t.pred[n]
        self.again(n)
        self.keep(n)
        if pred is not None:
            self.w.push(pred)
            self.emit("if")
            self.w.known = {**self.w.known}
        step = self.t.steps[n]
        kind = self.t.kind(n)
        if kind == "w" and step.red == "sum" and not self.w.narrow:
            self.get(0)
            self.w.faults = True
        self.get(total)
        self.w.push(self.t.body[n])
        self.join(step.red, kind)
        self.set(total)
        if pred is not None:
            self.emit("end")
        self.w.known = known

    def join(self, red: str, kind: str) -> None:
        """Two values on the stack as one."""
        if kind == "w":
            if red != "sum":
                self.w.invoke("wide_times", 2)
            elif self.w.narrow:
                self.emit("i64.add")
            else:
                self.w.invoke("wide_sum", 3)
        elif kind == "b" or red == "any" or red == "all":
            self.w.binary("||" if red == "any" or red == "max" or red == "sum" else "&&", "b")
        elif red == "sum" or red == "prod":
            self.w.binary("+" if red == "sum" else "*", kind)
        elif self.nan >= 0 and self.w.lanes > 1:
            self.join_floats(red)
        elif kind == "f":
            self.emit(f"{self.w.shape('f')}.{red}")
        elif self.w.lanes > 1:
            self.emit(f"i32x4.{red}_s")
        else:
            self.pick(red, kind)

    def is_for_others(self, n: int) -> bool:
        """Whether another reduction follows, so that it does not matter which of -0 and 0 the largest is."""
        return any(step.kind == "reduce" for step in self.t.steps[n + 1 :])

    def join_floats(self, red: str) -> None:
        """The larger or smaller of floats that are numbers, by one instruction of a processor's; others are marked."""
        value = variable(self.f, "v128")
        self.emit("local.tee", value)
        self.emit(f"f32x4.p{red}")
        self.get(value)
        self.get(value)
        self.emit("f32x4.ne")
        self.get(self.nan)
        self.emit("v128.or")
        self.set(self.nan)
        release(self.f, value)

    def pick(self, red: str, kind: str) -> None:
        """The larger or smaller of two whole numbers on the stack."""
        shape = SCALARS[kind]
        b = variable(self.f, shape)
        a = variable(self.f, shape)
        self.set(b)
        self.set(a)
        self.get(a)
        self.get(b)
        self.get(a)
        self.get(b)
        self.emit(f"{shape}.{'gt_s' if red == 'max' else 'lt_s'}")
        self.emit("select")
        release(self.f, a)
        release(self.f, b)

    def so_far(self, n: int, total: int) -> int:
        """What later steps know of a total."""
        if self.t.kind(n) != "w":
            return total
        narrow = variable(self.f, "i32")
        if self.w.narrow:
            self.get(total)
            self.emit("i32.wrap_i64")
        else:
            self.w.lead("narrow_checked")
            self.get(total)
            self.w.invoke("narrow_checked", 2)
        self.set(narrow)
        return narrow
