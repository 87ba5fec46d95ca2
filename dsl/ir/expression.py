"""Scalar expressions of the loop IR (dsl/ir/program.py): a closed set of classes, and their print.  They are made and
recognised by dsl/ir/builders.py, rewritten by dsl/ir/rewriting.py; dsl/ir/intrinsics.py lists what they may call.

An expression is one of the classes below, `E`, and nothing else.  Each distinct one exists once (dsl/ir/interned.py),
so they are compared by `is` or `==` alike and are keys of tables.  Numbers have kinds only where two meet in a kernel:
`codegen/kernels/formulas.py` makes nodes of them (codegen/data/nodes.py), in which every operand has the
kind that its operation asks for; classes of the same name there are the same thing, resolved so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

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
    """A parameter or a variable of a routine (dsl/lowering/routines.py)."""

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

REDUCTIONS: tuple[Reduction, ...] = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
COMPARISONS: tuple[Comparison, ...] = ("<", "<=", ">", ">=", "==", "!=")
CONDITIONS: tuple[BinaryOperator, ...] = (*COMPARISONS, "and", "or")


def walk(e: E | None) -> Iterator[E]:
    """All expressions within e, each before its parts."""
    left = [] if e is None else [e]
    while left:
        n = left.pop()
        yield n
        left.extend(n.parts()[::-1])


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
