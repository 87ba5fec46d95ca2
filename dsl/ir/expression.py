"""Scalar expressions of the loop IR (dsl/ir/program.py): a closed set of classes that simplify themselves, how to walk
and rewrite them, and their print.

An expression is one of the classes below, `E`, and nothing else.  Each distinct one exists once (dsl/ir/interned.py),
so they are compared by `is` or `==` alike and are keys of tables.  Numbers have kinds only where two meet in a kernel:
`codegen/kernels/formulas.py` makes nodes of them (codegen/data/nodes.py), in which every operand has the
kind that its operation asks for; classes of the same name there are the same thing, resolved so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import copysign
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard, cast

from .interned import Interned

if TYPE_CHECKING:
    from .program import Loop, Raw

Kind: TypeAlias = Literal["f", "i", "b"]
UnaryOperator: TypeAlias = Literal["-", "not", "~"]
Comparison: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
BinaryOperator: TypeAlias = Literal[
    Comparison, "+", "-", "*", "/", "//", "%", "**", "and", "or", "&", "|", "^", "<<", ">>"
]
Reduction: TypeAlias = Literal["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"]


class Expression(metaclass=Interned):
    """What all classes have.  What is asked again and again is remembered."""

    def parts(self) -> tuple[E, ...]:
        """The expressions that it is made of."""
        return ()

    def of(self, parts: tuple[E, ...]) -> E:
        """The same of other parts, as many, in their order."""
        return cast(E, self)

    @cached_property
    def loops(self) -> frozenset[str]:
        """The names of the loops, single and pack, that it depends on."""
        return union([p.loops for p in self.parts()])

    @cached_property
    def symbols(self) -> frozenset[str]:
        return union([p.symbols for p in self.parts()])

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of these loops, of symbols and of the tensors it reads."""
        return union([p.names for p in self.parts()])

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """The reads within it, each as often as it stands there."""
        return tuple([n for n in walk(cast(E, self)) if isinstance(n, Read)])

    @cached_property
    def elements(self) -> tuple[int, ...]:
        """The accesses of its kernel (codegen) whose elements it takes, each as often as it does."""
        return tuple([n.access for n in walk(cast(E, self)) if isinstance(n, Element)])

    @cached_property
    def results(self) -> frozenset[int]:
        """The steps of its kernel whose results it takes."""
        return frozenset([n.step for n in walk(cast(E, self)) if isinstance(n, Result)])

    def __repr__(self) -> str:
        return show(cast(E, self))

    def __reduce__(self) -> tuple[Any, ...]:  # without what is remembered; read again, it is the one that exists
        return type(self), tuple([getattr(self, name) for name in self.__match_args__])  # type: ignore[attr-defined]


def union(sets: list[frozenset[str]]) -> frozenset[str]:
    """All names, in one of the sets if that has them all."""
    largest: frozenset[str] = max(sets, key=len, default=frozenset())
    return largest if all(s is largest or s <= largest for s in sets) else largest.union(*sets)


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Expression):
    """A number, or a boolean as 0 or 1."""

    kind: Kind
    value: float

    @property
    def literal(self) -> float | bool:
        """As Python writes it."""
        return bool(self.value) if self.kind == "b" else self.value


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Expression):
    """A size, an option, `has_x` (is x given), `inf`, `nan`: known to the host."""

    name: str

    @cached_property
    def symbols(self) -> frozenset[str]:
        return frozenset((self.name,))

    @cached_property
    def names(self) -> frozenset[str]:
        return self.symbols


@dataclass(frozen=True, eq=False, repr=False)
class Index(Expression):
    """Where a loop that runs over one axis stands."""

    loop: str

    @cached_property
    def loops(self) -> frozenset[str]:
        return frozenset((self.loop,))

    @cached_property
    def names(self) -> frozenset[str]:
        return self.loops


@dataclass(frozen=True, eq=False, repr=False)
class Pack(Expression):
    """Where a loop over a pack of axes stands; only directly inside a read's index."""

    loop: str

    @cached_property
    def loops(self) -> frozenset[str]:
        return frozenset((self.loop,))

    @cached_property
    def names(self) -> frozenset[str]:
        return self.loops


