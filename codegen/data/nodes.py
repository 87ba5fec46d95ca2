"""The scalar expressions of kernels: one of the classes below and nothing else, from `codegen/kernels/formulas.py` to
the device.

A node is of kind "f" (a float), "i" (a 32-bit whole number) or "b" (a boolean), and operands have the kinds that their
operation asks for: what differs is cast.  How a node looks in WGSL is printed.py's, what it comes to without
WebAssembly runtime/devices/cpu/node-evaluator.ts's, how it stands in the package written.py's.  Nodes are compared by
`same`, never by their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .errors import decimal


@dataclass(frozen=True)
class Constant:
    """A number, or a boolean as 0 or 1."""

    kind: str
    value: float


@dataclass(frozen=True)
class Index:
    """Where a loop stands: its number of the point, of kind "i"."""

    loop: str


@dataclass(frozen=True)
class Element:
    """What an access of the kernel read."""

    access: int


@dataclass(frozen=True)
class Item:
    """An element of the tensor of an access, by its row-major number: what statements (statements.py) work on."""

    access: int
    place: Node


@dataclass(frozen=True)
class Result:
    """What an earlier step of the kernel came to: a reduction's value, or what a store stored."""

    step: int


@dataclass(frozen=True)
class Uniform:
    """A number that the host tells a kernel with each launch: a size, an option, `inf`, `nan`."""

    name: str


@dataclass(frozen=True)
class Option:
    """A constant of a kernel's text: an option that is a bool or a choice, or whether a tensor is given."""

    name: str


@dataclass(frozen=True)
class Local:
    """A variable or an element that a strategy made, as it stands in the kernel."""

    name: str


@dataclass(frozen=True)
class Random:
    """A draw between 0 and 1 at the point; `draw` is its number within the op."""

    draw: int


@dataclass(frozen=True)
class Cast:
    """A number as another kind, "f" or "i"."""

    kind: str
    operand: Node


@dataclass(frozen=True)
class Rounded:
    """A float as it would be read again if it were stored: where one kernel does what were several."""

    operand: Node


@dataclass(frozen=True)
class Unary:
    """`-` of numbers, `!` of booleans, `~` of whole numbers."""

    operator: str
    operand: Node


@dataclass(frozen=True)
class Binary:
    """`+ - *`, comparisons, `&& ||` of booleans; `& | ^` of whole numbers, of booleans without a branch."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Select:
    """`yes` where the condition holds, else `no`."""

    condition: Node
    yes: Node
    no: Node


@dataclass(frozen=True)
class Apply:
    """A function of the prelude, of the library's routines or of WGSL, of operands."""

    name: str
    operands: list[Node]


@dataclass(frozen=True)
class Division:
    """A whole number divided by a positive one that the text knows: the quotient rounded down (`//`), or what is left
    (`%`)."""

    operator: str
    operand: Node
    divisor: int


@dataclass(frozen=True)
class BoundsCheck:
    """An index that an element names: reported where it is off its axis.  stores: of an access that is
    written."""

    operand: Node
    stores: bool


Node = (
    Constant
    | Index
    | Element
    | Item
    | Result
    | Uniform
    | Option
    | Local
    | Random
    | Cast
    | Rounded
    | Unary
    | Binary
    | Select
    | Apply
    | Division
    | BoundsCheck
)


def children(e: Node) -> list[Node]:
    """The operands, in the order in which they stand."""
    match e:
        case Cast(operand=operand):
            return [operand]
        case Rounded(operand=operand):
            return [operand]
        case Unary(operand=operand):
            return [operand]
        case Division(operand=operand):
            return [operand]
        case Item(place=place):
            return [place]
        case BoundsCheck(operand=operand):
            return [operand]
        case Binary(left=left, right=right):
            return [left, right]
        case Select(condition=condition, yes=yes, no=no):
            return [no, yes, condition]
        case Apply(operands=operands):
            return operands
        case _:
            return []


def of_operands(e: Node, operands: list[Node]) -> Node:
    """The same operation of other operands, in the order of `children`."""
    match e:
        case Cast(kind=kind):
            return Cast(kind, operands[0])
        case Rounded():
            return Rounded(operands[0])
        case Unary(operator=operator):
            return Unary(operator, operands[0])
        case Division(operator=operator, divisor=divisor):
            return Division(operator, operands[0], divisor)
        case Item(access=access):
            return Item(access, operands[0])
        case BoundsCheck(stores=stores):
            return BoundsCheck(operands[0], stores)
        case Binary(operator=operator):
            return Binary(operator, operands[0], operands[1])
        case Select():
            return Select(operands[2], operands[1], operands[0])
        case Apply(name=name):
            return Apply(name, operands)
        case _:
            return e


