"""Scalar expressions of the loop IR (dsl/ir.py): trees that simplify themselves, how to walk and rewrite them, and
their print."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import is_


@dataclass(frozen=True)
class E:
    """A scalar expression.

    op       args                  val
    const                          int, float or bool
    sym                            a size, an option, `has_x` (is x given), `inf`, `nan`: known to the host
    idx                            a loop that runs over one axis
    pack                           a loop that runs over a pack of axes; only directly inside a read's index
    read     one index per axis    (tensor, fallback or None): the fallback answers outside the tensor
    inside   (read,)               whether that read falls inside its tensor
    call     arguments             an intrinsic of INTRINSICS, or a routine of ROUTINES
    rand                           number of the draw within its op
    cast     (operand,)            "f" "i" "b": a change of scalar kind
    raw      inputs, words         Raw: a result of a raw body; alone in a statement without loops, whose inputs are
                                   reads without indices of whole tensors
    if       (condition, a, b)
    neg not ~  (operand,)
    + - * / // % ** < <= == != > >= and or & | ^ << >>      (left, right)
    """

    op: str
    args: tuple[E, ...] = ()
    val: object = None

    def __add__(self, other):
        return add(self, lift(other))

    def __sub__(self, other):
        return sub(self, lift(other))

    def __mul__(self, other):
        return mul(self, lift(other))

    def __neg__(self):
        return neg(self)

    def __repr__(self):
        return show(self)

    def __hash__(self):
        return self.number

    def __reduce__(self):
        return E, (self.op, self.args, self.val)  # without what is remembered

    # Asked again and again, and so remembered.

    @cached_property
    def number(self) -> int:
        return hash((self.op, self.args, self.val))

    @cached_property
    def loops(self) -> frozenset[str]:
        """The names of the loops, single and pack, that it depends on."""
        return joined(self, "loops", self.val if self.op in ("idx", "pack") else None)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of these loops, of symbols and of the tensors it reads."""
        return joined(
            self, "names", self.val if self.op in ("idx", "pack", "sym") else self.val[0] if self.op == "read" else None
        )

    @cached_property
    def symbols(self) -> frozenset[str]:
        return joined(self, "symbols", self.val if self.op == "sym" else None)

    @cached_property
    def reads(self) -> tuple[E, ...]:
        return tuple(n for n in walk(self) if n.op == "read")

    @cached_property
    def holes(self) -> tuple[str, ...]:
        """What stands for values in a nest (codegen), each as often as it does."""
        return tuple(n.val for n in walk(self) if n.op == "hole")


def joined(e: E, kind: str, own: str | None) -> frozenset[str]:
    """The names of e's parts and its own, in one of their sets if that has them all."""
    parts = [getattr(c, kind) for c in children(e)]
    if own is not None:
        parts.append(frozenset((own,)))
    largest = max(parts, key=len, default=frozenset())
    return largest if all(p is largest or p <= largest for p in parts) else largest.union(*parts)


# name -> number of arguments.  `stop` is the identity with no gradient, `isnan` tests the bits.
INTRINSICS = {
    "abs": 1,
    "sign": 1,
    "floor": 1,
    "ceil": 1,
    "round": 1,
    "trunc": 1,
    "sqrt": 1,
    "rsqrt": 1,
    "exp": 1,
    "exp2": 1,
    "expm1": 1,
    "log": 1,
    "log2": 1,
    "log10": 1,
    "log1p": 1,
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "atan2": 2,
    "sinh": 1,
    "cosh": 1,
    "tanh": 1,
    "asinh": 1,
    "acosh": 1,
    "atanh": 1,
    "erf": 1,
    "erfc": 1,
    "erfinv": 1,
    "lgamma": 1,
    "digamma": 1,
    "max": 2,
    "min": 2,
    "fmax": 2,
    "fmin": 2,
    "fmod": 2,
    "copysign": 2,
    "isnan": 1,
    "isinf": 1,
    "signbit": 1,
    "stop": 1,
}
# The functions that a library's `def`s with steps make, by name (dsl.routines.Routine); filled when definitions are
# loaded.
ROUTINES: dict = {}
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")


