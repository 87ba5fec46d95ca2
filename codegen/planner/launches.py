"""A kernel's text as a launch: what it binds, its uniforms, how many workgroups."""

from __future__ import annotations

from dsl.ir.dtypes import TYPES

from ..data.errors import OpError
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


def check_bindings(k: KernelWriter) -> None:
    """Refuses what a device cannot bind."""
    most = k.facts.max_bindings
    if len(k.slots) > most:
        raise OpError(f"{k.op.name}: a kernel takes {len(k.slots)} tensors, but this device binds at most {most}")
    for n in range(len(k.slots)):
        if k.slots[n] < 0:
            continue
        bound = k.call.slots[k.slots[n]]
        count = bound.offset + 1
        for i in range(len(bound.shape)):
            count += (bound.shape[i] - 1) * bound.strides[i]
        size = count * (2 if TYPES[bound.dtype].word == "f16" else 4)
        if size > k.facts.max_binding_bytes:
            raise OpError(
                f"{k.op.name}: `{k.op.slots[k.slots[n]].name}` takes {size} bytes, but this device binds at most "
                f"{k.facts.max_binding_bytes}"
            )
