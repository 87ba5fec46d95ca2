"""What gradients read of an op's tensors, and which of these its caller must leave as they are.

An op is one kernel here and often a chain of operations in PyTorch, whose tape holds what the derivative of each of
them reads: the tensors it was given and made, or values in between.  Programs rely on what may be changed in place
after a call, so that follows from the formula, too: a tensor is *held* if an operation of the formula that takes it as
it is, or makes it, has a derivative that reads it.  A gradient that reads another, to compute values in between anew,
reads what it was at the call: runtime/tensor/storage.ts sets that aside when somebody changes it."""

from __future__ import annotations

from ..ir.builders import is_binary, read
from ..ir.expression import Cast, E, Inside, RawResult, Read, Select
from ..ir.program import Program, Stmt, Tensor
from ..ir.tidy import statement_reads
from .derivable import Derivable
from .derive import NoDerivative, is_flat, partials

VALUE, COTANGENT = read("<value>", ()), read("<g>", ())


def needed(p: Program, output: str) -> set[str]:
    """The tensors whose elements an output of a program depends on."""
    found = {output}
    for s in reversed(p.stmts):
        if s.target in found:
            found |= {t for e in (s.body, s.pred, *s.idx) for t in looked_at(e)}
    return found


def looked_at(e: E | None) -> set[str]:
    """The tensors whose elements an expression reads; whether a place is inside of one is a question of sizes."""
    if e is None:
        return set()
    if isinstance(e, Inside):
        return {t for i in e.read.index for t in looked_at(i)}
    own = {e.tensor} if isinstance(e, Read) else set()
    return own.union(*map(looked_at, e.parts()))


def saved(op: Derivable, parameter: str) -> set[str]:
    """The parameters and results of an op that are held for the gradient of `parameter`."""
    if parameter in op.grads:
        return {
            r.tensor for made in (op.grads[parameter], op.grads.get("", [])) for s in made for r in statement_reads(s)
        }
    out: set[str] = set()
    useful, alive = set(op.outputs), {parameter}
    for s in reversed(op.stmts):
        if s.target in useful:
            useful |= flows_from(s.body)
    for s in op.stmts:
        if s.target not in useful or not flows_from(s.body) & alive:
            continue
        out |= {t for r in statement_reads(s) if r.tensor in alive for i in r.index for t in looked_at(i)}  # indices
        out |= {t for i in s.idx for t in looked_at(i)}
        if isinstance(s.body, RawResult):
            out |= by_raw(s)
        else:
            out |= by_formula(s, alive, op.tensors)
        alive.add(s.target)
    return out


def flows_from(e: E) -> set[str]:
    """The tensors through which a gradient may flow back from an expression's value."""
    if is_flat(e):
        return set()
    if isinstance(e, Read):
        return {e.tensor} | (flows_from(e.fallback) if e.fallback is not None else set())
    return set().union(*map(flows_from, (e.yes, e.no) if isinstance(e, Select) else e.parts()))


def by_raw(s: Stmt) -> set[str]:
    """What the gradients of a body read of its tensors."""
    assert isinstance(s.body, RawResult)
    raw = s.body.raw
    assert raw.inlined is not None
    names = {**dict(raw.outputs), **dict(zip(raw.inputs, s.body.tensors, strict=True))}
    return {
        names[r.tensor]
        for made in raw.inlined.op.grads.values()
        for x in made
        for r in statement_reads(x)
        if r.tensor in names
    }


def by_formula(s: Stmt, alive: set[str], tensors: dict[str, Tensor]) -> set[str]:
    """What the derivatives of a statement's operations read of the tensors that they take, or of the statement's
    value."""
    out: set[str] = set()

    def visit(e: E) -> None:
        if not flows_from(e) & alive:
            return
        if isinstance(e, Read):
            if e.fallback is not None:
                visit(e.fallback)
            return
        parts = e.parts()
        args = tuple([taken(a) or read(f"<{n}>", ()) for n, a in enumerate(parts)])
        made = e.of(args)
        try:
            found = partials(
                made, COTANGENT, {} if is_binary(e, "/") else {made: VALUE}
            )  # a quotient's value is not kept
        except NoDerivative:
            found = {a: a for a in args}
        for a, whole in zip(args, parts):
            if flows_from(whole) & alive and a in found:
                for t in looked_at(found[a]):
                    out.add(s.target if t == VALUE.tensor and e is s.body and not s.red else t)
        for part in parts:
            visit(part)

    visit(s.body)
    if s.red in ("prod", "max", "min"):
        of = taken(s.body)
        out |= {s.target} if of is None else {s.target, of.tensor}
    return out


def taken(e: E) -> Read | None:
    """The read of a tensor that an operation takes as it is: a change of type is no operation, nor is a default in its
    place."""
    match e:
        case Read():
            return e
        case Cast(_, operand):
            return taken(operand)
        case Select(condition, yes, no) if not looked_at(condition):
            return taken(yes) or taken(no)
        case _:
            return None
