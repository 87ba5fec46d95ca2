"""Two sums over pairs of the same products in a launch, with all features of a block at once.

A workgroup keeps a block of rows, queries or keys, and goes through the others in blocks.  Tiles hold whole rows of
features, so that a tensor whose products make the weights is also what the weights are for without being loaded again,
and few barriers stand between many products: of keys and values, 4.0 ms where two launches took 4.8 (an H200, 64 heads
of 2048 by 64 numbers).  One sum alone of more than 32 columns is pair_blocks.py's, which is an eighth faster there,
and so is what needs more memory or registers than this."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Code
from ...data.nodes import Element
from ..attention.attention_gradient import AttentionGradient, PairKernel, vanishes_later
from ..attention.pair_formulas import with_steps
from ..contract import Factor, Product
from ..lines import Line, points
from ..writer import Facts, KernelWriter, declarations, infinite, uniform
from .pair_blocks import batch_names, uses_product
from .pair_lines import Ahead, PairLines, ahead_of, other_variables, pair_function, pair_places, row_variables
from .tile_memory import WIDE, Side, Tile, pieces
from .tiled import Stores, side_of, stores_of
from .tiled_lines import split_lines
from .tiled_loads import Load, loads_of
from .tiled_places import power_from

# A thread has four rows and four others, so that 16 products cost eight vec4s of features; 128 threads of 150 numbers
# each are three workgroups for a processor of an H200, whose memory of 32 KiB every desktop GPU has.
TILE_ROWS, TILE_OTHERS = 64, 32
TILE_THREADS = 128
# Vec4s of features in a round of the loop: keys and values take 2.92 ms, 3.10 with two, 3.25 with one (an H200).
TOGETHER = 4
BESIDE = 8  # threads side by side, each with every eighth of the others and of the vec4s of columns
MOST_TILE_COLUMNS = 64  # of a sum: two vec4s for each of a thread's rows
MOST_SUMS = 2
# Columns up to which one sum alone is made so, too: with what its queries need 1.5 ms where pair_blocks.py's took 1.7
# (an H200, 32 heads of 2048 by 32 numbers).
ALONE_COLUMNS = 32
VEC4_BYTES = 16  # of workgroup memory


@dataclass
class OtherTile:
    """Others with all their features.  access: what it holds; width: vec4s of each; loads: [] if a product loads it."""

    name: str
    access: int
    width: int
    loads: list[Load]


@dataclass
class TileProduct:
    """A product of features.  within: what the place of a vec4 is less than; steps: whole vec4s of features; rest:
    features of one more; left, right: the loads of its rows and others; next: the product after it, [] if none is."""

    number: int
    tile: str
    width: int
    within: int
    steps: int
    rest: int
    left: list[Load]
    right: list[Load]
    next: list[TileProduct]


@dataclass
class TileSum:
    """A sum.  part: the component of the weights; columns: vec4s of each of a thread's rows."""

    number: int
    part: str
    tile: str
    width: int
    columns: int
    stores: Stores


@dataclass
class PairTileText:
    """What pair_tiles.wgsl.j2 shows.  together: vec4s of features in a round of the products' loop; left: vec4s of
    the rows' tile, where the weights lie, too; weights: the type of a pair's; row_ahead, other_ahead: what is read
    before the pairs; weight: statements of a function; result: of these; begin, until: of the others; last_first:
    whether the last rows have the most to do."""

    title: str
    declarations: list[str]
    helpers: str
    rows: int
    others: int
    threads: int
    together: int
    left: int
    tiles: list[OtherTile]
    rounds: int
    batch: list[str]
    batch_names: list[str]
    products: list[TileProduct]
    sums: list[TileSum]
    weights: str
    row_ahead: list[Ahead]
    other_ahead: list[Ahead]
    weight: list[str]
    result: str
    begin: str
    until: str
    last_first: bool


def tile_width(features: int) -> int:
    """The vec4s of a row of a tile: whole eights, among which they are rotated."""
    return (features + 4 * BESIDE - 1) // (4 * BESIDE) * BESIDE


def worth_tiles(made: PairKernel, lines: PairLines) -> bool:
    """Whether this is faster than a launch of pair_blocks.py for each sum, where it is possible."""
    return len(made.sums) > 1 or len(made.sums) == 1 and points(lines.columns) <= ALONE_COLUMNS


