"""Which reductions of a row are made in one pass over it: those that need nothing of each other."""

from __future__ import annotations

from ..data.dtypes import compute_class
from ..data.model import is_arg
from ..data.nodes import Node, Result, contains, elements_of, nodes_of
from .planning.kernel_plan import Plan


def passes_of(k: Plan) -> list[list[int]]:
    """The steps in the order in which they are made, several in one list where one pass makes them."""
    steps = k.kernel.steps
    out: list[list[int]] = []
    made: list[int] = []
    for first in range(len(steps)):
        if first in made:
            continue
        group = [first]
        stored: list[int] = []  # slots that are written before a later step's turn
        for n in range(first + 1, len(steps)):
            if n in made:
                continue
            if goes_along(k, first) and goes_along(k, n) and may_come_earlier(k, n, made, stored):
                group.append(n)
            elif steps[n].target >= 0:
                stored.append(k.kernel.accesses[steps[n].target].slot)
        made.extend(group)
        out.append(group)
    return out


def goes_along(k: Plan, n: int) -> bool:
    """Whether a step is a reduction of floats at every point, whose values are not kept and asked for again."""
    step = k.kernel.steps[n]
    body = k.code.steps[n].body
    if k.kernel.shape != "reduce" or compute_class(k.call.dtype) != "f" or step.kind != "reduce" or is_arg(step):
        return False
    if k.code.steps[n].pred is not None or step.value != "T" or step.red == "any" or step.red == "all":
        return False
    for access in elements_of(body):
        code = k.code.accesses[access]
        if code.guard is not None or any(e is not None for e in code.index):
            return False
    return k.kept < 0 or not contains(body, k.code.steps[k.kept].body)


def may_come_earlier(k: Plan, n: int, made: list[int], stored: list[int]) -> bool:
    """Whether step n needs only results of steps that are made, and nothing that is stored in between."""
    body = k.code.steps[n].body
    if any(step not in made for step in results_of(body)):
        return False
    return all(k.kernel.accesses[access].slot not in stored for access in elements_of(body))


def results_of(e: Node) -> list[int]:
    """The steps whose results a formula reads."""
    out: list[int] = []
    for x in nodes_of(e):
        match x:
            case Result(step=step):
                out.append(step)
            case _:
                pass
    return out
