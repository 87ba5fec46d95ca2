"""The tests inside definitions as data, for whoever runs them without Python: the op playground's page.

A value is {"value": ...}, {"tensor": elements, "dtype": ...}, {"call": a name in `own` or "torch....", "args": [...],
"options": {...}}, {"field": name, "of": value} or {"list": [values]}.  Types are those that numpy gives lists, so that
the answers are as exact as those of `python3 build.py check`."""

from __future__ import annotations

from codegen.api.described import family
from dsl.opdef import Library, OpDef, Param
from dsl.testing.examples import value
from dsl.text.source import Source
from dsl.text.syntax import Test, X
from dsl.text.vocabulary import text_of

from .call_arguments import finite


class Unrunnable(Exception):
    """A test that the page cannot run; the text says why."""


def in_order(op: OpDef, library: Library, source: Source) -> list[dict]:
    """In the order of the definition.  got, want: values; about: whether `~=` compares them; raises: the words of the
    error that is to come; why: why the page cannot run it."""
    return [{"line": source.place(t.span[0])[0] + 1, "text": written(t, source), **data(t, library)} for t in op.tests]


def written(test: Test, source: Source) -> str:
    return text_of(source, test.span).removeprefix("test ")


def data(test: Test, library: Library) -> dict:
    try:
        if test.raises is not None:
            return {"got": encoded(test.condition, library), "raises": test.raises}
        got, want = (encoded(e, library) for e in test.condition.args)
        return {"got": got, "want": want, "about": test.condition.kind == "~="}
    except Unrunnable as e:
        return {"why": str(e)}


def encoded(e: X, library: Library, parameter: Param | None = None) -> dict:
    """parameter: what the value is given for, if it is an argument."""
    if e.kind == "call":
        return call(e, library)
    if e.kind == "field":
        return {"field": e.val, "of": encoded(e.args[0], library)}
    if any(has_call(a) for a in e.args):
        if e.kind == "list":
            return {"list": [encoded(a, library) for a in e.args]}
        raise Unrunnable("it computes with results")
    found = value(e, unknown)
    number = not isinstance(found, list) and parameter is not None and parameter.instead == "num"
    if parameter is not None and parameter.kind == "tensor" and not number and found is not None:
        return {"tensor": finite(found), "dtype": dtype([found])}
    return {"value": finite(found)}


def call(e: X, library: Library) -> dict:
    op = library.ops.get(str(e.val))
    if op is None or not op.aliases:
        raise Unrunnable(f"`{e.val}` has no name outside of definitions")
    if op.tree is not None and any(o.type is not None and o.type.complex for o in op.tree.outputs):
        raise Unrunnable(f"`{e.val}` gives complex numbers, which are of 32 bits, and tests compute with 64")
    by_name = {p.name: p for p in op.params}
    places = [p for p in op.params if not p.keyword]
    args = [a for a in e.args if a.kind != "kw"]
    options = {str(a.val): a.args[0] for a in e.args if a.kind == "kw"}
    said = {n: encoded(a, library, by_name.get(n)) for n, a in options.items()}
    # A choice of one tells overloads apart.
    for p in op.params:
        if len(p.choices) == 1 and p.choices != ("false",) and p.name not in said and p not in places[: len(args)]:
            said[p.name] = {"value": p.choices[0] == "true" or p.choices[0]}
    return {
        "call": family(op, op.aliases[0]),
        "args": [encoded(a, library, p) for a, p in zip(args, places)],
        "options": said,
    }


def has_call(e: X) -> bool:
    return e.kind == "call" or any(map(has_call, e.args))


def unknown(name: str):
    raise Unrunnable(f"`{name}` is called where a number stands")


def dtype(x: object) -> str:
    """The type that numpy gives an array of such elements."""
    kinds = {type(y) for y in flat(x)}
    return "float64" if float in kinds or not kinds else "int64" if int in kinds else "bool"


def flat(x: object) -> list:
    return [z for y in x for z in flat(y)] if isinstance(x, list) else [x]
