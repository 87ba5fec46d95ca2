"""The functions of prelude.wgsl and rare.wgsl and the library's routines, and what each of them calls."""

from __future__ import annotations

import functools
import re
from operator import is_
from pathlib import Path

from dsl.ir.expression import ROUTINES

from ..data.model import Function
from . import routines

FILE = Path(__file__).with_name("prelude.wgsl")
RARE = Path(__file__).with_name("rare.wgsl")


def rare() -> dict[str, str]:
    """The functions that travel with the ops that call them, as routines do."""
    return of_file(RARE)


@functools.cache
def of_file(file: Path = FILE) -> dict[str, str]:
    """Name -> text without comments, which would travel with every page, in the order of the file."""
    out: dict[str, str] = {}
    for block in re.split(r"\n\n+", file.read_text(encoding="utf-8")):
        found = re.search(r"^(?:fn|const) (\w+)", block, re.M)
        if found:
            out[found[1]] = re.sub(r"^ *//.*\n| *//.*", "", block.strip("\n"), flags=re.M)
    return out


def functions() -> dict[str, str]:
    """Name -> text: the files' functions in their order, then the routines of the library."""
    return known(tuple(ROUTINES.values()))[0]


def calls() -> dict[str, list[str]]:
    """Name -> the names of functions that its text uses."""
    return known(tuple(ROUTINES.values()))[1]


_latest: tuple = ((), {}, {})


def known(loaded: tuple) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The functions where these routines are loaded, and their calls; both are remembered while the same are."""
    global _latest
    if not _latest[1] or len(_latest[0]) != len(loaded) or not all(map(is_, _latest[0], loaded)):
        texts = {**of_file(), **rare(), **routines.functions()}
        words = lambda text: dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*", re.sub(r"//.*", "", text)))
        _latest = loaded, texts, {n: [w for w in words(t) if w in texts and w != n] for n, t in texts.items()}
    return _latest[1:]


def text(helpers: list[str], routines: list[Function]) -> str:
    """The named functions with all that they call, in the file's order, then so the routines; other names are WGSL's
    own."""
    texts = {**of_file(), **{f.name: f.text for f in routines}}
    wanted, waiting, used = set(), list(helpers), calls()
    while waiting:
        name = waiting.pop()
        if name in wanted or name not in texts:
            continue
        wanted.add(name)
        waiting += used[name]
    return "\n".join(t for n, t in texts.items() if n in wanted)
