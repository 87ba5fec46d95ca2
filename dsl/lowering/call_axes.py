"""An op in the place of a call, with axes that are chosen or split: its statements as row_calls.py of dsl/ir puts them,
where a split axis is one axis of the caller's and what options decide is decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..ir.axes import Axis, loop_index, of_dim
from ..ir.builders import FALSE, ONE, TRUE, ZERO, add, floordiv, is_binary, mul
from ..ir.expression import Binary, E, Index, Read, Select, Unary, show
from ..ir.program import Dim, Fresh, Loop, Stmt, Tensor
from ..ir.row_calls import Inlined, NotInlined


@dataclass(eq=False)
class Placed(Inlined):
    """The callee at a call: see Inlined."""

    def expression(self, e: E, at: dict[str, tuple[E, ...]]) -> E:
        match e:
            case Binary("and" | "or", left, _):
                decided = self.expression(left, at)
                if decided == (TRUE if e.operator == "or" else FALSE):
                    return decided  # the rest may ask for what is not there
            case Unary("not", operand) if (decided := self.expression(operand, at)) in (TRUE, FALSE):
                return FALSE if decided == TRUE else TRUE
            case Select(condition, yes, no):
                decided = self.expression(condition, at)
                if decided in (TRUE, FALSE):  # what is not taken may speak of a tensor that is not given
                    return self.expression(yes if decided == TRUE else no, at)
            case Read(tensor, _, fallback) if self.op.tensors[tensor].optional and tensor not in self.names:
                # Without `??` a requirement says that this is not asked for.
                return ZERO if fallback is None else self.expression(fallback, at)
            case Read(tensor, index, fallback):
                return Read(
                    self.names[tensor],
                    self.places(tensor, index, at),
                    None if fallback is None else self.expression(fallback, at),
                )
        return super().expression(e, at)

    def there(self, d: Dim) -> bool:
        """Whether an axis is there; raises NotInlined where that is not decided."""
        if d.when is None:
            return True
        decided = self.expression(d.when, {})
        if decided not in (TRUE, FALSE):
            raise NotInlined(show(d.when))
        return decided == TRUE

    def shared(self, tensor: str, index: tuple[E, ...]) -> Iterator[tuple[Dim, tuple[E, ...]]]:
        """The axes that are there, and what of an index stands for each; one index of a definition speaks of all axes,
        another one of those alone that every call has."""
        dims = self.op.tensors[tensor].dims
        whole = len(index) == sum(len(of_dim(d)) for d in dims)
        n = 0
        for d in dims:
            there, count = self.there(d), len(of_dim(d))
            if there:
                yield d, index[n : n + count]
            if there or whole:
                n += count

    def factors(self, d: Dim) -> list[E]:
        return [self.expression(f, {}) for f in d.factors]

    def places(self, tensor: str, index: tuple[E, ...], at: dict[str, tuple[E, ...]]) -> tuple[E, ...]:
        out: list[E] = []
        for d, own in self.shared(tensor, index):
            made = self.index(own, at)
            out += [joined(list(made), self.factors(d))] if d.factors else made
        return tuple(out)

    def tensor(self, t: Tensor, name: str) -> Tensor:
        dims: list[Dim] = []
        for d in filter(self.there, t.dims):
            there = (
                [Axis(extent=product(self.factors(d)))] if d.factors else [x for a in of_dim(d) for x in self.axis(a)]
            )
            dims += [Dim("pack", x.pack) if x.pack else Dim("one", size=x.extent) for x in there]
        return Tensor(name, "temp", tuple(dims), self.dtype(t.dtype))

    def begin(self, s: Stmt, fresh: Fresh, at: dict[str, tuple[E, ...]]) -> dict[str, list[Loop]]:
        """Loops over the parts of a split axis that is written are one loop, which is divided."""
        made = super().begin(s, fresh, at)
        for d, own in self.shared(s.target, s.idx):
            names = [i.loop for i in own if isinstance(i, Index)]
            if not d.factors or len(names) < len(own) or any(x not in [v.name for v in s.loops] for x in names):
                continue
            sizes = self.factors(d)
            loop = Loop(fresh(names[-1]), product(sizes), None)
            made |= {name: [] for name in names} | {names[0]: [loop]}
            rest: E = loop_index(loop)
            for k, (name, size) in reversed(list(enumerate(zip(names, sizes)))):
                outer = product(sizes[:k])
                at[name] = (rest if outer == ONE else ZERO if size == ONE else Binary("%", rest, size),)
                rest = ZERO if outer == ONE else floordiv(rest, size)
        return made


def product(factors: list[E]) -> E:
    out: E = ONE
    for f in factors:
        out = mul(out, f)
    return out


def joined(index: list[E], factors: list[E]) -> E:
    """The place on one axis of what are several: that of a loop which was divided is the loop."""
    out = index[0]
    for i, f in zip(index[1:], factors[1:]):
        if is_binary(out, "//") and is_binary(i, "%") and out.left == i.left and out.right == i.right == f:
            out = i.left
        else:
            out = add(mul(out, f), i)
    return out
