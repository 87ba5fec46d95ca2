"""Checks of formulas: every name is bound, every index used, every access has as many indices as axes.

Accesses are in dsl/checking/accesses.py, operands in operands.py, arguments of calls in calls.py; ranges of indices and
reads outside in dsl/lowering/ranges.py."""

from __future__ import annotations

from dataclasses import replace

from ..text.diagnostics import Error, did_you_mean
from ..text.syntax import Assign, Span, X
from ..text.vocabulary import FUNCTIONS, REDUCERS, names_in, nodes_in, text_of, word
from .accesses import Accesses, Place
from .calls import check_call
from .operands import Operands, asks_type
from .scope import CONSTANTS, Scope, Thing, Vocabulary
from .shapes import KINDS

# Functions whose argument may be a whole tensor.
WHOLE = ("rank", "numel", "size", "given", "type", "fits", "same", "stretched", "number", "nth", "stop")


def index_names(e: X | None) -> set[str]:
    """Names that stand anywhere in an index of an access."""
    out: set[str] = set()
    for n in nodes_in(e):
        if n.kind == "read":
            for i in n.args[1:]:
                out |= {m.val for m in names_in(i)}
    return out


def bare(index: X) -> str:
    """The name of an index that is nothing but one, `i` or `*i`; else ""."""
    n = index.args[0] if index.kind == "spread" else index
    return n.val if n.kind == "name" else ""


