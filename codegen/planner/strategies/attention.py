"""The `blocks` strategy of an attention: a workgroup keeps a block of queries and goes through the keys in blocks.

Of each query it keeps the largest score so far, the sum of the exponentials and the sums of the values; where a later
block has a larger score, these shrink by the exponential of the difference (Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018; Dao et al., "FlashAttention", 2022).  So neither scores nor weights are ever in memory.
Both products are made in tiles, as tiled.py's."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Call
from ...data.nodes import Element
from ..attention.attention_kernels import Attention, hides_later
from ..attention.pair_formulas import ROOM, branchless, straight
from ..contract import Factor, Product
from ..lines import Line, Resolved, collapsed, points
from ..memory import needed, read_lines
from ..positions import variable
from ..printed import printed
from ..writer import Facts, KernelWriter, declarations, infinite, uniform, use
from .tile_memory import Tile, turned
from .tiled import Stores, side_of, stores_of
from .tiled_lines import split_lines
from .tiled_loads import Load, loads_of

ROWS = 32  # queries of a block: four for a thread, as more sums of a thread leave too little to run beside it
KEYS = 64  # of a block
DEPTH = 16  # of the features of queries and keys, or of keys, that are in workgroup memory at once
ACROSS = 16  # threads side by side, each with four neighbouring keys or columns
THREAD_ROWS = 4
THREADS = ROWS // THREAD_ROWS * ACROSS
MOST_COLUMNS = 128  # features of a value: a thread makes eight columns of them at most


@dataclass
class AttentionText:
    """What attention.wgsl.j2 shows.  rows, keys: of a block; column_vec4: columns of a thread; wide: vec4s of a point
    of the right tile; batch, batch_names: the batch's variables; score: statements of a function, the last one its
    result; room: how far a score may be above what is subtracted from it; products, values: loads; *_turned: how
    vec4s are permuted along the depth (tile_memory.py); causal: whether keys behind a block's last query do not
    count; safe: whether a query without keys has zeros."""

    title: str
    declarations: list[str]
    helpers: str
    rows: int
    keys: int
    threads: int
    column_vec4: int
    wide: int
    batch: list[str]
    batch_names: list[str]
    score: list[str]
    exponential: str
    room: str
    quotient: str
    safe: bool
    products: list[Load]
    values: list[Load]
    left_turned: int
    right_turned: int
    value_turned: int
    causal: bool
    stores: Stores


@dataclass
class Lines:
    """The lines of an attention by role."""

    batch: list[Line]
    queries: list[Line]
    columns: list[Line]
    keys: list[Line]
    depth: list[Line]


def lines_of(a: Attention, call: Call, r: Resolved) -> Lines:
    """The lines by role."""
    out = Lines([], [], [], r.reduce[:1], r.reduce[1:])
    shared = a.kernel.accesses[a.weights].axes
    at = 0
    for loop in a.kernel.loops:
        count = 1 if loop.extent is not None else len(call.packs[loop.pack])
        own = r.outer[at : at + count]
        at += count
        if loop.name not in shared:
            out.columns.extend(own)
        elif loop.name == shared[len(shared) - 2]:
            out.queries.extend(own)
        else:
            out.batch.extend(own)
    out.batch = collapsed(out.batch)
    return out


def column_vec4s(lines: Lines) -> int:
    """Vec4s of columns of a thread."""
    return (points(lines.columns) + 4 * ACROSS - 1) // (4 * ACROSS)


def blocks_possible(lines: Lines, facts: Facts) -> bool:
    """Whether a device has the threads and the workgroup memory: of both tiles and the weights."""
    columns = 4 * ACROSS * column_vec4s(lines)
    numbers = (ROWS + max(KEYS, columns)) * DEPTH + ROWS * KEYS
    return columns <= MOST_COLUMNS and 4 * numbers <= facts.max_shared and THREADS <= facts.max_threads


def block_rows(lines: Lines) -> int:
    """Blocks of queries of one of the batch."""
    return (points(lines.queries) + ROWS - 1) // ROWS


def accesses_of(k: KernelWriter, a: Attention) -> list[int]:
    """The accesses of the one kernel: not those to what was stored between several."""
    out = [a.query, a.key, a.value, *needed(k, [a.score])]
    for n in range(1, len(k.kernel.steps)):
        target = k.kernel.steps[n].target
        out.extend(needed(k, [k.code.steps[n].body, *k.code.accesses[target].index]))
        out.append(target)
    return out


def attention_text(k: KernelWriter, a: Attention, lines: Lines, title: str) -> AttentionText:
    """The text of blocks."""
    vec4s = column_vec4s(lines)
    uniform(k, "blocks", "u", points(lines.batch) * block_rows(lines))
    uniform(k, "tile_rows", "u", block_rows(lines))
    uniform(k, "row_count", "u", points(lines.queries))
    uniform(k, "key_count", "u", points(lines.keys))
    uniform(k, "column_count", "u", points(lines.columns))
    uniform(k, "depth", "u", points(lines.depth))
    uniform(k, "inf", "f", infinite("inf"))
    use(k, branchless(a.exponential))
    query = Factor([a.query], Element(a.query), None)
    key = Factor([a.key], Element(a.key), None)
    value = Factor([a.value], Element(a.value), None)
    weights = Factor([a.weights], Element(a.weights), None)
    scores = Product(lines.batch, lines.queries, lines.keys, lines.depth, query, key)
    product = Product(lines.batch, lines.queries, lines.columns, lines.keys, weights, value)
    batch = split_lines(k, lines.batch, 0, len(lines.batch), "outer", "batch", "", "let")
    left = side_of(k, "left", "row", scores, query, lines.queries, ROWS, ROWS // THREAD_ROWS)
    right = side_of(k, "right", "key", scores, key, lines.keys, KEYS, ACROSS)
    across = side_of(k, "value", "column", product, value, lines.columns, 4 * ACROSS * vec4s, ACROSS)
    across.tile = right.tile
    tile = Tile(ROWS, KEYS, DEPTH, THREAD_ROWS, 4)
    products = loads_of(k, [left, right], tile, THREADS, "f", points(lines.depth) % DEPTH != 0)
    values = loads_of(k, [across], tile, THREADS, "f", points(lines.keys) % DEPTH != 0)
    k.prefix = ""
    k.reduce = []
    score = score_lines(k, a, lines)
    k.outer = product.batch + product.rows + product.columns
    k.reduce = product.depth
    k.prefix = ""
    stores = stores_of(k, product)
    shared = a.kernel.accesses[a.weights].axes
    return AttentionText(
        title,
        declarations(k),
        "",
        ROWS,
        KEYS,
        THREADS,
        vec4s,
        max(KEYS // 4, ACROSS * vec4s),
        batch,
        [variable(lines.batch[d], "outer", d) for d in range(len(lines.batch))],
        score,
        branchless(a.exponential),
        ROOM,
        a.quotient,
        a.safe,
        products,
        values,
        turned(left),
        turned(right),
        turned(across),
        hides_later(a.score, shared[len(shared) - 2], shared[len(shared) - 1], k.call.env),
        stores,
    )


def score_lines(k: KernelWriter, a: Attention, lines: Lines) -> list[str]:
    """Statements that answer the score of the query `row` and the key `key`, of which `product` is the product."""
    k.outer = lines.batch + lines.queries + lines.keys
    k.prefix = "score_"
    d = len(lines.batch)
    out: list[str] = []
    for line in [*lines.queries, *lines.keys]:
        flat = "min(row, p.row_count - 1u)" if d == len(lines.batch) else "min(key, p.key_count - 1u)"
        out.append(f"let {variable(line, 'outer', d)} = {flat if line.name == '' else f'i32({flat})'};")
        d += 1
    score = straight(a.score, a.exponential)
    out.extend(read_lines(k, [score], [], "", False))
    out.append(f"return select(-p.inf, {printed(score)}, key < p.key_count);")
    return out
