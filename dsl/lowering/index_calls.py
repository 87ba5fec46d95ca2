"""Calls in index notation, `out[n, c] = relu(x[n, c])`: the argument is a tensor over the indices that it uses, the op
is called over all of it, and the formula reads one element of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..text.syntax import Assign, Binder, Def, Op, Span, X
from ..text.vocabulary import REDUCERS, names_in, nodes_in


@dataclass(frozen=True)
class Index:
    """pack: whether it stands for several axes.  high: how far it runs, where the assignment or the reduction says so.
    moved: whether it begins elsewhere than at 0."""

    pack: bool = False
    high: X | None = None
    moved: bool = False


Indices = dict[str, Index]  # those that a formula may use, outermost first


def on_the_left(a: Assign, op: Op) -> Indices:
    """The indices that an assignment runs over."""
    declared = next((o.type.dims for o in op.outputs if o.name == a.name and o.type is not None), None)
    dims = declared if declared is not None and a.mode == "=" and len(declared) == len(a.index or ()) else ()
    others = {x.name for x in (*op.params, *op.outputs, *op.sizes)}
    packs = {n.args[0].val for i in a.index or () for n in nodes_in(i) if n.kind == "spread"}
    found: Indices = {}
    for at, i in enumerate(a.index or ()):
        for n in names_in(i):
            told = next((b.high for b in a.extents if b.name == n.val), None)
            if told is None and i is n and dims and dims[at].kind == "size":
                told = dims[at].expr
            if n.val not in others and not n.val[:1].isupper():
                found.setdefault(n.val, Index(n.val in packs, told))
    return found


def inside(e: X, around: Indices | None) -> Indices | None:
    """The indices within an expression: a reduction has its own besides.  None: not in index notation."""
    if around is None or e.kind != "reduce":
        return around
    return around | {b.name: Index(b.pack, b.high, b.low is not None) for b in e.val[1]}


def used(values: Iterable[X], around: Indices) -> list[str]:
    """The indices that expressions use of those around them, in order."""
    names = set().union(*(free(x) for x in values))
    return [n for n in around if n in names]


def free(e: X) -> set[str]:
    """The names of an expression that no reduction in it binds."""
    own = {b.name for b in e.val[1]} if e.kind == "reduce" else set()
    if e.kind != "reduce":
        return {e.val} if e.kind == "name" else set().union(*map(free, e.args))
    parts = [e.args[0], e.val[2], *(x for b in e.val[1] for x in (b.low, b.high))]
    return set().union(*(free(x) for x in parts if x is not None)) - own


def assigned(name: X, value: X, index: list[str], around: Indices) -> Assign:
    """A value gets a name: over the indices, if it uses any of them."""
    used_here = index if free(value) & {*index} else []
    own = tuple(Binder(n, around[n].pack, None, high) for n in used_here if (high := around[n].high) is not None)
    return Assign(name.val, places(used_here, around, name.span) or None, "=", value, name.span, name.span, extents=own)


def element(tensor: X, index: list[str], around: Indices) -> X:
    """The element of a tensor at these indices; the tensor itself if there are none."""
    return X("read", (tensor, *places(index, around, tensor.span)), None, tensor.span) if index else tensor


def places(index: list[str], around: Indices, span: Span) -> tuple[X, ...]:
    """Indices as they stand in brackets."""
    bare = [X("name", (), n, span) for n in index]
    return tuple(X("spread", (x,), None, span) if around[n].pack else x for n, x in zip(index, bare))


def is_elementwise(body: Iterable[Assign], called: Callable[[X], Op | Def | None]) -> bool:
    """Whether formulas compute each element from those at its own place.  called: the op or definition over tensors
    that is called."""
    assigns = list(body)
    nodes = [n for a in assigns for n in nodes_in(a.value)]
    inner = [c.body for n in nodes if n.kind == "call" and (c := called(n)) is not None]
    draws = any(n.kind == "call" and n.val == "rand" for n in nodes)
    return (
        not draws
        and not any(reduces(n) for n in nodes)
        and all(a.index is None for a in assigns)
        and all(is_elementwise(b, called) for b in inner)
    )


def reduces(n: X) -> bool:
    return n.kind == "reduce" or n.kind == "call" and n.val in REDUCERS and len(n.args) == 1
