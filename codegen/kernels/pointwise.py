"""Pointwise temporaries put in place where they are used, and additions to one target joined.

A temporary goes if every statement that makes it stores a formula, without a reduction, at the bare
indices of its loops.  What is costly is not computed again for every point of a loop that it does not
depend on.  This file rewrites statements; which of them share a kernel is decided in fuse.py."""

from __future__ import annotations

from dataclasses import replace

from dsl.ir.builders import FALSE, ZERO, add, cond, is_loop, loop_of
from dsl.ir.conditions import either
from dsl.ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Index,
    Inside,
    Pack,
    Random,
    RawResult,
    Read,
    Symbol,
    Unary,
    union,
    walk,
)
from dsl.ir.program import Program, Stmt
from dsl.ir.rewriting import maybe_subst, subst, transform

Bodies = list[tuple[Stmt, E]]  # what a temporary is, by the statements that make it

# Nodes of a formula after something was put in it.  Without a limit 21 of the library's 1,553 programs would have
# larger ones, for 41 kernels of 6,048 fewer; with half as many there would be 70 more.
LARGEST = 240
MOST_TENSORS = 7  # a kernel binds eight: these and the target
# What is computed again rather than kept costs at most as much as reading it: a few additions, or one remainder.  With
# twice as much 67 of the programs would change, for 91 kernels fewer that divide in each point of a reduction.
CHEAP = 4
DEAR = CHEAP + 1  # functions and powers: never computed again
COST = {"/": 3, "//": 4, "%": 4, "**": DEAR}
CALL_COST = {"stop": 0, "stored": 1, "abs": 1, "max": 2, "min": 2, "sign": 1, "isnan": 1, "floor": 1}


def simplified(program: Program) -> list[Stmt]:
    """The program's statements with pointwise temporaries in place."""
    stmts = joined(program, list(program.stmts))
    for name, t in program.tensors.items():
        if t.role == "temp" and name not in program.outputs:
            stmts = in_place(name, stmts)
    return stmts


def cost(e: E | None) -> int:
    return sum([own_cost(n) for n in walk(e)])


def own_cost(e: E) -> int:
    match e:
        case Constant() | Symbol() | Index() | Pack() | Read() | Cast():
            return 0
        case Call(name, _):
            return CALL_COST.get(name, DEAR)
        case Binary(operator, _, _):
            return COST.get(operator, 1)
        case _:
            return 1


def bare(s: Stmt) -> bool:
    """Whether the target's index is the statement's loops, each once."""
    names = [i.loop for i in s.idx if is_loop(i)]
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
            and not {x.target for x in out[n + 1 :]} & out[n].inputs
        ):
            del out[n]
            out.append(both)
        else:
            out.append(s)
    return out


def sum_of(a: Stmt, b: Stmt) -> Stmt | None:
    if isinstance(a.body, RawResult) or isinstance(b.body, RawResult):
        return None
    if b.mode != "+=" or a.red or b.red or a.when != b.when or a.spread != b.spread or not bare(a) or not bare(b):
        return None
    if a.mode not in ("=", "+=") or a.mode == "=" and a.pred is not None:
        return None
    env: dict[str, E] = {}
    kinds = {l.name: (l.pack, l.extent) for l in a.loops}
    other = {l.name: (l.pack, l.extent) for l in b.loops}
    for i, j in zip(a.idx, b.idx, strict=True):
        if kinds[loop_of(i)] != other[loop_of(j)]:
            return None
        env[loop_of(j)] = i
    body = add(cond(a.pred, a.body, ZERO), cond(maybe_subst(b.pred, env), subst(b.body, env), ZERO))
    return replace(a, body=body, pred=None)


def uses(stmts: list[Stmt], tensor: str) -> bool:
    return any(tensor in s.inputs for s in stmts)


