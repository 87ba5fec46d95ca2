"""Calls that a formula has several times, computed once.

Derivatives of quotients and roots repeat them at every depth.  Drivers put the text of a function in the place of each
call before they look for what is the same, so that a formula with forty of them takes minutes to compile."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.nodes import Apply, Local, Node, children, label, of_operands
from .printed import printed

# Functions that cost no more than a variable.
PLAIN = ["abs", "min", "max"]


@dataclass
class Common:
    """lines: variables for what a formula has several times; formula: it by them."""

    lines: list[str]
    formula: Node


@dataclass
class Formula:
    """The different nodes of a formula, operands first and the whole last, each with the places of its operands in
    this list; `numbers` has their places by what they say, `variables` the names of those that a variable holds."""

    nodes: list[Node]
    operands: list[list[int]]
    variables: list[str]
    numbers: dict[str, int]


def common(formula: Node, name: str) -> Common:
    """A formula with its repeated calls in variables, whose names start with `name`."""
    if calls_in(formula) < 2:
        return Common([], formula)
    parts = Formula([], [], [], {})
    whole = add(formula, parts)
    lines: list[str] = []
    call = smallest_repeated(parts)
    while call is not None:
        variable = f"{name}_{len(lines)}"
        lines.append(f"let {variable} = {printed(by_variables(call, parts))};")
        parts.variables[call] = variable
        call = smallest_repeated(parts)
    return Common(lines, by_variables(whole, parts) if lines else formula)


def calls_in(e: Node) -> int:
    own = 1 if isinstance(e, Apply) and e.name not in PLAIN else 0
    return own + sum(calls_in(child) for child in children(e))


def add(e: Node, parts: Formula) -> int:
    """The place of a node among the parts, which it joins with all below it unless it is there."""
    operands = [add(child, parts) for child in children(e)]
    key = label(e)
    for n in operands:
        key = f"{key} {n}"
    if key not in parts.numbers:
        parts.numbers[key] = len(parts.nodes)
        parts.nodes.append(e)
        parts.operands.append(operands)
        parts.variables.append("")
    return parts.numbers[key]


def smallest_repeated(parts: Formula) -> int | None:
    """The call of the fewest nodes that a formula, written by its variables, has more than once; the first of several.

    What it consists of stands in it alone (it would be smaller), so that one choice leaves the others as they are."""
    sizes: list[int] = []
    for n in range(len(parts.nodes)):
        size = 1
        if parts.variables[n] == "":
            for operand in parts.operands[n]:
                size += sizes[operand]
        sizes.append(size)
    times = [0 for _ in parts.nodes]
    times[len(times) - 1] = 1
    best: int | None = None
    for n in range(len(parts.nodes) - 1, -1, -1):
        if parts.variables[n] != "":
            continue
        for operand in parts.operands[n]:
            times[operand] += times[n]
        e = parts.nodes[n]
        if times[n] < 2 or not isinstance(e, Apply) or e.name in PLAIN:
            continue
        if best is None or sizes[n] <= sizes[best]:
            best = n
    return best


def by_variables(n: int, parts: Formula) -> Node:
    """The node of a place, with a variable for each part that has one."""
    if parts.variables[n] != "":
        return Local(parts.variables[n])
    return of_operands(parts.nodes[n], [by_variables(operand, parts) for operand in parts.operands[n]])