@dataclass(frozen=True, eq=False, repr=False)
class Read(Expression):
    """An element, by an index for each logical axis; `fallback` is the answer outside the tensor."""

    tensor: str
    index: tuple[E, ...]
    fallback: E | None

    def parts(self) -> tuple[E, ...]:
        return self.index if self.fallback is None else (*self.index, self.fallback)

    def of(self, parts: tuple[E, ...]) -> E:
        return Read(self.tensor, parts, None) if self.fallback is None else Read(self.tensor, parts[:-1], parts[-1])

    @cached_property
    def names(self) -> frozenset[str]:
        return union([frozenset((self.tensor,)), *[p.names for p in self.parts()]])


@dataclass(frozen=True, eq=False, repr=False)
class Inside(Expression):
    """Whether a read falls inside its tensor."""

    read: Read

    def parts(self) -> tuple[E, ...]:
        return (self.read,)

    def of(self, parts: tuple[E, ...]) -> E:
        (read,) = parts
        assert isinstance(read, Read)
        return Inside(read)


@dataclass(frozen=True, eq=False, repr=False)
class Call(Expression):
    """A function of INTRINSICS, or a routine of ROUTINES."""

    name: str
    operands: tuple[E, ...]

    def parts(self) -> tuple[E, ...]:
        return self.operands

    def of(self, parts: tuple[E, ...]) -> E:
        return Call(self.name, parts)


@dataclass(frozen=True, eq=False, repr=False)
class Random(Expression):
    """A draw between 0 and 1 at the point; `draw` is its number within the op."""

    draw: int


@dataclass(frozen=True, eq=False, repr=False)
class Cast(Expression):
    """A change of scalar kind, also to that of the op's type: "T"."""

    kind: Literal[Kind, "T"]
    operand: E

    def parts(self) -> tuple[E, ...]:
        return (self.operand,)

    def of(self, parts: tuple[E, ...]) -> E:
        return Cast(self.kind, parts[0])


@dataclass(frozen=True, eq=False, repr=False)
class Unary(Expression):
    """`-` of numbers, `not` of truths, `~` of the bits of whole numbers."""

    operator: UnaryOperator
    operand: E

    def parts(self) -> tuple[E, ...]:
        return (self.operand,)

    def of(self, parts: tuple[E, ...]) -> E:
        return Unary(self.operator, parts[0])


@dataclass(frozen=True, eq=False, repr=False)
class Binary(Expression):
    """Arithmetic, comparisons, `and` and `or`, bits."""

    operator: BinaryOperator
    left: E
    right: E

    def parts(self) -> tuple[E, ...]:
        return (self.left, self.right)

    def of(self, parts: tuple[E, ...]) -> E:
        return Binary(self.operator, parts[0], parts[1])


@dataclass(frozen=True, eq=False, repr=False)
class Select(Expression):
    """`yes` where the condition holds, else `no`."""

    condition: E
    yes: E
    no: E

    def parts(self) -> tuple[E, ...]:
        return (self.condition, self.yes, self.no)

    def of(self, parts: tuple[E, ...]) -> E:
        return Select(parts[0], parts[1], parts[2])


@dataclass(frozen=True, eq=False, repr=False)
class RawResult(Expression):
    """A result of a body; alone in a statement without loops.  operands: a read without indices for each of the
    body's inputs, then its uniforms."""

    raw: Raw
    operands: tuple[E, ...]

    def parts(self) -> tuple[E, ...]:
        return self.operands

    def of(self, parts: tuple[E, ...]) -> E:
        return RawResult(self.raw, parts)

    @property
    def tensors(self) -> list[str]:
        """What the body reads, in the order of its inputs."""
        return [r.tensor for r in self.operands if isinstance(r, Read)]

    @property
    def uniforms(self) -> tuple[E, ...]:
        return self.operands[len(self.raw.inputs) :]


# --- What stands only in one place -----------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Reduce(Expression):
    """A reduction inside a formula, before dsl/lowering/lower.py makes a statement of it."""

    reduction: Reduction
    over: tuple[Loop, ...]
    body: E
    pred: E | None

    def parts(self) -> tuple[E, ...]:
        return (self.body,) if self.pred is None else (self.body, self.pred)

    def of(self, parts: tuple[E, ...]) -> E:
        return Reduce(self.reduction, self.over, parts[0], None if self.pred is None else parts[1])


@dataclass(frozen=True, eq=False, repr=False)
class Unknown(Expression):
    """The derivative of a routine that gives none, which may turn out not to be needed (dsl/gradients/derive.py)."""

    routine: str


