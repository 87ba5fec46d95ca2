"""Host formulas: an expression over the environment of a call, callable here, printable as TypeScript.

This file is not translated: it makes what the translated code calls."""

from __future__ import annotations

import math
from functools import cached_property

from dsl.ir.builders import is_condition
from dsl.ir.expression import Binary, Call, Cast, Constant, E, Select, Symbol, Unary

FUNCTIONS = {"abs", "floor", "ceil", "sqrt", "exp", "log", "max", "min", "trunc", "pow"}
LEVEL = {"or": 1, "and": 2, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7}


class Formula:
    """`f(env)` is a number; `str(f)` an arrow function `(e) => e.X0 + 2 * e.padding0`."""

    def __init__(self, e: E):
        self.e = e

    @cached_property
    def run(self):
        """Made from an E, so it holds nothing but arithmetic; when it is first called, for most only print."""
        return eval(f"lambda e: {python(self.e)}", SCOPE)

    def __reduce__(self):
        return Formula, (self.e,)

    def __call__(self, env) -> float:
        v = self.run(env)
        return int(v) if isinstance(v, bool) else v

    def __str__(self) -> str:
        if isinstance(self.e, Constant) and self.e.kind == "b":
            return f"() => {int(self.e.value)}"
        text = typescript(self.e)
        return f"(e) => {text} ? 1 : 0" if is_condition(self.e) else f"(e) => {text}"

    def __repr__(self) -> str:
        return str(self)


def formula(e: E | None) -> Formula | None:
    return None if e is None else Formula(e)


def floordiv(a, b):
    return a // b if b else math.nan


def modulo(a, b):
    return a % b if b else math.nan


def quotient(a, b):
    return a / b if b else math.nan if a == 0 or a != a else math.copysign(math.inf, a)


def as_javascript(f):
    """f with NaN or infinity for what Python refuses: the square root of -1, the floor of infinity, an overflow."""

    def call(*args):
        try:
            v = f(*args)
        except ValueError:
            v = (
                -math.inf
                if f is math.log and args[0] == 0
                else args[0]
                if f in (math.floor, math.ceil, math.trunc)
                else math.nan
            )
        except OverflowError:
            v = args[0] if f in (math.floor, math.ceil, math.trunc) else math.inf
        except ZeroDivisionError:
            v = math.inf
        return math.nan if isinstance(v, complex) else v

    return call


def power(a, b):
    return a**b


SCOPE = {
    "math": math,
    "floordiv": floordiv,
    "modulo": modulo,
    "quotient": quotient,
    "power": as_javascript(power),
    **{name: as_javascript(getattr(math, name)) for name in FUNCTIONS - {"abs", "max", "min", "pow"}},
    "pow": as_javascript(power),
    "__builtins__": {"abs": abs, "max": max, "min": min},
}


def python(e: E) -> str:
    a = [python(x) for x in e.parts()]
    match e:
        case Constant():
            return repr(e.literal)
        case Symbol(name):
            return {"inf": "math.inf", "nan": "math.nan"}.get(name, f"e[{name!r}]")
        case Unary("-", _):
            return f"(-{a[0]})"
        case Unary("not", _):
            return f"(not {a[0]})"
        case Select():
            return f"({a[1]} if {a[0]} else {a[2]})"
        case Cast():
            return a[0]
        case Call(name, _) if name in FUNCTIONS:
            return f"{name}({', '.join(a)})"
        case Binary(operator, _, _):
            name = {"//": "floordiv", "%": "modulo", "/": "quotient", "**": "power"}.get(operator)
            return f"{name}({a[0]}, {a[1]})" if name else f"({a[0]} {operator} {a[1]})"
    raise ValueError(f"the host cannot compute {e!r}")


def typescript(e: E, level: int = 0) -> str:
    match e:
        case Constant(kind, value):
            return str(int(value)) if kind == "b" else repr(value)
        case Symbol(name):
            return {"inf": "Infinity", "nan": "NaN"}.get(name, f"e.{name}")
        case Unary("-", operand):
            return f"-{typescript(operand, 8)}"
        case Unary("not", operand):
            return f"!{typescript(operand, 8)}" if isinstance(operand, Symbol) else f"!({typescript(operand)})"
        case Select(condition, yes, no):
            return f"({typescript(condition, 1)} ? {typescript(yes, 1)} : {typescript(no, 1)})"
        case Cast(_, operand):
            return typescript(operand, level)
        case Call(name, operands) if name in FUNCTIONS:
            return f"Math.{name}({', '.join([typescript(x) for x in operands])})"
        case Binary("//", left, right):
            return f"Math.floor({typescript(left, 7)} / {typescript(right, 8)})"
        case Binary("%", left, right):  # Python's: the sign of the divisor
            a, b = typescript(left, 7), typescript(right, 8)
            return f"({a} - Math.floor({a} / {b}) * {b})"
        case Binary("**", left, right):
            return f"Math.pow({typescript(left)}, {typescript(right)})"
        case Binary(operator, left, right) if operator in LEVEL:
            sign = {"and": "&&", "or": "||", "==": "===", "!=": "!=="}.get(operator, operator)
            mine = LEVEL[operator]
            s = f"{typescript(left, mine)} {sign} {typescript(right, mine + 1)}"
            return f"({s})" if mine < level or (mine == 1 and level == 2) else s
    raise ValueError(f"the host cannot compute {e!r}")
