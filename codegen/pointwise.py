"""Pointwise temporaries put in place where they are used, and additions to one target joined.

A temporary goes if every statement that makes it stores a formula, without a reduction, at the bare
indices of its loops.  What is costly is not computed again for every point of a loop that it does not
depend on.  This file rewrites statements; which of them share a kernel is decided in fuse.py."""

from __future__ import annotations

from dataclasses import replace

from dsl.conditions import either
from dsl.expression import FALSE, ZERO, E, add, cond, reads, subst, transform, walk
from dsl.ir import Program, Stmt

LARGEST = 240  # nodes of a formula after something was put in it
MOST_TENSORS = 7  # a kernel binds eight: these and the target
CHEAP = {"const", "sym", "idx", "pack", "read", "cast", "hole"}
COST = {"/": 3, "//": 4, "%": 4, "**": 12, "rand": 20}
FREE_CALLS = {"stop": 0, "abs": 1, "max": 2, "min": 2, "sign": 1, "isnan": 1, "floor": 1}


def simplified(program: Program) -> list[Stmt]:
    """The program's statements with pointwise temporaries in place."""
    stmts = joined(program, list(program.stmts))
    for name, t in program.tensors.items():
        if t.role == "temp" and name not in program.outputs:
            stmts = in_place(name, stmts)
    return stmts


def cost(e: E | None) -> int:
    return sum(
        0 if n.op in CHEAP else FREE_CALLS.get(n.val, 10) if n.op == "call" else COST.get(n.op, 1) for n in walk(e)
    )


def bare(s: Stmt) -> bool:
    """Whether the target's index is the statement's loops, each once."""
    names = [i.val for i in s.idx if i.op in ("idx", "pack")]
    return len(names) == len(s.idx) == len(set(names)) and set(names) == {l.name for l in s.loops}


def joined(program: Program, stmts: list[Stmt]) -> list[Stmt]:
    """Pointwise additions to one target over the same loops as one statement, at the place of the last."""
    out: list[Stmt] = []
    for s in stmts:
        n = next((n for n in range(len(out) - 1, -1, -1) if out[n].target == s.target), -1)
        if (
            n >= 0
            and (both := sum_of(out[n], s)) is not None
            and not uses(out[n + 1 :], s.target)
            and not {x.target for x in out[n + 1 :]} & inputs(out[n])
        ):
            del out[n]
            out.append(both)
        else:
            out.append(s)
    return out


def sum_of(a: Stmt, b: Stmt) -> Stmt | None:
    if "raw" in (a.body.op, b.body.op):
        return None
    if b.mode != "+=" or a.red or b.red or a.when != b.when or a.spread != b.spread or not bare(a) or not bare(b):
        return None
    if a.mode not in ("=", "+=") or a.mode == "=" and a.pred is not None:
        return None
    env: dict[str, E] = {}
    kinds = {l.name: (l.pack, l.extent) for l in a.loops}
    other = {l.name: (l.pack, l.extent) for l in b.loops}
    for i, j in zip(a.idx, b.idx):
        if kinds[i.val] != other[j.val]:
            return None
        env[j.val] = i
    body = add(cond(a.pred, a.body, ZERO), cond(subst(b.pred, env), subst(b.body, env), ZERO))
    return replace(a, body=body, pred=None)


def inputs(s: Stmt) -> frozenset[str]:
    """The tensors that a statement reads; kept with it, since fusion asks again and again."""
    if "inputs_" not in s.__dict__:
        object.__setattr__(s, "inputs_", frozenset(r.val[0] for e in (s.body, s.pred, *s.idx) for r in reads(e)))
    return s.__dict__["inputs_"]


def uses(stmts: list[Stmt], tensor: str) -> bool:
    return any(tensor in inputs(s) for s in stmts)


