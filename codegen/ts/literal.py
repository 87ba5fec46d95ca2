"""An op's data (codegen.host.model.Op) as a TypeScript object literal that a person can read.

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
    flat = short(value)
    if "\n" not in flat and len(flat) + used + indent <= WIDTH: return flat
    pad, inner = " " * indent, " " * (indent + 2)
    if is_object(value):
        rows = [f"{key}: {literal(v, indent + 2, len(key) + 3)}," for key, v in members(value)]
        return "{\n" + "\n".join(inner + r for r in rows) + f"\n{pad}}}"
    if isinstance(value, (list, tuple)):
        rows = [literal(v, indent + 2, 1) + "," for v in value]
        return "[\n" + "\n".join(inner + r for r in rows) + f"\n{pad}]"
    return flat


def short(value) -> str:
    """On one line."""
    if value is None: return "null"
    if isinstance(value, bool): return "true" if value else "false"
    if isinstance(value, (int, float)): return number(value)
    if isinstance(value, Identifier): return value
    if isinstance(value, str): return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)): return "[" + ", ".join(map(short, value)) + "]"
    if is_object(value): return "{ " + ", ".join(f"{k}: {short(v)}" for k, v in members(value)) + " }" if members(value) else "{}"
    return str(value)


def number(v: int | float) -> str:
    return str(int(v)) if isinstance(v, int) or v == int(v) and abs(v) < 1e15 else repr(v)


def is_object(value) -> bool: return isinstance(value, dict) or dataclasses.is_dataclass(value) and not callable(value)


def members(value) -> list[tuple[str, object]]:
    if isinstance(value, dict): return [(k if k.isidentifier() else json.dumps(k), v) for k, v in value.items()]
    return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
