"""Reverse-mode differentiation of loop programs.

A statement  t[idx] = red over r of body  is reversed read by read: a read x[f] whose partial is p says

    d_x[f] += d_t[idx] * p          at every point of the nest,

a scatter, which `solve.gather` turns round where the index allows.  Names: the cotangent of tensor t is
`g_t`, its gradient `d_t`; in the second derivative, where those are inputs themselves, cotangents of
`d_x` are `gg_x` and gradients `dd_t` (`dd_x`, `dd_out`, `dd_g_out`).  Temporaries in between follow suit.

`complete` does everything for one op; passes after it read `op.forward`, `op.gradient`, `op.gradient2`."""

from __future__ import annotations

from dataclasses import replace

from ..ir.axes import axes
from ..ir.conditions import either
from ..ir.expression import E, Symbol, conjuncts, is_binary, is_const, symbols
from ..ir.program import Program, Stmt
from ..ir.tidy import statement_reads
from ..ir.verify import verify
from ..opdef import OpDef
from ..reference.interpreter import constant
from ..text.diagnostics import DefinitionError
from .derive import NoDerivative
from .reverse import Reverse, finished, unused
from .settle import settled
from .solve import Sizes, tighten


def complete(op: OpDef) -> OpDef:
    """Gives an op its gradient programs and solves the equations in its forward filters; answers it.

    In this order: an equation is more use to a gradient than its solution, and a gradient
    flows to every value for one place, though one stays.  Done once."""
    if op.complete:
        return op
    op.complete = True
    op.gradient = gradient(op)
    op.gradient2 = second(op)
    fresh, sizes = unused(op.forward.stmts, op.tensors), known_sizes(op)
    op.forward.stmts = [tighten(s, fresh, sizes) for s in op.forward.stmts]
    for p in (op.forward, op.gradient, op.gradient2):
        if p is not None:
            before = p.stmts
            settled(p, unused(p.stmts, p.tensors))
            if p is op.forward or p.stmts != before:  # else it is what tidying made
                verify(p, "settle")
    return op


def gradient(op: OpDef) -> Program | None:
    """The gradients of an op's tensor parameters, or None if it has none.

    inputs: the op's inputs, its outputs and the cotangents `g_<output>` that the statements read.
    outputs: `d_<param>` for every differentiable parameter, of its shape; a parameter without an output
    here has gradient zero.  A cotangent that a caller lacks is zero."""
    wanted = [p.name for p in op.params if p.kind == "tensor" and differentiable(op, p.name)]
    outputs = [n for n in op.outputs if op.tensors[n].role == "output" and op.tensors[n].dtype in ("T", "float", "own")]
    if op.nograd == frozenset() or not wanted or not outputs:
        return None
    tensors = {**op.tensors, **op.forward.tensors}
    seeds = {n: "g_" + n for n in outputs}
    for n, g in seeds.items():
        tensors[g] = replace(tensors[n], name=g, role="cotangent", like=n, optional=False)
    stmts = widened(
        [s for s in op.forward.stmts if tensors[s.target].role != "input"],
        [s for made in (*op.grads.values(), *(own.stmts for own in op.owned)) for s in made],
    )
    reverse = Reverse(stmts, tensors, seeds, wanted, "d_", op.grads, known_sizes(op), op.owned)
    back = reverse.run()
    made = [s for s in stmts if tensors[s.target].role != "output"]
    given = [n for n, t in op.tensors.items() if t.role in ("input", "output")] + list(seeds.values())
    stored = [s for s in stmts if tensors[s.target].role == "output"]
    try:
        return finish(op.name + "_gradient", reverse, made + back, given, stored)
    except NoDerivative as e:
        raise DefinitionError(
            f"error[grad]: the derivative of `{e}`, which `{op.name}` calls, is unknown\n"
            f"  write `grad` with it in the `def`, or `grad` or `nograd` in the op"
        ) from None


