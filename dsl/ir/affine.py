"""Whole-number expressions as polynomials, to shorten index arithmetic and to see what always holds; and as sums of
loops times what no loop moves, to solve for a loop."""

from __future__ import annotations

from dataclasses import dataclass

from .builders import ONE, ZERO, add, idx, integer, integral, is_binary, is_const, is_unary, mul, neg, sub
from .expression import Binary, Constant, E, Index, Unary, show, walk
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
    """e, or an equal whole-number expression of fewer nodes."""
    if not (is_binary(e, "+", "-") or is_unary(e, "-")) or not integral(e):
        return e
    new = expression(poly(e))
    return new if len([*walk(new)]) < len([*walk(e)]) else e


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


@dataclass(frozen=True)
class Linear:
    """The sum of factors[loop] * loop, none of which is 0, and the rest."""

    factors: dict[str, E]
    rest: E


def linear(e: E, names: frozenset[str]) -> Linear | None:
    """e as a sum of the single loops `names` times what none of them moves; None if it is not."""
    if isinstance(e, Index) and e.loop in names:
        return Linear({e.loop: ONE}, ZERO)
    if e.loops.isdisjoint(names):
        return Linear({}, e)
    match e:
        case Binary("+" | "-", left, right):
            a, b = linear(left, names), linear(right, names)
            if a is None or b is None:
                return None
            join = add if e.operator == "+" else minus
            factors = dict(a.factors)
            for v, k in b.factors.items():
                factors[v] = join(factors.get(v, ZERO), k)
            return Linear({v: k for v, k in factors.items() if not is_const(k, 0)}, join(a.rest, b.rest))
        case Binary("*", left, right):
            for x, y in ((left, right), (right, left)):
                if x.loops.isdisjoint(names) and (inner := linear(y, names)):
                    return Linear({v: mul(x, k) for v, k in inner.factors.items()}, mul(x, inner.rest))
        case Unary("-", operand):
            inner = linear(operand, names)
            return None if inner is None else Linear({v: neg(k) for v, k in inner.factors.items()}, neg(inner.rest))
    return None


def minus(a: E, b: E) -> E:
    """a - b for whole numbers, without brackets where b is itself a sum."""
    if is_binary(b, "+"):
        return minus(minus(a, b.left), b.right)
    if is_binary(b, "-"):
        return add(minus(a, b.left), b.right)
    return sub(a, b)
