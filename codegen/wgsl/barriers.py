"""Where threads of a group wait for each other: found from what the steps of a launch (dsl/ir/steps.py) read and store.

What one thread stores another may read, or store again, after the next barrier only.  WGSL wants proof that all
threads come to a barrier: a condition that elements decide has to be agreed on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsl.ir import expression as ir
from dsl.ir.expression import E
from dsl.ir.steps import Break, For, If, Set, Step, names_in, read_by, stored_by


@dataclass(frozen=True)
class Barrier:
    """All threads of the group wait for each other here."""


# Statements in which barriers stand, also inside of loops and choices.
Steps = tuple[Any, ...]


@dataclass(frozen=True)
class Pending:
    """The tensors that threads have read, and stored to, since the last barrier."""

    read: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()

    def with_(self, read: set[str], stored: set[str]) -> Pending:
        return Pending(self.read | read, self.stored | stored)

    def waits(self, read: set[str], stored: set[str]) -> bool:
        """Whether what comes must wait for what was."""
        return bool(self.stored & (read | stored)) or bool(self.read & stored)


@dataclass
class Barriers:
    """Puts barriers into the steps of a launch.  changing: the tensors that it stores to.  even: names whose values all
    threads are known to share: places, the number of the launch, and what is made of these.  agreed: the statements
    whose conditions decide who comes to a barrier although elements decide them, by identity; kept: the same."""

    changing: set[str]
    even: set[str]
    agreed: set[int] = field(default_factory=set)
    kept: list[If | For] = field(default_factory=list)

    def agree(self, s: If | For) -> None:
        self.agreed.add(id(s))
        self.kept.append(s)

    def touched(self, steps: Steps) -> tuple[set[str], set[str]]:
        real = tuple(s for s in steps if not isinstance(s, Barrier))
        return read_by(real) & self.changing, stored_by(real)

    def block(self, steps: tuple[Step, ...], before: Pending) -> tuple[Steps, Pending]:
        out: list[Any] = []
        for s in steps:
            if isinstance(s, Set):
                self.learn(s)
            read, stored = self.touched((s,))
            if before.waits(read, stored):
                out.append(Barrier())
                before = Pending()
            match s:
                case For(shared=False):
                    s, before = self.loop(s, before)
                case If():
                    at = {r.tensor for r in s.condition.reads} & self.changing
                    s, before = self.branch(s, before.with_(at, set()))
                case _:
                    before = before.with_(read, stored)
            out.append(s)
        return tuple(out), before

    def branch(self, s: If, before: Pending) -> tuple[If, Pending]:
        yes, after = self.block(s.yes, before)
        no, other = self.block(s.no, before)
        made = If(s.condition, yes, no)
        if has_barrier((made,)) and not self.is_even(s.condition):
            self.agree(made)
        return made, after.with_(set(other.read), set(other.stored))

    def loop(self, s: For, before: Pending) -> tuple[For, Pending]:
        """A loop's first statements come after its last ones, too."""
        if all(map(self.is_even, (s.ranges[0].low, s.ranges[0].high))):
            self.even.add(s.ranges[0].name)
        asked = set() if s.condition is None else {r.tensor for r in s.condition.reads} & self.changing
        start = before.with_(asked, set())
        while True:
            body, after = self.block(s.body, start)
            if after.waits(asked, set()):
                body, after = (*body, Barrier()), Pending()
            again = start.with_(set(after.read), set(after.stored))
            if again == start:
                break
            start = again
        made = For(s.ranges, s.condition, body)
        if has_barrier(body):
            asks = (s.ranges[0].low, s.ranges[0].high, *(() if s.condition is None else (s.condition,)))
            if not all(map(self.is_even, asks)):
                self.agree(made)
            for leaving in leaves(body):
                if not self.is_even(leaving.condition):
                    self.agree(leaving)
        return made, start

    def learn(self, s: Set) -> None:
        for t, v in zip(s.targets, s.values):
            if isinstance(t, ir.Local):
                (self.even.add if s.declares and self.is_even(v) else self.even.discard)(t.name)

    def is_even(self, e: E) -> bool:
        return not e.reads and names_in(e) <= self.even


def leaves(steps: Steps) -> list[If]:
    """The conditions under which the loop that stands around these ends."""
    inner = [(s, [*leaves(s.yes), *leaves(s.no)]) for s in steps if isinstance(s, If)]
    return [
        x
        for s, found in inner
        for x in ([s, *found] if found or any(isinstance(x, Break) for x in (*s.yes, *s.no)) else found)
    ]


def has_barrier(steps: Steps) -> bool:
    return any(isinstance(s, Barrier) for s in every_with(steps))


def every_with(steps: Steps) -> Iterator[Any]:
    for s in steps:
        yield s
        if isinstance(s, For):
            yield from every_with(s.body)
        elif isinstance(s, If):
            yield from every_with((*s.yes, *s.no))
