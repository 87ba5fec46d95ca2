"""Kernels as text, for people."""

from __future__ import annotations

from ..data.errors import decimal
from .encoder import Function


def function_text(f: Function) -> str:
    """A function in the words of WebAssembly's text format."""
    types = " ".join(f.parameters)
    out = [f"func {f.name} ({types}){' -> ' + f.results[0] if len(f.results) > 0 else ''}"]
    if len(f.locals) > 0:
        out.append(f"  locals {' '.join(f.locals)}")
    depth = 1
    for i in f.code:
        if i.name == "end" or i.name == "else":
            depth -= 1
        values = "".join([f" {decimal(v * 1.0)}" for v in i.values])
        out.append(f"{'  ' * depth}{i.name}{values}")
        if i.name == "block" or i.name == "loop" or i.name == "if" or i.name == "else":
            depth += 1
    return "\n".join(out)
