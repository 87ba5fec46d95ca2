"""The `tiled_matmul` strategy: a contraction in tiles of rows times columns.

A workgroup makes a tile; each thread a smaller one in registers.  Blocks of both factors go through workgroup
memory as vectors of four neighbouring rows or columns.  What depends on a row or column alone is decoded once,
before the loop over the depth; along the depth a thread's points follow each other, so that it counts instead
of dividing."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.model import Step
from ..data.nodes import Binary, Element, Node, mapped
from .contract import Factor, Product
from .conversion import KIND_TYPES, ZEROS, converted, stored
from .lines import Line, points
from .map import named, put, step_kind
from .memory import access_kind, needed, read_lines
from .positions import position, variable
from .printed import printed
from .tiled_lines import bound_lines, counted, joined_lines, split_lines
from .writer import KernelWriter, bind_memory, bound_name, declarations, element_type, is_bound, uniform


@dataclass
class Tile:
    """Sizes of a workgroup's tile and of a thread's."""

    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int


@dataclass
class Side:
    """A factor as the tiles load it.  lines: of the batch, then its own rows or columns, then the depth, each joined
    where this factor walks through them as one.  strip: how far apart in vec4s of the tile a thread's vec4s are.  load:
    "across" four neighbours, along the "depth" four points at once (128 bits); a "piece" of four by four points whose
    neighbours lie along the depth; or a "strip", all the depth of one row or column."""

    name: str
    flat: str
    factor: Factor
    batch: int
    outer: list[Line]
    reduce: list[Line]
    size: int
    stride: int
    load: str


@dataclass
class Load:
    """What some of the threads load of a block.  condition: which threads, "" all; places: before the loop; fetch: from
    memory into `piece` registers; keep: those into workgroup memory."""

    condition: str
    places: list[str]
    fetch: list[str]
    keep: list[str]


@dataclass
class TiledText:
    """What tiled.wgsl.j2 shows.  number: the type of sums; rounds: how many pieces a thread loads; *_turns: for each
    point of the depth, how vec4s are permuted; store_row, store_column, store_point: statements for a sum's row, for
    the first of four columns, and for each of them; store_vec4: for four at once."""

    title: str
    declarations: list[str]
    helpers: str
    number: str
    fused: bool
    rows: int
    columns: int
    depth: int
    row_vec4: int
    column_vec4: int
    threads: int
    across: int
    rounds: int
    left_turns: list[int]
    right_turns: list[int]
    batch: list[str]
    loads: list[Load]
    whole: bool  # four columns of a thread are all there or none is
    store_row: list[str]
    store_column: list[str]
    store_point: list[list[str]]
    store_vec4: list[str]
    sum_name: str
    parts: int  # of the depth, whose sums another launch adds


def tiled_text(k: KernelWriter, product: Product, tile: Tile, title: str, parts: int) -> TiledText:
    """The text for lines in the order batch, rows, columns; parts: how many blocks share the depth of a tile."""
    if parts > 1:
        bind_memory(k, -1, "u32")
        uniform(k, "parts", "u", parts)
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
    threads = tile.rows // tile.thread_rows * (tile.columns // tile.thread_columns)
    batch = split_lines(k, product.batch, 0, len(product.batch), "outer", "batch", "", "let")
    ragged = points(reduce) % tile.depth != 0
    left = side_of(k, "left", "row", product, product.left, product.rows, tile.rows, tile.rows // tile.thread_rows)
    right = side_of(
        k, "right", "column", product, product.right, product.columns, tile.columns, tile.columns // tile.thread_columns
    )
    loads = loads_of(k, left, right, tile, threads, kind, ragged)
    k.outer = outer
    k.reduce = reduce
    k.prefix = ""
    out = TiledText(
        title,
        [],
        "",
        KIND_TYPES[kind],
        kind == "f",
        tile.rows,
        tile.columns,
        tile.depth,
        tile.thread_rows // 4,
        tile.thread_columns // 4,
        threads,
        tile.columns // tile.thread_columns,
        (pieces(left, tile) + pieces(right, tile) + threads - 1) // threads,
        turns(left, tile),
        turns(right, tile),
        batch,
        loads,
        False,
        [],
        [],
        [],
        [],
        k.kernel.steps[0].name,
        parts,
    )
    if parts == 1:
        store_text(k, product, out)
    else:
        out.store_point = [
            ["let column = first + 0u;"],
            ["let column = first + 1u;"],
            ["let column = first + 2u;"],
            ["let column = first + 3u;"],
        ]
    out.declarations = declarations(k)
    return out


def blocks(product: Product, tile: Tile) -> int:
    rows = (points(product.rows) + tile.rows - 1) // tile.rows
    columns = (points(product.columns) + tile.columns - 1) // tile.columns
    return rows * columns * points(product.batch)


# --- Loads -----------------------------------------------------------------------------------------


def side_of(
    k: KernelWriter, name: str, flat: str, product: Product, factor: Factor, own: list[Line], size: int, stride: int
) -> Side:
    formulas: list[Node | None] = [factor.body, factor.filter]
    lines = joined_lines(k, own, factor.accesses, formulas)
    depth = joined_lines(k, product.depth, factor.accesses, formulas)
    side = Side(name, flat, factor, len(product.batch), product.batch + lines, depth, size, stride, "")
    side.load = wide_load(k, side)
    if side.load == "":
        side.load = "piece" if along_depth(side) else "strip"
    return side


def along_depth(side: Side) -> bool:
    """Whether the factor's elements lie next to each other along the depth."""
    if len(side.reduce) == 0:
        return False
    last = side.reduce[len(side.reduce) - 1]
    for n in side.factor.accesses:
        if last.strides[n] == 1:
            return True
    return False


