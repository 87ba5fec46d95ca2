"""Checks of accesses `x[i, *b]` and of named results `g.values`: as many indices as axes, stars where packs are.

`Accesses` is the part of dsl/checking/formulas.py's `Formulas` that deals with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..text.diagnostics import did_you_mean, either
from ..text.source import Source
from ..text.syntax import Assign, Span, X
from ..text.vocabulary import FUNCTIONS, LISTS, text_of
from .scope import Scope, Thing, Vocabulary
from .shapes import KINDS


@dataclass(frozen=True)
class Place:
    """Where in a formula a node stands.

    indexed: tensors are indexed here; single, packs: the indices in reach; argument: directly an
    argument of a call, where whole tensors and lists are fine; spread: inside `*(...)`, where packs
    are used bare; positions: names that stand in an index somewhere in the formula; guarded: what is
    absent may be used, since a condition or `??` stands around it."""

    indexed: bool = False
    single: frozenset[str] = frozenset()
    packs: frozenset[str] = frozenset()
    argument: bool = False
    spread: bool = False
    index: bool = False
    positions: frozenset[str] = frozenset()
    target: Assign | None = None
    guarded: bool = False

    def bound(self, name: str) -> bool:
        return name in self.single or name in self.packs


class Accesses:
    """`visit`, `name`, `call` and `error` are those of `Formulas`."""

    scope: Scope
    source: Source
    vocabulary: Vocabulary
    things: dict[str, Thing]
    later: set[str]
    used: set[str]

    def read(self, e: X, at: Place):
        base, indices = e.args[0], e.args[1:]
        match base.kind:
            case "name":
                self.base(base, e, at)
            case "field":
                part = self.field(base, at)
                if part:
                    self.rank(part, indices, e.span, at)
            case "read":
                first, second = (
                    text_of(self.source, base.span)[:-1],
                    text_of(self.source, (base.span[1] + 1, e.span[1])),
                )
                self.error("rank", "an access has one pair of brackets", e.span, help=[f"write  {first}, {second}"])
                for i in base.args[1:]:
                    self.index(i, at)
            case "call":
                self.call(base, at)
            case _:
                self.error(
                    "rank", "only a tensor takes an index", base.span, help=["name this part on a line of its own"]
                )
        for i in indices:
            self.index(i, at)

    def base(self, base: X, e: X, at: Place):
        n = base.val
        self.used.add(n)
        thing = self.things.get(n)
        if thing is None:
            if at.bound(n):
                self.error("rank", f"`{n}` is an index, it takes none itself", base.span, name=n)
            elif n in self.later:
                self.error("name", f"`{n}` is used before it is assigned", base.span, name=n)
            else:
                tensors = [m for m, t in self.things.items() if t.kind in ("tensor", "local", "output", "gradient")]
                label = "a call has round brackets" if n in self.vocabulary.functions() else ""
                self.error("name", f"unknown tensor `{n}`", base.span, did_you_mean(n, tensors) or label, name=n)
        elif thing.kind in ("size", "pack", "rank", "name") or thing.kind == "option" and thing.type.name not in LISTS:
            self.error("rank", f"`{n}` takes no index", e.span, f"it is {KINDS[thing.kind]}", name=n)
        elif thing.kind == "tensor" and thing.axes is None:
            shape = ", ".join("MNKL"[: len(e.args) - 1])
            self.error(
                "rank",
                f"`{n}` has no axes to index",
                e.span,
                self.declared(thing),
                help=[f"give it a shape:  {n}: {thing.type.name}[{shape}]"],
                name=n,
            )
        elif thing.kind != "option":
            self.rank(thing, e.args[1:], e.span, at)
            self.present(thing, e, at)

    def rank(self, thing: Thing, indices: tuple[X, ...], span: Span, at: Place):
        """As many indices as axes, a pack for a pack and one for one; `index` sees whether the stars are right."""
        if thing.axes is None:
            return
        if len(indices) != len(thing.axes):
            self.error(
                "rank",
                f"`{thing.name}` takes {amount(len(thing.axes))}, but gets {len(indices) or 'none'}",
                span,
                self.declared(thing),
                self.assigned(thing),
            )
            return
        for i, axis in zip(indices, thing.axes):
            if axis.startswith("*") and i.kind != "spread" and i.val not in at.packs:
                self.error(
                    "rank",
                    f"`{axis}` of `{thing.name}` is a pack of axes, but gets one index",
                    i.span,
                    self.declared(thing),
                    self.assigned(thing),
                )
                return
            if i.kind == "spread" and not axis.startswith("*") and i.args[0].val not in at.single:
                self.error(
                    "rank",
                    f"`{axis}` of `{thing.name}` is one axis, but gets a pack",
                    i.span,
                    self.declared(thing),
                    self.assigned(thing),
                )
                return

    def present(self, thing: Thing, e: X, at: Place):
        """An optional argument is used only with `??` or under a condition."""
        if (
            thing.kind in ("tensor", "option")
            and thing.type
            and thing.type.optional
            and not at.guarded
            and not at.argument
            and thing.type.name != "bool"
        ):  # an absent bool is false
            self.error(
                "option",
                f"`{thing.name}` may be absent here",
                e.span,
                self.declared(thing),
                help=[f"say what it is then:  {text_of(self.source, e.span)} ?? 0"],
                name=thing.name,
            )

    def declared(self, thing: Thing) -> str:
        t = thing.type
        return f"declared as {thing.name}: {text_of(self.source, t.span)}" if t and t.span[1] else ""

    def assigned(self, thing: Thing):
        """A note on the assignment that says how many indices a part takes, if no declaration does."""
        if thing.kind == "local" or thing.kind == "output" and not thing.type:
            return [(thing.span, f"assigned with {amount(len(thing.axes))}")]
        return []

    def index(self, i: X, at: Place):
        inner = replace(at, index=True)
        if i.kind == "spread" and i.args[0].kind == "name":
            n = i.args[0]
            self.used.add(n.val)
            if n.val in at.single:
                self.error("index", f"`{n.val}` is one index, no pack", i.span, f"write `{n.val}`", name=n.val)
            elif n.val not in at.packs:
                thing = self.things.get(n.val)
                if thing is None:
                    self.name(n, replace(inner, spread=True))
                elif thing.kind not in ("pack", "option"):
                    self.error("index", f"`{n.val}` is no index", n.span, f"it is {KINDS[thing.kind]}", name=n.val)
        elif i.kind == "spread":
            self.visit(i.args[0], replace(inner, spread=True))
        elif i.kind == "name" and i.val in at.packs and not at.spread:
            self.used.add(i.val)
            self.error("index", f"`{i.val}` is a pack of indices", i.span, f"write `*{i.val}`", name=i.val)
        else:
            self.visit(i, replace(inner, spread=False))

    def field(self, e: X, at: Place) -> Thing | None:
        """`g.values`, `max(x, 0).indices`; the part of a gradient as a thing that takes indices."""
        base = e.args[0]
        where = (e.span[1] - len(e.val), e.span[1])
        thing = self.things.get(base.val) if base.kind == "name" else None
        if thing and thing.parts:
            self.used.add(base.val)
            if e.val in thing.parts and thing.kind == "local":
                return Thing("local", f"{base.val}.{e.val}", thing.span)
            if e.val in thing.parts:
                output = self.things.get(e.val)
                return Thing(
                    "gradient", f"g.{e.val}", e.span, output.type if output else None, output.axes if output else None
                )
            self.error(
                "name",
                f"{'this op' if thing.kind == 'gradient' else f'`{base.val}`'} has no result `{e.val}`",
                where,
                did_you_mean(e.val, thing.parts) or "it has " + either(f"`{p}`" for p in thing.parts),
            )
        elif (
            base.kind == "call"
            and (op := self.vocabulary.ops.get(base.val))
            and (base.val not in FUNCTIONS or op.outputs[1:])
        ):
            self.call(base, at)
            check_field(self, e, where)
        else:
            self.visit(base, replace(at, argument=True))
            self.error(
                "name",
                f"`{text_of(self.source, base.span)}` has no parts",
                where,
                "",
                help=["only the results of an op with several have names:  max(x, 0).values"],
            )
        return None


def check_field(walk, e: X, where: Span):
    """Whether the op called has the result that is named; `walk` has `vocabulary` and `error(...)`."""
    outputs = [o.name for o in walk.vocabulary.ops[e.args[0].val].outputs]
    if len(outputs) == 1:
        walk.error("name", f"`{e.args[0].val}` has one result, which has no name", where, f"leave out `.{e.val}`")
    elif e.val not in outputs:
        walk.error(
            "name",
            f"`{e.args[0].val}` has no result `{e.val}`",
            where,
            did_you_mean(e.val, outputs) or "it has " + either(f"`{o}`" for o in outputs),
        )


def amount(n: int) -> str:
    return "no index" if n == 0 else "1 index" if n == 1 else f"{n} indices"
