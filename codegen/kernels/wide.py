"""Sums and products of whole numbers whose parts may leave 32 bits where the end does not, as in `a * b - c * d`: which
parts of a formula go on wide.

A wide part is exact in 64 bits, or it is so large that what it is added to cannot bring it back; others must fit by
themselves."""

from __future__ import annotations

from collections.abc import Callable

from dsl.ir.builders import is_binary, is_unary
from dsl.ir.expression import E

NUMBER = 31  # bits of the absolute value of a number of 32 bits
SUM = 62  # bits up to which another sum in 64 bits, its sign besides, is exact
PRODUCT = 52  # bits that a factor keeps in float64, in which lanes of the CPU compute what is wide

Own = Callable[[E], bool]  # whether an expression is arithmetic that must fit


def may_be_wide(e: E) -> bool:
    """Whether e is a sum, a product or a sign."""
    return is_binary(e, "+", "-", "*") or is_unary(e, "-")


def wide_parts(e: E, own: Own) -> tuple[bool, ...]:
    """Which operands of a sum or product go on wide."""
    parts = e.parts()
    return tuple(
        [
            may_be_wide(x) and own(x) and joins(e, x, [y for m, y in enumerate(parts) if m != n], own)
            for n, x in enumerate(parts)
        ]
    )


def joins(e: E, x: E, others: list[E], own: Own) -> bool:
    # A product is right to its first digits, however large; a sum may have lost those that count.
    product = is_binary(e, "*")
    if product and is_binary(x, "*"):
        return True
    return size(x, own) <= (PRODUCT if product else SUM) or not product and all(size(y, own) == NUMBER for y in others)


def size(e: E, own: Own) -> int:
    """How many bits the absolute value may take."""
    if not may_be_wide(e) or not own(e):
        return NUMBER
    sizes = [size(x, own) if wide else NUMBER for x, wide in zip(e.parts(), wide_parts(e, own), strict=True)]
    return sum(sizes) if is_binary(e, "*") else max(sizes) + (0 if is_unary(e, "-") else 1)
