"""The `row` strategies: reductions, then stores, over rows.

A workgroup takes `columns` rows with `lanes` threads for each.  Lanes that lie next to each other walk along
the reduction (rows of neighbouring elements); columns that lie next to each other walk along the rows
(reductions over an outer axis).  With one lane a thread does a row alone: the plain strategy."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import KIND_TYPES, Kernel, declarations, decode, mentions, read_lines, store_lines, use, word
from .lines import points
from .map import step_kind
from .model import Step, StepCode

CHUNK = 128                             # additions in a row before the sum is put aside: keeps float sums accurate


@dataclass
class RowText:
    """What row.wgsl.j2 shows."""
    title: str
    declarations: list[str]
    helpers: str
    combines: list[str]
    threads: int
    columns: int
    lanes: int
    adjacent: bool                      # neighbouring threads are lanes of one row
    body: list[str]


def row_text(k: Kernel, title: str, lanes: int, columns: int, adjacent: bool) -> RowText:
    """The text for a nest with reductions: lanes * columns threads in a workgroup."""
    word(k, "rows", "u", points(k.outer))
    word(k, "inner_points", "u", points(k.reduce))
    body = decode(k, k.outer, "outer", "row", "")
    combines: list[str] = []
    done: list[int] = []
    i = 0
    while i < len(k.nest.steps):
        step = k.nest.steps[i]
        if step.kind == "reduce":
            end = i + 1
            while end < len(k.nest.steps) and k.nest.steps[end].kind == "reduce" and independent(k, i, end): end += 1
            body.extend(reduction(k, i, end, done, lanes))
            for n in range(i, end):
                if lanes > 1: body.extend(combine_call(k, n))
                if lanes > 1: combines.extend(combine(k, n, lanes, columns, adjacent))
            i = end
        else:
            body.extend(inner_store(k, i, done, lanes) if step.inner else outer_store(k, i, done, lanes))
            i += 1
    return RowText(title, declarations(k), "", combines, lanes * columns, columns, lanes, adjacent, body)


def independent(k: Kernel, first: int, end: int) -> bool:
    """Whether step `end` uses no value of the steps from `first` on, so that they share a loop."""
    for n in range(first, end):
        name = k.nest.steps[n].name
        if mentions(k.code.steps[end].body, name) or mentions(k.code.steps[end].pred, name): return False
    return True


# --- Reductions ------------------------------------------------------------------------------------


def is_arg(step: Step) -> bool: return step.red == "argmax" or step.red == "argmin"


def value_kind(k: Kernel, n: int) -> str:
    """The kind of what step n compares or adds: argmax compares numbers and answers a place."""
    step = k.nest.steps[n]
    if not is_arg(step): return step_kind(k, step)
    return "f" if k.call.dtype.startswith("float") else "i"


def start(k: Kernel, red: str, kind: str) -> str:
    """The value of a reduction over nothing."""
    if red == "sum": return "0.0" if kind == "f" else "0"
    if red == "prod": return "1.0" if kind == "f" else "1"
    if red == "any": return "false"
    if red == "all": return "true"
    least = red == "max" or red == "argmax"
    if kind == "f":
        word(k, "inf", "f", 1e308 * 10.0)
        return "-p.inf" if least else "p.inf"
    return "-2147483647 - 1" if least else "2147483647"


def joined(k: Kernel, red: str, kind: str, a: str, b: str) -> str:
    """Two values of a reduction as one."""
    if red == "sum": return f"{a} + {b}"
    if red == "prod": return f"{a} * {b}"
    if red == "any": return f"{a} || {b}"
    if red == "all": return f"{a} && {b}"
    if kind == "i": return f"{red}({a}, {b})"
    use(k, "larger" if red == "max" else "smaller")
    return f"{'larger' if red == 'max' else 'smaller'}({a}, {b})"


def better(k: Kernel, red: str, kind: str, a: str, b: str) -> str:
    """Whether a value wins an argmax or argmin over the best so far; NaN wins over numbers."""
    order = f"{a} {'>' if red == 'argmax' else '<'} {b}"
    if kind != "f": return order
    use(k, "is_nan")
    return f"(!is_nan({b}) && ({order} || is_nan({a})))"


def reduction(k: Kernel, first: int, end: int, done: list[int], lanes: int) -> list[str]:
    """One loop for the reductions first .. end - 1."""
    out: list[str] = []
    texts: list[str] = []
    for n in range(first, end):
        texts.append(k.code.steps[n].pred)
        texts.append(k.code.steps[n].body)
        kind = value_kind(k, n)
        red = k.nest.steps[n].red
        if is_arg(k.nest.steps[n]):
            out.append(f"var best{n}: {KIND_TYPES[kind]} = {start(k, red, kind)};")
            out.append(f"var acc{n} = 0;".replace(f"acc{n}", k.nest.steps[n].name))
        else: out.append(f"var {k.nest.steps[n].name}: {KIND_TYPES[kind]} = {start(k, red, kind)};")
    out.extend(read_lines(k, texts, done, "", True))
    chunks = chunked(k, first, end, lanes)
    step = f"{lanes}u"
    if chunks:
        for n in range(first, end):
            if is_float_sum(k, n): out.append(f"var part{n} = 0.0;")
        out.append(f"for (var from_point = lane; from_point < p.inner_points; from_point += {lanes * CHUNK}u) {{")
        out.append(f"  let to_point = min(from_point + {lanes * CHUNK}u, p.inner_points);")
        for n in range(first, end):
            if is_float_sum(k, n): out.append(f"  part{n} = 0.0;")
        out.append(f"  for (var inner = from_point; inner < to_point; inner += {step}) {{")
    else: out.append(f"for (var inner = lane; inner < p.inner_points; inner += {step}) {{")
    indent = "    " if chunks else "  "
    out.extend(decode(k, k.reduce, "inner", "inner", indent))
    inside = done[:]
    for n in range(first, end): out.extend(accumulate(k, n, inside, indent, chunks))
    if chunks:
        out.append("  }")
        for n in range(first, end):
            if is_float_sum(k, n): out.append(f"  {k.nest.steps[n].name} += part{n};")
    out.append("}")
    return out


def is_float_sum(k: Kernel, n: int) -> bool: return k.nest.steps[n].red == "sum" and value_kind(k, n) == "f"


def chunked(k: Kernel, first: int, end: int, lanes: int) -> bool:
    """Whether a lane adds so many numbers that they must be added in chunks."""
    if points(k.reduce) <= lanes * CHUNK * 2: return False
    for n in range(first, end):
        if is_float_sum(k, n): return True
    return False


def accumulate(k: Kernel, n: int, done: list[int], indent: str, chunks: bool) -> list[str]:
    step = k.nest.steps[n]
    code = k.code.steps[n]
    kind = value_kind(k, n)
    out = read_lines(k, [code.pred], done, indent, False)
    inside = indent
    own = done
    if code.pred != "":
        out.append(f"{indent}if ({code.pred}) {{")
        inside = indent + "  "
        own = done[:]
    out.extend(read_lines(k, [code.body], own, inside, False))
    if is_arg(step):
        out.append(f"{inside}let value{n} = {code.body};")
        out.append(f"{inside}if ({better(k, step.red, kind, f'value{n}', f'best{n}')}) {{ best{n} = value{n}; {step.name} = i32(inner); }}")
    elif chunks and is_float_sum(k, n): out.append(f"{inside}part{n} += {code.body};")
    else: out.append(f"{inside}{step.name} = {joined(k, step.red, kind, step.name, code.body)};")
    if code.pred != "": out.append(f"{indent}}}")
    return out


# --- Across lanes ----------------------------------------------------------------------------------


def combine_call(k: Kernel, n: int) -> list[str]:
    step = k.nest.steps[n]
    if is_arg(step): return [f"{step.name} = combine{n}(best{n}, {step.name}, local, lane);"]
    return [f"{step.name} = combine{n}({step.name}, local, lane);"]


def combine(k: Kernel, n: int, lanes: int, columns: int, adjacent: bool) -> list[str]:
    """A function that makes the values of a row's lanes one, in workgroup memory."""
    step = k.nest.steps[n]
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
            same = "(a == b || is_nan(a) && is_nan(b))"
        out.append(f"      if ({better(k, step.red, kind, 'b', 'a')} || {same} && j < i) {{ shared{n}[local] = b; places{n}[local] = j; }}")
        out.append("    }")
    else: out.append(f"    if (lane < half) {{ shared{n}[local] = {joined(k, step.red, kind, f'shared{n}[local]', f'shared{n}[local + {far}]')}; }}")
    out.append("    workgroupBarrier();")
    out.append("  }")
    out.append(f"  let total = {'places' if is_arg(step) else 'shared'}{n}[{home}];")
    out.append("  workgroupBarrier();")
    out.append("  return total;")
    out.append("}")
    return out


