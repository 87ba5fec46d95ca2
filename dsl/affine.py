"""Whole-number expressions as polynomials, to shorten index arithmetic and to see what always holds."""

from __future__ import annotations

from .expression import E, add, idx, integral, lift, mul, neg, sub
from .ir import Loop

Poly = dict[tuple[E, ...], int]  # product of atoms, sorted by their print -> coefficient


def poly(e: E) -> Poly:
    """e as a polynomial in whatever is no sum, difference or product."""
    match e.op:
        case "const" if isinstance(e.val, int) and not isinstance(e.val, bool):
            return {(): e.val} if e.val else {}
        case "+":
            return plus(poly(e.args[0]), poly(e.args[1]), 1)
        case "-":
            return plus(poly(e.args[0]), poly(e.args[1]), -1)
        case "neg":
            return plus({}, poly(e.args[0]), -1)
        case "*":
            return times(poly(e.args[0]), poly(e.args[1]))
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
    out = lift(0)
    for k, c in sorted(p.items(), key=lambda term: (term[1] < 0, term[0] == ())):
        term = lift(abs(c))
        for atom in k:
            term = mul(term, atom)
        out = add(out, term) if c > 0 else neg(term) if out == lift(0) else sub(out, term)
    return out


def shorter(e: E) -> E:
    """e, or an equal whole-number expression with fewer terms."""
    if e.op not in ("+", "-", "neg") or not integral(e):
        return e
    new = expression(poly(e))
    return new if len(repr(new)) < len(repr(e)) else e


def always(p: E, loops: list[Loop]) -> bool:
    """Whether the comparison p (`a >= 0` or `a < n`) is seen to hold at every point of these loops."""
    if p.op not in (">=", "<"):
        return False
    a, b = map(poly, p.args)
    least = plus(a, b, -1) if p.op == ">=" else plus(plus(b, a, -1), {(): 1}, -1)
    for v in loops:
        i = idx(v.name)
        if v.pack or not any(i in k for k in least):
            continue
        slope = {tuple(x for x in k if x != i): c for k, c in least.items() if i in k}
        if any(k.count(i) > 1 for k in least) or set(slope) != {()}:
            return False
        rest = {k: c for k, c in least.items() if i not in k}
        end = plus(poly(v.extent), {(): 1}, -1) if slope[()] < 0 else {}
        least = plus(rest, times(slope, end), 1)
    return not least or set(least) == {()} and least[()] >= 0