def tiles_possible(a: AttentionGradient, made: PairKernel, lines: PairLines, facts: Facts) -> bool:
    """Whether threads and registers do for this, and workgroup memory even if no two tiles are the same."""
    columns = points(lines.columns)
    if len(made.sums) > MOST_SUMS or columns > MOST_TILE_COLUMNS or facts.max_threads < TILE_THREADS:
        return False
    left = len(made.sums) * TILE_OTHERS * TILE_ROWS // 4
    others = 0
    for n in range(len(a.pairs.products)):
        if uses_product(made.formulas, n):
            width = tile_width(points(lines.depths[n]))
            left = max(left, TILE_ROWS * width)
            others += TILE_OTHERS * width
    if not all(loaded_by(a, made, lines, factor) >= 0 for factor in made.factors):
        others += TILE_OTHERS * tile_width(columns)
    return VEC4_BYTES * (left + others) <= facts.max_shared


def other_access(a: AttentionGradient, made: PairKernel, n: int) -> int:
    """A product's access to the others' features."""
    product = a.pairs.products[n]
    return product.key if made.sums[0].by_query else product.query


def loaded_by(a: AttentionGradient, made: PairKernel, lines: PairLines, factor: int) -> int:
    """The number of a product whose others are what a sum's weights are for; -1 if none is."""
    accesses = made.kernel.accesses
    for n in range(len(a.pairs.products)):
        access = other_access(a, made, n)
        if not uses_product(made.formulas, n) or accesses[access].slot != accesses[factor].slot:
            continue
        same = points(lines.depths[n]) == points(lines.columns) and len(lines.depths[n]) == 1
        for line in [*lines.batch, *lines.others]:
            same = same and line.strides[access] == line.strides[factor]
        if same and len(lines.columns) == 1 and lines.depths[n][0].strides[access] == lines.columns[0].strides[factor]:
            return n
    return -1


def whole_side(
    k: KernelWriter, lines: PairLines, name: str, flat: str, tile: str, access: int, own: list[Line], along: list[Line]
) -> Side:
    """Rows or others, along which a tile goes, with all their features."""
    factor = Factor([access], Element(access), None)
    width = tile_width(points(own))
    side = side_of(k, name, flat, Product(lines.batch, own, own, along, factor, factor), factor, own, 4 * width, BESIDE)
    side.tile = tile
    side.rotated = True
    return side


def whole_sides(k: KernelWriter, a: AttentionGradient, made: PairKernel, lines: PairLines) -> list[Side]:
    """The sides of each product that is used, then of the factors that no product loads."""
    out: list[Side] = []
    for n in range(len(a.pairs.products)):
        if not uses_product(made.formulas, n):
            continue
        product = a.pairs.products[n]
        left = product.query if made.sums[0].by_query else product.key
        features = lines.depths[n]
        out.append(whole_side(k, lines, f"left{n}_", f"feature{n}", "left_tile", left, features, lines.rows))
        right = other_access(a, made, n)
        out.append(whole_side(k, lines, f"right{n}_", f"feature{n}", f"tile{n}", right, features, lines.others))
    for factor in made.factors:
        if loaded_by(a, made, lines, factor) < 0:
            out.append(
                whole_side(
                    k, lines, f"factor{factor}_", "column", f"factor{factor}", factor, lines.columns, lines.others
                )
            )
    return out


def wide_sides(k: KernelWriter, a: AttentionGradient, made: PairKernel, lines: PairLines) -> list[Side]:
    """The same; four elements at once where all loads of a tensor take so many."""
    own = made.factors[:]
    for product in a.pairs.products:
        own.extend([product.query, product.key])
    k.wide = own
    slots = [
        k.kernel.accesses[side.factor.accesses[0]].slot
        for side in whole_sides(k, a, made, lines)
        if side.load not in WIDE
    ]
    k.wide = [n for n in own if k.kernel.accesses[n].slot not in slots]
    return whole_sides(k, a, made, lines)


def tile_loads(k: KernelWriter, side: Side, count: int, all_points: int, first: int) -> list[Load]:
    """The loads of a tile of so many points."""
    sizes = Tile(count, count, count, 4, 4)
    return loads_of(k, [side], sizes, TILE_THREADS, "f", all_points % count != 0, first)


def load_rounds(side: Side, count: int) -> int:
    return (pieces(side, Tile(count, count, count, 4, 4)) + TILE_THREADS - 1) // TILE_THREADS


def tile_blocks(lines: PairLines) -> int:
    """Blocks of rows of one of the batch."""
    return (points(lines.rows) + TILE_ROWS - 1) // TILE_ROWS


