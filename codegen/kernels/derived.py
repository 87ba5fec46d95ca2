"""Gradient programs that the package does not carry, made of an op's loop program when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dsl.gradients.derivable import Derivable, first, later
from dsl.gradients.derive import NoDerivative
from dsl.gradients.settle import settled
from dsl.ir.program import Presence, Program, Tensor, unused
from dsl.ir.wide import narrowed

from ..binding.parts import entry
from ..data import model
from .carried import DTYPES, kernel, needs, raw_kernel, slot, used
from .context import KernelContext
from .fuse import fused
from .kernel import Kernel, plainly_named
from .loop_notation import Callees, read_derivable


@dataclass
class Derivation:
    """The gradient programs of an op.  made: of each order, as derivation has them; settled: as they run.  callees: the
    ops whose bodies they run."""

    op: model.Op
    context: KernelContext
    derivable: Derivable
    made: list[Program]
    settled: list[Program]
    callees: Callees


def derivation(op: model.Op, reals: list[str], text: str, callees: Callees) -> Derivation:
    """reals: the sizes that need not be whole; text: of kernels/loop_notation.py."""
    options = {entry(p.name): p.kind for p in op.params if p.slot < 0}
    classes = {p.name: p.cls for p in op.params if p.slot >= 0}
    presences = frozenset([Presence + p.name for p in op.params])
    context = KernelContext(options, frozenset(reals), classes, [], True, False, presences)
    return Derivation(op, context, read_derivable(op, text, callees), [], [], callees)


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
        fresh = unused(runs.stmts, runs.tensors)
        for s in x.op.slots:  # among which the programs' tensors are known by their names
            fresh.take(s.name)
        settled(runs, fresh)
        narrowed(runs, fresh, False)
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
        [kernel_of(x, n, place, p.tensors, number) for place, n in enumerate(made)],
    )


def kernel_of(x: Derivation, n: Kernel, place: int, tensors: dict[str, Tensor], number: dict[str, int]) -> model.Kernel:
    if n.raw is None:
        return kernel(x.context, n, place, tensors, number)
    own = x.callees(n.raw.body.op).kernel
    assert own.raw is not None
    return raw_kernel(x.context, n, place, tensors, number, replace(own.raw, dtype=DTYPES[n.raw.T]), own.uniforms)
