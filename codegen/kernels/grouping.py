"""Which statements run as one kernel: groups over loops that are the same, and how a statement joins one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dsl.ir.builders import idx, is_const, is_loop, loop_of, pack
from dsl.ir.expression import (
    E,
    Index,
    Random,
    RawResult,
    walk,
)
from dsl.ir.program import Loop, Program, Stmt, made_by, running
from dsl.ir.rewriting import maybe_subst, subst
from dsl.ir.wide import MOST_TENSORS

from .contraction import left_factor
from .kernel import Shape


@dataclass
class Group:
    """Statements of one kernel, all over the group's own loops.  values: tensor -> (its index, statement number)."""

    shape: Shape
    loops: tuple[Loop, ...]
    rloops: tuple[Loop, ...]
    stmts: list[Stmt]
    inner: list[bool]
    values: dict[str, tuple[tuple[E, ...], int]] = field(default_factory=dict)
    left: list[E] = field(default_factory=list)  # contract: what belongs to factor A
    reverse: bool = False

    @property
    def first(self) -> Stmt:
        return self.stmts[0]

    @property
    def targets(self) -> set[str]:
        return {s.target for s in self.stmts}

    @property
    def tensors(self) -> set[str]:
        return set().union(*[x.inputs for x in self.stmts]) | self.targets


def group_of(program: Program, s: Stmt, makers: dict[str, int]) -> Group:
    """A kernel of its own."""
    if isinstance(s.body, RawResult):
        return Group("raw", (), (), [s], [False])
    names = [i.loop for i in s.idx if is_loop(i)]
    shape: Shape
    sure = len(set(names)) == len(names) and {l.name for l in s.loops} <= set(names)
    if s.mode in ("*=", "max=", "min=") or s.mode == "+=" and not sure or s.spread and s.red not in (None, "sum"):
        shape = "scatter"
    elif s.red is None:
        shape = "map"
    elif (scan := running(s)) is not None and s.mode == "=":
        i, reverse = scan
        loops = tuple(l for l in s.loops if l.name != i)
        at: dict[str, E] = {i: Index(s.rloops[0].name)}
        s = replace(s, idx=tuple(subst(x, at) for x in s.idx), pred=None)
        return Group("scan", loops, s.rloops, [s], [True], reverse=reverse)
    elif (left := left_factor(s)) is not None:
        g = Group("contract", s.loops, s.rloops, [s], [False], left=left)
        note(g, s, makers)
        return g
    else:
        shape = "reduce"
    g = Group(shape, s.loops, s.rloops, [s], [False])
    note(g, s, makers)
    return g


def note(g: Group, s: Stmt, makers: dict[str, int]) -> None:
    """Later statements of the group may use what s computed."""
    if (
        s.mode == "="
        and not s.spread
        and makers[s.target] == 1
        and all(is_loop(i) for i in s.idx)
        and g.shape != "scatter"
    ):
        g.values[s.target] = (s.idx, len(g.stmts) - 1)


def joins(program: Program, groups: list[Group], n: int, s: Stmt, makers: dict[str, int]) -> bool:
    """Adds s to groups[n] if they can run together."""
    g = groups[n]
    if g.shape == "raw" or isinstance(s.body, RawResult):  # the results of one run
        if g.shape != "raw" or made_by(g.first) != made_by(s):
            return False
        g.stmts.append(s)
        g.inner.append(False)
        return True
    if (
        s.when != g.first.when
        or s.spread
        or g.first.spread
        or s.mode not in ("=", "+=")
        or g.shape in ("scan", "scatter")
    ):
        return False
    if s.mode == "+=" and group_of(program, s, makers).shape == "scatter":
        return False
    if s.red and (g.shape != "reduce" or running(s) or left_factor(s) is not None):
        return False
    other_part = g.shape == "map" and s.target in g.targets and all(apart(x, s) for x in g.stmts)
    if s.target in g.targets and not other_part or len(g.tensors | s.inputs | {s.target}) > MOST_TENSORS:
        return False
    for later in groups[n + 1 :]:
        if later.targets & (s.inputs | {s.target}) or s.target in later.tensors:
            return False
    if any(s.target in x.inputs for x in g.stmts) and not changed(program, s):
        return False
    used = s.inputs & g.targets
    if not used <= set(g.values):
        return False
    if g.shape == "map" and not other_part and not (changed(program, s) and changed(program, g.first)):
        return False
    if not used and not s.inputs & set().union(*[x.inputs for x in g.stmts]):
        return False
    matched = match(g, s, used)
    if matched is None:
        return False
    env, inner = matched
    if inner and (g.shape != "reduce" or not g.loops):
        return False
    if used and s.red and not g.loops:
        return False
    if s.red and any(g.inner):
        return False
    if s.red and any(changed(program, x) for x in g.stmts):
        return False
    s = replace(s, idx=tuple(subst(i, env) for i in s.idx), body=subst(s.body, env), pred=maybe_subst(s.pred, env))
    for t in used:
        index, _ = g.values[t]
        if any(r.tensor == t and (r.index != index or r.fallback is not None) for e in s.expressions for r in e.reads):
            return False
    g.stmts.append(s)
    g.inner.append(inner)
    if not inner:
        note(g, s, makers)
    return True


def apart(a: Stmt, b: Stmt) -> bool:
    """Whether two statements set parts of one tensor that have no place in common, as those of complex numbers."""
    return (
        a.target == b.target
        and a.mode == b.mode == "="
        and any(is_const(i) and is_const(j) and i != j for i, j in zip(a.idx, b.idx))
    )


def changed(program: Program, s: Stmt) -> bool:
    """Whether s updates a tensor of the caller's."""
    return program.tensors[s.target].role == "input"


def match(g: Group, s: Stmt, used: frozenset[str]) -> tuple[dict[str, E], bool] | None:
    """The group's loop for each loop of s, and whether s runs at every point of the reduced loops too."""
    forced: dict[str, str] = {}
    for e in s.expressions:
        for r in e.reads:
            if r.tensor not in used:
                continue
            for i, j in zip(r.index, g.values[r.tensor][0], strict=True):
                if not is_loop(i) or forced.setdefault(i.loop, loop_of(j)) != loop_of(j):
                    return None
    if s.red:
        pairs = [(s.loops, g.loops), (s.rloops, g.rloops)]
    elif len(s.loops) == len(g.loops):
        pairs = [(s.loops, g.loops)]
    else:
        pairs = [(s.loops, g.loops + g.rloops)]
    inner = not s.red and len(s.loops) != len(g.loops)
    draws = any(isinstance(n, Random) for e in (s.body, s.pred) for n in walk(e))
    if draws and inner:
        return None
    env: dict[str, E] = {}
    for mine, theirs in pairs:
        if len(mine) != len(theirs):
            return None
        left = list(theirs)
        for l in sorted(mine, key=lambda l: l.name not in forced):
            fits = [
                o
                for o in left
                if o.pack == l.pack
                and o.extent == l.extent
                and forced.get(l.name, o.name) == o.name
                and (l.name in forced or o.name not in forced.values())
            ]
            if not fits:
                return None
            left.remove(fits[0])
            env[l.name] = pack(fits[0].name) if l.pack else idx(fits[0].name)
    # A draw depends on the place among all points, in their order.
    if draws and [loop_of(env[l.name]) for l in s.loops] != [l.name for l in g.loops]:
        return None
    return env, inner
