"""Whole numbers that are sums of loops times numbers, such as `y * stride + k * dilation - padding`: as indices they
move in even steps.  Uniforms count as what they are in a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..data.nodes import Apply, Binary, Constant, Index, Node, Unary, Uniform


@dataclass
class Affine:
    """The sum of factors[loop] * loop, and factors[""]."""

    factors: dict[str, int]

    def is_number(self) -> bool:
        """Whether no loop moves it."""
        return all(name == "" or self.factors[name] == 0 for name in self.factors)

    def plus(self, other: Affine) -> Affine:
        out = {**self.factors}
        for name in other.factors:
            out[name] = out.get(name, 0) + other.factors[name]
        return Affine(out)

    def times(self, by: int) -> Affine:
        out: dict[str, int] = {}
        for name in self.factors:
            out[name] = self.factors[name] * by
        return Affine(out)

    def minus(self, other: Affine) -> Affine:
        return self.plus(other.times(-1))


def equal(a: Affine, b: Affine) -> bool:
    rest = a.minus(b)
    return rest.is_number() and rest.factors[""] == 0


def quotient(a: Affine, by: Affine) -> Affine | None:
    """a / by, rounded down, where `by` is a number that divides what all loops are multiplied by; else None."""
    if not by.is_number() or by.factors[""] < 1:
        return None
    out: dict[str, int] = {}
    for name in a.factors:
        if name != "" and a.factors[name] % by.factors[""] != 0:
            return None
        out[name] = a.factors[name] // by.factors[""]
    return Affine(out)


Division = Callable[[Affine, Affine], Affine | None]


def affine(e: Node, value_of: Callable[[str], int | None], divided: Division | None) -> Affine | None:
    """What a formula is, or None if it is nothing of this form.  value_of: the value of a whole number among the
    uniforms.  divided: what a division comes to, `quotient`; None: divisions are not of this form."""
    match e:
        case Constant(kind="i", value=value):
            return Affine({"": int(value)})
        case Index(loop=loop):
            return Affine({"": 0, loop: 1})
        case Uniform(name=name):
            known = value_of(name)
            return None if known is None else Affine({"": known})
        case Unary(operator="-", operand=operand):
            inner = affine(operand, value_of, divided)
            return None if inner is None else inner.times(-1)
        case Binary(operator=operator, left=left, right=right):
            a = affine(left, value_of, divided)
            b = affine(right, value_of, divided)
            return None if a is None or b is None else joined(operator, a, b)
        case Apply(name="floor_divide_int", operands=operands) if divided is not None:
            a = affine(operands[0], value_of, divided)
            b = affine(operands[1], value_of, divided)
            return None if a is None or b is None else divided(a, b)
        case _:
            return None


def joined(operator: str, a: Affine, b: Affine) -> Affine | None:
    if operator == "+":
        return a.plus(b)
    if operator == "-":
        return a.minus(b)
    if operator != "*":
        return None
    if a.is_number():
        return b.times(a.factors[""])
    return a.times(b.factors[""]) if b.is_number() else None
