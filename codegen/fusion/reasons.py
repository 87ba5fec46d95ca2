"""Why two steps of a program, one of which reads what the other stores, are launches of their own."""

from __future__ import annotations

from dataclasses import dataclass

from ..planner.lines import points
from ..planner.writer import MOST_BINDINGS
from .fuse import MOST_READERS, disturbs, open_to, read_later, worth
from .join import appended, count_of, inserted
from .pointwise import Pointwise, pointwise
from .rows import MOST_POINTS, rows_of
from .work import Item, Work


@dataclass
class Reason:
    """first, second: numbers of items.  value: what the first stores and the second reads."""

    first: int
    second: int
    value: int
    why: str


def reasons(items: list[Item], lasting: list[int], contractions: bool) -> list[Reason]:
    """For each two steps of a joined program that a value connects, why they are two.  lasting, contractions: as
    `fused` was given them."""
    out: list[Reason] = []
    for j in range(len(items)):
        for i in range(j):
            if items[i].step == items[j].step:
                continue
            shared = [v for v in items[j].reads if v in items[i].writes]
            if len(shared) > 0:
                out.append(Reason(i, j, shared[0], why_two(items, i, j, lasting, contractions)))
    return out


def why_two(items: list[Item], i: int, j: int, lasting: list[int], contractions: bool) -> str:
    first = items[i].work
    second = items[j].work
    if first is None:
        return "the first is no kernel of floats whose formulas can be put elsewhere"
    if second is None:
        return "the second is no kernel of floats that takes formulas of others"
    p = pointwise(first)
    q = pointwise(second)
    after = "" if q is None else why_not_after(items, i, j, second, q, first, lasting, contractions)
    before = "" if p is None else why_not_before(items, i, j, first, p, second, lasting, contractions)
    if after != "" and before != "":
        return after if after == before else f"{after}; {before}"
    if after != "" or before != "":
        return after + before
    if contractions and rows_of(first) is not None and any(k.shape == "contract" for k in second.kernels):
        return f"its rows would be reduced for each of the sums, which pays up to {MOST_POINTS} products"
    return "neither computes each point by itself: the second reads what many threads of the first store"


def why_not_after(
    items: list[Item], i: int, j: int, work: Work, q: Pointwise, base: Work, lasting: list[int], contractions: bool
) -> str:
    """Why a map does not run at the points where what it reads is stored."""
    if not open_to(base, contractions):
        return "products take no formulas of others on the CPU"
    between = items[i + 1 : j]
    for x in between:
        if any(v in items[j].reads for v in x.writes):
            return "the second runs after another step that stores what it reads, too"
    if any(disturbs(x, items[j]) for x in between) and any(disturbs(x, items[i]) for x in between):
        return "steps between them use what they change"
    unread = [v for v in items[i].writes if v not in lasting and not read_later(v, between + items[j + 1 :])]
    if appended(base, work, q, unread) is not None:
        return "the second came to be what it is after the first was settled"
    changes = [v for v in items[j].writes if v in items[j].reads]
    if len(changes) > 0 and any(k.shape != "map" for k in base.kernels):
        return "the second changes what it reads, which is safe among single points only"
    own = points(q.lines)
    there = most_stored(base)
    if own != there:
        return f"the second has {own} points, and the first stores {there}"
    return crowded(items[i], items[j])


def why_not_before(
    items: list[Item], i: int, j: int, work: Work, p: Pointwise, base: Work, lasting: list[int], contractions: bool
) -> str:
    """Why a map is not computed where what it stores is read."""
    mine = items[i]
    if any(v in lasting for v in mine.writes):
        return "what the first stores is needed after all steps"
    readers = [n for n in range(len(items)) if any(v in mine.writes for v in items[n].reads)]
    most = 1 if p.costly else MOST_READERS
    if len(readers) > most:
        return f"{len(readers)} steps read what the first stores, and would compute it again"
    if not open_to(base, contractions):
        return "products take no formulas of others on the CPU"
    if not worth(base, mine, p):
        return "the second reads each element often, and would compute it again each time"
    for x in items[i + 1 : j]:
        if any(v in mine.reads for v in x.writes):
            return "a step between them changes what the first reads"
    if inserted(base, work, p) is not None:
        return "the second came to be what it is after the first was settled"
    return crowded(mine, items[j])


def crowded(a: Item, b: Item) -> str:
    held: list[int] = []
    for v in a.reads + b.reads + b.writes:
        if v not in held and (v not in a.writes or v in b.writes):
            held.append(v)
    needed = len(held)
    if needed > MOST_BINDINGS:
        return f"as one they would bind {needed} tensors, where {MOST_BINDINGS} is the most"
    return "the second reads what the first stores in another order, in part, or at places that it computes"


def most_stored(work: Work) -> int:
    most = 0
    for kernel in work.kernels:
        for s in kernel.steps:
            if s.target >= 0:
                most = max(most, count_of(work.call.slots[kernel.accesses[s.target].slot]))
    return most
