"""The formulas of a kernel: all there are, and the accesses that they read."""

from __future__ import annotations

from .model import Code, ReadCode, Step, StepCode
from .nodes import Node, elements_of


def formulas_of(code: Code) -> list[Node | None]:
    """All formulas of a kernel."""
    out: list[Node | None] = []
    for a in code.accesses:
        out.extend([*a.index, a.guard, a.fallback])
    for s in code.steps:
        out.extend([s.pred, s.body])
    return out


def needed_accesses(steps: list[Step], formulas: list[StepCode], reads: list[ReadCode]) -> list[int]:
    """The accesses that steps store or their formulas read, and those that these read for an index, in order."""
    needed = [False for _ in reads]
    todo: list[int] = []
    for n in range(len(steps)):
        todo.extend(elements_of(formulas[n].body))
        todo.extend(elements_of(formulas[n].pred))
        if steps[n].target >= 0:
            todo.append(steps[n].target)
    while len(todo) > 0:
        access = todo.pop()
        if needed[access]:
            continue
        needed[access] = True
        own = reads[access]
        for e in [*own.index, own.guard, own.fallback]:
            todo.extend(elements_of(e))
    return [n for n in range(len(needed)) if needed[n]]
