"""Formulas as they are written in the package (codegen/api/notation.py writes them), read once.

    formula: operand, or two with an operator between them
    operand: number, @0 an element, @0[formula] one of a body's tensor, $0 a result, p.n a uniform, another
             name (a loop or an option), name(formula,...), {no,yes,condition}, (formula), or - ! ~ before another; what
             begins with one of these has brackets beside an operator

A number with a point or an exponent is a float, `1b` and `0b` are booleans."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Element,
    Index,
    Item,
    Node,
    Option,
    Random,
    Result,
    Select,
    Unary,
    Uniform,
)


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
    sign = run(f, SIGNS, True)
    if sign == "":
        return left
    return Apply(DIVISIONS[sign], [left, part(f)]) if sign in DIVISIONS else Binary(sign, left, part(f))


def part(f: Formula) -> Node:
    c = f.text[f.at]
    if c == "(":
        return enclosed(f)[0]
    if c == "{":
        parts = enclosed(f)
        return Select(parts[2], parts[1], parts[0])
    if c in "-!~":
        f.at += 1
        inner = part(f)
        return Constant(inner.kind, -inner.value) if c == "-" and isinstance(inner, Constant) else Unary(c, inner)
    if c == "@" or c == "$":
        f.at += 1
        n = int(run(f, DIGITS, True))
        if f.at < len(f.text) and f.text[f.at] == "[":
            f.at += 1
            place = formula(f)
            f.at += 1
            return Item(n, place)
        return Element(n) if c == "@" else Result(n)
    if c in DIGITS:
        return number(f)
    name = run(f, ENDS, False)
    if f.at < len(f.text) and f.text[f.at] == "(":
        return applied(name, enclosed(f))
    if name.startswith("p."):
        return Uniform(name[2:])
    return Index(name) if name in f.loops else Option(name)


# Divisions are functions: what WGSL's own operators do with 0 and with what is negative is left open.
DIVISIONS: dict[str, str] = {"/": "divide", "//": "floor_divide_int", "%": "remainder_int"}
DIGITS = "0123456789"
SIGNS = "+-*/%<>=!&|^"
ENDS = SIGNS + "(),{}[] :;?"  # what no name holds


def run(f: Formula, characters: str, these: bool) -> str:
    """What stands here of these characters, or of all others."""
    start = f.at
    while f.at < len(f.text) and (f.text[f.at] in characters) == these:
        f.at += 1
    return f.text[start : f.at]


def number(f: Formula) -> Constant:
    digits = run(f, DIGITS + ".eb", True)
    kind = "b" if "b" in digits else "f" if "." in digits or "e" in digits else "i"
    if "e" in digits:
        digits += run(f, "+-", True) + run(f, DIGITS, True)
    return Constant(kind, float(digits[0] if kind == "b" else digits))


def enclosed(f: Formula) -> list[Node]:
    """What stands in brackets, with commas between."""
    out: list[Node] = []
    while f.text[f.at] != ")" and f.text[f.at] != "}":
        f.at += 1
        out.append(formula(f))
    f.at += 1
    return out


def applied(name: str, operands: list[Node]) -> Node:
    first = operands[0]
    if name == "f32" or name == "i32":
        return Cast(name[0], first)
    if name == "check_bounds" or name == "in_bounds":
        return BoundsCheck(first, name == "in_bounds")
    if name == "uniform_random" and isinstance(first, Constant):
        return Random(int(first.value))
    return Apply(name, operands)
