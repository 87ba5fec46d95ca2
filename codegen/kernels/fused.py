"""The kernels of programs, made and checked once, however many targets ask for them."""

from __future__ import annotations

from dsl.ir.program import Program

from .fuse import fused
from .kernel import Kernel, plainly_named
from .sound import verify


def kernels(program: Program | None) -> list[Kernel]:
    """The kernels of a program in the order they run."""
    if program is None:
        return []
    if program.fused is None or program.fused[0] != program.stmts:
        made = [plainly_named(n) for n in fused(program)]
        verify(made, program)
        program.fused = [*program.stmts], made
    return [*program.fused[1]]
