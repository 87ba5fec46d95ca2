"""A formula of sizes and options as a plain number, for estimates: what is computed with is dsl/reference/sizes.py."""

from __future__ import annotations

import math
import operator as op
from collections.abc import Callable, Mapping

from .expression import Binary, Call, Cast, Constant, E, Select, Symbol, Unary

BINARY: dict[str, Callable[..., float]] = {
    "+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv, "//": op.floordiv, "%": op.mod, "**": op.pow,
    "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge, "==": op.eq, "!=": op.ne,
    "&": op.and_, "|": op.or_, "^": op.xor, "<<": op.lshift, ">>": op.rshift,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round, "sqrt": math.sqrt,
    "exp": math.exp, "log": math.log, "log2": math.log2, "max": max, "min": min,
}  # fmt: skip


def estimate(e: E, env: Mapping[str, float]) -> float:
    """The number that the formula has.  Raises KeyError for a name without a number and for what numbers have not."""
    match e:
        case Constant():
            return float(e.literal)
        case Symbol(name):
            return env[name]
        case Select(condition, yes, no):
            return estimate(yes if estimate(condition, env) else no, env)
        case Binary("and", left, right):
            return estimate(left, env) and estimate(right, env)
        case Binary("or", left, right):
            return estimate(left, env) or estimate(right, env)
        case Binary(operator, left, right):
            return BINARY[operator](estimate(left, env), estimate(right, env))
        case Call(name, operands):
            return FUNCTIONS[name](*(estimate(x, env) for x in operands))
        case Unary(operator, operand):
            value = estimate(operand, env)
            return -value if operator == "-" else not value if operator == "not" else ~int(value)
        case Cast(kind, operand):
            value = estimate(operand, env)
            return int(value) if kind == "i" else float(value)
    raise KeyError(str(e))
