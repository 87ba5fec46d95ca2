"""The kernel of a body: its statements on tensors that lie in row-major order, each at its address."""

from __future__ import annotations

from ..data.dtypes import number_kind
from ..data.nodes import Constant, Element, Index, Item, Node, Uniform
from ..data.statements import Procedure, read_procedure
from .elements import Elements
from .planning.kernel_plan import BYTES, kind_of
from .printer import Printer
from .scalars.terms import Term, value_of
from .statements import Statements
from .stores import Stores, store_of

LARGEST = 1 << 20  # bytes that an instruction adds to an address by itself


class Body:
    """The statements of a body in the printer of its kernel.  slots: of tensors, by what formulas call their addresses,
    which is no name that an option can have."""

    def __init__(self, p: Printer, procedure: Procedure):
        self.p = p
        self.kinds = procedure.kinds
        self.elements = Elements(p)
        self.stores = Stores(p, self.elements)
        self.slots: dict[str, int] = {}
        self.s = Statements(p.w, p.terms, procedure)
        self.s.other = lambda t: self.leaf(t)
        self.s.store = lambda place, value, kept: self.store(place, value, kept)
        p.terms.leaf = lambda e: self.kind_of(e)
        p.terms.address = lambda access, place: self.address(access, place)

    def kind_of(self, e: Node) -> str:
        match e:
            case Index(loop=name):
                return self.kinds.get(name, "i")
            case Item(access=access):
                return kind_of(self.p.k, Element(access))
            case Uniform(name=name) if name in self.slots:
                return "i"
            case _:
                return kind_of(self.p.k, e)

    def leaf(self, t: Term) -> None:
        match t.e:
            case Uniform(name=name) if name in self.slots:
                self.p.get(self.p.parameter(f"at{self.slots[name]}"))
            case Uniform(name=name):
                self.p.get(self.p.uniform(name))
            case Item(access=access):
                self.p.w.push(t.parts[0])
                self.elements.load_one(access, t.kind, added(t))
            case _:
                raise ValueError(f"{t.said} is not known here")

    def address(self, access: int, place: Term) -> list[Term]:
        """Where an element lies: what changes in the innermost loop comes last, so that the rest is computed before
        it.  The second is a number that the instruction adds."""
        size = BYTES[self.p.k.types[access]]
        offset = 0
        moving: list[Term] = []
        for t in summands(place):
            known = value_of(t)
            if known is None:
                moving.append(self.scaled(t, size))
            else:
                offset += int(known) * size
        slot = self.p.k.kernel.accesses[access].slot
        name = f"address of {slot}"
        self.slots[name] = slot
        out = self.s.of(Uniform(name))
        if offset < 0 or offset > LARGEST:
            moving.append(self.s.of(Constant("i", offset)))
            offset = 0
        for level in range(len(self.s.changing) + 1):
            for t in moving:
                if self.s.level(t) == level:
                    out = self.p.terms.binary("+", [out, t])
        return [out, self.s.of(Constant("i", offset))]

    def scaled(self, t: Term, size: int) -> Term:
        """A number of elements in bytes."""
        if size == 1:
            return t
        by = self.s.of(Constant("i", size))
        if t.said != "*":
            return self.p.terms.binary("*", [t, by])
        a = t.parts[0]
        b = t.parts[1]
        if self.s.level(a) < self.s.level(b):
            return self.p.terms.binary("*", [b, self.scaled(a, size)])
        return self.p.terms.binary("*", [a, self.scaled(b, size)])

    def store(self, place: Term, value: Term, kept: int) -> None:
        match place.e:
            case Item(access=access):
                stored = self.p.k.types[access]
                self.p.w.push(place.parts[0])
                self.s.given(place, value, kept)
                self.stores.as_stored(stored, place.kind)
                self.p.w.emit(store_of(stored), 0, added(place))


def added(t: Term) -> int:
    """What an element's instruction adds to its address."""
    known = value_of(t.parts[1])
    return 0 if known is None else int(known)


def summands(t: Term) -> list[Term]:
    return [*summands(t.parts[0]), *summands(t.parts[1])] if t.said == "+" else [t]


def write_body(p: Printer) -> None:
    """The function of a kernel that has a body."""
    raw = p.k.kernel.raw
    if raw is None:
        return
    found = read_procedure(raw.steps)
    own = number_kind(p.k.call.dtype if raw.dtype == "T" else raw.dtype)
    kinds = {name: own if found.kinds[name] == "T" else found.kinds[name] for name in found.kinds}
    p.terms.dtype = "float64"  # functions to the last digit
    Body(p, Procedure([], kinds, found.statements)).s.write(found.statements)
    p.finish()
