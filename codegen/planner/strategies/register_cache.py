"""Rows held in registers: what every lane reads of its row, read once, as variables and not in an array.

A lane has `count` vec4s of a row, `lanes` apart: `h2_0` .. are those of access 2.  What a reduction adds up, if it is
more than a value read, is kept as well where later formulas contain it: softmax takes each exponential once.
Which loops and rows there are is reduction.py's matter."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.nodes import Local, children, contains, replaced
from ..common import Common, common
from ..conversion import stored
from ..lines import points
from ..memory import needed, value_of
from ..positions import position
from ..printed import printed
from ..writer import KernelWriter, bound_name, element_type

MOST_VEC4S = 8  # registers: vec4s that a lane holds, of all tensors together


@dataclass
class RegisterCache:
    """lanes: of a row.  count: vec4s for each.  full: whether the last of them is there for every lane.  kept: the
    steps whose values are kept."""

    lanes: int
    count: int
    full: bool
    kept: list[int]


def register_cache_of(k: KernelWriter, lanes: int) -> RegisterCache | None:
    """How a row that is counted in vec4s is kept; None where it is too long."""
    vec4s = points(k.reduce)
    count = (vec4s + lanes - 1) // lanes
    reads = cached_accesses(k)
    if count == 0 or count * len(reads) > MOST_VEC4S:
        return None
    kept: list[int] = []
    steps = k.code.steps
    for n in range(len(steps)):
        if k.kernel.steps[n].kind != "reduce" or len(children(steps[n].body)) == 0:
            continue
        for later in range(n + 1, len(steps)):
            if n not in kept and later_uses(k, n, later):
                kept.append(n)
    if count * (len(reads) + len(kept)) > MOST_VEC4S + 4:
        kept = []
    return RegisterCache(lanes, count, vec4s % lanes == 0, kept)


def later_uses(k: KernelWriter, n: int, later: int) -> bool:
    step = k.kernel.steps[later]
    return (step.kind == "reduce" or step.inner) and contains(k.code.steps[later].body, k.code.steps[n].body)


def cached_accesses(k: KernelWriter) -> list[int]:
    """The accesses along a row that formulas read."""
    return [n for n in needed(k, [code.body for code in k.code.steps]) if n in k.wide]


def inside(k: KernelWriter, cache: RegisterCache, c: int, lines: list[str]) -> list[str]:
    """Statements for vec4 c of a lane, where there is one."""
    head = "{" if cache.full or c < cache.count - 1 else f"if (lane + {c * cache.lanes}u < p.inner_points) {{"
    return [head, *["  " + line for line in lines], "}"]


def cache_reads(k: KernelWriter, cache: RegisterCache) -> list[str]:
    """Reads all vec4s of a lane."""
    out: list[str] = []
    reads = cached_accesses(k)
    for n in reads:
        for c in range(cache.count):
            out.append(f"var h{n}_{c}: vec4<{element_type(k, k.call.slots[k.kernel.accesses[n].slot].dtype)}>;")
    for c in range(cache.count):
        lines = [f"let inner0 = lane + {c * cache.lanes}u;"]
        for n in reads:
            lines.append(f"h{n}_{c} = {bound_name(k, k.kernel.accesses[n].slot)}[{position(k, n)}];")
        out.extend(inside(k, cache, c, lines))
    return out


def formula(k: KernelWriter, cache: RegisterCache, n: int, c: int, lane: int) -> Common:
    """The formula of step n at one element, after what it reads."""
    body = k.code.steps[n].body
    for earlier in cache.kept:
        if earlier < n:
            body = replaced(body, k.code.steps[earlier].body, Local(f"kept{earlier}_{c}[{lane}]"))
    value = common(body, "common")
    return Common(
        [
            *[f"let r{m} = {value_of(k, m, f'h{m}_{c}[{lane}]')};" for m in needed(k, [body]) if m in k.wide],
            *value.lines,
        ],
        value.formula,
    )


def cache_pass(k: KernelWriter, cache: RegisterCache, n: int, so_far: str, join: str, type_: str) -> list[str]:
    """Reduction n.  join: the text that joins `value` to what there is, the variable `so_far`."""
    out: list[str] = []
    for c in range(cache.count):
        if n in cache.kept:
            out.append(f"var kept{n}_{c}: vec4<{type_}>;")
        lines: list[str] = []
        for lane in range(4):
            value = formula(k, cache, n, c, lane)
            keep = f"kept{n}_{c}[{lane}] = value; " if n in cache.kept else ""
            lines.append(
                " ".join(["{", *value.lines, f"let value = {printed(value.formula)}; {keep}{so_far} = {join}; }}"])
            )
        out.extend(inside(k, cache, c, lines))
    return out


def cache_store(k: KernelWriter, cache: RegisterCache, n: int, kind: str) -> list[str]:
    """Store n at all elements of a lane."""
    out: list[str] = []
    target = k.kernel.steps[n].target
    slot = k.kernel.accesses[target].slot
    dtype = k.call.slots[slot].dtype
    for c in range(cache.count):
        lines = [f"let inner0 = lane + {c * cache.lanes}u;", f"var four: vec4<{element_type(k, dtype)}>;"]
        for lane in range(4):
            value = formula(k, cache, n, c, lane)
            lines.append(" ".join(["{", *value.lines, f"four[{lane}] = {stored(value.formula, kind, dtype)}; }}"]))
        lines.append(f"{bound_name(k, slot)}[{position(k, target)}] = four;")
        for line in inside(k, cache, c, lines):
            out.append("  " + line)
    return out
