"""Formulas as they are written in the package (codegen/ts/notation.py writes them), read once.

    formula: operand, or two with an operator between them
    operand: number, @0 an element, $0 a result, p.n a word of the uniform, another name (a loop or an option),
             name(formula,...), (formula), or - ! ~ before another; what begins with one of these has brackets beside an operator

A number with a point or an exponent is a float, `1b` and `0b` are booleans."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import Apply, Binary, BoundsCheck, Cast, Constant, Element, Index, Node, Option, Random, Result, Select, Unary, Uniform


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
    sign = run(f, "+-*<>=!&|^")
    return left if sign == "" else Binary(sign, left, part(f))


def part(f: Formula) -> Node:
    c = f.text[f.at]
    if c == "(": return enclosed(f)[0]
    if c in "-!~":
        f.at += 1
        inner = part(f)
        return Constant(inner.kind, -inner.value) if c == "-" and isinstance(inner, Constant) else Unary(c, inner)
    if c == "@" or c == "$":
        f.at += 1
        n = int(run(f, DIGITS))
        return Element(n) if c == "@" else Result(n)
    if c in DIGITS: return number(f)
    name = run(f, LETTERS + DIGITS + "_.")
    if f.at < len(f.text) and f.text[f.at] == "(": return applied(name, enclosed(f))
    if name.startswith("p."): return Uniform(name[2:])
    return Index(name) if name in f.loops else Option(name)


DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def run(f: Formula, characters: str) -> str:
    """What stands here of these characters."""
    start = f.at
    while f.at < len(f.text) and f.text[f.at] in characters: f.at += 1
    return f.text[start:f.at]


def number(f: Formula) -> Constant:
    digits = run(f, DIGITS + ".eb")
    if "e" in digits: digits += run(f, "+-") + run(f, DIGITS)
    if "b" in digits: return Constant("b", int(digits[0]))
    return Constant("f" if "." in digits or "e" in digits else "i", float(digits))


def enclosed(f: Formula) -> list[Node]:
    """What stands in brackets, with commas between."""
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
