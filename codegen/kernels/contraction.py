"""Which sums are matrix products in disguise.

A sum whose body splits into A(batch, rows, depth) * B(batch, columns, depth) can run in tiles: rows are the
outer loops that only A depends on, columns those that only B depends on.  Indices, guards and filters go
with the side they belong to, so convolutions and their adjoints need nothing of their own."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir.expression import E, Random, conj, conjuncts, indices, integer, is_binary, is_unary, walk
from dsl.ir.program import Stmt


@dataclass(frozen=True)
class Roles:
    """The two factors (lists of parts of the product), the filters of each side, and constant parts."""

    left: tuple[E, ...]
    right: tuple[E, ...]
    scale: tuple[E, ...]
    left_filter: E | None
    right_filter: E | None


def factors(e: E) -> list[E]:
    if is_binary(e, "*"):
        return factors(e.left) + factors(e.right)
    if is_unary(e, "-"):
        return [integer(-1)] + factors(e.operand)
    return [e]


def roles(s: Stmt) -> Roles | None:
    """How the sum splits, or None."""
    if s.red != "sum" or not s.rloops or any(isinstance(n, Random) for n in walk(s.body)):
        return None
    parts = factors(s.body)
    scale = tuple(f for f in parts if not indices(f))
    parts = [f for f in parts if indices(f)]
    deep, outer = {l.name for l in s.rloops}, {l.name for l in s.loops}
    for i in range(len(parts)):
        left, right = (parts[i],), tuple(parts[:i] + parts[i + 1 :])
        if not right:
            continue
        a, b = indices(left[0]), set().union(*map(indices, right))
        sides = filters(s.pred, a, b, outer)
        if sides is None:
            continue
        a |= indices(sides[0])
        b |= indices(sides[1])
        rows, columns = (a - b) & outer, (b - a) & outer
        if rows and columns and deep & a and deep & b and has_read(left) and has_read(right):
            return Roles(left, right, scale, *sides)
    return None


def has_read(parts: tuple[E, ...]) -> bool:
    return any(p.reads for p in parts)


def filters(pred: E | None, a: set[str], b: set[str], outer: set[str]) -> tuple[E | None, E | None] | None:
    """The conditions that go with A and those that go with B; None if one depends on both rows and columns."""
    left: list[E] = []
    right: list[E] = []
    for p in conjuncts(pred):
        v = indices(p) & outer
        if v & (a - b) and v & (b - a):
            return None
        (right if v & (b - a) else left).append(p)
    return conj(*left), conj(*right)
