"""Kernels with reductions as launches: one, or several where few long rows would leave a device idle."""

from __future__ import annotations

from ..data.dtypes import compute_class
from ..data.model import Launch, Schedule
from .launches import launch, title
from .lines import Resolved, own_lines, points
from .render import prelude_text, row_kernel, window_kernel
from .strategies.reduction import Stage, reduction_text, staged_accesses, stages_of, tree_possible, vec4_helps
from .strategies.unrolled import Unrolled, unrolled_of, unrolled_text
from .strategies.window import Window, reuse, window_of, workgroups
from .strategies.window_text import window_text
from .strategy import chosen, number, parts_of, power_of_two, reduction_shape, threads_of, unit
from .writer import MOST_BINDINGS, KernelWriter, bind_only, new_kernel

# The tile of a window's kernel by which its reuse is judged, before a schedule says what it will be: as ops/schedule.op
# has it, whose threshold of three (below it workgroup memory costs more than it saves) is one for such tiles.
WINDOW_THREADS = 256
WINDOW_ROWS = 4
FINISHING = 256  # lanes that add the parts of a row up: a workgroup that every device has


def row_launches(k: KernelWriter, lines: Resolved, rules: list[Schedule]) -> list[Launch]:
    """One launch, or two where few long rows would leave a device idle."""
    rows = points(k.outer)
    inner = points(k.reduce)
    window = window_of(k, min(WINDOW_THREADS, k.facts.max_threads), WINDOW_ROWS)
    facts = {
        "outer": float(rows),
        "inner": float(inner),
        "unit": 1.0 if unit(k) else 0.0,
        "vector": 0.0,
        "window": reuse(k, window) if window is not None else 0.0,
        "software": 1.0 if k.facts.software else 0.0,
    }
    rule = chosen(k.op, k.kernel, "reduce", rules, facts, k.call.env)
    if rule is not None and rule.strategy == "window":
        window = window_of(k, threads_of(rule, k.facts), number(rule, "rows"))
        if window is not None:
            return [window_launch(k, window)]
        rule = None
    unrolled = None if rule is None else unrolled_of(k, threads_of(rule, k.facts))
    if rule is not None and unrolled is not None:
        return [unrolled_launch(k, unrolled, threads_of(rule, k.facts) // unrolled.lanes)]
    parts = 1 if rule is None or not tree_possible(k) else parts_of(rows, inner, unit(k))
    if parts > 1:
        launches = part_launches(k, lines, rule, parts)
        if len(launches) > 0:
            return launches
    return [row_launch(k, reduction_shape(k, rule, k.facts, 1, vec4_helps(k)), Stage("whole", 1, 0, 0))]


def part_launches(k: KernelWriter, lines: Resolved, rule: Schedule | None, parts: int) -> list[Launch]:
    """Rows in so many parts, whose launches share scratch memory; none where a launch would bind too many tensors."""
    out: list[Launch] = []
    scratch = points(k.outer) * parts * len(k.kernel.steps) * (2 if compute_class(k.call.dtype) == "i" else 1)
    for stage in stages_of(k, parts):
        own = new_kernel(k.op, k.kernel, k.call, k.facts, own_lines(lines))
        bind_only(own, staged_accesses(own, stage))
        if len(own.slots) == MOST_BINDINGS:
            return []
        shape = (
            [min(power_of_two(parts), FINISHING), 1, 1]
            if stage.kind == "finish"
            else reduction_shape(own, rule, k.facts, parts, vec4_helps(own))
        )
        made = row_launch(own, shape, stage)
        made.scratch = scratch
        out.append(made)
    return out


def row_launch(k: KernelWriter, shape: list[int], stage: Stage) -> Launch:
    """shape: lanes, rows to a workgroup, whether lanes are neighbours."""
    strategy = f"reduce, {shape[0]} lanes for each of {shape[1]} rows"
    if stage.kind == "parts":
        strategy = f"tree, {stage.parts} parts of each row; {shape[0]} lanes"
    if stage.kind == "finish":
        strategy = f"tree, the parts of each row; {shape[0]} lanes"
    if stage.kind == "stores":
        strategy = f"tree, stores at {stage.parts} parts of each row; {shape[0]} lanes"
    text = reduction_text(k, title(k, strategy), shape[0], shape[1], shape[2] == 1, stage)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    divided = stage.kind == "parts" or stage.kind == "stores"
    count = points(k.outer) * (stage.parts if divided else 1)
    return launch(k, strategy, row_kernel(text), (count + shape[1] - 1) // shape[1])


def unrolled_launch(k: KernelWriter, unrolled: Unrolled, columns: int) -> Launch:
    """columns: times so many rows as a thread has are a workgroup's."""
    strategy = f"reduce, unrolled, {unrolled.lanes} lanes for {unrolled.rows} of {columns * unrolled.rows} rows"
    text = unrolled_text(k, title(k, strategy), unrolled, columns)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    count = points(k.outer) // unrolled.rows
    return launch(k, strategy, row_kernel(text), (count + columns - 1) // columns)


def window_launch(k: KernelWriter, window: Window) -> Launch:
    tile = window.tile
    strategy = f"window, {tile.down * tile.rows} by {tile.across} points of a workgroup"
    text = window_text(k, window, title(k, strategy))
    text.helpers = prelude_text(k.helpers, k.op.routines)
    return launch(k, strategy, window_kernel(text), workgroups(window))
