"""Scalar expressions as TypeScript.

A routine is printed for one class of T.  Every expression has a kind: "f" a double, "w" a whole number
of 32 bits, which wraps, "i" an index or size, exact, "b" a boolean.  Reads and earlier values come in through `holes`.
Nothing here knows about loops or positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dsl.ir.expression import (
    ROUTINES,
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
    is_binary,
    is_condition,
    is_const,
)

from ..kernels.wide import may_be_wide, wide_parts
from .names import camel

TERNARY, OR, AND, BITOR, BITXOR, BITAND, EQUAL, ORDER, SHIFT, SUM, PRODUCT, UNARY, CALL = range(3, 16)

COMPARE = {
    "<": ("<", ORDER),
    "<=": ("<=", ORDER),
    ">": (">", ORDER),
    ">=": (">=", ORDER),
    "==": ("===", EQUAL),
    "!=": ("!==", EQUAL),
}
BITS = {"&": BITAND, "|": BITOR, "^": BITXOR}
# Intrinsics that JavaScript's Math has with PyTorch's meaning; the others are in runtime/elements/math.ts.
MATH = {
    "abs": "abs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "sqrt": "sqrt",
    "exp": "exp",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "max": "max",
    "min": "min",
}
RUNTIME = {
    "round": "roundHalfEven",
    "sign": "sign",
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "lgamma": "lgamma",
    "digamma": "digamma",
    "fmax": "fmax",
    "fmin": "fmin",
    "fmod": "fmod",
    "copysign": "copysign",
    "signbit": "signbit",
}
PREFIX = "routines."  # before the names of routines among helpers
WHOLE = {"floor", "ceil", "trunc", "round"}  # nothing to do on whole numbers
KEEPS = {"abs", "sign", "max", "min", "fmax", "fmin", "fmod", "stop"} | WHOLE  # the result has the operands' kind


def name_of(routine: str, whole: bool) -> str:
    return camel(routine) + ("Whole" if whole else "Of")


@dataclass(frozen=True)
class Hole:
    """What stands for a name in an expression: text of a kind.  `raw`: a 0/1 number that a "b" hole came from."""

    text: str
    kind: str
    level: int = CALL
    raw: str = ""


class Holes(dict[E, Hole]):
    """What stands for elements, results, loops, words and variables.  kinds: the kinds of expressions of them, for as
    long as none has another kind."""

    def __init__(self, *args):
        super().__init__(*args)
        self.kinds: dict[E, str] = {}

    def __setitem__(self, name: E, hole: Hole) -> None:
        if name in self and self[name].kind != hole.kind:
            self.kinds = {}
        super().__setitem__(name, hole)

    def __delitem__(self, name: E) -> None:
        self.kinds = {}
        super().__delitem__(name)

    def copy(self) -> Holes:
        return Holes(self)


@dataclass
class Printer:
    """Prints expressions for one class of T.

    holes: reads, earlier values, loop indices and words by name; helpers: functions of runtime/elements/math.ts in use;
    checked: whether whole numbers must fit into 32 bits."""

    integral: bool
    checked: bool = False
    holes: Holes = field(default_factory=Holes)
    helpers: set[str] = field(default_factory=set)

    # --- Kinds ---

    def kind(self, e: E) -> str:
        known = self.holes.kinds
        if e not in known:
            known[e] = self.found(e)
        return known[e]

    def found(self, e: E) -> str:
        if is_condition(e):
            return "b"
        match e:
            case Constant(kind, _):
                return kind
            case Symbol("inf" | "nan" | "pi") | Random() | Binary("/", _, _):
                return "f"
            case Symbol() | Index() | Element() | Result() | Local():
                return self.holes[e].kind
            case Cast(to, _):
                return ("w" if self.integral else "f") if to == "T" else to
            case Select(_, yes, no):
                return self.join((yes, no), keep_bool=True)
            case Call("isnan" | "isinf" | "signbit", _):
                return "b"
            case Call(name, _) if name not in KEEPS and not (name in ROUTINES and ROUTINES[name].whole):
                return "f"
            case _:
                return self.join(e.parts())

    def join(self, args, keep_bool=False) -> str:
        kinds = {self.kind(a) for a in args}
        if kinds == {"b"} and keep_bool:
            return "b"
        return "f" if "f" in kinds else "w" if "w" in kinds else "i"

    # --- Text ---

    def number(self, e: E, level: int = 0) -> str:
        """e as a number."""
        if e in self.holes and self.kind(e) == "b" and self.holes[e].raw:
            return self.holes[e].raw
        if isinstance(e, Constant) and e.kind == "b":
            return str(e.value)
        if self.kind(e) != "b":
            return self.text(e, level)
        return wrap(f"{self.text(e, TERNARY + 1)} ? 1 : 0", TERNARY, level)

    def truth(self, e: E, level: int = 0) -> str:
        """e as a condition."""
        if self.kind(e) == "b":
            return self.text(e, level)
        return wrap(f"{self.text(e, EQUAL + 1)} !== 0", EQUAL, level)

    def index(self, e: E, level: int = 0) -> str:
        """e as an index: exact whole-number arithmetic."""
        return self.number(e, level)

    def text(self, e: E, level: int = 0) -> str:
        s, own = self.show(e)
        return wrap(s, own, level)

    def show(self, e: E) -> tuple[str, int]:
        if self.checked and may_be_wide(e) and self.kind(e) == "w" and any(wide_parts(e, self.must_fit)):
            return f"whole.settled({self.double(e)}, {self.low(e)}, args)", CALL
        match e:
            case Constant("b", value):
                return ("true" if value else "false"), CALL
            case Constant(_, value):
                return literal(value), CALL if value >= 0 else UNARY
            case Symbol("inf" | "nan" | "pi" as name):
                return {"inf": "Infinity", "nan": "NaN", "pi": "Math.PI"}[name], CALL
            case Symbol() | Index() | Element() | Result() | Local():
                return self.holes[e].text, self.holes[e].level
            case Random(draw):
                self.helpers.add("uniform")
                return f"uniform(seed0, seed1, call, {draw}, place)", CALL
            case Cast(to, operand):
                return self.cast(to, operand)
            case Select(condition, yes, no):
                branch = self.text if self.kind(e) == "b" else self.number
                c = self.truth(condition, TERNARY + 1)
                return f"{c} ? {branch(yes, TERNARY + 1)} : {branch(no, TERNARY)}", TERNARY
            case Unary("-", operand):
                s = self.number(operand, UNARY + 1)
                if s.startswith("-"):
                    s = f"({s})"
                return self.whole(f"-{s}", UNARY, self.kind(e))
            case Unary("not", operand):
                return self.negated(operand)
            case Unary("~", operand):
                return self.inverted(operand)
            case Binary("and", left, right):
                return f"{self.truth(left, AND)} && {self.truth(right, AND + 1)}", AND
            case Binary("or", left, right):
                return f"{self.truth(left, OR)} || {self.truth(right, OR + 1)}", OR
            case Binary("==", Binary("%", x, y) as left, Constant(_, 0)) if self.kind(left) == "i":
                # Whether a remainder is 0 does not depend on its sign; by 0 it is 0, not NaN.
                return f"({self.number(x, PRODUCT)} % {self.number(y, PRODUCT + 1)} || 0) === 0", EQUAL
            case Binary(operator, left, right) if operator in COMPARE:
                sign, own = COMPARE[operator]
                return f"{self.number(left, own + 1)} {sign} {self.number(right, own + 1)}", own
            case Binary(operator, left, right) if operator in BITS:
                own = BITS[operator]
                return f"{self.number(left, own)} {operator} {self.number(right, own + 1)}", own
            case Binary(operator, left, right):
                return self.arithmetic(operator, left, right, self.kind(e))
            case Call(name, operands):
                return self.call(e, name, operands)
            case _:
                raise ValueError(f"no formula of a kernel: {e}")

    def inverted(self, x: E) -> tuple[str, int]:
        s = self.number(x, UNARY)
        if self.kind(x) == "b":
            return f"{self.truth(x, EQUAL)} ? 0 : 1", TERNARY
        if Local("bool") in self.holes and self.kind(x) == "w":
            return f"bool ? 1 - {self.number(x, SUM + 1)} : ~{s}", TERNARY
        return f"~{s}", UNARY

    def arithmetic(self, op: str, x: E, y: E, kind: str) -> tuple[str, int]:
        wraps = kind == "w"
        match op:
            case "+" | "-":
                return self.whole(f"{self.number(x, SUM)} {op} {self.number(y, SUM + 1)}", SUM, kind)
            case "*":
                if wraps and not self.checked:
                    return f"Math.imul({self.number(x)}, {self.number(y)})", CALL
                return self.whole(f"{self.number(x, PRODUCT)} * {self.number(y, PRODUCT + 1)}", PRODUCT, kind)
            case "/":
                return f"{self.number(x, PRODUCT)} / {self.number(y, PRODUCT + 1)}", PRODUCT
            case "//" | "**" | "<<" if wraps and self.checked:
                return (
                    f"whole.{ {'//': 'quotient', '**': 'power', '<<': 'shiftLeft'}[op] }({self.number(x)}, "
                    f"{self.number(y)}, args)",
                    CALL,
                )
            case "//" if kind != "f":
                s = f"Math.floor({self.number(x, PRODUCT)} / {self.number(y, PRODUCT + 1)})"
                return (f"{s} | 0", BITOR) if wraps else (s, CALL)  # x // 0 is 0
            case "**" if kind == "f" and is_const(y, 2):
                return self.use("square", x)
            case "**" if kind == "f" and is_const(y, 0.5):
                return f"Math.sqrt({self.number(x)})", CALL
        name = {
            "//": "floorDivide",
            "%": "remainder" if kind == "f" else "modulo",
            "**": "power" if kind == "f" else "wholePower",
            "<<": "shiftLeft",
            ">>": "shiftRight",
        }[op]
        return self.use(name, x, y)

    def whole(self, s: str, own: int, kind: str) -> tuple[str, int]:
        """A sum or product of this kind: a whole one must fit."""
        if kind != "w":
            return s, own
        return (f"whole.fits({s}, args)", CALL) if self.checked else (f"{s if own == CALL else f'({s})'} | 0", BITOR)

    def must_fit(self, e: E) -> bool:
        return self.kind(e) == "w"

    def double(self, e: E) -> str:
        """A sum or product whose wide parts are doubles."""
        if isinstance(e, Unary):
            return f"(-{self.wide_part(e.operand, e, 0, self.double)})"
        assert isinstance(e, Binary)
        left, right = self.wide_part(e.left, e, 0, self.double), self.wide_part(e.right, e, 1, self.double)
        return f"({left} {e.operator} {right})"

    def low(self, e: E) -> str:
        """The lowest 32 bits of the same."""
        if isinstance(e, Unary):
            return f"(-{self.wide_part(e.operand, e, 0, self.low)} | 0)"
        assert isinstance(e, Binary)
        left, right = self.wide_part(e.left, e, 0, self.low), self.wide_part(e.right, e, 1, self.low)
        return f"Math.imul({left}, {right})" if e.operator == "*" else f"({left} {e.operator} {right} | 0)"

    def wide_part(self, x: E, e: E, n: int, wide: Callable[[E], str]) -> str:
        """The n-th operand of e: by `wide` where it goes on so."""
        return wide(x) if wide_parts(e, self.must_fit)[n] else self.number(x, UNARY + 1)

    def wide(self, e: E) -> str:
        """What a sum adds: a product may be beyond 32 bits where their sum is not."""
        if not is_binary(e, "*") or self.kind(e) != "w":
            return self.number(e, SUM + 1)
        return f"{self.number(e.left, PRODUCT)} * {self.number(e.right, PRODUCT + 1)}"

    def use(self, helper: str, *args: E) -> tuple[str, int]:
        self.helpers.add(helper)
        return f"math.{helper}({', '.join(map(self.number, args))})", CALL

    def cast(self, to: str, x: E) -> tuple[str, int]:
        kind = self.kind(x)
        if to == "b":
            return (self.truth(x), EQUAL if kind != "b" else self.show(x)[1])
        if (to == "i" or to == "T" and self.integral) and kind == "f":
            return f"Math.trunc({self.number(x)})", CALL
        if kind == "b":
            s = self.number(x)
            return (s, TERNARY) if "?" in s else (s, CALL)
        return self.show(x)

    def negated(self, x: E) -> tuple[str, int]:
        if self.kind(x) != "b":
            return f"{self.number(x, EQUAL + 1)} === 0", EQUAL
        return f"!{self.text(x, UNARY)}", UNARY

    def call(self, e: E, fn: str, operands: tuple[E, ...]) -> tuple[str, int]:
        kind, x = self.kind(e), operands[0]
        args = [self.number(y) for y in operands]
        if fn == "stop" or fn in WHOLE and kind != "f":
            return self.show(x) if self.kind(x) != "b" else (self.number(x, CALL), CALL)
        if fn == "isnan":
            return (f"Number.isNaN({args[0]})", CALL) if self.kind(x) == "f" else ("false", CALL)
        if fn == "isinf":
            return f"Math.abs({args[0]}) === Infinity", EQUAL
        if fn == "rsqrt":
            return f"1 / Math.sqrt({args[0]})", PRODUCT
        if fn == "exp2":
            return f"Math.pow(2, {args[0]})", CALL
        if fn == "abs":
            return self.whole(f"Math.abs({args[0]})", CALL, kind)
        if fn in ROUTINES:
            return self.routine(fn, operands, kind)
        if fn in MATH:
            return f"Math.{MATH[fn]}({', '.join(args)})", CALL
        return self.use(RUNTIME[fn], *operands)

    def routine(self, routine: str, operands: tuple[E, ...], kind: str) -> tuple[str, int]:
        """A call of a library's routine; among plain indices it works on floats."""
        name = name_of(routine, kind == "w")
        self.helpers.add(PREFIX + name)
        return f"{PREFIX}{name}({', '.join(map(self.number, operands))})", CALL


def wrap(s: str, own: int, level: int) -> str:
    return f"({s})" if own < level else s


def literal(v: int | float) -> str:
    """A number as JavaScript writes it; whole floats print as whole numbers."""
    if isinstance(v, float) and v != v:
        return "NaN"
    if v in (float("inf"), float("-inf")):
        return "Infinity" if v > 0 else "-Infinity"
    if isinstance(v, int) or v == int(v) and abs(v) < 1e16:
        return str(int(v)) if v or str(v)[0] != "-" else "-0"
    return repr(v).replace("e-0", "e-").replace("e+", "e")
