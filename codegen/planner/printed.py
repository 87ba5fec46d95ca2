"""Nodes and routines as WGSL: the last step, whose texts nothing reads."""

from __future__ import annotations

from ..data.errors import decimal
from ..data.names import safe_name
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
    children,
    mapped,
    nodes_of,
    uses_loop,
)
from ..data.statements import Assign, Procedure, Repeat, Statement

# The largest number of f32, and of i32 the least.
LARGEST: float = 3.4028234e38
LEAST = -2147483648
ROUNDING = ("floor", "ceil", "trunc", "round")
OF_FLOATS = ("larger", "smaller", "divide", "abs")
TYPES: dict[str, str] = {"f": "f32", "i": "i32", "b": "bool"}


def operand(e: Node) -> str:
    """The text of a node as part of another."""
    match e:
        case Constant(kind=kind, value=value):
            return literal(kind, value) if value >= 0 else f"({literal(kind, value)})"
        case Index(loop=loop):
            return safe_name(loop)
        case Element(access=access):
            return f"r{access}"
        case Result(step=step):
            return f"acc{step}"
        case Uniform(name=name):
            return f"p.{safe_name(name)}"
        case Option(name=name):
            return safe_name(name)
        case Local(name=name):
            return name
        case Random(draw=draw):
            return f"uniform_random({draw}u, place)"
        case Cast(kind=kind, operand=inner):
            return f"{TYPES[kind]}({printed(inner)})"
        case Unary(operator="!", operand=inner):
            return f"!{operand(inner)}"
        case Select(condition=condition, yes=yes, no=no):
            return f"select({argument(no)}, {argument(yes)}, {printed(condition)})"
        case Apply(name=name, operands=operands):
            return f"{name}({', '.join([argument(contracted(a) if name in ROUNDING else a) for a in operands])})"
        case BoundsCheck(operand=inner) | Rounded(operand=inner):
            return operand(inner)
        case _:
            return f"({printed(e)})"


def contracted(e: Node) -> Node:
    """What a place is rounded from, with each sum of a product as one operation.  A GPU's compiler may make one of some
    and leave others, so that of the same formula a guard, an index and a weight would come to different places."""
    match e:
        case Binary(operator="+" | "-" | "*") | Unary(operator="-"):
            made = mapped(e, contracted)
        case Apply(name=name) if name in OF_FLOATS:
            made = mapped(e, contracted)
        case _:
            return e
    match made:
        case Binary(operator="+", left=Binary(operator="*", left=a, right=b), right=c):
            return Apply("fma", [a, b, c])
        case Binary(operator="+", left=c, right=Binary(operator="*", left=a, right=b)):
            return Apply("fma", [a, b, c])
        case Binary(operator="-", left=Binary(operator="*", left=a, right=b), right=c):
            return Apply("fma", [a, b, Unary("-", c)])
        case Binary(operator="-", left=c, right=Binary(operator="*", left=a, right=b)):
            return Apply("fma", [Unary("-", a), b, c])
        case _:
            return made


def printed(e: Node) -> str:
    """The text of a node by itself, without brackets round it."""
    match e:
        case Constant(kind=kind, value=value):
            return literal(kind, value)
        case Unary(operator=sign, operand=inner):
            return f"{sign}{operand(inner)}"
        case Binary(operator=sign, left=left, right=right):
            return f"{operand(left)} {sign} {operand(right)}"
        case Division(operator=sign, operand=inner, divisor=divisor):
            own = operand(inner)
            # `%` of what is negative is undefined in OpenGL
            rest = f"({own} - {own} / {divisor} * {divisor} + {divisor}) % {divisor}"
            return rest if sign == "%" else f"({own} - ({rest})) / {divisor}"
        case BoundsCheck(operand=inner) | Rounded(operand=inner):
            return printed(inner)
        case _:
            return operand(e)


def argument(e: Node) -> str:
    """The text of a node between commas, where WGSL would take `a < b, c > d` for a type's parameters."""
    match e:
        case Binary(operator=sign) if sign == "<" or sign == ">":
            return operand(e)
        case _:
            return printed(e)


def unsigned(e: Node) -> str:
    """An i32 as the u32 of its bits; of what is known before the kernel runs and negative, WGSL refuses to make one
    unless its type is said."""
    text = printed(e)
    known = all(len(children(x)) > 0 or isinstance(x, (Constant, Option)) for x in nodes_of(e))
    return f"u32(i32({text}))" if known and not (isinstance(e, Constant) and e.value >= 0) else f"u32({text})"


def literal(kind: str, value: float) -> str:
    if kind == "b":
        return "true" if value != 0 else "false"
    if kind == "i":
        return str(int(value)) if value > LEAST else f"{LEAST + 1} - 1"
    if value > LARGEST:
        return "3.40282346e38f"
    if value < -LARGEST:
        return "-3.40282346e38f"
    digits = decimal(value)
    if "e" in digits:
        return digits + "f"
    return digits if "." in digits else digits + ".0"


