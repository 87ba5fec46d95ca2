"""Expressions of loop programs from formulas as they are read (data/written.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from dsl.ir import expression as ir
from dsl.ir.builders import real
from dsl.ir.expression import BinaryOperator, E, Inside, Local, Pack, Read, Symbol, UnaryOperator

from ..data.functions import routine_of
from ..data.nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Element,
    Index,
    Node,
    Option,
    Random,
    Select,
    Unary,
)

BINARY: dict[str, BinaryOperator] = {
    "divide": "/",
    "floor_divide_int": "//",
    "remainder_int": "%",
    "&&": "and",
    "||": "or",
}
UNARY: dict[str, UnaryOperator] = {"-": "-", "!": "not", "~": "~"}


@dataclass
class Scope:
    """What names mean.  packs: the loops over packs; reads: what `@0`, `@1` are; locals: the parameters of a
    routine."""

    packs: set[str]
    reads: list[Read]
    locals: list[str]


def expression(n: Node, scope: Scope) -> E:
    match n:
        case Constant(kind=kind, value=value):
            return real(value) if kind == "f" else ir.Constant("b" if kind == "b" else "i", int(value))
        case Index(loop=loop):
            return Pack(loop) if loop in scope.packs else ir.Index(loop)
        case Option(name=name):
            return Local(name) if name in scope.locals else Symbol(name)
        case Element(access=access):
            return scope.reads[access]
        case BoundsCheck(operand=Element(access=access)):
            return Inside(scope.reads[access])
        case Random(draw=draw):
            return ir.Random(draw)
        case Cast(kind=kind, operand=operand):
            return ir.Cast("f" if kind == "f" else "i", expression(operand, scope))
        case Unary(operator=operator, operand=operand):
            return ir.Unary(UNARY[operator], expression(operand, scope))
        case Binary(operator=operator, left=left, right=right):
            known = cast(BinaryOperator, BINARY.get(operator, operator))
            return ir.Binary(known, expression(left, scope), expression(right, scope))
        case Select(condition=condition, yes=yes, no=no):
            return ir.Select(expression(condition, scope), expression(yes, scope), expression(no, scope))
        case Apply(name=name, operands=operands):
            parts = tuple([expression(x, scope) for x in operands])
            if name in BINARY:
                return ir.Binary(BINARY[name], parts[0], parts[1])
            if name == "b32" or name == "T32":
                return ir.Cast("b" if name == "b32" else "T", parts[0])
            return ir.Call(routine_of(name), parts)
    raise ValueError("no formula of a loop program")
