"""Which sums are matrix products in disguise.

A sum whose body splits into A(batch, rows, depth) * B(batch, columns, depth) (codegen/data/products.py) can run in
tiles.  Indices, guards and filters go with the side they belong to, so convolutions and their adjoints need nothing of
their own.  How a call's lines play these roles is codegen/planner/contract.py's."""

from __future__ import annotations

from dsl.ir.builders import conjuncts, integer, is_binary, is_unary
from dsl.ir.expression import E, Random, walk
from dsl.ir.program import Stmt
from dsl.ir.rewriting import indices

from ..data.products import split_of


def factors(e: E) -> list[E]:
    if is_binary(e, "*"):
        return factors(e.left) + factors(e.right)
    if is_unary(e, "-"):
        return [integer(-1)] + factors(e.operand)
    return [e]


def left_factor(s: Stmt) -> list[E] | None:
    """What belongs to factor A, filters included; None where the sum is no product of two."""
    if s.red != "sum" or not s.rloops or any(isinstance(n, Random) for n in walk(s.body)):
        return None
    parts = [f for f in factors(s.body) if indices(f)]
    conditions = [*conjuncts(s.pred)]
    outer = len(s.loops)
    numbers = {l.name: n for n, l in enumerate(s.loops + s.rloops)}

    def loops(es: list[E]) -> list[int]:
        return sorted({numbers[n] for e in es for n in indices(e)})

    for i, left in enumerate(parts):
        right = parts[:i] + parts[i + 1 :]
        if not has_read([left]) or not has_read(right):
            continue
        split = split_of(loops([left]), loops(right), [loops([c]) for c in conditions], outer)
        if split is None:
            continue
        rows = [n for n in split.a if n < outer and n not in split.b]
        columns = [n for n in split.b if n < outer and n not in split.a]
        if rows and columns and max(split.a) >= outer and max(split.b) >= outer:
            return [left, *[c for c, of_b in zip(conditions, split.right, strict=True) if not of_b]]
    return None


def has_read(parts: list[E]) -> bool:
    return any(p.reads for p in parts)
