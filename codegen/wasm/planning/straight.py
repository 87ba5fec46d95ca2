"""Indices that move in even steps, as strides: `y * stride + k * dilation - padding` is a place on an axis that lines
walk through like any other.  What a guard says that holds at every point is dropped with it."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Code, Env, Kernel, ReadCode, StepCode, UniformField
from ...data.nodes import Node, joined_by, operands_of, same, uses_loop
from ...planner.affine import Affine
from ...planner.evenness import Evenness
from ...planner.lines import Line, Resolved


@dataclass
class EvenAxis:
    """An axis with an even index.  step: elements from one place to the next."""

    even: Affine
    length: int
    step: int


@dataclass
class Straight:
    """A kernel whose even indices are strides of its lines.  For each access: axes: those with such indices; shifts:
    elements from the beginning of its tensor to where its lines begin; said: which conditions and indices are left, for
    a key; loose: whether it may stand off its tensor where its guard does
    not hold.  held: which conditions of steps hold at every point, for a key, where they are dropped.  depends: the
    parameters whose values strides are made of."""

    code: Code
    lines: Resolved
    evenness: Evenness
    axes: list[list[EvenAxis]]
    shifts: list[int]
    said: list[str]
    loose: list[bool]
    held: str
    depends: list[UniformField]


def straightened(kernel: Kernel, code: Code, r: Resolved, env: Env, there: list[bool], part: bool) -> Straight:
    """there: whether the tensor of an access is.  part: whether this is a part of a kernel, at whose points conditions
    of steps may hold that do not at all of its points."""
    lines = r.outer + r.reduce
    evenness = Evenness(kernel, env, lines)
    moved = [Line(line.name, line.size, line.strides[:]) for line in lines]
    accesses: list[ReadCode] = []
    axes: list[list[EvenAxis]] = []
    shifts: list[int] = []
    said: list[str] = []
    loose: list[bool] = []
    named = [loop.name for loop in kernel.loops + kernel.rloops if loop.named]
    for n in range(len(code.accesses)):
        a = code.accesses[n]
        index = a.index[:]
        conditions: list[Node] = []
        key = ""
        for condition in operands_of(a.guard, "&&"):
            if there[n] and evenness.holds(condition):
                key += "-"
                continue
            plain = evenness.undivided(condition)
            key += "?" if same(plain, condition) else "/"
            conditions.append(plain)
        shift = 0
        off = False
        found: list[EvenAxis] = []
        place = 0
        for i in range(len(index)):
            e = index[i]
            axis = kernel.accesses[n].axes[i]
            if axis != "":
                place += 1 if axis in named else 0
                continue
            even = evenness.of(e) if e is not None and there[n] else None
            if even is not None:
                inside = evenness.least(even) >= 0 and evenness.most(even) < r.lengths[n][place]
                known = all(any(line.name == name for line in lines) for name in even.factors if name != "")
                if known and (inside or len(conditions) > 0):
                    step = r.steps[n][place]
                    for line in moved:
                        if line.name != "" and line.name in even.factors:
                            line.strides[n] += even.factors[line.name] * step
                    shift += even.factors[""] * step
                    index[i] = None
                    key += f" {i}"
                    off = off or not inside
                    found.append(EvenAxis(even, r.lengths[n][place], step))
            place += 1
        accesses.append(ReadCode(index, joined_by("&&", conditions), a.fallback) if there[n] else a)
        axes.append(found)
        shifts.append(shift)
        said.append(key)
        loose.append(off)
    steps: list[StepCode] = []
    held = ""
    for s in code.steps:
        left: list[Node] = []
        for condition in operands_of(s.pred, "&&"):
            holds = part and evenness.holds(condition)
            held += "-" if holds else "?"
            if not holds:
                left.append(condition)
        steps.append(StepCode(joined_by("&&", left), s.body))
    out = Code(accesses, steps)
    used: list[Node | None] = []
    for a in accesses:
        used.extend([*a.index, a.guard, a.fallback])
    for s in steps:
        used.extend([s.pred, s.body])
    for line in moved:
        if line.name != "" and not any(uses_loop(e, line.name) for e in used):
            line.name = ""
    count = len(r.outer)
    resolved = Resolved(moved[:count], moved[count:], r.offsets, r.steps, r.lengths)
    return Straight(out, resolved, evenness, axes, shifts, said, loose, held, evenness.depends)
