"""What only some kernels need, apart from the rest: bundles without ops that bring it leave it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .printer import Printer


@dataclass
class Writers:
    """body: writes the function of a kernel that has a body; routines: lets a kernel call its op's routines.  None:
    nobody brought it."""

    body: Callable[[Printer], None] | None
    routines: Callable[[Printer], None] | None


WRITERS = Writers(None, None)
