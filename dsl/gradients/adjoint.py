"""Reverse-mode differentiation of loop programs.

A statement  t[idx] = red over r of body  is reversed read by read: a read x[f] whose partial is p says

    d_x[f] += d_t[idx] * p          at every point of the kernel,

a scatter, which `solve.gather` turns round where the index allows.  Names: the cotangent of tensor t is
`g_t`, its gradient `d_t`; in the second derivative, where those are inputs themselves, cotangents of
`d_x` are `gg_x` and gradients `dd_t` (`dd_x`, `dd_out`, `dd_g_out`).  Temporaries in between follow suit.

What derives is dsl/gradients/derivable.py's, which the package carries; here is what only definitions say.
`complete` does everything for one op; passes after it read `op.forward`, `op.gradient`, `op.gradient2`."""

from __future__ import annotations

from ..ir.arithmetic import estimate
from ..ir.axes import axes
from ..ir.builders import conjuncts, is_binary, is_const
from ..ir.expression import E, Symbol
from ..ir.program import Program, unused
from ..ir.rewriting import symbols
from ..ir.verify import verify
from ..ir.wide import narrowed
from ..opdef import OpDef, Param
from ..text.diagnostics import DefinitionError
from . import derivable as orders
from .derivable import Derivable, spoken
from .derive import NoDerivative
from .settle import settled
from .solve import Sizes, tighten


def complete(op: OpDef) -> OpDef:
    """Gives an op its gradient programs and solves the equations in its forward filters; answers it.

    In this order: an equation is more use to a gradient than its solution, and a gradient
    flows to every value for one place, though one stays.  Done once."""
    if op.complete:
        return op
    op.complete = True
    op.derivable = derivable(op)
    op.gradient = gradient(op)
    op.gradient2 = second(op)
    programs = [p for p in (op.forward, op.gradient, op.gradient2) if p is not None]
    # One source of names: programs share the op's table of tensors.
    fresh = unused(
        [s for p in programs for s in p.stmts], {**op.tensors, **{n: t for p in programs for n, t in p.tensors.items()}}
    )
    sizes = known_sizes(op)
    op.forward.stmts = [tighten(s, fresh, sizes) for s in op.forward.stmts]
    for p in programs:
        before = p.stmts
        settled(p, fresh)
        narrowed(p, fresh, p is op.forward and not all(map(is_float, op.params)))
        if p is op.forward or p.stmts != before:  # else it is what tidying made
            verify(p, "settle")
    return op


def is_float(p: Param) -> bool:
    """Whether a parameter makes the op's type one with fractions, or has no say."""
    return p.kind != "tensor" or p.cls == "Float"


def derivable(op: OpDef) -> Derivable:
    """What derivation knows of an op, from before its equations are solved."""
    if op.derivable is not None:
        return op.derivable
    wanted = [p.name for p in op.params if p.kind == "tensor" and differentiable(op, p.name)]
    tensors = {**op.tensors, **op.forward.tensors}
    # In the order that the package knows them in, and no more of them: derivation takes names that are free.
    first = [p.name for p in op.params if p.kind == "tensor"] + op.outputs
    said = spoken(op.forward.stmts, op.grads, op.owned)
    names = [*first, *(n for n in (*op.forward.tensors, *op.tensors) if n in said and tensors[n].role == "temp")]
    return Derivable(
        op.name,
        {n: tensors[n] for n in names},
        op.outputs,
        [] if op.nograd == frozenset() else wanted,
        list(op.forward.stmts),
        op.grads,
        op.owned,
        known_sizes(op),
        check,
    )


def check(p: Program, after: str, unknown: bool) -> None:
    verify(p, after, unknown=unknown)


def gradient(op: OpDef) -> Program | None:
    """The gradients of an op's tensor parameters, or None if it has none: dsl/gradients/derivable.py."""
    try:
        return orders.first(derivable(op))
    except NoDerivative as e:
        raise DefinitionError(
            f"error[grad]: the derivative of `{e}`, which `{op.name}` calls, is unknown\n"
            f"  write `grad` with it in the `def`, or `grad` or `nograd` in the op"
        ) from None


def second(op: OpDef, before: Program | None = None) -> Program | None:
    """The gradients of the gradient program (`before`, or made here) by its own inputs, or None if there is no gradient
    or the language cannot express it (the derivative of digamma)."""
    return following(op, before or op.gradient or gradient(op), 2)


def following(op: OpDef, before: Program | None, order: int) -> Program | None:
    """The program of this order from that of the order before."""
    try:
        return orders.later(derivable(op), before, order) if before else None
    except NoDerivative:
        return None


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
        return float(estimate(e, known))

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
    # Of a tensor that is changed, only the gradient that the definition gives.
    given = op.tree is not None and any(a.name == name for a in op.tree.grads)
    return (
        p is not None
        and p.cls not in ("Int", "Bits", "Bool")
        and (given or not p.mut and not op.tensors[name].mut)
        and name not in (op.nograd or ())
    )
