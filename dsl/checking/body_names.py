"""Names in the steps of a body: each means something where it stands, and may be assigned there.

A local lives from its first assignment to the end of the block that this stands in.  What one thread of `each`
assigns the others do not see, so there only locals of its own and elements are assigned."""

from __future__ import annotations

from dataclasses import replace

from ..text.diagnostics import did_you_mean
from ..text.syntax import Binder, Branch, Count, Launch, Leave, Op, Put, Span, Step, X
from ..text.vocabulary import FUNCTIONS, axes_of, is_tensor, nodes_in
from .accesses import Place
from .scope import CONSTANTS, Thing
from .shapes import KINDS

NO_STEPS = ("rand", "inside", "stop", "stored")  # functions of formulas alone

RACE = "all threads of the group see it, and each would assign it"


def check_steps(walk, op: Op):
    """`walk`: the op's Formulas."""
    outside = walk.things
    tensors = {p.name for p in op.params if is_tensor(p)}
    made = [(o.name, o.type, o.span) for o in op.outputs] + [(s.name, s.type, s.span) for s in op.scratch]
    walk.things = {n: rows(t) if n in tensors else t for n, t in outside.items()}
    walk.things |= {n: rows(Thing("output", n, at, t, axes_of(t.dims))) for n, t, at in made if t is not None}
    names = BodyNames(walk, {n for n, _, _ in made})
    for x in op.launches:
        names.launch(x)
    for o in op.outputs:
        if o.name not in names.stored:
            walk.error(
                "name", f"nothing assigns the result `{o.name}`", op.name_span, help=(f"write  {o.name}[...] = ...",)
            )
    walk.things = outside


def rows(t: Thing) -> Thing:
    """A tensor as a body indexes it: the axes of its leading pack are one."""
    return replace(t, axes=None if t.axes is None else tuple(a.replace("*", "all of *") for a in t.axes))


class BodyNames:
    """made: the tensors that may be assigned."""

    def __init__(self, walk, made: set[str]) -> None:
        self.walk, self.made, self.error = walk, made, walk.error
        self.stored: set[str] = set()
        self.fixed: set[str] = set()  # locals that are not assigned where this stands: those outside of `each`
        self.indices: set[str] = set()

    def launch(self, x: Launch) -> None:
        before = dict(self.walk.things)
        if x.step:
            self.bind(Binder(x.step, span=x.span))
        for b in x.places:
            self.bind(b)
        self.block(x.body, x.lanes > 0, False)
        self.walk.things, self.indices, self.fixed = before, set(), set()

    def block(self, steps: tuple[Step, ...], group: bool, loop: bool) -> None:
        """group: whether threads could share work out here; loop: whether there is a loop to end."""
        before = dict(self.walk.things)
        for s in steps:
            match s:
                case Put():
                    self.put(s)
                case Count():
                    self.count(s, group)
                case Branch():
                    self.visit(s.condition)
                    self.block(s.steps, group, loop)
                    self.block(s.otherwise, group, loop)
                case Leave() if not loop:
                    self.error("syntax", "there is no loop that `break` could end", s.span)
        for n in self.walk.things.keys() - before.keys() - self.walk.used:
            self.error("name", f"`{n}` is assigned, but never used", self.walk.things[n].span, name=n)
        self.walk.things = before

    def visit(self, e: X) -> None:
        for n in nodes_in(e):
            if n.kind in ("??", "field", "str", "spread") or n.kind == "call" and n.val in NO_STEPS:
                what = "a body computes with numbers and elements that are there"
                self.error("type", what, n.span, "this stands in the op that calls it")
                return
            for b in n.val[1] if n.kind == "reduce" else ():
                if b.high is None:
                    self.error("index", f"nothing says how far `{b.name}` runs", b.span, f"write  {b.name} < N")
                    return
        self.walk.visit(e, Place(indexed=True, single=frozenset(self.indices)))

    def put(self, s: Put) -> None:
        for v in s.values:
            self.visit(v)
        for t in s.targets:
            if t.kind == "read":
                self.element(t)
            else:
                self.local(t, s)

    def element(self, t: X) -> None:
        n = t.args[0].val
        self.walk.visit(t, Place(indexed=True, single=frozenset(self.indices)))
        thing = self.walk.things.get(n)
        if n in self.made:
            self.stored.add(n)
        elif thing is not None and thing.kind == "tensor":
            self.error(
                "name",
                f"the parameter `{n}` is assigned",
                t.args[0].span,
                "a body does not change its arguments",
                name=n,
            )

    def local(self, t: X, s: Put) -> None:
        n, things = t.val, self.walk.things
        if n in self.indices:
            self.error("name", f"the index `{n}` is assigned", t.span, "a loop counts it", name=n)
        elif n in self.fixed:
            self.error("name", f"`{n}` is assigned inside of `each`", t.span, RACE, name=n)
        elif n in things and things[n].kind != "name":
            about = f"it is {KINDS[things[n].kind]}"
            help = (f"write  {n}[...] {s.mode} ...",) if n in self.made else ()
            self.error("name", f"`{n}` means something already", t.span, about, help=help, name=n)
        elif n not in things and s.mode != "=":
            self.error(
                "name", f"`{n}` is changed before it is assigned", t.span, did_you_mean(n, self.locals()), name=n
            )
        elif self.free(n, t.span):
            things.setdefault(n, Thing("name", n, t.span))

    def locals(self) -> list[str]:
        return [n for n, t in self.walk.things.items() if t.kind == "name"]

    def free(self, n: str, at: Span) -> bool:
        """Whether a name may be given to something."""
        if n.endswith("_"):
            self.error("name", f"`{n}` ends in `_`", at, "such names are kept for generated code", name=n)
        elif n in CONSTANTS or n in FUNCTIONS:
            self.error("name", f"`{n}` means something already", at, "take another name", name=n)
        else:
            return True
        return False

    def bind(self, b: Binder) -> None:
        """A loop, a place, or what counts launches; its bounds are checked by who calls."""
        if b.name in self.walk.things:
            what = KINDS[self.walk.things[b.name].kind]
            self.error("name", f"`{b.name}` means something already", b.span, f"it is {what}", name=b.name)
        elif self.free(b.name, b.span):
            self.walk.things[b.name] = Thing("name", b.name, b.span)
            self.walk.used.add(b.name)
            self.indices.add(b.name)

    def count(self, s: Count, group: bool) -> None:
        before, fixed, indices = dict(self.walk.things), self.fixed, set(self.indices)
        if s.shared and not group:
            self.error(
                "syntax", "`each` shares work out among the threads of a group", s.span, "there is one thread here",
                help=("write `for`, or give the launch groups:  over b < R groups of 64",),
            )  # fmt: skip
        for b in s.ranges:
            for bound in (b.low, b.high):
                if bound is not None:
                    self.visit(bound)
        for b in s.ranges:
            self.bind(b)
        if s.shared:
            self.fixed = set(self.locals()) - self.indices
        if s.condition is not None:
            self.visit(s.condition)
        self.block(s.steps, group and not s.shared, not s.shared)
        self.walk.things, self.fixed, self.indices = before, fixed, indices
