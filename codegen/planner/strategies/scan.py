"""The `scan` strategies: a reduction that stores its value at every point on the way.

Plain: a thread goes along a row.  In blocks: the lanes of a workgroup each take a run of the row, reduce it,
take over what the lanes before them have, and go along their run a second time, storing."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.dtypes import compute_class
from ...data.model import Step, is_arg
from ...data.nodes import Node
from ..conversion import KIND_TYPES
from ..lines import points
from ..memory import read_lines, store_lines
from ..positions import decode
from ..printed import operand, printed
from ..writer import PLAIN_THREADS, KernelWriter, declarations, uniform
from .reduction_values import better, joined, narrowed, so_far, start, value_kind


@dataclass
class ScanText:
    """What scan.wgsl.j2 shows.  first: statements before the runs; run, stores: at each point; init, share: the lanes'
    values."""

    title: str
    declarations: list[str]
    helpers: str
    threads: int
    lanes: int
    first: list[str]
    starts: list[str]
    decode: list[str]
    add: list[str]
    stores: list[str]
    combines: list[str]
    shared: list[str]


def block_possible(k: KernelWriter) -> bool:
    """Whether lanes can take runs: argmax has two values to hand over, and goes plainly."""
    for step in k.kernel.steps:
        if is_arg(step):
            return False
    return True


def scan_text(k: KernelWriter, title: str, lanes: int) -> ScanText:
    """lanes: threads for each row; 1 is the plain strategy."""
    threads = lanes if lanes > 1 else PLAIN_THREADS
    uniform(k, "rows", "u", points(k.outer))
    uniform(k, "inner_points", "u", points(k.reduce))
    uniform(k, "run", "u", (points(k.reduce) + lanes - 1) // lanes)
    first = decode(k, k.outer, "outer", "row", "")
    formulas: list[Node | None] = []
    for code in k.code.steps:
        formulas.extend([code.pred, code.body])
    done: list[int] = []
    first.extend(read_lines(k, formulas, done, "", True))
    point = decode(k, k.reduce, "inner", "p.inner_points - 1u - inner" if k.kernel.reverse else "inner", "")
    inside = done[:]
    starts: list[str] = []
    add: list[str] = []
    combines: list[str] = []
    shared: list[str] = []
    for n in range(len(k.kernel.steps)):
        step: Step = k.kernel.steps[n]
        if step.kind != "reduce":
            continue
        kind: str = value_kind(k, n)
        add.extend(read_lines(k, [k.code.steps[n].body], inside, "", False))
        if is_arg(step):
            starts.append(f"var best{n}: {KIND_TYPES[kind]} = {start(k, step.red, kind)};")
            starts.append(f"var {step.name} = 0;")
            add.append(f"let value{n} = {printed(k.code.steps[n].body)};")
            wins = better(k, step.red, kind, f"value{n}", f"best{n}")
            same = f"value{n} == best{n}"
            if kind == "f":
                same = f"({same} || (is_nan(value{n}) && is_nan(best{n})))"
            add.append(f"if ({wins} || {same}) {{ best{n} = value{n}; {step.name} = i32(inner); }}")
        else:
            starts.append(f"var {so_far(k, n)}: {KIND_TYPES[kind]} = {start(k, step.red, kind)};")
            add.append(f"{so_far(k, n)} = {joined(k, step.red, kind, so_far(k, n), operand(k.code.steps[n].body))};")
            shared.append(f"var<workgroup> shared{n}: array<{KIND_TYPES[kind]}, {threads}>;")
            combines.extend(prefix(k, n, lanes, step, kind))
    stores: list[str] = []
    for n in range(len(k.kernel.steps)):
        store: Step = k.kernel.steps[n]
        if store.kind == "reduce":
            stores.extend(narrowed(k, n))
            continue
        code = k.code.steps[n]
        stores.extend(read_lines(k, [code.body], inside, "", False))
        stored_kind: str = store.value if store.value != "T" else compute_class(k.call.dtype)
        stores.extend(store_lines(k, store.target, code.body, stored_kind, store.mode, ""))
    return ScanText(
        title,
        declarations(k),
        "",
        threads,
        lanes,
        first,
        starts,
        point,
        add,
        stores,
        combines,
        shared if lanes > 1 else [],
    )


def prefix(k: KernelWriter, n: int, lanes: int, step: Step, kind: str) -> list[str]:
    """Makes a lane's value that of all lanes before it."""
    name = f"shared{n}"
    both = joined(k, step.red, kind, f"{name}[lane - gap]", "own")
    own = so_far(k, n)
    return [
        f"{name}[lane] = {own};",
        "workgroupBarrier();",
        f"for (var gap = 1u; gap < {lanes}u; gap *= 2u) {{",
        f"  var own = {name}[lane];",
        f"  if (lane >= gap) {{ own = {both}; }}",
        "  workgroupBarrier();",
        f"  {name}[lane] = own;",
        "  workgroupBarrier();",
        "}",
        f"{own} = {start(k, step.red, kind)};",
        f"if (lane > 0u) {{ {own} = {name}[lane - 1u]; }}",
    ]
