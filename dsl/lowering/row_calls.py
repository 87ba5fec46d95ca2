"""Calls of ops whose tensors say their axes, lowered: the callee's statements in the caller, and its results as
temporaries.

What the arguments decide is found in call_arguments.py and written into the statements by call_axes.py."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import Axis, axes, loop_index
from ..ir.builders import FALSE, TRUE, read
from ..ir.expression import Random, RawResult, Read, walk
from ..ir.program import Loop, Stmt, Tensor
from ..ir.rewriting import mapped, symbols
from ..ir.row_calls import NotInlined
from ..opdef import OpDef, TypeOf
from ..text.syntax import Assign
from .call_arguments import bind
from .context import Mistake
from .dims import Item


def place(work, a: Assign, callee: OpDef):
    """`a`: an assignment whose value is nothing but the call; `work`: the caller's Lowering."""
    try:
        put(work, a, callee)
    except NotInlined as u:
        raise Mistake(
            "type", f"`{callee.name}` cannot be called in a formula", a.value.span, f"it asks for `{u.args[0]}`"
        ) from None


def put(work, a: Assign, callee: OpDef):
    """The same; raises NotInlined for what the call does not decide."""
    stem = a.name.rstrip("_")
    at = bind(work, a.value, callee)
    wanted = results(a, callee)
    results_here = {o.name for o in work.op.outputs}
    direct = {n for n, t in wanted.items() if t.name not in work.items and t.name not in results_here}
    # Of a body with several results that are differentiated, the second derivative would run it again for each.
    in_place = bool(callee.raw) and (len(callee.outputs) == 1 or work.op.nograd == ())
    for n, t in callee.forward.tensors.items():
        if n in at.names:
            continue
        if n in wanted and in_place and alike(work, wanted[n].name, at.tensor(t, "")):
            at.names[n] = wanted[n].name  # the caller's result is written where it is
            direct.add(n)
            continue
        name = wanted[n].name if n in direct else f"{stem}_{n.rstrip('_')}_"
        while name in work.tensors and n not in direct:
            name = f"{name}_"
        at.names[n] = name
        declare(work, at.tensor(t, name))
    types = {TypeOf + p.name for p in callee.params}
    made = [
        at.statement(s, work.loop) for s in at.op.forward.stmts if s.when is None or at.expression(s.when, {}) != FALSE
    ]
    for r in callee.requires:
        if r.warns or types & symbols(r.holds):
            continue  # of what callers give it, not of values in formulas
        holds = at.expression(r.holds, {})
        if holds != TRUE:
            work.required.append(replace(r, holds=holds, values=tuple(at.expression(v, {}) for v in r.values)))
    made = [replace(s, when=None if s.when == TRUE else s.when) for s in made]
    if any(isinstance(n, Random) for s in made for e in s.expressions for n in walk(e)):
        raise Mistake("type", f"`{callee.name}` cannot be called in a formula", a.value.span, "it draws random numbers")
    work.stmts += without_copies(made, work)
    for n, target in wanted.items():
        if n not in direct:
            copy(work, target, at.names[n])


def results(a: Assign, callee: OpDef) -> dict[str, Assign]:
    """What takes each result of the callee: none of several where one name stands for all, `f.values`."""
    if not a.also and len(callee.outputs) > 1:
        return {}
    return dict(zip(callee.outputs, a.targets(), strict=True))


def alike(work, name: str, t: Tensor) -> bool:
    """Whether a name is a result that the caller declares just as a callee makes it."""
    own = work.tensors.get(name)
    if own is None or own.role != "output" or own.dtype != t.dtype:
        return False
    plain = all(d.kind in ("pack", "one") and d.when is None for d in own.dims)
    return plain and [(x.pack, x.extent) for x in axes(own)] == [(x.pack, x.extent) for x in axes(t)]


def without_copies(made: list[Stmt], work) -> list[Stmt]:
    """A body reads a temporary of the caller itself, where the callee would copy it."""
    bodies = {t for s in made if isinstance(s.body, RawResult) for t in s.body.tensors}
    same: dict[str, str] = {}
    for s in made:
        if (
            s.target not in bodies
            or not isinstance(s.body, Read)
            or s.body.index != s.idx
            or s.when is not None
            or s.body.fallback is not None
        ):
            continue
        source = work.tensors[s.body.tensor]
        if (
            source.role == "temp"
            and source.dtype == work.tensors[s.target].dtype
            and all(d.kind in ("pack", "one") and d.when is None for d in source.dims)
        ):
            same[s.target] = source.name
    swap = lambda e: mapped(e, lambda x: read(same.get(x.tensor, x.tensor), ()) if isinstance(x, Read) else x)
    return [replace(s, body=swap(s.body)) if isinstance(s.body, RawResult) else s for s in made if s.target not in same]


def declare(work, t: Tensor):
    items = [
        Item(
            "pack" if d.kind == "pack" else "one",
            (Axis(pack=d.name) if d.kind == "pack" else Axis(extent=d.size),),
            d.name,
        )
        for d in t.dims
    ]
    work.declare(t, items)


def copy(work, a: Assign, source: str):
    """The result into what the caller has declared, or its result."""
    there = [x for item in work.items[source] for x in item.axes]
    if a.name not in work.items:
        work.declare(replace(work.tensors[source], name=a.name, role="output"), work.items[source])
    axes = [x for item in work.items[a.name] for x in item.axes]
    if [x.pack for x in axes] != [x.pack for x in there] or any(
        not x.pack and work.sizes_differ(x.extent, y.extent) and x.extent != y.extent
        for x, y in zip(axes, there, strict=True)
    ):
        raise Mistake("rank", f"`{a.name}` has other axes than `{a.value.val}` gives", a.value.span)
    loops = tuple(Loop(work.loop("i"), x.extent, x.pack or None) for x in axes)
    at = tuple(map(loop_index, loops))
    work.emit(a.name, at, list(loops), read(source, at), "=", None)
