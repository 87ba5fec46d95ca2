"""Numbers that sizes and options decide: lengths of axes, and formulas over them."""

from __future__ import annotations

import numpy as np

from ..ir.axes import axes
from ..ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Select,
    Symbol,
    Unary,
)
from ..ir.program import Tensor
from . import scalars


def extents(t: Tensor, env: dict, packs: dict[str, tuple[int, ...]]) -> list[int]:
    """The lengths of a tensor's logical axes, packs expanded and not broadcast."""
    out: list[int] = []
    for a in axes(t):
        if a.when is not None and not constant(a.when, env):
            out += [1] * (len(packs[a.pack]) if a.pack else 1)
        elif a.pack:
            out += packs[a.pack]
        else:
            out.append(int(constant(a.extent, env)))
    return out


def constant(e: E, env: dict):
    """The number that a formula over sizes and options has."""
    match e:
        case Constant():
            return e.literal
        case Symbol(name):
            return env[name]
        case Binary(operator, left, right):
            first = constant(left, env)
            if operator == "and":
                return first and constant(right, env)
            if operator == "or":
                return first or constant(right, env)
            return scalars.binary(operator, first, constant(right, env))
        case Select(condition, yes, no):
            return constant(yes if constant(condition, env) else no, env)
        case Call(name, operands):
            return scalars.call(name, *[constant(x, env) for x in operands])
        case Unary(operator, operand):
            return scalars.unary(operator, constant(operand, env))
        case Cast(kind, operand):
            return scalars.cast(kind, constant(operand, env), np.dtype(float)).item()
    raise ValueError(f"the host cannot compute {e}")
