"""In which of its parameters an op is linear: what makes it an op of complex numbers, too.

A formula that only adds, moves and scales elements says the same of real and of imaginary parts, so it needs no other
for complex numbers.  `terms` reads that off a program: each result is a sum of products of parameters, in every one of
which the program is linear.  Nothing is known of what a body of steps does, or of functions of elements."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TypeAlias

from ..ir.expression import (
    Binary,
    Cast,
    Constant,
    E,
    Index,
    Inside,
    Pack,
    Read,
    Select,
    Symbol,
    Unary,
)
from ..ir.expression import Call as CallOf
from ..ir.program import Stmt
from ..opdef import OpDef, symbol

# Products of parameters, each as their names in order; the empty one is what no parameter scales.
Terms: TypeAlias = frozenset[tuple[str, ...]]
FIXED: Terms = frozenset({()})
NUMBERS = ("Num", "Float", "Any")
SCALED = ("num", "real")  # options that are numbers


def terms(op: OpDef) -> list[tuple[str, ...]] | None:
    """The products of which the results of an op are sums, in order; None if it is no such op.  A parameter that
    decides what is done (`beta == 0`) is in none of them, so that it is real."""
    made = [op.tensors[name] for name in op.outputs]
    if not made or op.raw or op.random or op.foreach or any(p.mut for p in op.params):
        return None
    if any(t.dtype not in ("T", "own", "float") for t in made):
        return None
    tensors = [p.name for p in op.params if p.kind == "tensor" and p.cls in NUMBERS]
    options = [p.name for p in op.params if p.kind in SCALED]
    for real in ([], options, *([name] for name in tensors[1:]), *([*options, name] for name in tensors[1:])):
        found = with_real(op, [name for name in (*tensors, *options) if name not in real])
        if found is not None and all(len(set(t)) == len(t) for t in found):
            return sorted(found) if any(name in t for name in tensors for t in found) else None
    return None


def with_real(op: OpDef, free: list[str]) -> Terms | None:
    """`terms` where all other parameters are real numbers."""
    known: dict[str, Terms] = {}
    for p in op.params:
        name = p.name if p.kind == "tensor" else symbol(p.name)
        if p.kind == "tensor" or p.kind in SCALED:
            known[name] = frozenset({(p.name,)}) if p.name in free else FIXED
    for s in op.forward.stmts:
        found = of_statement(s, known)
        if found is None:
            return None
        known[s.target] = known.get(s.target, frozenset()) | found
    return frozenset().union(*[known.get(name, frozenset()) for name in op.outputs])


def of_statement(s: Stmt, known: dict[str, Terms]) -> Terms | None:
    """What a statement adds to its target."""
    where: list[E] = [*s.idx, *([] if s.pred is None else [s.pred])]
    if not fixed(where, known):
        return None
    found = of(s.body, known)
    return found if found == FIXED or (s.red in (None, "sum") and s.mode in ("=", "+=")) else None


def fixed(parts: Iterable[E], known: dict[str, Terms]) -> bool:
    """Whether no parameter has a say in these values."""
    return all(of(e, known) in (FIXED, frozenset()) for e in parts)


def of(e: E, known: dict[str, Terms]) -> Terms | None:
    """The products of which a value is a sum; nothing: 0; None: it is something else."""
    match e:
        case Constant(kind, value):
            return frozenset() if value == 0 and kind != "b" else FIXED
        case Index() | Pack():
            return FIXED
        case Symbol(name):
            return known.get(name, FIXED)
        case Read(tensor, index, fallback):
            outside = frozenset() if fallback is None else of(fallback, known)
            return known[tensor] | outside if outside is not None and fixed(index, known) else None
        case Inside(read):
            return FIXED if fixed(read.parts(), known) else None
        case Cast(kind, operand) if kind in ("f", "T"):
            return of(operand, known)
        case CallOf("stop" | "stored", (operand,)):
            return of(operand, known)
        case Unary("-", operand):
            return of(operand, known)
        case Binary("+" | "-", left, right):
            return both(of(left, known), of(right, known))
        case Binary("*", left, right):
            a, b = of(left, known), of(right, known)
            return None if a is None or b is None else frozenset(tuple(sorted(x + y)) for x, y in product(a, b))
        case Binary("/", left, right) if fixed((right,), known):
            return of(left, known)
        case Select(condition, yes, no) if fixed((condition,), known):
            return both(of(yes, known), of(no, known))
    return FIXED if e.parts() and fixed(e.parts(), known) else None


def both(a: Terms | None, b: Terms | None) -> Terms | None:
    return None if a is None or b is None else a | b
