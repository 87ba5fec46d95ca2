"""Checks of the arguments of a call: how many, which names, which texts.

Called by dsl/checking/formulas.py for formulas and by dsl/checking/names.py for tests."""

from __future__ import annotations

from ..text.diagnostics import choice_label, did_you_mean, either
from ..text.syntax import Op, X
from ..text.vocabulary import FUNCTIONS, axis_number
from .shapes import KINDS


def check_call(walk, e: X, at=None):
    """`walk` has `vocabulary` and `error(code, message, span, label, ...)`."""
    name = e.val
    where = (e.span[0], e.span[0] + len(name))
    if name in FUNCTIONS and not (at is None and name in walk.vocabulary.ops):
        function(walk, e, where, *FUNCTIONS[name], f"`{name}`")
    elif name in walk.vocabulary.defs:
        d = walk.vocabulary.defs[name]
        function(
            walk, e, where, len(d.params), len(d.params), f"`{name}`", "it is  def " + f"{name}({', '.join(d.params)})"
        )
    elif name in walk.vocabulary.ops:
        op(walk, e, walk.vocabulary.ops[name], where)
    if name in MEASURES and len(e.args) == FUNCTIONS[name][0]:
        measure(walk, e)
    if name == "inside" and len(e.args) == 1 and e.args[0].kind != "read":
        walk.error("type", "`inside` asks about an access", e.args[0].span, "write  inside(x[...])")


# What the arguments of functions that speak of a signature may be: kinds of names, or a number.
MEASURES = {
    "rank": (("tensor", "pack", "local", "output"),),
    "numel": (("tensor", "pack", "local", "output", "option"),),
    "size": (("tensor",), "num"),
    "given": (("tensor", "option"),),
    "type": (("tensor", "option"),),
    "fits": (("pack",), ("pack",)),
    "same": (("tensor",), ("tensor",)),
    "stretched": (("tensor",), ("tensor",)),
    "number": (("tensor",),),
    "nth": (("option", "pack", ""), ""),
}


def measure(walk, e: X):
    """The arguments of `rank`, `numel`, `size`, `given`, `type`, `fits`, `same`, `stretched` and `nth`."""
    for x, kinds in zip(e.args, MEASURES[e.val]):
        thing = walk.things.get(x.val) if x.kind == "name" else None
        if x.kind == "name" and x.val in walk.untyped:
            continue
        if kinds == "num":
            if axis_number(x) is None:
                walk.error("option", f"`{e.val}` takes the number of an axis, 0 or -1", x.span, "this is none")
        elif kinds == "" or thing and thing.kind in kinds or x.kind == "name" and not thing and "" in kinds:
            pass
        elif x.kind != "name" or thing:
            walk.error(
                "option",
                f"`{e.val}` takes the name of {' or '.join(KINDS[k] for k in kinds if k)}",
                x.span,
                f"this is {KINDS[thing.kind]}" if thing else "",
            )
        if e.val == "numel" and thing and thing.kind == "option" and (thing.type is None or thing.type.name != "dims"):
            walk.error("option", "`numel` of an option is that of the axes it names", x.span, "its type is not `dims`")
        if e.val == "type" and thing and thing.kind == "option" and (thing.type is None or thing.type.name != "dtype"):
            walk.error("option", "`type` of an option is the one it asks for", x.span, "its type is not `dtype`")
        if e.val == "given" and thing:
            p = next((p for p in walk.scope.op.params if p.name == x.val), None)
            if p and not p.type.optional:
                walk.error("option", f"`{x.val}` is always given", x.span, "its type has no `?`")


def function(walk, e: X, where, least: int, most: int, what: str, label: str = ""):
    keyword = next((a for a in e.args if a.kind == "kw"), None)
    if keyword:
        walk.error("option", f"{what} has no options", keyword.span, f"leave out `{keyword.val}=`")
    elif not least <= len(e.args) <= most:
        takes = f"{least}" if least == most else f"{least} or {most}"
        walk.error(
            "option",
            f"{what} takes {takes} argument{'s' * (most != 1)}, but gets {len(e.args) or 'none'}",
            where,
            label,
        )


def op(walk, e: X, o: Op, where):
    """Arguments of a call of an op: places, names, choices, and that nothing is missing."""
    positional = [a for a in e.args if a.kind != "kw"]
    params = {p.name: p for p in o.params}
    by_place = [p for p in o.params if not p.keyword]
    given: dict[str, X] = dict(zip((p.name for p in by_place), positional))
    seen_keyword = False
    for a in e.args:
        if a.kind == "kw":
            seen_keyword = True
        elif seen_keyword:
            walk.error(
                "option",
                "an argument without a name stands after one with a name",
                a.span,
                "move it forward, or name it",
            )
            return
    if len(positional) > len(by_place):
        extra = positional[len(by_place)]
        names = [p.name for p in o.params if p.keyword]
        walk.error(
            "option",
            f"`{e.val}` takes {len(by_place)} argument{'s' * (len(by_place) != 1)} without a name, but gets "
            f"{len(positional)}",
            extra.span,
            f"name it: {either(f'`{n}=`' for n in names[:4])}" if names else "this one is too many",
        )
        return
    for a in e.args:
        if a.kind != "kw":
            continue
        at = (a.span[0], a.span[0] + len(a.val))
        if a.val not in params:
            walk.error(
                "option",
                f"`{e.val}` has no option `{a.val}`",
                at,
                did_you_mean(a.val, params) or "it has " + either(f"`{n}`" for n in list(params)[:6]),
            )
        elif a.val in given:
            walk.error("option", f"`{a.val}` is given twice", at)
        else:
            given[a.val] = a.args[0]
    for name, value in given.items():
        choices = params[name].type.choices
        if value.kind == "str" and value.val not in choices:
            if choices:
                walk.error(
                    "option", f'`{name}` has no choice `"{value.val}"`', value.span, choice_label(value.val, choices)
                )
            else:
                walk.error("option", f"`{name}` is no text", value.span, f"its type is `{params[name].type.name}`")
    missing = [p.name for p in o.params if p.name not in given and p.default is None and not p.type.optional]
    unknown = any(a.kind == "kw" and a.val not in params for a in e.args)
    if missing and not unknown:
        walk.error(
            "option",
            f"`{e.val}` needs {either(f'`{m}`' for m in missing).replace(' or ', ' and ')}",
            where,
            "not given",
        )
