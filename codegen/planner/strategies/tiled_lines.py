"""Lines as the tiles of a contraction walk through them: joined where they are one walk, taken apart from a flat index,
or counted."""

from __future__ import annotations

from ...data.nodes import Node, uses_loop
from ..lines import Line
from ..memory import formulas_at
from ..positions import size_text, variable
from ..writer import KernelWriter


def joined_lines(k: KernelWriter, lines: list[Line], accesses: list[int], formulas: list[Node | None]) -> list[Line]:
    """Lines as some accesses and formulas walk through them: neighbours joined that are one for all of these, names
    dropped that no formula uses."""
    used = formulas[:]
    for n in accesses:
        used.extend(formulas_at(k, n))
    out: list[Line] = []
    for line in lines:
        named = line.name != "" and any(uses_loop(e, line.name) for e in used)
        own = line if named else Line("", line.size, line.strides)
        if not named and line.size == 1:
            continue
        if len(out) > 0 and not named and one_walk(out[len(out) - 1], own, accesses):
            out[len(out) - 1] = Line("", out[len(out) - 1].size * own.size, own.strides)
        else:
            out.append(own)
    return out


def one_walk(a: Line, b: Line, accesses: list[int]) -> bool:
    if a.name != "":
        return False
    for n in accesses:
        if a.strides[n] != b.strides[n] * b.size:
            return False
    return True


def split_lines(
    k: KernelWriter, lines: list[Line], first: int, end: int, stem: str, flat: str, suffix: str, keyword: str
) -> list[str]:
    """The variables of lines first .. end - 1, their names with a suffix, from a flat index among them."""
    out: list[str] = []
    rest = flat
    if end - first > 1:
        rest = f"{stem}_rest{suffix}"
        out.append(f"var {rest} = {flat};")
    for n in range(end - first):
        d = end - 1 - n
        line: Line = lines[d]
        text = rest
        size = ""
        if d > first:
            size = size_text(k, f"{stem}_size{d}", line)
            text = f"{rest} % {size}"
        out.append(f"{keyword} {variable(line, stem, d)}{suffix} = {text if line.name == '' else f'i32({text})'};")
        if d > first:
            out.append(f"{rest} /= {size};")
    return out


def bound_lines(lines: list[Line], first: int, end: int, stem: str, suffix: str) -> list[str]:
    """The variables of lines under their own names."""
    return [f"let {variable(lines[d], stem, d)} = {variable(lines[d], stem, d)}{suffix};" for d in range(first, end)]


def counted(k: KernelWriter, lines: list[Line], stem: str) -> list[str]:
    """Statements that move the variables of the lines to the next point."""
    out: list[str] = []
    for n in range(len(lines)):
        d = len(lines) - 1 - n
        line: Line = lines[d]
        name = variable(line, stem, d)
        if n == 0:
            out.append(f"{name}++;")
        if d == 0:
            continue
        # Without branches: a strip has sixteen of these, and drivers take seconds to compile as many.
        size = size_text(k, f"{stem}_size{d}", line)
        over = f"{name} == {size if line.name == '' else f'i32({size})'}"
        before = lines[d - 1]
        out.append(f"{variable(before, stem, d - 1)} += {'u32' if before.name == '' else 'i32'}({over});")
        out.append(f"{name} = select({name}, 0{'u' if line.name == '' else ''}, {over});")
    return out