@dataclass(frozen=True, eq=False, repr=False)
class Local(Expression):
    """A parameter or a variable of a routine (dsl/lowering/routines.py); what a CPU kernel has a name for
    (codegen/cpu)."""

    name: str


@dataclass(frozen=True, eq=False, repr=False)
class Element(Expression):
    """What an access of a kernel read (codegen/kernels/kernel.py)."""

    access: int


@dataclass(frozen=True, eq=False, repr=False)
class Result(Expression):
    """What an earlier step of a kernel came to: a reduction's value, or what a store stored."""

    step: int


E: TypeAlias = (
    Constant | Symbol | Index | Pack | Read | Inside | Call | Random | Cast | Unary | Binary | Select | RawResult
    | Reduce | Unknown | Local | Element | Result
)  # fmt: skip


class Function(Protocol):
    """What passes ask of a routine (dsl/lowering/routines.py): its parameters, its derivatives by them, whether it may
    work on whole numbers."""

    @property
    def params(self) -> tuple[str, ...]: ...
    @property
    def slopes(self) -> dict[str, E]: ...
    @property
    def whole(self) -> bool: ...


# name -> number of arguments.  `stop` is the identity with no gradient, `isnan` tests the bits.
INTRINSICS = {
    "abs": 1, "sign": 1, "floor": 1, "ceil": 1, "round": 1, "trunc": 1, "sqrt": 1, "rsqrt": 1,
    "exp": 1, "exp2": 1, "expm1": 1, "log": 1, "log2": 1, "log10": 1, "log1p": 1,
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1,
    "erf": 1, "erfc": 1, "erfinv": 1, "lgamma": 1, "digamma": 1,
    "max": 2, "min": 2, "fmax": 2, "fmin": 2, "fmod": 2, "copysign": 2,
    "isnan": 1, "isinf": 1, "signbit": 1, "stop": 1,
}  # fmt: skip
# The functions that a library's `def`s with steps make, by name (dsl.lowering.routines.Routine); filled when
# definitions are loaded.
ROUTINES: dict[str, Function] = {}
REDUCTIONS: tuple[Reduction, ...] = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
COMPARISONS: tuple[Comparison, ...] = ("<", "<=", ">", ">=", "==", "!=")
CONDITIONS: tuple[BinaryOperator, ...] = (*COMPARISONS, "and", "or")


def integer(v: int) -> Constant:
    return Constant("i", v)


def real(v: float) -> E:
    return Unary("-", Constant("f", 0.0)) if v == 0 and copysign(1, v) < 0 else Constant("f", v)


def truth(v: bool) -> Constant:
    return TRUE if v else FALSE


def sym(name: str) -> E:
    return Symbol(name)


def idx(name: str) -> E:
    return Index(name)


def pack(name: str) -> E:
    return Pack(name)


def read(tensor: str, index: tuple[E, ...] | list[E], fallback: E | None = None) -> Read:
    return Read(tensor, tuple(index), fallback)


def call(fn: str, *args: E) -> E:
    return Call(fn, args)


ZERO, ONE, TRUE, FALSE = Constant("i", 0), Constant("i", 1), Constant("b", 1), Constant("b", 0)


def is_const(e: E, value: float | None = None) -> TypeGuard[Constant]:
    """Whether e is a constant number (equal to `value`); a boolean is no number here."""
    return isinstance(e, Constant) and e.kind != "b" and (value is None or e.value == value)


def is_condition(e: E) -> bool:
    """Whether e is an operation that comes to true or false."""
    match e:
        case Inside() | Unary("not", _):
            return True
        case Binary(operator, _, _):
            return operator in CONDITIONS
        case _:
            return False


def is_unary(e: E, operator: UnaryOperator) -> TypeGuard[Unary]:
    return isinstance(e, Unary) and e.operator == operator


def is_binary(e: E, *operators: BinaryOperator) -> TypeGuard[Binary]:
    return isinstance(e, Binary) and e.operator in operators


def is_loop(e: E) -> TypeGuard[Index | Pack]:
    """Whether e is nothing but a loop."""
    return isinstance(e, (Index, Pack))


def loop_of(e: E) -> str:
    """The loop that e is nothing but; "" for anything else."""
    return e.loop if is_loop(e) else ""


def is_comparison(operator: BinaryOperator) -> TypeGuard[Comparison]:
    return operator in COMPARISONS


