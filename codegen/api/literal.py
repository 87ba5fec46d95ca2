"""An op's data (codegen.data.model.Op) as a TypeScript object literal that a person can read.

Formulas print themselves (`str(fn)`: an arrow function); empty parts stay on one line, long ones are
broken at their members."""

from __future__ import annotations

import dataclasses
import json

WIDTH = 118


class Identifier(str):
    """A text that stands in a literal as it is."""


def literal(value, indent: int = 0, used: int = 0) -> str:
    """The text of a value; `indent`: of the line it stands in, `used`: columns taken before it there."""
    return laid_out(shown(value), indent, used)


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """A value on one line, and what a longer one is broken into: its brackets, the keys and values of its members."""

    flat: str
    brackets: str = ""
    members: tuple[tuple[str, Shown], ...] = ()


def shown(value) -> Shown:
    if value is None:
        return Shown("null")
    if isinstance(value, bool):
        return Shown("true" if value else "false")
    if isinstance(value, (int, float)):
        return Shown(number(value))
    if isinstance(value, Identifier):
        return Shown(value)
    if isinstance(value, str):
        return Shown(json.dumps(value, ensure_ascii=False))
    if isinstance(value, (list, tuple)):
        items = tuple([("", shown(v)) for v in value])
        return Shown(f"[{', '.join([v.flat for _, v in items])}]", "[]", items)
    if (
        dataclasses.is_dataclass(value) and is_object(value) and type(value).__dataclass_params__.frozen
    ):  # a class, too, in TypeScript
        return Shown(f"new {type(value).__name__}({', '.join([shown(v).flat for _, v in members(value)])})")
    if is_object(value):
        pairs = tuple([(f"{key}: ", shown(v)) for key, v in members(value)])
        return Shown("{ " + ", ".join([key + v.flat for key, v in pairs]) + " }" if pairs else "{}", "{}", pairs)
    return Shown(str(value))


def laid_out(value: Shown, indent: int, used: int) -> str:
    fits = "\n" not in value.flat and len(value.flat) + used + indent <= WIDTH
    if fits or not value.brackets:
        return value.flat
    opening, closing = value.brackets
    rows = [" " * (indent + 2) + key + laid_out(v, indent + 2, len(key) + 1) + "," for key, v in value.members]
    return f"{opening}\n" + "\n".join(rows) + f"\n{' ' * indent}{closing}"


def number(v: int | float) -> str:
    return str(int(v)) if isinstance(v, int) or v == int(v) and abs(v) < 1e15 else repr(v)


def is_object(value) -> bool:
    return isinstance(value, dict) or dataclasses.is_dataclass(value) and not callable(value)


def members(value) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(k if k.isidentifier() else json.dumps(k), v) for k, v in value.items()]
    return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
