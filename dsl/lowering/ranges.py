"""What every index of a statement runs over.

An index runs over the axis in which it stands alone: on the left, or in any access on the right; a binder
may say it instead (`max[*k < kernel_size]`).  Compound indices never define a range."""

from __future__ import annotations

from ..ir.axes import Axis
from ..ir.builders import add, integer, sub
from ..ir.expression import Constant, E, Index, Inside, Pack, Random, Read, Reduce, Symbol, show, walk
from ..ir.program import Loop
from ..text.syntax import Binder, X
from ..text.vocabulary import names_in, nodes_in
from .context import Context, Mistake
from .scalar_formulas import part

MOST = 1 << 24  # points that a number in a definition may let an index run over


class Ranges:
    """`op` is the lowering of one op."""

    def __init__(self, op):
        self.op = op
        self.loose: set = set()  # places of accesses with `??`: an index may leave those

    def alone(self, e: X | None, name: str, found: list, bound: frozenset = frozenset()):
        """Collects (tensor, item, span) of every access in which `name` stands alone."""
        if e is None:
            return
        if e.kind == "reduce":
            _, binders, where = e.val
            inner = bound | {b.name for b in binders}
            self.alone(where, name, found, inner)
            self.alone(e.args[0], name, found, inner)
            return
        if e.kind == "read":
            base = e.args[0]
            t = self.op.tensor(str(base.val) if base.kind == "name" else part(base))
            picks = any(n.kind == "read" for x in e.args[1:] for n in nodes_in(x))
            for item, x in zip(self.op.items.get(t, ()), e.args[1:]):
                bare = x.args[0] if x.kind == "spread" else x
                if bare.kind == "name" and bare.val == name and name not in bound:
                    found.append((t, item, x.span))
                if x.kind == "spread" and picks:
                    self.loose.add(x.span)  # beside indices that another tensor gives
        if e.kind == "??" and e.args[0].kind == "read" and e.args[0].args[0].val not in self.op.optional:
            self.loose |= {x.span for x in e.args[0].args[1:]}
        for a in e.args:
            self.alone(a, name, found, bound)

    def anywhere(self, name: str, found: list):
        """The other statements of the op, too: an index has one range in all of it."""
        if found:
            return
        for a in self.op.op.body:
            for item, x in zip(self.op.items.get(a.name, ()), a.index or ()):
                bare = x.args[0] if x.kind == "spread" else x
                if bare.kind == "name" and bare.val == name:
                    found.append((a.name, item, x.span))
            self.alone(a.value, name, found)

    def of(
        self,
        name: str,
        is_pack: bool,
        sources: list,
        span,
        high: X | None = None,
        context: Context | None = None,
        body: tuple[X, ...] = (),
    ):
        """The meaning of an index: ("one", Loop), ("pack", Loop) or ("fixed", [Loop, ...]).

        sources: items where it stands alone, in order of preference."""
        if high is not None:
            return self.bounded(name, is_pack, high, context or Context(), body)
        for _t, item, _at in sorted(sources, key=lambda s: s[2] in self.loose):
            if is_pack != (item.kind != "one"):
                continue
            if item.kind == "pack":
                return "pack", Loop(name, pack=item.axes[0].pack)
            loops = [Loop(f"{name}{j}" if item.kind == "fixed" else name, a.extent) for j, a in enumerate(item.axes)]
            if item.kind == "one":
                self.same(name, sources)
            return (item.kind, loops) if item.kind == "fixed" else ("one", loops[0])
        inside = [x.span for e in body for x in indices_in(e) if any(n.val == name for n in names_in(x))]
        raise Mistake(
            "range",
            f"the range of `{name}` is unknown",
            span,
            "it never stands alone in an axis",
            notes=tuple((at, "used only inside this") for at in inside[:1]),
            help=(f"give it one:  {'*' if is_pack else ''}{name} < ...",),
        )

    def bounded(self, name: str, is_pack: bool, high: X, c: Context, body):
        if not is_pack:
            return "one", Loop(name, self.length(name, self.op.formulas.lower(high, c), high))
        if high.kind == "name" and self.op.is_pack(high.val):
            return "pack", Loop(name, pack=high.val)
        r = self.op.patterns.rank_in(high) or next((n for e in body if (n := self.rank_used(name, e))), None)
        if r is None:
            raise Mistake("range", f"how many axes `*{name}` has is unknown", high.span)
        return "fixed", [
            Loop(f"{name}{j}", self.length(name, self.op.formulas.lower(high, c.at(j)), high)) for j in range(r)
        ]

    def length(self, name: str, e: E, x: X) -> E:
        """e, if a call's sizes and options alone decide it."""
        if isinstance(e, Constant) and e.kind == "f":
            if e.value != int(e.value):
                raise Mistake("range", f"how far `{name}` runs is no whole number", x.span)
            e = integer(int(e.value))
        if isinstance(e, Constant) and e.value > MOST:
            raise Mistake(
                "range",
                f"`{name}` runs over {e.value} points for each element",
                x.span,
                f"more than {MOST} cannot be meant",
            )
        if all(not isinstance(n, (Index, Pack, Read, Random, Reduce, Inside)) for n in walk(e)):
            return e
        raise Mistake(
            "range",
            f"how far `{name}` runs depends on another index",
            x.span,
            "this must be known before any element is",
            help=(f"let it run further, and choose:  {name} < ... if {name} < {show(e)}",),
        )

    def rank_used(self, name: str, e: X) -> int | None:
        """The rank of the pack in whose place an index takes part."""
        if e.kind == "read" and e.args[0].kind == "name":
            for item, x in zip(self.op.items.get(self.op.tensor(e.args[0].val), ()), e.args[1:]):
                if item.kind == "fixed" and any(n.val == name for n in names_in(x)):
                    return len(item.axes)
        return next((n for a in e.args if (n := self.rank_used(name, a))), None)

    def same(self, name: str, sources: list):
        """One index has one range: two axes of different named sizes cannot share it."""
        seen: tuple[Axis, str, tuple] | None = None
        for t, item, at in sources:
            if item.kind != "one" or not isinstance(item.axes[0].extent, Symbol) or at in self.loose:
                continue
            a = item.axes[0]
            if seen is None:
                seen = (a, t, at)
            elif seen[0].extent != a.extent and self.op.sizes_differ(seen[0].extent, a.extent):
                raise Mistake(
                    "size",
                    f"`{name}` runs over two different sizes",
                    at,
                    f"{t} has {a.extent} here",
                    notes=((seen[2], f"{seen[1]} has {seen[0].extent} here"),),
                    help=("swap the indices, or give both axes the same name",),
                )

    def binder(self, b: Binder, body: list[X], c: Context):
        """-> (meaning, the shift that a range `a .. b` adds or None)."""
        sources: list = []
        for e in body:
            self.alone(e, b.name, sources)
        self.anywhere(b.name, sources)
        if b.low is None:
            return self.of(b.name, b.pack, sources, b.span, b.high, c, tuple(body)), None
        low, high = self.op.formulas.lower(b.low, c), self.op.formulas.lower(b.high, c)
        return ("one", Loop(b.name, self.length(b.name, sub(high, low), b.high))), low


def indices_in(e: X):
    """The indices of all accesses in e."""
    if e.kind == "read":
        yield from e.args[1:]
    for a in e.args:
        yield from indices_in(a)


def loops_of(meaning) -> list[Loop]:
    return meaning[1] if meaning[0] == "fixed" else [meaning[1]]


def shifted(name: str, low: E) -> E:
    return add(Index(name), low)
