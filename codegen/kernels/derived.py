"""Gradient programs that the package does not carry, made of an op's loop program when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsl.gradients.derivable import Derivable, first, later
from dsl.gradients.derive import NoDerivative
from dsl.gradients.reverse import unused
from dsl.gradients.settle import settled
from dsl.ir.program import Program

from ..binding.parts import entry
from ..data import model
from .carried import kernel, needs, slot, used
from .context import KernelContext
from .fuse import fused
from .kernel import plainly_named
from .loop_notation import read_derivable


@dataclass
class Derivation:
    """The gradient programs of an op.  made: of each order, as derivation has them; settled: as they run."""

    op: model.Op
    context: KernelContext
    derivable: Derivable
    made: list[Program]
    settled: list[Program]


def derivation(op: model.Op, reals: list[str], text: str) -> Derivation:
    """reals: the sizes that need not be whole; text: of kernels/loop_notation.py."""
    options = {entry(p.name): p.kind for p in op.params if p.slot < 0}
    classes = {p.name: p.cls for p in op.params if p.slot >= 0}
    return Derivation(
        op, KernelContext(options, frozenset(reals), classes, [], True, False), read_derivable(op, text), [], []
    )


def program(x: Derivation, order: int) -> model.Program | None:
    """The gradient program of an order; its tensors become slots of the op.  None: it has none."""
    while len(x.made) < order:
        try:
            found = later(x.derivable, x.made[-1], len(x.made) + 1) if x.made else first(x.derivable)
        except NoDerivative:
            return None
        if found is None:
            return None
        x.made.append(found)
        runs = replace(found, tensors={**found.tensors}, stmts=[*found.stmts])
        settled(runs, unused(runs.stmts, runs.tensors))
        x.settled.append(runs)
    return carried(x, x.settled[order - 1])


def carried(x: Derivation, p: Program) -> model.Program:
    number = {s.name: n for n, s in enumerate(x.op.slots)}
    for t in used(p):
        if t.name not in number:
            number[t.name] = len(x.op.slots)
            x.op.slots.append(slot(t, number))
    made = [plainly_named(n) for n in fused(p)]
    return model.Program(
        [number[n] for n in p.inputs],
        [number[n] for n in p.outputs],
        needs(x.derivable, x.settled[0], p, number),
        [kernel(x.context, n, place, p.tensors, number) for place, n in enumerate(made)],
    )
