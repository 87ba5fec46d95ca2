"""Windows over a tensor with margins: what a contraction reads around each point is copied once to where its margins
are, and read from there without guards."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Code, ReadCode
from ...data.nodes import Binary, Constant, Node, operands_of
from ...planner.affine import Affine, equal
from ...planner.evenness import Evenness
from ...planner.lines import Line
from .straight import EvenAxis, Straight

MOST = 1 << 22  # elements of a copy


@dataclass
class Margins:
    """The copy that access `access` reads, made anew at every point of the first `before` outer lines.  length: its
    elements; sizes: of what is copied, outermost first; source, target: elements from one to the next, and to the first
    one, of the tensor and of the copy; base: where the lines begin in the copy."""

    access: int
    before: int
    length: int
    sizes: list[int]
    source: list[int]
    target: list[int]
    first: int
    into: int
    base: int


@dataclass
class Windowed:
    """A kernel that reads a copy: its formulas, and its lines from there on."""

    margins: Margins
    code: Code
    outer: list[Line]
    reduce: list[Line]


def margins_of(
    even: Straight, code: Code, outer: list[Line], reduce: list[Line], reads: list[int], around: int
) -> Windowed | None:
    """The margins of the one access of `reads` that may stand off its tensor; None where there is none, or it is no
    window.  outer, reduce: the lines as they are run; around: the most outer lines inside which it may be made anew."""
    loose = [n for n in reads if even.loose[n]]
    if len(loose) != 1:
        return None
    n = loose[0]
    axes = even.axes[n]
    evenness = even.evenness
    if not is_box(evenness, axes, code.accesses[n].guard) or not is_nothing(code.accesses[n].fallback):
        return None
    lines = outer + reduce
    for axis in axes:
        for name in axis.even.factors:
            if name != "" and not any(line.name == name for line in lines):
                return None
    before = 0
    while before < around and outer[before].strides[n] != 0 and not in_window(axes, outer[before]):
        before += 1
    length = 1
    sizes: list[int] = []
    source: list[int] = []
    target: list[int] = []
    first = 0
    into = 0
    base = 0
    moved = [Line(line.name, line.size, line.strides[:]) for line in lines]
    for line in moved[before:]:
        line.strides[n] = 0
    # The axes of the copy from its last one on.
    for at in range(len(axes)):
        axis = axes[len(axes) - 1 - at]
        low = evenness.least(axis.even)
        high = evenness.most(axis.even)
        begin = max(low, 0)
        count = min(high, axis.length - 1) - begin + 1
        if count <= 0:
            return None
        for line in moved[before:]:
            if line.name != "":
                line.strides[n] += axis.even.factors.get(line.name, 0) * length
        sizes.insert(0, count)
        source.insert(0, axis.step)
        target.insert(0, length)
        first += begin * axis.step
        into += (begin - low) * length
        base += (axis.even.factors[""] - low) * length
        length *= high - low + 1
    for d in range(before, len(lines)):
        line = lines[d]
        if line.strides[n] == 0 or in_window(axes, line):
            continue
        sizes.insert(0, line.size)
        source.insert(0, line.strides[n])
        target.insert(0, length)
        moved[d].strides[n] = length
        length *= line.size
    if length > MOST or before == len(outer):
        return None
    # Where the lines begin is not where the axes do.
    first -= even.shifts[n]
    accesses = code.accesses[:]
    accesses[n] = ReadCode(accesses[n].index, None, None)
    margins = Margins(n, before, length, sizes, source, target, first, into, base)
    return Windowed(margins, Code(accesses, code.steps), moved[: len(outer)], moved[len(outer) :])


def in_window(axes: list[EvenAxis], line: Line) -> bool:
    return line.name != "" and any(line.name in axis.even.factors for axis in axes)


def is_nothing(fallback: Node | None) -> bool:
    match fallback:
        case None:
            return True
        case Constant(value=value):
            return value == 0
        case _:
            return False


def is_box(evenness: Evenness, axes: list[EvenAxis], guard: Node | None) -> bool:
    """Whether a guard says no more than that even indices are on their axes."""
    for condition in operands_of(guard, "&&"):
        match condition:
            case Binary(operator=sign, left=left, right=right) if sign == "<" or sign == "<=" or sign == ">=":
                a = evenness.of(left)
                b = evenness.of(right)
                if a is None or b is None:
                    return False
                rest = a.minus(b) if sign == ">=" else b.minus(a)
                if sign == "<":
                    rest = rest.plus(Affine({"": -1}))
                if not any(
                    equal(rest, axis.even) or equal(rest, Affine({"": axis.length - 1}).minus(axis.even))
                    for axis in axes
                ):
                    return False
            case _:
                return False
    return True
