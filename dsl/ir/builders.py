"""How expressions are made and recognised; what is made here is simplified at once."""

from __future__ import annotations

from math import copysign
from typing import TypeGuard

from .expression import (
    COMPARISONS,
    CONDITIONS,
    Binary,
    BinaryOperator,
    Call,
    Comparison,
    Constant,
    E,
    Index,
    Inside,
    Pack,
    Read,
    Select,
    Symbol,
    Unary,
    UnaryOperator,
)


def integer(v: int) -> Constant:
    return Constant("i", v)


def real(v: float) -> E:
    return Unary("-", Constant("f", 0.0)) if v == 0 and copysign(1, v) < 0 else Constant("f", v)


def truth(v: bool) -> Constant:
    return TRUE if v else FALSE


def sym(name: str) -> E:
    return Symbol(name)


def idx(name: str) -> E:
    return Index(name)


def pack(name: str) -> E:
    return Pack(name)


def read(tensor: str, index: tuple[E, ...] | list[E], fallback: E | None = None) -> Read:
    return Read(tensor, tuple(index), fallback)


def call(fn: str, *args: E) -> E:
    return Call(fn, args)


ZERO, ONE, TRUE, FALSE = Constant("i", 0), Constant("i", 1), Constant("b", 1), Constant("b", 0)


def is_const(e: E, value: float | None = None) -> TypeGuard[Constant]:
    """Whether e is a constant number (equal to `value`); a boolean is no number here."""
    return isinstance(e, Constant) and e.kind != "b" and (value is None or e.value == value)


def is_condition(e: E) -> bool:
    """Whether e is an operation that comes to true or false."""
    match e:
        case Inside() | Unary("not", _):
            return True
        case Binary(operator, _, _):
            return operator in CONDITIONS
        case _:
            return False


def is_unary(e: E, operator: UnaryOperator) -> TypeGuard[Unary]:
    return isinstance(e, Unary) and e.operator == operator


def is_binary(e: E, *operators: BinaryOperator) -> TypeGuard[Binary]:
    return isinstance(e, Binary) and e.operator in operators


def is_loop(e: E) -> TypeGuard[Index | Pack]:
    """Whether e is nothing but a loop."""
    return isinstance(e, (Index, Pack))


def loop_of(e: E) -> str:
    """The loop that e is nothing but; "" for anything else."""
    return e.loop if is_loop(e) else ""


def is_comparison(operator: BinaryOperator) -> TypeGuard[Comparison]:
    return operator in COMPARISONS


def compared(operator: Comparison, a: float, b: float) -> bool:
    """What a comparison of two numbers comes to."""
    match operator:
        case "==":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case _:
            return a >= b


# The builders below simplify only what holds for every number, NaN and infinities included:
# x + 0, x * 1 and x / 1 go; x * 0 stays unless x is an index or a size, because NaN * 0 is NaN.


def integral(e: E) -> bool:
    """Whether e is built from indices, sizes and whole constants only, so is finite and exact."""
    match e:
        case Index() | Symbol():
            return True
        case Constant(kind, _):
            return kind != "f"
        case Unary("-", operand):
            return integral(operand)
        case Binary("+" | "-" | "*" | "//" | "%", left, right):
            return integral(left) and integral(right)
        case _:
            return False


def number(value: float, a: Constant, b: Constant) -> E:
    """What two constants come to: a float if one of them is."""
    return real(float(value)) if "f" in (a.kind, b.kind) else Constant("i", value)


def add(a: E, b: E) -> E:
    if is_const(a, 0):
        return b
    if is_const(b, 0):
        return a
    if is_const(a) and is_const(b):
        return number(a.value + b.value, a, b)
    if is_unary(b, "-"):
        return sub(a, b.operand)
    if is_const(b) and b.value < 0:
        return Binary("-", a, Constant(b.kind, -b.value))
    return Binary("+", a, b)


def sub(a: E, b: E) -> E:
    if is_const(b, 0):
        return a
    if is_const(a, 0):
        return neg(b)
    if a is b and integral(a):
        return ZERO
    if is_const(a) and is_const(b):
        return number(a.value - b.value, a, b)
    if is_unary(b, "-"):
        return add(a, b.operand)
    if is_binary(a, "+") and integral(a):
        if a.right is b:
            return a.left
        if a.left is b:
            return a.right
    return Binary("-", a, b)


def neg(a: E) -> E:
    if is_const(a) and a.value != 0:
        return Constant(a.kind, -a.value)
    if is_unary(a, "-"):
        return a.operand
    if is_binary(a, "-") and integral(a):
        return Binary("-", a.right, a.left)
    return Unary("-", a)


def mul(a: E, b: E) -> E:
    if is_const(a, 0) and integral(b) or is_const(b, 0) and integral(a):
        return ZERO
    if is_const(a, 1):
        return b
    if is_const(b, 1):
        return a
    if is_const(a) and is_const(b):
        return number(a.value * b.value, a, b)
    if is_const(a, -1):
        return neg(b)
    if is_const(b, -1):
        return neg(a)
    return Binary("*", a, b)


def div(a: E, b: E) -> E:
    return a if is_const(b, 1) else Binary("/", a, b)


def floordiv(a: E, b: E) -> E:
    if is_const(b, 1):
        return a
    if is_const(a) and is_const(b) and b.value:
        return number(a.value // b.value, a, b)
    return Binary("//", a, b)


def conj(*conditions: E | None) -> E | None:
    """The conditions joined by `and`, each once; None stands for true."""
    out = list(dict.fromkeys([q for p in conditions for q in conjuncts(p)]))
    return joined_by("and", out) if out else None


def conjuncts(p: E | None) -> list[E]:
    if p is None or p is TRUE:
        return []
    return [*conjuncts(p.left), *conjuncts(p.right)] if is_binary(p, "and") else [p]


def joined_by(operator: BinaryOperator, parts: list[E]) -> E:
    """The parts, of which there are some, joined from the left."""
    out = parts[0]
    for part in parts[1:]:
        out = Binary(operator, out, part)
    return out


def cond(c: E | None, a: E, b: E) -> E:
    if c is None:
        return a
    if isinstance(c, Constant):
        return a if c.value else b
    return a if a is b else Select(c, a, b)
