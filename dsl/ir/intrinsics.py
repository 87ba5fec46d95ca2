"""The functions that expressions may call: those that every target has, and those that definitions make."""

from __future__ import annotations

from typing import Protocol

from .expression import E


class Function(Protocol):
    """What passes ask of a routine (dsl/lowering/routines.py): its parameters, its derivatives by them, whether it may
    work on whole numbers."""

    @property
    def params(self) -> tuple[str, ...]: ...
    @property
    def slopes(self) -> dict[str, E]: ...
    @property
    def integral(self) -> bool: ...


# name -> number of arguments.  `stop` is the identity with no gradient, `isnan` tests the bits; `stored` is a number as
# an element of T would hold it, which gradients do not see.
INTRINSICS = {
    "abs": 1, "sign": 1, "floor": 1, "ceil": 1, "round": 1, "trunc": 1, "sqrt": 1, "rsqrt": 1,
    "exp": 1, "exp2": 1, "expm1": 1, "log": 1, "log2": 1, "log10": 1, "log1p": 1,
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1,
    "erf": 1, "erfc": 1, "erfinv": 1, "lgamma": 1, "digamma": 1,
    "max": 2, "min": 2, "fmax": 2, "fmin": 2, "fmod": 2, "copysign": 2,
    "isnan": 1, "isinf": 1, "signbit": 1, "stop": 1, "stored": 1,
}  # fmt: skip

# What follows from which one it is, said here alone.  Of a whole number ROUNDING leaves what it is, and the result of
# KEEPING has the kind of its operands; PREDICATES answer a boolean, all others a float.
PREDICATES = ["isnan", "isinf", "signbit"]
ROUNDING = ["floor", "ceil", "trunc", "round"]
KEEPING = ["abs", "sign", "max", "min", "fmax", "fmin", "fmod", "stop", "stored", *ROUNDING]

# The functions that a library's `def`s with steps make, by name (dsl.lowering.routines.Routine); filled when
# definitions are loaded.
ROUTINES: dict[str, Function] = {}


def keeps_kind(name: str) -> bool:
    """Whether the result of an intrinsic or a routine has the kind of its operands."""
    return name in KEEPING or name in ROUTINES and ROUTINES[name].integral
