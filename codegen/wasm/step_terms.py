"""The terms of a kernel's steps."""

from __future__ import annotations

from dsl.ir.dtypes import TYPES, is_floating

from ..data.model import Step
from ..data.nodes import Apply, Binary, Constant, Result, Rounded, Select, Unary
from .lanes import lanes_for
from .printer import Printer
from .scalars.terms import Term, uses

MOST_SMALL = 12  # terms of formulas that several are computed of in a turn of a loop


class StepTerms:
    """body, pred: of each step; results: what formulas call what it comes to.  inner: the number of the first reduced
    line."""

    def __init__(self, p: Printer):
        self.p = p
        self.w = p.w
        self.k = p.k
        self.steps: list[Step] = p.k.kernel.steps
        self.results = [p.terms.of(Result(n), {}) for n in range(len(self.steps))]
        self.inner = len(p.k.outer)
        self.body: list[Term] = []
        self.pred: list[Term | None] = []
        self.read()

    def read(self) -> None:
        """The terms of the steps, as they are where the printer stands."""
        code = self.k.code.steps
        for n in range(len(code)):
            if self.steps[n].kind == "reduce" and self.steps[n].red == "max":
                self.p.terms.largest[n] = code[n].body
        self.body = [self.body_of(n) for n in range(len(code))]
        self.pred = [None if s.pred is None else self.p.terms.of(s.pred, {}) for s in code]
        if self.k.product is None:
            for n in range(len(self.steps)):
                self.body[n] = self.multiplied(n, self.body[n])
        self.w.uses = uses(self.roots())

    def body_of(self, n: int) -> Term:
        """The term of a step; what others know as a number of int64 is one."""
        step = self.steps[n]
        t = self.p.terms.of(self.k.code.steps[n].body, {})
        if step.red == "argmax" or step.red == "argmin":
            return t
        if step.value == "T":
            return self.p.terms.cast("l", t) if self.k.call.dtype == "int64" else t
        return self.p.terms.cast("i", t) if t.kind == "l" and (step.kind == "reduce" or step.name != "") else t

    def roots(self) -> list[Term]:
        out: list[Term] = []
        for n in range(len(self.body)):
            out.append(self.body[n])
            pred = self.pred[n]
            if pred is not None:
                out.append(pred)
        return out

    def small(self, roots: list[Term]) -> bool:
        """Whether a turn of the loop would cost as much as the formulas."""
        return len(uses(roots)) <= MOST_SMALL

    def summed(self, red: str) -> str:
        """What values of a reduction are met as, "" for just what they are."""
        return "" if red == "max" or red == "min" else "float32" if self.k.singles else "float64"

    def kind(self, n: int) -> str:
        """The kind of what step n brings together: argmax compares numbers and answers a place."""
        return self.body[n].kind

    def multiplied(self, n: int, body: Term) -> Term:
        """What step n stores or adds up, with factors in place of divisors that are the same all along the line whose
        points are taken together: in doubles that is as good where single floats are stored."""
        step = self.steps[n]
        sums = step.kind == "reduce" and step.red == "sum" and body.kind == "f" and not self.k.singles
        stored = self.k.types[step.target] if step.kind != "reduce" else self.k.call.dtype if sums else ""
        last = self.inner - 1 if self.k.across else len(self.p.lines) - 1
        if stored == "" or last < 0 or (step.inner or sums and not self.k.across) != (last >= self.inner):
            return body
        if not is_floating(stored) or TYPES[stored].bits > 32 or not is_floating(self.k.call.dtype):
            return body
        if self.k.call.dtype == "float64":
            return body
        if not self.k.floats and lanes_for(self.p, [body], ["float64" if sums else stored]) == 4:
            return body
        return self.with_factors(body, last)

    def with_factors(self, t: Term, line: int) -> Term:
        terms = self.p.terms
        match t.e:
            case Apply(name="divide") if self.p.moves(t.parts[0], line) and not self.p.moves(t.parts[1], line):
                factor = terms.applied("divide", [terms.of(Constant("f", 1), {}), t.parts[1]])
                return terms.binary("*", [self.with_factors(t.parts[0], line), factor])
            case Binary(operator="+" | "-" | "*" as operator) if t.kind == "f":
                return terms.binary(operator, [self.with_factors(part, line) for part in t.parts])
            case Unary(operator="-") | Rounded() if t.kind == "f":
                return terms.made(t.e, [self.with_factors(t.parts[0], line)])
            case Select() if t.kind == "f":
                no = self.with_factors(t.parts[0], line)
                return terms.made(t.e, [no, self.with_factors(t.parts[1], line), t.parts[2]])
            case _:
                return t
