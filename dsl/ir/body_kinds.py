"""The kinds of a body's expressions: "f" a float, "i" a 32-bit whole number, "b" a boolean, and "T" an element of
`Any` or `Num`.

Only a call knows the type of a T, so it is compared and copied, added and multiplied with others of T, and nothing
else."""

from __future__ import annotations

from .expression import COMPARISONS, Binary, Call, Cast, Constant, E, Index, Local, Read, Select, Symbol, Unary
from .intrinsics import INTRINSICS, PREDICATES, ROUTINES, keeps_kind
from .program import BodyTensor

NAMES = {"f": "a float", "i": "a whole number", "b": "a boolean", "T": "an element of any type"}


class Unkind(Exception):
    """Kinds that do not go together."""


class Kinds:
    """The kinds of a body's expressions."""

    def __init__(self, tensors: tuple[BodyTensor, ...], symbols: dict[str, str]):
        self.tensors, self.symbols = {t.name: t for t in tensors}, symbols
        self.locals: dict[str, str] = {}

    def kind(self, e: E) -> str:
        """The kind of e; "" where it stands on locals of which nothing is known yet.  Raises Unkind."""
        match e:
            case Constant(kind, _) | Cast(kind, _):
                return kind
            case Symbol(name):
                return self.symbols.get(name, "f" if name in ("inf", "nan", "pi") else "i")
            case Local(name):
                return self.locals.get(name, "")
            case Index():
                return "i"
            case Read(tensor, _, _):
                return self.tensors[tensor].kind
            case Select(_, yes, no):
                return self.join((yes, no))
            case Call(name, operands):
                return self.call(name, operands)
            case Unary("not" as operator, _) | Binary("and" | "or" as operator, _, _):
                self.truths(operator, e.parts())
                return "b"
            case Unary(operator, _) | Binary(operator, _, _):
                return self.arithmetic(operator, e.parts())
        raise Unkind("this stands in the op that calls it")

    def arithmetic(self, operator: str, parts: tuple[E, ...]) -> str:
        if operator == "/":
            self.numbers(parts, "divided")
            return "f"
        if operator in ("&", "|", "^") and {self.kind(x) for x in parts} <= {"b"}:
            return "b"
        found = self.join(parts)
        if operator in COMPARISONS:
            return "b"
        if found == "b":
            raise Unkind("arithmetic is of numbers, and these are booleans")
        if found == "T" and operator not in ("+", "-", "*"):
            raise Unkind(f"`{operator}` needs numbers whose type is known, and this is {NAMES['T']}")
        return found

    def truths(self, operator: str, parts: tuple[E, ...]) -> None:
        for x in parts:
            if self.kind(x) not in ("b", ""):
                raise Unkind(f"`{operator}` is of conditions, and this is {NAMES[self.kind(x)]}")

    def call(self, name: str, operands: tuple[E, ...]) -> str:
        if name in PREDICATES:
            self.join(operands)
            return "b"
        if name in ("max", "min") and self.join(operands) == "T":
            raise Unkind(f"`{name}` of elements of any type: write a condition")
        if name not in INTRINSICS and name not in ROUTINES:
            raise Unkind(f"`{name}` is no function of numbers")
        self.numbers(operands, f"given to `{name}`")
        return self.join(operands) if keeps_kind(name) else "f"

    def numbers(self, operands: tuple[E, ...], what: str) -> None:
        for x in operands:
            if self.kind(x) in ("b", "T"):
                raise Unkind(f"{NAMES[self.kind(x)]} cannot be {what}")

    def join(self, values: tuple[E, ...]) -> str:
        """The kind of several values in one place: a float wins over a whole number."""
        found = {self.kind(x) for x in values} - {""}
        if len(found) < 2:
            return next(iter(found), "")
        if found == {"f", "i"}:
            return "f"
        a, b = sorted(found, key="Tbif".index)[:2]
        raise Unkind(f"{NAMES[a]} and {NAMES[b]} do not go together")
