"""The functions of prelude.wgsl, checks.wgsl and rare.wgsl and the library's routines, and what each of them calls.

Of the files' functions only the line above each is read, `//= NAME: CALLED CALLED`; their WGSL is nobody's to read
(tests/test_wgsl.py sees to it that the lines are true).  What routines call their nodes say."""

from __future__ import annotations

import functools
import re
from operator import is_
from pathlib import Path

from dsl.ir.intrinsics import ROUTINES

from ..data.model import Function
from . import routines

FILE = Path(__file__).with_name("prelude.wgsl")
CHECKS = Path(__file__).with_name("checks.wgsl")
RARE = Path(__file__).with_name("rare.wgsl")
COMMENT = re.compile(r"^ *//.*\n| *//.*", re.M)


def rare() -> dict[str, str]:
    """The functions that travel with the ops that call them, as routines do."""
    return of_file(RARE)


def always() -> dict[str, str]:
    """The functions that are there wherever kernels are printed."""
    return of_file(FILE) | of_file(CHECKS)


def of_file(file: Path) -> dict[str, str]:
    """Name -> text without comments, which would travel with every page, in the order of the file."""
    return declared(file)[0]


@functools.cache
def declared(file: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The texts of a file's functions, and what each calls."""
    texts, calls = {}, {}
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        head, _, text = block.strip("\n").partition("\n")
        if head.startswith("//= "):
            name, _, called = head.removeprefix("//= ").partition(":")
            texts[name], calls[name] = COMMENT.sub("", text), called.split()
    return texts, calls


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
        texts = {**always(), **rare(), **routines.functions()}
        called = {**declared(FILE)[1], **declared(CHECKS)[1], **declared(RARE)[1], **routines.calls()}
        _latest = loaded, texts, {n: [c for c in called[n] if c in texts and c != n] for n in texts}
    return _latest[1:]


def text(helpers: list[str], routines: list[Function]) -> str:
    """The named functions with all that they call, in the files' order, then so the routines; other names are WGSL's
    own."""
    texts = {**always(), **{f.name: f.text for f in routines}}
    wanted, waiting, used = set(), list(helpers), calls()
    while waiting:
        name = waiting.pop()
        if name in wanted or name not in texts:
            continue
        wanted.add(name)
        waiting += used[name]
    return "\n".join(t for n, t in texts.items() if n in wanted)
