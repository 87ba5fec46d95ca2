"""What routines and bodies do, statement by statement: the data from which WebAssembly is printed and which the
interpreter runs.

Variables are `Index` nodes, elements of tensors `Item`s.  The notation (codegen/api/notation.py writes it):

    parameters|variables|statements      the parameters of a routine, of a body none
    name  name:i                         floats, but where a kind follows: "i", "b", or "T", that of elements of T
    a,@0[k]=x,y;                         all values first, then the targets one after another
    for(k,low,high){...}                 k = low, low + 1, ... below high; perhaps `,condition`: as long as it holds
    if(c){...}else{...}                  perhaps without the other branch
    break;                               ends the loop that it stands in

Formulas are written as written.py says."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import Node
from .written import ENDS, Formula, enclosed, formula, part, run


@dataclass(frozen=True)
class Assign:
    """All values first, then the targets, one after another: variables and elements."""

    targets: list[Node]
    values: list[Node]


@dataclass(frozen=True)
class Repeat:
    """name = low, low + 1, ... below high, as long as the condition holds."""

    name: str
    low: Node
    high: Node
    condition: Node | None
    body: list[Statement]


@dataclass(frozen=True)
class Choose:
    condition: Node
    yes: list[Statement]
    no: list[Statement]


@dataclass(frozen=True)
class Leave:
    """Ends the loop that it stands in."""


Statement = Assign | Repeat | Choose | Leave


@dataclass(frozen=True)
class Procedure:
    """A routine, whose value is the variable `out`, or a body.  kinds: of its variables, parameters first; what counts
    in a loop is whole."""

    parameters: list[str]
    kinds: dict[str, str]
    statements: list[Statement]


def read_procedure(text: str) -> Procedure:
    first = text.find("|")
    second = first + 1 + text[first + 1 :].find("|")
    kinds: dict[str, str] = {}
    parameters = declared(text[:first], kinds)
    names = [*parameters, *declared(text[first + 1 : second], kinds)]
    return Procedure(parameters, kinds, block(Formula(text[second + 1 :], 0, names)))


def declared(text: str, kinds: dict[str, str]) -> list[str]:
    """The names in a list, whose kinds are noted."""
    names: list[str] = []
    for word in [] if text == "" else text.split(" "):
        colon = word.find(":")
        name = word if colon < 0 else word[:colon]
        kinds[name] = "f" if colon < 0 else word[colon + 1 :]
        names.append(name)
    return names


def block(f: Formula) -> list[Statement]:
    out: list[Statement] = []
    while f.at < len(f.text) and f.text[f.at] != "}":
        out.append(statement(f))
    f.at += 1
    return out


def statement(f: Formula) -> Statement:
    start = f.at
    match run(f, ENDS, False):
        case "break":
            f.at += 1
            return Leave()
        case "if":
            condition = enclosed(f)[0]
            f.at += 1
            yes = block(f)
            no: list[Statement] = []
            if f.text[f.at : f.at + 5] == "else{":
                f.at += 5
                no = block(f)
            return Choose(condition, yes, no)
        case "for":
            f.at += 1
            name = run(f, ENDS, False)
            f.loops.append(name)
            parts = enclosed(f)
            f.at += 1
            return Repeat(name, parts[0], parts[1], parts[2] if len(parts) > 2 else None, block(f))
    f.at = start
    targets = [part(f)]
    while f.text[f.at] == ",":
        f.at += 1
        targets.append(part(f))
    values: list[Node] = []
    while f.text[f.at] != ";":
        f.at += 1
        values.append(formula(f))
    f.at += 1
    return Assign(targets, values)


def statements_of(statements: list[Statement]) -> list[Statement]:
    """All statements, outermost first."""
    out: list[Statement] = []
    for s in statements:
        out.append(s)
        match s:
            case Repeat(body=body):
                out.extend(statements_of(body))
            case Choose(yes=yes, no=no):
                out.extend(statements_of(yes))
                out.extend(statements_of(no))
    return out


def formulas_in(s: Statement) -> list[Node]:
    """The formulas of a statement itself."""
    match s:
        case Assign(targets=targets, values=values):
            return values + targets
        case Repeat(low=low, high=high, condition=condition):
            return [low, high] if condition is None else [low, high, condition]
        case Choose(condition=asked):
            return [asked]
        case _:
            return []
