"""What a definition says in the names of its caller: names replaced by arguments, and what those decide folded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..text.syntax import Binder, Op, Param, Span, X
from ..text.vocabulary import is_tensor

ABSENT = X("name", (), "none")  # stands for an optional parameter that the call leaves out
Names = dict[str, X]


def there(e: X, names: set[str]) -> X:
    """Without what stands for missing values of these, which are not missing."""
    e = replace(e, args=tuple(there(a, names) for a in e.args))
    return e.args[0] if e.kind == "??" and e.args[0].kind == "name" and e.args[0].val in names else e


def cotangents(e: X, slopes: Names) -> X:
    """A gradient's formula with a name for what comes to each of several results: `g.values`."""
    if e.kind == "field" and e.args[0].val == "g" and e.val in slopes:
        return slopes[e.val]
    return replace(e, args=tuple(cotangents(a, slopes) for a in e.args))


def gradients_said(callee: Op) -> tuple[set[str], bool]:
    """The tensors of an op whose gradients it says, or says to be none; whether those are all that could have one."""
    smooth = {p.name for p in callee.params if is_tensor(p) and p.type.name not in ("Int", "Bits", "Bool")}
    said = smooth if callee.nograd == () else smooth & {*(g.name for g in callee.grads), *(callee.nograd or ())}
    return said, said == smooth


def arguments(e: X, callee: Op) -> Iterator[tuple[Param, X]]:
    """(parameter, what the call gives it): its argument, its default or ABSENT."""
    given: Names = {}
    places = iter([p for p in callee.params if not p.keyword])
    for a in e.args:
        if a.kind == "kw":
            given[a.val] = a.args[0]
        elif (p := next(places, None)) is not None:
            given[p.name] = a
    defaults: Names = {}
    for p in callee.params:
        value = given.get(p.name)
        if value is None:
            value = rename(p.default, defaults) if p.default is not None else ABSENT
        defaults[p.name] = value
        yield p, value


def rename(e: X, names: Names) -> X:
    """Names replaced, and what the arguments decide folded."""
    if e.kind == "name":
        return replace(names[e.val], span=e.span) if e.val in names else e
    args = tuple(rename(a, names) for a in e.args)
    if e.kind == "call" and e.val == "given" and args[0] == ABSENT:
        return truth(False)
    if e.kind == "call" and e.val == "given" and args[0].kind != "name":
        return truth(True)
    if e.kind == "??" and args[0] == ABSENT:
        return args[1]
    if e.kind == "??" and args[0].kind in ("num", "str", "neg"):
        return args[0]
    if e.kind in ("==", "!=") and args[0].kind == args[1].kind == "str":
        return truth((args[0].val == args[1].val) == (e.kind == "=="))
    if e.kind == "if" and args[0] in (truth(True), truth(False)):
        return args[1] if args[0].val == "true" else args[2]
    if e.kind == "reduce":
        red, binders, where = e.val
        binders = tuple(binder(b, names) for b in binders)
        return replace(e, args=args, val=(red, binders, rename(where, names) if where is not None else None))
    return replace(e, args=args)


def placed(e: X, span: Span) -> X:
    """The expression as if it stood at the call: its own text is in another definition, perhaps another file."""
    made = replace(e, span=span, args=tuple(placed(a, span) for a in e.args))
    if e.kind != "reduce":
        return made
    red, binders, where = e.val
    ends = lambda b: {"low": b.low and placed(b.low, span), "high": b.high and placed(b.high, span)}
    return replace(
        made, val=(red, tuple(replace(b, span=span, **ends(b)) for b in binders), where and placed(where, span))
    )


def truth(value: bool) -> X:
    return X("name", (), "true" if value else "false")


def binder(b: Binder, names: Names) -> Binder:
    """`dim` given as `-1` becomes a binder named "-1": that axis of the operand."""
    if b.name not in names:
        return b
    v = names[b.name]
    text = (
        v.val
        if v.kind == "name"
        else str(v.val)
        if v.kind == "num"
        else f"-{v.args[0].val}"
        if v.kind == "neg"
        else b.name
    )
    return replace(b, name=text)


def renamed_message(message: str, names: Names) -> str:
    """The holes of a message speak of the callee's options; a constant given for one is written out."""

    def hole(m: re.Match) -> str:
        v = names.get(m[1])
        if v is None:
            return m[0]
        if v.kind == "neg" and v.args[0].kind == "num":
            return f"-{v.args[0].val}"
        return f"{{{v.val}}}" if v.kind == "name" else str(v.val) if v.kind in ("num", "str") else m[1]

    return re.sub(r"\{([^{}]+)\}", hole, message)
