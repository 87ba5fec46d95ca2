"""The rules of nodes (data/nodes.py), checked for each kernel that is compiled: every operand has the kind that its
operation asks for, and every formula the kind of where it stands.  A break of one is a fault of the compiler, not of a
definition."""

from __future__ import annotations

from dsl.ir.intrinsics import ROUNDING, ROUTINES

from ..data.functions import CHECKED, INTEGER, routine_name
from ..data.model import Code, Kernel, is_arg
from ..data.nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Division,
    Element,
    Index,
    Local,
    Node,
    Option,
    Random,
    Result,
    Rounded,
    Select,
    Unary,
    Uniform,
)

NUMBERS = ("f", "i")
ARITHMETIC, ORDER, EQUALITY, LOGIC, BITS = (
    ("+", "-", "*"),
    ("<", "<=", ">", ">="),
    ("==", "!="),
    ("&&", "||"),
    ("&", "|", "^"),
)
# Functions of prelude.wgsl, checks.wgsl and rare.wgsl: kinds of their operands and of their result, "w" for whole
# numbers in 64 bits.  Others take and answer floats, but for those of data/functions.py and of whole numbers; of WGSL's
# own, what they are given.
SIGNATURES = {
    "is_nan": ("f", "b"),
    "is_infinite": ("f", "b"),
    "sign_bit": ("f", "b"),
    "to_int": ("f", "i"),
    "cut_checked": ("f", "f"),
    "invert": ("i", "i"),
    "shift_left": ("ii", "i"),
    "shift_right": ("ii", "i"),
    "check_value": ("bi", "b"),
    "widened": ("i", "w"),
    "wide_product": ("ii", "w"),
    "wide_sum": ("ww", "w"),
    "wide_times": ("ww", "w"),
    "wide_difference": ("ww", "w"),
    "narrow_checked": ("w", "i"),
}
OWN = ["abs", "max", "min", "sign", *ROUNDING]


class BrokenNode(Exception):
    """A formula that breaks the rules; please report it."""


class Verifier:
    """The kinds of one kernel's formulas for one class of T."""

    def __init__(self, kernel: Kernel, options: dict[str, str], T: str):
        self.elements = [T if a.kind == "T" else a.kind for a in kernel.accesses]
        self.results = [T if s.value == "T" else s.value for s in kernel.steps]
        self.uniforms = {w.name: T if w.kind == "T" else w.kind for w in kernel.uniforms}
        self.options = options
        self.loops = {loop.name for loop in kernel.loops + kernel.rloops}

    def kind(self, e: Node) -> str:
        match e:
            case Constant(kind):
                return kind
            case Index(loop):
                return self.asked(loop in self.loops, e, "i")
            case Element(access):
                return self.asked(access < len(self.elements), e, self.elements[access])
            case Result(step):
                return self.asked(step < len(self.results), e, self.results[step])
            case Uniform(name):
                return self.asked(name in self.uniforms, e, self.uniforms.get(name, ""))
            case Option(name):
                return "i" if self.options.get(name) == "choice" else "b"
            case Random():
                return "f"
            case Cast(kind, operand):
                return self.asked({kind, self.kind(operand)} == {"f", "i"}, e, kind)
            case Rounded(operand):
                return self.asked(self.kind(operand) == "f", e, "f")
            case Unary("-", operand):
                return self.asked((k := self.kind(operand)) in NUMBERS, e, k)
            case Unary("!", operand):
                return self.asked(self.kind(operand) == "b", e, "b")
            case Unary("~", operand):
                return self.asked(self.kind(operand) == "i", e, "i")
            case Division(_, operand, divisor):
                return self.asked(self.kind(operand) == "i" and divisor > 1, e, "i")
            case BoundsCheck(operand):
                return self.asked(self.kind(operand) == "i", e, "i")
            case Select(condition, yes, no):
                return self.asked(self.kind(condition) == "b" and self.kind(yes) == self.kind(no), e, self.kind(yes))
            case Binary(operator, left, right):
                return self.binary(e, operator, self.kind(left), self.kind(right))
            case Apply(name, operands):
                return self.applied(e, name, "".join(map(self.kind, operands)))
            case Local():
                raise BrokenNode("a strategy's variable before there is a strategy")
        raise BrokenNode(f"no node: {e!r}")

    def binary(self, e: Node, operator: str, a: str, b: str) -> str:
        if operator in ARITHMETIC:
            return self.asked(a == b and a in NUMBERS, e, a)
        if operator in ORDER:
            return self.asked(a == b and a in NUMBERS, e, "b")
        if operator in EQUALITY:
            return self.asked(a == b, e, "b")
        if operator in LOGIC:
            return self.asked(a == b == "b", e, "b")
        return self.asked(operator in BITS and a == b and a in ("i", "b"), e, a)

    def applied(self, e: Node, name: str, kinds: str) -> str:
        if name in SIGNATURES:
            wanted, result = SIGNATURES[name]
            return self.asked(kinds == wanted, e, result)
        if name in OWN:
            return self.asked(len(set(kinds)) == 1 and kinds[0] in NUMBERS, e, kinds[0])
        integral = name in INTEGER or name in CHECKED or name in integer_routines()
        return self.asked(set(kinds) <= {"i" if integral else "f"}, e, "i" if integral else "f")

    def asked(self, holds: bool, e: Node, kind: str) -> str:
        if not holds:
            raise BrokenNode(f"operands of the wrong kinds, or of nothing: {e!r}")
        return kind


def integer_routines() -> set[str]:
    return {routine_name(name, "i") for name, r in ROUTINES.items() if r.integral}


def verify(kernel: Kernel, options: dict[str, str]) -> None:
    """options: the kinds of the op's options.  Raises BrokenNode."""
    for T, code in (("f", kernel.floating), ("i", kernel.integral)):
        if code is not None:
            verify_code(Verifier(kernel, options, T), kernel, code, T)


def verify_code(v: Verifier, kernel: Kernel, code: Code, T: str) -> None:
    for n, a in enumerate(code.accesses):
        for e, kind in (*((i, "i") for i in a.index), (a.guard, "b"), (a.fallback, v.elements[n])):
            if e is not None:
                v.asked(v.kind(e) == kind, e, kind)
    for s, c in zip(kernel.steps, code.steps):
        compared = T if s.compared == "T" else s.compared
        wanted = compared if is_arg(s) else T if s.value == "T" else s.value
        if c.pred is not None:
            v.asked(v.kind(c.pred) == "b", c.pred, "b")
        v.asked(
            v.kind(c.body)
            in (
                wanted,
                *("w",) * (wanted == "i" and s.red in ("sum", "prod")),
                *("f",) * (wanted == "i" and s.kind == "store"),
            ),
            c.body,
            wanted,
        )
