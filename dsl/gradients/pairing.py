"""The sum of a tensor's elements times what reaches them, from what is made of the tensor.

A linear map and its adjoint say the same of such a sum: where y = A x and what reaches y is g, <A' g, x> = <g, y>.  A
softmax's gradient wants that sum for each row.  Where its weights only go, by linear statements, into a result of
shorter rows, the sum is made of the result: of an attention, of a query's features and not of all its pairs (Dao et
al., "FlashAttention", 2022)."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import loop_index
from ..ir.builders import is_const, loop_of, mul, read
from ..ir.expression import Binary, E, Read, Select
from ..ir.program import Fresh, Loop, Stmt


def shortened(s: Stmt, cotangent: str, stmts: list[Stmt], seeds: dict[str, str], fresh: Fresh) -> Stmt | None:
    """A sum over the rows of a tensor times `cotangent` as one over those of a result; None if s is no such sum, or the
    tensor goes elsewhere.  stmts: the forward program; seeds: the cotangents of its results."""
    own = factor_of(s, cotangent)
    if own is None:
        return None
    tensor, rows = own.tensor, [loop_of(e) for e in s.idx]
    at = [loop_of(e) for e in own.index]  # of each axis the row's loop, or another
    seen = {tensor}
    while tensor not in seeds:
        found = made_of(tensor, at, rows, {v.name: v for v in s.loops}, stmts)
        if found is None or found[0] in seen:
            return None
        tensor, at = found
        seen.add(tensor)
    if any(tensor in q.inputs for q in stmts) or all(q.red is None for q in stmts if q.target in seen - {own.tensor}):
        return None
    maker = next(q for q in stmts if q.target == tensor)
    across = {v.name: v for v in maker.loops}
    loops: list[Loop] = []
    index: list[E] = []
    for name, e in zip(at, maker.idx):
        loop = next((v for v in s.loops if v.name == name), None)
        if loop is None:
            known = across[loop_of(e)]
            loop = known if known.name not in rows else replace(known, name=fresh(known.name))
            loops.append(loop)
        index.append(loop_index(loop))
    return replace(s, body=mul(read(seeds[tensor], index), read(tensor, index)), rloops=tuple(loops))


def factor_of(s: Stmt, cotangent: str) -> Read | None:
    """The tensor whose rows a statement adds up, times their cotangent."""
    match s:
        case Stmt(body=Binary("*", Read() as left, Read() as right), red="sum", pred=None, mode="="):
            at = [loop_of(e) for e in left.index]
            if right.index != left.index or sorted(at) != sorted(v.name for v in s.loops + s.rloops):
                return None
            if sorted(loop_of(e) for e in s.idx) != sorted(v.name for v in s.loops):
                return None
            own = right if left.tensor == cotangent else left
            return own if {cotangent, own.tensor} == {left.tensor, right.tensor} and own.fallback is None else None
        case _:
            return None


def made_of(
    tensor: str, at: list[str], rows: list[str], known: dict[str, Loop], stmts: list[Stmt]
) -> tuple[str, list[str]] | None:
    """The one tensor that is made of another, row by row and linearly, and which of its axes are those of the rows."""
    readers = [s for s in stmts if tensor in s.inputs]
    made: tuple[str, list[str]] | None = None
    for s in readers:
        places = [] if s.mode != "=" or s.pred is not None or s.red not in (None, "sum") else rows_of(s, tensor, at)
        for name, place in zip(at, places):
            if name in rows and (place < 0 or not same_loop(s.loops, loop_of(s.idx[place]), known[name])):
                return None
        if len(places) == 0 or not linear(s.body, tensor):
            return None
        own = [""] * len(s.idx)
        for name, place in zip(at, places):
            if name in rows:
                own[place] = name
        if made is not None and made != (s.target, own):
            return None
        made = s.target, own
    # Another statement might make something of nothing.
    if made is None or any(s.target == made[0] and tensor not in s.inputs for s in stmts):
        return None
    return made


def rows_of(s: Stmt, tensor: str, at: list[str]) -> list[int]:
    """For each axis of a tensor that a statement reads in one place, which axis of the target goes along with it, -1
    for none; [] where it reads it otherwise."""
    found: list[Read] = []
    for e in s.expressions:
        found.extend([r for r in e.reads if r.tensor == tensor and r not in found])
    targets = [loop_of(e) for e in s.idx]
    if len(found) != 1 or "" in targets or len(set(targets)) < len(targets):
        return []
    index = [loop_of(e) for e in found[0].index]
    if "" in index or len(set(index)) < len(index) or len(index) != len(at):
        return []
    return [targets.index(name) if name in targets else -1 for name in index]


def same_loop(loops: tuple[Loop, ...], name: str, known: Loop) -> bool:
    return any(v.name == name and v.pack == known.pack and v.extent == known.extent for v in loops)


def linear(e: E, tensor: str) -> bool:
    """Whether a value is a multiple of a tensor's element."""
    match e:
        case Read():
            return e.tensor == tensor and e.fallback is None
        case Binary("*", left, right) if tensor not in names(left):
            return linear(right, tensor)
        case Binary("*" | "/", left, right):
            return tensor not in names(right) and linear(left, tensor)
        case Select(condition, yes, no):
            own = [x for x in (yes, no) if not is_const(x, 0)]
            return tensor not in names(condition) and all(linear(x, tensor) for x in own)
        case _:
            return False


def names(e: E) -> list[str]:
    return [r.tensor for r in e.reads]
