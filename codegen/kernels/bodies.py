"""What the printers of bodies share: where elements lie, and which whole numbers are never negative."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from dsl.ir import expression as ir
from dsl.ir.builders import ZERO, add, is_binary, mul
from dsl.ir.expression import E, Index, Local, Read, walk
from dsl.ir.program import Body, BodyLaunch
from dsl.ir.steps import For, Set, every, is_natural

from .context import NOTHING
from .kinds import Kinds


@dataclass
class Layout:
    """The elements of one launch: offsets from the first element of a tensor, of which rows of a place begin at a base.

    natural: the locals and loops that are never negative; bases: the name of each base -> what it is."""

    body: Body
    launch: BodyLaunch
    natural: set[str] = field(default_factory=set)
    bases: dict[str, E] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tensors = {t.name: t for t in self.body.tensors}
        self.natural = self.never_negative()

    def offset(self, r: Read) -> E:
        """The number of an element in its tensor; of one with axes besides its rows, counted from where the first
        place's row begins."""
        tensor = self.tensors[r.tensor]
        terms = [reduce(mul, tensor.extents[n + 1 :], i) for n, i in enumerate(r.index)]
        if len(terms) > 1 and r.index[0] is Index(self.launch.places[0].name):
            terms[0] = Local(self.base(tensor.name, terms[0]))
        return reduce(add, terms) if terms else ZERO

    def base(self, tensor: str, e: E) -> str:
        known = next((n for n, at in self.bases.items() if at is e), None)
        name = known or f"{tensor}.at"
        self.bases[name] = e
        return name

    def is_natural(self, e: E) -> bool:
        return is_natural(e, {*self.body.natural, *self.natural, *self.bases})

    def never_negative(self) -> set[str]:
        """The largest set of names whose values are never negative if those of the set are not."""
        kinds = dict(self.launch.kinds)
        self.natural = (
            {n for n, k in kinds.items() if k == "i"} | {x.name for x in self.launch.places} | {self.launch.step}
        )
        self.natural |= {r.name for s in every(self.launch.body) if isinstance(s, For) for r in s.ranges}
        sets = [s for s in every(self.launch.body) if isinstance(s, Set)]
        values = [(t.name, v) for s in sets for t, v in zip(s.targets, s.values) if isinstance(t, Local)]
        values += [(r.name, r.low) for s in every(self.launch.body) if isinstance(s, For) for r in s.ranges]
        while wrong := {n for n, v in values if n in self.natural and not self.is_natural(v)}:
            self.natural -= wrong
        return self.natural


def settled(targets: tuple[Local | Read, ...], values: tuple[E, ...]) -> list[bool]:
    """Whether each value must be kept before the assignments begin, since one before its own changes what it reads."""

    def touched(e: E) -> set[str]:
        return {n.name if isinstance(n, Local) else n.tensor for n in walk(e) if isinstance(n, (Local, Read))}

    changed = [t.name if isinstance(t, Local) else t.tensor for t in targets]
    return [not touched(v).isdisjoint(changed[:n]) for n, v in enumerate(values)]


def assigned_again(launch: BodyLaunch) -> set[str]:
    """The locals that are assigned after they began."""
    sets = [s for s in every(launch.body) if isinstance(s, Set) and not s.declares]
    return {t.name for s in sets for t in s.targets if isinstance(t, Local)}


def changed_by(t: E, v: E) -> tuple[str, E] | None:
    """An element or a local that something is added to or subtracted from: the operator, and what."""
    return (v.operator, v.right) if is_binary(v, "+", "-") and v.left is t else None


class BodyKinds(Kinds):
    """Kinds inside a launch."""

    def __init__(self, layout: Layout) -> None:
        self.op, self.T, self.steps, self.known = NOTHING, "f", [], {}
        self.symbols = dict(layout.body.symbols)
        self.tensors = {n: t.kind for n, t in layout.tensors.items()}
        self.locals, self.elements = dict(layout.launch.kinds), []

    def found(self, e: E) -> str:
        match e:
            case ir.Read(tensor, _, _):
                return self.tensors[tensor]
            case ir.Local(name):
                return self.locals.get(name, "i")
        return super().found(e)

    def symbol(self, name: str) -> str:
        return self.symbols.get(name) or super().symbol(name)

    def join(self, args: tuple[E, ...], whole: bool = True) -> str:
        return "T" if any(self.kind(a) == "T" for a in args) else super().join(args, whole)
