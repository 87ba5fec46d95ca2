"""Rows held in registers: what every lane reads of its row, read once, as variables and not in an array.

A lane has `count` quads of a row, `lanes` apart: `h2_0` .. are those of access 2.  What a reduction adds up, if it is
more than a value read, is kept as well where later formulas contain it: softmax takes each exponential once.
Which loops and rows there are is row.py's matter."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.nodes import Local, children, contains, replaced
from .common import Common, common
from .conversion import stored
from .lines import points
from .memory import needed
from .positions import position
from .printed import printed
from .vec4 import quad_element
from .writer import KernelWriter, bound_name, element_type

MOST_QUADS = 8  # registers: quads that a lane holds, of all tensors together


@dataclass
class Held:
    """lanes: of a row.  count: quads for each.  full: whether the last of them is there for every lane.  kept: the
    steps whose values are kept."""

    lanes: int
    count: int
    full: bool
    kept: list[int]


def held_of(k: KernelWriter, lanes: int) -> Held | None:
    """How a row that is counted in quads is held; None where it is too long."""
    quads = points(k.reduce)
    count = (quads + lanes - 1) // lanes
    reads = held_accesses(k)
    if count == 0 or count * len(reads) > MOST_QUADS:
        return None
    kept: list[int] = []
    steps = k.code.steps
    for n in range(len(steps)):
        if k.kernel.steps[n].kind != "reduce" or len(children(steps[n].body)) == 0:
            continue
        for later in range(n + 1, len(steps)):
            if n not in kept and later_uses(k, n, later):
                kept.append(n)
    if count * (len(reads) + len(kept)) > MOST_QUADS + 4:
        kept = []
    return Held(lanes, count, quads % lanes == 0, kept)


def later_uses(k: KernelWriter, n: int, later: int) -> bool:
    step = k.kernel.steps[later]
    return (step.kind == "reduce" or step.inner) and contains(k.code.steps[later].body, k.code.steps[n].body)


def held_accesses(k: KernelWriter) -> list[int]:
    """The accesses along a row that formulas read."""
    return [n for n in needed(k, [code.body for code in k.code.steps]) if n in k.wide]


def inside(k: KernelWriter, held: Held, c: int, lines: list[str]) -> list[str]:
    """Statements for quad c of a lane, where there is one."""
    head = "{" if held.full or c < held.count - 1 else f"if (lane + {c * held.lanes}u < p.inner_points) {{"
    return [head, *["  " + line for line in lines], "}"]


def held_reads(k: KernelWriter, held: Held) -> list[str]:
    """Reads all quads of a lane."""
    out: list[str] = []
    reads = held_accesses(k)
    for n in reads:
        for c in range(held.count):
            out.append(f"var h{n}_{c}: vec4<{element_type(k, k.call.slots[k.kernel.accesses[n].slot].dtype)}>;")
    for c in range(held.count):
        lines = [f"let inner0 = lane + {c * held.lanes}u;"]
        for n in reads:
            lines.append(f"h{n}_{c} = {bound_name(k, k.kernel.accesses[n].slot)}[{position(k, n)}];")
        out.extend(inside(k, held, c, lines))
    return out


def formula(k: KernelWriter, held: Held, n: int, c: int, lane: int) -> Common:
    """The formula of step n at one element, after what it reads."""
    body = k.code.steps[n].body
    for earlier in held.kept:
        if earlier < n:
            body = replaced(body, k.code.steps[earlier].body, Local(f"kept{earlier}_{c}[{lane}]"))
    value = common(body, "common")
    return Common(
        [
            *[f"let r{m} = {quad_element(k, m, f'h{m}_{c}[{lane}]')};" for m in needed(k, [body]) if m in k.wide],
            *value.lines,
        ],
        value.formula,
    )


def held_pass(k: KernelWriter, held: Held, n: int, so_far: str, join: str, type_: str) -> list[str]:
    """Reduction n.  join: the text that joins `value` to what there is, the variable `so_far`."""
    out: list[str] = []
    for c in range(held.count):
        if n in held.kept:
            out.append(f"var kept{n}_{c}: vec4<{type_}>;")
        lines: list[str] = []
        for lane in range(4):
            value = formula(k, held, n, c, lane)
            keep = f"kept{n}_{c}[{lane}] = value; " if n in held.kept else ""
            lines.append(
                " ".join(["{", *value.lines, f"let value = {printed(value.formula)}; {keep}{so_far} = {join}; }}"])
            )
        out.extend(inside(k, held, c, lines))
    return out


def held_store(k: KernelWriter, held: Held, n: int, kind: str) -> list[str]:
    """Store n at all elements of a lane."""
    out: list[str] = []
    target = k.kernel.steps[n].target
    slot = k.kernel.accesses[target].slot
    dtype = k.call.slots[slot].dtype
    for c in range(held.count):
        lines = [f"let inner0 = lane + {c * held.lanes}u;", f"var four: vec4<{element_type(k, dtype)}>;"]
        for lane in range(4):
            value = formula(k, held, n, c, lane)
            lines.append(" ".join(["{", *value.lines, f"four[{lane}] = {stored(value.formula, kind, dtype)}; }}"]))
        lines.append(f"{bound_name(k, slot)}[{position(k, target)}] = four;")
        for line in inside(k, held, c, lines):
            out.append("  " + line)
    return out
