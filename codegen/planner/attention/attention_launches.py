"""The launches of an attention and of its gradient, where kernels of a program are that together and a schedule asks
for it."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Call, Kernel, Launch, Op, Schedule
from ..launches import check_bindings, launch, title
from ..lines import points, resolve, spread_out
from ..render import attention_kernel, pair_facts_kernel, pair_sums_kernel, pair_tiles_kernel, prelude_text
from ..strategies.attention import ROWS, accesses_of, attention_text, block_rows, blocks_possible, lines_of
from ..strategies.pair_blocks import (
    pair_accesses,
    pair_facts_text,
    pair_sum_text,
    pair_tile,
    row_blocks,
)
from ..strategies.pair_lines import pair_lines
from ..strategies.pair_tiles import MOST_SUMS, TILE_ROWS, pair_tile_text, tile_blocks, tiles_possible, worth_tiles
from ..strategy import chosen, number
from ..writer import MOST_BINDINGS, Facts, bind_only, new_kernel
from .attention_gradient import AttentionGradient, PairKernel, gradient_of, together
from .attention_kernels import Attention
from .pair_formulas import with_steps


def attention_launch(op: Op, a: Attention, call: Call, facts: Facts, rules: list[Schedule]) -> Launch | None:
    """Kernels that are an attention as one; None where no schedule asks for that, or the device lacks memory."""
    r = resolve(a.kernel, call)
    lines = lines_of(a, call, r)
    given = {
        "M": float(points(lines.queries)),
        "N": float(points(lines.keys)),
        "K": float(points(lines.depth)),
        "columns": float(points(lines.columns)),
        "batch": float(points(lines.batch)),
        "software": 1.0 if facts.software else 0.0,
    }
    rule = chosen(op, a.kernel, "attention", rules, given, call.env)
    if rule is None or not blocks_possible(lines, facts) or points(r.outer) * points(r.reduce) == 0:
        return None
    k = new_kernel(op, a.kernel, call, facts, r)
    bind_only(k, accesses_of(k, a))
    check_bindings(k)
    strategy = f"attention, {ROWS} queries of a workgroup"
    text = attention_text(k, a, lines, title(k, strategy))
    text.helpers = prelude_text(k.helpers, op.routines)
    made = launch(k, strategy, attention_kernel(text), points(lines.batch) * block_rows(lines))
    made.together = a.count
    return made


@dataclass
class GradientLaunches:
    """before: kernels that run first, each by itself."""

    before: list[Kernel]
    launches: list[Launch]


def gradient_launches(
    op: Op, kernels: list[Kernel], call: Call, facts: Facts, rules: list[Schedule]
) -> GradientLaunches | None:
    """All kernels of a program as the gradient of an attention; None where they are none, where no schedule asks for it
    or where the device lacks memory."""
    a = gradient_of(op, kernels) if len(rules) > 0 and call.dtype == "float32" else None
    if a is None:
        return None
    out: list[Launch] = []
    for group in groups_of(a, call):
        one = pair_launch(op, a, group[0] if len(group) == 1 else together(a, group), call, facts, rules)
        singly = (
            [one] if one is not None or len(group) == 1 else [pair_launch(op, a, x, call, facts, rules) for x in group]
        )
        for single in singly:
            if single is None:
                return None
            out.append(single)
    out[0].together = len(kernels) - len(a.pairs.before)
    return GradientLaunches(a.pairs.before, out)


def groups_of(a: AttentionGradient, call: Call) -> list[list[PairKernel]]:
    """The work of launches; sums that one launch might make stand together: both over queries or both over keys, with
    as many columns."""
    out: list[list[PairKernel]] = []
    for made in a.launches:
        last = out[len(out) - 1][0] if len(out) > 0 else made
        if len(last.sums) > 0 and last.sums[0].by_query == made.sums[0].by_query:
            if columns_of(a, made, call) == columns_of(a, last, call) and len(out[len(out) - 1]) < MOST_SUMS:
                out[len(out) - 1].append(made)
                continue
        out.append([made])
    return out


def columns_of(a: AttentionGradient, made: PairKernel, call: Call) -> int:
    return points(pair_lines(a.pairs, made, call, resolve(made.kernel, call)).columns)


def pair_launch(
    op: Op, a: AttentionGradient, made: PairKernel, call: Call, facts: Facts, rules: list[Schedule]
) -> Launch | None:
    """One of them."""
    r = resolve(made.kernel, call)
    lines = pair_lines(a.pairs, made, call, r)
    by_query = len(made.sums) == 0 or made.sums[0].by_query
    given = {
        "M": float(points(lines.rows if by_query else lines.others)),
        "N": float(points(lines.others if by_query else lines.rows)),
        "batch": float(points(lines.batch)),
        "software": 1.0 if facts.software else 0.0,
    }
    rule = chosen(op, made.kernel, "attention_gradient", rules, given, call.env)
    if rule is None or points(r.outer) * points(r.reduce) == 0:
        return None
    # A target that lacks some of the batch is a sum over these, too.
    for step in made.kernel.steps:
        stored = with_steps(made.kernel, [step], made.kernel.floating)
        if step.target >= 0 and made.kernel.spread and len(spread_out(stored, r).reduce) > len(r.reduce):
            return None
    in_tiles = worth_tiles(made, lines) and tiles_possible(a, made, lines, facts)
    if len(made.sums) > 1 and not in_tiles:
        return None
    tile = pair_tile(lines, number(rule, "rows"), number(rule, "depth"), facts)
    if tile is None:
        return None
    k = new_kernel(op, made.kernel, call, facts, r)
    bind_only(k, pair_accesses(k, a, made))
    if len(k.slots) > MOST_BINDINGS:
        return None  # what is known of each query, and a mask besides
    check_bindings(k)
    strategy = f"pairs, {TILE_ROWS if in_tiles else tile.rows} {'queries' if by_query else 'keys'} of a workgroup"
    if in_tiles:
        tiles_text = pair_tile_text(k, a, made, lines, title(k, strategy))
        tiles_text.helpers = prelude_text(k.helpers, op.routines)
        return launch(k, strategy, pair_tiles_kernel(tiles_text), points(lines.batch) * tile_blocks(lines))
    if len(made.sums) == 0:
        facts_text = pair_facts_text(k, a, made, lines, tile, title(k, strategy))
        facts_text.helpers = prelude_text(k.helpers, op.routines)
        return launch(k, strategy, pair_facts_kernel(facts_text), points(lines.batch) * row_blocks(lines, tile))
    text = pair_sum_text(k, a, made, made.sums[0], lines, tile, title(k, strategy))
    text.helpers = prelude_text(k.helpers, op.routines)
    return launch(k, strategy, pair_sums_kernel(text), points(lines.batch) * row_blocks(lines, tile))
