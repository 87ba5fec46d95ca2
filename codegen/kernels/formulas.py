"""The formulas of kernels as nodes (data/nodes.py), for one class of T.

Here kinds meet: what an operation asks for is cast, operators become functions of the prelude where WGSL's own mean
something else, and whole numbers of T that may not fit are checked.  How elements are loaded and stored, and all loops,
are planner/memory.py's and planner/positions.py's."""

from __future__ import annotations

import math

from dsl.ir.builders import ZERO, is_binary, is_loop, is_unary
from dsl.ir.expression import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Constant,
    E,
    Element,
    Index,
    Local,
    Random,
    Result,
    Select,
    Symbol,
    Unary,
    show,
    walk,
)
from dsl.ir.intrinsics import ROUNDING, ROUTINES
from dsl.ir.program import Tensor

from ..data import nodes
from ..data.functions import routine_name
from ..data.model import Code, ReadCode, StepCode
from ..data.nodes import Apply, BoundsCheck, Node, Option, Uniform, same
from .context import KernelContext
from .kernel import Kernel, Step
from .kinds import Kinds, tensor_kind
from .wide import may_be_wide, wide_parts

# Intrinsics of floats that WGSL's own functions serve exactly; the others are in the prelude.
NATIVE = {"abs", "floor", "ceil", "trunc", "round"}


def code(
    op: KernelContext,
    kernel: Kernel,
    tensors: dict[str, Tensor],
    integral: bool,
    reported: frozenset[int] = frozenset(),
    forward: bool = False,
) -> Code:
    """The formulas of a kernel for T floating or integral.  reported: accesses whose indices are reported where they
    are off their axis; forward: whether whole numbers of T that do not fit are."""
    w = Lowering(op, kernel, tensors, integral)
    if integral and forward:
        w.check(tensors)
    accesses, targets = [], {s.target for s in kernel.steps}
    for n, a in enumerate(kernel.accesses):
        kind = w.kinds.elements[n]
        accesses.append(
            ReadCode(
                [None if is_loop(i) else w.place(i, n in reported, n in targets) for i in a.index],
                None if a.guard is None else w.node(a.guard, "b"),
                None if a.fallback is None else w.node(a.fallback, kind),
            )
        )
    steps = [
        StepCode(
            None if s.pred is None else w.node(s.pred, "b"),
            w.answer(s, k) if op.asked and s.kind == "store" else w.body(s, k),
        )
        for s, k in zip(kernel.steps, w.kinds.steps)
    ]
    return Code(accesses, steps)


def kinds(op: KernelContext, kernel: Kernel, tensors: dict[str, Tensor]) -> list[str]:
    """What each step computes: "f" "i" "b" where it is the same for both classes of T, else "T"."""
    f, i = Kinds(op, kernel, tensors, False).steps, Kinds(op, kernel, tensors, True).steps
    return [a if a == b else "T" for a, b in zip(f, i)]


def compared(op: KernelContext, kernel: Kernel, tensors: dict[str, Tensor]) -> list[str]:
    """What argmax and argmin compare in each step: "f" "i", or "T"; "T" for other steps."""
    f, i = Lowering(op, kernel, tensors, False), Lowering(op, kernel, tensors, True)
    kinds = [(f.body_kind(s, "T"), i.body_kind(s, "T")) for s in kernel.steps]
    return ["T" if a == "f" and b == "i" else a for a, b in kinds]


