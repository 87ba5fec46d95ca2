"""Statements into kernels: what runs together, and the accesses of each kernel.

Statements join the kernel of an earlier one where they run over the same outer loops (and the same
reduced ones): `softmax` is a maximum, a sum and a store over the same rows.  A value that only its own
kernel uses never reaches memory.  Shapes: see kernels.Kernel."""

from __future__ import annotations

from dataclasses import replace

from dsl.ir.axes import axes
from dsl.ir.builders import TRUE, ZERO, conj, is_loop
from dsl.ir.expression import (
    Binary,
    E,
    Element,
    Index,
    Inside,
    Pack,
    RawResult,
    Read,
    Result,
    Symbol,
)
from dsl.ir.program import Program, Stmt
from dsl.ir.rewriting import mapped
from dsl.ir.wide import added_up

from .grouping import Group, group_of, joins
from .kernel import Access, Kernel, Step
from .pointwise import simplified


def fused(program: Program) -> list[Kernel]:
    stmts = overwriting(program, [p for s in simplified(program) for p in added_up(s)])
    makers: dict[str, int] = {}
    for s in stmts:
        makers[s.target] = makers.get(s.target, 0) + 1
    groups: list[Group] = []
    for s in stmts:
        if not any(joins(program, groups, n, s, makers) for n in range(len(groups) - 1, -1, -1)):
            groups.append(group_of(program, s, makers))
    made = [Builder(program, g, [o for o in groups if o is not g]).kernel() for g in groups]
    return with_makes(program, made)


def complete(program: Program, s: Stmt) -> bool:
    """Whether the statement reaches every element of its target."""
    names = [i.loop for i in s.idx if is_loop(i)]
    if s.red is None and s.pred is not None:
        return False
    if len(names) != len(s.idx) or len(set(names)) != len(names) or {l.name for l in s.loops} != set(names):
        return False
    loops = {l.name: l for l in s.loops}
    return all(
        a.pack == loops[n].pack if a.pack else a.extent == loops[n].extent
        for a, n in zip(axes(program.tensors[s.target]), names)
    )


def overwriting(program: Program, stmts: list[Stmt]) -> list[Stmt]:
    """The first addition to a target that nothing wrote before as a plain store: it needs no zeros."""
    out, written = [], {n for n, t in program.tensors.items() if t.role == "input"}
    for s in stmts:
        if s.mode == "+=" and s.target not in written and s.when is None and complete(program, s):
            s = replace(s, mode="=")
        written.add(s.target)
        out.append(s)
    return out


