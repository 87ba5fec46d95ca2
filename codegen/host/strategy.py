"""Which strategy runs a nest in a call, and with which numbers: the first schedule whose condition holds.

Schedules see facts of the nest: `outer` points, `inner` points reduced for each, `vector` (four neighbours of
every tensor can be read at once), `unit` (the innermost reduced line has stride 1), and for contractions
the rows `M`, columns `N`, depth `K` and `batch`.  Without a schedule the plain strategy runs: one thread an
element.  No strategy changes a result beyond rounding."""

from __future__ import annotations

from .contract import Product
from .kernel import Facts, Kernel, is_bound
from .lines import points
from .memory import varies
from .model import Env, Nest, Op, Schedule
from .tiled import Tile, blocks


def chosen(op: Op, nest: Nest, shape: str, rules: list[Schedule], facts: Env, call: Env) -> Schedule | None:
    """The schedule for a nest: the op's own rules go before those for all nests of a shape."""
    env: Env = {}
    for name in call:
        env[name] = call[name]
    for name in facts:
        env[name] = facts[name]
    for rule in op.schedules + rules:
        if rule.nest != op.name and rule.nest != shape:
            continue
        if rule.when is None or rule.when(env) != 0:
            return rule
    return None


def number(rule: Schedule, name: str, default: int) -> int:
    return int(rule.numbers[name]) if name in rule.numbers else default


def unit(k: Kernel) -> bool:
    """Whether the reads that change along the reduction lie next to each other along its innermost line."""
    if len(k.reduce) == 0:
        return True
    last = k.reduce[len(k.reduce) - 1]
    for n in range(len(k.nest.accesses)):
        if is_bound(k, n) and varies(k, n):
            return last.strides[n] == 1
    return True


def power_of_two(limit: int) -> int:
    """The largest power of two up to `limit`, at least 1."""
    out = 1
    while out * 2 <= limit:
        out *= 2
    return out


def parts_of(rows: int, inner: int, along: bool) -> int:
    """In how many parts each of `rows` rows of `inner` points is reduced: 1 unless rows are few and long; `along`:
    whether lanes read neighbours.  Where they do not, threads must be many for other reasons: each reads alone."""
    if not along and rows >= 16 and rows < 65536 and rows * inner >= 1048576:
        return max(min(inner // 128, 131072 // rows), 1)
    if rows >= 256 or inner < 16384:
        return 1
    return max(min((inner + 4095) // 4096, 2048 // rows), 1)


def row_shape(k: Kernel, rule: Schedule | None, facts: Facts, parts: int, quads: bool) -> list[int]:
    """[lanes, columns, adjacent] of a row kernel, for rows in so many parts; see row.py.  quads: whether lanes take
    four neighbours at once; then they should have two quads or more, for more reads under way."""
    if rule is None:
        return [1, 64, 0]
    threads = min(number(rule, "threads", 256), facts.max_threads)
    rows = points(k.outer) * parts
    inner = (points(k.reduce) + parts - 1) // parts
    if unit(k) or rows < 16:
        lanes = min(power_of_two(max(inner // (8 if quads and rows >= 512 else 2), 1)), threads)
        return [lanes, threads // lanes, 1]
    lanes = 1
    while lanes < 16 and rows * lanes < 65536 and inner >= 8 * lanes:
        lanes *= 2
    return [lanes, threads // lanes, 0]


def tile_of(rule: Schedule, product: Product) -> Tile:
    """The tile that the schedule names, made smaller where there are few rows or columns, and while so few tiles would
    leave most of a device idle though the depth is short."""
    rows = fitting(points(product.rows), number(rule, "rows", 128))
    columns = fitting(points(product.columns), number(rule, "columns", 128))
    depth = number(rule, "depth", 16)
    tile = Tile(rows, columns, depth, thread_size(rows, columns), thread_size(columns, rows))
    if points(product.depth) >= 2048:
        return tile
    for most in [64, 32]:
        if blocks(product, tile) < 96 and max(tile.rows, tile.columns) > most and tile.rows * tile.columns > 1024:
            tile = Tile(min(rows, most), min(columns, most), depth, 4, 4)
            if tile.rows == 64 and tile.columns == 64:
                tile.depth = 2 * depth
    return tile


def software_tile(rule: Schedule, product: Product) -> Tile:
    """The tile for a device of few cores: as much reuse as its registers take, however few tiles there are."""
    most = number(rule, "rows", 128) // 2
    return Tile(
        fitting(points(product.rows), most), fitting(points(product.columns), most), number(rule, "depth", 16), 8, 8
    )


def fitting(count: int, most: int) -> int:
    """The size of tiles for so many rows or columns: the smallest power of two from 8 on that takes them all, up to
    `most`; half of that where much would be empty."""
    size = 8
    while size < count and size < most:
        size *= 2
    half = size // 2
    if half >= 32 and (count + half - 1) // half * half * 5 <= (count + size - 1) // size * size * 4:
        return half
    return size


def thread_size(own: int, other: int) -> int:
    """Rows (or columns) of a thread in a tile."""
    return 8 if own >= 64 and (other >= 64 or own >= 128 and other >= 32) else 4


def depth_parts(product: Product, tile: Tile, depth: int) -> int:
    """Among how many blocks the depth of each tile is divided, where there are few tiles and much depth."""
    return max(min(256 // max(blocks(product, tile), 1), depth // 256, 64), 1)
