"""The `reduce` strategies: reductions, then stores, over rows.

A workgroup takes `columns` rows with `lanes` threads for each.  Lanes that lie next to each other walk along
the reduction (rows of neighbouring elements); columns that lie next to each other walk along the rows
(reductions over an outer axis).  With one lane a thread does a row alone: the plain strategy.

Few long rows would leave a device idle: they are reduced in several launches (`tree`).  Each reduces parts of every row
into scratch memory, for reductions that do not use each other; one that uses them begins by joining their parts.  The
last launch joins all parts and stores, at every point of the row again part by part.  A `Stage` says which of these a
text is.

Where a row is a few vec4s for each lane, all of it is read at the start and kept in registers (register_cache.py):
several reads are under way at once, and passes after the first read nothing.  Other rows are read in loops, once for
each pass."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import StepCode, is_arg
from ...data.nodes import Node, uses_result
from ..conversion import KIND_TYPES
from ..lines import points
from ..memory import needed, read_lines
from ..positions import decode
from ..vec4 import take_vec4, vec4_possible, vec4_reads, vec4_values
from ..writer import KernelWriter, bind_memory, declarations, uniform
from .reduction_stores import inner_store, inner_store_cached, outer_store
from .reduction_values import (
    accumulate,
    combine,
    combine_call,
    is_float_sum,
    joined,
    narrowed,
    side_by_side,
    so_far,
    start,
    value_kind,
)
from .register_cache import RegisterCache, cache_pass, cache_reads, register_cache_of

CHUNK = 128  # additions in a row before the sum is put aside: keeps float sums accurate


@dataclass
class ReductionText:
    """What reduction.wgsl.j2 shows."""

    title: str
    declarations: list[str]
    helpers: str
    combines: list[str]
    threads: int
    columns: int
    lanes: int
    adjacent: bool  # neighbouring threads are lanes of one row
    body: list[str]


@dataclass
class Stage:
    """kind: "whole" everything at once, "parts" the reductions `first` .. `end` - 1 of each of `parts` parts of a row,
    "finish" what the parts of a row come to and the stores, "stores" the same with stores at every point of a part."""

    kind: str
    parts: int
    first: int
    end: int


def reduction_text(
    k: KernelWriter, title: str, lanes: int, columns: int, adjacent: bool, stage: Stage
) -> ReductionText:
    """The text for a kernel with reductions: lanes * columns threads in a workgroup."""
    divided = stage.kind == "parts" or stage.kind == "stores"
    if adjacent and stage.kind != "finish" and vec4_helps(k):
        take_vec4(k, k.reduce)
    cache: RegisterCache | None = register_cache_of(k, lanes) if stage.kind == "whole" and len(k.wide) > 0 else None
    uniform(k, "rows", "u", points(k.outer) * (stage.parts if divided else 1))
    uniform(k, "inner_points", "u", points(k.reduce))
    if stage.kind != "whole":
        bind_memory(k, -1, "u32")
        uniform(k, "parts", "u", stage.parts)
        uniform(k, "outer_points", "u", points(k.outer))
        uniform(k, "run", "u", (points(k.reduce) + stage.parts - 1) // stage.parts)
    body = decode(k, k.outer, "outer", "row % p.outer_points" if divided else "row", "")
    if divided:
        body.append("let from_part = row / p.outer_points * p.run;")
        body.append("let end_part = min(from_part + p.run, p.inner_points);")
    done: list[int] = []
    if cache is not None:
        body.extend(cache_reads(k, cache))
    made: list[int] = []  # reductions whose values are known, each combined by a function of its own
    if stage.kind == "whole":
        for i in range(len(k.kernel.steps)):
            if k.kernel.steps[i].kind != "reduce":
                body.extend(store(k, i, done, lanes, stage, cache))
            elif i not in made:
                end = side_by_side(k, i)
                if cache is not None:
                    body.extend(reduction_cached(k, i, end, done, cache))
                else:
                    body.extend(reduction(k, i, end, done, lanes, stage))
                for n in range(i, end):
                    made.append(n)
                    body.extend(row_value(k, n, lanes))
    else:
        for n in joined_first(k, stage):
            made.append(n)
            body.extend(parts_joined(k, n, lanes, divided))
            body.extend(row_value(k, n, lanes))
        if stage.kind == "parts":
            body.extend(reduction(k, stage.first, stage.end, done, lanes, stage))
            for n in range(stage.first, stage.end):
                made.append(n)
                if lanes > 1:
                    body.extend(combine_call(k, n))
            body.extend(parts_stored(k, stage.first, stage.end, lanes))
        else:
            for i in range(len(k.kernel.steps)):
                if k.kernel.steps[i].kind != "reduce":
                    body.extend(store(k, i, done, lanes, stage, cache))
    combines: list[str] = []
    if lanes > 1:
        for n in made:
            combines.extend(combine(k, n, lanes, columns, adjacent))
    return ReductionText(title, declarations(k), "", combines, lanes * columns, columns, lanes, adjacent, body)


def row_value(k: KernelWriter, n: int, lanes: int) -> list[str]:
    """What the lanes of a row made of reduction n, as one value."""
    out: list[str] = combine_call(k, n) if lanes > 1 else []
    return [*out, *narrowed(k, n)]


def store(k: KernelWriter, i: int, done: list[int], lanes: int, stage: Stage, cache: RegisterCache | None) -> list[str]:
    """The store of step i, once a row or at every point of the text's part of it."""
    if not k.kernel.steps[i].inner:
        return outer_store(k, i, done, lanes, "row < p.outer_points" if stage.kind == "stores" else "")
    if cache is not None:
        return inner_store_cached(k, i, done, cache)
    return (
        inner_store(k, i, done, lanes, "from_part + lane", "end_part")
        if stage.kind == "stores"
        else inner_store(k, i, done, lanes, "lane", "p.inner_points")
    )