class Builder:
    """Makes the kernel of one group; `others` are the program's other groups."""

    def __init__(self, program: Program, group: Group, others: list[Group]):
        self.program, self.group = program, group
        self.accesses: list[Access] = []
        self.elsewhere = (
            set().union(*(o.tensors - o.targets | set().union(*[x.inputs for x in o.stmts]) for o in others))
            if others
            else set()
        )
        self.extents = {l.name: l.extent for l in group.loops + group.rloops}
        self.steps: list[Step] = []
        self.value: dict[int, int] = {}  # statement -> the step with its value
        self.unstored: list[tuple[Stmt, int, bool]] = []  # reductions to be stored, their steps, whether at every point
        self.done: dict[E, E] = {}  # of this statement, by identity: the same part stands there many times

    def kernel(self) -> Kernel:
        g = self.group
        if g.shape == "raw":
            return self.raw(g.first)
        for n, (s, inner) in enumerate(zip(g.stmts, g.inner)):
            if s.red is None or s.inputs & g.targets:
                self.store_reductions()
            self.statement(n, s, inner)
        self.store_reductions()
        return Kernel(
            g.shape,
            g.loops,
            g.rloops,
            tuple(self.accesses),
            tuple(self.steps),
            g.first.when,
            g.first.spread,
            tuple(sorted(self.numbers(g.left))),
            g.reverse,
        )

    def raw(self, s: Stmt) -> Kernel:
        """One access for each tensor of the body, inputs first; all its outputs are written."""
        assert isinstance(s.body, RawResult)
        body, given = s.body.raw, s.body.tensors
        made = tuple([Access(t, ()) for t in (*given, *[t for _, t in body.outputs])])
        steps = tuple([Step("store", -1, ZERO, target=len(given) + n) for n in range(len(body.outputs))])
        return Kernel("raw", (), (), made, steps, s.when, raw=body, uniforms=s.body.uniforms)

    def statement(self, n: int, s: Stmt, inner: bool) -> None:
        self.done = {}
        body, pred = self.scalar(s.body), self.maybe(s.pred)
        if s.red:
            step = len(self.steps)
            self.steps.append(Step("reduce", step, body, s.red, pred))
            self.value[n] = step
            if self.stored(s):
                self.unstored.append((s, step, inner))
                if self.program.tensors[s.target].role == "input":
                    self.store_reductions()
            return
        self.accesses.append(Access(s.target, tuple(self.scalar(i) for i in s.idx)))
        step = len(self.steps)
        later = any(s.target in o.inputs for o in self.group.stmts[n + 1 :]) and s.target in self.group.values
        if later:
            self.value[n] = step
        self.steps.append(Step("store", step if later else -1, body, None, pred, inner, len(self.accesses) - 1, s.mode))

    def store_reductions(self) -> None:
        """The stores of reductions so far.  Reductions that do not use each other stand side by side, their stores
        after them: they are made in one walk through memory."""
        for s, step, inner in self.unstored:
            self.done = {}
            self.accesses.append(Access(s.target, tuple(self.scalar(i) for i in s.idx)))
            target = len(self.accesses) - 1
            self.steps.append(Step("store", -1, Result(step), inner=inner, target=target, mode=s.mode))
        self.unstored = []

    def stored(self, s: Stmt) -> bool:
        """Whether a reduction's value must reach memory."""
        return (
            self.program.tensors[s.target].role != "temp"
            or s.target in self.program.outputs
            or s.target in self.elsewhere
            or s.target not in self.group.values
        )

    def maybe(self, e: E | None) -> E | None:
        return None if e is None else self.scalar(e)

    def scalar(self, e: E) -> E:
        """e with `Element`s and `Result`s for what it reads."""
        if isinstance(e, Read):
            return self.read(e)
        if isinstance(e, Inside):
            return conj(*self.bounds(e.read.tensor, tuple([self.scalar(i) for i in e.read.index]))) or TRUE
        if e not in self.done:
            self.done[e] = mapped(e, self.scalar)
        return self.done[e]

    def read(self, r: Read) -> E:
        tensor, fallback = r.tensor, r.fallback
        held = self.group.values.get(tensor)
        if held is not None and held[1] in self.value and held[0] == r.index:
            return Result(self.value[held[1]])
        index = tuple([self.scalar(i) for i in r.index])
        guard = conj(*self.bounds(tensor, index)) if fallback is not None else None
        a = Access(tensor, index, guard, self.maybe(fallback) if guard is not None else None)
        if a not in self.accesses or any(s.target == self.accesses.index(a) for s in self.steps):
            self.accesses.append(a)
        n = max(k for k, x in enumerate(self.accesses) if x == a)
        return Element(n)

    def bounds(self, tensor: str, index: tuple[E, ...]) -> list[E]:
        """The conditions under which an index falls inside a tensor that was given."""
        t = self.program.tensors[tensor]
        out: list[E] = [Symbol(f"has_{tensor}")] if t.optional else []
        for i, axis in zip(index, axes(t), strict=False):
            if isinstance(i, Pack) or axis.extent is None:
                continue
            if isinstance(i, Index) and self.extents.get(i.loop) == axis.extent:
                continue
            if i is ZERO and axis.when is not None:
                continue
            if not isinstance(i, Index):
                out.append(Binary("<=", ZERO, i))
            out.append(Binary("<", i, axis.extent))
        return out

    def numbers(self, parts: list[E]) -> set[int]:
        """The accesses that the expressions of a factor read, also through an index."""
        out: set[int] = set()
        self.done = {}

        def visit(e: E | None) -> None:
            for n in () if e is None else e.elements:
                if n in out:
                    continue
                out.add(n)
                a = self.accesses[n]
                for x in (*a.index, a.guard, a.fallback):
                    visit(x)

        for p in parts:
            visit(self.scalar(p))
        return out


def with_makes(program: Program, made: list[Kernel]) -> list[Kernel]:
    """What each kernel is needed for; those needed for nothing go."""
    roots = [
        *program.outputs,
        *(n for n, t in program.tensors.items() if t.role == "input" and n not in program.outputs),
    ]
    written = [{n.accesses[s.target].tensor for s in n.steps if s.target >= 0} for n in made]
    read = [{a.tensor for k, a in enumerate(n.accesses)} for n in made]
    makes: list[list[str]] = [[] for _ in made]
    for root in roots:
        need = {root}
        for k in range(len(made) - 1, -1, -1):
            if written[k] & need:
                makes[k].append(root)
                need |= read[k]
    return [replace(n, makes=tuple(m)) for n, m in zip(made, makes) if m]
