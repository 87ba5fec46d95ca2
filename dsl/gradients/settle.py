"""Which of several values for one place stays: the last, on every device.

A statement  t[f(i)] = body  whose place f is read from a tensor may meet a place several times.  On a GPU
its points run at once, so `settled` lets them first agree on the last point for each place:

    last[k] = -1;   last[f(i)] max= n(i);   t[f(i)] = body   if last[f(i)] == n(i)

where n numbers the points in order.  Where a call has but one point for each place (`index_copy_` of one row into a
cache) they need not, and it is stored as it is.  Not here: statements whose value is the same at all points of one
place, and those that collide along packs of unknown rank, whose points have no number."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import axes, loop_index
from ..ir.builders import ONE, ZERO, add, conj, idx, integer, is_loop, mul, read
from ..ir.expression import Binary, E
from ..ir.program import Fresh, Loop, Program, Stmt, overwrites


def settled(p: Program, fresh: Fresh) -> None:
    """Changes the program."""
    out: list[Stmt] = []
    for s in p.stmts:
        free = colliding(s) if overwrites(s) else []
        if not free or any(v.pack for v in free) or not depends(s.body, free):
            out.append(s)
            continue
        target = p.tensors[s.target]
        last = fresh("last")
        p.tensors[last] = replace(target, name=last, role="temp", dtype="int", like="", optional=False, mut=False)
        number: E = ZERO
        for v in free:
            number = add(mul(number, v.length), idx(v.name))
        whole = [Loop(fresh("k"), a.extent, a.pack or None) for a in axes(target)]
        count: E = ONE
        for v in free:
            count = mul(count, v.length)
        several, single = conj(s.when, Binary("!=", count, ONE)), conj(s.when, Binary("==", count, ONE))
        out.append(Stmt(last, tuple(map(loop_index, whole)), tuple(whole), integer(-1), when=several))
        out.append(Stmt(last, s.idx, s.loops, number, pred=s.pred, mode="max=", when=several))
        out.append(replace(s, pred=conj(s.pred, Binary("==", read(last, s.idx), number)), when=several))
        out.append(replace(s, when=single))
    p.stmts = out


def colliding(s: Stmt) -> list[Loop]:
    """The loops along which indices may coincide: those that do not stand alone in the target."""
    alone = {e.loop for e in s.idx if is_loop(e)}
    return [v for v in s.loops if v.name not in alone]


def depends(e: E, loops: list[Loop]) -> bool:
    return not e.loops.isdisjoint([v.name for v in loops])
