"""Nodes of the loop IR that formulas are lowered to, where one is more than its operands: polynomials, comparisons that
are known, products, reductions inside an expression."""

from __future__ import annotations

from ..ir.axes import Axis, points
from ..ir.builders import FALSE, ONE, add, compared, div, is_const, mul, neg, sub, truth
from ..ir.expression import Binary, Constant, E, Reduce
from ..ir.program import Loop
from ..ir.rewriting import transform

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def horner(x: E, coefficients: list[E]) -> E:
    """The polynomial with these coefficients, that of x**0 first."""
    out = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        out = add(mul(out, x), c) if not isinstance(c, Constant) or c.value >= 0 else sub(mul(out, x), neg(c))
    return out


def folded(op: str, a: E, b: E) -> E:
    """A node; what constants alone decide is decided."""
    if op in COMPARISONS and is_const(a) and is_const(b):
        return truth(compared(op, a.value, b.value))
    if op == "or" and (a is FALSE or b is FALSE):
        return b if a is FALSE else a
    return Binary(op, a, b)


def product(es) -> E:
    out = ONE
    for e in es:
        out = mul(out, e)
    return out


def reduce_node(red: str, value: E, pred: E | None, loops: tuple[Loop, ...]) -> E:
    """A reduction inside an expression; a mean is a sum divided by the number of its points."""
    if red != "mean":
        return Reduce(red, loops, value, pred)
    return div(Reduce("sum", loops, value, pred), points(loops))


def axis_of(v: Loop):
    return Axis(extent=v.extent, pack=v.pack or "")


def strip(e: E) -> E:
    """The value under a reduction, to tell its type."""
    return transform(e, lambda n: n.body if isinstance(n, Reduce) else None)


def top_reduction(e: E) -> str | None:
    return e.reduction if isinstance(e, Reduce) else None
