"""Kinds of scalar expressions for one class of T: "f" a float, "i" a 32-bit whole number, "b" a boolean.

T is floating or integral.  The kind of a whole-number constant and of `inf` bends to what it meets: `x + 1` is
a float for a float x; the others keep their kind and are cast where kinds meet (a float wins over a whole
number, that over a boolean)."""

from __future__ import annotations

from dsl.ir.builders import is_condition
from dsl.ir.expression import (
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Element,
    Index,
    Local,
    Pack,
    Random,
    Result,
    Select,
    Symbol,
    Unary,
)
from dsl.ir.intrinsics import PREDICATES, keeps_kind
from dsl.ir.program import Tensor

from .context import KernelContext
from .kernel import Kernel, Step

TENSOR = {"int": "i", "int32": "i", "bool": "b", "float": "f"}
OWN = {"Int": "i", "Bits": "i", "Bool": "b"}


def tensor_kind(op: KernelContext, t: Tensor) -> str:
    """The kind of a tensor's elements, "T" where it is the op's type; of a parameter with a type of its own, by its
    class."""
    if t.dtype == "own":
        return OWN.get(op.classes.get(t.name, ""), "f")
    return TENSOR.get(t.dtype, "T")


class Kinds:
    """Kinds of the expressions in one kernel."""

    def __init__(self, op: KernelContext, kernel: Kernel, tensors: dict[str, Tensor], integral: bool):
        self.op = op
        self.T = "i" if integral else "f"
        self.elements = [self.tensor(tensors[a.tensor]) for a in kernel.accesses]
        self.known: dict[E, str] = {}
        self.steps: list[str] = []
        for s in kernel.steps:
            self.steps.append(self.step(s, kernel, tensors))

    def tensor(self, t: Tensor) -> str:
        kind = tensor_kind(self.op, t)
        return self.T if kind == "T" else kind

    def step(self, s: Step, kernel: Kernel, tensors: dict[str, Tensor]) -> str:
        """The kind of a reduction's value, or of what a store stores."""
        if s.kind == "store":
            return self.tensor(tensors[kernel.accesses[s.target].tensor])
        if s.red in ("any", "all"):
            return "b"
        if s.red in ("argmax", "argmin"):
            return "i"
        kind = self.kind(s.body)
        return "f" if kind in ("f", "inf") else "i"

    def kind(self, e: E) -> str:
        """The kind of e; "inf" for an infinity that may become either kind of number."""
        if e not in self.known:
            self.known[e] = self.found(e)
        return self.known[e]

    def found(self, e: E) -> str:
        if is_condition(e):
            return "b"
        match e:
            case Constant(kind, _):
                return kind
            case Index() | Pack():
                return "i"
            case Element(access):
                return self.elements[access]
            case Result(step):
                return self.steps[step]
            case Local():
                return self.T
            case Symbol(name):
                return self.symbol(name)
            case Random() | Binary("/", _, _):
                return "f"
            case Cast(to, _):
                return self.T if to == "T" else to
            case Unary("-", operand):
                return "i" if (k := self.kind(operand)) == "b" else k
            case Select(_, yes, no):
                return self.join((yes, no), whole=False)
            case Call(name, operands):
                return "b" if name in PREDICATES else self.join(operands) if keeps_kind(name) else "f"
            case Binary("&" | "|" | "^", _, _) | Unary("~", _):
                return self.join(e.parts(), whole=False)
            case _:
                return self.join(e.parts())

    def symbol(self, name: str) -> str:
        if name == "inf":
            return "inf"
        if name in ("nan", "pi"):
            return "f"
        if self.op.is_presence(name):
            return "b"
        return {"num": self.T, "real": "f", "bool": "b"}.get(self.op.kind(name), "i")

    def join(self, args: tuple[E, ...], whole: bool = True) -> str:
        """The kind of several operands together; `whole`: booleans count as numbers."""
        kinds = {self.kind(a) for a in args}
        if kinds == {"b"}:
            return "i" if whole else "b"
        if "f" in kinds:
            return "f"
        if kinds <= {"inf"}:
            return "inf"
        return "i" if kinds - {"inf"} else "f"
