"""Scalars of a call that a kernel uses: sizes, options, which tensors were given; and the kinds of tensors."""

from __future__ import annotations

from dsl.ir.expression import E, symbols
from dsl.lowering.types import symbol_kinds
from dsl.opdef import OpDef, Presence

from ..kernels.kernel import Kernel
from .expr import EQUAL, Hole

CONSTANTS = ("inf", "nan", "pi")


def tensor_kind(op: OpDef, tensor: str, integral: bool, tensors=None) -> str:
    """The kind of a tensor's elements: "w" or "f" as T is, "i", "b"; of a type of its own: what its class says, else
    "f"."""
    dtype = (tensors or op.tensors)[tensor].dtype
    if dtype == "own":
        return next(
            ({"Int": "i", "Bits": "i", "Bool": "b"}.get(p.cls, "f") for p in op.params if p.name == tensor), "f"
        )
    return {"T": "w" if integral else "f", "int": "i", "bool": "b"}.get(dtype, "f")


def words_of(kernel: Kernel, named: frozenset[str]) -> list[str]:
    """The symbols a kernel's texts use, in the order they first appear; `named`: its loops that are `for` loops."""
    seen: dict[str, None] = {}
    exprs: list[E | None] = [l.extent for l in kernel.loops + kernel.rloops if l.name in named]
    for s in kernel.steps:
        exprs += [s.body, s.pred]
    for a in kernel.accesses:
        exprs += [*a.index, a.guard, a.fallback]
    for e in exprs:
        for s in sorted(symbols(e)):
            if s not in CONSTANTS:
                seen[s] = None
    return list(seen)


def word_hole(op: OpDef, word: str, name: str, integral: bool) -> Hole:
    kind = option_kind(op, word)
    if kind == "bool":
        return Hole(f"{name} !== 0", "b", EQUAL, name)
    if kind == "num":
        return Hole(name, "w" if integral else "f")
    return Hole(name, "f" if kind == "real" else "i")


def word_value(op: OpDef, word: str, integral: bool) -> str:
    """Where a kernel takes a word from; a `num` is rounded to T before it meets elements."""
    value = f"args.words.{word}"
    return f"args.round({value})" if option_kind(op, word) == "num" and not integral else value


def option_kind(op: OpDef, word: str) -> str:
    return symbol_kinds(op).get(word, "bool" if word.startswith(Presence) else "int")
