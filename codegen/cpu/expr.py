"""Scalar expressions as TypeScript.

A kernel is printed for one class of T.  Every expression has a kind: "f" a double, "w" a whole number
of 32 bits (T of the integral class; in a kernel checked by runtime/elements/checked-integers.ts, in a routine it
wraps), "i" an index or size, exact, "b" a boolean.  Reads and earlier values come in through `holes`.  Nothing here
knows about loops or positions."""

from __future__ import annotations

from dataclasses import dataclass, field

from dsl.expression import ROUTINES, E

from ..wide import WIDE, wide_parts
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


class Holes(dict[str, Hole]):
    """Holes by name.  kinds: the kinds of expressions of them, by identity, for as long as no hole has another kind."""

    def __init__(self, *args):
        super().__init__(*args)
        self.kinds: dict[int, tuple[E, str]] = {}

    def __setitem__(self, name: str, hole: Hole):
        if name in self and self[name].kind != hole.kind:
            self.kinds = {}
        super().__setitem__(name, hole)

    def __delitem__(self, name: str):
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
        if not e.args:
            return self.found(e)
        known = self.holes.kinds
        if id(e) not in known:
            known[id(e)] = e, self.found(e)
        return known[id(e)][1]

    def found(self, e: E) -> str:
        match e.op:
            case "const":
                return "b" if isinstance(e.val, bool) else "i" if isinstance(e.val, int) else "f"
            case "hole" | "sym" | "idx" | "pack":
                if e.op == "sym" and e.val in ("inf", "nan", "pi"):
                    return "f"
                return self.holes[str(e.val)].kind
            case "rand" | "/":
                return "f"
            case "not" | "and" | "or" | "inside" | "<" | "<=" | ">" | ">=" | "==" | "!=":
                return "b"
            case "cast":
                return {"f": "f", "i": "i", "b": "b", "T": "w" if self.integral else "f"}[e.val]
            case "if":
                return self.join(e.args[1:], keep_bool=True)
            case "call":
                if e.val in ("isnan", "isinf", "signbit"):
                    return "b"
                if e.val not in KEEPS and not (e.val in ROUTINES and ROUTINES[e.val].whole):
                    return "f"
                return self.join(e.args)
        return self.join(e.args)

    def join(self, args, keep_bool=False) -> str:
        kinds = {self.kind(a) for a in args}
        if kinds == {"b"} and keep_bool:
            return "b"
        return "f" if "f" in kinds else "w" if "w" in kinds else "i"

    # --- Text ---

    def number(self, e: E, level: int = 0) -> str:
        """e as a number."""
        if e.op in ("hole", "sym") and self.kind(e) == "b" and self.holes[str(e.val)].raw:
            return self.holes[str(e.val)].raw
        if e.op == "const" and isinstance(e.val, bool):
            return "1" if e.val else "0"
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
        a = e.args
        if self.checked and e.op in WIDE and self.kind(e) == "w" and any(wide_parts(e, self.must_fit)):
            return f"whole.settled({self.double(e)}, {self.low(e)}, nest)", CALL
        match e.op:
            case "const":
                if isinstance(e.val, bool):
                    return ("true" if e.val else "false"), CALL
                return literal(e.val), CALL if e.val >= 0 else UNARY
            case "sym" if e.val == "inf":
                return "Infinity", CALL
            case "sym" if e.val == "nan":
                return "NaN", CALL
            case "sym" if e.val == "pi":
                return "Math.PI", CALL
            case "hole" | "sym" | "idx" | "pack":
                hole = self.holes[str(e.val)]
                return hole.text, hole.level
            case "rand":
                self.helpers.add("uniform")
                return f"uniform(seed0, seed1, call, {e.val}, place)", CALL
            case "cast":
                return self.cast(e.val, a[0])
            case "if":
                k = self.kind(e)
                branch = self.text if k == "b" else self.number
                return (
                    f"{self.truth(a[0], TERNARY + 1)} ? {branch(a[1], TERNARY + 1)} : {branch(a[2], TERNARY)}",
                    TERNARY,
                )
            case "neg":
                s = self.number(a[0], UNARY + 1)
                if s.startswith("-"):
                    s = f"({s})"
                return self.whole(f"-{s}", UNARY, self.kind(e))
            case "not":
                return self.negated(a[0])
            case "~":
                x = self.number(a[0], UNARY)
                if self.kind(a[0]) == "b":
                    return f"{self.truth(a[0], EQUAL)} ? 0 : 1", TERNARY
                if "bool" in self.holes and self.kind(a[0]) == "w":
                    return f"bool ? 1 - {self.number(a[0], SUM + 1)} : ~{x}", TERNARY
                return f"~{x}", UNARY
            case "and":
                return f"{self.truth(a[0], AND)} && {self.truth(a[1], AND + 1)}", AND
            case "or":
                return f"{self.truth(a[0], OR)} || {self.truth(a[1], OR + 1)}", OR
            case "call":
                return self.call(e)
        if e.op in COMPARE:
            sign, own = COMPARE[e.op]
            if e.op == "==" and a[0].op == "%" and self.kind(a[0]) == "i" and a[1].op == "const" and a[1].val == 0:
                # Whether a remainder is 0 does not depend on its sign; by 0 it is 0, not NaN.
                return (
                    f"({self.number(a[0].args[0], PRODUCT)} % {self.number(a[0].args[1], PRODUCT + 1)} || 0) === 0",
                    own,
                )
            return f"{self.number(a[0], own + 1)} {sign} {self.number(a[1], own + 1)}", own
        if e.op in BITS:
            return f"{self.number(a[0], BITS[e.op])} {e.op} {self.number(a[1], BITS[e.op] + 1)}", BITS[e.op]
        return self.arithmetic(e.op, *a, self.kind(e))

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
                    f"{self.number(y)}, nest)",
                    CALL,
                )
            case "//" if kind != "f":
                s = f"Math.floor({self.number(x, PRODUCT)} / {self.number(y, PRODUCT + 1)})"
                return (f"{s} | 0", BITOR) if wraps else (s, CALL)  # x // 0 is 0
            case "**" if kind == "f" and y.op == "const" and y.val == 2:
                return self.use("square", x)
            case "**" if kind == "f" and y.op == "const" and y.val == 0.5:
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
        return (f"whole.fits({s}, nest)", CALL) if self.checked else (f"{s if own == CALL else f'({s})'} | 0", BITOR)

    def must_fit(self, e: E) -> bool:
        return self.kind(e) == "w"

    def double(self, e: E) -> str:
        """A sum or product whose wide parts are doubles."""
        parts = [
            self.double(x) if wide else self.number(x, UNARY + 1)
            for x, wide in zip(e.args, wide_parts(e, self.must_fit))
        ]
        return f"({f' {e.op} '.join(parts)})" if len(parts) > 1 else f"(-{parts[0]})"

    def low(self, e: E) -> str:
        """The lowest 32 bits of the same."""
        parts = [
            self.low(x) if wide else self.number(x, UNARY + 1) for x, wide in zip(e.args, wide_parts(e, self.must_fit))
        ]
        if e.op == "*":
            return f"Math.imul({', '.join(parts)})"
        return f"({f' {e.op} '.join(parts) if len(parts) > 1 else f'-{parts[0]}'} | 0)"

    def wide(self, e: E) -> str:
        """What a sum adds: a product may be beyond 32 bits where their sum is not."""
        if e.op != "*" or self.kind(e) != "w":
            return self.number(e, SUM + 1)
        return f"{self.number(e.args[0], PRODUCT)} * {self.number(e.args[1], PRODUCT + 1)}"

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

    def call(self, e: E) -> tuple[str, int]:
        fn, kind = e.val, self.kind(e)
        args = [self.number(x) for x in e.args]
        if fn == "stop" or fn in WHOLE and kind != "f":
            return self.show(e.args[0]) if self.kind(e.args[0]) != "b" else (self.number(e.args[0], CALL), CALL)
        if fn == "isnan":
            return (f"Number.isNaN({args[0]})", CALL) if self.kind(e.args[0]) == "f" else ("false", CALL)
        if fn == "isinf":
            return f"Math.abs({args[0]}) === Infinity", EQUAL
        if fn == "rsqrt":
            return f"1 / Math.sqrt({args[0]})", PRODUCT
        if fn == "exp2":
            return f"Math.pow(2, {args[0]})", CALL
        if fn == "abs":
            return self.whole(f"Math.abs({args[0]})", CALL, kind)
        if fn in ROUTINES:
            return self.routine(e, kind)
        if fn in MATH:
            return f"Math.{MATH[fn]}({', '.join(args)})", CALL
        return self.use(RUNTIME[fn], *e.args)

    def routine(self, e: E, kind: str) -> tuple[str, int]:
        """A call of a library's routine; among plain indices it works on floats."""
        name = name_of(e.val, kind == "w")
        self.helpers.add(PREFIX + name)
        return f"{PREFIX}{name}({', '.join(map(self.number, e.args))})", CALL


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
