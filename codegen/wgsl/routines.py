"""The library's routines (dsl/lowering/routines.py) as WGSL."""

from __future__ import annotations

from functools import cache

from dsl.ir.expression import ROUTINES
from dsl.lowering.routines import Routine

from ..kernels import procedures
from ..kernels.formulas import routine_name
from ..planner.printed import routine_text


def functions(loaded: dict[str, Routine] = ROUTINES) -> dict[str, str]:
    """Name -> text of every routine, for floats and, where it may have those, whole numbers."""
    return {name: text for r in loaded.values() for name, text in texts(r)}


@cache
def texts(r: Routine) -> tuple[tuple[str, str], ...]:
    return tuple(
        (routine_name(r.name, "i" if whole else "f"), function(r, whole))
        for whole in ((False, True) if r.whole else (False,))
    )


def function(r: Routine, whole: bool) -> str:
    return routine_text(routine_name(r.name, "i" if whole else "f"), procedures.routine(r, whole))