def wide_load(k: KernelWriter, side: Side) -> str:
    """How a factor can be read four elements at once: "across" its own lines, along the "depth", or "" not at all.
    It must be one float tensor, read plainly, whose strides leave vec4s whole."""
    factor = side.factor
    if len(factor.accesses) != 1 or factor.filter is not None or len(side.outer) == side.batch or len(side.reduce) == 0:
        return ""
    n = factor.accesses[0]
    if not isinstance(factor.body, Element) or k.code.accesses[n].guard is not None or k.r.offsets[n] % 4 != 0:
        return ""
    slot = k.kernel.accesses[n].slot
    if slot not in k.slots or k.call.slots[slot].dtype != "float32":
        return ""
    for index in k.code.accesses[n].index:
        if index is not None:
            return ""
    for m in range(len(k.kernel.accesses)):
        if m != n and k.kernel.accesses[m].slot == slot:
            return ""
    lines = side.outer + side.reduce
    across = side.outer[len(side.outer) - 1].strides[n] == 1
    unit = (len(side.outer) if across else len(lines)) - 1
    if lines[unit].strides[n] != 1 or lines[unit].size % 4 != 0:
        return ""
    for d in range(len(lines)):
        if d != unit and lines[d].strides[n] % 4 != 0:
            return ""
    return "across" if across else "depth"


def pieces(side: Side, tile: Tile) -> int:
    """How many pieces of sixteen elements a block of the factor has."""
    return side.size * tile.depth // 16