def vec4_helps(k: KernelWriter) -> bool:
    """Whether lanes can take four neighbours of a row at once."""
    if len(k.reduce) != 1 or not vec4_possible(k, k.reduce):
        return False
    for n in range(len(k.kernel.steps)):
        step = k.kernel.steps[n]
        if is_arg(step) or k.code.steps[n].pred is not None:
            return False
        if step.inner and (k.reduce[0].strides[step.target] != 1 or step.mode != "="):
            return False
    return True


# --- Reductions ------------------------------------------------------------------------------------


def reduction(k: KernelWriter, first: int, end: int, done: list[int], lanes: int, stage: Stage) -> list[str]:
    """One loop for the reductions first .. end - 1."""
    out: list[str] = []
    formulas: list[Node | None] = []
    for n in range(first, end):
        formulas.extend([k.code.steps[n].pred, k.code.steps[n].body])
        kind = value_kind(k, n)
        red = k.kernel.steps[n].red
        if is_arg(k.kernel.steps[n]):
            out.append(f"var best{n}: {KIND_TYPES[kind]} = {start(k, red, kind)};")
            out.append(f"var {k.kernel.steps[n].name} = 0;")
        else:
            out.append(f"var {so_far(k, n)}: {KIND_TYPES[kind]} = {start(k, red, kind)};")
    out.extend(read_lines(k, formulas, done, "", True))
    chunks = chunked(k, first, end, lanes * stage.parts)
    step = f"{lanes}u"
    begin = "from_part + lane" if stage.kind == "parts" else "lane"
    stop = "end_part" if stage.kind == "parts" else "p.inner_points"
    if chunks:
        for n in range(first, end):
            if is_float_sum(k, n):
                out.append(f"var part{n} = 0.0;")
        out.append(f"for (var from_point = {begin}; from_point < {stop}; from_point += {lanes * CHUNK}u) {{")
        out.append(f"  let to_point = min(from_point + {lanes * CHUNK}u, {stop});")
        for n in range(first, end):
            if is_float_sum(k, n):
                out.append(f"  part{n} = 0.0;")
        out.append(f"  for (var inner = from_point; inner < to_point; inner += {step}) {{")
    else:
        out.append(f"for (var inner = {begin}; inner < {stop}; inner += {step}) {{")
    indent = "    " if chunks else "  "
    out.extend(decode(k, k.reduce, "inner", "inner", indent))
    inside = done[:]
    if len(k.wide) > 0:
        out.extend(vec4_reads(k, formulas, indent))
        inside.extend(k.wide)
        for lane in range(4):
            out.append(f"{indent}{{")
            out.extend(vec4_values(k, formulas, lane, indent + "  "))
            for n in range(first, end):
                out.extend(accumulate(k, n, inside, indent + "  ", chunks))
            out.append(f"{indent}}}")
    else:
        for n in range(first, end):
            out.extend(accumulate(k, n, inside, indent, chunks))
    if chunks:
        out.append("  }")
        for n in range(first, end):
            if is_float_sum(k, n):
                out.append(f"  {k.kernel.steps[n].name} += part{n};")
    out.append("}")
    return out


def reduction_cached(k: KernelWriter, first: int, end: int, done: list[int], cache: RegisterCache) -> list[str]:
    """The reductions first .. end - 1 over what is in registers."""
    out: list[str] = []
    formulas: list[Node | None] = []
    for n in range(first, end):
        sum_kind: str = value_kind(k, n)
        formulas.append(k.code.steps[n].body)
        out.append(f"var {so_far(k, n)}: {KIND_TYPES[sum_kind]} = {start(k, k.kernel.steps[n].red, sum_kind)};")
    out.extend(read_lines(k, formulas, done, "", True))
    for n in range(first, end):
        kind: str = value_kind(k, n)
        step = k.kernel.steps[n]
        out.extend(
            cache_pass(k, cache, n, so_far(k, n), joined(k, step.red, kind, so_far(k, n), "value"), KIND_TYPES[kind])
        )
    return out


def chunked(k: KernelWriter, first: int, end: int, lanes: int) -> bool:
    """Whether a lane adds so many numbers that they must be added in chunks."""
    if points(k.reduce) <= lanes * CHUNK * 2:
        return False
    for n in range(first, end):
        if is_float_sum(k, n):
            return True
    return False