# --- Stores ----------------------------------------------------------------------------------------


def outer_store(k: Kernel, i: int, done: list[int], lanes: int) -> list[str]:
    """A store once a row, by its first lane."""
    step = k.nest.steps[i]
    code = k.code.steps[i]
    out = read_lines(k, [code.body, code.pred, *k.code.accesses[step.target].index], done, "", True)
    text = code.body
    if step.name != "":
        out.append(f"let {step.name} = {text};")
        text = step.name
    here = "live" if lanes == 1 else "live && lane == 0u"
    if code.pred != "": here = f"{here} && {code.pred}"
    out.append(f"if ({here}) {{")
    out.extend(store_lines(k, step.target, text, step_kind(k, step), step.mode, "  "))
    out.append("}")
    return out


def inner_store(k: Kernel, i: int, done: list[int], lanes: int) -> list[str]:
    """A store at every point of the reduced lines as well."""
    step = k.nest.steps[i]
    code = k.code.steps[i]
    texts = [code.pred, code.body, *k.code.accesses[step.target].index]
    out = read_lines(k, texts, done, "", True)
    out.append("if (live) {")
    out.append(f"  for (var inner = lane; inner < p.inner_points; inner += {lanes}u) {{")
    out.extend(decode(k, k.reduce, "inner", "inner", "    "))
    inside = done[:]
    out.extend(read_lines(k, [code.pred], inside, "    ", False))
    indent = "    "
    if code.pred != "":
        out.append(f"    if ({code.pred}) {{")
        indent = "      "
    out.extend(read_lines(k, texts, inside, indent, False))
    out.extend(store_lines(k, step.target, code.body, step_kind(k, step), step.mode, indent))
    if code.pred != "": out.append("    }")
    out.append("  }")
    out.append("}")
    return out
