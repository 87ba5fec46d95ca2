"""The `tiled_matmul` strategy for a software device, that is a CPU which runs a few threads at once as lanes of a
vector.

Neighbouring threads take neighbouring columns, so that their reads of workgroup memory are one vector; nothing is
unrolled or read ahead, for there is no latency to hide and long texts take long to compile."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Step
from ...data.nodes import Node
from ..contract import Product
from ..conversion import KIND_TYPES, ZEROS
from ..lines import Line, points
from ..memory import needed, read_lines
from ..writer import KernelWriter, bind_memory, declarations, uniform
from .map import named, put, step_kind
from .tile_memory import Side, Tile
from .tiled import blocks, side_of
from .tiled_lines import counted, joined_lines, split_lines
from .tiled_loads import value_lines


@dataclass
class Rows:
    """How the rows (or columns) of one factor come into workgroup memory.  place, depth: variables of a row and of the
    first point of a block; value: of an element; next: to the next point of the depth."""

    name: str
    flat: str
    size: int
    place: list[str]
    depth: list[str]
    value: list[str]
    next: list[str]


@dataclass
class InterleavedText:
    """What interleaved.wgsl.j2 shows; see TiledText."""

    title: str
    declarations: list[str]
    helpers: str
    number: str
    zero: str
    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int
    threads: int
    across: int
    batch: list[str]
    sides: list[Rows]
    store_row: list[str]
    store_column: list[str]
    store_point: list[str]
    sum_name: str
    parts: int


def interleaved_text(k: KernelWriter, product: Product, tile: Tile, title: str, parts: int) -> InterleavedText:
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
    batch = split_lines(k, product.batch, 0, len(product.batch), "outer", "batch", "", "let")
    left = rows_of(k, side_of(k, "left", "row", product, product.left, product.rows, tile.rows, 1))
    right = rows_of(k, side_of(k, "right", "column", product, product.right, product.columns, tile.columns, 1))
    k.outer = outer
    k.reduce = reduce
    k.prefix = ""
    across = tile.columns // tile.thread_columns
    out = InterleavedText(
        title,
        [],
        "",
        KIND_TYPES[kind],
        ZEROS[kind],
        tile.rows,
        tile.columns,
        tile.depth,
        tile.thread_rows,
        tile.thread_columns,
        tile.rows // tile.thread_rows * across,
        across,
        batch,
        [left, right],
        [],
        [],
        [],
        k.kernel.steps[0].name,
        parts,
    )
    if parts == 1:
        sums_stored(k, product, out)
    out.declarations = declarations(k)
    return out


def rows_of(k: KernelWriter, side: Side) -> Rows:
    k.outer = side.outer
    k.reduce = side.reduce
    k.prefix = f"{side.name}_"
    place = split_lines(k, side.outer, side.batch, len(side.outer), "outer", side.flat, "", "let")
    depth = split_lines(k, side.reduce, 0, len(side.reduce), "inner", "from_depth", "", "var")
    return Rows(
        side.name, side.flat, side.size, place, depth, value_lines(k, side.factor, {}), counted(k, side.reduce, "inner")
    )


def sums_stored(k: KernelWriter, product: Product, out: InterleavedText) -> None:
    """Statements for a row, a column and the sum where they meet."""
    formulas: list[Node | None] = []
    accesses: list[int] = []
    for i in range(1, len(k.kernel.steps)):
        made: Step = k.kernel.steps[i]
        formulas.extend([k.code.steps[i].body, *k.code.accesses[made.target].index])
        accesses.append(made.target)
    accesses.extend(needed(k, formulas))
    b = len(product.batch)
    rows: list[Line] = joined_lines(k, product.rows, accesses, formulas)
    k.outer = product.batch + rows + joined_lines(k, product.columns, accesses, formulas)
    out.store_row = split_lines(k, k.outer, b, b + len(rows), "outer", "row", "", "let")
    out.store_column = split_lines(k, k.outer, b + len(rows), len(k.outer), "outer", "column", "", "let")
    done: list[int] = []
    for i in range(1, len(k.kernel.steps)):
        step: Step = k.kernel.steps[i]
        code = k.code.steps[i]
        out.store_point.extend(read_lines(k, [code.body, *k.code.accesses[step.target].index], done, "", False))
        out.store_point.extend(put(k, step, named(step, code.body, out.store_point, ""), step_kind(k, step), ""))
