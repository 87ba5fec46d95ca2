"""Which reductions of rows, and maps that go on from them, are computed in single floats, four at once: those of
formulas that need no doubles.

Sums take turns in lanes, and what a lane adds up in floats is no more than a block (reductions.py); what stays the same
along a row is computed once for it, in doubles."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Op, is_arg
from ...data.nodes import (
    Apply,
    Binary,
    Element,
    Index,
    Node,
    Random,
    Result,
    Rounded,
    Select,
    Unary,
    children,
    nodes_of,
)
from ...planner.lines import Line
from .kernel_plan import Plan

LEAST_ROW = 32  # points of a row: shorter ones gain nothing
# Functions that are as good in single floats, and those that a row may ask for once.
EVERYWHERE = ["exp_of", "divide", "square_root", "square", "reciprocal_root", "larger", "smaller", "abs"]
ONCE = ["exp2_of", "expm1_of", "log_of", "log1p_of", "tanh_of", "erf_of"]


def in_floats(k: Plan) -> bool:
    """Whether a kernel reduces rows in single floats, or is a map that goes on from such reductions."""
    if k.call.dtype != "float32" or k.across or k.kernel.reverse:
        return False
    lines = k.reduce if k.kernel.shape == "reduce" else k.outer[-1:] if k.kernel.shape == "map" else []
    if len(lines) == 0 or lines[len(lines) - 1].size < LEAST_ROW:
        return False
    row = Row(k, lines)
    steps = k.kernel.steps
    for n in range(len(steps)):
        code = k.code.steps[n]
        if code.pred is not None or steps[n].kind == "reduce" and not is_plain(k, n):
            return False
        if not row.needs_no_doubles(code.body):
            return False
    return k.kernel.shape == "reduce" or any(
        takes_exponentials(code.body) and row.goes_on(code.body) for code in k.code.steps
    )


def is_plain(k: Plan, n: int) -> bool:
    step = k.kernel.steps[n]
    return not is_arg(step) and step.value in ["T", "f"] and step.red in ["sum", "max", "min"]


@dataclass
class Row:
    """lines: those along which a row lies."""

    k: Plan
    lines: list[Line]

    def needs_no_doubles(self, e: Node) -> bool:
        """Whether a formula may be computed in floats along a row.  What is rounded there because it was a kernel of
        its own, a map in doubles, must come to the same."""
        if self.stays(e):
            return all(is_known(x) for x in nodes_of(e))
        match e:
            case Element(access=n):
                return self.k.types[n] == "float32" and self.is_plain(n)
            case Index():
                return True
            case Rounded(operand=operand):
                return self.needs_no_doubles(operand) and (self.goes_on(operand) or operations(operand) <= 1)
            case Apply(name=name):
                return name in EVERYWHERE and all(self.needs_no_doubles(x) for x in children(e))
            case Unary() | Binary() | Select():
                return all(self.needs_no_doubles(x) for x in children(e))
            case _:
                return False

    def stays(self, e: Node) -> bool:
        """Whether a formula is the same all along a row."""
        for x in nodes_of(e):
            match x:
                case Element(access=n):
                    if self.k.types[n] != "" and not (self.is_plain(n) and self.stands(n)):
                        return False
                case Index(loop=loop):
                    if any(line.name == loop for line in self.lines):
                        return False
                case Random():
                    return False
                case _:
                    pass
        return True

    def is_plain(self, n: int) -> bool:
        """Whether an element is there, and where its loops stand."""
        code = self.k.code.accesses[n]
        return code.guard is None and all(x is None for x in code.index)

    def stands(self, n: int) -> bool:
        return all(line.strides[n] == 0 for line in self.lines)

    def goes_on(self, e: Node) -> bool:
        """Whether a formula takes what a reduction has come to, in doubles; but for what is rounded inside it."""
        match e:
            case Result():
                return True
            case Element(access=n):
                return self.k.types[n] == "float64" and is_kept_of_rows(self.k.op, self.k.kernel.accesses[n].slot)
            case _:
                return any(not isinstance(x, Rounded) and self.goes_on(x) for x in children(e))


def is_kept_of_rows(op: Op, slot: int) -> bool:
    """Whether a slot holds what a reduction came to in the same op: what another one's did is rounded."""
    for program in op.programs:
        for kernel in program.kernels:
            if kernel.shape != "reduce" or kernel.floating is None:
                continue
            for n in range(len(kernel.steps)):
                target = kernel.steps[n].target
                if target >= 0 and kernel.accesses[target].slot == slot:
                    return not isinstance(kernel.floating.steps[n].body, Rounded)
    return False


def takes_exponentials(e: Node) -> bool:
    """Without them a map in floats saves hardly anything."""
    return any(isinstance(x, Apply) and x.name == "exp_of" for x in nodes_of(e))


def is_known(e: Node) -> bool:
    match e:
        case Apply(name=name):
            return name in EVERYWHERE or name in ONCE
        case _:
            return True


def operations(e: Node) -> int:
    """How often a formula of single floats is rounded."""
    match e:
        case Rounded() | Element():
            return 0
        case Unary() | Apply(name="larger" | "smaller" | "abs"):
            return sum([operations(x) for x in children(e)])
        case Binary() | Apply(name="divide" | "square_root"):
            return 1 + sum([operations(x) for x in children(e)])
        case _:
            return 0 if len(children(e)) == 0 else 9