def second(op: OpDef, first: Program | None = None) -> Program | None:
    """The gradients of the gradient program (`first`, or made here) with respect to its own inputs.

    inputs: those of the gradient program and `gg_<param>`, the cotangent of `d_<param>`.
    outputs: `dd_<name>` for each input of the gradient program that is a differentiable parameter, a
    floating output or a cotangent, and on which the gradients depend.  None if there is no gradient or
    the language cannot express it (the derivative of digamma)."""
    first = first or op.gradient or gradient(op)
    if first is None:
        return None
    tensors = {**op.tensors, **first.tensors}
    seeds = {d: "gg_" + tensors[d].like for d in first.outputs}
    for d, g in seeds.items():
        tensors[g] = replace(tensors[d], name=g, role="cotangent")
    wanted = [
        n
        for n in first.inputs
        if tensors[n].role == "cotangent"
        or tensors[n].dtype in ("T", "float", "own")
        and (tensors[n].role == "output" or differentiable(op, n))
    ]
    reverse = Reverse(first.stmts, tensors, seeds, wanted, "dd_", {}, known_sizes(op))
    try:
        return finish(
            op.name + "_second", reverse, list(first.stmts) + reverse.run(), first.inputs + list(seeds.values()), []
        )
    except NoDerivative:
        return None


def widened(stmts: list[Stmt], explicit: list[Stmt]) -> list[Stmt]:
    """The forward statements, with temporaries also made where a hand-written gradient reads them.

    `when` of a temporary with one statement only says that nothing else in the forward program needs it."""
    readers: dict[str, list[E | None]] = {}
    out = []

    def note(s: Stmt) -> None:
        for r in statement_reads(s):
            readers.setdefault(r.tensor, []).append(s.when)

    for s in explicit:
        note(s)
    for s in reversed(stmts):
        if s.when is not None and s.target in readers and sum(o.target == s.target for o in stmts) == 1:
            s = replace(s, when=either([s.when, *readers[s.target]]))
            note(s)
        elif s.target in readers:
            note(s)
        out.append(s)
    return out[::-1]


def known_sizes(op: OpDef) -> Sizes:
    return Sizes(kinships(op), positive(op))


def positive(op: OpDef) -> frozenset[str]:
    """The symbols that the op's requirements keep above 0."""
    out = set()
    for p in (p for r in op.requires for p in conjuncts(r.holds)):
        if not is_binary(p, "<", "<=", ">", ">="):
            continue
        small, large = (p.left, p.right) if p.operator in ("<", "<=") else (p.right, p.left)
        if isinstance(large, Symbol) and is_const(small) and small.value >= (1 if p.operator in ("<=", ">=") else 0):
            out.add(large.name)
    return frozenset(out)


def kinships(op: OpDef) -> dict[str, str]:
    """For each computed size the input axis that it grows with most: for the result of a convolution, of a
    pooling or of padding, the axis that is slid over (the kernel makes it shorter, or longer by less)."""
    lengths = [
        n
        for t in op.tensors.values()
        if t.role == "input"
        for a in axes(t)
        if a.extent is not None
        for n in symbols(a.extent)
    ]
    defined, out = dict(op.sizes), {}

    def value(e: E, env: dict[str, float]) -> float:
        known = {n: value(defined[n], env) if n in defined and n not in env else env.get(n, 1) for n in symbols(e)}
        return float(constant(e, known))

    for name, e in op.sizes:
        try:
            growth = {
                n: value(e, {**dict.fromkeys(lengths, 64), n: 128}) - value(e, dict.fromkeys(lengths, 64))
                for n in lengths
            }
        except (ZeroDivisionError, KeyError, OverflowError):
            continue
        best = max(growth, key=lambda n: growth[n], default=None)
        if best is not None and growth[best] > 0:
            out[name] = best
    return out


def differentiable(op: OpDef, name: str) -> bool:
    """Whether a tensor parameter may have a gradient."""
    p = next((p for p in op.params if p.name == name), None)
    told = op.tree is not None and any(
        a.name == name for a in op.tree.grads
    )  # of a tensor that changes, only what is said
    return (
        p is not None
        and p.cls not in ("Int", "Bits", "Bool")
        and (told or not p.mut and not op.tensors[name].mut)
        and name not in (op.nograd or ())
    )


def finish(name: str, reverse: Reverse, stmts: list[Stmt], given: list[str], stored: list[Stmt]) -> Program | None:
    """The tidy program of these statements, checked before and after.  Raises NoDerivative."""
    if not reverse.results:
        return None
    outputs = list(reverse.results.values())
    verify(Program(name, reverse.tensors, stmts, given, outputs), "reverse", unknown=True)
    made = finished(name, reverse, stmts, given, stored)
    if made is not None:
        verify(made, "tidy")
    return made
