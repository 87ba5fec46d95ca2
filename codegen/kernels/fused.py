"""The kernels of programs, made and checked once, however many targets ask for them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dsl.ir.program import Program, Stmt

from .fuse import fused
from .kernel import Kernel, plainly_named
from .sound import verify

_known: WeakKeyDictionary[Program, tuple[list[Stmt], list[Kernel]]] = WeakKeyDictionary()


def kernels(program: Program | None) -> list[Kernel]:
    """The kernels of a program in the order they run."""
    if program is None:
        return []
    statements, made = _known.get(program, ([], []))
    if not made or statements != program.stmts:
        made = [plainly_named(n) for n in fused(program)]
        verify(made, program)
        _known[program] = [*program.stmts], made
    return [*made]
