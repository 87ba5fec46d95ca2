"""Where a CPU kernel reads and writes.

A position is the access's place in the current row, moved along by the loops, plus what the other
indices add.  An index that was itself read from a tensor is checked against its axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsl.ir.expression import ZERO, E, Local, indices, mapped

from ..kernels.kernel import Access, Kernel
from .expr import EQUAL, PRODUCT, TERNARY, Hole, Printer


@dataclass
class Place:
    """An access as a kernel sees it.

    array: the variable with the tensor's elements; stem: what its other variables begin with; at: the
    variable with its position.  terms: index, stride and length (names) of the axes without an
    anonymous loop.  loops: every loop it depends on, also through what its indices read."""

    number: int
    access: Access
    array: str
    stem: str
    kind: str
    at: str
    terms: tuple[tuple[E, str, str], ...]
    loops: frozenset[str]

    @property
    def checked(self) -> bool:
        """Whether reading it at a wrong moment may fail: its index comes from a tensor, and nothing guards it."""
        return self.access.guard is None and any(reads_of(i) for i, _, _ in self.terms)

    @property
    def computed(self) -> list[E]:
        """The computed indices that its guard repeats and a name makes shorter."""
        if self.access.guard is None:
            return []
        return [i for i, _, _ in self.terms if i.parts() and not reads_of(i)]

    def named(self, names: dict[E, str]) -> Place:
        """The same with names for its computed indices."""
        if not self.computed:
            return self
        return replace(
            self,
            access=replace(self.access, guard=with_names(self.access.guard, names)),
            terms=tuple((with_names(i, names), stride, length) for i, stride, length in self.terms),
        )

    def position(self, printer: Printer, at: str) -> str:
        """`inputAt + row * inputStride`."""
        parts = [at] if at else []
        for index, stride, length in self.terms:
            if index == ZERO:
                continue
            if reads_of(index):
                printer.helpers.add("within")
                parts.append(f"within({printer.number(index)}, {length}, args) * {stride}")
            else:
                parts.append(f"{printer.number(index, PRODUCT)} * {stride}")
        return " + ".join(parts) or "0"

    def read(self, printer: Printer, at: str) -> Hole:
        """The value it reads: the element, or the fallback where the guard does not hold."""
        a, element = self.access, f"{self.array}[{self.position(printer, at)}]"
        if a.guard is None:
            return Hole(f"{element} !== 0", "b", EQUAL, element) if self.kind == "b" else Hole(element, self.kind)
        fallback = printer.number(a.fallback, TERNARY) if a.fallback is not None else "0"
        text = f"{printer.truth(a.guard, TERNARY + 1)} ? {element} : {fallback}"
        if self.kind == "b":
            return Hole(f"({text}) !== 0", "b", EQUAL, f"({text})")
        kinds = {self.kind, printer.kind(a.fallback) if a.fallback is not None else self.kind}
        return Hole(text, "f" if "f" in kinds else self.kind, TERNARY)


def with_names(e: E, names: dict[E, str]) -> E:
    """An expression with names for those of its parts that have one."""
    if e in names:
        return Local(names[e])
    return mapped(e, lambda x: with_names(x, names))


def reads_of(*parts: E | None) -> list[int]:
    """The accesses whose values the expressions hold, in order; one used twice stands there twice."""
    return [n for e in parts if e is not None for n in e.elements]


def parts_of(a: Access) -> tuple[E | None, ...]:
    return (*a.index, a.guard, a.fallback)


def dependence(kernel: Kernel) -> list[frozenset[str]]:
    """For each access the loops its value depends on, also through the reads in its index."""
    out: dict[int, frozenset[str]] = {}

    def of(n: int) -> frozenset[str]:
        if n not in out:
            parts = [p for p in parts_of(kernel.accesses[n]) if p is not None]
            out[n] = frozenset().union(*map(indices, parts), *map(of, reads_of(*parts)))
        return out[n]

    return [of(n) for n in range(len(kernel.accesses))]
