"""What a body means: its steps as Python, run over arrays of numbers.

Whole numbers are exact and floats are doubles, until they are stored.  A shared loop runs backwards: its iterations
must not depend on each other's order, and where they do, the devices, which run them forwards or at once, answer
otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from ..ir.expression import Binary, Call, Cast, Constant, E, Index, Local, Read, Select, Symbol, Unary
from ..ir.program import Body, BodyLaunch
from ..ir.steps import For, If, Set, Step, read_by, stored_by
from . import scalars

OWN = {"max": "larger_", "min": "smaller_", "sqrt": "root_", "abs": "abs"}
PLAIN = ("and", "or", "+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^")


def run(body: Body, arrays: dict[str, np.ndarray[Any, Any]], env: dict[str, Any]) -> None:
    """Changes the arrays of the results and of scratch memory.  env: sizes and options.  Raises IndexError for an
    element that is not there."""
    seen = {t.name: memoryview(cast(Any, rows(arrays[t.name], len(t.extents)))) for t in body.tensors}
    numbers = {n: env[n] if kind == "f" else int(env[n]) for n, kind in body.symbols}
    program(body)(seen, numbers, HELPERS)


def rows(a: np.ndarray[Any, Any], axes: int) -> np.ndarray[Any, Any]:
    """An array whose leading axes are one, so that it has this many."""
    first = a.ndim - axes + 1
    return a.reshape(math.prod(a.shape[:first]), *a.shape[first:]) if axes else a


@cache
def program(body: Body) -> Callable[..., None]:
    """The body as a function of its tensors, its numbers and what Python lacks."""
    w = Writer(body)
    scope: dict[str, Any] = {}
    exec(compile(w.text(), f"<body of {body.op}>", "exec"), scope)
    made: Callable[..., None] = scope["run"]
    return made


class Writer:
    """Writes a body as Python.  What begins a name says whose it is, a tensor's, a number's, a local's or a loop's:
    these may be called alike, or as Python's own words."""

    def __init__(self, body: Body) -> None:
        self.body, self.lines = body, ["def run(tensors_, numbers_, lib_):"]

    def text(self) -> str:
        steps = [s for x in self.body.launches for s in x.body]
        for n in sorted(read_by(steps) | stored_by(steps)):
            self.add(1, f"t_{n} = tensors_[{n!r}]")
        for n, _ in self.body.symbols:
            self.add(1, f"n_{n} = numbers_[{n!r}]")
        for n in HELPERS:
            self.add(1, f"{n} = lib_[{n!r}]")
        for x in self.body.launches:
            self.launch(x)
        self.add(1, "return")
        return "\n".join(self.lines)

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def launch(self, x: BodyLaunch) -> None:
        depth = 1
        if x.steps is not None:
            self.add(depth, f"for i_{x.step} in range(int({self.show(x.steps)})):")
            depth += 1
        for r in x.places:
            self.add(depth, f"for i_{r.name} in range(int({self.show(r.high)})):")
            depth += 1
        self.block(x.body, depth)

    def block(self, steps: tuple[Step, ...], depth: int) -> None:
        for s in steps:
            self.step(s, depth)
        if not steps:
            self.add(depth, "pass")

    def step(self, s: Step, depth: int) -> None:
        match s:
            case Set(targets=targets, values=values):
                self.add(depth, f"{', '.join(map(self.show, targets))} = {', '.join(map(self.show, values))}")
            case If(condition=condition, yes=yes, no=no):
                self.add(depth, f"if {self.show(condition)}:")
                self.block(yes, depth + 1)
                if no:
                    self.add(depth, "else:")
                    self.block(no, depth + 1)
            case For(ranges=ranges, condition=condition, body=body, shared=shared):
                for r in ranges:
                    span = f"range({self.show(r.low)}, {self.show(r.high)})"
                    self.add(depth, f"for i_{r.name} in {f'reversed({span})' if shared else span}:")
                    depth += 1
                if condition is not None:
                    self.add(depth, f"if not {self.show(condition)}: break")
                self.block(body, depth)
            case _:
                self.add(depth, "break")

    def show(self, e: E) -> str:
        match e:
            case Constant():
                return repr(e.literal)
            case Symbol(name):
                return f"{name}_" if name in ("inf", "nan", "pi") else f"n_{name}"
            case Local(name):
                return "v_" + name.replace(".", "_")
            case Index(loop):
                return f"i_{loop}"
            case Read(tensor, index, _):
                return f"t_{tensor}[{', '.join(map(self.place, index)) or '()'}]"
            case Select(condition, yes, no):
                return f"({self.show(yes)} if {self.show(condition)} else {self.show(no)})"
            case Unary("not", operand):
                return f"(not {self.show(operand)})"
            case Unary(operator, operand):
                return f"({operator}{self.show(operand)})"
            case Cast(kind, operand):
                return f"{ {'i': 'int', 'f': 'float', 'b': 'bool'}[kind] }({self.show(operand)})"
            case Binary("/", left, right):
                return f"divided_({self.show(left)}, {self.show(right)})"
            case Binary(operator, left, right) if operator in PLAIN:
                return f"({self.show(left)} {operator} {self.show(right)})"
            case Binary(operator, left, right):
                return f"binary_({operator!r}, {self.show(left)}, {self.show(right)})"
            case Call(name, operands):
                shown = ", ".join(map(self.show, operands))
                return f"{OWN[name]}({shown})" if name in OWN else f"call_({name!r}, {shown})"
        raise ValueError(f"no expression of a body: {e}")

    def place(self, e: E) -> str:
        """An index; Python would take a negative one from the end."""
        return self.show(e) if isinstance(e, Index) or isinstance(e, Constant) else f"natural_({self.show(e)})"


def natural(i: int) -> int:
    if i < 0:
        raise IndexError(f"the index {i} is negative")
    return i


def divided(a: float, b: float) -> float:
    if b == 0 or b != b:
        return math.nan if a == 0 or a != a or b != b else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


HELPERS = {
    "natural_": natural,
    "divided_": divided,
    "root_": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "larger_": lambda a, b: a if a > b or a != a else b,
    "smaller_": lambda a, b: a if a < b or a != a else b,
    "call_": scalars.call,
    "binary_": scalars.binary,
    "inf_": math.inf,
    "nan_": math.nan,
    "pi_": math.pi,
}
