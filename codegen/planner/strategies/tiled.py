"""The `tiled_matmul` strategy: a contraction in tiles of rows times columns.

A workgroup makes a tile; each thread a smaller one in registers.  Blocks of both factors go through workgroup
memory as vectors of four neighbouring rows or columns.  What depends on a row or column alone is decoded once,
before the loop over the depth; along the depth a thread's points follow each other, so that it counts instead
of dividing."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Step
from ...data.nodes import Node
from ..contract import Factor, Product
from ..conversion import KIND_TYPES, stored
from ..lines import Line, points
from ..memory import needed, read_lines
from ..positions import position, variable
from ..writer import KernelWriter, bind_memory, bound_name, declarations, element_type, holds_vec4s, uniform
from .map import named, put, step_kind
from .tile_memory import WIDE, Side, Tile, pieces, places
from .tiled_lines import bound_lines, joined_lines, split_lines
from .tiled_loads import Load, along_depth, loads_of, piece_type, wide_load


@dataclass
class Stores:
    """How the sums of a thread are stored, in rows of four neighbouring columns at a time.  aligned: whether these are
    all there or none is; row, column, point: statements for a sum's row, for the first of four columns, and for each
    of them; vec4: for four at once; value: what a point's statements call its sum."""

    aligned: bool
    row: list[str]
    column: list[str]
    point: list[list[str]]
    vec4: list[str]
    value: str


@dataclass
class TiledText:
    """What tiled.wgsl.j2 shows.  number: the type of sums; piece: of what is loaded, in registers; rounds: how many
    pieces a thread loads; *_places: for each point of the depth, where a thread's vec4s begin; slice_threads: threads
    of a slice; left_sums: how many vec4s of a thread's sums have a place in the memory of the left factor, the others
    in the right one's."""

    title: str
    declarations: list[str]
    helpers: str
    number: str
    piece: str
    fused: bool
    rows: int
    columns: int
    depth: int
    row_vec4: int
    column_vec4: int
    threads: int
    across: int
    rounds: int
    left_places: list[str]
    right_places: list[str]
    batch: list[str]
    loads: list[Load]
    stores: Stores
    slices: int
    slice_threads: int
    left_sums: int
    parts: int  # of the depth, whose sums another launch adds


