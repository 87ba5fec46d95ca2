"""Calls that a formula has several times, computed once.

Derivatives of quotients and roots repeat them at every depth.  Drivers put the text of a function in the place of each
call before they look for what is the same, so that a formula with forty of them takes minutes to compile."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.nodes import Apply, Local, Node, children, label, mapped, same
from .printed import printed

# Functions that cost no more than a variable.
PLAIN = ["abs", "min", "max"]


@dataclass
class Common:
    """lines: variables for what a formula has several times; formula: it by them."""

    lines: list[str]
    formula: Node


@dataclass
class Counted:
    """The different nodes of a formula: their numbers by what they say, how often each stands there, and of how many it
    is made."""

    numbers: dict[str, int]
    nodes: list[Node]
    times: list[int]
    sizes: list[int]


def common(formula: Node, name: str) -> Common:
    """A formula with its repeated calls in variables, whose names start with `name`."""
    lines: list[str] = []
    call = repeated(formula)
    while call is not None:
        variable = f"{name}_{len(lines)}"
        lines.append(f"let {variable} = {printed(call)};")
        formula = without(formula, call, variable)
        call = repeated(formula)
    return Common(lines, formula)


def calls_in(e: Node) -> int:
    own = 1 if isinstance(e, Apply) and e.name not in PLAIN else 0
    return own + sum(calls_in(child) for child in children(e))


def without(e: Node, call: Apply, variable: str) -> Node:
    """A formula with a variable in each place of a call; nodes of other names are not compared."""
    if isinstance(e, Apply) and e.name == call.name and same(e, call):
        return Local(variable)
    return mapped(e, lambda child: without(child, call, variable))


def repeated(formula: Node) -> Apply | None:
    """The smallest call that a formula has more than once."""
    if calls_in(formula) < 2:
        return None
    found = Counted({}, [], [], [])
    count(formula, found)
    best: Apply | None = None
    size = 0
    for n in range(len(found.nodes)):
        e = found.nodes[n]
        if found.times[n] < 2 or not isinstance(e, Apply) or e.name in PLAIN:
            continue
        if best is None or found.sizes[n] < size:
            best = e
            size = found.sizes[n]
    return best


def count(e: Node, found: Counted) -> int:
    """Counts a node and all below it; answers its number."""
    key = label(e)
    size = 1
    for child in children(e):
        n = count(child, found)
        key = f"{key} {n}"
        size += found.sizes[n]
    if key not in found.numbers:
        found.numbers[key] = len(found.nodes)
        found.nodes.append(e)
        found.times.append(0)
        found.sizes.append(size)
    number = found.numbers[key]
    found.times[number] += 1
    return number
