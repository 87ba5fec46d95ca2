"""The `tiled_matmul` strategy for half numbers on a GPU's units for products of matrices (WGSL's subgroup matrices).

The threads of a subgroup multiply fragments of 16 by 16 half numbers together and add them up in float32.  Blocks of
both factors go through workgroup memory as they lie in memory, in lines that are longer than what they hold: lines of a
power of two would begin in the same banks."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.nodes import Constant, Element
from ..contract import Factor, Product
from ..lines import points
from ..writer import KernelWriter, bind_memory, declarations, is_bound, uniform
from .map import step_kind
from .tile_memory import Side, Tile, pieces
from .tiled import Stores, blocks, side_of, stored_apart, stores_of
from .tiled_lines import split_lines
from .tiled_loads import Load, loads_of

FRAGMENT = 16  # rows, columns and depth of what a subgroup multiplies at once
SUBGROUP = 32  # threads
DEPTH = 32  # points of the depth that a workgroup has in its memory
GAP = 8  # half numbers between lines there, 16 bytes: fragments must begin at such
SUM_GAP = 4  # floats between lines of sums, which are read four at once
LARGE, SMALL = 128, 64  # rows and columns of a tile, of which each of four subgroups makes a quarter
DEPTH_PART = 256  # points of the depth that a workgroup takes at least: less does not pay for adding up the parts
BLOCKS_TO_FILL = 132  # tiles from which large ones keep a GPU busy: as many as an H200 has processors


@dataclass
class Fragments:
    """A factor's fragments of a subgroup.  type: WGSL's, of one; layout: how they lie in the tile; length: of the tile,
    in half numbers; count: of the fragments; next, deeper: half numbers from one to the next, and to the next along the
    depth."""

    type: str
    layout: str
    tile: str
    pitch: int
    length: int
    count: int
    next: int
    deeper: int


@dataclass
class MatrixUnitText:
    """What matrix_units.wgsl.j2 shows; see TiledText.  own_rows, own_columns: of a subgroup's sums, across: how many
    subgroups lie beside each other; pitch: floats from one line of sums in workgroup memory to the next."""

    title: str
    declarations: list[str]
    helpers: str
    rows: int
    columns: int
    depth: int
    threads: int
    own_rows: int
    own_columns: int
    across: int
    pitch: int
    rounds: int
    left: Fragments
    right: Fragments
    batch: list[str]
    loads: list[Load]
    stores: Stores
    parts: int


def units_possible(k: KernelWriter, product: Product) -> bool:
    """Whether both factors are tensors of half numbers, on a device with such units, and as large as a fragment."""
    sizes = min(points(product.rows), points(product.columns), points(product.depth))
    if not k.facts.matrix_units or sizes < FRAGMENT or step_kind(k, k.kernel.steps[0]) != "f":
        return False
    return reads_halves(k, product.left) and reads_halves(k, product.right)


def reads_halves(k: KernelWriter, factor: Factor) -> bool:
    """Whether a factor is a tensor of half numbers, 0 where it does not count."""
    match factor.body:
        case Element(access=n):
            fallback = k.code.accesses[n].fallback
            zero = fallback is None or isinstance(fallback, Constant) and fallback.value == 0
            return zero and is_bound(k, n) and k.call.slots[k.kernel.accesses[n].slot].dtype == "float16"
        case _:
            return False


def unit_tile(product: Product, shared: int) -> Tile:
    """A large tile where such are enough to keep a GPU busy, and neither its rows nor its columns half empty; else a
    small one.  shared: bytes of workgroup memory."""
    large = quartered(LARGE, LARGE)
    full = min(points(product.rows), points(product.columns)) > SMALL
    enough = blocks(product, large) >= BLOCKS_TO_FILL and memory_of(large) <= shared
    return large if full and enough else quartered(SMALL, SMALL)


def quartered(rows: int, columns: int) -> Tile:
    """A tile whose quarters are four subgroups'."""
    return Tile(rows, columns, DEPTH, rows // 2, columns // 2)


def memory_of(tile: Tile) -> int:
    """Bytes of workgroup memory, where both factors lie along the depth, which takes most."""
    across = tile.columns // tile.thread_columns
    sums = tile.rows // tile.thread_rows * FRAGMENT * (tile.columns + across * SUM_GAP)
    return 2 * (tile.rows + tile.columns) * (tile.depth + GAP) + 4 * sums


def unit_parts(product: Product, tile: Tile) -> int:
    """Among how many workgroups the depth of each tile is divided, where there are few tiles and much depth."""
    count = max(blocks(product, tile), 1)
    return max(min(BLOCKS_TO_FILL // count, points(product.depth) // DEPTH_PART), 1)


def matrix_unit_text(k: KernelWriter, product: Product, tile: Tile, title: str, parts: int) -> MatrixUnitText:
    """The text for lines in the order batch, rows, columns; parts: how many blocks share the depth of a tile."""
    if parts > 1:
        bind_memory(k, -1, "u32")
        uniform(k, "parts", "u", parts)
        uniform(k, "outer_points", "u", points(k.outer))
        uniform(k, "run", "u", (points(k.reduce) + parts * tile.depth - 1) // (parts * tile.depth) * tile.depth)
    outer = k.outer
    reduce = k.reduce
    uniform(k, "blocks", "u", blocks(product, tile) * parts)
    uniform(k, "tile_columns", "u", (points(product.columns) + tile.columns - 1) // tile.columns)
    uniform(k, "tile_rows", "u", (points(product.rows) + tile.rows - 1) // tile.rows)
    uniform(k, "row_count", "u", points(product.rows))
    uniform(k, "column_count", "u", points(product.columns))
    uniform(k, "depth", "u", points(reduce))
    kind = step_kind(k, k.kernel.steps[0])
    across = tile.columns // tile.thread_columns
    threads = tile.rows // tile.thread_rows * across * SUBGROUP
    batch = split_lines(k, product.batch, 0, len(product.batch), "outer", "batch", "", "let")
    left = side_of(k, "left", "row", product, product.left, product.rows, tile.rows, 0)
    right = side_of(k, "right", "column", product, product.right, product.columns, tile.columns, 0)
    for side in [left, right]:
        side.halves = True
        side.pitch = (side.size if side.load == "across" else tile.depth) + GAP
    loads = loads_of(k, [left, right], tile, threads, kind, points(reduce) % tile.depth != 0)
    k.outer = outer
    k.reduce = reduce
    k.prefix = ""
    out = MatrixUnitText(
        title,
        [],
        "",
        tile.rows,
        tile.columns,
        tile.depth,
        threads,
        tile.thread_rows,
        tile.thread_columns,
        across,
        tile.thread_columns + SUM_GAP,
        (pieces(left, tile) + pieces(right, tile) + threads - 1) // threads,
        fragments(left, tile, tile.thread_rows, "col_major" if left.load == "across" else "row_major"),
        fragments(right, tile, tile.thread_columns, "row_major" if right.load == "across" else "col_major"),
        batch,
        loads,
        stores_of(k, product) if parts == 1 else stored_apart(k, product, kind),
        parts,
    )
    out.declarations = ["enable subgroups, chromium_experimental_subgroup_matrix;", *declarations(k)]
    return out


def fragments(side: Side, tile: Tile, own: int, layout: str) -> Fragments:
    lines = tile.depth if side.load == "across" else side.size
    return Fragments(
        f"subgroup_matrix_{side.name}<f16, {FRAGMENT}, {FRAGMENT}>",
        layout,
        side.tile,
        side.pitch,
        lines * side.pitch,
        own // FRAGMENT,
        FRAGMENT if side.load == "across" else FRAGMENT * side.pitch,
        FRAGMENT * side.pitch if side.load == "across" else FRAGMENT,
    )
