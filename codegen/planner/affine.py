"""Indices that move in even steps: sums of loops times numbers, perhaps divided by a number and rounded down.

`y * stride + k * dilation - padding` is one, and `(x + padding - k * dilation) // stride` of its adjoint."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.names import safe_name
from ..data.nodes import Binary, Constant, Division, Index, Node, Unary, Uniform
from .writer import KernelWriter


@dataclass
class Affine:
    """(sum of factors[loop] * loop + factors[""]) // divisor."""

    factors: dict[str, float]
    divisor: int


def affine_of(k: KernelWriter, index: Node) -> Affine | None:
    """What an index is, or None if it is nothing of this form."""
    divisor = 1
    inner = index
    match index:
        case Division(operator="//", operand=dividend, divisor=by):
            divisor = by
            inner = dividend
    factors = linear(k, inner)
    return None if factors is None else Affine(factors, divisor)


def linear(k: KernelWriter, e: Node) -> dict[str, float] | None:
    """The factors of a sum of products with numbers, "" for what stands alone; None if a node is none."""
    match e:
        case Constant(value=value):
            return {"": value}
        case Index(loop=loop):
            return {"": 0, loop: 1}
        case Uniform(name=name):
            return told(k, name)
        case Unary(operator="-", operand=operand):
            return times(linear(k, operand), -1)
        case Binary(operator="+", left=left, right=right):
            return plus(linear(k, left), linear(k, right))
        case Binary(operator="-", left=left, right=right):
            return plus(linear(k, left), times(linear(k, right), -1))
        case Binary(operator="*", left=left, right=right):
            a = linear(k, left)
            b = linear(k, right)
            if a is not None and is_constant(a):
                return times(b, a[""])
            if b is not None and is_constant(b):
                return times(a, b[""])
            return None
        case _:
            return None


def told(k: KernelWriter, name: str) -> dict[str, float] | None:
    """A whole number of the uniform."""
    for n in range(len(k.names)):
        if k.names[n] == safe_name(name) and k.kinds[n] == "i":
            return {"": k.values[n]}
    return None


def is_constant(factors: dict[str, float]) -> bool:
    for name in factors:
        if name != "" and factors[name] != 0:
            return False
    return True


def plus(a: dict[str, float] | None, b: dict[str, float] | None) -> dict[str, float] | None:
    if a is None or b is None:
        return None
    out: dict[str, float] = {}
    for name in a:
        out[name] = a[name]
    for name in b:
        out[name] = (out[name] if name in out else 0) + b[name]
    return out


def times(factors: dict[str, float] | None, by: float) -> dict[str, float] | None:
    if factors is None:
        return None
    out: dict[str, float] = {}
    for name in factors:
        out[name] = factors[name] * by
    return out
