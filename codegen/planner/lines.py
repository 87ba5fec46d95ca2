"""Loops of a kernel in a call: lengths, and the stride of every access along each.

A *line* is a loop over one axis: a named loop, or one axis of an anonymous one.  Anonymous lines of
length 1 go and neighbours that every access walks through as one become one.  What is done with lines
(which device, which kernel) is decided elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.model import Access, Bound, Call, Kernel, Loop, Op, Program


@dataclass
class Line:
    """name: the loop's, or "" if it is anonymous.  strides: one for each access, and one more, the step
    among the places of random draws (0 for reduced loops)."""

    name: str
    size: int
    strides: list[int]


@dataclass
class Resolved:
    """A kernel in a call.  steps, lengths: for each access, strides and lengths of the logical axes that no
    anonymous loop indexes, in their order."""

    outer: list[Line]
    reduce: list[Line]
    offsets: list[int]
    steps: list[list[int]]
    lengths: list[list[int]]


def active(op: Op, program: Program, kernel: Kernel, call: Call, wanted: list[int]) -> bool:
    """Whether the kernel runs: its condition holds, and something it is needed for is wanted or is changed in place."""
    if kernel.when is not None and kernel.when(call.env) == 0:
        return False
    needed = False
    for slot in kernel.makes:
        if slot in wanted or op.slots[slot].role == "input" and call.slots[slot].given:
            needed = True
    return needed


def resolve(kernel: Kernel, call: Call) -> Resolved:
    """Loops as lines, in order, none dropped or joined yet."""
    outer: list[Line] = []
    reduce: list[Line] = []
    for loop in kernel.loops:
        outer.extend(lines_of(kernel, loop, call))
    for loop in kernel.rloops:
        reduce.extend(lines_of(kernel, loop, call))
    place = 1
    for k in range(len(outer)):
        line = outer[len(outer) - 1 - k]
        line.strides.append(place)
        place *= line.size
    for line in reduce:
        line.strides.append(0)
    named = [loop.name for loop in kernel.loops + kernel.rloops if loop.named]
    offsets: list[int] = []
    steps: list[list[int]] = []
    lengths: list[list[int]] = []
    for access in kernel.accesses:
        bound = call.slots[access.slot]
        offsets.append(bound.offset)
        step: list[int] = []
        length: list[int] = []
        for i in range(len(access.axes)):
            if access.axes[i] != "" and access.axes[i] not in named:
                continue
            there = i < len(bound.axes) and len(bound.axes[i].sizes) > 0
            step.append(bound.axes[i].strides[0] if there and not is_empty(bound) else 0)
            length.append(bound.axes[i].sizes[0] if there else 1)
        steps.append(step)
        lengths.append(length)
    return Resolved(outer, reduce, offsets, steps, lengths)


def lines_of(kernel: Kernel, loop: Loop, call: Call) -> list[Line]:
    """The lines of one loop: as many as its pack has axes, outermost first."""
    sizes: list[int] = []
    if loop.extent is None:
        sizes = call.packs[loop.pack]
    else:
        sizes = [int(loop.extent(call.env))]
    out: list[Line] = []
    for k in range(len(sizes)):
        strides: list[int] = []
        for access in kernel.accesses:
            strides.append(stride_of(access, call.slots[access.slot], loop.name, sizes, k))
        out.append(Line(loop.name if loop.named else "", sizes[k], strides))
    return out


def stride_of(access: Access, bound: Bound, name: str, sizes: list[int], k: int) -> int:
    """How far axis k of a loop moves an access.  Axes that a tensor lacks, or has with length 1, do not, nor any of a
    tensor without elements."""
    total = 0
    if is_empty(bound):
        return total
    for i in range(len(access.axes)):
        if access.axes[i] != name or i >= len(bound.axes):
            continue
        axis = bound.axes[i]
        at = k + len(axis.sizes) - len(sizes)
        if at >= 0 and (axis.sizes[at] != 1 or sizes[k] == 1):
            total += axis.strides[at]
    return total


def is_empty(bound: Bound) -> bool:
    """Whether a tensor has no elements: then a kernel may compute where one would be, but does not use what is there,
    and there may be no memory around."""
    return 0 in bound.shape


def without_ones(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.name != "" or line.size != 1]


def collapsed(lines: list[Line]) -> list[Line]:
    """Neighbouring anonymous lines joined where every access walks through them as one."""
    out: list[Line] = []
    for line in without_ones(lines):
        if len(out) > 0 and joined(out[len(out) - 1], line):
            before = out[len(out) - 1]
            out[len(out) - 1] = Line("", before.size * line.size, line.strides)
        else:
            out.append(line)
    return out


def joined(a: Line, b: Line) -> bool:
    if a.name != "" or b.name != "":
        return False
    for n in range(len(a.strides)):
        if a.strides[n] != b.strides[n] * b.size:
            return False
    return True


def own_lines(r: Resolved) -> Resolved:
    """The same lines and offsets for another text: one that takes vec4s changes its own."""
    outer = [Line(line.name, line.size, line.strides[:]) for line in r.outer]
    reduce = [Line(line.name, line.size, line.strides[:]) for line in r.reduce]
    return Resolved(outer, reduce, r.offsets[:], r.steps, r.lengths)


def spread_out(kernel: Kernel, r: Resolved) -> Resolved:
    """A `spread` kernel with the outer lines that its target lacks among the reduced ones."""
    target = kernel.steps[len(kernel.steps) - 1].target
    outer: list[Line] = []
    reduce: list[Line] = []
    for line in r.outer:
        if line.name == "" and line.size != 1 and line.strides[target] == 0:
            reduce.append(line)
        else:
            outer.append(line)
    return Resolved(outer, reduce + r.reduce, r.offsets, r.steps, r.lengths)


def points(lines: list[Line]) -> int:
    total = 1
    for line in lines:
        total *= line.size
    return total
