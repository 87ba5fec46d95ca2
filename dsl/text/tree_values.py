"""What tokens and small parts of Lark's tree become: places, numbers, texts, binders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import cleandoc

from lark import Token

from .syntax import (
    Assign,
    Binder,
    Branch,
    Count,
    Let,
    Repeat,
    Step,
    X,
)
from .vocabulary import REDUCERS, nodes_in


class Unreadable(Exception):
    """A token that the grammar allows but that cannot be read; `span` is its place."""

    def __init__(self, message: str, span):
        super().__init__(message)
        self.message, self.span = message, span


def place(meta):
    return (0, 0) if meta.empty else (meta.start_pos, meta.end_pos)


def token_place(t: Token):
    return (t.start_pos, t.end_pos)


def text(t: Token | None) -> str | None:
    return None if t is None else str(t)


def given(children) -> tuple:
    return tuple(c for c in children if c is not None)


def number(t: Token) -> int | float:
    if len(t) > 40:
        raise Unreadable("this number is too long", token_place(t))
    if t.startswith("0x"):
        value = int(t, 16)
    else:
        value = float(t) if any(c in t for c in ".eE") else int(t)
    if isinstance(value, int) and value > 2**31:
        raise Unreadable(
            f"this whole number does not fit into 32 bits; as a float it is  {float(value)!r}", token_place(t)
        )
    if value == float("inf"):
        raise Unreadable("this number is too large", token_place(t))
    return value


def quoted(t: Token) -> str:
    return cleandoc(t[3:-3]) if t.startswith('"""') else str(t[1:-1]).strip()


def run_out(index: tuple[X, ...] | None) -> tuple[tuple[X, ...] | None, tuple[Binder, ...]]:
    """The indices of a left side, and those of them that say how far they run: `i < N`, `*b < B`."""
    if index is None:
        return None, ()
    bare = [i.args[0] if i.kind == "spread" else i for i in index]
    says = [e.kind == "<" and e.args[0].kind == "name" for e in bare]
    extents = tuple(
        Binder(str(e.args[0].val), i.kind == "spread", None, e.args[1], i.span)
        for i, e, said in zip(index, bare, says)
        if said
    )
    left = lambda i, e: replace(i, args=(e.args[0],)) if i.kind == "spread" else e.args[0]
    made = tuple(left(i, e) if said else i for i, e, said in zip(index, bare, says))
    names = [(i.args[0] if i.kind == "spread" else i).val for i in made]
    twice = next((b for b in extents if names.count(b.name) > 1), None)
    if twice is not None:
        raise Unreadable(f"`{twice.name}` stands twice on the left", twice.span)
    return made, extents


def values_of(steps: tuple[Let | Repeat, ...]) -> list[X]:
    return [v for s in steps for t in (s.steps if isinstance(s, Repeat) else (s,)) for v in t.values]


def speaks_of_tensors(e: X) -> bool:
    """Whether a formula is no formula of numbers: it reads elements, reduces, or looks at a text."""
    return any(
        n.kind in ("read", "field", "reduce", "str") or n.kind == "call" and n.val in REDUCERS and len(n.args) == 1
        for n in nodes_in(e)
    )


def whole_assignment(s: Let | Repeat) -> Assign:
    """A step of a `def` over tensors."""
    if isinstance(s, Repeat):
        raise Unreadable("a loop is of numbers, but this `def` is over tensors", s.span)
    if len(s.names) > 1:
        raise Unreadable("over tensors, each name is assigned by itself", s.span)
    return Assign(s.names[0], None, "=", s.values[0], s.span, (s.span[0], s.span[0] + len(s.names[0])))


@dataclass(frozen=True)
class Head:
    """A line of a body that ends in `:`, with what stands behind it (None: nothing).  step: what it begins, None for a
    bare `else`."""

    step: Count | Branch | None
    below: tuple[Step, ...] | None
    otherwise: bool = False
    span: tuple[int, int] = (0, 0)


def below(line) -> tuple[Step, ...] | None:
    """What a line says behind the colon of another."""
    if not isinstance(line, Head):
        return line
    if line.below is None or line.otherwise:
        raise Unreadable("this belongs on a line of its own", line.span if line.otherwise else line.step.span)
    return (replace(line.step, steps=line.below),)


def bounded(b: Binder) -> Binder:
    if b.high is None:
        raise Unreadable(f"nothing says how far `{b.name}` runs", b.span)
    return b


def named(target) -> X:
    """A target as the access or the name that it is."""
    name, index = target
    x = X("name", (), str(name), token_place(name))
    return (
        x
        if index is None
        else X("read", (x, *index), None, (x.span[0], index[-1].span[1] + 1 if index else x.span[1] + 2))
    )
