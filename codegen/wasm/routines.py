"""The library's routines in a module: short ones without loops stand where they are called, others are functions.

Functions compute in doubles to the last digit, or in whole numbers: a series may lose many."""

from __future__ import annotations

from collections.abc import Callable

from ..data.functions import of_integers
from ..data.model import Op
from ..data.nodes import Constant, Index, Node, Uniform, nodes_of
from ..data.statements import Assign, Procedure, Repeat, formulas_in, read_procedure, statements_of
from ..planner.writer import infinite
from .encoder import Function, new_variable
from .printer import Printer
from .scalars.formulas import Formulas
from .scalars.helpers import Functions
from .scalars.terms import Term, Terms
from .scalars.values import SCALARS
from .statements import Statements

SHORT = 24  # nodes of a routine that is no function

KNOWN: dict[str, Procedure] = {}


def read_routines(op: Op) -> dict[str, Procedure]:
    """What the kernels of an op may call, by name."""
    out: dict[str, Procedure] = {}
    for f in op.routines:
        if f.steps != "":
            if f.steps not in KNOWN:
                KNOWN[f.steps] = read_procedure(f.steps)
            out[f.name] = KNOWN[f.steps]
    return out


def of_long(procedure: Procedure) -> Procedure:
    """The same routine of whole numbers of 64 bits; what counts its loops stays in 32."""
    counters: list[str] = []
    for s in statements_of(procedure.statements):
        if isinstance(s, Repeat):
            counters.append(s.name)
    kinds: dict[str, str] = {}
    for name in procedure.kinds:
        kind = procedure.kinds[name]
        kinds[name] = "l" if kind == "i" and name not in counters else kind
    return Procedure(procedure.parameters, kinds, procedure.statements)


def is_short(procedure: Procedure) -> bool:
    size = 0
    for s in statements_of(procedure.statements):
        if isinstance(s, Repeat):
            return False
        for e in formulas_in(s):
            size += len(nodes_of(e))
    return size <= SHORT


def bring(p: Printer) -> None:
    """Lets a kernel have the routines of its op."""
    routines = read_routines(p.k.op)
    if p.k.call.dtype == "int64":
        for name in routines:
            if of_integers(name):
                routines[name] = of_long(routines[name])
    for name in routines:
        p.functions.routines.append(name)
        if is_short(routines[name]):
            p.terms.inlined[name] = inlined(p.terms, routines[name])
    p.functions.write = lambda name: written(name, routines, p.functions)


def inlined(terms: Terms, procedure: Procedure) -> Callable[[list[Term]], Term]:
    """What a routine without loops comes to, of operands."""
    return lambda parts: value_of(terms, procedure, parts)


def value_of(terms: Terms, procedure: Procedure, parts: list[Term]) -> Term:
    bound: dict[str, Term] = {}
    for n in range(len(procedure.parameters)):
        bound[procedure.parameters[n]] = parts[n]
    for s in procedure.statements:
        match s:
            case Assign(targets=targets, values=values):
                made = [terms.of(v, bound) for v in values]
                for n in range(len(made)):
                    match targets[n]:
                        case Index(loop=name):
                            bound[name] = made[n]
    return bound["out"]


def written(name: str, routines: dict[str, Procedure], functions: Functions) -> Function:
    """Adds the function of a routine."""
    procedure = routines[name]
    types = [SCALARS[procedure.kinds[n]] for n in procedure.parameters]
    f = functions.add(name, types, [SCALARS[procedure.kinds["out"]]])
    w = Formulas(f, functions, False)
    terms = Terms(lambda e: kind_of(procedure, e), settled, lambda n: [], "float64")
    for other in routines:
        if is_short(routines[other]):
            terms.inlined[other] = inlined(terms, routines[other])
    statements = Statements(w, terms, procedure)
    for n in range(len(procedure.parameters)):
        statements.variables[procedure.parameters[n]] = n
    for variable in procedure.kinds:
        if variable not in procedure.parameters:
            statements.variables[variable] = new_variable(f, SCALARS[procedure.kinds[variable]])
    statements.write(procedure.statements)
    w.get(statements.variables["out"])
    return f


def kind_of(procedure: Procedure, e: Node) -> str:
    match e:
        case Index(loop=name):
            return procedure.kinds.get(name, "i")
        case Constant(kind=kind):
            return kind
        case _:
            return "f"


def settled(e: Node) -> Node:
    match e:
        case Uniform(name=name):
            return Constant("f", infinite(name))
        case _:
            return e
