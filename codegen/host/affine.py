"""Indices that move in even steps: sums of variables times numbers, perhaps divided by a number and rounded down.

`y * stride + k * dilation - padding` is one, and `(x + padding - k * dilation) // stride` of its adjoint.  Texts are
those that codegen/wgsl/emit.py writes: each operation in brackets of its own."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import Kernel
from .texts import bare, is_word


@dataclass
class Affine:
    """(sum of factors[v] * v + factors[""]) // divisor."""
    factors: dict[str, float]
    divisor: int


def affine_of(k: Kernel, text: str) -> Affine | None:
    """What an index text is, or None if it is nothing of this form."""
    inner = bare(text)
    at = operator(inner)
    if at > 0 and inner[at] == "/":
        below = linear(k, inner[at + 2:])
        above = bare(inner[:at - 1])
        if below is None or not is_constant(below) or below[""] < 1: return None
        # Rounded down, as constants.py writes it: A - ((A - A / s * s + s) % s) over s.
        s = inner[at + 2:]
        tail = f" / {s} * {s} + {s}) % {s})"
        length = (len(above) - len(tail) - 8) // 3
        if length < 1: return None
        own = above[:length]
        if above != f"{own} - (({own} - {own}{tail}": return None
        numerator = linear(k, own)
        if numerator is None: return None
        return Affine(numerator, int(below[""]))
    factors = linear(k, inner)
    if factors is None: return None
    return Affine(factors, 1)


def is_constant(factors: dict[str, float]) -> bool:
    for name in factors:
        if name != "" and factors[name] != 0: return False
    return True


def operator(text: str) -> int:
    """The place of the only operator outside of brackets; 0 if there is none, -1 if there are several."""
    depth = 0
    found = 0
    for i in range(len(text)):
        if text[i] == "(" or text[i] == "[": depth += 1
        if text[i] == ")" or text[i] == "]": depth -= 1
        if depth == 0 and i > 0 and i + 1 < len(text) and text[i - 1] == " " and text[i + 1] == " ":
            if found != 0: return -1
            found = i
    return found


def linear(k: Kernel, text: str) -> dict[str, float] | None:
    """The factors of a sum of products with numbers, "" for what stands alone; None if a text is none."""
    inner = bare(text)
    out: dict[str, float] = {}
    at = operator(inner)
    if at == 0: return single(k, inner)
    if at < 0: return None
    a = linear(k, inner[:at - 1])
    b = linear(k, inner[at + 2:])
    if a is None or b is None: return None
    if inner[at] == "*":
        if is_constant(a): return times(b, a[""])
        if is_constant(b): return times(a, b[""])
        return None
    if inner[at] != "+" and inner[at] != "-": return None
    sign = 1 if inner[at] == "+" else -1
    for name in a: out[name] = a[name]
    for name in b: out[name] = (out[name] if name in out else 0) + sign * b[name]
    return out


def times(factors: dict[str, float], by: float) -> dict[str, float]:
    out: dict[str, float] = {}
    for name in factors: out[name] = factors[name] * by
    return out


def single(k: Kernel, text: str) -> dict[str, float] | None:
    """A number, a word of the uniform or a variable."""
    out: dict[str, float] = {"": 0}
    if text == "": return None
    if text[0] == "-" and len(text) > 1:
        rest = single(k, text[1:])
        return None if rest is None else times(rest, -1)
    if text.startswith("p."):
        for n in range(len(k.names)):
            if k.names[n] == text[2:] and k.kinds[n] == "i":
                out[""] = k.values[n]
                return out
        return None
    digits = True
    for i in range(len(text)):
        if not is_word(text[i]): return None
        if text[i] < "0" or text[i] > "9": digits = False
    if digits: out[""] = int(text)
    else: out[text] = 1
    return out