class Formulas(Accesses, Operands):
    """Walks the formulas of one op; a name is reported once."""

    def __init__(self, scope: Scope, vocabulary: Vocabulary):
        self.scope, self.vocabulary, self.source = scope, vocabulary, scope.source
        self.things = dict(scope.things)
        self.later: set[str] = set()  # parts of the body that are assigned further down
        self.used: set[str] = set()
        self.untyped: set[str] = set()  # parameters of a `def`, which may be tensors, options or texts
        self.errors: list[Error] = []
        self.reported: set[tuple[str, str]] = set()

    def error(self, code: str, message: str, span: Span, label: str = "", notes=(), help=(), name: str = ""):
        if name:
            if (code, name) in self.reported:
                return
            self.reported.add((code, name))
        self.errors.append(Error(code, message, span, label, tuple(notes), tuple(help)))

    # --- Assignments ------------------------------------------------------------------------------

    def assignment(self, a: Assign, target: Thing | None):
        """Checks both sides; the caller has looked at the target's name.  `target`: what is known of its axes."""
        if a.index is None:
            self.visit(a.value, Place(positions=frozenset(index_names(a.value)), target=a))
            return
        single, packs, computed = self.left(a)
        for b in a.extents:
            thing = self.things.get(b.high.val) if b.pack and b.high.kind == "name" else None
            if thing is None or thing.kind != "pack":
                self.visit(b.high, Place())
        positions = index_names(a.value).union(*(index_names(i) for i in a.index)) if a.index else index_names(a.value)
        if computed or a.mode != "=":  # in a computed place, too
            parts = [n for e in a.index for n in nodes_in(e)]
            inner = {b.name for n in parts if n.kind == "reduce" for b in n.val[1]}
            for i in [n for n in parts if n.kind in ("name", "spread")]:
                name = bare(i)
                if name and name not in inner | packs and not self.defined(name):
                    (packs if i.kind == "spread" else single).add(name)
        place = Place(True, frozenset(single), frozenset(packs), positions=frozenset(positions), target=a)
        for i in a.index:
            if not bare(i):
                self.visit(
                    i.args[0] if i.kind == "spread" else i, replace(place, index=True, spread=i.kind == "spread")
                )
        if target and target.axes is not None:
            end = a.index[-1].span[1] + 1 if a.index else a.name_span[1] + 2
            self.rank(target, a.index, (a.name_span[0], end), place)
        self.visit(a.value, place)

    def defined(self, name: str) -> bool:
        return name in self.things or name in CONSTANTS

    def left(self, a: Assign) -> tuple[set[str], set[str], bool]:
        """The indices that the left side binds, and whether it computes a place."""
        single, packs, computed = set(), set(), False
        for i in a.index:
            n = i.args[0] if i.kind == "spread" else i
            if n.kind != "name":
                computed |= n.kind != "num"
                continue
            if n.val in self.later:
                self.error("name", f"`{n.val}` is no index", n.span, "it is assigned here", name=n.val)
                continue
            if n.val in self.things and i.kind != "spread":
                thing = self.things[n.val]
                if thing.kind in ("tensor", "local", "output"):
                    self.error(
                        "name",
                        f"`{n.val}` is no index",
                        n.span,
                        f"it is {KINDS[thing.kind]}",
                        [(thing.span, "defined here")],
                        name=n.val,
                    )
                continue
            if n.val in CONSTANTS:
                continue
            if n.val in single | packs:
                self.error(
                    "index",
                    f"`{n.val}` stands twice on the left",
                    i.span,
                    "already an index here",
                    help=[f"for a diagonal write a condition:  ... if {n.val} == j else 0"],
                    name=n.val,
                )
            if n.val.endswith("_"):
                self.error(
                    "name", f"`{n.val}` ends in `_`", n.span, "such names are kept for generated code", name=n.val
                )
            (packs if i.kind == "spread" else single).add(n.val)
        return single, packs, computed

    # --- Expressions ------------------------------------------------------------------------------

    def visit(self, e: X, at: Place):
        here = replace(at, argument=False, index=False)
        match e.kind:
            case "num":
                pass
            case "name":
                self.name(e, at)
            case "str":
                self.error(
                    "type", "a text is no number", e.span, "a text can only be compared with an option, or given to one"
                )
            case "list":
                if not at.argument:
                    self.error(
                        "type", "a list is no number", e.span, help=["a table has a line of its own:  w = [1, 2]"]
                    )
                for x in e.args:
                    self.visit(x, here)
            case "read":
                self.read(e, here)
            case "field":
                self.field(e, here)
            case "reduce":
                self.reduce(e, here)
            case "call":
                self.call(e, here)
            case "==" | "!=" if any(asks_type(x) for x in e.args):
                self.compare_type(e, here)
            case "==" | "!=" if any(x.kind == "str" or self.choices(x) for x in e.args):
                self.compare_text(e, here)
            case "~=":
                self.error("test", "`~=` is for tests only", e.span, help=["write a bound:  abs(a - b) < 1e-6"])
            case "^" | "&" | "|" | "<<" | ">>" | "~":
                self.bits(e)
                for x in e.args:
                    self.visit(x, here)
            case "spread":
                self.visit(e.args[0], replace(here, spread=True))
            case "??" | "if":
                inner = replace(here, spread=at.spread, index=at.index, guarded=True)
                for x in e.args:
                    self.visit(x, replace(inner, guarded=at.guarded) if e.kind == "??" and x is e.args[1] else inner)
            case _:
                for x in e.args:
                    self.visit(x, replace(here, spread=at.spread, index=at.index))

    # --- Reductions and calls ---------------------------------------------------------------------

    def reduce(self, e: X, at: Place):
        function, binders, condition = e.val
        body = e.args[0]
        options = [*self.scope.axis_options(), *self.untyped]
        inside = {n.val for n in [*names_in(body), *names_in(condition)]}
        in_index = index_names(body) | index_names(condition)
        single, packs, seen = set(at.single), set(at.packs), set()
        named = [*self.scope.axes(), *self.untyped]
        axes = [b for b in binders if b.name in named and not b.pack and b.high is None and not at.indexed]
        indexed = (
            at.indexed or bool(binders) and not axes and any(b.high is not None or b.name in in_index for b in binders)
        )
        here = replace(at, indexed=indexed)
        for b in binders:
            where = (b.span[0] + b.pack, b.span[0] + b.pack + len(b.name))
            if b.pack:
                where = word(self.source, b.span, b.name)
            for bound in (b.low, b.high):
                if bound is not None:
                    self.visit(bound, replace(here, single=frozenset(single), packs=frozenset(packs)))
            if b in axes:
                self.used.add(b.name)
                continue
            if not indexed:
                self.unknown_axis(b, where, options)
                continue
            thing = self.things.get(b.name)
            if b.name in seen:
                self.error("index", f"`{b.name}` is bound twice", where, name=b.name)
            elif at.bound(b.name):
                self.error("index", f"`{b.name}` is an index already", where, "take another name", name=b.name)
            elif thing and b.name in options and b.name not in self.untyped:
                self.error(
                    "index",
                    f"`{b.name}` is an option, no index",
                    where,
                    "over tensors with indices, bind an index of an axis",
                    name=b.name,
                )
            elif thing:
                self.error(
                    "name",
                    f"`{b.name}` means something already",
                    where,
                    "here it is an index",
                    [(thing.span, f"{KINDS[thing.kind]} here")],
                    name=b.name,
                )
            elif b.name in self.later:
                self.error("name", f"`{b.name}` means something already", where, "it is assigned here", name=b.name)
            elif b.name in CONSTANTS:
                self.error("name", f"`{b.name}` is a constant", where, "take another name", name=b.name)
            elif b.name.endswith("_"):
                self.error(
                    "name", f"`{b.name}` ends in `_`", where, "such names are kept for generated code", name=b.name
                )
            elif b.name not in inside and b.high is None:
                self.error(
                    "index",
                    f"`{b.name}` is bound but never used",
                    where,
                    "nothing says how far it runs",
                    help=[f"use it as an index, or give it a range:  {function}[{'*' * b.pack}{b.name} < n]"],
                    name=b.name,
                )
            seen.add(b.name)
            (packs if b.pack else single).add(b.name)
        inner = replace(here, single=frozenset(single), packs=frozenset(packs))
        if condition is not None:
            self.visit(condition, inner)
        self.visit(body, inner)

    def unknown_axis(self, b, where: Span, options: list[str]):
        label = did_you_mean(b.name, options) or (f"did you mean `{options[0]}`?" if len(options) == 1 else "")
        help = () if options else ("an axis is an option:  dim: dims = all",)
        thing = self.things.get(b.name)
        if thing:
            self.error(
                "name",
                f"`{b.name}` names no axis",
                where,
                label or f"it is {KINDS[thing.kind]}",
                help=help,
                name=b.name,
            )
        else:
            self.error("name", f"unknown axis `{b.name}`", where, label, help=help, name=b.name)

    def composition(self, e: X, at: Place, where: Span):
        """A call of what is over tensors, or asks."""
        if self.vocabulary.defs[e.val].requires:
            self.error(
                "type",
                f"`{e.val}` is a group of requirements",
                where,
                "it has no value",
                help=[f"write  require {text_of(self.source, e.span)}"],
            )
        elif at.indexed:
            self.error(
                "type",
                f"`{e.val}` is over tensors",
                where,
                "it stands in a whole-tensor formula, or in a line of its own",
            )

    def call(self, e: X, at: Place):
        where = (e.span[0], e.span[0] + len(e.val))
        functions = self.vocabulary.functions()
        if e.val not in functions:
            thing = self.things.get(e.val)
            if thing:
                self.error(
                    "name",
                    f"`{e.val}` is no function",
                    where,
                    f"it is {KINDS[thing.kind]}",
                    help=["an access has square brackets, a product its sign"],
                    name=e.val,
                )
            else:
                self.error("name", f"unknown function `{e.val}`", where, did_you_mean(e.val, functions), name=e.val)
        elif e.val in REDUCERS and len(e.args) == 2 and FUNCTIONS[e.val][1] == 1 and e.args[1].kind == "name":
            body, over = (text_of(self.source, x.span) for x in (e.args[0], e.args[1]))
            self.error(
                "index",
                f"`{e.val}` runs over what stands in square brackets",
                where,
                help=[f"write  {e.val}[{over}] {body}"],
            )
            self.used |= {n.val for n in names_in(e)}
            return
        else:
            check_call(self, e, at)
        if e.val == "type" and at.target is not None:
            self.error("type", "`type` speaks of a call, not of elements", where, "only a `require` may ask for it")
        composed = (
            e.val in self.vocabulary.defs
            and self.vocabulary.defs[e.val].value is None
            and not self.vocabulary.defs[e.val].steps
        )
        if composed:
            self.composition(e, at, where)
        op = e.val in self.vocabulary.ops and e.val not in FUNCTIONS or composed
        whole = op or e.val in REDUCERS and len(e.args) == 1 or e.val in WHOLE
        for x in e.args:
            value = x.args[0] if x.kind == "kw" else x
            if op and value.kind == "str":
                continue  # `check_call` has looked at texts
            self.visit(value, replace(at, argument=whole))
