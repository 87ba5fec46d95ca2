"""Indices that move in even steps, as strides: `y * stride + k * dilation - padding` is a place on an axis that lines
walk through like any other.  What a guard says that holds at every point is dropped with it."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Code, Env, Kernel, ReadCode, StepCode, UniformField
from ...data.nodes import (
    Apply,
    Binary,
    Constant,
    Node,
    joined_by,
    mapped,
    operands_of,
    same,
    uses_loop,
)
from ...planner.affine import Affine, affine, quotient
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


class Evenness:
    """Which formulas move in even steps in a call."""

    def __init__(self, kernel: Kernel, env: Env, lines: list[Line]):
        self.kernel = kernel
        self.env = env
        self.lines = lines
        self.depends: list[UniformField] = []

    def of(self, e: Node) -> Affine | None:
        return affine(e, lambda name: self.value_of(name), quotient)

    def value_of(self, name: str) -> int | None:
        """A whole number of the uniform, which the plan then depends on."""
        for w in self.kernel.uniforms:
            if w.name == name and w.kind == "i":
                if not any(known.name == name for known in self.depends):
                    self.depends.append(w)
                return int(w.value(self.env) if w.value is not None else self.env[name])
        return None

    def least(self, even: Affine) -> int:
        """The smallest value at any point of the lines."""
        total = even.factors[""]
        for line in self.lines:
            if line.name != "" and line.name in even.factors:
                total += min(0, even.factors[line.name] * (line.size - 1))
        return total

    def most(self, even: Affine) -> int:
        return -self.least(even.times(-1))

    def undivided(self, e: Node) -> Node:
        """A formula without divisions by 1."""
        match e:
            case Apply(name="floor_divide_int", operands=operands):
                by = self.of(operands[1])
                if by is not None and by.is_number() and by.factors[""] == 1:
                    return self.undivided(operands[0])
                return e
            case _:
                return mapped(e, lambda x: self.undivided(x))

    def holds(self, condition: Node) -> bool:
        """Whether a comparison of even formulas holds at every point."""
        match condition:
            case Binary(operator=sign, left=left, right=right) if sign == "<" or sign == "<=" or sign == ">=":
                a = self.of(left)
                b = self.of(right)
                if a is None or b is None:
                    return False
                if sign == ">=":
                    return self.least(a.minus(b)) >= 0
                return self.most(a.minus(b)) <= (-1 if sign == "<" else 0)
            case Binary(operator="==", left=Apply(name="remainder_int", operands=operands), right=Constant(value=0)):
                even = self.of(operands[0])
                by = self.of(operands[1])
                return (
                    even is not None
                    and by is not None
                    and quotient(even, by) is not None
                    and even.factors[""] % by.factors[""] == 0
                )
            case _:
                return False


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
