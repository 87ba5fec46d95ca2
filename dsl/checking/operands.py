"""Checks of operands: names in a formula, texts and types that are compared, operations on bits."""

from __future__ import annotations

from ..text.diagnostics import choice_label, did_you_mean, either
from ..text.syntax import X
from ..text.vocabulary import DTYPES, names_in, text_of
from .accesses import Place, amount
from .scope import CONSTANTS

LOGIC = {"&": "and", "|": "or", "~": "not"}


def asks_type(e: X) -> bool:
    return e.kind == "call" and e.val == "type"


class Operands:
    """The part of dsl/checking/formulas.py's `Formulas` that deals with them."""

    def choices(self, e: X) -> tuple[str, ...]:
        thing = self.things.get(e.val) if e.kind == "name" else None
        return thing.type.choices if thing and thing.kind == "option" and thing.type else ()

    def compare_text(self, e: X, at: Place):
        """`reduction == "mean"`."""
        if any(x.kind == "name" and x.val in self.untyped for x in e.args):
            self.used |= {n.val for x in e.args for n in names_in(x)}
            return
        left, right = e.args if self.choices(e.args[0]) else e.args[::-1]
        choices = self.choices(left)
        self.used |= {n.val for x in e.args for n in names_in(x)}
        if not choices:
            text, other = (left, right) if left.kind == "str" else (right, left)
            self.error(
                "option",
                f'`"{text.val}"` is compared with no choice',
                other.span if other.kind != "str" else text.span,
                f'only an option with a type like `"{text.val}" | ...` is a text',
            )
        elif right.kind == "str" and right.val not in choices:
            self.error(
                "option", f'`{left.val}` has no choice `"{right.val}"`', right.span, choice_label(right.val, choices)
            )
        elif right.kind == "name" and right.val in choices:
            self.error("option", f"`{right.val}` is a text here", right.span, f'write `"{right.val}"`')
        elif right.kind != "str" and self.choices(right) != choices:
            self.error(
                "option",
                f"`{left.val}` is a text",
                right.span,
                "compare it with one of its texts: " + ", ".join(f'"{c}"' for c in choices[:4]),
            )

    def compare_type(self, e: X, at: Place):
        """`type(input) == "bool"`, `type(input) == type(src)`."""
        for x in e.args:
            if asks_type(x):
                self.visit(x, at)
            elif x.kind != "str":
                self.error("type", "a type is compared with another or with a text", x.span, "this is none")
            elif x.val not in DTYPES:
                self.error("type", f'there is no type `"{x.val}"`', x.span, choice_label(x.val, DTYPES))

    def bits(self, e: X):
        """An operator on bits beside a tensor that is not of whole numbers; `^` may be meant as a power."""
        operands = [x.args[0] if x.kind == "read" else x for x in e.args]
        things = [self.things[x.val] for x in operands if x.kind == "name" and x.val in self.things]
        wrong = next(
            (t for t in things if t.kind == "tensor" and t.type and t.type.name in ("Float", "Num", "Any")), None
        )
        if not wrong:
            return
        begin = e.args[0].span[1] if len(e.args) > 1 else e.span[0]
        sign = self.source.text.find(e.kind, begin, e.span[1])
        where = (sign, sign + len(e.kind)) if sign >= 0 else e.span
        message = (
            "`^` flips bits, it is no power" if e.kind == "^" else f"`{e.kind}` works on the bits of whole numbers"
        )
        help = []
        if e.kind == "^":
            help = [f"write  {text_of(self.source, e.args[0].span)} ** {text_of(self.source, e.args[1].span)}"]
        elif e.kind in LOGIC:
            help = [f"between conditions write `{LOGIC[e.kind]}`"]
        self.error("type", message, where, f"`{wrong.name}` is {wrong.type.name}", help=help)

    def name(self, e: X, at: Place):
        n = e.val
        self.used.add(n)
        if at.bound(n) or n in CONSTANTS:
            return
        thing = self.things.get(n)
        if thing:
            if thing.kind == "gradient" and thing.parts and not at.argument:
                self.error(
                    "grad",
                    "this op has several results, so several gradients",
                    e.span,
                    "write " + either(f"`g.{p}`" for p in thing.parts),
                    name=n,
                )
            if thing.kind == "option" and thing.type and thing.type.name == "dims" and not at.argument:
                self.error("type", f"`{n}` may name several axes, it is no number", e.span, name=n)
            self.present(thing, e, at)
            if thing.kind == "pack" and not at.argument and n not in self.scope.fixed:
                self.error(
                    "size", f"`{n}` is a pack of axes, no number", e.span, f"write `numel({n})` or `rank({n})`", name=n
                )
            if (
                at.indexed
                and thing.axes
                and thing.kind in ("tensor", "local", "output", "gradient")
                and not at.argument
            ):
                count = len(thing.axes)
                self.error(
                    "rank",
                    f"`{n}` takes {amount(count)}, but gets none",
                    e.span,
                    self.declared(thing),
                    help=[f"write  {n}[{', '.join(a.lower() for a in thing.axes)}]"],
                    name=n,
                )
        elif n in self.later:
            self.error("name", f"`{n}` is used before it is assigned", e.span, name=n)
        elif at.indexed and (at.index or n in at.positions):
            self.unbound(e, at)
        elif at.index:
            self.error(
                "index",
                f"`{n}` is an index, but the left side has none",
                e.span,
                help=[f"write  out[{n}] = ..., or reduce over it:  sum[{n}] ..."],
                name=n,
            )
        else:
            self.unknown(e, at)

    def unknown(self, e: X, at: Place):
        names = [*self.things, *CONSTANTS, *at.single, *at.packs]
        label = did_you_mean(e.val, names)
        if not label and e.val in self.vocabulary.functions():
            label = "this is a function, write its arguments"
        self.error("name", f"unknown name `{e.val}`", e.span, label, name=e.val)

    def unbound(self, e: X, at: Place):
        a = at.target
        names = did_you_mean(e.val, [*self.things, *CONSTANTS]) if len(e.val) > 2 else ""
        if names or a is None:
            self.error("name", f"unknown name `{e.val}`", e.span, names, name=e.val)
            return
        star = "*" if at.spread else ""
        left = (a.name_span[0], a.index[-1].span[1] + 1 if a.index else a.name_span[1])
        rhs = text_of(self.source, a.value.span)
        if len(rhs) > 60:
            rhs = "..."
        notes = [(left, f"the result has no `{e.val}`")] if left[0] != e.span[0] else []
        self.error(
            "index",
            f"`{e.val}` is used on the right but never bound",
            e.span,
            "this index is not on the left",
            notes,
            [f"to add over it, write  sum[{star}{e.val}] {rhs}"],
            name=e.val,
        )