def tiled_text(k: KernelWriter, product: Product, tile: Tile, title: str, parts: int) -> TiledText:
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
    threads = tile.rows // tile.thread_rows * (tile.columns // tile.thread_columns) * tile.slices
    batch = split_lines(k, product.batch, 0, len(product.batch), "outer", "batch", "", "let")
    ragged = points(reduce) % tile.depth != 0
    left = side_of(k, "left", "row", product, product.left, product.rows, tile.rows, tile.rows // tile.thread_rows)
    right = side_of(
        k, "right", "column", product, product.right, product.columns, tile.columns, tile.columns // tile.thread_columns
    )
    left.halves = is_halves(k, left) and is_halves(k, right)
    right.halves = left.halves
    loads = loads_of(k, [left, right], tile, threads, kind, ragged)
    k.outer = outer
    k.reduce = reduce
    k.prefix = ""
    out = TiledText(
        title,
        [],
        "",
        KIND_TYPES[kind],
        piece_type(left, kind),
        kind == "f",
        tile.rows,
        tile.columns,
        tile.depth,
        tile.thread_rows // 4,
        tile.thread_columns // 4,
        threads,
        tile.columns // tile.thread_columns,
        (pieces(left, tile) + pieces(right, tile) + threads - 1) // threads,
        places(left, tile, "y"),
        places(right, tile, "x"),
        batch,
        loads,
        stores_of(k, product) if parts == 1 else stored_apart(k, product, kind),
        tile.slices,
        threads // tile.slices,
        min(tile.rows * tile.depth // 4 // (threads // tile.slices), tile.thread_rows * tile.thread_columns // 4),
        parts,
    )
    out.declarations = declarations(k)
    return out


def is_halves(k: KernelWriter, side: Side) -> bool:
    """Whether a factor is read four half numbers at once."""
    if side.load not in WIDE:
        return False
    return element_type(k, k.call.slots[k.kernel.accesses[side.factor.accesses[0]].slot].dtype) == "f16"


def blocks(product: Product, tile: Tile) -> int:
    rows = (points(product.rows) + tile.rows - 1) // tile.rows
    columns = (points(product.columns) + tile.columns - 1) // tile.columns
    return rows * columns * points(product.batch)


def loads_wide(k: KernelWriter, product: Product) -> bool:
    """Whether both factors are read four elements at once."""
    left = side_of(k, "left", "row", product, product.left, product.rows, 0, 0)
    right = side_of(k, "right", "column", product, product.right, product.columns, 0, 0)
    return left.load in WIDE and right.load in WIDE


def side_of(
    k: KernelWriter, name: str, flat: str, product: Product, factor: Factor, own: list[Line], size: int, stride: int
) -> Side:
    formulas: list[Node | None] = [factor.body, factor.filter]
    lines = joined_lines(k, own, factor.accesses, formulas)
    depth = joined_lines(k, product.depth, factor.accesses, formulas)
    side = Side(name, flat, factor, len(product.batch), product.batch + lines, depth, size, stride, "", f"{name}_tile")
    side.load = wide_load(k, side)
    if side.load == "":
        side.load = "piece" if along_depth(side) else "strip"
    return side


# --- Stores ----------------------------------------------------------------------------------------


def stored_apart(k: KernelWriter, product: Product, kind: str) -> Stores:
    """Sums that are parts: they go to the places of their rows and columns in scratch memory, four at once if they
    can."""
    name = k.kernel.steps[0].name
    place = "part * p.outer_points + (batch * p.row_count + row) * p.column_count"
    if kind == "f" and points(product.columns) % 4 == 0:
        k.elements[k.slots.index(-1)] = "vec4<u32>"
        point = [[f"vector[{c}] = {name};"] for c in range(4)]
        return Stores(True, [], [], point, [f"scratch[({place} + first) / 4u] = bitcast<vec4<u32>>(vector);"], name)
    point = [[f"scratch[{place} + first + {c}u] = bitcast<u32>({name});"] for c in range(4)]
    return Stores(False, [], [], point, [], name)


def stores_of(k: KernelWriter, product: Product) -> Stores:
    """Statements for finished sums: what the steps after the first make of them."""
    out = Stores(False, [], [], [], [], k.kernel.steps[0].name)
    formulas: list[Node | None] = []
    targets: list[int] = []
    for i in range(1, len(k.kernel.steps)):
        made: Step = k.kernel.steps[i]
        formulas.extend([k.code.steps[i].body, *k.code.accesses[made.target].index])
        targets.append(made.target)
    accesses = needed(k, formulas) + targets
    b = len(product.batch)
    rows = joined_lines(k, product.rows, accesses, formulas)
    columns = joined_lines(k, product.columns, accesses, formulas)
    r = b + len(rows)
    k.outer = product.batch + rows + columns
    end = len(k.outer)
    out.aligned = len(columns) > 0 and columns[len(columns) - 1].size % 4 == 0
    out.row = split_lines(k, k.outer, b, r, "outer", "row", "", "let")
    if out.aligned:
        out.column = split_lines(k, k.outer, r, end, "outer", "first", "_first", "let")
    wide = out.aligned and store_wide(k, accesses, end - 1)
    for c in range(4):
        point: list[str] = []
        if out.aligned:
            point.extend(bound_lines(k.outer, r, end - 1, "outer", "_first"))
            name = variable(k.outer[end - 1], "outer", end - 1)
            point.append(f"let {name} = {name}_first + {c}{'u' if k.outer[end - 1].name == '' else ''};")
        else:
            point.append(f"let column = first + {c}u;")
            point.extend(split_lines(k, k.outer, r, end, "outer", "column", "", "let"))
        done: list[int] = []
        for i in range(1, len(k.kernel.steps)):
            step: Step = k.kernel.steps[i]
            code = k.code.steps[i]
            point.extend(read_lines(k, [code.body, *k.code.accesses[step.target].index], done, "", False))
            value = named(step, code.body, point, "")
            if wide:
                point.append(f"vector[{c}] = {stored(value, step_kind(k, step), 'float32')};")
            else:
                point.extend(put(k, step, value, step_kind(k, step), ""))
        out.point.append(point)
    if wide:
        slot = k.kernel.accesses[targets[0]].slot
        element = element_type(k, k.call.slots[slot].dtype)
        k.elements[k.slots.index(slot)] = f"vec4<{element}>"
        vector = "vector" if element == "f32" else f"vec4<{element}>(vector)"
        out.vec4 = [
            *bound_lines(k.outer, r, end, "outer", "_first"),
            f"{bound_name(k, slot)}[({position(k, targets[0])}) / 4u] = {vector};",
        ]
    return out


def store_wide(k: KernelWriter, accesses: list[int], last: int) -> bool:
    """Whether the only store can take four columns at once."""
    if len(k.kernel.steps) != 2:
        return False
    step: Step = k.kernel.steps[1]
    n = step.target
    slot = k.kernel.accesses[n].slot
    if slot not in k.slots or not holds_vec4s(k.call.slots[slot].dtype) or step.mode != "=" or k.r.offsets[n] % 4 != 0:
        return False
    for index in k.code.accesses[n].index:
        if index is not None:
            return False
    for m in range(len(k.kernel.accesses)):
        if m != n and k.kernel.accesses[m].slot == slot:
            return False
    if k.outer[last].strides[n] != 1:
        return False
    for d in range(last):
        if k.outer[d].strides[n] % 4 != 0:
            return False
    return True
