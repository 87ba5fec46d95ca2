"""What formulas are lowered in: which loops, axes and parameters names stand for; and a user's mistake there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..ir.expression import E
from ..ir.program import Loop
from .dims import error


class Mistake(Exception):
    """A user's mistake, on its way to the list of errors."""

    def __init__(self, *args, **more):
        self.error = error(*args, **more)


@dataclass(frozen=True)
class Context:
    """loops: index name -> ("one", loop) or ("pack", loop) or ("fixed", loops).  component: which axis of the
    fixed packs is meant.  names: parameters of a `def`.  whole: axis key -> loop, in a whole-tensor formula."""

    loops: dict[str, tuple] = field(default_factory=dict)
    component: int | None = None
    names: dict[str, E] = field(default_factory=dict)
    whole: dict[tuple, Loop] | None = None

    def at(self, j: int) -> Context:
        return replace(self, component=j)

    def having(self, loops: dict[str, tuple]) -> Context:
        return replace(self, loops={**self.loops, **loops})
