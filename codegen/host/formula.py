"""Host formulas: an expression over the environment of a call, callable here, printable as TypeScript.

This file is not translated: it makes what the translated code calls."""

from __future__ import annotations

import math

from dsl.expression import E

BOOLEAN = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not"}
FUNCTIONS = {"abs", "floor", "ceil", "sqrt", "exp", "log", "max", "min", "trunc", "pow"}
LEVEL = {"or": 1, "and": 2, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7}


class Formula:
    """`f(env)` is a number; `str(f)` an arrow function `(e) => e.X0 + 2 * e.padding0`."""

    def __init__(self, e: E):
        self.e = e
        self.run = eval(f"lambda e: {python(e)}", SCOPE)  # made from an E, so it holds nothing but arithmetic

    def __call__(self, env) -> float:
        v = self.run(env)
        return int(v) if isinstance(v, bool) else v

    def __str__(self) -> str:
        if isinstance(self.e.val, bool):
            return f"() => {int(self.e.val)}"
        text = typescript(self.e)
        return f"(e) => {text} ? 1 : 0" if self.e.op in BOOLEAN else f"(e) => {text}"

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
    a = [python(x) for x in e.args]
    match e.op:
        case "const":
            return repr(e.val)
        case "sym":
            return {"inf": "math.inf", "nan": "math.nan"}.get(e.val, f"e[{e.val!r}]")
        case "neg":
            return f"(-{a[0]})"
        case "not":
            return f"(not {a[0]})"
        case "if":
            return f"({a[1]} if {a[0]} else {a[2]})"
        case "//":
            return f"floordiv({a[0]}, {a[1]})"
        case "%":
            return f"modulo({a[0]}, {a[1]})"
        case "/":
            return f"quotient({a[0]}, {a[1]})"
        case "cast":
            return a[0]
        case "call" if e.val in FUNCTIONS:
            return f"{e.val}({', '.join(a)})"
        case "**":
            return f"power({a[0]}, {a[1]})"
        case _ if len(a) == 2:
            return f"({a[0]} {e.op} {a[1]})"
    raise ValueError(f"the host cannot compute {e!r}")


def typescript(e: E, level: int = 0) -> str:
    match e.op:
        case "const":
            return str(int(e.val)) if isinstance(e.val, bool) else repr(e.val)
        case "sym":
            return {"inf": "Infinity", "nan": "NaN"}.get(e.val, f"e.{e.val}")
        case "neg":
            return f"-{typescript(e.args[0], 8)}"
        case "not":
            return f"!{typescript(e.args[0], 8)}" if e.args[0].op == "sym" else f"!({typescript(e.args[0])})"
        case "if":
            c, a, b = (typescript(x, 1) for x in e.args)
            return f"({c} ? {a} : {b})"
        case "cast":
            return typescript(e.args[0], level)
        case "//":
            return f"Math.floor({typescript(e.args[0], 7)} / {typescript(e.args[1], 8)})"
        case "%":  # Python's: the sign of the divisor
            a, b = typescript(e.args[0], 7), typescript(e.args[1], 8)
            return f"({a} - Math.floor({a} / {b}) * {b})"
        case "**":
            return f"Math.pow({typescript(e.args[0])}, {typescript(e.args[1])})"
        case "call" if e.val in FUNCTIONS:
            return f"Math.{e.val}({', '.join(map(typescript, e.args))})"
    op = {"and": "&&", "or": "||", "==": "===", "!=": "!=="}.get(e.op, e.op)
    mine = LEVEL[e.op]
    s = f"{typescript(e.args[0], mine)} {op} {typescript(e.args[1], mine + 1)}"
    return f"({s})" if mine < level or (mine == 1 and level == 2) else s
