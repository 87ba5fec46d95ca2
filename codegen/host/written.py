"""Formulas as they are written in the package (codegen/ts/notation.py writes them), read once.

    formula: operand, or two with an operator between them
    operand: number, true, false, name, name(formula,...), (formula), or - ! ~ before another; what begins with one of these has brackets beside an operator

`r0` is an element, `acc0` a result, `p.n` a word of the uniform; other names are loops and options.  One of a definition that
looks like something else has a `_` at its end."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import (Apply, Binary, BoundsCheck, Cast, Constant, Element, Index, Node, Option, Random, Result, Select, Unary, Uniform)


@dataclass
class Formula:
    """text: what is read; at: how far; loops: the names of loops."""
    text: str
    at: int
    loops: list[str]


def read_formula(text: str, loops: list[str]) -> Node | None:
    """None for nothing."""
    return None if text == "" else formula(Formula(text, 0, loops))


def formula(f: Formula) -> Node:
    left = part(f)
    sign = operator(f)
    return left if sign == "" else Binary(sign, left, part(f))


def operator(f: Formula) -> str:
    """The operator that stands here; "" for none."""
    start = f.at
    while f.at < len(f.text) and f.text[f.at] in "+-*<>=!&|^": f.at += 1
    return f.text[start:f.at]


def part(f: Formula) -> Node:
    c = f.text[f.at]
    if c == "(":
        f.at += 1
        inner = formula(f)
        f.at += 1
        return inner
    if c == "!" or c == "~":
        f.at += 1
        return Unary(c, part(f))
    if c == "-" and not is_digit(f.text[f.at + 1]):
        f.at += 1
        return Unary("-", part(f))
    if c == "-" or is_digit(c): return number(f)
    name = word(f)
    if f.at < len(f.text) and f.text[f.at] == "(": return applied(name, operands_in(f))
    return named(name, f.loops)


def number(f: Formula) -> Constant:
    """Digits; with a point or an exponent it is a float."""
    start = f.at
    kind = "i"
    f.at += 1
    while f.at < len(f.text) and (is_digit(f.text[f.at]) or f.text[f.at] in ".e" or f.text[f.at] in "+-" and f.text[f.at - 1] == "e"):
        if not is_digit(f.text[f.at]): kind = "f"
        f.at += 1
    return Constant(kind, float(f.text[start:f.at]))


def word(f: Formula) -> str:
    start = f.at
    while f.at < len(f.text) and (is_letter(f.text[f.at]) or is_digit(f.text[f.at]) or f.text[f.at] == "."): f.at += 1
    return f.text[start:f.at]


def operands_in(f: Formula) -> list[Node]:
    out: list[Node] = []
    while f.text[f.at] != ")":
        f.at += 1
        out.append(formula(f))
    f.at += 1
    return out


def applied(name: str, operands: list[Node]) -> Node:
    first = operands[0]
    if name == "select": return Select(operands[2], operands[1], first)
    if name == "f32" or name == "i32": return Cast(name[0], first)
    if name == "reached" or name == "inside": return BoundsCheck(first, name == "inside")
    if name == "uniform_random" and isinstance(first, Constant): return Random(int(first.value))
    return Apply(name, operands)


def named(name: str, loops: list[str]) -> Node:
    if name == "true" or name == "false": return Constant("b", 1 if name == "true" else 0)
    if name.startswith("p."): return Uniform(name[2:])
    if name.startswith("acc") and is_number(name[3:]): return Result(int(name[3:]))
    if name.startswith("r") and is_number(name[1:]): return Element(int(name[1:]))
    plain = name[:len(name) - 1] if name.endswith("_") else name
    own = plain if is_reserved(plain) else name
    return Index(own) if own in loops else Option(own)


def is_reserved(name: str) -> bool:
    """Whether a name, but for `_` at its end, is one that formulas use themselves."""
    end = len(name)
    while end > 0 and name[end - 1] == "_": end -= 1
    own = name[:end]
    return own == "true" or own == "false" or own.startswith("acc") and is_number(own[3:]) or own.startswith("r") and is_number(own[1:])


def is_number(text: str) -> bool:
    return text != "" and all(is_digit(text[i]) for i in range(len(text)))


def is_digit(c: str) -> bool: return c >= "0" and c <= "9"


def is_letter(c: str) -> bool: return c >= "a" and c <= "z" or c >= "A" and c <= "Z" or c == "_"
