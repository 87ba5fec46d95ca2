"""What an assignment is: a call of an op that says its axes, a scatter, a share of a name's elements."""

from __future__ import annotations

from ..lowering.inline import called, given_by, says_axes
from ..text.syntax import Assign, Op, X
from ..text.vocabulary import nodes_in
from .scope import Vocabulary


def callee(a: Assign, vocabulary: Vocabulary) -> Op | None:
    """The op that an assignment calls, and nothing else."""
    return called(a.value, vocabulary.ops, vocabulary.defs) if a.index is None else None


def placed(a: Assign, vocabulary: Vocabulary) -> Op | None:
    """The op that an assignment calls whose tensors say their axes."""
    op = callee(a, vocabulary)
    return op if op is not None and says_axes(op) else None


def results(a: Assign, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The names of the results that an assignment gets from a call, where there are several."""
    op = callee(a, vocabulary)
    own, changed = ((), ()) if op is None else given_by(op)
    return (own or changed) if len(own or changed) > 1 else ()


def uses(a: Assign, name: str) -> bool:
    return any(n.kind == "name" and n.val == name for e in (a.value, *(a.index or ())) for n in nodes_in(e))


def axis_text(i: X) -> str:
    """What an index on the left says of its axis: `*b` a pack."""
    return f"*{i.args[0].val}" if i.kind == "spread" else str(i.val) if i.kind in ("name", "num") else "an axis"


def apart(a: Assign, body: tuple[Assign, ...]) -> bool:
    """Whether the assignments of a name share its elements out: two of them have different numbers in one axis."""
    return all(
        b is a
        or b.name != a.name
        or b.mode != "="
        or a.index is not None
        and b.index is not None
        and any(i.kind == j.kind == "num" and i.val != j.val for i, j in zip(a.index, b.index))
        for b in body
    )


def scattered(a) -> bool:
    """Whether an assignment writes at indices that are read from a tensor: not to all elements."""
    return any(n.kind == "read" for i in a.index or () for n in nodes_in(i))


def results_of(op: Op) -> int:
    """How many results an op has: none where it only changes its arguments."""
    if any(p.mut for p in op.params) and all(o.type is None for o in op.outputs):
        return len({o.name for o in op.outputs} & {a.name for a in op.body})
    return len(op.outputs)
