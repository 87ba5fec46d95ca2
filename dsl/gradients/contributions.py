"""The gradient of a tensor from what each of its readers contributed: as few statements as possible."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import loop_dim, loop_index
from ..ir.builders import add, read
from ..ir.conditions import exclusive
from ..ir.expression import Read, Unary
from ..ir.program import Fresh, Stmt, Tensor
from ..ir.rewriting import transform
from ..ir.tidy import rebuilt, renamed, simplify


def total(target: str, parts: list[Stmt], tensors: dict[str, Tensor], fresh: Fresh, spread: bool) -> list[Stmt]:
    """Statements that leave the sum of `parts` in `target`; new temporaries go into `tensors`.

    Parts over the same loops become one statement.  The first statement is `=` if it reaches every
    element; scatters, which do not, come last, always as `+=`."""
    scatters = [p for p in parts if p.mode == "+="]
    merged: list[Stmt] = []
    for p in parts:
        if p.mode == "+=":
            continue
        if not taken_in(p, merged, fresh):
            merged.append(p)
    merged.sort(key=lambda p: (p.when is not None, p.red is None))
    out: list[Stmt] = []
    if not spread and len(merged) == 2 and merged[0].red and not merged[1].red and merged[0].when == merged[1].when:
        first, last = merged  # a reduction, then a formula that uses it
        t = fresh("part")
        tensors[t] = Tensor(t, "temp", tuple(map(loop_dim, first.loops)), tensors[target].dtype)
        out.append(replace(first, target=t, idx=tuple(map(loop_index, first.loops))))
        names = {v.name: w.name for v, w in zip(first.loops, last.loops)}
        at = tuple(loop_index(replace(v, name=names[v.name])) for v in first.loops)
        merged = [replace(last, body=add(last.body, read(t, at)))]
    for p in alternatives(merged, fresh):
        before = [q for q in out if q.target == target]
        out.append(
            replace(
                p, target=target, spread=spread, mode="=" if all(exclusive(p.when, q.when) for q in before) else "+="
            )
        )
    return out + [replace(p, target=target, spread=spread) for p in scatters]


def taken_in(p: Stmt, merged: list[Stmt], fresh: Fresh) -> bool:
    """Adds p to the first of the statements that it can be one with; whether there is one."""
    for i, q in enumerate(merged):
        both = joined(q, p, fresh)
        if both is not None:
            merged[i] = both
            return True
    return False


def alternatives(parts: list[Stmt], fresh: Fresh) -> list[Stmt]:
    """A formula and one that is added only under a condition: instead, two complete formulas, one for when
    the condition holds and one for when it does not."""
    plain = [p for p in parts if p.red is None]
    if len(plain) != 2 or plain[0].when is not None:
        return parts
    always, sometimes = plain
    condition = sometimes.when
    both = joined(always, replace(sometimes, when=None), fresh)
    if both is None or condition is None:
        return parts
    split = [replace(both, when=condition), replace(always, when=Unary("not", condition))]
    return split + [p for p in parts if p.red is not None]


def joined(a: Stmt, b: Stmt, fresh: Fresh) -> Stmt | None:
    """One statement for a + b, if they run over the same loops under the same conditions."""
    if a.red != b.red or a.when != b.when or len(a.loops) != len(b.loops) or len(a.rloops) != len(b.rloops):
        return None
    kernel_a, kernel_b = a.loops + a.rloops, b.loops + b.rloops
    away = renamed(b, {v.name: fresh(v.name) for v in kernel_b})
    back = renamed(away, {v.name: w.name for v, w in zip(away.loops + away.rloops, kernel_a)})
    if back.loops != a.loops or back.rloops != a.rloops or back.pred != a.pred or back.idx != a.idx:
        return None
    return replace(a, body=simplify(add(a.body, back.body)))


def redirected(s: Stmt, other: dict[str, str]) -> Stmt:
    """The statement with the tensors that it reads replaced by others."""
    return rebuilt(
        s,
        lambda e: transform(
            e,
            lambda n: read(other[n.tensor], n.index, n.fallback) if isinstance(n, Read) and n.tensor in other else None,
        ),
    )
