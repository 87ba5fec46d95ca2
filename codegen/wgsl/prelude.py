"""The functions of prelude.wgsl and the library's routines, and what each of them calls."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from . import routines

FILE = Path(__file__).with_name("prelude.wgsl")


def functions() -> dict[str, str]:
    """Name -> text: the file's functions in its order, then the routines of the library."""
    return {**of_file(), **routines.functions()}


@functools.cache
def of_file() -> dict[str, str]:
    """Name -> text, comments above it included, in the order of the file."""
    out: dict[str, str] = {}
    for block in re.split(r"\n\n+", FILE.read_text(encoding="utf-8")):
        found = re.search(r"^(?:fn|const) (\w+)", block, re.M)
        if found: out[found[1]] = block.strip("\n")
    return out


def calls() -> dict[str, list[str]]:
    """Name -> the names of functions that its text uses."""
    return calls_among(tuple(functions().items()))


@functools.lru_cache(4)
def calls_among(texts: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    names = dict(texts)
    words = lambda text: dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*", re.sub(r"//.*", "", text)))
    return {n: [w for w in words(t) if w in names and w != n] for n, t in names.items()}


def text(helpers: list[str]) -> str:
    """The named functions with all that they call, in the file's order."""
    wanted, waiting, known, used = set(), list(helpers), functions(), calls()
    while waiting:
        name = waiting.pop()
        if name in wanted: continue
        if name not in known: raise KeyError(f"the prelude has no function {name}")
        wanted.add(name)
        waiting += used[name]
    return "\n".join(t for n, t in known.items() if n in wanted)
