"""Scalar expressions as WGSL with holes.

`r0` stands for what access 0 read, `acc0` for an earlier value, loops for variables of type i32, `p.name`
for a word of the uniform.  Presence, booleans and choices are constants of the kernel's text.  Every text
is printed for one class of T.  How elements are loaded and stored, and all loops, are host/kernel.py's."""

from __future__ import annotations

from dsl.expression import E, ROUTINES, ZERO, walk
from dsl.ir import Tensor
from dsl.opdef import OpDef, Presence, symbol

from ..host.model import Code, ReadCode, StepCode
from ..host.names import safe_name
from ..nests import Nest, bare
from ..typing import Kinds, tensor_kind
from ..wide import WIDE, wide_parts

TYPES = {"f": "f32", "i": "i32", "b": "bool"}
COMPARE = ("<", "<=", "==", "!=", ">", ">=")
# Intrinsics of floats that WGSL's own functions serve exactly; the others are in the prelude.
NATIVE = {"abs", "floor", "ceil", "trunc", "round"}
STATIC_KINDS = ("bool", "choice")


def code(op: OpDef, nest: Nest, tensors: dict[str, Tensor], integral: bool, told: frozenset[int] = frozenset(), asked: bool = False,
         forward: bool = False) -> Code:
    """The texts of a nest for T floating or integral.  told: accesses whose places are reported where they are off their axis;
    asked: whether what is stored is an answer, of which a no is reported; forward: whether whole numbers of T that do not fit are."""
    w = Writer(op, nest, tensors, integral)
    if integral and forward: w.check(tensors)
    accesses, targets = [], {s.target for s in nest.steps}
    for n, a in enumerate(nest.accesses):
        kind = w.kinds.holes[f"r{n}"]
        accesses.append(ReadCode(["" if bare(i) else w.place(i, "" if n not in told else "inside" if n in targets else "reached") for i in a.index],
                                 "" if a.guard is None else w.text(a.guard, "b"),
                                 "" if a.fallback is None else w.text(a.fallback, kind)))
    steps = [StepCode("" if s.pred is None else w.text(s.pred, "b"), w.answer(s, k) if asked and s.kind == "store" else w.body(s, k))
             for s, k in zip(nest.steps, w.kinds.steps)]
    return Code(accesses, steps)


def kinds(op: OpDef, nest: Nest, tensors: dict[str, Tensor]) -> list[str]:
    """What each step computes: "f" "i" "b" where it is the same for both classes of T, else "T"."""
    f, i = (Kinds(op, nest, tensors, integral).steps for integral in (False, True))
    return [a if a == b else "T" for a, b in zip(f, i)]


def compared(op: OpDef, nest: Nest, tensors: dict[str, Tensor]) -> list[str]:
    """What argmax and argmin compare in each step: "f" "i", or "T"; "T" for other steps."""
    f, i = (Writer(op, nest, tensors, integral) for integral in (False, True))
    kinds = [[w.body_kind(s, "T") for s in nest.steps] for w in (f, i)]
    return ["T" if (a, b) == ("f", "i") else a for a, b in zip(*kinds)]