def turns(side: Side, tile: Tile) -> list[int]:
    """How vec4s are permuted at each point of the depth, so that the writes of threads that read along it fall on
    different banks."""
    return [d // 4 * 2 % (turned(side) + 2) if turned(side) > 0 else 0 for d in range(tile.depth)]


def turned(side: Side) -> int:
    """The largest such permutation: 6 where there are eight vec4s or more to permute."""
    return max(min(side.stride, 8) - 2, 0) if side.load == "depth" else 0


def loads_of(k: KernelWriter, left: Side, right: Side, tile: Tile, threads: int, kind: str, ragged: bool) -> list[Load]:
    """Pieces of the left factor, then of the right one, shared out among the threads, so many at a time."""
    out: list[Load] = []
    start = 0
    for side in [left, right]:
        end = start + pieces(side, tile)
        for r in range((end + threads - 1) // threads):
            low = max(start - r * threads, 0)
            high = min(end - r * threads, threads)
            if high <= low:
                continue
            conditions: list[str] = []
            if low > 0:
                conditions.append(f"local >= {low}u")
            if high < threads:
                conditions.append(f"local < {high}u")
            number = f"local + {r * threads - start}u" if r * threads >= start else f"local - {start - r * threads}u"
            out.append(
                load_of(
                    k,
                    side,
                    tile,
                    f"{side.name}{r}",
                    "local" if r * threads == start else number,
                    f"piece{r}_",
                    " && ".join(conditions),
                    kind,
                    ragged,
                )
            )
        start = end
    return out


def load_of(
    k: KernelWriter, side: Side, tile: Tile, name: str, number: str, piece: str, condition: str, kind: str, ragged: bool
) -> Load:
    """One piece for each thread.  name: of this load's variables; number: of the thread's piece."""
    k.outer = side.outer
    k.reduce = side.reduce
    k.prefix = f"{side.name}_"
    out = Load(condition, [], [], [])
    vec4s = side.size // 4
    flat = side.flat
    out.places.append(f"let {name} = {number};")
    if side.load == "strip":
        out.places.append(f"let {name}_{flat} = {name} % {side.size}u;")
        out.places.append(f"let {name}_deep = {name} / {side.size}u * 16u;")
    elif side.load == "across":
        out.places.append(f"let {name}_{flat} = {name} % {vec4s}u * 4u;")
        out.places.append(f"let {name}_deep = {name} / {vec4s}u * 4u;")
    else:
        out.places.append(f"let {name}_{flat} = {name} / {tile.depth // 4}u * 4u;")
        out.places.append(f"let {name}_deep = {name} % {tile.depth // 4}u * 4u;")
    own = 4 if side.load == "piece" or side.load == "depth" else 1
    deep = 16 if side.load == "strip" else 1 if side.load == "depth" else 4
    last = 4 if side.load == "across" else 1
    for c in range(own):
        place = f"min(first_{flat} + {name}_{flat} + {c}u, p.{flat}_count - {last}u)"
        out.places.extend(
            split_lines(k, side.outer, side.batch, len(side.outer), "outer", place, f"_{name}_{c}", "let")
        )
    out.fetch.append(f"let inner = from_depth + {name}_deep;")
    out.fetch.extend(split_lines(k, side.reduce, 0, len(side.reduce), "inner", "inner", "", "var"))
    wide = side.load == "across" or side.load == "depth"
    for j in range(deep):
        for c in range(own):
            to = f"{piece}{c if side.load == 'depth' else j // 4 if side.load == 'strip' else j}"
            if side.load == "strip":
                to = f"{to}[{j % 4}]"
            if side.load == "piece":
                to = f"{to}[{c}]"
            out.fetch.append("{")
            out.fetch.append(f"  var value = {f'vec4<{KIND_TYPES[kind]}>()' if wide else ZEROS[kind]};")
            out.fetch.append(f"  if (inner + {j}u < end) {{" if ragged else "  {")
            out.fetch.extend(
                [
                    "    " + line
                    for line in bound_lines(side.outer, side.batch, len(side.outer), "outer", f"_{name}_{c}")
                ]
            )
            out.fetch.extend(
                ["    " + line for line in (wide_lines(k, side.factor) if wide else value_lines(k, side.factor))]
            )
            out.fetch.append("  }")
            out.fetch.append(f"  {to} = value;")
            out.fetch.append("}")
        if j < deep - 1:
            out.fetch.extend(counted(k, side.reduce, "inner"))
    for j in range(16 if side.load == "strip" else 4):
        at = f"{side.name}_tile[({name}_deep + {j}u) * {vec4s}u + "
        if side.load == "strip":
            out.keep.append(f"{at}{name}_{flat} / 4u][{name}_{flat} % 4u] = {piece}{j // 4}[{j % 4}];")
        elif side.load == "depth":
            turn = f" ^ (({name}_deep / 2u) & {turned(side)}u)" if turned(side) > 0 else ""
            out.keep.append(
                f"{at}(({name}_{flat} / 4u){turn})] = vec4({piece}0[{j}], {piece}1[{j}], {piece}2[{j}], {piece}3[{j}]);"
            )
        else:
            out.keep.append(f"{at}{name}_{flat} / 4u] = {piece}{j};")
    return out


def value_lines(k: KernelWriter, factor: Factor) -> list[str]:
    """Statements that set `value` to the factor at the point that the variables name: without branches, for compilers
    take long over many of them."""
    done: list[int] = []
    out = flat_reads(k, [factor.filter], done, "")
    if factor.filter is None:
        out.extend(flat_reads(k, [factor.body], done, ""))
        out.append(f"value = {printed(factor.body)};")
        return out
    out.append(f"let counts = {printed(without_branches(factor.filter))};")
    out.extend(flat_reads(k, [factor.body], done, "counts"))
    out.append(f"value = select(value, {printed(factor.body)}, counts);")
    return out


def flat_reads(k: KernelWriter, formulas: list[Node | None], done: list[int], condition: str) -> list[str]:
    """Statements that make what formulas read known; where one does not count, the first element is read and not
    used."""
    out: list[str] = []
    for n in needed(k, formulas):
        if n in done:
            continue
        done.append(n)
        a = k.code.accesses[n]
        kind = access_kind(k, n)
        other = printed(a.fallback) if a.fallback is not None else ZEROS[kind]
        if not is_bound(k, n):
            out.append(f"let r{n}: {KIND_TYPES[kind]} = {other};")
            continue
        slot = k.kernel.accesses[n].slot
        there = condition
        if a.guard is not None:
            out.append(f"let there{n} = {printed(without_branches(a.guard))};")
            there = f"there{n}" if condition == "" else f"there{n} & {condition}"
        at = position(k, n) if there == "" else f"select(0u, {position(k, n)}, {there})"
        text = converted(f"{bound_name(k, slot)}[{at}]", element_type(k, k.call.slots[slot].dtype), kind)
        out.append(f"let r{n} = {text if a.guard is None else f'select({other}, {text}, there{n})'};")
    return out


def without_branches(condition: Node) -> Node:
    """A condition that is evaluated as a whole."""
    match condition:
        case Binary(operator="&&", left=left, right=right):
            return Binary("&", without_branches(left), without_branches(right))
        case Binary(operator="||", left=left, right=right):
            return Binary("|", without_branches(left), without_branches(right))
        case _:
            return mapped(condition, without_branches)


def wide_lines(k: KernelWriter, factor: Factor) -> list[str]:
    """The read of four elements."""
    n = factor.accesses[0]
    slot = k.kernel.accesses[n].slot
    k.elements[k.slots.index(slot)] = "vec4<f32>"
    return [f"value = {bound_name(k, slot)}[({position(k, n)}) / 4u];"]


# --- Stores ----------------------------------------------------------------------------------------


def store_text(k: KernelWriter, product: Product, out: TiledText) -> None:
    """Statements for finished sums: of a row, of the first of four columns, of each, of the four."""
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
    out.whole = len(columns) > 0 and columns[len(columns) - 1].size % 4 == 0
    out.store_row = split_lines(k, k.outer, b, r, "outer", "row", "", "let")
    if out.whole:
        out.store_column = split_lines(k, k.outer, r, end, "outer", "first", "_first", "let")
    wide = out.whole and store_wide(k, accesses, end - 1)
    for c in range(4):
        point: list[str] = []
        if out.whole:
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
        out.store_point.append(point)
    if wide:
        slot = k.kernel.accesses[targets[0]].slot
        k.elements[k.slots.index(slot)] = "vec4<f32>"
        out.store_vec4 = [
            *bound_lines(k.outer, r, end, "outer", "_first"),
            f"{bound_name(k, slot)}[({position(k, targets[0])}) / 4u] = vector;",
        ]


def store_wide(k: KernelWriter, accesses: list[int], last: int) -> bool:
    """Whether the only store can take four columns at once."""
    if len(k.kernel.steps) != 2:
        return False
    step: Step = k.kernel.steps[1]
    n = step.target
    slot = k.kernel.accesses[n].slot
    if slot not in k.slots or k.call.slots[slot].dtype != "float32" or step.mode != "=" or k.r.offsets[n] % 4 != 0:
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