def compared(operator: Comparison, a: float, b: float) -> bool:
    """What a comparison of two numbers comes to."""
    match operator:
        case "==":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case _:
            return a >= b


# The builders below simplify only what holds for every number, NaN and infinities included:
# x + 0, x * 1 and x / 1 go; x * 0 stays unless x is an index or a size, because NaN * 0 is NaN.


def integral(e: E) -> bool:
    """Whether e is built from indices, sizes and whole constants only, so is finite and exact."""
    match e:
        case Index() | Symbol():
            return True
        case Constant(kind, _):
            return kind != "f"
        case Unary("-", operand):
            return integral(operand)
        case Binary("+" | "-" | "*" | "//" | "%", left, right):
            return integral(left) and integral(right)
        case _:
            return False


def number(value: float, a: Constant, b: Constant) -> E:
    """What two constants come to: a float if one of them is."""
    return real(float(value)) if "f" in (a.kind, b.kind) else Constant("i", value)


def add(a: E, b: E) -> E:
    if is_const(a, 0):
        return b
    if is_const(b, 0):
        return a
    if is_const(a) and is_const(b):
        return number(a.value + b.value, a, b)
    if is_unary(b, "-"):
        return sub(a, b.operand)
    if is_const(b) and b.value < 0:
        return Binary("-", a, Constant(b.kind, -b.value))
    return Binary("+", a, b)


def sub(a: E, b: E) -> E:
    if is_const(b, 0):
        return a
    if is_const(a, 0):
        return neg(b)
    if a is b and integral(a):
        return ZERO
    if is_const(a) and is_const(b):
        return number(a.value - b.value, a, b)
    if is_unary(b, "-"):
        return add(a, b.operand)
    if is_binary(a, "+") and integral(a):
        if a.right is b:
            return a.left
        if a.left is b:
            return a.right
    return Binary("-", a, b)


def neg(a: E) -> E:
    if is_const(a) and a.value != 0:
        return Constant(a.kind, -a.value)
    if is_unary(a, "-"):
        return a.operand
    if is_binary(a, "-") and integral(a):
        return Binary("-", a.right, a.left)
    return Unary("-", a)


def mul(a: E, b: E) -> E:
    if is_const(a, 0) and integral(b) or is_const(b, 0) and integral(a):
        return ZERO
    if is_const(a, 1):
        return b
    if is_const(b, 1):
        return a
    if is_const(a) and is_const(b):
        return number(a.value * b.value, a, b)
    if is_const(a, -1):
        return neg(b)
    if is_const(b, -1):
        return neg(a)
    return Binary("*", a, b)


def div(a: E, b: E) -> E:
    return a if is_const(b, 1) else Binary("/", a, b)


