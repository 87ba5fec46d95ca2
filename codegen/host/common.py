"""Calls that a formula has several times, computed once.

Derivatives of quotients and roots repeat them at every depth.  Drivers put the text of a function in the place of each
call before they look for what is the same, so that a formula with forty of them takes minutes to compile."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import Apply, Local, Node, nodes_of, replaced, same, size_of
from .printed import printed

# Functions that cost no more than a variable.
PLAIN = ["abs", "min", "max"]


@dataclass
class Common:
    """lines: variables for what a formula has several times; formula: it by them."""
    lines: list[str]
    formula: Node


def common(formula: Node, name: str) -> Common:
    """A formula with its repeated calls in variables, whose names start with `name`."""
    lines: list[str] = []
    call = repeated(formula)
    while call is not None:
        variable = f"{name}_{len(lines)}"
        lines.append(f"let {variable} = {printed(call)};")
        formula = replaced(formula, call, Local(variable))
        call = repeated(formula)
    return Common(lines, formula)


def repeated(formula: Node) -> Node | None:
    """The smallest call that a formula has more than once."""
    calls = [e for e in nodes_of(formula) if isinstance(e, Apply) and e.name not in PLAIN]
    best: Node | None = None
    least = 0
    for n in range(len(calls)):
        size = size_of(calls[n])
        if best is not None and size >= least: continue
        for m in range(n + 1, len(calls)):
            if best is calls[n] or not same(calls[n], calls[m]): continue
            best = calls[n]
            least = size
    return best
