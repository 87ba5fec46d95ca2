"""Deviations from a mean add up to nothing, so that a mean gets nothing of a gradient through them.

The gradient of a variance says that it does: the sum of 2 * (x - mean), a pass over all elements for what is 0 but for
rounding.  PyTorch's formulas of `var` and of the normalisations leave it out as well."""

from __future__ import annotations

from ..ir.axes import loop_index, points
from ..ir.builders import is_const, loop_of
from ..ir.expression import Binary, E, Read, Select, Unary
from ..ir.program import Loop, Stmt


def vanishes(s: Stmt, mean: str, stmts: list[Stmt]) -> bool:
    """Whether what a statement adds to the gradient of a tensor is a multiple of the sum of all deviations from it, and
    the tensor a mean.  stmts: the forward program."""
    if s.red != "sum" or s.pred is not None or s.idx != tuple(map(loop_index, s.loops)):
        return False
    total = averaged(mean, stmts)
    return total is not None and Deviations(s, mean, total).only(s.body)


def averaged(mean: str, stmts: list[Stmt]) -> Stmt | None:
    """The sum of a tensor's elements that, divided by how many they are, is `mean`."""
    last = maker(mean, stmts)
    if last is None or last.red is not None:
        return None
    match last.body:
        case Binary("/", Read() as divided, count):
            total = maker(divided.tensor, stmts)
            if total is None or total.red != "sum" or last.idx != divided.index:
                return None
            plain = isinstance(total.body, Read) and total.body.fallback is None
            return total if plain and count == points(total.rloops) else None
        case _:
            return None


def maker(tensor: str, stmts: list[Stmt]) -> Stmt | None:
    """The one statement that makes a tensor, an element for each point of its loops."""
    found = [s for s in stmts if s.target == tensor]
    if len(found) != 1 or found[0].mode != "=" or found[0].pred is not None:
        return None
    return found[0] if found[0].idx == tuple(map(loop_index, found[0].loops)) else None


class Deviations:
    """What is made of deviations from a mean, `x[c, i] - mean[c]`, in a sum over all i.

    s: the sum; total: the statement that added up the elements of which there is a mean."""

    def __init__(self, s: Stmt, mean: str, total: Stmt):
        self.mean, self.total = mean, total
        self.kept = {v.name: v for v in s.loops}
        self.added = {v.name: v for v in s.rloops}
        self.at = s.idx

    def only(self, e: E) -> bool:
        """Whether e is a multiple of the deviation, of which the factor is the same for all."""
        match e:
            case Unary("-", operand):
                return self.only(operand)
            case Binary("*", left, right):
                return self.same(left) and self.only(right) or self.same(right) and self.only(left)
            case Binary("/", left, right):
                return self.same(right) and self.only(left)
            case Select(condition, yes, no):
                return self.same(condition) and all(is_const(x, 0) or self.only(x) for x in (yes, no))
            case Binary("-", Read() as left, Read() as right):
                return any(self.is_mean(m) and self.is_element(x) for m, x in ((left, right), (right, left)))
            case _:
                return False

    def same(self, e: E) -> bool:
        """Whether a factor does not depend on what is added up."""
        return not any(name in self.added for name in e.loops)

    def is_mean(self, e: Read) -> bool:
        """Whether e is the mean of the place that the sum is of."""
        return e.tensor == self.mean and e.index == self.at

    def is_element(self, e: Read) -> bool:
        """Whether e is what was averaged, at the place of this mean and of a loop of the sum."""
        of = self.total.body
        assert isinstance(of, Read)
        if e.tensor != of.tensor or e.fallback is not None or len(e.index) != len(of.index):
            return False
        names = {v.name: w for v, w in zip(self.total.loops, map(loop_of, self.at))}
        reduced = {v.name: v for v in self.total.rloops}
        if len(names) != len(self.kept) or len(reduced) != len(self.added):
            return False
        met: list[str] = []
        for here, there in zip(e.index, of.index):
            name, original = loop_of(here), loop_of(there)
            if original in names:
                if names[original] != name:
                    return False
            elif original not in reduced or name not in self.added or name in met:
                return False
            elif not alike(reduced[original], self.added[name]):
                return False
            else:
                met.append(name)
        return len(met) == len(self.added)


def alike(a: Loop, b: Loop) -> bool:
    """Whether two loops run over the same axis."""
    return a.pack == b.pack and a.extent == b.extent
