"""Checks of the shapes in a signature, and the names that they define: sizes, packs of axes, parts of split axes."""

from __future__ import annotations

from ..text.diagnostics import Error, did_you_mean, either
from ..text.syntax import Dim, Span, X
from ..text.vocabulary import LISTS, is_tensor, names_in, word
from .scope import CONSTANTS, Scope, Thing

RESERVED = ("if", "else", "and", "or", "not")  # words in every formula
KINDS = {
    "tensor": "a tensor",
    "option": "an option",
    "size": "a size",
    "pack": "a pack of axes",
    "rank": "the rank of a family",
    "local": "a part of the body",
    "output": "a result",
    "gradient": "a gradient",
    "name": "a name in the body",
}


class Shapes:
    """Names that mean one thing each, and what the shapes of parameters and results make of them."""

    def __init__(self, scope: Scope):
        self.scope, self.op, self.source = scope, scope.op, scope.source
        self.errors: list[Error] = []
        self.later: list[X] = []  # names in shapes that a later parameter or a `where` may define

    def error(self, *args, **more):
        self.errors.append(Error(*args, **more))

    def define(self, thing: Thing):
        """Adds a name, or says that it means something already."""
        if thing.name.endswith("_"):
            self.error("name", f"`{thing.name}` ends in `_`", thing.span, "such names are kept for generated code")
        if thing.name in RESERVED:
            self.error("name", f"`{thing.name}` is a word of the language", thing.span, "take another name")
        if thing.name in CONSTANTS and not (thing.kind == "option" and thing.name in ("inf", "nan")):
            self.error("name", f"`{thing.name}` is a constant", thing.span, "take another name")
        old = self.scope.things.get(thing.name)
        if old:
            what = KINDS[old.kind] if old.kind != thing.kind else "defined"
            self.error(
                "name",
                f"`{thing.name}` means something already",
                thing.span,
                f"a second {KINDS[thing.kind][2:]}" if what == "defined" else f"here it is {KINDS[thing.kind]}",
                notes=((old.span, "first defined here" if what == "defined" else f"{what} here"),),
            )
        else:
            self.scope.things[thing.name] = thing

    def known(self, n: X, *kinds: str):
        """Reports a name that is none of the kinds."""
        thing = self.scope.things.get(n.val)
        if n.val in CONSTANTS or thing and thing.kind in kinds:
            return
        if thing and thing.kind == "tensor":
            self.error("size", f"a size cannot depend on the elements of `{n.val}`", n.span, "this is a tensor")
        elif thing:
            self.error("name", f"`{n.val}` cannot stand here", n.span, f"it is {KINDS[thing.kind]}")
        else:
            names = self.scope.of_kind(*kinds)
            what = "size" if n.val[:1].isupper() else "name"
            label = did_you_mean(n.val, names)
            help = (
                (f"a size is the length of a parameter's axis, an option, or given by  where {n.val} = ...",)
                if what == "size" and not label
                else ()
            )
            self.error("name", f"unknown {what} `{n.val}`", n.span, label, help=help)

    def shape(self, dims: tuple[Dim, ...], defines: bool, where: Span):
        """The entries of a shape.  In a parameter they define sizes; in a result all names must be known."""
        for d in dims:
            inner = d.of if d.kind == "chosen" and d.of else d
            self.condition(d.when)
            if d.flat and (not defines or len(dims) > 1):
                self.error(
                    "rank",
                    f"`flat {d.expr.val}` is all of a tensor",
                    d.span,
                    "a parameter has it as its only axis" if defines else "a result has axes of its own",
                )
            if d.kind == "chosen":
                self.chosen(d)
            if inner.kind == "pack":
                self.pack(inner, defines)
            elif inner.kind == "split":
                self.split(inner, defines)
            elif defines and inner.expr.kind == "name":
                self.bind("size", inner.expr.val, inner.expr.span)
            else:
                self.entry(inner.expr)
        packs = [d for d in dims if d.kind == "pack" and not d.rank and d.name not in self.scope.of_kind("option")]
        same = next((d for i, d in enumerate(packs) if d.name in {e.name for e in packs[:i]}), None)
        if same and defines:
            self.error(
                "size",
                f"the pack `*{same.name}` stands twice in one shape",
                same.span,
                "how many axes go to each is not known",
            )

    def entry(self, e: X):
        self.later += names_in(e)

    def condition(self, e: X | None):
        for n in names_in(e):
            self.known(n, "option", "rank")

    def chosen(self, d: Dim):
        at = word(self.source, d.span, d.at, 1 if d.of and d.of.expr and d.of.expr.val == d.at else 0)
        thing = self.scope.things.get(d.at)
        sizes = [s.name for s in self.op.sizes]
        if thing and thing.kind == "option" and thing.type.name in ("dim", "dims") or d.at in sizes:
            return
        if thing:
            self.error(
                "name",
                f"`{d.at}` names no axis",
                at,
                f"it is {KINDS[thing.kind]}",
                help=("after `@` comes an option of type `dim`, or a `where` size",),
            )
        else:
            self.error(
                "name",
                f"unknown axis `{d.at}`",
                at,
                did_you_mean(d.at, self.scope.axis_options() + sizes) or "no option of type `dim` has this name",
            )

    def pack(self, d: Dim, defines: bool):
        at = word(self.source, d.span, d.name)
        if d.rank and not (self.op.family and self.op.family[0] == d.rank):
            self.error(
                "name",
                f"unknown rank `{d.rank}`",
                (d.span[1] - len(d.rank), d.span[1]) if not d.when else d.span,
                f"the op's variable is `{self.op.family[0]}`" if self.op.family else "the op has no `for` clause",
                help=() if self.op.family else (f"say which it takes:  for {d.rank} in 1, 2, 3",),
            )
        thing = self.scope.things.get(d.name)
        if thing and thing.kind == "size" and not defines:
            self.error(
                "size",
                f"`*{d.name}` is a pack, but `{d.name}` is one axis",
                at,
                notes=((thing.span, "here it is one axis"),),
            )
        elif thing and thing.kind == "option":
            if thing.type.name not in LISTS:
                self.error(
                    "size",
                    f"`*{d.name}` is a pack, but `{d.name}` is one number",
                    at,
                    f"its type is `{thing.type.name}`",
                )
        elif defines:
            self.bind("pack", d.name, at)
        else:
            self.later.append(X("name", (), d.name, at))

    def split(self, d: Dim, defines: bool):
        seen = 0
        for i, f in enumerate(d.factors):
            if f.isdigit():
                continue
            at = word(self.source, d.span, f, d.factors[:i].count(f))
            thing = self.scope.things.get(f)
            if thing and thing.kind == "option" and thing.type.name == "int":
                continue
            if thing and thing.kind != "size":
                self.error("size", f"`{f}` is not the length of an axis", at, f"it is {KINDS[thing.kind]}")
                continue
            if defines:
                seen += self.bind("size", f, at)
            else:
                self.later.append(X("name", (), f, at))
        if defines and seen > 1:
            free = [f for f in dict.fromkeys(d.factors) if not f.isdigit() and self.first(f, d)]
            if len(free) > 1:
                self.error(
                    "size",
                    f"{either(f'`{f}`' for f in free).replace(' or ', ' and ')} cannot be told apart",
                    d.span,
                    "only their product is known",
                    help=(f"take one as an option:  {free[0]}: int",),
                )

    def first(self, name: str, d: Dim) -> bool:
        """Whether no entry of a parameter's shape but this split determines a size."""
        for p in self.op.params:
            for e in p.type.dims or ():
                inner = e.of if e.kind == "chosen" and e.of else e
                if inner.kind == "size" and inner.expr.kind == "name" and inner.expr.val == name:
                    return False
                alone = inner.kind == "split" and sum(not f.isdigit() for f in set(inner.factors)) == 1
                if alone and inner != d and name in inner.factors:
                    return False
        return True

    def bind(self, kind: str, name: str, at: Span) -> bool:
        """A size or pack met in a shape: the first place defines it.  Whether it was new."""
        old = self.scope.things.get(name)
        if old is None:
            self.define(Thing(kind, name, at, axes=("one",) if kind == "pack" else None))
            return True
        if old.kind == "tensor":
            self.error("size", f"a size cannot depend on the elements of `{name}`", at, "this is a tensor")
        elif {old.kind, kind} == {"size", "pack"}:
            self.error(
                "size",
                f"`{name}` is one axis and a pack of axes",
                at,
                f"here it is {KINDS[kind]}",
                notes=((old.span, f"here it is {KINDS[old.kind]}"),),
            )
        elif old.kind == "rank":
            self.error("size", f"`{name}` is no size", at, f"it is {KINDS[old.kind]}")
        elif old.kind == "option" and old.type.name not in ("int", "ints", "num"):
            self.error("size", f"the option `{name}` is no size", at, f"its type is `{old.type.name}`")
        return False

    def free_lengths(self):
        """Lists of numbers with a number for each axis of a pack that no tensor has."""
        packs = [d for p in self.op.params if is_tensor(p) for d in p.type.dims or () if d.kind == "pack"]
        tensors, counted = {d.name for d in packs}, {d.name for d in packs if d.rank is not None}
        for p in self.op.params:
            for d in p.type.dims or () if p.type.name in LISTS else ():
                if d.kind == "pack" and d.name not in tensors and d.name in self.scope.of_kind("pack"):
                    self.error(
                        "size", f"no tensor has the pack `*{d.name}`", d.span, f"the length of `{p.name}` is not known"
                    )
                elif d.kind == "pack" and p.type.name == "reals" and d.name in tensors - counted:
                    self.error(
                        "rank",
                        f"`*{d.name}` has any number of axes, `reals` needs a known one",
                        d.span,
                        help=(f"say it where a tensor has the pack:  *{d.name}:2",),
                    )
