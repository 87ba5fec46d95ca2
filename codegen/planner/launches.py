"""A kernel's text as a launch: what it binds, its uniforms, how many workgroups."""

from __future__ import annotations

from ..data.model import Launch
from .writer import KernelWriter

MOST_GROUPS = 65535  # workgroups along one axis of a dispatch


def title(k: KernelWriter, strategy: str) -> str:
    return f"{k.op.name}, kernel {k.kernel.number}: {strategy}; {k.call.dtype}"


def launch(k: KernelWriter, strategy: str, code: str, groups: int) -> Launch:
    return Launch(
        k.kernel.number, strategy, code, k.slots, k.written, k.values, k.kinds, k.seeds, k.fault, folded(groups), 0
    )


def folded(groups: int) -> list[int]:
    """So many workgroups along x, or along x and y where one axis is too short."""
    if groups <= MOST_GROUPS:
        return [groups, 1, 1]
    y = (groups + MOST_GROUPS - 1) // MOST_GROUPS
    return [(groups + y - 1) // y, y, 1]
