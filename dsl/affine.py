"""Whole-number expressions as polynomials, to shorten index arithmetic and to see what always holds."""

from __future__ import annotations

from .expression import (
    ZERO,
    Binary,
    Constant,
    E,
    Unary,
    add,
    idx,
    integral,
    is_binary,
    is_unary,
    lift,
    mul,
    neg,
    sub,
)
from .ir import Loop

Poly = dict[tuple[E, ...], int]  # product of atoms, sorted by their print -> coefficient


def poly(e: E) -> Poly:
    """e as a polynomial in whatever is no sum, difference or product."""
    match e:
        case Constant("i", value):
            return {(): int(value)} if value else {}
        case Binary("+", left, right):
            return plus(poly(left), poly(right), 1)
        case Binary("-", left, right):
            return plus(poly(left), poly(right), -1)
        case Binary("*", left, right):
            return times(poly(left), poly(right))
        case Unary("-", operand):
            return plus({}, poly(operand), -1)
        case _:
            return {(e,): 1}


def plus(a: Poly, b: Poly, sign: int) -> Poly:
    out = dict(a)
    for k, c in b.items():
        out[k] = out.get(k, 0) + sign * c
    return {k: c for k, c in out.items() if c}


def times(a: Poly, b: Poly) -> Poly:
    out: Poly = {}
    for k, c in a.items():
        for l, d in b.items():
            key = tuple(sorted(k + l, key=repr))
            out[key] = out.get(key, 0) + c * d
    return {k: c for k, c in out.items() if c}


def expression(p: Poly) -> E:
    """A polynomial as an expression: what is added first, then what is taken away."""
    out: E = ZERO
    for k, c in sorted(p.items(), key=lambda term: (term[1] < 0, term[0] == ())):
        term = lift(abs(c))
        for atom in k:
            term = mul(term, atom)
        out = add(out, term) if c > 0 else neg(term) if out is ZERO else sub(out, term)
    return out


def shorter(e: E) -> E:
    """e, or an equal whole-number expression with fewer terms."""
    if not (is_binary(e, "+", "-") or is_unary(e, "-")) or not integral(e):
        return e
    new = expression(poly(e))
    return new if len(repr(new)) < len(repr(e)) else e


def always(p: E, loops: list[Loop]) -> bool:
    """Whether the comparison p (`a >= 0` or `a < n`) is seen to hold at every point of these loops."""
    if not is_binary(p, ">=", "<"):
        return False
    a, b = poly(p.left), poly(p.right)
    least = plus(a, b, -1) if p.operator == ">=" else plus(plus(b, a, -1), {(): 1}, -1)
    for v in loops:
        i = idx(v.name)
        if v.pack or not any(i in k for k in least):
            continue
        slope = {tuple(x for x in k if x is not i): c for k, c in least.items() if i in k}
        if any(k.count(i) > 1 for k in least) or set(slope) != {()}:
            return False
        rest = {k: c for k, c in least.items() if i not in k}
        end = plus(poly(v.length), {(): 1}, -1) if slope[()] < 0 else {}
        least = plus(rest, times(slope, end), 1)
    return not least or set(least) == {()} and least[()] >= 0