def mapped(e: Node, f: Callable[[Node], Node]) -> Node:
    """The same operation of what `f` makes of its operands."""
    return of_operands(e, [f(child) for child in children(e)])


def same(a: Node, b: Node) -> bool:
    """Whether two nodes say the same."""
    if a is b:
        return True
    if label(a) != label(b):
        return False
    mine = children(a)
    other = children(b)
    return len(mine) == len(other) and all(same(mine[n], other[n]) for n in range(len(mine)))


def label(e: Node) -> str:
    """What a node says beside its operands: two with the same label and the same operands are the same.  Of an
    operation it is the name of the function."""
    match e:
        case Constant(kind=kind, value=value):
            return f"{kind} {decimal(value)}"
        case Index(loop=loop):
            return f"index {loop}"
        case Element(access=access):
            return f"@{access}"
        case Item(access=access):
            return f"@{access}[]"
        case Result(step=step):
            return f"${step}"
        case Uniform(name=name):
            return f"p.{name}"
        case Option(name=name):
            return f"option {name}"
        case Local(name=name):
            return f"local {name}"
        case Random(draw=draw):
            return f"random {draw}"
        case Cast(kind=kind):
            return f"{kind}32"
        case Rounded():
            return "rounded"
        case Unary(operator=operator):
            return "neg" if operator == "-" else operator
        case Binary(operator=operator):
            return operator
        case Select():
            return "select"
        case Apply(name=name):
            return name
        case Division(operator=operator, divisor=divisor):
            return f"{operator} {divisor}"
        case BoundsCheck(stores=stores):
            return "in_bounds" if stores else "check_bounds"
        case _:
            return ""


def nodes_of(e: Node | None) -> list[Node]:
    """A node and all below it, operands first."""
    out: list[Node] = []
    if e is not None:
        collect(e, out)
    return out


def collect(e: Node, out: list[Node]) -> None:
    for child in children(e):
        collect(child, out)
    out.append(e)


def elements_of(e: Node | None) -> list[int]:
    """The accesses whose elements a formula uses, each once."""
    out: list[int] = []
    if e is not None:
        collect_elements(e, out)
    return out


def collect_elements(e: Node, out: list[int]) -> None:
    if isinstance(e, Element):
        if e.access not in out:
            out.append(e.access)
        return
    for child in children(e):
        collect_elements(child, out)


def uses_loop(e: Node | None, loop: str) -> bool:
    """Whether a formula depends on where a loop stands; not by what it reads there."""
    if e is None:
        return False
    if isinstance(e, Index):
        return e.loop == loop
    return any(uses_loop(child, loop) for child in children(e))


def uses_result(e: Node | None, step: int) -> bool:
    if e is None:
        return False
    if isinstance(e, Result):
        return e.step == step
    return any(uses_result(child, step) for child in children(e))


def contains(e: Node, part: Node) -> bool:
    """Whether a node stands anywhere in another."""
    return same(e, part) or any(contains(child, part) for child in children(e))


def replaced(e: Node, part: Node, by: Node) -> Node:
    """The same with another node in each place where `part` stands."""
    if same(e, part):
        return by
    return mapped(e, lambda child: replaced(child, part, by))


def operands_of(e: Node | None, operator: str) -> list[Node]:
    """The parts that an associative operator joins: of `a && (b && c)` the three; of nothing, none."""
    if e is None:
        return []
    match e:
        case Binary(operator=sign, left=left, right=right):
            if sign == operator:
                return operands_of(left, operator) + operands_of(right, operator)
    return [e]


def joined_by(operator: str, parts: list[Node]) -> Node | None:
    """The parts joined from the left; None for none."""
    out: Node | None = None
    for part in parts:
        out = part if out is None else Binary(operator, out, part)
    return out


def factors_of(e: Node, kind: str) -> list[Node]:
    """The factors of a product of numbers of a kind."""
    match e:
        case Binary(operator="*", left=left, right=right):
            return factors_of(left, kind) + factors_of(right, kind)
        case Unary(operator="-", operand=operand):
            return [Constant(kind, -1), *factors_of(operand, kind)]
        case _:
            return [e]
