"""Checks of an op's signature, and the scope that it opens: parameters, shapes, `where` sizes, outputs.

Formulas are checked in dsl/checking/formulas.py, clauses in dsl/checking/names.py."""

from __future__ import annotations

from ..text.diagnostics import Error, choice_label, did_you_mean, either
from ..text.source import Source
from ..text.syntax import Op, Output, Param, Span, Type
from ..text.vocabulary import (
    LISTS,
    OPTION_TYPES,
    RESULT_TYPES,
    TENSOR_TYPES,
    axes_of,
    header,
    is_tensor,
    names_in,
    nodes_in,
    word,
)
from .scope import Scope, Thing
from .shapes import KINDS, Shapes

# Types that people write, and what they are called here.
OTHER_TYPES = {
    "tensor": "Num",
    "float": "real",
    "float32": "Float",
    "f32": "Float",
    "double": "real",
    "scalar": "num",
    "number": "num",
    "integer": "int",
    "long": "int",
    "boolean": "bool",
    "axis": "dim",
    "axes": "dims",
    "tuple": "ints",
    "list": "ints",
    "shape": "ints",
}


def open_scope(op: Op, source: Source) -> tuple[Scope, list[Error]]:
    """The names that the signature and the `where` clauses of an op define, and the mistakes in them."""
    scope = Scope(op, source)
    check = Signature(scope)
    check.family()
    for p in op.params:
        check.parameter(p)
    for p in op.params:  # sizes once all options are known
        if p.type.dims is not None:
            check.shape(p.type.dims, defines=True, where=p.span)
    check.free_lengths()
    for s in op.sizes:
        check.size(s)
    check.uses()
    check.outputs()
    return scope, check.errors


