"""What host code takes from outside: the exception it raises (the package's is in runtime/base/errors.ts)
and the writing of numbers as JavaScript does it.  This file is not translated."""

from __future__ import annotations

import warnings


class OpError(Exception):
    """A wrong argument of an op.  The message names the op, what came and what was expected."""


class IndexError(OpError):
    """An axis that a tensor lacks; the package's class of that name."""


class LinAlgError(OpError):
    """A matrix that a function of linear algebra cannot take."""


def refused(message: str) -> OpError:
    """What a requirement over elements says that does not hold; "LinAlgError: " before its own words makes it one."""
    said = message.replace("LinAlgError: ", "")
    return OpError(said) if said == message else LinAlgError(said)


def warned(message: str) -> bool:
    """Whether a requirement only warns, which its message begins with: it is said then, and the call goes on."""
    said = message.replace("Warning: ", "")
    if said == message:
        return False
    warnings.warn(said, stacklevel=2)
    return True


def decimal(x: float) -> str:
    """The shortest text of a number, as JavaScript's String(x): 3 for 3.0, 1e-7 for 1e-07."""
    if isinstance(x, int):
        return str(x)
    if x != x or x in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity"}.get(str(x), "-Infinity")
    if x == 0:
        return "0"
    if abs(x) < 2**53 and x == int(x):
        return str(int(x))
    mantissa, _, exponent = repr(x).partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, part = mantissa.partition(".")
    digits = (whole + ("" if part == "0" else part)).lstrip("0")
    point = len(whole) + int(exponent or 0)  # digits before the point
    if whole == "0":
        point -= len(part) - len(part.lstrip("0")) + 1
    digits = digits.rstrip("0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 < point <= 21:
        part = digits[point:]
        return f"{sign}{digits[:point].ljust(point, '0')}{'.' if part else ''}{part}"
    return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{'+' if point > 0 else '-'}{abs(point - 1)}"
