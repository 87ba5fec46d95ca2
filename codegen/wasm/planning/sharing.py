"""Which points of a kernel threads share out: a part of one outer line, or of the rows or columns of a contraction in
tiles, is computed as it is among all others, so that results do not depend on how many threads there are."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Access, Code, Step
from ...data.nodes import Apply, Random, nodes_of
from ...planner.contract import Product
from ...planner.lines import Line, points

TURN = 16  # points of the last line that are computed together: a part begins at a multiple of it
MANY = 16  # points of a line are enough for several threads
SHARES = 4  # parts for each thread, so that a slow one holds up nobody for long
CALL = 8  # what a function costs, in instructions


@dataclass
class Sharing:
    """line: the outer line that is shared out, or -1; side: "rows" or "columns" of a contraction in tiles,
    or "".  points: how many there are; grain: what a part is a multiple of; work: about as many instructions; shares:
    how many parts a thread may have, each of which of a contraction computes the panels of the other side anew."""

    line: int
    side: str
    points: int
    grain: int
    work: int
    shares: int


def sharing_of(
    shape: str,
    steps: list[Step],
    accesses: list[Access],
    code: Code,
    used: list[int],
    outer: list[Line],
    reduce: list[Line],
    product: Product | None,
    lanes: int,
) -> Sharing | None:
    """None where points depend on one another.  lanes: how many of them an instruction computes."""
    if shape == "scatter" or any(step.mode != "=" for step in steps):
        return None
    targets = [step.target for step in steps if step.target >= 0 and step.target in used]
    for n in used:
        for target in targets:
            if (
                n != target
                and accesses[n].slot == accesses[target].slot
                and not together(code, outer, reduce, n, target)
            ):
                return None
    for target in targets:
        if any(e is not None for e in code.accesses[target].index):
            return None
    work = points(outer) * points(reduce) * cost(code) // lanes
    if product is not None:
        batch = len(product.batch)
        if batch > 0 and outer[0].size >= MANY // 2 and is_apart(targets, [outer[0]]):
            return Sharing(0, "", outer[0].size, 1, work, SHARES)
        rows = points(product.rows)
        columns = points(product.columns)
        tall = rows >= columns
        if not is_apart(targets, product.rows if tall else product.columns):
            return None
        return Sharing(-1, "rows" if tall else "columns", max(rows, columns), TURN, work, 1)
    best = -1
    for d in range(len(outer)):
        better = best < 0 or outer[best].size < MANY and outer[d].size > outer[best].size
        if better and is_apart(targets, [outer[d]]):
            best = d
    if best < 0 or outer[best].size < 2:
        return None
    return Sharing(best, "", outer[best].size, TURN if best == len(outer) - 1 else 1, work, SHARES)


def together(code: Code, outer: list[Line], reduce: list[Line], a: int, b: int) -> bool:
    """Whether two accesses are at one element, at every point."""
    if any(e is not None for e in code.accesses[a].index):
        return False
    return all(line.strides[a] == line.strides[b] for line in outer + reduce)


def is_apart(targets: list[int], lines: list[Line]) -> bool:
    """Whether what is stored at different points of some lines are different elements."""
    return all(line.strides[n] != 0 for line in lines for n in targets)


def cost(code: Code) -> int:
    """Instructions at a point, about."""
    out = 0
    for step in code.steps:
        for e in nodes_of(step.body):
            out += CALL if isinstance(e, (Apply, Random)) else 1
    return out