class Writer:
    """Prints the expressions of one nest."""

    def __init__(self, op: OpDef, nest: Nest, tensors: dict[str, Tensor], integral: bool):
        self.op, self.nest = op, nest
        self.kinds = Kinds(op, nest, tensors, integral)
        self.statics = {symbol(p.name) for p in op.params if p.kind in STATIC_KINDS}
        self.integral = integral

    # What is checked where whole numbers of T must fit: the values that are of T.
    values: frozenset[str] = frozenset()

    def check(self, tensors: dict[str, Tensor]):
        """From here on what is computed from elements of T, or from numbers that are options, must fit (`_checked` in rare.wgsl)."""
        values = {f"r{n}" for n, a in enumerate(self.nest.accesses) if tensor_kind(self.op, tensors[a.tensor]) == "T"}
        values |= {name for name, kind in self.kinds.options.items() if kind == "num"}
        self.values = frozenset(values | {s.name for s, k in zip(self.nest.steps, kinds(self.op, self.nest, tensors)) if s.name and k == "T"})

    def checked(self, e: E) -> bool:
        return bool(self.values) and any(n.op in ("hole", "sym") and n.val in self.values for n in walk(e)) and self.kinds.kind(e) == "i"

    def body(self, s, kind: str) -> str:
        """What a step computes; sums and products of whole numbers of T are kept in 64 bits (codegen/host/row.py)."""
        e = s.body
        if s.kind == "store" and self.values and kind == "i" and f"r{s.target}" in self.values and self.kinds.kind(e) == "f" and not exact(e):
            return self.call("cut_checked", (e,), "f")
        if not (s.kind == "reduce" and s.red in ("sum", "prod") and s.name in self.values): return self.text(e, self.body_kind(s, kind))
        return self.call("wide_product", e.args, "i") if e.op == "*" and self.kinds.kind(e) == "i" else f"widened({bared(self.text(e, 'i'))})"

    def body_kind(self, s, kind: str) -> str:
        """What a step's body is printed as: for argmax the kind of what it compares."""
        if s.kind == "reduce" and s.red in ("argmax", "argmin"):
            k = self.kinds.kind(s.body)
            return "f" if k in ("f", "inf") else "i"
        return kind

    def place(self, e: E, tells: str) -> str:
        """A computed index, in the function that tells where it is off its axis; see reached.py."""
        text = self.text(e, "i")
        return f"{tells}({bared(text)})" if tells and any(n.op == "hole" for n in walk(e)) else text

    def answer(self, s, kind: str) -> str:
        """What an op that is asked stores: 1 or 0 for the requirement whose output it is."""
        target = self.nest.accesses[s.target].tensor
        if target not in self.op.outputs: return self.text(s.body, kind)
        condition = bared(self.text(s.body.args[0], "b"))
        return f"select({constant(0, kind)}, {constant(1, kind)}, allowed({condition}, {self.op.outputs.index(target)}))"

    # --- Numbers ---

    def text(self, e: E, want: str) -> str:
        """e as kind `want`; safe as an operand."""
        kind = self.kinds.kind(e)
        if e.op == "const": return constant(e.val, want)
        if kind == "inf": return self.infinity(e, want)
        if want == "i" and self.values and exact(e) and all(self.kinds.kind(x) != "f" for x in e.args[0].args):
            return self.call("trunc_divide_checked", e.args[0].args, "i")
        if e.op == "if" and kind == "i" and want == "f": return self.show(e, want, want)      # `0 if c else inf`: each by itself
        s = self.show(e, kind, want)
        return s if kind == want else self.cast(s, kind, want)

    def cast(self, s: str, kind: str, want: str) -> str:
        if want == "b": return f"!({s} == 0.0)" if kind == "f" else f"({s} != 0)"       # see `!=` in show
        if kind == "b": return f"select(0.0, 1.0, {s})" if want == "f" else f"select(0, 1, {s})"
        return f"f32({bared(s)})" if want == "f" else f"i32({bared(s)})"

    def infinity(self, e: E, want: str) -> str:
        """An infinity, or the whole number that stands at that end."""
        if want == "b": return "true"
        match e.op:
            case "sym": return "p.inf" if want == "f" else "2147483647"
            case "neg" if e.args[0].op == "sym" and want != "f": return "(-2147483647 - 1)"
        return self.show(e, want, want)

    def show(self, e: E, kind: str, want: str) -> str:
        a = e.args
        match e.op:
            case "idx": return safe_name(e.val)
            case "hole": return e.val
            case "sym": return self.symbol(e.val)
            case "rand":
                return f"uniform_random({e.val}u, place)"
            case "cast": return self.text(a[0], kind) if e.val != "i" or self.kinds.kind(a[0]) != "f" else self.call("to_whole", a, "f")
            case "neg" if self.wide_inside(e): return f"narrow_checked({self.wide(e)})"
            case "neg" if self.checked(e): return self.call("subtract_checked", (ZERO, *a), "i")
            case "neg": return f"(-{self.text(a[0], kind)})"
            case "not": return f"!{self.text(a[0], 'b')}"
            case "and" | "or": return f"({self.text(a[0], 'b')} {'&&' if e.op == 'and' else '||'} {self.text(a[1], 'b')})"
            case "if":
                c, x, y = self.text(a[0], "b"), self.text(a[1], kind), self.text(a[2], kind)
                return f"select({y}, {x}, {bared(c)})"
            case "call": return self.intrinsic(e, kind)
            case "~":
                if kind == "b": return f"!{self.text(a[0], 'b')}"
                return self.call("invert", a, "i") if self.integral else f"(~{self.text(a[0], 'i')})"
        if e.op in COMPARE:
            k = self.kinds.join(a)
            k = "f" if k in ("f", "inf") else "i"
            if all(self.kinds.kind(x) == "b" for x in a) and e.op in ("==", "!="): k = "b"
            if e.op == "!=" and k == "f":  # compilers take WGSL's != for one that is false where a side is NaN
                return f"!({self.text(a[0], k)} == {self.text(a[1], k)})"
            return f"({self.text(a[0], k)} {e.op} {self.text(a[1], k)})"
        return self.arithmetic(e, kind)

    def symbol(self, name: str) -> str:
        if name in self.statics or name.startswith(Presence) and name not in self.kinds.options: return safe_name(name)
        if name == "pi": return "3.141592653589793"
        return f"p.{safe_name(name)}"

    def arithmetic(self, e: E, kind: str) -> str:
        a, op = e.args, e.op
        if op == "*" and kind == "f":       # a compiler may take `0 * x` for 0, NaN it is not
            for x, y in (a, a[::-1]):
                if x.op == "const" and x.val == 0: return self.call("nothing_of", [y], "f")
        if self.wide_inside(e): return f"narrow_checked({self.wide(e)})"
        if op in CHECKED and self.checked(e): return self.call(f"{CHECKED[op]}_checked", a, "i")
        if op in ("+", "-", "*"): return f"({self.text(a[0], kind)} {op} {self.text(a[1], kind)})"
        if op == "/": return self.call("divide", a, "f")
        if op in ("&", "|", "^"):
            sign = {"^": "!="}.get(op, op) if kind == "b" else op
            return f"({self.text(a[0], kind)} {sign} {self.text(a[1], kind)})"
        if op == "**" and kind == "f" and a[1].op == "const" and a[1].val in (2, 0.5):
            return self.call("square" if a[1].val == 2 else "square_root", a[:1], "f")
        name = {"//": "floor_divide", "%": "remainder", "**": "power", "<<": "shift_left", ">>": "shift_right"}[op]
        return self.call(name + ("_whole" if kind == "i" and op in ("//", "%", "**") else ""), a, kind)

    def wide_inside(self, e: E) -> bool:
        return e.op in WIDE and bool(self.values) and self.checked(e) and any(wide_parts(e, self.checked))

    def wide(self, e: E) -> str:
        """A sum or product of whole numbers in 64 bits."""
        wide = wide_parts(e, self.checked)
        if e.op == "*" and not any(wide): return self.call("wide_product", e.args, "i")
        parts = [self.wide(x) if w else f"widened({bared(self.text(x, 'i'))})" for x, w in zip(e.args, wide)]
        if e.op == "neg": parts = ["widened(0)", *parts]
        return f"{ {'+': 'wide_sum', '*': 'wide_times'}.get(e.op, 'wide_difference') }({', '.join(parts)})"

    def call(self, name: str, args, kind: str) -> str:
        return f"{name}({', '.join(bared(self.text(x, kind)) for x in args)})"

    def intrinsic(self, e: E, kind: str) -> str:
        fn, a = e.val, e.args
        if fn == "stop": return self.text(a[0], kind)
        if fn in ROUTINES: return self.call(routine_name(fn, kind), a, kind)
        if fn in ("isnan", "isinf", "signbit"):
            if self.kinds.kind(a[0]) in ("i", "b"): return f"({self.text(a[0], 'i')} < 0)" if fn == "signbit" else "false"
            return self.call({"isnan": "is_nan", "isinf": "is_infinite", "signbit": "sign_bit"}[fn], a, "f")
        if kind == "i":
            if fn in ("floor", "ceil", "trunc", "round"): return self.text(a[0], "i")
            if fn == "fmod": return self.call("fmod_whole", a, "i")
            if fn == "abs" and self.checked(e): return self.call("abs_checked", a, "i")
            plain = {"fmax": "max", "fmin": "min"}.get(fn, fn)
            return f"{plain}({', '.join(bared(self.text(x, 'i')) for x in a)})"
        if fn in NATIVE: return f"{fn}({bared(self.text(a[0], 'f'))})"
        return self.call(PRELUDE_NAMES.get(fn, fn + "_of"), a, "f")


