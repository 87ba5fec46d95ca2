"""Sums of a program that differ by factors only which are the same for all that is added: added up once.

The gradients of a normalisation weigh the same two sums, of what arrives and of that times the deviations, in four
ways. Each would be a pass over all elements, or a kernel that stores more than one may."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.axes import loop_dim, loop_index
from ..ir.builders import ONE, div, mul, neg, read
from ..ir.expression import Binary, E, Unary
from ..ir.program import Fresh, Stmt, Tensor
from ..ir.tidy import canonical


@dataclass
class Factors:
    """A product: what its factors over the loops of a sum come to, and how the other ones weigh the sum."""

    added: E
    weights: list[E]
    divisors: list[E]
    negative: bool

    def of(self, sum_: E) -> E:
        """The sum of the whole product, from that of what is added."""
        out = sum_
        for e in self.weights:
            out = mul(out, e)
        for e in self.divisors:
            out = div(out, e)
        return neg(out) if self.negative else out

    @property
    def plain(self) -> bool:
        """Whether it is what is added."""
        return not self.weights and not self.divisors and not self.negative


def factors(e: E, loops: set[str]) -> Factors:
    """The factors of a product over these loops."""
    if e.loops.isdisjoint(loops):
        return Factors(ONE, [e], [], False)
    match e:
        case Unary("-", operand):
            made = factors(operand, loops)
            return replace(made, negative=not made.negative)
        case Binary("*", left, right):
            a, b = factors(left, loops), factors(right, loops)
            divisors = a.divisors + b.divisors
            return Factors(mul(a.added, b.added), a.weights + b.weights, divisors, a.negative != b.negative)
        case Binary("/", left, right) if right.loops.isdisjoint(loops):
            made = factors(left, loops)
            return replace(made, divisors=[*made.divisors, right])
        case _:
            return Factors(e, [], [], False)


@dataclass
class Common:
    """Statements, by their numbers, that weigh one sum.  key: the sum, without names of its own."""

    key: Stmt
    products: dict[int, Factors]

    @property
    def worth(self) -> bool:
        """Whether there is anything to share that is not shared as it stands."""
        return len(self.products) > 1 and not all(made.plain for made in self.products.values())


def added_once(stmts: list[Stmt], tensors: dict[str, Tensor], fresh: Fresh) -> list[Stmt]:
    """The statements, with new temporaries, which go into `tensors`, for sums that several of them weigh."""
    found: list[Common] = []
    for n, s in enumerate(stmts):
        if not adds(s, tensors):
            continue
        made = factors(s.body, {v.name for v in s.rloops})
        key = canonical(replace(s, body=made.added))
        known = next((one for one in found if one.key == key and stays(one, stmts[:n])), None)
        if known is None:
            found.append(Common(key, {n: made}))
        else:
            known.products[n] = made
    out = [[s] for s in stmts]
    for one in found:
        if one.worth:
            share(one, stmts, out, tensors, fresh("sum"))
    return [s for made in out for s in made]


def adds(s: Stmt, tensors: dict[str, Tensor]) -> bool:
    """Whether a statement is a sum for each point of its loops."""
    plain = s.mode == "=" and not s.spread and s.pred is None and s.idx == tuple(map(loop_index, s.loops))
    return s.red == "sum" and plain and tensors[s.target].dtype in ("T", "own")


def stays(one: Common, before: list[Stmt]) -> bool:
    """Whether nothing of what a sum reads has changed since it was first made."""
    first = min(one.products)
    return not any(s.target in one.key.inputs for s in before[first:])


def share(one: Common, stmts: list[Stmt], out: list[list[Stmt]], tensors: dict[str, Tensor], name: str) -> None:
    """Puts the sum where it is first needed, and in the place of each statement what that makes of it."""
    first = stmts[min(one.products)]
    tensors[name] = Tensor(name, "temp", tuple(map(loop_dim, first.loops)))
    for n, made in one.products.items():
        s = stmts[n]
        weighed = made.of(read(name, tuple(map(loop_index, s.loops))))
        out[n] = [replace(s, body=weighed, red=None, rloops=())]
        if s is first:
            out[n].insert(0, replace(s, target=name, body=made.added))