def lift(v) -> E:
    return v if isinstance(v, E) else E("const", (), v)


def sym(name) -> E:
    return E("sym", (), name)


def idx(name) -> E:
    return E("idx", (), name)


def pack(name) -> E:
    return E("pack", (), name)


def read(tensor, index, fallback=None) -> E:
    return E("read", tuple(index), (tensor, fallback))


def call(fn, *args) -> E:
    return E("call", tuple(map(lift, args)), fn)


ZERO, ONE, TRUE, FALSE = E("const", (), 0), E("const", (), 1), E("const", (), True), E("const", (), False)


def is_const(e: E, value=None) -> bool:
    """Whether e is a constant number (equal to `value`); a boolean is no number here."""
    return e.op == "const" and not isinstance(e.val, bool) and (value is None or e.val == value)


# The builders below simplify only what holds for every number, NaN and infinities included:
# x + 0, x * 1 and x / 1 go; x * 0 stays unless x is an index or a size, because NaN * 0 is NaN.


def integral(e: E) -> bool:
    """Whether e is built from indices, sizes and whole constants only, so is finite and exact."""
    if e.op in ("idx", "sym"):
        return True
    if e.op == "const":
        return isinstance(e.val, int)
    return e.op in ("+", "-", "*", "//", "%", "neg") and all(map(integral, e.args))


def add(a: E, b: E) -> E:
    if is_const(a, 0):
        return b
    if is_const(b, 0):
        return a
    if is_const(a) and is_const(b):
        return lift(a.val + b.val)
    if b.op == "neg":
        return sub(a, b.args[0])
    if is_const(b) and b.val < 0:
        return E("-", (a, lift(-b.val)))
    return E("+", (a, b))


def sub(a: E, b: E) -> E:
    if is_const(b, 0):
        return a
    if is_const(a, 0):
        return neg(b)
    if a == b and integral(a):
        return ZERO
    if is_const(a) and is_const(b):
        return lift(a.val - b.val)
    if b.op == "neg":
        return add(a, b.args[0])
    if a.op == "+" and integral(a) and a.args[1] == b:
        return a.args[0]
    if a.op == "+" and integral(a) and a.args[0] == b:
        return a.args[1]
    return E("-", (a, b))


def neg(a: E) -> E:
    if is_const(a) and a.val != 0:
        return lift(-a.val)
    if a.op == "neg":
        return a.args[0]
    if a.op == "-" and integral(a):
        return E("-", (a.args[1], a.args[0]))
    return E("neg", (a,))


def mul(a: E, b: E) -> E:
    if is_const(a, 0) and integral(b) or is_const(b, 0) and integral(a):
        return ZERO
    if is_const(a, 1):
        return b
    if is_const(b, 1):
        return a
    if is_const(a) and is_const(b):
        return lift(a.val * b.val)
    if is_const(a, -1):
        return neg(b)
    if is_const(b, -1):
        return neg(a)
    return E("*", (a, b))


def div(a: E, b: E) -> E:
    return a if is_const(b, 1) else E("/", (a, b))