class Lowering:
    """Expressions of one kernel as nodes."""

    def __init__(self, op: KernelContext, kernel: Kernel, tensors: dict[str, Tensor], integral: bool):
        self.op, self.kernel = op, kernel
        self.kinds = Kinds(op, kernel, tensors, integral)
        self.integral = integral
        # What is checked where whole numbers of T must fit: the values that are of T.
        self.values: frozenset[E] = frozenset()

    def check(self, tensors: dict[str, Tensor]) -> None:
        """From here on what is computed from elements of T, or from numbers that are options, must fit (`_checked` in
        checks.wgsl)."""
        own = kinds(self.op, self.kernel, tensors)
        values: set[E] = {
            Element(n) for n, a in enumerate(self.kernel.accesses) if tensor_kind(self.op, tensors[a.tensor]) == "T"
        }
        values |= {Symbol(name) for name, kind in self.op.options.items() if kind == "num"}
        values |= {Result(s.result) for s, k in zip(self.kernel.steps, own, strict=True) if k == "T"}
        self.values = frozenset(values)

    def checked(self, e: E) -> bool:
        return bool(self.values) and any(n in self.values for n in walk(e)) and self.kinds.kind(e) == "i"

    def body(self, s: Step, kind: str) -> Node:
        """What a step computes; sums and products of whole numbers of T are kept in 64 bits
        (codegen/planner/strategies/reduction.py)."""
        e = s.body
        if s.kind == "store":
            whole = kind == "i" and Element(s.target) in self.values
            if whole and self.kinds.kind(e) == "f" and not exact(e, True):
                return self.call("cut_checked", (e,), "f")
        elif s.red in ("sum", "prod") and Result(s.result) in self.values:
            if is_binary(e, "*") and self.kinds.kind(e) == "i":
                return self.call("wide_product", e.parts(), "i")
            return self.call("widened", (e,), "i")
        return self.node(e, self.body_kind(s, kind))

    def body_kind(self, s: Step, kind: str) -> str:
        """The kind of a step's body: for argmax that of what it compares."""
        if s.kind == "reduce" and s.red in ("argmax", "argmin"):
            k = self.kinds.kind(s.body)
            return "f" if k in ("f", "inf") else "i"
        return kind

    def place(self, e: E, reported: bool, stores: bool) -> Node:
        """A computed index, checked where faults are reported; see bounds_checks.py."""
        index = self.node(e, "i")
        return BoundsCheck(index, stores) if reported and (e.elements or e.results) else index

    def answer(self, s: Step, kind: str) -> Node:
        """What an op that is asked stores: 1 or 0 for the requirement whose output it is."""
        target = self.kernel.accesses[s.target].tensor
        if target not in self.op.asked:
            return self.node(s.body, kind)
        assert isinstance(s.body, Select)
        condition = self.node(s.body.condition, "b")
        answer = Apply("check_value", [condition, nodes.Constant("i", self.op.asked.index(target))])
        return nodes.Select(answer, nodes.Constant(kind, 1), nodes.Constant(kind, 0))

    # --- Numbers ---

    def node(self, e: E, want: str) -> Node:
        """e as kind `want`."""
        kind = self.kinds.kind(e)
        if isinstance(e, Constant):
            value = int(bool(e.value)) if want == "b" else int(e.value) if want == "i" else float(e.value)
            return nodes.Constant(want, value)
        if kind == "inf":
            return self.infinity(e, want)
        if want == "i" and self.values and (quotient := exact(e, True)):
            if all(self.kinds.kind(x) != "f" for x in quotient.parts()):
                return self.call("trunc_divide_checked", quotient.parts(), "i")
        if isinstance(e, Select) and kind == "i" and want == "f":
            return self.own(e, want, want)  # `0 if c else inf`: each by itself
        made = self.own(e, kind, want)
        return made if kind == want else self.cast(made, kind, want)

    def cast(self, e: Node, kind: str, want: str) -> Node:
        if want == "b":
            zero = nodes.Constant(kind, 0)  # see `!=` in own
            return nodes.Unary("!", nodes.Binary("==", e, zero)) if kind == "f" else nodes.Binary("!=", e, zero)
        if kind == "b":
            return nodes.Select(e, nodes.Constant(want, 1), nodes.Constant(want, 0))
        return nodes.Cast(want, e)

    def infinity(self, e: E, want: str) -> Node:
        """An infinity, or the whole number that stands at that end."""
        if want == "b":
            return nodes.Constant("b", 1)
        match e:
            case Symbol():
                return Uniform("inf") if want == "f" else nodes.Constant("i", 2**31 - 1)
            case Unary("-", Symbol()) if want != "f":
                return nodes.Constant("i", -(2**31))
            case _:
                return self.own(e, want, want)

    def own(self, e: E, kind: str, want: str) -> Node:
        """e as the kind that it has by itself."""
        match e:
            case Index(loop):
                return nodes.Index(loop)
            case Element(access):
                return nodes.Element(access)
            case Result(step):
                return nodes.Result(step)
            case Local(name):
                return self.local(name)
            case Symbol(name):
                return self.symbol(name)
            case Random(draw):
                return nodes.Random(draw)
            case Cast(to, operand):
                if to == "i" and self.kinds.kind(operand) == "f":
                    return self.call("to_int", (operand,), "f")
                return self.node(operand, kind)
            case Unary("-", operand):
                if self.wide_inside(e):
                    return Apply("narrow_checked", [self.wide(e)])
                if self.checked(e):
                    return self.call("subtract_checked", (ZERO, operand), "i")
                return negated(self.node(operand, kind))
            case Unary("not", operand):
                return nodes.Unary("!", self.node(operand, "b"))
            case Unary("~", operand):
                if kind == "b":
                    return nodes.Unary("!", self.node(operand, "b"))
                if self.integral:
                    return self.call("invert", (operand,), "i")
                return nodes.Unary("~", self.node(operand, "i"))
            case Binary("and", left, right):
                return self.binary("&&", left, right, "b")
            case Binary("or", left, right):
                return self.binary("||", left, right, "b")
            case Binary(operator, left, right) if operator in COMPARISONS:
                return self.comparison(operator, left, right)
            case Binary():
                return self.arithmetic(e, kind)
            case Select(condition, yes, no):
                return choice(self.node(condition, "b"), self.node(yes, kind), self.node(no, kind), kind)
            case Call(name, operands):
                return self.intrinsic(e, name, operands, kind)
            case _:
                raise ValueError("no formula of a kernel: " + show(e))

    def local(self, name: str) -> Node:
        raise ValueError(f"the variable {name} outside of a routine")

    def symbol(self, name: str) -> Node:
        if self.op.is_constant(name) or self.op.is_presence(name):
            return Option(name)
        return nodes.Constant("f", math.pi) if name == "pi" else Uniform(name)

    def binary(self, operator: str, left: E, right: E, kind: str) -> Node:
        return nodes.Binary(operator, self.node(left, kind), self.node(right, kind))

    def comparison(self, operator: str, left: E, right: E) -> Node:
        kind = "f" if self.kinds.join((left, right)) in ("f", "inf") else "i"
        if self.kinds.kind(left) == "b" and self.kinds.kind(right) == "b" and operator in ("==", "!="):
            kind = "b"
        if operator == "!=" and kind == "f":  # compilers take WGSL's != for one that is false where a side is NaN
            return nodes.Unary("!", self.binary("==", left, right, kind))
        return self.binary(operator, left, right, kind)

    def arithmetic(self, e: Binary, kind: str) -> Node:
        operator, left, right = e.operator, e.left, e.right
        if operator == "*" and kind == "f":  # a compiler may take `0 * x` for 0, NaN it is not
            for x, y in ((left, right), (right, left)):
                if isinstance(x, Constant) and x.value == 0:
                    return self.call("nothing_of", (y,), "f")
        if self.wide_inside(e):
            return Apply("narrow_checked", [self.wide(e)])
        if operator in CHECKED and self.checked(e):
            return self.call(CHECKED[operator], (left, right), "i")
        match operator:
            case "+" | "-" | "*":
                return self.binary(operator, left, right, kind)
            case "/":
                return self.call("divide", (left, right), "f")
            case "&" | "|" | "^":
                return self.binary("!=" if kind == "b" and operator == "^" else operator, left, right, kind)
            case "**" if kind == "f" and isinstance(right, Constant) and right.value in (2, 0.5):
                return self.call("square" if right.value == 2 else "square_root", (left,), "f")
        name = INTEGER.get(operator, FUNCTIONS[operator]) if kind == "i" else FUNCTIONS[operator]
        return self.call(name, (left, right), kind)

    def wide_inside(self, e: E) -> bool:
        return may_be_wide(e) and bool(self.values) and self.checked(e) and any(wide_parts(e, self.checked))

    def wide(self, e: E) -> Node:
        """A sum or product of whole numbers in 64 bits."""
        wide = wide_parts(e, self.checked)
        if is_binary(e, "*") and not any(wide):
            return self.call("wide_product", e.parts(), "i")
        parts = [self.wide(x) if w else self.call("widened", (x,), "i") for x, w in zip(e.parts(), wide, strict=True)]
        if is_unary(e, "-"):
            return Apply("wide_difference", [Apply("widened", [nodes.Constant("i", 0)]), *parts])
        return Apply(
            "wide_sum" if is_binary(e, "+") else "wide_times" if is_binary(e, "*") else "wide_difference", parts
        )

    def call(self, name: str, operands: tuple[E, ...], kind: str) -> Node:
        return Apply(name, [self.node(x, kind) for x in operands])

    def intrinsic(self, e: E, fn: str, a: tuple[E, ...], kind: str) -> Node:
        if fn == "stop":
            return self.node(a[0], kind)
        if fn in ROUTINES:
            return self.call(routine_name(fn, kind), a, kind)
        if fn in PREDICATE_FUNCTIONS:
            if self.kinds.kind(a[0]) not in ("i", "b"):
                return self.call(PREDICATE_FUNCTIONS[fn], a, "f")
            if fn == "signbit":
                return nodes.Binary("<", self.node(a[0], "i"), nodes.Constant("i", 0))
            return nodes.Constant("b", 0)
        if kind == "i":
            if fn in ROUNDING or fn == "stored":
                return self.node(a[0], "i")
            if fn == "fmod":
                return self.call("fmod_int", a, "i")
            if fn == "abs" and self.checked(e):
                return self.call("abs_checked", a, "i")
            return self.call({"fmax": "max", "fmin": "min"}.get(fn, fn), a, "i")
        if quotient := exact(e):
            return self.call("trunc_divide", quotient.parts(), "f")
        if fn in NATIVE:
            return self.call(fn, a[:1], "f")
        return self.call(PRELUDE_NAMES.get(fn, fn + "_of"), a, "f")