# Operators on whole numbers of T that may not fit.
CHECKED = {"+": "add", "-": "subtract", "*": "multiply", "//": "floor_divide", "**": "power", "<<": "shift_left"}
# Intrinsic -> its function in the prelude, where that is not the name followed by `_of`.
PRELUDE_NAMES = {"max": "larger", "min": "smaller", "fmax": "larger_number", "fmin": "smaller_number", "sqrt": "square_root",
                 "rsqrt": "reciprocal_root", "fmod": "fmod_of", "copysign": "copy_sign", "sign": "sign_of"}


def exact(e: E) -> bool:
    """Whether it is a quotient cut towards zero: of whole numbers that is one of theirs."""
    return e.op == "call" and e.val == "trunc" and e.args[0].op == "/"


def routine_name(name: str, kind: str) -> str: return f"{name}_routine" + ("_whole" if kind == "i" else "")


def constant(v, want: str) -> str:
    """A constant as a literal that is safe as an operand."""
    if want == "b": return "true" if v else "false"
    if want == "i":
        v = int(v)
        return str(v) if v >= 0 else f"({v})" if v > -2 ** 31 else "(-2147483647 - 1)"
    v = float(v)
    s = repr(v)
    if "e" not in s and "." not in s: s += ".0"
    if abs(v) > 3.4028234e38: s = "3.40282346e38" if v > 0 else "-3.40282346e38"
    s += "f" if "e" in s else ""
    return f"({s})" if s.startswith("-") else s


def bared(s: str) -> str:
    """Without the brackets round all of it."""
    if not (s.startswith("(") and s.endswith(")")): return s
    depth = 0
    for i, c in enumerate(s):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(s) - 1: return s
    return s[1:-1]
