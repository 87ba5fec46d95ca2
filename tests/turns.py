"""Whose turn it is: of cases that ask the same of much the same code, each commit runs a part, and the next another.

What decides is the commit, not the day: a run of it can be repeated, and looks at the same.  EVERY_TURN=1 runs all."""

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")


@cache
def turn() -> int | None:
    """A number of the commit; None where everything runs: where it is asked for, and where no commit is known."""
    if "EVERY_TURN" in os.environ:
        return None
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True)
    return None if asked.returncode else int(asked.stdout, 16)


def one_in(count: int, cases: Iterable[Case], commit: int | None, start: int = 0) -> list[Case]:
    """Every `count`th of the cases, from one on that the commit's number decides.  start: moves the turns, so that
    several lists of cases do not leave out the same."""
    return [*cases] if commit is None else [*cases][(commit + start) % count :: count]
