"""Loop programs as mathematics: what was derived, with the signs that definitions have (latex.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Index,
    Inside,
    Local,
    Pack,
    Random,
    RawResult,
    Read,
    Reduce,
    Select,
    Symbol,
    Unary,
)
from ..ir.program import Loop, Program, Stmt
from .latex import MODES, aligned, formula, name, subscript
from .syntax import Binder, X

Choices = Mapping[str, Sequence[str]]  # of options that are texts, which the IR knows by their numbers


def program(p: Program, choices: Choices) -> str:
    """A program's statements, aligned; nothing if one of them is a body of steps.  Where all tensors are read and made
    at one place, that place is not written."""
    if any(isinstance(s.body, RawResult) for s in p.stmts):
        return ""
    places = {i for s in p.stmts for i in (s.idx, *(r.index for e in s.expressions for r in e.reads)) if i}
    pointwise = len(places) <= 1 and all(isinstance(i, Pack) for place in places for i in place)
    return aligned([Printer(choices, pointwise).statement(s) for s in p.stmts])


def binder(loop: Loop) -> Binder:
    return Binder(loop.name, pack=loop.pack is not None)


@dataclass(frozen=True)
class Printer:
    """Turns the IR back into syntax.  pointwise: indices are left out."""

    choices: Choices
    pointwise: bool

    def statement(self, s: Stmt) -> str:
        left = name(s.target)
        if s.idx and not self.pointwise:
            left = subscript(left, [self.tree(i) for i in s.idx])
        value, condition = self.tree(s.body), None if s.pred is None else self.tree(s.pred)
        if s.red:
            value = X("reduce", (value,), (s.red, tuple(map(binder, s.rloops)), condition))
        elif condition is not None:
            value = X("if", (condition, value, X("num", val=0)))
        text = f"{left} &{MODES[s.mode]} {formula(value)}"
        return text if s.when is None else rf"{text} \qquad \text{{where }} {formula(self.tree(s.when))}"

    def symbol(self, text: str) -> X:
        """A size, an option, or what is asked of one: whether it is given, how many elements a pack has."""
        for prefix, asked in (("has_", "given"), ("count_", "numel")):
            if text.startswith(prefix):
                return X("call", (X("name", val=text.removeprefix(prefix)),), asked)
        return X("name", val=text)

    def tree(self, e: E) -> X:
        """An expression as one of the syntax."""
        match e:
            case Constant(kind, value):
                return X("name", val="true" if value else "false") if kind == "b" else X("num", val=value)
            case Symbol(text):
                return self.symbol(text)
            case Local(text) | Index(text):
                return X("name", val=text)
            case Pack(loop):
                return X("spread", (X("name", val=loop),))
            case Read(tensor, index, fallback):
                read = X("name", val=tensor)
                if index and not self.pointwise:
                    read = X("read", (read, *map(self.tree, index)))
                return read if fallback is None else X("??", (read, self.tree(fallback)))
            case Inside(read):
                return X("call", (self.tree(read),), "inside")
            case Call(called, operands):
                return X("call", tuple(map(self.tree, operands)), called)
            case Random():
                return X("call", (), "rand")
            case Cast(_, operand):
                return self.tree(operand)
            case Unary(operator, operand):
                return X("neg" if operator == "-" else operator, (self.tree(operand),))
            case Binary(operator, Symbol(option), Constant(_, value)) if option in self.choices:
                chosen = self.choices[option]
                said = X("str", val=chosen[int(value)]) if 0 <= value < len(chosen) else X("num", val=value)
                return X(operator, (X("name", val=option), said))
            case Binary(operator, left, right):
                return X(operator, (self.tree(left), self.tree(right)))
            case Select(condition, yes, no):
                return X("if", (self.tree(condition), self.tree(yes), self.tree(no)))
            case Reduce(reduction, over, body, pred):
                condition = None if pred is None else self.tree(pred)
                return X("reduce", (self.tree(body),), (reduction, tuple(map(binder, over)), condition))
        raise AssertionError(f"{e!r} stands in no derived program")
