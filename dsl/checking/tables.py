"""Tables: `w = [0.25, 0.5, 0.25]`, or rows in rows, `w = [[0, 1], [1, 0]]`, in a line of its own.

Such a line is made an intermediate in index notation here, in the syntax tree before anything is checked: an axis for
each depth of brackets, as long as its lists, and a choice among the elements by halves, so that finding one of n takes
log n comparisons.  What follows (ranges, bounds, gradients by elements that are formulas, fusion into what reads it) is
what holds for any intermediate; kernels hold the numbers in their text, and no memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..text.diagnostics import Error
from ..text.syntax import Assign, Binder, Def, Op, Span, X
from ..text.vocabulary import nodes_in

MOST = 64  # elements: each read of a table stands in a kernel as a choice among them all


class Refused(Exception):
    """A list that is no table."""

    def __init__(self, code: str, message: str, span: Span, label: str = "", help: tuple[str, ...] = ()):
        super().__init__(message)
        self.error = Error(code, message, span, label, help=help)


def with_tables(items: list, errors: list[Error]) -> tuple[list, list[Error]]:
    """The items of a file with their tables as choices, and its errors: a definition with a list that is no table is
    left out, with what is wrong about it."""
    made, errors = [], list(errors)
    for item in items:
        try:
            made.append(written_out(item) if isinstance(item, (Op, Def)) else item)
        except Refused as e:
            errors.append(e.error)
    return made, errors


def written_out(item: Op | Def) -> Op | Def:
    if not any(is_table(a) for a in item.body):
        return item
    taken = {str(n.val) for a in item.body for e in (a.value, *(a.index or ())) for n in nodes_in(e)}
    taken |= {a.name for a in item.body}
    return replace(item, body=tuple(table(a, taken) if is_table(a) else a for a in item.body))


def is_table(a: Assign) -> bool:
    return a.index is None and a.mode == "=" and a.value.kind == "list"


def table(a: Assign, taken: set[str]) -> Assign:
    """The statement that a table is.  taken: names that mean something there.  Raises Refused."""
    lengths = shape(a.value, a.name)
    indices = [X("name", (), name, a.value.span) for name in fresh(a.name, len(lengths), taken)]
    extents = tuple(
        Binder(str(i.val), False, None, X("num", (), n, a.value.span), a.value.span) for i, n in zip(indices, lengths)
    )
    return replace(a, index=tuple(indices), value=element(a.value, indices), extents=extents)


def shape(e: X, name: str) -> list[int]:
    """The lengths of a table's axes, from the outermost.  Raises Refused."""
    count = sum(1 for _ in leaves(e))
    if count > MOST:
        raise Refused(
            "size",
            f"the table `{name}` has {count} elements; it may have {MOST}",
            e.span,
            "kernels hold them in their text",
            ("larger ones are a tensor that the caller gives",),
        )
    return lengths(e)


def lengths(e: X) -> list[int]:
    if e.kind != "list":
        return []
    if not e.args:
        raise Refused("size", "an empty list is no table", e.span, "write its elements")
    first, *others = [(x, lengths(x)) for x in e.args]
    for x, found in others:
        if found != first[1]:
            raise Refused(
                "size",
                "the rows of a table have different lengths",
                x.span,
                f"this is {described(found)}, and the first one {described(first[1])}",
            )
    return [len(e.args), *first[1]]


def described(found: list[int]) -> str:
    return f"a list of {' by '.join(map(str, found))}" if found else "no list"


def leaves(e: X) -> Iterator[X]:
    if e.kind != "list":
        yield e
    for x in e.args if e.kind == "list" else ():
        yield from leaves(x)


def element(e: X, indices: list[X]) -> X:
    """The element at these indices."""
    if not indices:
        return e
    return choice([element(x, indices[1:]) for x in e.args], indices[0], 0)


def choice(among: list[X], index: X, first: int) -> X:
    """The one of `among` at `index`, where the first of them stands at `first`."""
    if len(among) == 1:
        return among[0]
    half = len(among) // 2
    span = among[0].span
    below = X("<", (index, X("num", (), first + half, span)), span=span)
    return X("if", (below, choice(among[:half], index, first), choice(among[half:], index, first + half)), span=span)


def fresh(name: str, count: int, taken: set[str]) -> list[str]:
    """Names for a table's indices."""
    word = "at"
    while any(f"{name}_{word}{n}" in taken for n in range(count)):
        word += "t"
    return [f"{name}_{word}{n}" for n in range(count)]
