"""What the operators and intrinsics of the loop IR mean on numpy arrays.

Whole numbers of T are int64 here, and must fit into int32 where they are stored (reference.py); indices are int32.
Their division and remainder round down, as Python's; dividing a whole number by zero gives 0.  Booleans count as 0 and
1.  Plain Python numbers (sizes, options) take the type of what they meet, and divide among themselves as floats do: 1 /
0 is inf."""

from __future__ import annotations

import math
import operator

import numpy as np

from ..ir.intrinsics import ROUTINES
from . import special

PLAIN = frozenset({bool, int, float})


def plain(x) -> bool:
    return type(x) in PLAIN


def boolean(x) -> bool:
    return type(x) is bool if type(x) in PLAIN else x.dtype.kind == "b"


def is_integer(x) -> bool:
    return isinstance(x, (bool, int)) or getattr(x, "dtype", np.dtype(float)).kind in ("b", "i", "u")


def number(x):
    """x with booleans as whole numbers."""
    if not boolean(x):
        return x
    return int(x) if plain(x) else x.astype(np.int32)


def scalar(f, *args):
    """f of plain numbers, as a plain number, under IEEE rules."""
    with np.errstate(all="ignore"):
        return np.asarray(f(*(np.asarray(a, np.int64 if is_integer(a) else np.float64) for a in args))).item()


def power(a, b):
    """a ** b; a whole number to a negative power rounds towards zero."""
    if not (is_integer(a) and is_integer(b)):
        return np.power(a, b)
    a, b = np.asarray(a), np.asarray(b)
    reached = np.power(a, np.maximum(b, 0))
    if reached.dtype == np.int64:
        reached = np.where(np.abs(np.power(a, np.maximum(b, 0), dtype=float)) < FAR, reached, FAR)
    return np.where(b >= 0, reached, np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b % 2), 0))).astype(reached.dtype)


FAR = 2**62  # a whole number that fits nowhere


def shift(a, b, left: bool):
    """a << b or a >> b, by any amount."""
    a, b = np.asarray(a, np.int32) if plain(a) else np.asarray(a), np.asarray(b)
    far = (b < 0) | (b > 31)
    near = np.where(far, 0, b).astype(a.dtype)
    moved = np.left_shift(a, near) if left else np.right_shift(a, near)
    beyond = np.where((a != 0) & (b > 31), FAR, 0) if a.dtype == np.int64 else 0
    return np.where(far, beyond if left else np.where(a < 0, -1, 0), moved).astype(a.dtype)


ARITHMETIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.true_divide,
    "//": np.floor_divide,
    "%": np.mod,
    "**": power,
}
COMPARISON = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
LOGIC = {"and": np.logical_and, "or": np.logical_or}
BITS = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}


# What Python's own operators make of plain numbers as numpy's do, in a tenth of the time.
EXACT = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
OF_WHOLE = {"//": operator.floordiv, "%": operator.mod}  # but by zero
PICKED = {"max": max, "min": min}
NEAR = 2**53  # whole numbers below it, and their sums and products below it, are the same in every type


def exact(op: str, a, b):
    """What Python's operator makes of two plain numbers, or None where numpy's may make something else."""
    integers = not isinstance(a, float) and not isinstance(b, float)
    f = EXACT.get(op) or (OF_WHOLE.get(op) if integers and b else None)
    if f is None or not (integers or abs(a) < NEAR and abs(b) < NEAR):
        return None
    made = f(a, b)
    return made if not integers or -NEAR < made < NEAR else None


def binary(op: str, a, b):
    """One of the IR's operators with two operands."""
    both = plain(a) and plain(b)
    if both and (made := exact(op, a, b)) is not None:
        return made
    if op in LOGIC:
        return scalar(LOGIC[op], a, b) if both else LOGIC[op](a, b)
    if op in BITS:
        return BITS[op](a, b)
    a, b = number(a), number(b)
    if op in ("<<", ">>"):
        return shift(a, b, op == "<<")
    f = ARITHMETIC.get(op) or COMPARISON[op]
    if both:
        return scalar(f, a, b)
    return f(a, b)


def unary(op: str, a):
    """-, not, ~."""
    if op == "not":
        return scalar(np.logical_not, a) if plain(a) else np.logical_not(a)
    if op == "-":
        return -number(a)
    return np.invert(a)


def in_double(f):
    """f computed in float64, answered in the argument's type."""

    def g(x):
        y = f(np.asarray(x, np.float64))
        return y.astype(x.dtype) if getattr(x, "dtype", np.dtype(int)).kind == "f" else y

    return g


def rounded(f):
    """A rounding function: whole numbers stay as they are."""
    return lambda x: x if is_integer(x) else f(x)


CALLS = {
    "abs": lambda x: np.abs(number(x)),
    "sign": lambda x: np.subtract(x > 0, x < 0, dtype=np.int32).astype(getattr(x, "dtype", np.float64)),
    "floor": rounded(np.floor),
    "ceil": rounded(np.ceil),
    "round": rounded(np.round),
    "trunc": rounded(np.trunc),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": in_double(special.erf),
    "erfc": in_double(special.erfc),
    "erfinv": in_double(special.erfinv),
    "lgamma": in_double(special.lgamma),
    "digamma": in_double(special.digamma),
    "max": np.maximum,
    "min": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "isnan": lambda x: np.isnan(x),
    "isinf": np.isinf,
    "signbit": np.signbit,
    "stop": lambda x: x,
    "stored": lambda x: x,  # where no T is known
}


def stored(x, T: np.dtype, compute: np.dtype):
    """A float as T would hold it; compute: the type that stands for T in formulas."""
    is_float = compute.kind == "f" and np.asarray(x).dtype.kind == "f"
    return np.asarray(x).astype(compute).astype(T).astype(compute) if is_float else x


def call(name: str, *args):
    """One of the intrinsics or of the library's routines."""
    args = tuple(map(number, args))
    if name in PICKED and all(isinstance(x, int) for x in args):
        return PICKED[name](args)
    if name in ROUTINES:
        from .routine_run import run

        made = run(ROUTINES[name], args)
        return made.item() if all(map(plain, args)) else made
    return scalar(CALLS[name], *args) if all(map(plain, args)) else CALLS[name](*args)


def cast(kind: str, x, floating: np.dtype):
    """A change of scalar kind: to `floating`, to int32 (towards zero, NaN is 0, kept in range) or to bool."""
    x = np.asarray(x)
    if kind == "f":
        return x.astype(floating)
    if kind == "b":
        return x != 0
    if x.dtype.kind != "f":
        return x.astype(np.int32)
    return np.clip(np.nan_to_num(np.trunc(x), posinf=math.inf, neginf=-math.inf), -(2.0**31), 2.0**31 - 1).astype(
        np.int32
    )
