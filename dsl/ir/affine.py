"""Whole-number expressions as polynomials, to shorten index arithmetic and to see what always holds."""

from __future__ import annotations

from dataclasses import dataclass

from .expression import (
    ZERO,
    Binary,
    Constant,
    E,
    Unary,
    add,
    idx,
    integer,
    integral,
    is_binary,
    is_unary,
    mul,
    neg,
    show,
    sub,
)
from .program import Loop


@dataclass(frozen=True)
class Term:
    """A product of atoms, sorted by their print, and its coefficient."""

    atoms: tuple[E, ...]
    count: int

    def without(self, atom: E) -> Term:
        return Term(tuple([a for a in self.atoms if a is not atom]), self.count)


def poly(e: E) -> list[Term]:
    """e as a polynomial in whatever is no sum, difference or product: each product of atoms once, none of them 0."""
    match e:
        case Constant("i", value):
            return collected([Term((), int(value))])
        case Binary("+", left, right):
            return plus(poly(left), poly(right), 1)
        case Binary("-", left, right):
            return plus(poly(left), poly(right), -1)
        case Binary("*", left, right):
            return times(poly(left), poly(right))
        case Unary("-", operand):
            return plus([], poly(operand), -1)
        case _:
            return [Term((e,), 1)]


def collected(terms: list[Term]) -> list[Term]:
    """Terms of the same atoms as one, at the place of the first."""
    out: list[Term] = []
    for t in terms:
        n = next((n for n, u in enumerate(out) if u.atoms == t.atoms), -1)
        if n < 0:
            out.append(t)
        else:
            out[n] = Term(t.atoms, out[n].count + t.count)
    return [t for t in out if t.count != 0]


def plus(a: list[Term], b: list[Term], sign: int) -> list[Term]:
    return collected([*a, *[Term(t.atoms, sign * t.count) for t in b]])


def times(a: list[Term], b: list[Term]) -> list[Term]:
    return collected([Term(tuple(sorted([*t.atoms, *u.atoms], key=show)), t.count * u.count) for t in a for u in b])


def expression(terms: list[Term]) -> E:
    """A polynomial as an expression: what is added first, then what is taken away."""
    out: E = ZERO
    for t in sorted(terms, key=lambda t: (t.count < 0, t.atoms == ())):
        product: E = integer(abs(t.count))
        for atom in t.atoms:
            product = mul(product, atom)
        out = add(out, product) if t.count > 0 else neg(product) if out is ZERO else sub(out, product)
    return out


def shorter(e: E) -> E:
    """e, or an equal whole-number expression with fewer terms."""
    if not (is_binary(e, "+", "-") or is_unary(e, "-")) or not integral(e):
        return e
    new = expression(poly(e))
    return new if len(show(new)) < len(show(e)) else e


def always(p: E, loops: list[Loop]) -> bool:
    """Whether the comparison p (`a >= 0` or `a < n`) is seen to hold at every point of these loops."""
    if not is_binary(p, ">=", "<"):
        return False
    a, b, one = poly(p.left), poly(p.right), [Term((), 1)]
    least = plus(a, b, -1) if p.operator == ">=" else plus(plus(b, a, -1), one, -1)
    for v in loops:
        i = idx(v.name)
        if v.pack or not any(i in t.atoms for t in least):
            continue
        if any(t.atoms.count(i) > 1 for t in least):
            return False
        slope = [t.without(i) for t in least if i in t.atoms]
        if len(slope) > 1 or slope[0].atoms:
            return False
        end = plus(poly(v.length), one, -1) if slope[0].count < 0 else []
        least = plus([t for t in least if i not in t.atoms], times(slope, end), 1)
    return not least or len(least) == 1 and not least[0].atoms and least[0].count >= 0
