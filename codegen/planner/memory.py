"""Elements of tensors in a kernel: which of them formulas need, and the statements that read and store them."""

from __future__ import annotations

from ..data.dtypes import compute_class
from ..data.nodes import Binary, Constant, Local, Node, Select, elements_of, uses_loop
from .conversion import KIND_TYPES, ZEROS, converted, stored
from .lines import Line
from .positions import on_axes, patch_position, position
from .printed import printed
from .writer import KernelWriter, bound_name, element_type, is_bound, is_floating_beside, is_unsigned_beside


def formulas_at(k: KernelWriter, n: int) -> list[Node | None]:
    """What decides where access n is and when it is read."""
    a = k.code.accesses[n]
    return [*a.index, a.guard, a.fallback]


def needed(k: KernelWriter, formulas: list[Node | None]) -> list[int]:
    """The accesses that formulas need, those inside another's index first."""
    out: list[int] = []
    for e in formulas:
        for n in elements_of(e):
            for m in needed(k, formulas_at(k, n)):
                if m not in out:
                    out.append(m)
            if n not in out:
                out.append(n)
    return out


def varies(k: KernelWriter, n: int) -> bool:
    """Whether what access n reads changes along the reduced lines."""
    for line in k.reduce:
        if line.strides[n] != 0:
            return True
        if line.name != "" and any(uses_loop(e, line.name) for e in formulas_at(k, n)):
            return True
    for e in formulas_at(k, n):
        for m in elements_of(e):
            if varies(k, m):
                return True
    return False


def moves(k: KernelWriter, n: int, line: Line) -> bool:
    """Whether what access n reads changes along a line."""
    if line.strides[n] != 0:
        return True
    for e in formulas_at(k, n):
        if line.name != "" and uses_loop(e, line.name):
            return True
        for m in elements_of(e):
            if moves(k, m, line):
                return True
    return False


def access_kind(k: KernelWriter, n: int) -> str:
    kind = k.kernel.accesses[n].kind
    return compute_class(k.call.dtype) if kind == "T" else kind


def load(k: KernelWriter, n: int) -> str:
    """The element of access n as its kind."""
    for patch in k.patches:
        if patch.access == n:
            return f"patch{n}[{patch_position(patch)}]"
    slot = k.kernel.accesses[n].slot
    return value_of(k, n, f"{bound_name(k, slot)}[{position(k, n)}]")


def value_of(k: KernelWriter, n: int, text: str) -> str:
    """An element of access n in memory as its kind."""
    access = k.kernel.accesses[n]
    element = element_type(k, k.call.slots[access.slot].dtype)
    if is_unsigned_beside(k, access):
        return f"signed_checked({text})"
    if not is_floating_beside(k, access):
        return converted(text, element, access_kind(k, n))
    return f"cut_checked({converted(text, element, 'f')})"


def read_lines(k: KernelWriter, formulas: list[Node | None], done: list[int], indent: str, still: bool) -> list[str]:
    """Statements that make what formulas read known.  still: only those that do not change along the reduced lines."""
    out: list[str] = []
    for n in needed(k, formulas):
        if n in done or still and varies(k, n):
            continue
        done.append(n)
        a = k.code.accesses[n]
        kind = access_kind(k, n)
        other = printed(a.fallback) if a.fallback is not None else ZEROS[kind]
        if not is_bound(k, n):
            out.append(f"{indent}let r{n}: {KIND_TYPES[kind]} = {other};")
        elif a.guard is None:
            out.append(f"{indent}let r{n} = {load(k, n)};")
        else:
            out.append(f"{indent}var r{n}: {KIND_TYPES[kind]} = {other};")
            out.append(f"{indent}if ({printed(a.guard)}) {{ r{n} = {load(k, n)}; }}")
    return out


def store_lines(k: KernelWriter, target: int, value: Node, kind: str, mode: str, indent: str) -> list[str]:
    """The store of a value at access `target`."""
    if not is_bound(k, target):
        return []
    lines = plain_store(k, target, value, kind, mode)
    holds = on_axes(k, target)
    if holds != "":
        lines = [f"if ({holds}) {{", *["  " + line for line in lines], "}"]
    return [indent + line for line in lines]


def plain_store(k: KernelWriter, target: int, value: Node, kind: str, mode: str) -> list[str]:
    slot = k.kernel.accesses[target].slot
    dtype = k.call.slots[slot].dtype
    name = bound_name(k, slot)
    if mode == "=":
        return [f"{name}[{position(k, target, True)}] = {stored(value, kind, dtype)};"]
    old = converted(f"{name}[at]", element_type(k, dtype), "i" if dtype == "bool" else kind)
    total = (
        Binary("+", Local(old), value)
        if dtype != "bool"
        else Binary("|", Local(old), Select(value, Constant("i", 1), Constant("i", 0)))
    )
    return [
        "{",
        f"  let at = {position(k, target, True)};",
        f"  {name}[at] = {stored(total, 'i' if dtype == 'bool' else kind, dtype)};",
        "}",
    ]
