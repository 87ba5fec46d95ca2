"""Which reductions of rows are computed in single floats, four at once: those of formulas that need no doubles.

Sums take turns in lanes, and what a lane adds up in floats is no more than a block (reductions.py); what stays the same
along a row is computed once for it, in doubles."""

from __future__ import annotations

from ...data.model import is_arg
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
from .kernel_plan import Plan

LEAST_ROW = 32  # points of a row: shorter ones gain nothing
# Functions that are as good in single floats, and those that a row may ask for once.
EVERYWHERE = ["exp_of", "divide", "square_root", "square", "reciprocal_root", "larger", "smaller", "abs"]
ONCE = ["exp2_of", "expm1_of", "log_of", "log1p_of", "tanh_of", "erf_of"]


def in_floats(k: Plan) -> bool:
    """Whether the reductions of a kernel are computed in single floats."""
    if k.kernel.shape != "reduce" or k.call.dtype != "float32" or k.across or k.kernel.reverse or len(k.reduce) == 0:
        return False
    if k.reduce[len(k.reduce) - 1].size < LEAST_ROW:
        return False
    steps = k.kernel.steps
    for n in range(len(steps)):
        code = k.code.steps[n]
        if code.pred is not None or steps[n].kind == "reduce" and not is_plain(k, n):
            return False
        if not needs_no_doubles(k, code.body):
            return False
    return True


def is_plain(k: Plan, n: int) -> bool:
    step = k.kernel.steps[n]
    return not is_arg(step) and step.value in ["T", "f"] and step.red in ["sum", "max", "min"]


def needs_no_doubles(k: Plan, e: Node) -> bool:
    """Whether a formula may be computed in floats along a row.  What is rounded there because it was a kernel of its
    own, a map in doubles, must come to the same."""
    if stays(k, e):
        return all(is_known(x) for x in nodes_of(e))
    match e:
        case Element(access=n):
            code = k.code.accesses[n]
            return k.types[n] == "float32" and code.guard is None and all(x is None for x in code.index)
        case Rounded(operand=operand):
            return needs_no_doubles(k, operand) and (asks_for_results(operand) or operations(operand) <= 1)
        case Apply(name=name):
            return name in EVERYWHERE and all(needs_no_doubles(k, x) for x in children(e))
        case Unary() | Binary() | Select():
            return all(needs_no_doubles(k, x) for x in children(e))
        case _:
            return False


def stays(k: Plan, e: Node) -> bool:
    """Whether a formula is the same all along a row."""
    for x in nodes_of(e):
        match x:
            case Element(access=n):
                code = k.code.accesses[n]
                if code.guard is not None or any(i is not None for i in code.index):
                    return False
                if any(line.strides[n] != 0 for line in k.reduce):
                    return False
            case Index() | Random():
                return False
            case _:
                pass
    return True


def is_known(e: Node) -> bool:
    match e:
        case Apply(name=name):
            return name in EVERYWHERE or name in ONCE
        case _:
            return True


def asks_for_results(e: Node) -> bool:
    """Whether a formula takes a reduction's value, but for what is rounded inside it."""
    if isinstance(e, Result):
        return True
    return any(not isinstance(x, Rounded) and asks_for_results(x) for x in children(e))


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