def floordiv(a: E, b: E) -> E:
    if is_const(b, 1):
        return a
    if is_const(a) and is_const(b) and b.value:
        return number(a.value // b.value, a, b)
    return Binary("//", a, b)


def conj(*conditions: E | None) -> E | None:
    """The conditions joined by `and`, each once; None stands for true."""
    out = list(dict.fromkeys([q for p in conditions for q in conjuncts(p)]))
    return joined_by("and", out) if out else None


def conjuncts(p: E | None) -> list[E]:
    if p is None or p is TRUE:
        return []
    return [*conjuncts(p.left), *conjuncts(p.right)] if is_binary(p, "and") else [p]


def joined_by(operator: BinaryOperator, parts: list[E]) -> E:
    """The parts, of which there are some, joined from the left."""
    out = parts[0]
    for part in parts[1:]:
        out = Binary(operator, out, part)
    return out


def cond(c: E | None, a: E, b: E) -> E:
    if c is None:
        return a
    if isinstance(c, Constant):
        return a if c.value else b
    return a if a is b else Select(c, a, b)


def build(e: E, parts: tuple[E, ...]) -> E:
    """The same operation of other parts, with the simplifications of its operator."""
    match e:
        case Binary("+", _, _):
            return add(parts[0], parts[1])
        case Binary("-", _, _):
            return sub(parts[0], parts[1])
        case Binary("*", _, _):
            return mul(parts[0], parts[1])
        case Binary("/", _, _):
            return div(parts[0], parts[1])
        case Binary("//", _, _):
            return floordiv(parts[0], parts[1])
        case Unary("-", _):
            return neg(parts[0])
        case Select():
            return cond(parts[0], parts[1], parts[2])
        case _:
            return e.of(parts)


# --- Walking and rewriting -------------------------------------------------------------------------


def walk(e: E | None) -> Iterator[E]:
    """All expressions within e, each before its parts."""
    left = [] if e is None else [e]
    while left:
        n = left.pop()
        yield n
        left.extend(n.parts()[::-1])


def mapped(e: E, f: Callable[[E], E]) -> E:
    """The same operation of what `f` makes of its parts, as it stands."""
    parts = e.parts()
    return e.of(tuple([f(p) for p in parts])) if parts else e


def transform(e: E, f: Callable[[E], E | None], done: dict[E, E] | None = None) -> E:
    """Rewrites bottom-up: f answers a replacement or None, the same for the same expression.

    done: what f made before of expressions; derivatives hold the same parts many times."""
    known: dict[E, E] = {} if done is None else done

    def visit(n: E) -> E:
        found = known.get(n)
        if found is not None:
            return found
        parts = n.parts()
        made = n
        if parts:
            others = tuple([visit(p) for p in parts])
            if others != parts:
                made = build(n, others)
        replaced = f(made)
        known[n] = found = made if replaced is None else replaced
        return found

    return visit(e)


def subst(e: E, env: dict[str, E]) -> E:
    """Puts expressions in the place of loop indices (single and pack)."""
    if not env or e.loops.isdisjoint(env):
        return e
    return transform(e, lambda n: env.get(n.loop) if isinstance(n, (Index, Pack)) else None)


def maybe_subst(e: E | None, env: dict[str, E]) -> E | None:
    return None if e is None else subst(e, env)


def indices(e: E | None) -> set[str]:
    """The names of the loops, single and pack, that e depends on."""
    return set() if e is None else set(e.loops)


def symbols(e: E | None) -> set[str]:
    return set() if e is None else set(e.symbols)


def reads(e: E | None) -> list[Read]:
    return [] if e is None else list(e.reads)


# --- Printing --------------------------------------------------------------------------------------

PRECEDENCE: dict[BinaryOperator, int] = {
    "or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4, "|": 5, "^": 5, "&": 5,
    "<<": 6, ">>": 6, "+": 7, "-": 7, "*": 8, "/": 8, "//": 8, "%": 8, "**": 10,
}  # fmt: skip
SIGNS: dict[UnaryOperator, tuple[str, int]] = {"not": ("not ", 3), "-": ("-", 9), "~": ("~", 9)}


def show(e: E, p: int = 0) -> str:
    match e:
        case Constant(kind, value):
            if kind == "b":
                return "true" if value else "false"
            return str(int(value)) if kind == "i" else str(value)
        case Symbol(name) | Local(name):
            return name
        case Index(loop):
            return loop
        case Pack(loop):
            return f"*{loop}"
        case Element(access):
            return f"r{access}"
        case Result(step):
            return f"acc{step}"
        case Random(draw):
            return f"rand{draw}()"
        case Cast(to, operand):
            return f"{to}({show(operand)})"
        case RawResult(raw, operands):
            shown = [x.tensor if isinstance(x, Read) else show(x) for x in operands]
            return f"{raw.body.op}({', '.join(shown)}).{raw.outputs[raw.n][0]}"
        case Inside(inner):
            return f"inside({show(inner)})"
        case Read(tensor, index, fallback):
            s = f"{tensor}[{', '.join([show(i) for i in index])}]"
            return s if fallback is None else f"({s} ?? {show(fallback)})"
        case Call(name, operands):
            return f"{name}({', '.join([show(x) for x in operands])})"
        case Select(condition, yes, no):
            return f"({show(yes)} if {show(condition)} else {show(no)})"
        case Reduce(reduction, over, body, pred):
            where = "" if pred is None else f" if {show(pred)}"
            return f"{reduction}[{', '.join([repr(v) for v in over])}{where}] {show(body)}"
        case Unknown(routine):
            return f"unknown({routine})"
        case Unary(operator, operand):
            sign, level = SIGNS[operator]
            s = sign + show(operand, level)
            return f"({s})" if level < p else s
        case Binary(operator, left, right):
            level = PRECEDENCE[operator]
            s = f"{show(left, level)} {operator} {show(right, level + 1)}"
            return f"({s})" if level < p else s
