"""Names in formulas with a name: what a `def` calls its parameters and the steps it takes."""

from __future__ import annotations

from ..text.diagnostics import Error, did_you_mean
from ..text.source import Source
from ..text.syntax import Def, Let, Op, Repeat, Span, X
from ..text.vocabulary import FUNCTIONS, nodes_in, word
from .constants import WHOLE
from .formulas import Formulas
from .scope import CONSTANTS, Scope, Thing, Vocabulary


def check_heading(walk: Formulas, d: Def, kind: str):
    """The names of a definition and of its parameters, which are things of a kind for what follows."""
    if d.name.endswith("_"):
        walk.error("name", f"`{d.name}` ends in `_`", d.name_span, "such names are kept for generated code")
    if d.name in FUNCTIONS:
        walk.error("name", f"`{d.name}` means something already", d.name_span, "it is a function of the language")
    for i, p in enumerate(d.params):
        at = word(walk.source, (d.name_span[1], d.span[1]), p, d.params[:i].count(p))
        if p in d.params[:i]:
            walk.error("name", f"`{p}` means something already", at, "a second parameter")
        if p.endswith("_"):
            walk.error("name", f"`{p}` ends in `_`", at, "such names are kept for generated code")
        walk.things[p] = Thing(kind, p, at)


def check_def(d: Def, source: Source, vocabulary: Vocabulary) -> list[Error]:
    """A formula, or a function with steps; dsl/checking/names.py checks what is over tensors, dsl/checking/groups.py
    what asks."""
    walk = Formulas(Scope(Op(d.name, (), (), span=d.span, name_span=d.name_span), source), vocabulary)
    check_heading(walk, d, "option")
    for n in (n for e in formulas_of(d) for n in nodes_in(e)):
        if n.kind in ("read", "field", "reduce", "str", "list", "spread"):
            walk.error(
                "type",
                "a `def` is a formula of numbers",
                n.span,
                "accesses and reductions stand in the op that calls it",
            )
            return walk.errors
        if n.kind == "??" and d.value is None:
            walk.error(
                "type",
                "a function with steps is of numbers, and no number is missing",
                n.span,
                "`??` stands in the op that calls it",
            )
            return walk.errors
    if d.value is not None:
        walk.visit(d.value, WHOLE)
    else:
        check_steps(walk, d)
    for p in d.params if not walk.errors else ():
        if p not in walk.used:
            walk.error("name", f"the parameter `{p}` is never used", walk.things[p].span, name=p)
    walk.errors += cycle(d.name, d.name_span, vocabulary)
    return walk.errors


def formulas_of(d: Def) -> list[X]:
    """All formulas of a definition."""
    if d.value is not None:
        return [d.value]
    out: list[X] = [e for a in d.body for e in (a.value, *(a.index or ()))] + [r.condition for r in d.requires]
    for s in d.steps:
        if isinstance(s, Repeat):
            out += [e for e in (s.low, s.high, s.condition) if e is not None]
            for t in s.steps:
                out += t.values
        else:
            out += s.values
    return out


def check_steps(walk: Formulas, d: Def):
    """The steps of a `def`, in order: nothing is used before it is assigned, and `out` is."""
    assigned = {n for s in d.steps for t in (s.steps if isinstance(s, Repeat) else (s,)) for n in t.names}
    walk.later = set(assigned)

    def let(t: Let):
        for v in t.values:
            walk.visit(v, WHOLE)
        for n in t.names:
            if n in d.params:
                walk.error("name", f"the parameter `{n}` is assigned", t.span, "take another name", name=n)
            elif n in CONSTANTS or n in FUNCTIONS:
                walk.error("name", f"`{n}` means something already", t.span, "take another name", name=n)
            elif n.endswith("_"):
                walk.error("name", f"`{n}` ends in `_`", t.span, "such names are kept for generated code", name=n)
            walk.later.discard(n)
            walk.things.setdefault(n, Thing("option", n, t.span))

    for s in d.steps:
        if not isinstance(s, Repeat):
            let(s)
            continue
        for bound in (s.low, s.high):
            walk.visit(bound, WHOLE)
        if s.index in walk.things or s.index in assigned:
            walk.error(
                "name", f"`{s.index}` means something already", s.span, "take another name for the index", name=s.index
            )
        walk.things[s.index] = Thing("option", s.index, s.span)
        if s.condition is not None:
            walk.visit(s.condition, WHOLE)
        for t in s.steps:
            let(t)
        del walk.things[s.index]
    if "out" not in assigned:
        walk.error("name", "nothing assigns the result `out`", d.name_span, help=("write  out = ...",))
    for n in assigned - walk.used - {"out"}:
        walk.error("name", f"`{n}` is assigned, but never used", d.name_span, name=n)
    used = set(walk.used)
    for p, slope in d.slopes:
        if p not in d.params:
            walk.error(
                "grad", f"`{d.name}` has no parameter `{p}` to differentiate by", slope.span, did_you_mean(p, d.params)
            )
        walk.things = {n: t for n, t in walk.things.items() if n in (*d.params, "out")}
        walk.visit(slope, WHOLE)
    walk.used = used


def cycle(name: str, at: Span, vocabulary: Vocabulary) -> list[Error]:
    """A definition that calls itself, at once or through others: formulas are put in place, so that never ends.
    A body is not; what its gradient calls is put in place once for each derivative."""
    path: list[str] = []

    def calls(n: str) -> list[str]:
        if n in vocabulary.defs:
            formulas = formulas_of(vocabulary.defs[n])
        elif n not in vocabulary.ops or vocabulary.ops[n].launches:
            formulas = []
        else:
            formulas = [a.value for a in vocabulary.ops[n].body + vocabulary.ops[n].grads]
        found = dict.fromkeys(m.val for f in formulas for m in nodes_in(f) if m.kind == "call")
        return [m for m in found if m not in FUNCTIONS and (m in vocabulary.defs or m in vocabulary.ops)]

    def search(n: str, seen: set[str]) -> bool:
        for m in calls(n):
            if m == name:
                return True
            if m in seen:
                continue
            seen.add(m)
            path.append(m)
            if search(m, seen):
                return True
            path.pop()
        return False

    if not search(name, set()):
        return []
    through = " through " + ", ".join(f"`{p}`" for p in path) if path else ""
    return [Error("name", f"`{name}` calls itself{through}", at, "its formula would never end")]
