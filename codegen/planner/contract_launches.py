"""The launches of a contraction in tiles: which tile, among how many workgroups its depth is divided, and the text."""

from __future__ import annotations

from ..data.model import Env, Launch, Schedule
from .contract import Product, product_of
from .launches import launch, title
from .lines import Resolved, points
from .render import interleaved_kernel, matrix_unit_kernel, prelude_text, tiled_kernel
from .row_launches import row_launch
from .strategies.interleaved import interleaved_text
from .strategies.matrix_units import matrix_unit_text, unit_parts, unit_tile, units_possible
from .strategies.reduction import Stage, staged_accesses, tree_possible
from .strategies.tile_memory import Tile
from .strategies.tiled import blocks, loads_wide, tiled_text
from .strategy import chosen, deep_neighbours, depth_parts, number, resident_tile, sliced_tile, software_tile, tile_of
from .tile_candidates import fits, named_tile
from .writer import MOST_BINDINGS, PLAIN_THREADS, KernelWriter, bind_only, bound_by, new_kernel


def contract_launches(k: KernelWriter, lines: Resolved, rules: list[Schedule]) -> list[Launch]:
    """The tiled launch, two where the depth is shared out; none where no schedule asks for it or the product does not
    split."""
    product = product_of(k)
    if product is None:
        return []
    rule = chosen(k.op, k.kernel, "contract", rules, contraction(k, product), k.call.env)
    if rule is None:
        return []
    software = k.facts.software
    in_units = rule.strategy != "exact_tile" and units_possible(k, product)
    wide = not software and not in_units and loads_wide(k, product)
    exact = rule.strategy == "exact_tile" and not software and fits(named_tile(rule), k.facts, wide)
    if in_units:
        tile = unit_tile(product, k.facts.max_shared)
    elif software:
        tile = software_tile(rule, product)
    else:
        tile = named_tile(rule) if exact else tile_of(rule, product)
    if wide and not exact:
        tile = sliced_tile(product, tile, k.facts.max_shared)
    k.outer = product.batch + product.rows + product.columns
    second = new_kernel(
        k.op, k.kernel, k.call, k.facts, Resolved(k.outer, lines.reduce, lines.offsets, lines.steps, lines.lengths)
    )
    # The first of two launches has the factors, the second what follows the sums; both have the memory between them.
    factors = product.left.accesses + product.right.accesses
    rest = staged_accesses(second, Stage("finish", 1, 0, 0))
    divisible = tree_possible(k) and max(bound_by(k, factors), bound_by(k, rest)) < MOST_BINDINGS
    parts = 1
    if divisible and in_units:
        parts = unit_parts(product, tile)
    elif divisible:
        parts = number(rule, "parts") if exact else depth_parts(product, tile, points(k.reduce), software)
    if parts == 1 and tile.slices == 1 and not software and not in_units and not exact:
        tile = resident_tile(product, tile, k.facts.max_shared)
    strategy = f"tiled_matmul, {tile.rows} by {tile.columns} sums in steps of {tile.depth}"
    if tile.slices > 1:
        strategy = f"{strategy}, {tile.slices} slices"
    if in_units:
        strategy = f"{strategy}, matrix units"
    if parts > 1:
        strategy = f"{strategy}, {parts} parts"
        bind_only(k, factors)
        bind_only(second, rest)
    name = title(k, strategy)
    if in_units:
        code = units_code(k, product, tile, name, parts)
    elif software:
        code = interleaved_code(k, product, tile, name, parts)
    else:
        code = tiled_code(k, product, tile, name, parts)
    first = launch(k, strategy, code, blocks(product, tile) * parts)
    if parts == 1:
        return [first]
    last = row_launch(second, [1, PLAIN_THREADS, 0], Stage("finish", parts, 0, 0))
    first.scratch = points(k.outer) * parts
    last.scratch = first.scratch
    return [first, last]


def contraction(k: KernelWriter, product: Product) -> Env:
    """The facts that schedules of contractions see."""
    return {
        "outer": float(points(k.outer)),
        "inner": float(points(k.reduce)),
        "M": float(points(product.rows)),
        "N": float(points(product.columns)),
        "K": float(points(k.reduce)),
        "batch": float(points(product.batch)),
        "unit": 1.0,
        "vector": 0.0,
        "left_deep": 1.0 if deep_neighbours(product, product.left) else 0.0,
        "right_deep": 1.0 if deep_neighbours(product, product.right) else 0.0,
    }


def tiled_code(k: KernelWriter, product: Product, tile: Tile, name: str, parts: int) -> str:
    text = tiled_text(k, product, tile, name, parts)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    return tiled_kernel(text)


def interleaved_code(k: KernelWriter, product: Product, tile: Tile, name: str, parts: int) -> str:
    text = interleaved_text(k, product, tile, name, parts)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    return interleaved_kernel(text)


def units_code(k: KernelWriter, product: Product, tile: Tile, name: str, parts: int) -> str:
    text = matrix_unit_text(k, product, tile, name, parts)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    return matrix_unit_kernel(text)
