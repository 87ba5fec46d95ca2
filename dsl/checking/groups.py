"""Groups of requirements: a `def` that has nothing else, asked for by its name.

    def index_fits(dim)
        require rank(A) == rank(P) and rank(B) == rank(Q), "index must have as many dimensions as self"

An op says `require index_fits(dim)`.  Parameters are tensors, options, numbers and texts; sizes and packs, in capitals,
are those of the op that asks.  The requirements stand in its place in the syntax tree, before anything is checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..lowering.renaming import placed, rename
from ..text.diagnostics import did_you_mean
from ..text.source import Source
from ..text.syntax import Def, Op, Require, X
from ..text.vocabulary import nodes_in
from .constants import WHOLE, message, number
from .def_names import check_heading
from .elements import looks
from .formulas import Formulas
from .scope import Scope, Thing

PLAIN = ("name", "num", "str")


def groups_in(files: Iterable[list]) -> dict[str, Def]:
    return {i.name: i for items in files for i in items if isinstance(i, Def) and i.requires}


def with_groups(items: list, defs: dict[str, Def]) -> list:
    """The items of a file, with the requirements of a group in the place of its name.  What names no group, or gives
    one other arguments, stays as it is, for `check_asked` to tell."""
    asks = lambda i: isinstance(i, Op) and any(not r.message for r in i.requires)
    return [
        replace(i, requires=tuple(s for r in i.requires for s in members(r, defs))) if asks(i) else i for i in items
    ]


def members(r: Require, defs: dict[str, Def]) -> tuple[Require, ...]:
    call = r.condition
    d = defs.get(str(call.val)) if call.kind == "call" and not r.message else None
    if d is None or not d.requires or len(call.args) != len(d.params) or any(a.kind not in PLAIN for a in call.args):
        return (r,)
    names = dict(zip(d.params, call.args))
    return tuple(
        Require(placed(rename(s.condition, names), r.span), worded(s.message, names), r.span, d.name)
        for s in d.requires
    )


def worded(text: str, names: dict[str, X]) -> str:
    """A group's message with its parameters replaced: a text or number as it is, a name inside the braces."""

    def hole(m: re.Match) -> str:
        alone = names.get(m[1])
        if alone is not None and alone.kind != "name":
            return str(alone.val)
        inner = re.sub(r"[A-Za-z_]\w*", lambda n: str(names[n[0]].val) if n[0] in names else n[0], m[1])
        return f"{{{inner}}}"

    return re.sub(r"\{([^{}]+)\}", hole, text)


def check_group(d: Def, source: Source, vocabulary) -> list:
    """The definition of a group: every small name is a parameter, every parameter is used."""
    walk = Formulas(Scope(Op(d.name, (), (), span=d.span, name_span=d.name_span), source), vocabulary)
    check_heading(walk, d, "local")
    walk.untyped = {
        *d.params,
        *(n.val for r in d.requires for n in nodes_in(r.condition) if n.kind == "name" and n.val[:1].isupper()),
    }
    for n in walk.untyped:
        walk.things.setdefault(n, Thing("local", n, d.name_span))
    for r in d.requires:
        if not r.message:
            walk.error(
                "syntax", "a group asks for no other", r.span, help=('write  require CONDITION, "what is wrong"',)
            )
        elif looks(r):
            walk.visit(r.condition, WHOLE)
        else:
            number(walk, r.condition, "a condition")
            message(walk, r, source)
    for p in d.params if not walk.errors else ():
        if p not in walk.used:
            walk.error("name", f"the parameter `{p}` is never used", walk.things[p].span, name=p)
    return walk.errors


def check_asked(walk, r: Require):
    """A requirement without a message that is still there: it names no group, or not as that is defined."""
    call = r.condition
    if call.kind != "call":
        walk.error(
            "syntax", "this requirement has no message", r.span, help=('write  require CONDITION, "what is wrong"',)
        )
        return
    name = str(call.val)
    at = (call.span[0], call.span[0] + len(name))
    d = walk.vocabulary.defs.get(name)
    if d is None or not d.requires:
        groups = [g.name for g in walk.vocabulary.defs.values() if g.requires]
        walk.error(
            "name",
            f"no group of requirements is called `{name}`",
            at,
            did_you_mean(name, groups),
            help=('a single one has a message:  require CONDITION, "what is wrong"',),
        )
    elif len(call.args) != len(d.params):
        walk.error(
            "option",
            f"`{name}` takes {len(d.params)} argument{'s' * (len(d.params) != 1)}, but gets {len(call.args) or 'none'}",
            at,
            f"it is  def {name}({', '.join(d.params)})",
        )
    else:
        wrong = next(a for a in call.args if a.kind not in PLAIN)
        walk.error(
            "option",
            f"`{name}` takes names, numbers and texts",
            wrong.span,
            "this is none",
            help=("name what is computed:  where N = ...",),
        )
