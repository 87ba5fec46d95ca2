"""Calls of ops whose tensors say their axes, lowered: the callee's statements in the caller, and its results as
temporaries.

What the arguments decide is found in call_arguments.py and written into the statements by call_axes.py."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import Axis, axes, loop_index
from ..ir.builders import FALSE, TRUE, read
from ..ir.expression import E, Random, RawResult, Read, Select
from ..ir.program import Loop, Owned, Stmt, Tensor, made_by
from ..ir.rewriting import mapped, symbols, transform
from ..ir.row_calls import NotInlined
from ..opdef import OpDef, TypeOf
from ..text.syntax import Assign
from .call_arguments import bind
from .call_axes import Placed
from .context import Mistake
from .dims import Item
from .inline import given_by, taken_by
from .renaming import gradients_said


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
    backward = {n for own in callee.owned for n in made_on_the_way(own)}
    for n, t in callee.forward.tensors.items():
        if n in at.names or t.role == "input" or n in backward:  # given, or absent
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
        try:
            holds, values = at.expression(r.holds, {}), tuple(at.expression(v, {}) for v in r.values)
        except NotInlined:
            continue  # of an axis by its number, which only a call from outside has
        if holds != TRUE:
            work.required.append(replace(r, holds=holds, values=values))
    made = [replace(s, when=None if s.when == TRUE else s.when) for s in made]
    draws: dict[int, E] = {}  # each draw of the callee is one of the caller's
    drawn = lambda e: draws.setdefault(e.draw, Random(work.site())) if isinstance(e, Random) else None
    made = [
        replace(s, body=transform(s.body, drawn), pred=None if s.pred is None else transform(s.pred, drawn))
        for s in made
    ]
    changed = {at.names[n]: n for n in given_by(callee.tree)[1] if n in at.names}
    made, after = unchanged(made, changed, work)
    given = dict(at.names)
    at.names |= {changed[t]: name for t, name in after.items()}
    if callee.tree.grads or callee.tree.nograd is not None:
        keep_gradients(work, callee, at, given, made)
    else:
        for own in callee.owned:
            carry_gradients(work, callee, own, at, given)
    work.stmts += without_copies(made, work)
    for n, target in wanted.items():
        if n not in direct:
            copy(work, target, at.names[n])


def keep_gradients(work, callee: OpDef, at: Placed, before: dict[str, str], made: list[Stmt]) -> None:
    """The gradients that the callee says stand for what would be derived of its statements (`made`).  before: its
    parameters, as they were.  Those of a body are put in the place of it where they are asked for
    (dsl/gradients/reverse.py)."""
    if callee.raw:
        return
    said, complete = gradients_said(callee.tree)
    slopes = {f"g_{n}": f"g_{at.names[n]}" for n in callee.outputs if f"g_{n}" in callee.tensors}
    for n, name in slopes.items():
        declare(work, at.tensor(callee.tensors[n], name))
    at.names |= slopes
    targets: dict[str, str] = {}
    given = [p.name for p in callee.params if p.name in said and p.name in at.names]
    for n in [n for n in given if n in callee.grads]:
        at.names[f"d_{n}"] = d = f"d_{at.names[callee.outputs[0]]}_{len(targets)}_"
        targets[d] = before[n]
        declare(work, at.tensor(callee.tensors[f"d_{n}"], d))
    stmts: list[Stmt] = []
    own = {f"d_{n}" for n in callee.grads}
    for s in [s for part in callee.grads.values() for s in part]:
        if s.when is not None and at.expression(s.when, {}) == FALSE:
            continue
        if s.target in own - at.names.keys():
            continue  # of what is not given
        for n in [n for n in made_by(s) if n not in at.names]:
            at.names[n] = name = work.temp()
            declare(work, at.tensor(callee.tensors[n], name))
        stmts.append(at.statement(s, work.loop))
    args = tuple(before[n] for n in given)
    inner = tuple(dict.fromkeys(t for s in made for t in made_by(s)))
    results = tuple(at.names[n] for n in callee.outputs)
    work.placed_gradients.append(Owned(results, inner, args, complete, stmts, targets))


def made_on_the_way(own: Owned) -> list[str]:
    """The cotangents that a call's gradients begin with, and what its statements make of them."""
    return list(dict.fromkeys([*(f"g_{n}" for n in own.results), *(n for s in own.stmts for n in made_by(s))]))


def carry_gradients(work, callee: OpDef, own: Owned, at: Placed, before: dict[str, str]) -> None:
    """The gradients said by an op that the callee calls stand for what would be derived of that op's statements here,
    too.  own: that call; before: as in `keep_gradients`."""
    if not all(n in at.names for n in (*own.results, *own.args)):
        return  # what is not given is not computed
    cotangents = {f"g_{n}": f"g_{at.names[n]}" for n in own.results}
    for n in made_on_the_way(own):
        if n in callee.tensors:
            at.names[n] = name = cotangents[n] if n in cotangents else work.temp()
            declare(work, at.tensor(callee.tensors[n], name))
    made = [s for s in own.stmts if s.when is None or at.expression(s.when, {}) != FALSE]
    work.placed_gradients.append(
        Owned(
            tuple(at.names[n] for n in own.results),
            tuple(at.names[n] for n in own.inner if n in at.names),
            tuple(before.get(n, at.names[n]) for n in own.args),
            own.complete,
            [at.statement(s, work.loop) for s in made],
            {at.names[d]: before.get(t, at.names[t]) for d, t in own.targets.items() if d in at.names},
        )
    )


def results(a: Assign, callee: OpDef) -> dict[str, Assign]:
    """What takes each result of the callee: none of several where one name stands for all, `f.values`."""
    assert callee.tree is not None
    return dict(zip(taken_by(a, callee.tree) or (), a.targets()))


def unchanged(made: list[Stmt], changed: dict[str, str], work) -> tuple[list[Stmt], dict[str, str]]:
    """The statements with new tensors in the place of what they change, and their names by those of the caller's
    tensors.  changed: those tensors, and the callee's parameters."""
    after: dict[str, str] = {}
    out: list[Stmt] = []
    latest = lambda e: transform(
        e, lambda x: read(after[x.tensor], x.index, x.fallback) if isinstance(x, Read) and x.tensor in after else None
    )
    for s in made:
        s = replace(
            s, body=latest(s.body), pred=None if s.pred is None else latest(s.pred), idx=tuple(map(latest, s.idx))
        )
        if s.target in changed:
            before = read(after.get(s.target, s.target), s.idx)
            name = f"{s.target}_"
            while name in work.tensors:
                name += "_"
            work.declare(
                replace(work.tensors[s.target], name=name, role="temp", optional=False, mut=False), work.items[s.target]
            )
            after[s.target] = name
            body = s.body if s.when is None else Select(s.when, s.body, before)
            s = replace(s, target=name, body=body, when=None)
        out.append(s)
    return out, after


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
