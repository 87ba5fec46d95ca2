"""The formulas of a kernel as terms: equal ones are one, functions are taken apart into instructions' worth, and what
constants decide is decided.

Kinds are those of nodes, and two of 64 bits: "w", in which sums of whole numbers are kept, and "l", a number of int64,
to which whole numbers beside it are extended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dsl.ir.dtypes import is_floating

from ...data.functions import of_integers
from ...data.nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Division,
    Element,
    Index,
    Item,
    Node,
    Random,
    Result,
    Rounded,
    Select,
    Unary,
    children,
    label,
)
from ...data.softmaxes import is_subtrahend, unsafe
from .functions import ANSWERS, DIRECT, LONG, RARE, definition

# The ends of whole numbers: infinities among those of 32 bits, and among those of 64.
LEAST = -2147483648
GREATEST = 2147483647
MOST_LONG = 9223372036854775808.0
SHORT = 256  # whole numbers up to which every type of floats has
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
# Functions of whole numbers that are an instruction or a few, also of several at once.
SUMS = ["add_checked", "subtract_checked"]
OF_INTEGERS = ["min", "max", "abs", "quotient", "shifted", "shifted_down", "widened", "wide_difference"]
# Those of them that come to 64 bits.
WIDE = ["wide_product", "wide_difference", "wide_shift"]
# Functions of floats that look into their bits.
BITS = [
    "power_of_two",
    "exponent_of",
    "fraction_of",
    "power_in",
    "near_exponent",
    "near_fraction",
    "times_power",
    "times_power_in",
    "to_float",
]


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
    access depends.  dtype: T; floats: whether rows are computed in single floats (planning/rows.py); largest: what
    steps have found the largest of, by their numbers.  inlined: what routines come to that stand where they are called,
    by their names.  address: of an element of a body's tensor, from its number, with what is to be added to it."""

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
        self.floats = False
        self.largest: dict[int, Node] = {}
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
                values = self.alike(parts[:2])
                match parts[2].e:
                    case Constant(value=value):
                        return values[1] if value != 0 else values[0]
                    case _:
                        return self.one(e, [values[0], values[1], parts[2]], values[1].kind)
            case Cast(kind="i") if parts[0].kind == "l":
                return parts[0]
            case Cast(kind="i") if parts[0].kind == "f" and self.dtype == "int64":
                return self.applied("to_int", parts)
            case Cast(kind=kind):
                return self.cast(kind, parts[0])
            case Division(operator=operator, divisor=divisor) if parts[0].kind == "l":
                by = self.of(Constant("l", divisor), {})
                return self.applied("floor_divide_int" if operator == "//" else "remainder_int", [parts[0], by])
            case Unary(operator="!"):
                match parts[0].e:
                    case Constant(value=value):
                        return self.of(Constant("b", 0 if value != 0 else 1), {})
                    case _:
                        return self.one(e, parts, "b")
            case Binary(operator=operator):
                return self.binary(operator, parts)
            case Rounded() if is_short(value_of(parts[0])):
                return parts[0]
            case _:
                return self.one(e, parts, parts[0].kind if len(parts) > 0 else self.leaf(e))

    def one(self, e: Node, parts: list[Term], kind: str) -> Term:
        said = label(e)
        key = f"{said} {kind} {' '.join([str(p.number) for p in parts])}"
        if key not in self.known:
            called = isinstance(e, (Item, Random)) or any(p.called for p in parts)
            match e:
                case Apply(name=name):
                    called = called or not (name in DIRECT or name in OF_INTEGERS or name in BITS or name in RARE)
            term = Term(len(self.all), said, e, parts, kind, called)
            self.known[key] = term
            self.all.append(term)
        return self.known[key]

    def cast(self, kind: str, part: Term) -> Term:
        if part.kind == kind:
            return part
        match part.e:
            case Constant(value=value) if kind == "l" and (value == GREATEST or value == LEAST):
                return self.of(Constant(kind, MOST_LONG if value > 0 else -MOST_LONG), {})
            case Constant(value=value) if kind == "f" or kind == "l":
                return self.of(Constant(kind, value), {})
            case _:
                return self.one(Cast(kind, part.e), [part], kind)

    def alike(self, parts: list[Term]) -> list[Term]:
        """Whole numbers as those of 64 bits, where one of them is."""
        if not any(p.kind == "l" for p in parts):
            return parts
        return [self.cast("l", p) if p.kind == "i" or p.kind == "b" else p for p in parts]

    def binary(self, operator: str, given: list[Term]) -> Term:
        parts = self.alike(given)
        a = parts[0]
        b = parts[1]
        kind = "b" if operator in COMPARISONS else a.kind
        first = value_of(a)
        second = value_of(b)
        if operator == "*" and kind != "w" and (first == 1 or second == 1):
            return b if first == 1 else a
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

    def applied(self, name: str, given: list[Term]) -> Term:
        if name == "select":
            return self.made(Select(given[2].e, given[1].e, given[0].e), given)
        long = any(p.kind == "l" for p in given)
        if self.dtype == "int64":
            long = long or name in LONG and name not in OF_INTEGERS or name == "widened" or of_integers(name)
        parts = given
        if long:
            parts = [self.cast("l", p) if p.kind == "i" or p.kind == "b" else p for p in given]
        if name == "invert":
            is_bool = self.dtype == "bool"
            one = self.of(Constant(parts[0].kind, 1 if is_bool else -1), {})
            return self.one(Binary("-" if is_bool else "^", one.e, one.e), [one, parts[0]], parts[0].kind)
        if name == "rounded":  # of a definition in functions.py
            return self.one(Rounded(parts[0].e), parts, "f")
        if name == "divide" and value_of(parts[1]) == 1:
            return parts[0]
        if (name == "to_float16" or name == "to_bfloat16") and is_short(value_of(parts[0])):
            return parts[0]
        if name in self.inlined:
            return self.inlined[name](parts)
        single = "float" if self.floats else "single" if is_floating(self.dtype) and self.dtype != "float64" else ""
        found = (
            None
            if parts[0].kind != "f" and name in OF_INTEGERS and not (long and name in LONG)
            else definition(name, "long" if long else single)
        )
        if found is None:
            kind = ANSWERS[name] if name in ANSWERS else parts[0].kind
            return self.one(Apply(name, [p.e for p in parts]), parts, kind)
        if name == "exp_of" and self.floats and self.is_not_above(parts[0]):
            return self.applied("exp_below", parts)
        bound: dict[str, Term] = {}
        for n in range(len(found.parameters)):
            bound[found.parameters[n]] = parts[n]
        for n in range(len(found.names)):
            bound[found.names[n]] = self.of(found.parts[n], bound)
        return self.of(found.parts[len(found.parts) - 1], bound)

    def is_not_above(self, t: Term) -> bool:
        """Whether a term is a number less the largest of its kind, and so not above 0."""
        if t.said != "-":
            return False
        shift = t.parts[1].e
        match unsafe(shift):
            case Result(step=n) if n in self.largest and is_subtrahend(shift):
                return self.of(self.largest[n], {}) is t.parts[0]
            case _:
                return False


def compared(operator: str, a: float, b: float) -> bool:
    if operator == "==" or operator == "!=":
        return (a == b) == (operator == "==")
    if operator == "<" or operator == "<=":
        return a < b or operator == "<=" and a == b
    return a > b or operator == ">=" and a == b


def is_short(value: float | None) -> bool:
    """Whether a known number is the same in all types of floats."""
    return value is not None and value == int(value) and abs(value) <= SHORT


def value_of(t: Term) -> float | None:
    """The number that a term is, if it is a constant."""
    match t.e:
        case Constant(value=value):
            return value
        case _:
            return None


def is_rare(t: Term) -> bool:
    """Whether a term is wanted of hardly any number."""
    match t.e:
        case Apply(name=name):
            return name in RARE
        case _:
            return False


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
