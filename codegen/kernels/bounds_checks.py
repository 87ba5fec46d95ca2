"""Places that an argument names: a kernel of a forward program looks whether they are on their axis.

One that is not is reported through a buffer of the device (`check_bounds` in checks.wgsl), and reading what was
computed from it raises it: a GPU is not waited for.  A formula's reads all stand before it in a kernel, so one that a
condition keeps from being needed, such as the class that `ignore_index` names, is guarded by that condition first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from dsl.ir.builders import TRUE, conj, joined_by
from dsl.ir.expression import Binary, E, Element, Select, Symbol, Unary, walk
from dsl.ir.program import Presence

from .context import KernelContext
from .kernel import Kernel

# Strategies of other shapes read ahead of what they need.
SHAPES = ("map", "reduce", "scatter")
Path = frozenset[tuple[E, bool]]  # conditions, and whether each holds or not


def watched(op: KernelContext, kernel: Kernel) -> tuple[Kernel, frozenset[int]]:
    """The kernel with such guards, and its accesses that report."""
    if kernel.shape not in SHAPES:
        return kernel, frozenset()
    given = {name for name, cls in op.classes.items() if cls == "Int"}
    named = {
        n
        for n, a in enumerate(kernel.accesses)
        if a.guard is None and any(kernel.accesses[r].tensor in given for r in elements(*a.index))
    }
    stored = {s.target for s in kernel.steps}
    when = {n: needed(kernel, n) for n in named - stored}
    reported = {
        n for n, paths in when.items() if not any(e.results for p in paths for e, _ in p)
    }  # asked before any step
    accesses = tuple(replace(a, guard=formula(when[n])) if n in reported else a for n, a in enumerate(kernel.accesses))
    return replace(kernel, accesses=accesses), frozenset(reported | named & stored)


def needed(kernel: Kernel, n: int) -> list[Path]:
    """When the value of access n is needed at a point: where all of one path holds."""
    own = f"{Presence}{kernel.accesses[n].tensor}"  # what is absent is not read
    found = [p for s in kernel.steps for p in (*paths(s.pred, n), *paths(s.body, n, path(s.pred)))]
    for m, a in enumerate(kernel.accesses):
        if m == n or n not in elements(*a.index, a.guard, a.fallback):
            continue
        inside = path(a.guard if n in elements(*a.index) else None)
        found += [p | inside for p in needed(kernel, m) or [path(None)]]  # a place to store at is in no formula
    return fewest(
        [frozenset((e, said) for e, said in p if not (isinstance(e, Symbol) and e.name == own)) for p in found]
    )


def paths(e: E | None, n: int, here: Path = frozenset()) -> Iterator[Path]:
    """What holds at each mention of access n in a formula, where `here` holds round it."""
    if e is None or n not in e.elements:
        return
    match e:
        case Element():
            yield here
        case Select(c, x, y):
            yield from (*paths(c, n, here), *paths(x, n, here | path(c)), *paths(y, n, here | path(c, False)))
        case Binary("and" | "or", first, second):
            yield from (*paths(first, n, here), *paths(second, n, here | path(first, e.operator == "and")))
        case _:
            for x in e.parts():
                yield from paths(x, n, here)


def path(e: E | None, holds: bool = True) -> Path:
    """A condition's parts that hold if it does, or if it does not."""
    match e:
        case None:
            return frozenset()
        case Unary("not", operand):
            return path(operand, not holds)
        case Binary("and" | "or", left, right) if holds == (e.operator == "and"):
            return path(left, holds) | path(right, holds)
        case _:
            return frozenset({(e, holds)})


def fewest(found: list[Path]) -> list[Path]:
    """The same in fewer words: `a or a and b` is `a`, and so is `a and b or a and not b`."""
    found = [*dict.fromkeys(found)]
    for a, b in combinations(found, 2):
        if a <= b or b <= a:
            return fewest([p for p in found if p != max(a, b, key=len)])
        if len({e for e, _ in a ^ b}) == 1 and len(a ^ b) == 2:
            return fewest([a & b, *(p for p in found if p not in (a, b))])
    return found


def formula(found: list[Path]) -> E | None:
    """None: always."""
    if not all(found):
        return None
    ordered = [sorted(p, key=lambda x: (len([*walk(x[0])]), str(x[0]))) for p in found]
    return joined_by("or", [conj(*[e if said else Unary("not", e) for e, said in p]) or TRUE for p in ordered])


def elements(*formulas: E | None) -> set[int]:
    return {n for e in formulas if e is not None for n in e.elements}