def choice(condition: Node, yes: Node, no: Node, kind: str) -> Node:
    """A choice of two numbers. A GPU's compiler takes `0 if x < 0 else x` for the larger of both, which is 0 where x is
    NaN, unless x is looked at besides."""
    inverse = isinstance(condition, nodes.Unary)
    comparison = condition.operand if isinstance(condition, nodes.Unary) else condition
    unordered = yes if inverse else no  # the choice where a side is NaN
    if kind != "f" or isinstance(unordered, nodes.Constant) or not compares(comparison, yes, no):
        return nodes.Select(condition, yes, no)
    lost = Apply("is_nan", [unordered])
    known = nodes.Binary("||", lost, condition) if inverse else nodes.Binary("&&", nodes.Unary("!", lost), condition)
    return nodes.Select(known, yes, no)


def compares(e: Node, a: Node, b: Node) -> bool:
    """Whether e says which of a and b is larger."""
    if not isinstance(e, nodes.Binary) or e.operator not in ORDERS:
        return False
    return (same(e.left, a) and same(e.right, b)) or (same(e.left, b) and same(e.right, a))


# Operators on whole numbers of T that may not fit.
CHECKED = {
    "+": "add_checked",
    "-": "subtract_checked",
    "*": "multiply_checked",
    "//": "floor_divide_checked",
    "**": "power_checked",
    "<<": "shift_left_checked",
}
ORDERS = ("<", "<=", ">", ">=")
PREDICATE_FUNCTIONS = {"isnan": "is_nan", "isinf": "is_infinite", "signbit": "sign_bit"}
# Operators without one in WGSL that does the same.
FUNCTIONS = {"//": "floor_divide", "%": "remainder", "**": "power", "<<": "shift_left", ">>": "shift_right"}
INTEGER = {"//": "floor_divide_int", "%": "remainder_int", "**": "power_int"}
# Intrinsic -> its function in the prelude, where that is not the name followed by `_of`.
PRELUDE_NAMES = {
    "max": "larger",
    "min": "smaller",
    "fmax": "larger_number",
    "fmin": "smaller_number",
    "sqrt": "square_root",
    "rsqrt": "reciprocal_root",
    "fmod": "fmod_of",
    "copysign": "copy_sign",
    "sign": "sign_of",
}


def negated(e: Node) -> Node:
    if isinstance(e, nodes.Constant) and e.value != 0:
        return nodes.Constant(e.kind, -e.value)
    return nodes.Unary("-", e)


def exact(e: E, whole: bool = False) -> Binary | None:
    """The quotient that is cut towards zero, if e is one: of whole numbers that is one of theirs."""
    match e:
        case Call("trunc", (Binary("/", _, _) as quotient,)):
            return quotient
        case Call("trunc", (Call("stored", (Binary("/", _, _) as quotient,)),)) if whole:
            return quotient
        case _:
            return None
