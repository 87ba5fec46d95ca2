"""Elements of memory as values of a formula, and back."""

from __future__ import annotations

from dsl.ir.dtypes import TYPES, is_floating

from ..data.nodes import Node
from .printed import operand, printed, unsigned

# "w": a sum or product of whole numbers so far, in 64 bits.
KIND_TYPES: dict[str, str] = {"f": "f32", "i": "i32", "b": "bool", "w": "vec2<u32>"}
WORD_BITS = 32  # of an element in memory that is no half
ZEROS: dict[str, str] = {"f": "0.0", "i": "0", "b": "false"}


def converted(text: str, element: str, kind: str) -> str:
    """An element of memory as a value."""
    if kind == "b" and element == "f32":
        return f"((bitcast<u32>({text}) & 0x7fffffffu) != 0u)"
    if kind == "b":
        zero = "0.0" if element == "f32" else "0.0h" if element == "f16" else "0u" if element == "u32" else "0"
        return f"({text} != {zero})"
    if kind == "f":
        return text if element == "f32" else f"f32({text})"
    return text if element == "i32" else f"i32({text})"


def stored(value: Node, kind: str, dtype: str) -> str:
    """A value as an element of memory."""
    text = printed(value)
    if dtype == "bool" and kind == "f":
        return f"select(0u, 1u, (bitcast<u32>(f32({text})) & 0x7fffffffu) != 0u)"
    if dtype == "bool":
        return f"select(0u, 1u, {text})" if kind == "b" else f"select(0u, 1u, {operand(value)} != {ZEROS[kind]})"
    word = TYPES[dtype].word
    if is_floating(dtype):
        if kind == "b":
            return f"select({'0.0h, 1.0h' if word == 'f16' else '0.0, 1.0'}, {text})"
        if kind == "i":
            text = f"{word}({text})"
        if rounding(dtype) != "":
            return f"{rounding(dtype)}({text})"
        return text if kind == "i" or word == "f32" else f"f16({text})"
    if word == "u32" and kind == "f":
        return f"cut_unsigned({text})"
    cut = "cut_long" if dtype == "int64" else "cut"
    if word == "u32" and kind == "i":
        return unsigned(value)
    whole = text if kind == "i" else f"select(0, 1, {text})" if kind == "b" else f"{cut}({text})"
    if word == "u32":
        return f"u32({whole})"
    bits = TYPES[dtype].bits
    if bits >= WORD_BITS:
        return whole
    return (
        f"({whole}) & {2**bits - 1}"
        if TYPES[dtype].kind == "u"
        else f"(({whole}) << {WORD_BITS - bits}u) >> {WORD_BITS - bits}u"
    )


def rounding(dtype: str) -> str:
    """The function of the prelude that makes a number one of a type whose elements take more bits than they have."""
    return f"to_{dtype}" if dtype == "bfloat16" else ""
