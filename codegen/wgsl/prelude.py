"""The functions of prelude.wgsl and the library's routines, and what each of them calls."""

from __future__ import annotations

import functools
import re
from operator import is_
from pathlib import Path

from dsl.expression import ROUTINES

from . import routines

FILE = Path(__file__).with_name("prelude.wgsl")


@functools.cache
def of_file() -> dict[str, str]:
    """Name -> text, comments above it included, in the order of the file."""
    out: dict[str, str] = {}
    for block in re.split(r"\n\n+", FILE.read_text(encoding="utf-8")):
        found = re.search(r"^(?:fn|const) (\w+)", block, re.M)
        if found: out[found[1]] = block.strip("\n")
    return out


def functions() -> dict[str, str]:
    """Name -> text: the file's functions in its order, then the routines of the library."""
    return known(tuple(ROUTINES.values()))[0]


def calls() -> dict[str, list[str]]:
    """Name -> the names of functions that its text uses."""
    return known(tuple(ROUTINES.values()))[1]


_latest: tuple = ((), {}, {})


def known(loaded: tuple) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The functions where these routines are loaded, and their calls; both are remembered while the same are."""
    global _latest
    if not _latest[1] or len(_latest[0]) != len(loaded) or not all(map(is_, _latest[0], loaded)):
        texts = {**of_file(), **routines.functions()}
        words = lambda text: dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*", re.sub(r"//.*", "", text)))
        _latest = loaded, texts, {n: [w for w in words(t) if w in texts and w != n] for n, t in texts.items()}
    return _latest[1:]


def text(helpers: list[str]) -> str:
    """The named functions with all that they call, in the file's order."""
    wanted, waiting, texts, used = set(), list(helpers), functions(), calls()
    while waiting:
        name = waiting.pop()
        if name in wanted: continue
        if name not in texts: raise KeyError(f"the prelude has no function {name}")
        wanted.add(name)
        waiting += used[name]
    return "\n".join(t for n, t in texts.items() if n in wanted)
