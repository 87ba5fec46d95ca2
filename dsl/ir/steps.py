"""The statements of a body: what one place of a launch does, in order.

Scalars are the expressions of the loop IR: `Local` is a local, `Index` a loop or a place, and a read has one index for
each axis of its tensor, of which a leading pack is one.  A local that is assigned in two blocks that do not contain
each other is two."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from .expression import Binary, Call, Constant, E, Index, Local, Read, Select, Symbol, walk
from .rewriting import indices


@dataclass(frozen=True)
class Range:
    """name = low, low + 1, ... below high."""

    name: str
    low: E
    high: E


@dataclass(frozen=True)
class Set:
    """All values first, then all targets: locals and elements.  declares: whether the locals begin
    here."""

    targets: tuple[Local | Read, ...]
    values: tuple[E, ...]
    declares: bool = False


@dataclass(frozen=True)
class For:
    """The body for each value of the ranges, the last fastest, as long as the condition holds.  shared: the values are
    shared out among the threads of a workgroup, in no order; else there is one range."""

    ranges: tuple[Range, ...]
    condition: E | None
    body: tuple[Step, ...]
    shared: bool = False


@dataclass(frozen=True)
class If:
    condition: E
    yes: tuple[Step, ...]
    no: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Break:
    """Ends the loop that it stands in."""


Step = Set | For | If | Break


def parts(s: Step) -> tuple[tuple[Step, ...], ...]:
    """The blocks inside a statement."""
    match s:
        case For(body=body):
            return (body,)
        case If(yes=yes, no=no):
            return yes, no
    return ()


def every(steps: Iterable[Step]) -> Iterator[Step]:
    """All statements, outermost first."""
    for s in steps:
        yield s
        for block in parts(s):
            yield from every(block)


def own(s: Step) -> tuple[E, ...]:
    """The expressions of a statement itself; of an element that is assigned, its indices."""
    match s:
        case Set(targets=targets, values=values):
            return *values, *(i for t in targets for i in t.parts())
        case For(ranges=ranges, condition=condition):
            bounds = tuple(e for r in ranges for e in (r.low, r.high))
            return bounds if condition is None else (*bounds, condition)
        case If(condition=condition):
            return (condition,)
    return ()


def expressions(steps: Iterable[Step]) -> Iterator[E]:
    for s in every(steps):
        yield from own(s)


def read_by(steps: Iterable[Step]) -> set[str]:
    """The tensors of which elements are read."""
    return {r.tensor for e in expressions(steps) for r in e.reads}


def stored_by(steps: Iterable[Step]) -> set[str]:
    """The tensors of which elements are assigned."""
    return {t.tensor for s in every(steps) if isinstance(s, Set) for t in s.targets if isinstance(t, Read)}


def assigned_by(steps: Iterable[Step]) -> set[str]:
    """The locals that are assigned."""
    return {t.name for s in every(steps) if isinstance(s, Set) for t in s.targets if isinstance(t, Local)}


def names_in(e: E) -> set[str]:
    """The locals, loops and places that an expression names."""
    return {n.name for n in walk(e) if isinstance(n, Local)} | indices(e)


def is_natural(e: E, known: Container[str]) -> bool:
    """Whether a whole number is never negative, if those of these names are not."""
    match e:
        case Constant(kind, value):
            return kind != "f" and value >= 0
        case Symbol(name) | Local(name) | Index(name):
            return name in known
        case Binary("+" | "*" | "//" | "<<" | ">>" | "&", left, right):
            return is_natural(left, known) and is_natural(right, known)
        case Binary("%", _, right):
            return is_natural(right, known)
        case Select(_, yes, no) | Call("min", (yes, no)):
            return is_natural(yes, known) and is_natural(no, known)
        case Call("max", (left, right)):
            return is_natural(left, known) or is_natural(right, known)
    return False