class Signature(Shapes):
    """What an op's head says."""

    # --- Parts ------------------------------------------------------------------------------------

    def family(self):
        op = self.op
        holes = {op.name[i + 1] for i, c in enumerate(op.name) if c == "{"}
        if op.family:
            name, values = op.family
            clause = word(self.source, op.span, name, 0)
            self.define(Thing("rank", name, clause))
            if name not in holes:
                self.error(
                    "name", f"nothing in the op's name stands for `{name}`", op.name_span, f"write `{{{name}}}` in it"
                )
            bad = [v for v in values if not isinstance(v, int) or v < 1]
            if bad:
                self.error("rank", f"a family has members 1, 2, 3 ..., not {bad[0]}", self.clause("for"))
            if len(set(values)) < len(values):
                self.error("name", "a member of this family is named twice", self.clause("for"))
        for hole in sorted(holes - ({op.family[0]} if op.family else set())):
            help = (
                f"say which it takes:  for {hole} in 1, 2, 3" if not op.family else f"its variable is `{op.family[0]}`"
            )
            self.error("name", f"`{{{hole}}}` in the op's name stands for nothing", op.name_span, help=(help,))

    def clause(self, first: str) -> Span:
        """The span of the first clause that begins with a word."""
        start, end = self.op.span
        at = self.source.text.find(f"\n    {first} ", start, end)
        if at < 0:
            return self.op.name_span
        line = self.source.text.find("\n", at + 1, end)
        return at + 5, end if line < 0 else line

    def parameter(self, p: Param):
        where = word(self.source, p.span, p.name, 1 if p.mut and p.name == "mut" else 0)
        t = p.type
        known = TENSOR_TYPES + OPTION_TYPES[:-1]
        at = (t.span[0], t.span[0] + len(t.name))
        tensor = is_tensor(p)
        self.define(
            Thing(
                "tensor" if tensor else "option",
                p.name,
                where,
                t,
                axes_of(t.dims) if tensor or t.name in LISTS else (),
            )
        )
        if tensor and t.name not in TENSOR_TYPES:
            guess = OTHER_TYPES.get(t.name.lower())
            kinds = "tensors " + " ".join(TENSOR_TYPES) + "; options " + " ".join(OPTION_TYPES[:-1]) + ' "a" | "b"'
            self.error(
                "type",
                f"unknown type `{t.name}`",
                at,
                f"did you mean `{guess}`?" if guess else did_you_mean(t.name, known),
                help=() if guess or did_you_mean(t.name, known) else (f"the types are: {kinds}",),
            )
        if not tensor and t.name not in LISTS and t.dims is not None:
            self.error(
                "type",
                f"an option of type `{t.name}` has no shape",
                t.span,
                help=(
                    "a list of numbers is `ints[...]` or `reals[...]`; a tensor type has a capital: "
                    + ", ".join(TENSOR_TYPES),
                ),
            )
        if t.name in LISTS and t.dims is not None and len(t.dims) != 1:
            self.error(
                "rank",
                f"`{t.name}` takes one length, but gets {len(t.dims)}",
                t.span,
                help=(f"`{t.name}[2]` is two numbers, `{t.name}[*K]` one for each axis of the pack",),
            )
        if t.instead:
            self.instead(t)
        if p.mut and not tensor:
            self.error(
                "type", f"`{p.name}` is no tensor, so it cannot be `mut`", where, f"it is an option of type `{t.name}`"
            )
        if tensor and p.default is not None:
            self.error(
                "option",
                f"the tensor `{p.name}` cannot have a default",
                p.default.span,
                "a tensor that may be left out has a type with `?`",
            )
        if len(set(t.choices)) < len(t.choices):
            self.error("option", f"a choice of `{p.name}` is named twice", t.span)
        if not tensor and p.default is not None:
            self.default(p)

    def instead(self, t: Type):
        """What may stand for a tensor: a number for one that broadcasts, a list for a row of whole numbers."""
        at = (t.span[1] - len(t.instead) - t.optional, t.span[1] - t.optional)
        row = t.name == "Int" and t.dims is not None and len(t.dims) == 1
        if t.name not in TENSOR_TYPES:
            self.error(
                "type",
                f"`{t.name}` is no tensor",
                (t.span[0], t.span[0] + len(t.name)),
                f"only for a tensor can `{t.instead}` stand",
            )
        elif t.instead not in ("num", "real", "ints"):
            self.error(
                "type",
                f"`{t.instead}` cannot stand for a tensor",
                at,
                did_you_mean(t.instead, ("num", "real", "ints"))
                or "a number, `num` or `real`, can, and for `Int[N]` a list, `ints`",
            )
        elif t.instead == "ints" and not row:
            self.error("type", "a list stands for one axis of whole numbers", at, "as in `Int[N] | ints`")
        elif t.instead != "ints" and any(d.kind != "pack" for d in t.dims or ()):
            self.error("type", "a number stands for a tensor of any shape", at, "this one has axes of its own")

    def default(self, p: Param):
        d, t = p.default, p.type
        value = d.val if d.kind in ("str", "num", "name") else None
        if t.name == "choice":
            if d.kind != "str":
                self.error(
                    "option",
                    f"the default of `{p.name}` is none of its texts",
                    d.span,
                    "expected " + either(f'`"{c}"`' for c in t.choices[:4]),
                )
            elif value not in t.choices:
                self.error("option", f'`{p.name}` has no choice `"{value}"`', d.span, choice_label(value, t.choices))
        elif d.kind == "str":
            self.error("option", f"the default of `{p.name}` is a text", d.span, f"its type is `{t.name}`")
        elif t.name == "bool" and not (d.kind == "name" and value in ("true", "false")):
            self.error(
                "option",
                f"the default of `{p.name}` is neither true nor false",
                d.span,
                did_you_mean(str(value), ("true", "false")) or "its type is `bool`",
            )
        elif value in ("true", "false") and d.kind == "name" and t.name != "bool":
            self.error("option", f"the default of `{p.name}` is no number", d.span, f"its type is `{t.name}`")
        elif d.kind == "num" and isinstance(value, float) and t.name in ("int", "dim", "dims", "ints"):
            self.error("option", f"the default of `{p.name}` is no whole number", d.span, f"its type is `{t.name}`")
        elif t.name == "dims" and d.kind not in ("num", "neg", "list") and value != "all":
            self.error("option", f"the default of `{p.name}` names no axes", d.span, "write `all`, a number or a list")
        elif d.kind == "list" and t.name not in ("dims", *LISTS):
            self.error("option", f"the default of `{p.name}` is a list", d.span, f"its type is `{t.name}`")

    def uses(self):
        """Names in defaults, and the order of parameters."""
        optional: Param | None = None  # the first that may be left out
        for p in self.op.params:
            wrong = any(p.default is not None and e.span == p.default.span for e in self.errors)
            for n in names_in(p.default) if not wrong else ():
                if n.val == "all" and p.type.name == "dims":
                    continue
                self.known(n, "option", "size", "pack", "rank")
            if p.keyword:
                continue
            if p.default is not None:
                optional = optional or p
            elif optional and not p.type.optional:
                self.error(
                    "option",
                    f"`{p.name}` must be given, but stands after `{optional.name}`, which may be left out",
                    self.scope.things[p.name].span,
                    notes=((self.scope.things[optional.name].span, "has a default"),),
                    help=(f"move `{p.name}` before it, or give it a default",),
                )

    def size(self, s):
        at = word(self.source, s.span, s.name)
        if not any(n.kind in ("read", "reduce") for n in nodes_in(s.value)):  # dsl/checking/constants.py refuses those
            for n in names_in(s.value):
                self.known(n, "option", "size", "pack", "rank", "tensor")
        self.define(Thing("pack" if s.pack else "size", s.name, at))

    def outputs(self):
        op = self.op
        for n in self.later:
            self.known(n, "option", "size", "pack", "rank")
        self.later.clear()
        declared = header(op, self.source)
        for o in op.outputs:
            at = word(self.source, o.span, o.name)
            if o.type is not None:
                if o.type.name and o.type.name not in RESULT_TYPES + ("T",):
                    guess = did_you_mean(o.type.name, RESULT_TYPES)
                    what = "unknown type" if o.type.name not in OPTION_TYPES else "a result is a tensor, not"
                    self.error(
                        "type",
                        f"{what} `{o.type.name}`",
                        (o.type.span[0], o.type.span[0] + len(o.type.name)),
                        guess or "the types of results are: " + " ".join(RESULT_TYPES),
                    )
                if o.type.optional:
                    self.error(
                        "type", "a result cannot be optional", (o.type.span[1] - 1, o.type.span[1]), "leave the `?` out"
                    )
                if o.type.instead:
                    self.error("type", "a result is a tensor, no number", o.type.span)
                if o.type.choices:
                    self.error("type", "a result is a tensor, not a text", o.type.span)
                if o.type.like:
                    self.like(o)
                if o.type.dims is not None:
                    self.shape(o.type.dims, defines=False, where=o.type.span)
            axes = axes_of(o.type.dims) if o.type else None
            old = self.scope.things.get(o.name)
            if old and old.kind != "output" and o.name == "out" and len(op.outputs) == 1:
                self.error("name", "`out` is the result's name", old.span, f"here it is {KINDS[old.kind]}")
            else:
                self.define(Thing("output", o.name, at, o.type, axes))
        for n in self.later:
            self.known(n, "option", "size", "pack", "rank")
        self.later.clear()
        if op.drop:
            self.drop(declared)

    def like(self, o: Output):
        """`like input` names floats that are always given: only floats have types whose elements are computed alike."""
        assert o.type is not None
        at = (o.type.span[1] - len(o.type.like), o.type.span[1])
        thing = self.scope.things.get(o.type.like)
        floats = [p.name for p in self.op.params if p.type.name == "Float" and not p.type.optional]
        if not thing:
            self.error("name", f"unknown tensor `{o.type.like}`", at, did_you_mean(o.type.like, floats))
        elif o.type.like not in floats:
            self.error("type", f"`{o.type.like}` is no tensor of floats that is always given", at)
        elif o.type.name != "Float":
            self.error("type", f"a result like `{o.type.like}` is `Float`", o.type.span)

    def drop(self, declared: Span):
        name, unless = self.op.drop
        start = self.source.text.rfind("drop", *declared)
        at = word(self.source, (start, declared[1]), name) if start >= 0 else self.op.name_span
        thing = self.scope.things.get(name)
        if not thing:
            self.error("name", f"unknown axis `{name}`", at, did_you_mean(name, self.scope.axis_options()))
        elif name not in self.scope.axes():
            self.error("name", f"`{name}` names no axis", at, f"it is {KINDS[thing.kind]}")
        if not unless:
            return
        thing = self.scope.things.get(unless)
        at = word(self.source, (max(start, declared[0]), declared[1]), unless)
        flags = [n for n, t in self.scope.things.items() if t.kind == "option" and t.type.name == "bool"]
        if not thing:
            self.error("name", f"unknown option `{unless}`", at, did_you_mean(unless, flags))
        elif unless not in flags:
            self.error("option", f"`{unless}` is no yes-or-no option", at, f"it is {KINDS[thing.kind]}")