def in_place(name: str, stmts: list[Stmt]) -> list[Stmt]:
    """The statements without the temporary `name`, or as they were."""
    makers = [s for s in stmts if s.target == name]
    users = [s for s in stmts if s.target != name and name in inputs(s)]
    if not makers:
        return stmts
    if not users:
        return [s for s in stmts if s.target != name]
    if any(s.body.op == "raw" or s.red or s.spread or not bare(s) for s in makers) or any(
        name in inputs(s) for s in makers
    ):
        return stmts
    if (
        len(makers) > 1
        and any(s.when is None for s in makers)
        or any(s.pred is not None and s.mode != "+=" for s in makers)
    ):
        return stmts
    if any(s.mode not in ("=", "+=") for s in makers):
        return stmts
    # What it reads must not have changed by the time it is used.
    last = max(stmts.index(u) for u in users)
    first = min(stmts.index(m) for m in makers)
    sources = set().union(*map(inputs, makers))
    if any(s.target in sources for s in stmts[first:last]):
        return stmts
    bodies = [(s, cond(s.pred, s.body, ZERO)) for s in makers]
    if any(r.val[1] is not None or not possible(r, bodies) for u in users for r in of(u, name)):
        return stmts
    if any(
        n.op == "inside" and n.args[0].val[0] == name
        for u in users
        for e in (u.body, u.pred)
        if e is not None
        for n in walk(e)
    ):
        return stmts
    price = sum(cost(b) for _, b in bodies)
    if any(not worth(u, name, bodies, price) for u in users):
        return stmts
    out = []
    for s in stmts:
        if s.target == name:
            continue
        if name in inputs(s):
            sure = either([*(m.when for m in makers), E("not", (s.when,)) if s.when is not None else FALSE]) is None
            s = replace(
                s,
                body=put(s.body, name, bodies, sure),
                pred=put(s.pred, name, bodies, sure),
                idx=tuple(put(i, name, bodies, sure) for i in s.idx),
            )
        out.append(s)
    return out


def of(s: Stmt, name: str) -> list[E]:
    return [r for e in (s.body, s.pred, *s.idx) for r in reads(e) if r.val[0] == name]


def possible(r: E, bodies) -> bool:
    """Whether the read's index can stand for the loops: a pack only for a pack, whole."""
    return all((i.op == "pack") == (j.op == "pack") for s, _ in bodies for i, j in zip(s.idx, r.args)) and all(
        len(s.idx) == len(r.args) for s, _ in bodies
    )


def worth(u: Stmt, name: str, bodies, price: int) -> bool:
    """Not too long, not too many tensors, nothing costly computed again and again."""
    size = sum(1 for e in (u.body, u.pred) for _ in walk(e))
    count = len(of(u, name))
    if size + count * sum(1 for _, b in bodies for _ in walk(b)) > LARGEST:
        return False
    sources = {r.val[0] for _, b in bodies for r in reads(b)}
    if len((inputs(u) | sources) - {name, u.target}) > MOST_TENSORS:
        return False
    if any(n.op == "rand" for _, b in bodies for n in walk(b)):
        return all(same_points(u, s, name) for s, _ in bodies)
    again = len(u.loops) + len(u.rloops) > len(bodies[0][0].loops)
    return price <= 4 or not again


def same_points(u: Stmt, s: Stmt, name: str) -> bool:
    """Whether u runs over the points of s in their order, and reads at each what s made there: a draw depends on its
    place."""
    names = [l.name for l in u.loops]
    alike = [(l.pack, l.extent) for l in u.loops] == [(l.pack, l.extent) for l in s.loops] and not u.rloops
    places = dict(zip((l.name for l in s.loops), names))
    return alike and all([i.val for i in r.args] == [places[i.val] for i in s.idx] for r in of(u, name))


def put(e: E | None, name: str, bodies, sure: bool) -> E | None:
    """sure: one of the bodies' conditions holds here; where none does the tensor is zero."""
    if e is None:
        return None

    def one(n: E) -> E | None:
        if n.op != "read" or n.val[0] != name:
            return None
        value = None if sure else ZERO
        for s, b in reversed(bodies):
            v = subst(b, {i.val: j for i, j in zip(s.idx, n.args)})
            value = v if value is None else cond(s.when, v, value)
        return value

    return transform(e, one)
