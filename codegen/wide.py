"""Sums and products of whole numbers whose parts may leave 32 bits where the end does not, as in `a * b - c * d`: which
parts of a formula go on wide.

A wide part is exact in 64 bits, or it is so large that what it is added to cannot bring it back; others must fit by
themselves."""

from __future__ import annotations

from collections.abc import Callable

from dsl.expression import E

WIDE = ("+", "-", "*", "neg")
Own = Callable[[E], bool]  # whether an expression is arithmetic that must fit


def wide_parts(e: E, own: Own) -> tuple[bool, ...]:
    """Which arguments of a sum or product go on wide."""
    return tuple(
        x.op in WIDE and own(x) and joins(e, x, [y for m, y in enumerate(e.args) if m != n], own)
        for n, x in enumerate(e.args)
    )


def joins(e: E, x: E, others: list[E], own: Own) -> bool:
    # A product is right to its first digits, however large; a sum may have lost those that count.
    if e.op == "*" and x.op == "*":
        return True
    return size(x, own) <= (52 if e.op == "*" else 62) or e.op != "*" and all(size(y, own) == 31 for y in others)


def size(e: E, own: Own) -> int:
    """How many bits the absolute value may take."""
    if e.op not in WIDE or not own(e):
        return 31
    sizes = [size(x, own) if wide else 31 for x, wide in zip(e.args, wide_parts(e, own))]
    return sum(sizes) if e.op == "*" else max(sizes) + (e.op != "neg")
