"""The library's routines (dsl/lowering/routines.py) as WGSL."""

from __future__ import annotations

from functools import cache

from dsl.ir.intrinsics import ROUTINES
from dsl.lowering.routines import Routine

from ..data.functions import routine_name
from ..data.statements import formulas_in, statements_of
from ..kernels import procedures
from ..planner.printed import RoutineWriter, functions_of, routine_text


def functions(loaded: dict[str, Routine] = ROUTINES) -> dict[str, str]:
    """Name -> text of every routine, for floats and, where it may have those, integral numbers."""
    return {name: text for r in loaded.values() for name, text in texts(r)}


@cache
def texts(r: Routine) -> tuple[tuple[str, str], ...]:
    return tuple(
        (routine_name(r.name, "i" if integral else "f"), function(r, integral))
        for integral in ((False, True) if r.integral else (False,))
    )


def calls(loaded: dict[str, Routine] = ROUTINES) -> dict[str, list[str]]:
    """Name -> the functions that its text calls, in the order in which they stand there."""
    return {name: called for r in loaded.values() for name, called in called_by(r)}


@cache
def called_by(r: Routine) -> tuple[tuple[str, list[str]], ...]:
    found = []
    for integral in (False, True) if r.integral else (False,):
        procedure = procedures.routine(r, integral)
        nodes = map(
            RoutineWriter(procedure).node, (e for s in statements_of(procedure.statements) for e in formulas_in(s))
        )
        names = dict.fromkeys(name for e in nodes for name in functions_of(e))
        found.append((routine_name(r.name, "i" if integral else "f"), list(names)))
    return tuple(found)


def function(r: Routine, integral: bool) -> str:
    return routine_text(routine_name(r.name, "i" if integral else "f"), procedures.routine(r, integral))
