"""The arguments of a call as words of a command line: `input=64x1000 dim=1`.

A tensor is said by its shape, `64x1000`, with a type behind a colon if it is not float32, `8x3:int64`; `()` is a tensor
without axes.  Its elements are zeros: this is for looking at kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.data.errors import OpError
from dsl.ir.dtypes import TYPES
from dsl.opdef import OpDef, Param
from dsl.text.diagnostics import did_you_mean

TENSOR = re.compile(r"(\(\)|\d+(?:x\d+)*)(?::(\w+))?")
WORDS = {"true": True, "false": False, "none": None}
USUAL = {"Int": "int64", "Bits": "int64", "Bool": "bool"}  # the type of a tensor of whose type nothing is said


def given(op: OpDef, words: Iterable[str]) -> dict[str, object]:
    """The arguments by their names.  Raises OpError for a word that says none."""
    known = {p.name: p for p in op.params}
    found: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise OpError(f"{op.name}: '{word}' is no argument; write NAME=VALUE, as in input=64x1000 dim=1")
        if name not in known:
            hint = did_you_mean(name, known) or f"it has {', '.join(known)}"
            raise OpError(f"{op.name} has no parameter '{name}'; {hint}")
        found[name] = value(op, known[name], text)
    if found:
        missing = [p.name for p in op.params if p.name not in found and not p.optional and not p.has_default]
        if missing:
            raise OpError(f"{op.name}: {', '.join(missing)} must be given, too, as in {missing[0]}=...")
    return {name: v for name, v in found.items() if v is not None}


def value(op: OpDef, p: Param, text: str) -> object:
    if text in WORDS and p.kind != "choice":
        return WORDS[text]
    if p.kind == "tensor":
        return tensor(op, p, text)
    if p.kind in ("choice", "dtype"):
        return text
    try:
        numbers = [number(part) for part in text.split(",")]
    except ValueError:
        raise OpError(f"{op.name}: {p.name}={text} is no {p.kind}; a list is written 1,2") from None
    return numbers if len(numbers) > 1 else numbers[0]


def tensor(op: OpDef, p: Param, text: str) -> object:
    said = measures(op, p, text)
    if said is None:
        if p.instead == "num":
            return number(text)
        raise OpError(f"{op.name}: {p.name}={text} is no tensor; write its shape, as in 64x1000, 8x3:int64 or ()")
    import numpy as np

    from .numpy_runner import NAMES

    shape, dtype = said
    return np.zeros(shape, NAMES[dtype])


def measures(op: OpDef, p: Param, text: str) -> tuple[tuple[int, ...], str] | None:
    """The shape and the type that a word says; None if it says none."""
    m = TENSOR.fullmatch(text)
    if m is None:
        return None
    return () if m[1] == "()" else tuple(map(int, m[1].split("x"))), dtype_of(op, p, m[2])


def dtype_of(op: OpDef, p: Param, said: str | None) -> str:
    """A tensor's type where one is said, else the usual one of the parameter.  Raises OpError."""
    dtype = said or USUAL.get(p.cls, "float32")
    if dtype not in TYPES:
        raise OpError(f"{op.name}: there is no type '{dtype}'; tensors are {', '.join(TYPES)}")
    return dtype


def number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