def floordiv(a: E, b: E) -> E:
    if is_const(b, 1):
        return a
    if is_const(a) and is_const(b) and b.val:
        return lift(a.val // b.val)
    return E("//", (a, b))


def conj(*conditions: E | None) -> E | None:
    """The conditions joined by `and`, each once; None stands for true."""
    out: list[E] = []
    for p in conditions:
        for q in conjuncts(p):
            if q not in out:
                out.append(q)
    if not out:
        return None
    e = out[0]
    for p in out[1:]:
        e = E("and", (e, p))
    return e


def conjuncts(p: E | None) -> list[E]:
    if p is None or p == TRUE:
        return []
    return conjuncts(p.args[0]) + conjuncts(p.args[1]) if p.op == "and" else [p]


def cond(c: E | None, a: E, b: E) -> E:
    if c is None:
        return a
    if c.op == "const":
        return a if c.val else b
    return a if a == b else E("if", (c, a, b))


BUILDERS = {"+": add, "-": sub, "*": mul, "/": div, "//": floordiv, "neg": neg, "if": cond}


def build(op: str, *args: E, val=None) -> E:
    """A node with the simplifications of its operator."""
    return BUILDERS[op](*args) if op in BUILDERS else E(op, tuple(args), val)


# --- Walking and rewriting -------------------------------------------------------------------------


def children(e: E) -> tuple[E, ...]:
    return e.args + ((e.val[1],) if e.op == "read" and e.val[1] is not None else ())


def walk(e: E | None):
    """All expressions within e, each before its parts."""
    left = [] if e is None else [e]
    while left:
        n = left.pop()
        yield n
        left.extend(children(n)[::-1])


def transform(e: E, f, settled: str = "") -> E:
    """Rewrites bottom-up: f answers a replacement or None, the same for the same expression.

    settled: where f is the same for all calls, the name under which what it leaves alone remembers that, and is not
    gone through again."""
    done: dict[int, E] = {}  # by identity: derivatives hold the same parts many times

    def visit(e: E) -> E:
        if settled and settled in e.__dict__:
            return e
        found = done.get(id(e))
        if found is not None:
            return found
        args = tuple([visit(a) for a in e.args])
        if e.op == "read":
            tensor, fallback = e.val
            made = None if fallback is None else visit(fallback)
            n = e if made is fallback and all(map(is_, args, e.args)) else E("read", args, (tensor, made))
        else:
            n = e if args == e.args else build(e.op, *args, val=e.val)
        r = f(n)
        if settled and r is None and n is e and all(settled in c.__dict__ for c in children(e)):
            e.__dict__[settled] = True
        done[id(e)] = found = n if r is None else r
        return found

    return visit(e)


def subst(e: E | None, env: dict[str, E]) -> E | None:
    """Puts expressions in the place of loop indices (single and pack)."""
    if e is None or not env or e.loops.isdisjoint(env):
        return e
    return transform(e, lambda n: env.get(n.val) if n.op in ("idx", "pack") else None)


def indices(e: E | None) -> set[str]:
    """The names of the loops, single and pack, that e depends on."""
    return set() if e is None else set(e.loops)


def symbols(e: E | None) -> set[str]:
    return set() if e is None else set(e.symbols)


def reads(e: E | None) -> list[E]:
    return [] if e is None else list(e.reads)


# --- Printing --------------------------------------------------------------------------------------

PRECEDENCE = {
    "or": 1,
    "and": 2,
    "not": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "|": 5,
    "^": 5,
    "&": 5,
    "<<": 6,
    ">>": 6,
    "+": 7,
    "-": 7,
    "*": 8,
    "/": 8,
    "//": 8,
    "%": 8,
    "neg": 9,
    "~": 9,
    "**": 10,
}


def show(e: E, p: int = 0) -> str:
    a = e.args
    match e.op:
        case "const":
            return str(e.val).lower() if isinstance(e.val, bool) else str(e.val)
        case "sym" | "idx" | "hole":
            return str(e.val)
        case "pack":
            return f"*{e.val}"
        case "rand":
            return f"rand{e.val}()"
        case "cast":
            return f"{e.val}({show(a[0])})"
        case "raw":
            return f"{e.val.body.op}({', '.join(x.val[0] if x.op == 'read' else show(x) for x in a)}).{e.val.outputs[e.val.n][0]}"
        case "inside":
            return f"inside({show(a[0])})"
        case "read":
            tensor, fallback = e.val
            s = f"{tensor}[{', '.join(map(show, a))}]"
            return s if fallback is None else f"({s} ?? {show(fallback)})"
        case "call":
            return f"{e.val}({', '.join(map(show, a))})"
        case "if":
            return f"({show(a[1])} if {show(a[0])} else {show(a[2])})"
        case "neg":
            s = "-" + show(a[0], 9)
        case "not":
            s = "not " + show(a[0], 3)
        case "~":
            s = "~" + show(a[0], 9)
        case _:
            s = f"{show(a[0], PRECEDENCE[e.op])} {e.op} {show(a[1], PRECEDENCE[e.op] + 1)}"
    return f"({s})" if PRECEDENCE[e.op] < p else s
