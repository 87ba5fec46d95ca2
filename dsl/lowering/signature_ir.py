"""Parameters, computed sizes and preconditions of an op, as formulas over its environment."""

from __future__ import annotations

import re

from ..ir.builders import TRUE, integer, sym
from ..ir.expression import Binary, E, Unary
from ..opdef import Param, Require
from ..text.parse import parse_formula
from ..text.source import Source
from ..text.syntax import Param as ParamTree
from ..text.syntax import X
from ..text.vocabulary import LISTS, is_tensor
from .context import Context, Mistake
from .dims import result_type


def parameters(op) -> list[Param]:
    """`op` is the lowering of one op (here and below)."""
    return [tensor(p) if is_tensor(p) else option(op, p) for p in op.op.params]


def tensor(p: ParamTree) -> Param:
    return Param(
        p.name,
        "tensor",
        result_type(p.type),
        p.type.optional,
        p.keyword,
        mut=p.mut,
        flat=any(d.flat for d in p.type.dims or ()),
        instead="num" if p.type.instead == "real" else p.type.instead,
        precise=p.type.instead == "real",
    )


def option(op, p: ParamTree) -> Param:
    t = p.type
    rank = op.patterns.rank.get(p.name) if t.name in LISTS else None
    packs = t.dims[0].name if t.name in LISTS and t.dims and t.dims[0].kind == "pack" else ""
    everything = p.default is not None and p.default.kind == "name" and p.default.val == "all"
    default = None
    if p.default is not None and not everything:
        if t.name == "choice":
            default = integer(t.choices.index(p.default.val)) if p.default.val in t.choices else None
        elif rank is not None and p.default.kind == "name":
            default = sym(p.default.val)  # another list
        else:
            try:
                default = op.formulas.lower(p.default, Context())
            except Mistake as m:
                op.fail(m)
    return Param(
        p.name,
        t.name,
        "",
        t.optional,
        p.keyword,
        default,
        p.default is not None,
        t.choices,
        -1 if rank is None else rank,
        packs,
    )


def sizes_of(op) -> list[tuple[str, E]]:
    """The `where` sizes in order; a pack gives one for each component."""
    out: list[tuple[str, E]] = []
    for s in op.op.sizes:
        rank = op.patterns.rank.get(s.name) if s.pack else None
        try:
            if s.pack and rank is None:
                raise Mistake("rank", f"how many axes `*{s.name}` has is unknown", s.span)
            for j in range(rank) if s.pack else (None,):
                out.append((s.name if j is None else f"{s.name}{j}", op.formulas.lower(s.value, Context(component=j))))
        except Mistake as m:
            op.fail(m)
    return out


def requirements(op) -> list[Require]:
    """A precondition over packs is one for each component."""
    out: list[Require] = []
    for r in op.op.requires:
        rank = op.patterns.rank_in(r.condition)
        for j in range(rank) if rank is not None else (None,):
            c = Context(component=j)
            try:
                holds = op.formulas.lower(r.condition, c)
                for other, text in worded(op, r.message):
                    if holds != TRUE:
                        out.append(Require(Binary("or", other, holds) if other else holds, *fill(op, text, c)))
            except Mistake as m:
                op.fail(m)
    return out


def worded(op, message: str) -> list[tuple[E | None, str]]:
    """A message for each value of the choices and bools that it names, in words; and the condition that it is another
    value.

    The last has none: it is asked after the others, where nothing else is left."""
    out: list[tuple[E | None, str]] = [(None, message)]
    for name in dict.fromkeys(re.findall(r"\{(\w+)\}", message)):
        t = op.options.get(name)
        words = t.choices if t and t.name == "choice" else ("false", "true") if t and t.name == "bool" else ()
        values = [(Unary("not", Binary("==", sym(name), integer(k))), word) for k, word in enumerate(words)]
        if values:
            out = [
                (Binary("or", other, no) if other else no, text.replace(f"{{{name}}}", word))
                for other, text in out
                for no, word in values
            ]
    return [*out[:-1], (None, out[-1][1])]


def fill(op, message: str, c: Context) -> tuple[str, tuple[E, ...]]:
    """`got {stride}` -> ("got {0}", (the value,)); of a type "{type 0}" its name.  The family variable is filled in at
    once."""
    values: list[E] = []

    def hole(m: re.Match) -> str:
        text = m[1]
        if text in op.families:
            return str(op.families[text])
        formula = parse_formula(Source("message", text), 0, len(text))
        if isinstance(formula, X):
            values.append(op.formulas.lower(formula, c))
        else:
            raise Mistake("syntax", f"`{text}` is no formula", op.op.span)
        return ("{type %d}" if formula.kind == "call" and formula.val == "type" else "{%d}") % (len(values) - 1)

    return re.sub(r"\{([^{}]+)\}", hole, message), tuple(values)