def functions_of(e: Node | None) -> list[str]:
    """The functions that the text of a formula calls, outermost first."""
    out: list[str] = []
    if e is not None:
        add_functions(e, out)
    return out


def add_functions(e: Node, out: list[str]) -> None:
    name = function_of(e)
    if name != "" and name not in out:
        out.append(name)
    for child in children(e):
        add_functions(child, out)


def function_of(e: Node) -> str:
    """The function of the prelude, or WGSL's own, that a node is printed as; "" for none."""
    match e:
        case Apply(name=name):
            return name
        case Random():
            return "uniform_random"
        case BoundsCheck(stores=stores):
            return "in_bounds" if stores else "check_bounds"
        case _:
            return ""


# --- Routines (data/statements.py), in the manner of the prelude ----------------------------------

ZEROS: dict[str, str] = {"f": "0.0", "i": "0"}


def routine_text(name: str, procedure: Procedure) -> str:
    """The function; infinities and NaN are made from its first argument."""
    w = RoutineWriter(procedure)
    types = TYPES[procedure.kinds["out"]]
    given = ", ".join([f"{safe_name(n)}: {TYPES[procedure.kinds[n]]}" for n in procedure.parameters])
    for variable in procedure.kinds:
        if variable not in procedure.parameters:
            w.lines.append(f"  var {safe_name(variable)} = {ZEROS[procedure.kinds[variable]]};")
    for s in procedure.statements:
        w.statement(s, "  ")
    return "\n".join([f"fn {name}({given}) -> {types} {{", *w.lines, f"  return {safe_name('out')};", "}"])


class RoutineWriter:
    def __init__(self, procedure: Procedure):
        first = procedure.parameters[0] if len(procedure.parameters) > 0 else ""
        self.some: Node = Constant("f", 0) if first == "" else Local(safe_name(first))
        self.lines: list[str] = []
        self.constants: list[str] = []

    def constant(self, name: str) -> str:
        """A name for a constant of the text; statements may want the same."""
        free = name
        while free in self.constants:
            free = f"{free}_"
        self.constants.append(free)
        return free

    def node(self, e: Node) -> Node:
        match e:
            case Index(loop=name):
                return Local(safe_name(name))
            case Uniform(name="inf"):
                return Apply("infinity_like", [Apply("abs", [self.some])])
            case Uniform(name="nan"):
                return Apply("nan_from", [self.some])
            case _:
                return mapped(e, lambda child: self.node(child))

    def statement(self, s: Statement, indent: str) -> None:
        match s:
            case Assign():
                self.assign(s, indent)
            case Repeat(name=name, low=low, high=high, condition=condition, body=body):
                k = safe_name(name)
                goes = "" if condition is None else f" && {operand(self.node(condition))}"
                end = self.constant(f"{k}_end")
                self.lines.append(f"{indent}let {end} = {printed(self.node(high))};")
                start = f"var {k} = {printed(self.node(low))}"
                self.lines.append(f"{indent}for ({start}; {k} < {end}{goes}; {k}++) {{")
                for inner in body:
                    self.statement(inner, indent + "  ")
                self.lines.append(f"{indent}}}")
            case _:
                raise ValueError("no statement of a routine")

    def assign(self, s: Assign, indent: str) -> None:
        names: list[str] = []
        for t in s.targets:
            match t:
                case Index(loop=name):
                    names.append(name)
        changed: list[str] = []
        in_turn = True
        for n in range(len(names)):
            in_turn = in_turn and not speaks_of(s.values[n], changed)
            changed.append(names[n])
        following = ["" if in_turn else self.constant(f"{name}_next") for name in names]
        for n in range(len(names)):
            if in_turn:
                self.choice(safe_name(names[n]), self.node(s.values[n]), indent)
            else:
                self.lines.append(f"{indent}let {following[n]} = {printed(self.node(s.values[n]))};")
        for n in [] if in_turn else range(len(names)):
            self.lines.append(f"{indent}{safe_name(names[n])} = {following[n]};")

    def choice(self, name: str, e: Node, indent: str) -> None:
        """An assignment; a choice computes only the branch that is taken."""
        match e:
            case Select(yes=Constant(value=1), no=Constant(value=0)):  # a boolean as a number
                self.lines.append(f"{indent}{name} = {printed(e)};")
            case Select(condition=condition, yes=yes, no=no):
                self.lines.append(f"{indent}if ({printed(condition)}) {{")
                self.choice(name, yes, indent + "  ")
                self.lines.append(f"{indent}}} else {{")
                self.choice(name, no, indent + "  ")
                self.lines.append(f"{indent}}}")
            case _:
                self.lines.append(f"{indent}{name} = {printed(e)};")


def speaks_of(e: Node, names: list[str]) -> bool:
    return any(uses_loop(e, name) for name in names)
