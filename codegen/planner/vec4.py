"""Reads and stores of 128 bits, of 64 for half numbers: four neighbours along a line at once.

`map` and `reduce` kernels take vec4s where every access can; formulas still run for one element at a time."""

from __future__ import annotations

from ..data.nodes import Node
from .lines import Line
from .memory import needed, value_of
from .positions import position
from .writer import KernelWriter, bound_name, is_bound


def vec4_possible(k: KernelWriter, lines: list[Line]) -> bool:
    """Whether every access takes four neighbours along the last of the lines at once, with stride 1 and aligned, or
    does not move along it, and one of them takes vec4s: else nothing would tell that the line is counted in them."""
    last = lines[len(lines) - 1]
    if last.name != "" or last.size % 4 != 0:
        return False
    taken = False
    for code in k.code.accesses:
        for index in code.index:
            if index is not None:
                return False
    for n in range(len(k.kernel.accesses)):
        if not is_bound(k, n):
            continue
        slot = k.kernel.accesses[n].slot
        stride = last.strides[n]
        if stride != 0 and stride != 1:
            return False
        for m in range(len(k.kernel.accesses)):  # one binding has one type of elements
            if k.kernel.accesses[m].slot == slot and last.strides[m] != stride:
                return False
        if stride == 0:
            continue
        if k.code.accesses[n].guard is not None or k.r.offsets[n] % 4 != 0:
            return False
        for line in k.outer + k.reduce:
            if line.name != "":
                return False
            if line.strides[n] % 4 != 0 and (line.strides[n] != 1 or line.size != last.size):
                return False
        taken = True
    return taken


def take_vec4(k: KernelWriter, lines: list[Line]) -> None:
    """Makes the last of the lines count vec4s, and the accesses along it `wide`."""
    last = lines[len(lines) - 1]
    for n in range(len(k.kernel.accesses)):
        if not is_bound(k, n) or last.strides[n] != 1:
            continue
        slot = k.kernel.accesses[n].slot
        if not any(k.kernel.accesses[m].slot == slot for m in k.wide):
            at = k.slots.index(slot)
            k.elements[at] = f"vec4<{k.elements[at]}>"
        k.wide.append(n)
        k.r.offsets[n] = k.r.offsets[n] // 4
        for line in k.outer + k.reduce:
            if line.strides[n] != 1 or line.size != last.size:
                line.strides[n] = line.strides[n] // 4
    lines[len(lines) - 1] = Line("", last.size // 4, last.strides)


def vec4_reads(k: KernelWriter, formulas: list[Node | None], indent: str) -> list[str]:
    """The vec4s that formulas need, as `v` and the access's number."""
    return [
        f"{indent}let v{n} = {bound_name(k, k.kernel.accesses[n].slot)}[{position(k, n)}];"
        for n in needed(k, formulas)
        if n in k.wide
    ]


def vec4_values(k: KernelWriter, formulas: list[Node | None], lane: int, indent: str) -> list[str]:
    """One of four neighbours, as what the formulas read."""
    out: list[str] = []
    for n in needed(k, formulas):
        if n in k.wide:
            out.append(f"{indent}let r{n} = {value_of(k, n, f'v{n}[{lane}]')};")
    return out