# --- In several launches ---------------------------------------------------------------------------


def stages_of(k: KernelWriter, parts: int) -> list[Stage]:
    """The launches for rows in so many parts."""
    out: list[Stage] = []
    last = "finish"
    n = 0
    while n < len(k.kernel.steps):
        end = n + 1
        if k.kernel.steps[n].kind == "reduce":
            end = side_by_side(k, n)
            out.append(Stage("parts", parts, n, end))
        elif k.kernel.steps[n].inner:
            last = "stores"
        n = end
    return [*out, Stage(last, parts, 0, 0)]


def tree_possible(k: KernelWriter) -> bool:
    """Whether rows can be reduced in parts: every reduction is known before anything is stored at every point, and
    what is stored so is not read where other parts still read it."""
    reductions = 0
    inner = False
    for n in range(len(k.kernel.steps)):
        step = k.kernel.steps[n]
        if step.kind != "reduce":
            inner = inner or step.inner
            continue
        if inner or is_arg(step):
            return False
        for m in range(n):
            used = uses_result(k.code.steps[n].body, m) or uses_result(k.code.steps[n].pred, m)
            if used and k.kernel.steps[m].kind != "reduce":
                return False
        reductions += 1
    if inner:
        bodies: list[Node | None] = [code.body for code in k.code.steps]
        read = [k.kernel.accesses[n].slot for n in needed(k, bodies)]
        if any(step.target >= 0 and k.kernel.accesses[step.target].slot in read for step in k.kernel.steps):
            return False
    return reductions > 0


def staged_accesses(k: KernelWriter, stage: Stage) -> list[int]:
    """The accesses that the launch of a stage binds."""
    formulas: list[Node | None] = []
    targets: list[int] = []
    for n in range(len(k.kernel.steps)):
        step = k.kernel.steps[n]
        if stage.kind == "parts" and n >= stage.first and n < stage.end:
            formulas.extend([k.code.steps[n].body, k.code.steps[n].pred])
        if stage.kind != "parts" and step.kind != "reduce":
            formulas.extend([k.code.steps[n].body, k.code.steps[n].pred, *k.code.accesses[step.target].index])
            targets.append(step.target)
    return needed(k, formulas) + targets


def joined_first(k: KernelWriter, stage: Stage) -> list[int]:
    """The reductions of earlier launches whose values a stage needs."""
    formulas: list[StepCode] = []
    for n in range(len(k.kernel.steps)):
        if stage.kind == "parts" and n >= stage.first and n < stage.end:
            formulas.append(k.code.steps[n])
        if stage.kind != "parts" and k.kernel.steps[n].kind != "reduce":
            formulas.append(k.code.steps[n])
    out: list[int] = []
    for n in range(len(k.kernel.steps)):
        if k.kernel.steps[n].kind == "reduce" and any(
            uses_result(code.body, n) or uses_result(code.pred, n) for code in formulas
        ):
            out.append(n)
    return out


def parts_stored(k: KernelWriter, first: int, end: int, lanes: int) -> list[str]:
    """The values of a part, into scratch memory."""
    out = ["if (live && lane == 0u) {" if lanes > 1 else "if (live) {"]
    for n in range(first, end):
        name = so_far(k, n)
        kind: str = value_kind(k, n)
        bits = (
            [f"select(0u, 1u, {name})"]
            if kind == "b"
            else [f"{name}.x", f"{name}.y"]
            if kind == "w"
            else [f"bitcast<u32>({name})"]
        )
        for half in range(len(bits)):
            out.append(f"  {part_at(k, n, half, 'row % p.outer_points', 'row / p.outer_points')} = {bits[half]};")
    out.append("}")
    return out


def parts_joined(k: KernelWriter, n: int, lanes: int, divided: bool) -> list[str]:
    """A loop over the parts of a row: reduction n of them.  divided: whether the text's rows are parts themselves."""
    kind: str = value_kind(k, n)
    row = "row % p.outer_points" if divided else "row"
    text = part_at(k, n, 0, row, "part")
    value = (
        f"({text} != 0u)"
        if kind == "b"
        else f"vec2<u32>({text}, {part_at(k, n, 1, row, 'part')})"
        if kind == "w"
        else f"bitcast<{KIND_TYPES[kind]}>({text})"
    )
    red = k.kernel.steps[n].red
    return [
        f"var {so_far(k, n)}: {KIND_TYPES[kind]} = {start(k, red, kind)};",
        f"for (var part = lane; part < p.parts; part += {lanes}u) {{",
        f"  {so_far(k, n)} = {joined(k, red, kind, so_far(k, n), value)};",
        "}",
    ]


def part_at(k: KernelWriter, n: int, half: int, row: str, part: str) -> str:
    """Where scratch memory holds what reduction n made of a part: that of neighbouring rows side by side.  half: 1 the
    upper one of 64 bits."""
    return f"scratch[({n + half * len(k.kernel.steps)}u * p.parts + {part}) * p.outer_points + {row}]"
