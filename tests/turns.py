"""Whose turn it is: of cases that ask the same of much the same code, each commit runs a part, and the next another.

What decides is the commit, not the day: a run of it can be repeated, and looks at the same.  EVERY_TURN=1 runs all."""

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from buildtools.paths import ROOT

Case = TypeVar("Case")
SOURCES = ("ops/*.op", "dsl/**/*.py", "codegen/**/*.py", "runtime/**/*.ts", "tests/*.py", "tests/checks/*.mjs")


@cache
def turn() -> int | None:
    """A number of the commit; where none is known, in a copy without git, of what is tested; None where everything is
    asked for."""
    if "EVERY_TURN" in os.environ:
        return None
    # The folder may belong to another user, as where a container has a checkout from outside.
    git = ["git", "-c", "safe.directory=*", "rev-parse", "HEAD"]
    try:
        asked = subprocess.run(git, cwd=ROOT, capture_output=True, text=True)
        return int(asked.stdout, 16) if asked.returncode == 0 else number_of(ROOT)
    except FileNotFoundError:
        return number_of(ROOT)


def number_of(top: Path) -> int:
    """A number of the sources under a folder, another with each change of them."""
    digest = sha256()
    for pattern in SOURCES:
        for file in sorted(top.glob(pattern)):
            digest.update(f"{file.relative_to(top)}\n".encode() + file.read_bytes())
    return int(digest.hexdigest(), 16)


def one_in(count: int, cases: Iterable[Case], commit: int | None, start: int = 0) -> list[Case]:
    """Every `count`th of the cases, from one on that the commit's number decides.  start: moves the turns, so that
    several lists of cases do not leave out the same."""
    return [*cases] if commit is None else [*cases][(commit + start) % count :: count]
