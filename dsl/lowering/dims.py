"""Shape patterns: from the dims that a definition writes to those of the loop IR.

A pack of fixed rank (`*X:D`) becomes components `X0`, `X1`; one of unknown rank stays a pack.  An *item*
is what one index of an access stands for: one axis, a pack, or the components of a fixed pack."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.axes import Axis, of_dim
from ..ir.builders import integer, sym
from ..ir.expression import E
from ..ir.program import Dim
from ..text.diagnostics import Error
from ..text.syntax import Dim as DimTree
from ..text.syntax import Op, Type, X
from ..text.vocabulary import LISTS, is_tensor


@dataclass(frozen=True)
class Item:
    """kind: one pack fixed.  axes: the logical axes it covers; name: the pack's."""

    kind: str
    axes: tuple[Axis, ...]
    name: str = ""


class Patterns:
    """The packs of one op and the patterns of its tensors.

    family: the value of the family variable by its name.  `host` lowers a size formula (component j
    of packs); it is the caller's, because sizes may use options."""

    def __init__(self, op: Op, family: dict[str, int]):
        self.op, self.family, self.errors = op, family, []
        self.rank: dict[str, int | None] = {}  # pack -> rank, None: only a call knows
        self.leading: dict[str, int] = {}  # pack -> how many tensors begin with it
        self.host = None
        for p in op.params:
            for d in p.type.dims or () if is_tensor(p) else ():
                self.declare(d)
        for p in op.params:  # ints[*K] and reals[*X] have the rank of their pack
            if p.type.name in LISTS and p.type.dims:
                self.rank[p.name] = self.rank_of(p.type.dims[0])
        for s in op.sizes:
            if s.pack:
                self.rank[s.name] = self.rank_in(s.value)
        self.broadcast = self.stretching()

    def declare(self, d: DimTree):
        if d.kind == "pack":
            known = self.fixed(d.rank)
            if self.rank.get(d.name) is None:
                self.rank[d.name] = known

    def fixed(self, rank: str | None) -> int | None:
        if rank is None:
            return None
        return int(rank) if rank.isdigit() else self.family.get(rank)

    def rank_of(self, d: DimTree) -> int | None:
        """The length of an option `ints[d]`: that of a pack, or a number."""
        if d.kind == "pack":
            return self.rank.get(d.name)
        return self.length(d.expr) if d.expr is not None else None

    def length(self, e: X) -> int | None:
        """A number, or the family variable times a number or plus one."""
        if e.kind == "num":
            return e.val
        if e.kind == "name":
            return self.family.get(e.val)
        parts = [self.length(a) for a in e.args] if e.kind in ("*", "+") else []
        if len(parts) != 2 or None in parts:
            return None
        return parts[0] * parts[1] if e.kind == "*" else parts[0] + parts[1]

    def rank_in(self, e: X | None) -> int | None:
        """The rank of the fixed packs that a formula speaks of; None if there is none."""
        if e is None:
            return None
        if e.kind == "name" and self.rank.get(e.val) is not None:
            return self.rank[e.val]
        if e.kind == "call" and e.val in ("product", "rank", "numel", "nth", "fits", "same", "stretched", "ravel"):
            return None
        return next((r for a in e.args if (r := self.rank_in(a)) is not None), None)

    def stretching(self) -> set[str]:
        """Packs that broadcast: first in every tensor that has them, in at least two, none of which has a chosen axis
        or a second pack."""
        users: dict[str, list[bool]] = {}
        for p in self.op.params:
            dims = p.type.dims if is_tensor(p) else None
            alone = (
                not any(d.kind == "chosen" for d in dims or ())
                and sum(d.kind == "pack" and self.rank.get(d.name) is None for d in dims or ()) == 1
            )
            for n, d in enumerate(dims or ()):
                if d.kind == "pack":
                    users.setdefault(d.name, []).append(n == 0 and alone)
        return {name for name, first in users.items() if len(first) > 1 and all(first)}

    # --- One pattern -----------------------------------------------------------------------------

    def of(self, dims: tuple[DimTree, ...], result: bool = False) -> tuple[tuple[Dim, ...], list[Item]]:
        """The IR's dims of a pattern, and its items.  result: sizes are computed, packs have their full size."""
        out: list[Dim] = []
        items: list[Item] = []
        for d in dims:
            made, item = self.entry(d, result)
            out += made
            items += item
        return tuple(out), items

    def entry(self, d: DimTree, result: bool) -> tuple[list[Dim], list[Item]]:
        when = self.host(d.when) if getattr(d, "when", None) is not None else None
        if d.kind == "pack":
            r = self.rank.get(d.name)
            if r is None:
                made = Dim("pack", d.name, broadcast=not result and d.name in self.broadcast, when=when)
                return [made], [Item("pack", tuple(of_dim(made)), d.name)]
            made = [Dim("one", f"{d.name}{j}", sym(f"{d.name}{j}"), when=when) for j in range(r)]
            return made, [Item("fixed", tuple(a for m in made for a in of_dim(m)), d.name)]
        if d.kind == "split":
            made = Dim("split", factors=tuple(self.factor(f) for f in d.factors), when=when)
        elif d.kind == "chosen":
            inner = d.of
            if inner.kind == "split":
                made = Dim("chosen", factors=tuple(self.factor(f) for f in inner.factors), option=d.at)
            else:
                made = Dim("chosen", *self.size(inner), option=d.at)
        else:
            made = Dim("one", *self.size(d), when=when)
        return [made], [Item("one", (a,)) for a in of_dim(made)]

    def size(self, d: DimTree) -> tuple[str, E]:
        """(the name it binds or "", the length)."""
        e = self.host(d.expr)
        options = {p.name for p in self.op.params if not is_tensor(p)}
        binds = d.expr.kind == "name" and d.expr.val not in options
        return (d.expr.val if binds else ""), e

    def factor(self, f: str) -> E:
        return integer(int(f)) if f.isdigit() else sym(f)


def result_type(t: Type | None) -> str:
    """The class of a result: Num when nothing is said."""
    return t.name if t is not None and t.name else "Num"


def error(code: str, message: str, span, label: str = "", **more) -> Error:
    return Error(code, message, span, label, **more)
