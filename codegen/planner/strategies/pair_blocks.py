"""The `pairs` strategy of an attention's gradient: launches without a tensor of pairs in memory.

The first goes through the keys of a block of queries once and keeps what each query needs of all of them, as
attention.py does.  In each other one a workgroup keeps a block of rows, queries or keys, and goes through the others in
blocks: it makes their products anew, weights of them, and sums of these times what they are for (Dao et al.,
"FlashAttention", 2022)."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.nodes import Element, Local, Node, contains
from ..attention.attention_gradient import AttentionGradient, PairKernel, vanishes_later
from ..attention.attention_kernels import hides_later
from ..attention.pair_formulas import ROOM, branchless
from ..attention.pairs import WeightedSum
from ..contract import Factor, Product
from ..lines import points
from ..memory import needed, store_lines
from ..positions import variable
from ..writer import Facts, KernelWriter, declarations, infinite, uniform
from .pair_lines import Ahead, PairLines, ahead_of, other_variables, pair_function, pair_places, row_variables
from .tile_memory import WIDE, Side, Tile, pieces, turned
from .tiled import Stores, side_of, stores_of
from .tiled_lines import split_lines
from .tiled_loads import Load, loads_of

OTHERS = 64  # of a block
ACROSS = 16  # threads side by side, each with four neighbouring others or columns
THREADS = 128  # of a workgroup, in rows of ACROSS
ROWS_OF_VEC4 = 4 * THREADS // ACROSS  # rows of a block whose threads have a vec4 of them each
MOST_COLUMNS = 128  # of a block's sums, which threads keep in registers


@dataclass
class PairLoads:
    """A product of features as products.wgsl.j2 makes it; depth: the uniform that counts these."""

    number: int
    depth: str
    loads: list[Load]
    left_turned: int
    right_turned: int


@dataclass
class PairSumText:
    """What pair_sums.wgsl.j2 shows.  row_vec4, column_vec4: vec4s of a thread's rows and columns; wide: vec4s of a
    point of the right tile; row_ahead, other_ahead: what is read before the pairs; weight: statements of a function,
    the last one its result; begin, until: of the others; last_first: whether the last rows have the most to do."""

    title: str
    declarations: list[str]
    helpers: str
    rows: int
    others: int
    depth: int
    threads: int
    row_vec4: int
    column_vec4: int
    wide: int
    rounds: int
    batch: list[str]
    batch_names: list[str]
    products: list[PairLoads]
    factors: list[Load]
    factor_turned: int
    row_ahead: list[Ahead]
    other_ahead: list[Ahead]
    weight: list[str]
    begin: str
    until: str
    last_first: bool
    stores: Stores


@dataclass
class PairFactsText:
    """What pair_facts.wgsl.j2 shows.  first: the number of the product; room: how far a score may be above what is
    subtracted from it; stored: statements."""

    title: str
    declarations: list[str]
    helpers: str
    rows: int
    others: int
    depth: int
    threads: int
    row_vec4: int
    rounds: int
    batch: list[str]
    batch_names: list[str]
    products: list[PairLoads]
    first: int
    score: list[str]
    exponential: str
    room: str
    until: str
    last_first: bool
    stored: list[str]


@dataclass
class PairTile:
    """Rows of a block and how deep blocks of features are."""

    rows: int
    depth: int


def column_vec4s(lines: PairLines) -> int:
    """Vec4s of columns of a thread."""
    return (points(lines.columns) + 4 * ACROSS - 1) // (4 * ACROSS)


def pair_tile(lines: PairLines, rows: int, depth: int, facts: Facts) -> PairTile | None:
    """The tile that a schedule names, halved until its sums and the device's workgroup memory allow it; None where that
    does not."""
    columns = 4 * ACROSS * column_vec4s(lines)
    if columns > MOST_COLUMNS or facts.max_threads < THREADS:
        return None
    for tile in [PairTile(rows, depth), PairTile(ROWS_OF_VEC4, depth), PairTile(ROWS_OF_VEC4, depth // 2)]:
        numbers = (tile.rows + max(OTHERS, columns)) * tile.depth + tile.rows * OTHERS
        sums = tile.rows // ROWS_OF_VEC4 * column_vec4s(lines)
        if tile.depth >= ACROSS and 4 * numbers <= facts.max_shared and sums <= 2:
            return tile
    return None


def row_blocks(lines: PairLines, tile: PairTile) -> int:
    """Blocks of rows of one of the batch."""
    return (points(lines.rows) + tile.rows - 1) // tile.rows


def pair_accesses(k: KernelWriter, a: AttentionGradient, made: PairKernel) -> list[int]:
    """The accesses that a launch needs."""
    out: list[int] = []
    for n in range(len(a.pairs.products)):
        if uses_product(made.formulas, n):
            out.extend([a.pairs.products[n].query, a.pairs.products[n].key])
    out.extend(needed(k, [*made.formulas]))
    out.extend([step.target for step in made.kernel.steps if step.target >= 0])
    out.extend(made.factors)
    return out


def uses_product(bodies: list[Node], number: int) -> bool:
    return any(contains(body, Local(f"product{number}")) for body in bodies)


def begun(k: KernelWriter, lines: PairLines, tile: PairTile) -> None:
    """The uniforms that every launch has."""
    uniform(k, "blocks", "u", points(lines.batch) * row_blocks(lines, tile))
    uniform(k, "tile_rows", "u", row_blocks(lines, tile))
    uniform(k, "row_count", "u", points(lines.rows))
    uniform(k, "other_count", "u", points(lines.others))


def sides_of(k: KernelWriter, a: AttentionGradient, made: PairKernel, lines: PairLines, tile: PairTile) -> list[Side]:
    """The factors that a launch loads: of each product, then of the sum."""
    out: list[Side] = []
    by_query = len(made.sums) == 0 or made.sums[0].by_query
    for n in range(len(a.pairs.products)):
        product = a.pairs.products[n]
        if not uses_product(made.formulas, n):
            continue
        left = product.query if by_query else product.key
        right = product.key if by_query else product.query
        one, other = Factor([left], Element(left), None), Factor([right], Element(right), None)
        both = Product(lines.batch, lines.rows, lines.others, lines.depths[n], one, other)
        out.append(side_of(k, f"left{n}_", "row", both, one, lines.rows, tile.rows, tile.rows // 4))
        out.append(side_of(k, f"right{n}_", "other", both, other, lines.others, OTHERS, ACROSS))
    if len(made.factors) > 0:
        factor = Factor([made.factors[0]], Element(made.factors[0]), None)
        both = Product(lines.batch, lines.rows, lines.columns, lines.others, factor, factor)
        size = 4 * ACROSS * column_vec4s(lines)
        out.append(side_of(k, "factor", "column", both, factor, lines.columns, size, ACROSS))
    for side in out:
        side.tile = "left_tile" if side.flat == "row" else "right_tile"
    return out


def loaded(k: KernelWriter, a: AttentionGradient, made: PairKernel, lines: PairLines, tile: PairTile) -> list[Side]:
    """The same; four elements at once where all loads of a tensor take so many."""
    own = made.factors[:]
    for product in a.pairs.products:
        own.extend([product.query, product.key])
    k.wide = own
    sides = sides_of(k, a, made, lines, tile)
    slots = [k.kernel.accesses[side.factor.accesses[0]].slot for side in sides if side.load not in WIDE]
    k.wide = [n for n in own if k.kernel.accesses[n].slot not in slots]
    return sides_of(k, a, made, lines, tile)


def products_of(
    k: KernelWriter, a: AttentionGradient, made: PairKernel, sides: list[Side], lines: PairLines, tile: PairTile
) -> list[PairLoads]:
    """The products that a launch makes."""
    out: list[PairLoads] = []
    at = 0
    for n in range(len(a.pairs.products)):
        if not uses_product(made.formulas, n):
            continue
        features = points(lines.depths[n])
        uniform(k, f"depth{n}", "u", features)
        left, right = sides[at], sides[at + 1]
        at += 2
        sizes = Tile(tile.rows, OTHERS, tile.depth, 4, 4)
        loads = loads_of(k, [left, right], sizes, THREADS, "f", features % tile.depth != 0)
        out.append(PairLoads(n, f"depth{n}", loads, turned(left), turned(right)))
    return out


def rounds_of(sides: list[Side], tile: PairTile) -> int:
    """How many pieces a thread loads at most."""
    sizes = Tile(tile.rows, OTHERS, tile.depth, 4, 4)
    total = sum([pieces(side, sizes) for side in sides if side.name != "factor"])
    factor = sum([pieces(side, sizes) for side in sides if side.name == "factor"])
    return (max(total, factor) + THREADS - 1) // THREADS


def pair_sum_text(
    k: KernelWriter,
    a: AttentionGradient,
    made: PairKernel,
    own: WeightedSum,
    lines: PairLines,
    tile: PairTile,
    title: str,
) -> PairSumText:
    """The text of a sum."""
    vec4s = column_vec4s(lines)
    begun(k, lines, tile)
    uniform(k, "column_count", "u", points(lines.columns))
    uniform(k, "inf", "f", infinite("inf"))
    batch = split_lines(k, lines.batch, 0, len(lines.batch), "outer", "batch", "", "let")
    sides = loaded(k, a, made, lines, tile)
    products = products_of(k, a, made, sides, lines, tile)
    across = sides[len(sides) - 1]
    sizes = Tile(tile.rows, 4 * ACROSS * vec4s, tile.depth, 4, 4)
    factors = loads_of(k, [across], sizes, THREADS, "f", points(lines.others) % tile.depth != 0)
    pair_places(k, lines)
    row_ahead = ahead_of(k, made.formulas, lines.rows, lines.others, row_variables(lines))
    other_ahead = ahead_of(k, made.formulas, lines.others, lines.rows, other_variables(lines))
    weight = pair_function(k, lines, made.formulas, [*row_ahead, *other_ahead])
    k.outer = lines.batch + lines.rows + lines.columns
    k.reduce = lines.others
    k.prefix = ""
    one = Factor([made.factors[0]], Element(made.factors[0]), None)
    stores = stores_of(k, Product(lines.batch, lines.rows, lines.columns, lines.others, one, one))
    query, key = a.pairs.axes[len(a.pairs.axes) - 2], a.pairs.axes[len(a.pairs.axes) - 1]
    causal = vanishes_later(own.weight, a.facts, query, key, k.call.env)
    return PairSumText(
        title,
        declarations(k),
        "",
        tile.rows,
        OTHERS,
        tile.depth,
        THREADS,
        tile.rows // ROWS_OF_VEC4,
        vec4s,
        max(OTHERS // 4, ACROSS * vec4s),
        rounds_of(sides, tile),
        batch,
        batch_names(lines),
        products,
        factors,
        turned(across),
        row_ahead,
        other_ahead,
        weight,
        f"first_row / {OTHERS}u * {OTHERS}u" if causal and not own.by_query else "0u",
        f"min(p.other_count, first_row + {tile.rows}u)" if causal and own.by_query else "p.other_count",
        causal and own.by_query,
        stores,
    )


def batch_names(lines: PairLines) -> list[str]:
    return [variable(lines.batch[d], "outer", d) for d in range(len(lines.batch))]


def pair_facts_text(
    k: KernelWriter, a: AttentionGradient, made: PairKernel, lines: PairLines, tile: PairTile, title: str
) -> PairFactsText:
    """The text of what each query needs of all its keys."""
    begun(k, lines, tile)
    uniform(k, "inf", "f", infinite("inf"))
    batch = split_lines(k, lines.batch, 0, len(lines.batch), "outer", "batch", "", "let")
    sides = loaded(k, a, made, lines, tile)
    products = products_of(k, a, made, sides, lines, tile)
    pair_places(k, lines)
    score = pair_function(k, lines, made.formulas, [])
    k.outer = lines.batch + lines.rows
    k.reduce = []
    k.prefix = "row_"
    stored: list[str] = []
    d = len(lines.batch)
    for line in lines.rows:
        stored.append(f"let {variable(line, 'outer', d)} = {'row' if line.name == '' else 'i32(row)'};")
        d += 1
    for n in range(len(made.kernel.steps)):
        stored.extend(store_lines(k, made.kernel.steps[n].target, k.code.steps[n].body, "f", "=", ""))
    query, key = a.pairs.axes[len(a.pairs.axes) - 2], a.pairs.axes[len(a.pairs.axes) - 1]
    causal = hides_later(a.facts.score, query, key, k.call.env)
    return PairFactsText(
        title,
        declarations(k),
        "",
        tile.rows,
        OTHERS,
        tile.depth,
        THREADS,
        tile.rows // ROWS_OF_VEC4,
        rounds_of(sides, tile),
        batch,
        batch_names(lines),
        products,
        products[0].number,
        score,
        branchless(a.facts.exponential),
        ROOM,
        f"min(p.other_count, first_row + {tile.rows}u)" if causal else "p.other_count",
        causal,
        stored,
    )
