"""Elements of memory as values of a formula, and back."""

from __future__ import annotations

from ..data.nodes import Node
from .printed import operand, printed

# "w": a sum or product of whole numbers so far, in 64 bits.
KIND_TYPES: dict[str, str] = {"f": "f32", "i": "i32", "b": "bool", "w": "vec2<u32>"}
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
    if dtype.startswith("float"):
        if kind == "b":
            return f"select({'0.0h, 1.0h' if dtype == 'float16' else '0.0, 1.0'}, {text})"
        if kind == "i":
            return f"{'f16' if dtype == 'float16' else 'f32'}({text})"
        return text if dtype == "float32" else f"f16({text})"
    whole = text if kind == "i" else f"select(0, 1, {text})" if kind == "b" else f"cut({text})"
    if dtype == "int8":
        return f"(({whole}) << 24u) >> 24u"
    return f"({whole}) & 255" if dtype == "uint8" else whole
