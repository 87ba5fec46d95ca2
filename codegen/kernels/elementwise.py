"""Which `foreach` ops compute every element by itself: then tensors that lie side by side in one buffer are one long
tensor to them, and a list of them takes one launch (runtime/functions/foreach.ts)."""

from __future__ import annotations

from dsl.ir.builders import is_loop
from dsl.ir.expression import E
from dsl.ir.rewriting import symbols
from dsl.opdef import OpDef, Presence, symbol

from .fused import kernels
from .kernel import Kernel, named_loops


def elementwise(op: OpDef) -> bool:
    """Whether no element of a result depends on another element, on a place or on a size.

    So each tensor is indexed by the one pack of axes that all share, or has a single element; no formula knows anything
    but elements and options; and nothing is made but what is changed in place."""
    if not op.foreach or op.outputs or op.random or op.raw or op.schedules or op.requires or op.sizes:
        return False
    made = kernels(op.forward)
    packs = {loop.name for kernel in made for loop in kernel.loops}
    options = {symbol(p.name) for p in op.params if p.kind != "tensor"} | {
        Presence + p.name for p in op.params if p.kind == "tensor"
    }
    return len(packs) == 1 and all(alone(op, kernel, options) for kernel in made)


def alone(op: OpDef, kernel: Kernel, options: set[str]) -> bool:
    """Whether a kernel runs over a pack of axes and nothing else."""
    if (
        kernel.shape != "map"
        or kernel.spread
        or len(kernel.loops) != 1
        or kernel.rloops
        or not kernel.loops[0].pack
        or named_loops(kernel)
    ):
        return False
    if any(a.index and not (len(a.index) == 1 and is_loop(a.index[0])) for a in kernel.accesses):
        return False
    formulas: list[E | None] = [
        kernel.when,
        *(a.guard for a in kernel.accesses),
        *(a.fallback for a in kernel.accesses),
    ]
    formulas += [e for s in kernel.steps for e in (s.body, s.pred)]
    return all(symbols(e) <= options for e in formulas)
