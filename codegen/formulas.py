"""The formulas of nests as nodes (host/nodes.py), for one class of T.

Here kinds meet: what an operation asks for is cast, operators become functions of the prelude where WGSL's own mean
something else, and whole numbers of T that may not fit are checked.  How elements are loaded and stored, and all loops,
are host/memory.py's and host/positions.py's."""

from __future__ import annotations

from math import pi

from dsl.expression import ROUTINES, ZERO, E, walk
from dsl.ir import Tensor
from dsl.opdef import OpDef, Presence, symbol

from .host.model import Code, ReadCode, StepCode
from .host.nodes import (
    Apply,
    Binary,
    BoundsCheck,
    Cast,
    Constant,
    Element,
    Index,
    Node,
    Option,
    Random,
    Result,
    Select,
    Unary,
    Uniform,
)
from .nests import Nest, bare
from .typing import Kinds, tensor_kind
from .wide import WIDE, wide_parts

COMPARE = ("<", "<=", "==", "!=", ">", ">=")
# Intrinsics of floats that WGSL's own functions serve exactly; the others are in the prelude.
NATIVE = {"abs", "floor", "ceil", "trunc", "round"}
STATIC_KINDS = ("bool", "choice")


def code(
    op: OpDef,
    nest: Nest,
    tensors: dict[str, Tensor],
    integral: bool,
    told: frozenset[int] = frozenset(),
    asked: bool = False,
    forward: bool = False,
) -> Code:
    """The formulas of a nest for T floating or integral.  told: accesses whose places are reported where they are off
    their axis; asked: whether what is stored is an answer, of which a no is reported; forward: whether whole numbers of
    T that do not fit are."""
    w = Lowering(op, nest, tensors, integral)
    if integral and forward:
        w.check(tensors)
    accesses, targets = [], {s.target for s in nest.steps}
    for n, a in enumerate(nest.accesses):
        kind = w.kinds.holes[f"r{n}"]
        accesses.append(
            ReadCode(
                [None if bare(i) else w.place(i, n in told, n in targets) for i in a.index],
                None if a.guard is None else w.node(a.guard, "b"),
                None if a.fallback is None else w.node(a.fallback, kind),
            )
        )
    steps = [
        StepCode(
            None if s.pred is None else w.node(s.pred, "b"),
            w.answer(s, k) if asked and s.kind == "store" else w.body(s, k),
        )
        for s, k in zip(nest.steps, w.kinds.steps)
    ]
    return Code(accesses, steps)


def kinds(op: OpDef, nest: Nest, tensors: dict[str, Tensor]) -> list[str]:
    """What each step computes: "f" "i" "b" where it is the same for both classes of T, else "T"."""
    f, i = (Kinds(op, nest, tensors, integral).steps for integral in (False, True))
    return [a if a == b else "T" for a, b in zip(f, i)]


def compared(op: OpDef, nest: Nest, tensors: dict[str, Tensor]) -> list[str]:
    """What argmax and argmin compare in each step: "f" "i", or "T"; "T" for other steps."""
    f, i = (Lowering(op, nest, tensors, integral) for integral in (False, True))
    kinds = [[w.body_kind(s, "T") for s in nest.steps] for w in (f, i)]
    return ["T" if (a, b) == ("f", "i") else a for a, b in zip(*kinds)]


