"""The formulas of a kernel as terms: equal ones are one, functions are taken apart into instructions' worth, and what
constants decide is decided.

Kinds are those of nodes, and "w": a whole number of 64 bits, in which sums of whole numbers are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dsl.ir.dtypes import is_floating

from ..data.nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Element,
    Index,
    Item,
    Node,
    Random,
    Select,
    Unary,
    children,
    label,
)
from .functions import ANSWERS, DIRECT, definition

COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
# Functions of whole numbers that are an instruction or a few, also of several at once.
SUMS = ["add_checked", "subtract_checked"]
WHOLE = ["min", "max", "abs", "quotient", "shifted", "shifted_down", "widened", "wide_difference"]
# Functions of floats that look into their bits.
BITS = ["power_of_two", "exponent_of", "fraction_of", "power_in", "near_exponent", "near_fraction"]


@dataclass
class Term:
    """said: what it says beside its parts.  called: whether computing it calls a function, which is left out where a
    condition spares it."""

    number: int
    said: str
    e: Node
    parts: list[Term]
    kind: str
    called: bool


class Terms:
    """leaf: the kind of a node that has no operands.  settled: what stands for it.  behind: the formulas on which an
    access depends.  dtype: T.  inlined: what routines come to that stand where they are called, by their names.
    address: of an element of a body's tensor, from its number, with what is to be added to it."""

    def __init__(
        self,
        leaf: Callable[[Node], str],
        settled: Callable[[Node], Node],
        behind: Callable[[int], list[Node]],
        dtype: str,
    ):
        self.leaf = leaf
        self.settled = settled
        self.behind = behind
        self.dtype = dtype
        self.known: dict[str, Term] = {}
        self.all: list[Term] = []
        self.inlined: dict[str, Callable[[list[Term]], Term]] = {}
        self.address: Callable[[int, Term], list[Term]] = lambda access, place: [place]

    def of(self, e: Node, bound: dict[str, Term]) -> Term:
        """bound: what stands for the parameters of a function, by their names."""
        match e:
            case Index(loop=loop) if loop in bound:
                return bound[loop]
            case BoundsCheck(operand=operand):
                return self.of(operand, bound)
            case _:
                said = self.settled(e)
                if said is not e:
                    return self.of(said, {})
        match e:
            case Element(access=access):
                return self.one(e, [self.of(x, {}) for x in self.behind(access)], self.leaf(e))
            case _:
                return self.made(e, [self.of(x, bound) for x in children(e)])

    def made(self, e: Node, parts: list[Term]) -> Term:
        match e:
            case Apply(name=name):
                return self.applied(name, parts)
            case Item(access=access):
                return self.one(e, self.address(access, parts[0]), self.leaf(e))
            case Select():
                if parts[0] is parts[1]:
                    return parts[0]
                match parts[2].e:
                    case Constant(value=value):
                        return parts[1] if value != 0 else parts[0]
                    case _:
                        return self.one(e, parts, parts[1].kind)
            case Cast(kind=kind):
                return self.cast(kind, parts[0])
            case Unary(operator="!"):
                match parts[0].e:
                    case Constant(value=value):
                        return self.of(Constant("b", 0 if value != 0 else 1), {})
                    case _:
                        return self.one(e, parts, "b")
            case Binary(operator=operator):
                return self.binary(operator, parts)
            case _:
                return self.one(e, parts, parts[0].kind if len(parts) > 0 else self.leaf(e))

    def one(self, e: Node, parts: list[Term], kind: str) -> Term:
        said = label(e)
        key = f"{said} {kind} {' '.join([str(p.number) for p in parts])}"
        if key not in self.known:
            called = isinstance(e, (Item, Random)) or any(p.called for p in parts)
            match e:
                case Apply(name=name):
                    called = called or not (name in DIRECT or name in WHOLE or name in BITS)
            term = Term(len(self.all), said, e, parts, kind, called)
            self.known[key] = term
            self.all.append(term)
        return self.known[key]

    def cast(self, kind: str, part: Term) -> Term:
        if part.kind == kind:
            return part
        match part.e:
            case Constant(value=value) if kind == "f":
                return self.of(Constant("f", value), {})
            case _:
                return self.one(Cast(kind, part.e), [part], kind)

    def binary(self, operator: str, parts: list[Term]) -> Term:
        a = parts[0]
        b = parts[1]
        kind = "b" if operator in COMPARISONS else a.kind
        first = value_of(a)
        second = value_of(b)
        if operator == "&&" or operator == "||":
            sure = 0 if operator == "&&" else 1
            if first is not None:
                return a if (first != 0) == (sure == 1) else b
            if second is not None:
                return b if (second != 0) == (sure == 1) else a
        if first is not None and second is not None:
            if kind == "f":
                value = first + second if operator == "+" else first - second if operator == "-" else first * second
                return self.of(Constant("f", value), {})
            if kind == "b" and operator in COMPARISONS:
                return self.of(Constant("b", 1 if compared(operator, first, second) else 0), {})
        return self.one(Binary(operator, a.e, b.e), parts, kind)

    def applied(self, name: str, parts: list[Term]) -> Term:
        if name == "invert":
            is_bool = self.dtype == "bool"
            one = self.of(Constant("i", 1 if is_bool else -1), {})
            return self.one(Binary("-" if is_bool else "^", one.e, one.e), [one, parts[0]], "i")
        if name == "select":
            return self.made(Select(parts[2].e, parts[1].e, parts[0].e), parts)
        if name in self.inlined:
            return self.inlined[name](parts)
        found = (
            None
            if parts[0].kind != "f" and name in WHOLE
            else definition(name, is_floating(self.dtype) and self.dtype != "float64")
        )
        if found is None:
            kind = ANSWERS[name] if name in ANSWERS else parts[0].kind
            return self.one(Apply(name, [p.e for p in parts]), parts, kind)
        bound: dict[str, Term] = {}
        for n in range(len(found.parameters)):
            bound[found.parameters[n]] = parts[n]
        for n in range(len(found.names)):
            bound[found.names[n]] = self.of(found.parts[n], bound)
        return self.of(found.parts[len(found.parts) - 1], bound)


def compared(operator: str, a: float, b: float) -> bool:
    if operator == "==" or operator == "!=":
        return (a == b) == (operator == "==")
    if operator == "<" or operator == "<=":
        return a < b or operator == "<=" and a == b
    return a > b or operator == ">=" and a == b


def value_of(t: Term) -> float | None:
    """The number that a term is, if it is a constant."""
    match t.e:
        case Constant(value=value):
            return value
        case _:
            return None


def uses(roots: list[Term]) -> dict[int, int]:
    """How often each term stands in others, or among these."""
    out: dict[int, int] = {}
    todo = roots[:]
    while len(todo) > 0:
        t = todo.pop()
        before = out.get(t.number, 0)
        out[t.number] = before + 1
        if before == 0:
            todo.extend(t.parts)
    return out
