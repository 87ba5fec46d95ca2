"""Maps that compute each point by itself, and where their points are among the elements that another kernel walks
over."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.functions import CHECKED, INTEGER
from ..data.model import Axis, Kernel, Op, StepCode
from ..data.nodes import (
    Apply,
    BoundsCheck,
    Element,
    Index,
    Item,
    Local,
    Random,
    nodes_of,
)
from ..data.statements import read_procedure
from ..planner.lines import Line, collapsed, points, resolve
from .work import Work

CHEAP = ["larger", "smaller", "abs", "max", "min", "select", "square", "divide", "stop"]


@dataclass
class Pointwise:
    """A map.  lines: its points; offsets: where each access begins; steps: its formulas."""

    kernel: Kernel
    lines: list[Line]
    offsets: list[int]
    steps: list[StepCode]
    used: list[int]
    costly: bool


@dataclass
class Along:
    """Elements of another kernel as points of a map.  starts: of each line, where they begin; which, by: for each
    part of each axis the line along which it goes, -1 for none, and how many points at a time."""

    starts: list[int]
    which: list[list[int]]
    by: list[list[int]]


def pointwise(work: Work) -> Pointwise | None:
    """A step as a map of single points; None if it is anything else."""
    if len(work.kernels) != 1:
        return None
    kernel = work.kernels[0]
    code = kernel.floating
    if kernel.shape != "map" or kernel.spread or len(kernel.rloops) > 0 or code is None:
        return None
    if any(loop.named for loop in kernel.loops):
        return None
    steps: list[StepCode] = []
    for n in range(len(kernel.steps)):
        s = kernel.steps[n]
        if s.kind != "store" or s.mode != "=" or code.steps[n].pred is not None:
            return None
        steps.append(StepCode(None, code.steps[n].body))
    used: list[int] = []
    costly = False
    integral = INTEGER + CHECKED + integer_routines(work.op)
    for made in steps:
        for x in nodes_of(made.body):
            if isinstance(x, (Index, Random, BoundsCheck, Item, Local)):
                return None
            match x:
                case Apply(name=name):
                    if name in integral:
                        return None
                    costly = costly or name not in CHEAP
                case Element(access=n):
                    if n not in used:
                        used.append(n)
                case _:
                    pass
    for n in used:
        a = code.accesses[n]
        if any(axis == "" for axis in kernel.accesses[n].axes):
            return None
        if a.guard is not None:
            return None
    for s in kernel.steps:
        if any(axis == "" for axis in kernel.accesses[s.target].axes):
            return None
    r = resolve(kernel, work.call)
    if points(r.outer) == 0:
        return None
    return Pointwise(kernel, collapsed(r.outer), r.offsets, steps, used, costly)


def integer_routines(op: Op) -> list[str]:
    """The functions of an op's routines that are of whole numbers."""
    return [f.name for f in op.routines if f.steps != "" and read_procedure(f.steps).kinds["out"] == "i"]


def along(axes: list[Axis], offset: int, lines: list[Line], n: int, first: int) -> Along | None:
    """Elements of a tensor, by axes from `offset` on, as the points of a map whose access n, which begins at `first`,
    reads or writes them; None where they are no even steps of its points."""
    order = [i for i in range(len(lines)) if lines[i].size > 1]
    order = sorted(order, key=lambda i: -lines[i].strides[n])
    starts = [0 for _ in lines]
    room = [0 for _ in lines]
    rest = offset - first
    reach = 0  # the farthest element of the lines inside
    for k in range(len(order)):
        inner = lines[order[len(order) - 1 - k]]
        if inner.strides[n] <= reach:
            return None
        reach += inner.strides[n] * (inner.size - 1)
    if rest < 0:
        return None
    for i in order:
        starts[i] = rest // lines[i].strides[n]
        rest -= starts[i] * lines[i].strides[n]
        room[i] = lines[i].size - 1 - starts[i]
        if room[i] < 0:
            return None
    if rest != 0:
        return None
    out = Along(starts, [], [])
    for axis in axes:
        which: list[int] = []
        by: list[int] = []
        for d in range(len(axis.sizes)):
            line = -1
            step = 0
            if axis.sizes[d] > 1 and axis.strides[d] != 0:
                for i in order:
                    if line >= 0 or axis.strides[d] % lines[i].strides[n] != 0:
                        continue
                    step = axis.strides[d] // lines[i].strides[n]
                    if step * (axis.sizes[d] - 1) <= room[i]:
                        line = i
                        room[i] -= step * (axis.sizes[d] - 1)
                if line < 0:
                    return None
            which.append(line)
            by.append(step)
        out.which.append(which)
        out.by.append(by)
    return out


def start_of(at: Along, p: Pointwise, n: int) -> int:
    """The element of access n of a map where the other kernel's first one is."""
    out = p.offsets[n]
    for i in range(len(p.lines)):
        out += at.starts[i] * p.lines[i].strides[n]
    return out


def axes_of(at: Along, axes: list[Axis], p: Pointwise, n: int) -> list[Axis]:
    """The axes of the other kernel as those of access n of a map."""
    out: list[Axis] = []
    for k in range(len(axes)):
        strides: list[int] = []
        for d in range(len(axes[k].sizes)):
            i = at.which[k][d]
            strides.append(0 if i < 0 else at.by[k][d] * p.lines[i].strides[n])
        out.append(Axis(axes[k].sizes, strides))
    return out