def in_place(name: str, stmts: list[Stmt]) -> list[Stmt]:
    """The statements without the temporary `name`, or as they were."""
    makers = [s for s in stmts if s.target == name]
    users = [s for s in stmts if s.target != name and name in s.inputs]
    if not makers:
        return stmts
    if not users:
        return [s for s in stmts if s.target != name]
    if any(isinstance(s.body, RawResult) or s.red or s.spread or not bare(s) for s in makers) or any(
        name in s.inputs for s in makers
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
    draws = [any(isinstance(n, Random) for n in walk(s.body)) for s in makers]
    if any(draws) and not all(draws):
        return stmts  # nobody draws for a condition's sake what another one does without
    # What it reads must not have changed by the time it is used.
    last = max(stmts.index(u) for u in users)
    first = min(stmts.index(m) for m in makers)
    sources = union([x.inputs for x in makers])
    if any(s.target in sources for s in stmts[first:last]):
        return stmts
    bodies: Bodies = [(s, cond(s.pred, s.body, ZERO)) for s in makers]
    if any(r.fallback is not None or not possible(r, bodies) for u in users for r in of(u, name)):
        return stmts
    if any(isinstance(n, Inside) and n.read.tensor == name for u in users for e in (u.body, u.pred) for n in walk(e)):
        return stmts
    price = sum(cost(b) for _, b in bodies)
    if any(not worth(u, name, bodies, price) for u in users):
        return stmts
    out = []
    for s in stmts:
        if s.target == name:
            continue
        if name in s.inputs:
            sure = either([*(m.when for m in makers), Unary("not", s.when) if s.when is not None else FALSE]) is None
            s = replace(
                s,
                body=put(s.body, name, bodies, sure),
                pred=None if s.pred is None else put(s.pred, name, bodies, sure),
                idx=tuple(put(i, name, bodies, sure) for i in s.idx),
            )
        out.append(s)
    return out


def of(s: Stmt, name: str) -> list[Read]:
    return [r for e in s.expressions for r in e.reads if r.tensor == name]


def possible(r: Read, bodies: Bodies) -> bool:
    """Whether the read's index can stand for the loops: a pack only for a pack, whole."""
    packs = [isinstance(i, Pack) for i in r.index]
    return all([isinstance(i, Pack) for i in s.idx] == packs for s, _ in bodies)


def worth(u: Stmt, name: str, bodies: Bodies, price: int) -> bool:
    """Not too long, not too many tensors, nothing costly computed again and again."""
    size = sum(1 for e in (u.body, u.pred) for _ in walk(e))
    count = len(of(u, name))
    if size + count * sum(1 for _, b in bodies for _ in walk(b)) > LARGEST:
        return False
    sources = {r.tensor for _, b in bodies for r in b.reads}
    if len((u.inputs | sources) - {name, u.target}) > MOST_TENSORS:
        return False
    if any(isinstance(n, Random) for _, b in bodies for n in walk(b)):
        return all(same_points(u, s, name) for s, _ in bodies)
    again = len(u.loops) + len(u.rloops) > len(bodies[0][0].loops)
    return price <= CHEAP or not again


def same_points(u: Stmt, s: Stmt, name: str) -> bool:
    """Whether u runs over the points of s in their order, and reads at each what s made there: a draw depends on its
    place."""
    names = [l.name for l in u.loops]
    alike = [(l.pack, l.extent) for l in u.loops] == [(l.pack, l.extent) for l in s.loops] and not u.rloops
    if not alike:
        return False
    places = dict(zip([l.name for l in s.loops], names, strict=True))
    return all([loop_of(i) for i in r.index] == [places[loop_of(i)] for i in s.idx] for r in of(u, name))


def put(e: E, name: str, bodies: Bodies, sure: bool) -> E:
    """sure: one of the bodies' conditions holds here; where none does the tensor is zero."""

    def one(n: E) -> E | None:
        if not isinstance(n, Read) or n.tensor != name:
            return None
        value: E | None = None if sure else ZERO
        for s, b in reversed(bodies):
            v = subst(b, {loop_of(i): j for i, j in zip(s.idx, n.index, strict=True)})
            value = v if value is None else cond(s.when, v, value)
        return value

    return transform(e, one)