def sum_stores(k: KernelWriter, made: PairKernel, lines: PairLines, n: int) -> Stores:
    """The statements for one of the sums: as if the kernel had no other."""
    kernel, code = k.kernel, k.code
    k.kernel = with_steps(kernel, [kernel.steps[2 * n], kernel.steps[2 * n + 1]], kernel.floating)
    k.code = Code(code.accesses, [code.steps[2 * n], code.steps[2 * n + 1]])
    k.outer = lines.batch + lines.rows + lines.columns
    k.reduce = lines.others
    k.prefix = f"sum{n}_"
    one = Factor([made.factors[n]], Element(made.factors[n]), None)
    out = stores_of(k, Product(lines.batch, lines.rows, lines.columns, lines.others, one, one))
    k.kernel = kernel
    k.code = code
    return out


def pair_tile_text(
    k: KernelWriter, a: AttentionGradient, made: PairKernel, lines: PairLines, title: str
) -> PairTileText:
    """The text of one or two sums."""
    by_query = made.sums[0].by_query
    uniform(k, "blocks", "u", points(lines.batch) * tile_blocks(lines))
    uniform(k, "tile_rows", "u", tile_blocks(lines))
    uniform(k, "row_count", "u", points(lines.rows))
    uniform(k, "other_count", "u", points(lines.others))
    uniform(k, "column_count", "u", points(lines.columns))
    uniform(k, "inf", "f", infinite("inf"))
    batch = split_lines(k, lines.batch, 0, len(lines.batch), "outer", "batch", "", "let")
    sides = wide_sides(k, a, made, lines)
    products: list[TileProduct] = []
    tiles: list[OtherTile] = []
    left = len(made.sums) * TILE_OTHERS * TILE_ROWS // 4
    rounds = 0
    at = 0
    for n in range(len(a.pairs.products)):
        if not uses_product(made.formulas, n):
            continue
        features = points(lines.depths[n])
        width = tile_width(features)
        uniform(k, f"feature{n}_count", "u", features)
        before = load_rounds(sides[at], TILE_ROWS)
        rounds = max(rounds, before + load_rounds(sides[at + 1], TILE_OTHERS))
        left_loads = tile_loads(k, sides[at], TILE_ROWS, points(lines.rows), 0)
        right_loads = tile_loads(k, sides[at + 1], TILE_OTHERS, points(lines.others), before)
        within = power_from(width)
        product = TileProduct(n, f"tile{n}", width, within, features // 4, features % 4, left_loads, right_loads, [])
        if len(products) > 0:
            products[len(products) - 1].next.append(product)
        products.append(product)
        tiles.append(OtherTile(f"tile{n}", other_access(a, made, n), width, []))
        left = max(left, TILE_ROWS * width)
        at += 2
    width = tile_width(points(lines.columns))
    for n in range(at, len(sides)):
        rounds = max(rounds, load_rounds(sides[n], TILE_OTHERS))
        loads = tile_loads(k, sides[n], TILE_OTHERS, points(lines.others), 0)
        tiles.append(OtherTile(sides[n].tile, sides[n].factor.accesses[0], width, loads))
    pair_places(k, lines)
    row_ahead = ahead_of(k, made.formulas, lines.rows, lines.others, row_variables(lines))
    other_ahead = ahead_of(k, made.formulas, lines.others, lines.rows, other_variables(lines))
    weight = pair_function(k, lines, made.formulas, [*row_ahead, *other_ahead])
    sums: list[TileSum] = []
    for n in range(len(made.sums)):
        shared = loaded_by(a, made, lines, made.factors[n])
        tile = f"tile{shared}" if shared >= 0 else f"factor{made.factors[n]}"
        part = "" if len(made.sums) == 1 else [".x", ".y"][n]
        sums.append(TileSum(n, part, tile, width, width // BESIDE, sum_stores(k, made, lines, n)))
    query, key = a.pairs.axes[len(a.pairs.axes) - 2], a.pairs.axes[len(a.pairs.axes) - 1]
    causal = all(vanishes_later(each.weight, a.facts, query, key, k.call.env) for each in made.sums)
    return PairTileText(
        title,
        declarations(k),
        "",
        TILE_ROWS,
        TILE_OTHERS,
        TILE_THREADS,
        TOGETHER,
        left,
        tiles,
        rounds,
        batch,
        batch_names(lines),
        products,
        sums,
        "f32" if len(sums) == 1 else "vec2<f32>",
        row_ahead,
        other_ahead,
        weight,
        "value0" if len(sums) == 1 else "vec2(value0, value1)",
        f"first_row / {TILE_OTHERS}u * {TILE_OTHERS}u" if causal and not by_query else "0u",
        f"min(p.other_count, first_row + {TILE_ROWS}u)" if causal and by_query else "p.other_count",
        causal and by_query,
    )
