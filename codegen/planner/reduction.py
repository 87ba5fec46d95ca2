"""The `reduce` strategies: reductions, then stores, over rows.

A workgroup takes `columns` rows with `lanes` threads for each.  Lanes that lie next to each other walk along
the reduction (rows of neighbouring elements); columns that lie next to each other walk along the rows
(reductions over an outer axis).  With one lane a thread does a row alone: the plain strategy.

Few long rows are reduced in two launches (`tree`): the first reduces parts of each row into scratch memory,
the second the parts.  A `Stage` says which of them a text is.

Where a row is a few vec4s for each lane, all of it is read at the start and kept in registers (register_cache.py):
several reads are under way at once, and passes after the first read nothing.  Other rows are read in loops, once for
each pass."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.dtypes import compute_class
from ..data.model import is_arg
from ..data.nodes import Node, uses_result
from .common import common
from .conversion import KIND_TYPES
from .lines import points
from .map import step_kind
from .memory import read_lines
from .positions import decode
from .printed import operand, printed
from .reduction_stores import inner_store, inner_store_cached, outer_store
from .register_cache import RegisterCache, cache_pass, cache_reads, register_cache_of
from .vec4 import take_vec4, vec4_possible, vec4_reads, vec4_values
from .writer import KernelWriter, bind_memory, declarations, is_wide, uniform, use

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
    """kind: "whole" everything at once, "parts" reduces each of `parts` parts of a row, "finish" those to the row's
    value."""

    kind: str
    parts: int


def reduction_text(
    k: KernelWriter, title: str, lanes: int, columns: int, adjacent: bool, stage: Stage
) -> ReductionText:
    """The text for a kernel with reductions: lanes * columns threads in a workgroup."""
    parts = stage.parts if stage.kind == "parts" else 1
    if adjacent and stage.kind != "finish" and vec4_helps(k):
        take_vec4(k, k.reduce)
    cache: RegisterCache | None = register_cache_of(k, lanes) if stage.kind == "whole" and len(k.wide) > 0 else None
    uniform(k, "rows", "u", points(k.outer) * parts)
    uniform(k, "inner_points", "u", points(k.reduce))
    if stage.kind != "whole":
        bind_memory(k, -1, "u32")
        uniform(k, "parts", "u", stage.parts)
        uniform(k, "outer_points", "u", points(k.outer))
        uniform(k, "run", "u", (points(k.reduce) + stage.parts - 1) // stage.parts)
    body = decode(k, k.outer, "outer", "row" if parts == 1 else "row % p.outer_points", "")
    if parts > 1:
        body.append("let from_part = row / p.outer_points * p.run;")
        body.append("let end_part = min(from_part + p.run, p.inner_points);")
    combines: list[str] = []
    done: list[int] = []
    if cache is not None:
        body.extend(cache_reads(k, cache))
    i = 0
    while i < len(k.kernel.steps):
        step = k.kernel.steps[i]
        if step.kind == "reduce":
            end = i + 1
            while end < len(k.kernel.steps) and k.kernel.steps[end].kind == "reduce" and independent(k, i, end):
                end += 1
            if cache is not None:
                body.extend(reduction_cached(k, i, end, done, cache))
            else:
                body.extend(
                    parts_joined(k, i, end, lanes)
                    if stage.kind == "finish"
                    else reduction(k, i, end, done, lanes, stage)
                )
            for n in range(i, end):
                if lanes > 1:
                    body.extend(combine_call(k, n))
                if lanes > 1:
                    combines.extend(combine(k, n, lanes, columns, adjacent))
                if stage.kind != "parts":
                    body.extend(narrowed(k, n))
            if stage.kind == "parts":
                body.extend(parts_stored(k, i, end, lanes))
            i = end
        elif stage.kind == "parts":
            i += 1
        else:
            if not step.inner:
                body.extend(outer_store(k, i, done, lanes))
            else:
                body.extend(inner_store(k, i, done, lanes) if cache is None else inner_store_cached(k, i, done, cache))
            i += 1
    return ReductionText(title, declarations(k), "", combines, lanes * columns, columns, lanes, adjacent, body)


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


def independent(k: KernelWriter, first: int, end: int) -> bool:
    """Whether the steps from `first` on are reductions whose values step `end` does not use, so that they share a
    loop."""
    for n in range(first, end):
        if k.kernel.steps[n].kind != "reduce":
            return False
        if uses_result(k.code.steps[end].body, n) or uses_result(k.code.steps[end].pred, n):
            return False
    return True


# --- Reductions ------------------------------------------------------------------------------------


def value_kind(k: KernelWriter, n: int) -> str:
    """The kind of what step n compares or adds: argmax compares numbers and answers a place."""
    step = k.kernel.steps[n]
    if is_wide(step, compute_class(k.call.dtype)):
        return "w"
    if not is_arg(step):
        return step_kind(k, step)
    if step.compared != "T":
        return step.compared
    return compute_class(k.call.dtype)


def so_far(k: KernelWriter, n: int) -> str:
    """The variable in which reduction n is under way."""
    name = k.kernel.steps[n].name
    return name + "_wide" if value_kind(k, n) == "w" else name


def narrowed(k: KernelWriter, n: int) -> list[str]:
    """The value of a reduction that was kept in 64 bits, once it is known: where it does not fit, the device is
    told."""
    if value_kind(k, n) != "w":
        return []
    return [f"let {k.kernel.steps[n].name} = narrow_checked({so_far(k, n)});"]


def start(k: KernelWriter, red: str, kind: str) -> str:
    """The value of a reduction over nothing."""
    if kind == "w":
        return "vec2<u32>(0u, 0u)" if red == "sum" else "vec2<u32>(1u, 0u)"
    if red == "sum":
        return "0.0" if kind == "f" else "0"
    if red == "prod":
        return "1.0" if kind == "f" else "1"
    if red == "any":
        return "false"
    if red == "all":
        return "true"
    least = red == "max" or red == "argmax"
    if kind == "f":
        uniform(k, "inf", "f", 1e308 * 10.0)
        return "-p.inf" if least else "p.inf"
    return "-2147483647 - 1" if least else "2147483647"


def joined(k: KernelWriter, red: str, kind: str, a: str, b: str) -> str:
    """Two values of a reduction as one."""
    if kind == "w":
        return f"{'wide_sum' if red == 'sum' else 'wide_times'}({a}, {b})"
    if red == "sum":
        return f"{a} + {b}"
    if red == "prod":
        return f"{a} * {b}"
    if red == "any":
        return f"{a} || {b}"
    if red == "all":
        return f"{a} && {b}"
    if kind == "i":
        return f"{red}({a}, {b})"
    use(k, "larger" if red == "max" else "smaller")
    return f"{'larger' if red == 'max' else 'smaller'}({a}, {b})"


def better(k: KernelWriter, red: str, kind: str, a: str, b: str) -> str:
    """Whether a value wins an argmax or argmin over the best so far; NaN wins over numbers."""
    order = f"{a} {'>' if red == 'argmax' else '<'} {b}"
    if kind != "f":
        return order
    use(k, "is_nan")
    return f"(!is_nan({b}) && ({order} || is_nan({a})))"


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


def is_float_sum(k: KernelWriter, n: int) -> bool:
    return k.kernel.steps[n].red == "sum" and value_kind(k, n) == "f"


def chunked(k: KernelWriter, first: int, end: int, lanes: int) -> bool:
    """Whether a lane adds so many numbers that they must be added in chunks."""
    if points(k.reduce) <= lanes * CHUNK * 2:
        return False
    for n in range(first, end):
        if is_float_sum(k, n):
            return True
    return False


def accumulate(k: KernelWriter, n: int, done: list[int], indent: str, chunks: bool) -> list[str]:
    step = k.kernel.steps[n]
    code = k.code.steps[n]
    kind = value_kind(k, n)
    out = read_lines(k, [code.pred], done, indent, False)
    inside = indent
    own = done
    if code.pred is not None:
        out.append(f"{indent}if ({printed(code.pred)}) {{")
        inside = indent + "  "
        own = done[:]
    out.extend(read_lines(k, [code.body], own, inside, False))
    value = common(code.body, f"common{n}")
    for line in value.lines:
        out.append(inside + line)
    if is_arg(step):
        out.append(f"{inside}let value{n} = {printed(value.formula)};")
        out.append(
            f"{inside}if ({better(k, step.red, kind, f'value{n}', f'best{n}')}) "
            f"{{ best{n} = value{n}; {step.name} = i32(inner); }}"
        )
    elif chunks and is_float_sum(k, n):
        out.append(f"{inside}part{n} += {printed(value.formula)};")
    else:
        out.append(f"{inside}{so_far(k, n)} = {joined(k, step.red, kind, so_far(k, n), operand(value.formula))};")
    if code.pred is not None:
        out.append(f"{indent}}}")
    return out


# --- In two stages ---------------------------------------------------------------------------------


def tree_possible(k: KernelWriter) -> bool:
    """Whether the kernel is reductions that do not use each other, and stores once a row."""
    count = 0
    for n in range(len(k.kernel.steps)):
        step = k.kernel.steps[n]
        if step.inner or is_arg(step):
            return False
        if step.kind != "reduce":
            continue
        if not independent(k, 0, n):
            return False
        count += 1
    return count > 0 and len(k.slots) < 8


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
            out.append(
                f"  scratch[({n + half * len(k.kernel.steps)}u * p.outer_points + row % p.outer_points) * p.parts + "
                f"row / p.outer_points] = {bits[half]};"
            )
    out.append("}")
    return out


def parts_joined(k: KernelWriter, first: int, end: int, lanes: int) -> list[str]:
    """A loop over the parts of a row."""
    out: list[str] = []
    for n in range(first, end):
        part_kind: str = value_kind(k, n)
        out.append(f"var {so_far(k, n)}: {KIND_TYPES[part_kind]} = {start(k, k.kernel.steps[n].red, part_kind)};")
    out.append(f"for (var part = lane; part < p.parts; part += {lanes}u) {{")
    for n in range(first, end):
        kind: str = value_kind(k, n)
        text = f"scratch[({n}u * p.rows + row) * p.parts + part]"
        upper = f"scratch[({n + len(k.kernel.steps)}u * p.rows + row) * p.parts + part]"
        value = (
            f"({text} != 0u)"
            if kind == "b"
            else f"vec2<u32>({text}, {upper})"
            if kind == "w"
            else f"bitcast<{KIND_TYPES[kind]}>({text})"
        )
        out.append(f"  {so_far(k, n)} = {joined(k, k.kernel.steps[n].red, kind, so_far(k, n), value)};")
    out.append("}")
    return out


# --- Across lanes ----------------------------------------------------------------------------------


def combine_call(k: KernelWriter, n: int) -> list[str]:
    step = k.kernel.steps[n]
    if is_arg(step):
        return [f"{step.name} = combine{n}(best{n}, {step.name}, local, lane);"]
    return [f"{so_far(k, n)} = combine{n}({so_far(k, n)}, local, lane);"]


def combine(k: KernelWriter, n: int, lanes: int, columns: int, adjacent: bool) -> list[str]:
    """A function that makes the values of a row's lanes one, in workgroup memory."""
    step = k.kernel.steps[n]
    kind = value_kind(k, n)
    type_ = KIND_TYPES[kind]
    gap = 1 if adjacent else columns
    far = "half" if gap == 1 else f"half * {gap}u"
    home = "local - lane" if gap == 1 else f"local - lane * {gap}u"
    out = [f"var<workgroup> shared{n}: array<{type_}, {lanes * columns}>;"]
    if is_arg(step):
        out.append(f"var<workgroup> places{n}: array<i32, {lanes * columns}>;")
        out.append(f"fn combine{n}(best: {type_}, where_: i32, local: u32, lane: u32) -> i32 {{")
        out.append(f"  places{n}[local] = where_;")
        out.append(f"  shared{n}[local] = best;")
    else:
        out.append(f"fn combine{n}(own: {type_}, local: u32, lane: u32) -> {type_} {{")
        out.append(f"  shared{n}[local] = own;")
    out.append("  workgroupBarrier();")
    out.append(f"  for (var half = {lanes // 2}u; half > 0u; half /= 2u) {{")
    if is_arg(step):
        out.append("    if (lane < half) {")
        out.append(f"      let a = shared{n}[local];")
        out.append(f"      let b = shared{n}[local + {far}];")
        out.append(f"      let i = places{n}[local];")
        out.append(f"      let j = places{n}[local + {far}];")
        same = "a == b"
        if kind == "f":
            use(k, "is_nan")
            same = "(a == b || (is_nan(a) && is_nan(b)))"
        out.append(
            f"      if ({better(k, step.red, kind, 'b', 'a')} || ({same} && j < i)) "
            f"{{ shared{n}[local] = b; places{n}[local] = j; }}"
        )
        out.append("    }")
    else:
        out.append(
            "    if (lane < half) "
            f"{{ shared{n}[local] = {joined(k, step.red, kind, f'shared{n}[local]', f'shared{n}[local + {far}]')}; }}"
        )
    out.append("    workgroupBarrier();")
    out.append("  }")
    out.append(f"  let total = {'places' if is_arg(step) else 'shared'}{n}[{home}];")
    out.append("  workgroupBarrier();")
    out.append("  return total;")
    out.append("}")
    return out