class Lowering:
    """Expressions of one nest as nodes."""

    def __init__(self, op: OpDef, nest: Nest, tensors: dict[str, Tensor], integral: bool):
        self.op, self.nest = op, nest
        self.kinds = Kinds(op, nest, tensors, integral)
        self.statics = {symbol(p.name) for p in op.params if p.kind in STATIC_KINDS}
        self.integral = integral

    # What is checked where whole numbers of T must fit: the values that are of T.
    values: frozenset[str] = frozenset()

    def check(self, tensors: dict[str, Tensor]):
        """From here on what is computed from elements of T, or from numbers that are options, must fit (`_checked` in
        rare.wgsl)."""
        values = {f"r{n}" for n, a in enumerate(self.nest.accesses) if tensor_kind(self.op, tensors[a.tensor]) == "T"}
        values |= {name for name, kind in self.kinds.options.items() if kind == "num"}
        self.values = frozenset(
            values
            | {s.name for s, k in zip(self.nest.steps, kinds(self.op, self.nest, tensors)) if s.name and k == "T"}
        )

    def checked(self, e: E) -> bool:
        return (
            bool(self.values)
            and any(n.op in ("hole", "sym") and n.val in self.values for n in walk(e))
            and self.kinds.kind(e) == "i"
        )

    def body(self, s, kind: str) -> Node:
        """What a step computes; sums and products of whole numbers of T are kept in 64 bits (codegen/host/row.py)."""
        e = s.body
        if (
            s.kind == "store"
            and self.values
            and kind == "i"
            and f"r{s.target}" in self.values
            and self.kinds.kind(e) == "f"
            and not exact(e)
        ):
            return self.call("cut_checked", (e,), "f")
        if not (s.kind == "reduce" and s.red in ("sum", "prod") and s.name in self.values):
            return self.node(e, self.body_kind(s, kind))
        return (
            self.call("wide_product", e.args, "i")
            if e.op == "*" and self.kinds.kind(e) == "i"
            else self.call("widened", (e,), "i")
        )

    def body_kind(self, s, kind: str) -> str:
        """The kind of a step's body: for argmax that of what it compares."""
        if s.kind == "reduce" and s.red in ("argmax", "argmin"):
            k = self.kinds.kind(s.body)
            return "f" if k in ("f", "inf") else "i"
        return kind

    def place(self, e: E, told: bool, stores: bool) -> Node:
        """A computed index, checked where the device is to be told of it; see wgsl/reached.py."""
        index = self.node(e, "i")
        return BoundsCheck(index, stores) if told and e.holes else index

    def answer(self, s, kind: str) -> Node:
        """What an op that is asked stores: 1 or 0 for the requirement whose output it is."""
        target = self.nest.accesses[s.target].tensor
        if target not in self.op.outputs:
            return self.node(s.body, kind)
        condition = self.node(s.body.args[0], "b")
        return Select(
            Apply("allowed", [condition, Constant("i", self.op.outputs.index(target))]),
            Constant(kind, 1),
            Constant(kind, 0),
        )

    # --- Numbers ---

    def node(self, e: E, want: str) -> Node:
        """e as kind `want`."""
        kind = self.kinds.kind(e)
        if e.op == "const":
            return Constant(want, int(bool(e.val)) if want == "b" else int(e.val) if want == "i" else float(e.val))
        if kind == "inf":
            return self.infinity(e, want)
        if want == "i" and self.values and exact(e) and all(self.kinds.kind(x) != "f" for x in e.args[0].args):
            return self.call("trunc_divide_checked", e.args[0].args, "i")
        if e.op == "if" and kind == "i" and want == "f":
            return self.own(e, want, want)  # `0 if c else inf`: each by itself
        e = self.own(e, kind, want)
        return e if kind == want else self.cast(e, kind, want)

    def cast(self, e: Node, kind: str, want: str) -> Node:
        if want == "b":
            return (
                Unary("!", Binary("==", e, Constant("f", 0))) if kind == "f" else Binary("!=", e, Constant("i", 0))
            )  # see `!=` in own
        return Select(e, Constant(want, 1), Constant(want, 0)) if kind == "b" else Cast(want, e)

    def infinity(self, e: E, want: str) -> Node:
        """An infinity, or the whole number that stands at that end."""
        if want == "b":
            return Constant("b", 1)
        match e.op:
            case "sym":
                return Uniform("inf") if want == "f" else Constant("i", 2**31 - 1)
            case "neg" if e.args[0].op == "sym" and want != "f":
                return Constant("i", -(2**31))
        return self.own(e, want, want)

    def own(self, e: E, kind: str, want: str) -> Node:
        """e as the kind that it has by itself."""
        a = e.args
        match e.op:
            case "idx":
                return Index(e.val)
            case "hole":
                return self.hole(e.val)
            case "sym":
                return self.symbol(e.val)
            case "rand":
                return Random(e.val)
            case "cast":
                return (
                    self.node(a[0], kind)
                    if e.val != "i" or self.kinds.kind(a[0]) != "f"
                    else self.call("to_whole", a, "f")
                )
            case "neg" if self.wide_inside(e):
                return Apply("narrow_checked", [self.wide(e)])
            case "neg" if self.checked(e):
                return self.call("subtract_checked", (ZERO, *a), "i")
            case "neg":
                return negated(self.node(a[0], kind))
            case "not":
                return Unary("!", self.node(a[0], "b"))
            case "and" | "or":
                return self.binary("&&" if e.op == "and" else "||", a, "b")
            case "if":
                return Select(self.node(a[0], "b"), self.node(a[1], kind), self.node(a[2], kind))
            case "call":
                return self.intrinsic(e, kind)
            case "~":
                if kind == "b":
                    return Unary("!", self.node(a[0], "b"))
                return self.call("invert", a, "i") if self.integral else Unary("~", self.node(a[0], "i"))
        if e.op in COMPARE:
            k = self.kinds.join(a)
            k = "f" if k in ("f", "inf") else "i"
            if all(self.kinds.kind(x) == "b" for x in a) and e.op in ("==", "!="):
                k = "b"
            if e.op == "!=" and k == "f":  # compilers take WGSL's != for one that is false where a side is NaN
                return Unary("!", self.binary("==", a, k))
            return self.binary(e.op, a, k)
        return self.arithmetic(e, kind)

    def hole(self, name: str) -> Node:
        return Result(int(name[3:])) if name.startswith("acc") else Element(int(name[1:]))

    def symbol(self, name: str) -> Node:
        if name in self.statics or name.startswith(Presence) and name not in self.kinds.options:
            return Option(name)
        return Constant("f", pi) if name == "pi" else Uniform(name)

    def binary(self, operator: str, operands: tuple[E, ...], kind: str) -> Node:
        left, right = operands
        return Binary(operator, self.node(left, kind), self.node(right, kind))

    def arithmetic(self, e: E, kind: str) -> Node:
        a, op = e.args, e.op
        if op == "*" and kind == "f":  # a compiler may take `0 * x` for 0, NaN it is not
            for x, y in (a, a[::-1]):
                if x.op == "const" and x.val == 0:
                    return self.call("nothing_of", [y], "f")
        if self.wide_inside(e):
            return Apply("narrow_checked", [self.wide(e)])
        if op in CHECKED and self.checked(e):
            return self.call(f"{CHECKED[op]}_checked", a, "i")
        if op in ("+", "-", "*"):
            return self.binary(op, a, kind)
        if op == "/":
            return self.call("divide", a, "f")
        if op in ("&", "|", "^"):
            return self.binary("!=" if kind == "b" and op == "^" else op, a, kind)
        if op == "**" and kind == "f" and a[1].op == "const" and a[1].val in (2, 0.5):
            return self.call("square" if a[1].val == 2 else "square_root", a[:1], "f")
        name = {"//": "floor_divide", "%": "remainder", "**": "power", "<<": "shift_left", ">>": "shift_right"}[op]
        return self.call(name + ("_whole" if kind == "i" and op in ("//", "%", "**") else ""), a, kind)

    def wide_inside(self, e: E) -> bool:
        return e.op in WIDE and bool(self.values) and self.checked(e) and any(wide_parts(e, self.checked))

    def wide(self, e: E) -> Node:
        """A sum or product of whole numbers in 64 bits."""
        wide = wide_parts(e, self.checked)
        if e.op == "*" and not any(wide):
            return self.call("wide_product", e.args, "i")
        parts = [self.wide(x) if w else self.call("widened", (x,), "i") for x, w in zip(e.args, wide)]
        if e.op == "neg":
            parts = [Apply("widened", [Constant("i", 0)]), *parts]
        return Apply({"+": "wide_sum", "*": "wide_times"}.get(e.op, "wide_difference"), parts)

    def call(self, name: str, args, kind: str) -> Node:
        return Apply(name, [self.node(x, kind) for x in args])

    def intrinsic(self, e: E, kind: str) -> Node:
        fn, a = e.val, e.args
        if fn == "stop":
            return self.node(a[0], kind)
        if fn in ROUTINES:
            return self.call(routine_name(fn, kind), a, kind)
        if fn in ("isnan", "isinf", "signbit"):
            if self.kinds.kind(a[0]) in ("i", "b"):
                return Binary("<", self.node(a[0], "i"), Constant("i", 0)) if fn == "signbit" else Constant("b", 0)
            return self.call({"isnan": "is_nan", "isinf": "is_infinite", "signbit": "sign_bit"}[fn], a, "f")
        if kind == "i":
            if fn in ("floor", "ceil", "trunc", "round"):
                return self.node(a[0], "i")
            if fn == "fmod":
                return self.call("fmod_whole", a, "i")
            if fn == "abs" and self.checked(e):
                return self.call("abs_checked", a, "i")
            return self.call({"fmax": "max", "fmin": "min"}.get(fn, fn), a, "i")
        if fn in NATIVE:
            return self.call(fn, a[:1], "f")
        return self.call(PRELUDE_NAMES.get(fn, fn + "_of"), a, "f")


# Operators on whole numbers of T that may not fit.
CHECKED = {"+": "add", "-": "subtract", "*": "multiply", "//": "floor_divide", "**": "power", "<<": "shift_left"}
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
    return Constant(e.kind, -e.value) if isinstance(e, Constant) and e.value != 0 else Unary("-", e)


def exact(e: E) -> bool:
    """Whether it is a quotient cut towards zero: of whole numbers that is one of theirs."""
    return e.op == "call" and e.val == "trunc" and e.args[0].op == "/"


def routine_name(name: str, kind: str) -> str:
    return f"{name}_routine" + ("_whole" if kind == "i" else "")
