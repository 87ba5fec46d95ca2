"""Which formulas of a kernel move in even steps in a call, and which conditions hold at all of its points."""

from __future__ import annotations

from ..data.model import Env, Kernel, UniformField
from ..data.nodes import Apply, Binary, Constant, Index, Node, mapped
from .affine import Affine, affine, quotient
from .lines import Line


class Evenness:
    """Which formulas move in even steps in a call."""

    def __init__(self, kernel: Kernel, env: Env, lines: list[Line]):
        self.kernel = kernel
        self.env = env
        self.lines = lines
        self.single = [line.name for line in lines if line.name != "" and line.size == 1]
        self.depends: list[UniformField] = []

    def of(self, e: Node) -> Affine | None:
        return affine(self.settled(e), lambda name: self.value_of(name), quotient)

    def settled(self, e: Node) -> Node:
        """A formula without the loops that have one point."""
        match e:
            case Index(loop=loop) if loop in self.single:
                return Constant("i", 0)
            case _:
                return e if len(self.single) == 0 else mapped(e, lambda x: self.settled(x))

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
                return self.remainder(operands[0], operands[1]) == 0
            case _:
                return False

    def never(self, condition: Node) -> bool:
        """Whether a condition is known to hold at no point."""
        match condition:
            case Binary(operator="==", left=Apply(name="remainder_int", operands=operands), right=Constant(value=0)):
                return self.remainder(operands[0], operands[1]) > 0
            case _:
                return False

    def remainder(self, dividend: Node, divisor: Node) -> int:
        """What a division leaves at every point; -1 where that is not known, or not the same at all of them."""
        even = self.of(dividend)
        by = self.of(divisor)
        if even is None or by is None or quotient(even, by) is None:
            return -1
        return even.factors[""] % by.factors[""]
