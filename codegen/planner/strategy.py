"""Which strategy runs a kernel in a call, and with which numbers: the first schedule whose condition holds.

Schedules see facts of the kernel: `outer` points, `inner` points reduced for each, `vector` (four neighbours of
every tensor can be read at once), `unit` (the innermost reduced line has stride 1), and for contractions
the rows `M`, columns `N`, depth `K` and `batch`; dsl/checking/schedules.py declares them.  Without a schedule the plain
strategy runs: one thread an element.  No strategy changes a result beyond rounding.  Numbers that a device's user might
set are in ops/schedule.op; those below follow from how the kernels are made."""

from __future__ import annotations

from ..data.model import Env, Kernel, Op, Schedule
from .contract import Factor, Product
from .lines import points
from .memory import varies
from .strategies.tile_memory import Tile
from .strategies.tiled import blocks
from .writer import PLAIN_THREADS, Facts, KernelWriter, is_bound

# The strategies that run each shape of kernels, as dsl/checking/schedules.py declares them.
STRATEGIES = {
    "map": ["lanes"],
    "scatter": [""],
    "reduce": ["workgroup", "window"],
    "scan": ["block"],
    "contract": ["tiled_matmul", "exact_tile"],
    "attention": ["blocks"],
    "attention_gradient": ["pairs"],
}

# How much work keeps a large GPU busy: some hundred processors, each with a few workgroups under way.
BLOCKS_TO_FILL = 256  # rows or tiles with a workgroup each: from here on, dividing them gains nothing
MOST_AT_ONCE = 264  # tiles of the largest size, two for a processor: a few more would wait for all others
SMALL_BLOCK = 64  # threads of a workgroup of which a processor runs so many side by side that it takes
SMALL_BLOCKS_TO_FILL = 792  # six for each of an H200's 132 multiprocessors, which run them all at once
ROWS_TO_FILL = 65536  # rows with a thread each
THREADS_TO_FILL = 131072  # threads that share rows: more only wait for memory
# Rows that are reduced in parts: a second launch finishes them, which must be worth it.
LONG_ROW = 16384  # points of a row, of few rows, from which parts are worth it
PART = 4096  # points of a part: sixteen for each thread of a workgroup
MOST_PARTS = 2048  # of all rows together: the finishing launch stays short
MUCH_WORK = 1048576  # points of all rows, from which parts are worth it where lanes read far apart
APART_PART = 128  # points of such a part: each of its reads waits for memory alone
NEIGHBOURS = 32  # rows whose reads beside each other are as good as those along a row: a vector of 128 bytes
# Lanes of a row.
FEW_ROWS = 16  # so few rows are shared by lanes even where these do not read neighbours, and never divided then
LANE_POINTS = 2  # points of a lane, so that half of the lanes do not idle
VEC4_LANE_POINTS = 8  # two vec4s of a lane: more reads under way at once
VEC4_ROWS = 512  # rows from which there are lanes enough to take two vec4s each
APART_LANE_POINTS = 8  # points of a lane that does not read neighbours
MOST_LANES_APART = 16  # lanes of a row that do not read neighbours: more would only spread its reads further
# Tiles of contractions.
LEAST_TILE = 8  # rows and columns that one thread makes
# Rows and columns of a thread: eight, two vec4s, make 64 sums of 16 numbers loaded, four only 16 of 8.  A workgroup
# keeps 64 threads, two warps: a square tile from 64 on, and a tile of 128 by 32, eight by four for each thread.
THREAD_SIZE, SMALL_THREAD_SIZE = 8, 4
SQUARE = 64
LONG_SIDE, SHORT_SIDE = 128, 32
MOST_EMPTY = 5  # a tile is halved where more than one part in so many of its rows or columns would be empty
HALVED_TILE = 32  # tiles from which half a tile is still large enough to reuse what it loads
DEEP = 2048  # depth that is divided among blocks instead, so that few tiles still fill a device
MEDIUM_TILE = 64  # rows and columns of tiles where the schedule's would leave a device idle: half of them,
SMALL_TILE = 32  # and a quarter, with four rows and columns for each thread
SMALLEST_AREA = 1024  # sums of a tile below which loading outweighs them
TILES_TO_FILL = 96  # tiles, about as many as a GPU has processors
# Tiles of 64 by 64 that all run at once, with 128 threads each, which then hide more of each other's waits than 64 do.
MOST_RESIDENT = 600
MOST_IN_PAIRS = 264  # two for a processor: from here on, only where a factor's neighbours lie along the depth
# Tiles whose threads are two slices, where both factors are loaded four elements at once.
SLICES = 2
MOST_SLICED = 2048  # tiles from which as many workgroups of one slice run beside each other
PROCESSORS = 132  # of an H200: so many tiles more are a round more for the slowest of them
FIRST_ROUND = 0.4  # of a round: what a processor that runs few workgroups waits for memory
WORTH_HALVING = 0.8  # of the rounds, from which half a tile, which loads more for each sum, is worth it
# What parts cost, in points of the depth that a workgroup goes through meanwhile: another launch, and a sum's part.
LAUNCH_COST, SUM_COST = 150.0, 0.0001
DEPTH_PART = 256  # points of the depth that a block takes at least: less does not pay for adding up the parts
MOST_DEPTH_PARTS = 256  # parts of the depth that are added up afterwards


def chosen(op: Op, kernel: Kernel, shape: str, rules: list[Schedule], facts: Env, call: Env) -> Schedule | None:
    """The schedule for a kernel: the op's own rules go before those for all kernels of a shape."""
    env: Env = {}
    for name in call:
        env[name] = call[name]
    for name in facts:
        env[name] = facts[name]
    for rule in op.schedules + rules:
        if rule.kernel != op.name and rule.kernel != shape or rule.strategy not in STRATEGIES[shape]:
            continue
        if rule.when is None or rule.when(env) != 0:
            return rule
    return None


def number(rule: Schedule, name: str) -> int:
    """A setting of the schedule's strategy: dsl/checking/schedules.py sees to it that each is given."""
    return int(rule.numbers[name])


def threads_of(rule: Schedule, facts: Facts) -> int:
    """The threads of a workgroup: as many as the schedule says, if the device has them."""
    return min(number(rule, "threads"), facts.max_threads)


def unit(k: KernelWriter) -> bool:
    """Whether neighbouring lanes read neighbours where they walk along the reduction: the first tensor that is read
    along its innermost line says so, unless only others change from row to row and have their neighbours there (a
    vector times a matrix)."""
    if len(k.reduce) == 0:
        return True
    last = k.reduce[len(k.reduce) - 1]
    reads = [n for n in range(len(k.kernel.accesses)) if is_bound(k, n) and varies(k, n)]
    strided = [n for n in reads if last.strides[n] != 0]
    if len(strided) == 0:
        return len(reads) == 0
    if len(k.outer) > 0:
        beside = k.outer[len(k.outer) - 1]
        neighbours = beside.size >= NEIGHBOURS and any(beside.strides[n] == 1 for n in strided)
        if neighbours and not any(beside.strides[n] != 0 and last.strides[n] == 1 for n in strided):
            return False
    return last.strides[strided[0]] == 1


def power_of_two(limit: int) -> int:
    """The largest power of two up to `limit`, at least 1."""
    out = 1
    while out * 2 <= limit:
        out *= 2
    return out


def parts_of(rows: int, inner: int, along: bool) -> int:
    """In how many parts each of `rows` rows of `inner` points is reduced: 1 unless rows are few and long; `along`:
    whether lanes read neighbours.  Where they do not, threads must be many for other reasons: each reads alone."""
    if not along and rows >= FEW_ROWS and rows < ROWS_TO_FILL and rows * inner >= MUCH_WORK:
        return max(min(inner // APART_PART, THREADS_TO_FILL // rows), 1)
    if rows >= BLOCKS_TO_FILL or inner < LONG_ROW:
        return 1
    return max(min((inner + PART - 1) // PART, MOST_PARTS // rows), 1)


def reduction_shape(k: KernelWriter, rule: Schedule | None, facts: Facts, parts: int, vec4s: bool) -> list[int]:
    """[lanes, columns, adjacent] of a reduction, for rows in so many parts; see reduction.py.  vec4s: whether lanes
    take four neighbours at once; then they should have two vec4s or more, for more reads under way."""
    if rule is None:
        return [1, PLAIN_THREADS, 0]
    threads = threads_of(rule, facts)
    rows = points(k.outer) * parts
    inner = (points(k.reduce) + parts - 1) // parts
    if unit(k) or rows < FEW_ROWS:
        share = VEC4_LANE_POINTS if vec4s and rows >= VEC4_ROWS else LANE_POINTS
        lanes = min(power_of_two(max(inner // share, 1)), threads)
        return [lanes, threads // lanes, 1]
    lanes = 1
    while lanes < MOST_LANES_APART and rows * lanes < ROWS_TO_FILL and inner >= APART_LANE_POINTS * lanes:
        lanes *= 2
    return [lanes, threads // lanes, 0]


def tile_of(rule: Schedule, product: Product) -> Tile:
    """The tile that the schedule names where such tiles fill a device just once, else half of it each way, in
    workgroups of a quarter of the threads: more of them run side by side and hide each other's waits.  Smaller still
    while so few tiles would leave most of a device idle though the depth is short."""
    rows = fitting(points(product.rows), number(rule, "rows"))
    columns = fitting(points(product.columns), number(rule, "columns"))
    depth = number(rule, "depth")
    tile = Tile(rows, columns, depth, thread_size(rows, columns), thread_size(columns, rows))
    count = blocks(product, tile)
    if count >= BLOCKS_TO_FILL and count <= MOST_AT_ONCE:
        return tile
    deep = points(product.depth) >= DEEP
    if (deep or count >= TILES_TO_FILL) and rows >= SQUARE and columns >= SQUARE:
        own, other = fitting(points(product.rows), SQUARE), fitting(points(product.columns), SQUARE)
        return Tile(own, other, depth, thread_size(own, other), thread_size(other, own))
    if deep:
        return tile
    for most in [MEDIUM_TILE, SMALL_TILE]:
        area = tile.rows * tile.columns
        if blocks(product, tile) < TILES_TO_FILL and max(tile.rows, tile.columns) > most and area > SMALLEST_AREA:
            tile = Tile(min(rows, most), min(columns, most), depth, SMALL_THREAD_SIZE, SMALL_THREAD_SIZE)
            if tile.rows == MEDIUM_TILE and tile.columns == MEDIUM_TILE:
                tile.depth = 2 * depth
    return tile


def sliced_tile(product: Product, tile: Tile, shared: int) -> Tile:
    """Another tile of the same sums, whose threads are slices of the depth: where tiles are few, more threads hide each
    other's waits so, each still with many sums for what it loads.  For factors that are loaded four elements at once;
    measured on an H200: a tenth to a quarter faster.  shared: bytes of workgroup memory."""
    if tile.rows != SQUARE or tile.columns != SQUARE:
        return tile
    depth = SLICES * tile.depth if tile.thread_rows == THREAD_SIZE else tile.depth
    if 2 * 4 * SQUARE * depth > shared:
        return tile
    other = Tile(SQUARE, SQUARE, depth, THREAD_SIZE, THREAD_SIZE, SLICES)
    half = Tile(SQUARE, SQUARE // 2, depth, THREAD_SIZE, SMALL_THREAD_SIZE, SLICES)
    count = blocks(product, other)
    if count > MOST_SLICED:
        return tile
    halved = count >= TILES_TO_FILL and rounds(blocks(product, half)) / 2 < WORTH_HALVING * rounds(count)
    return half if halved and points(product.depth) < DEEP else other


def rounds(count: int) -> int:
    """How many of so many tiles a processor runs at most."""
    return (count + PROCESSORS - 1) // PROCESSORS


def resident_tile(product: Product, tile: Tile, shared: int) -> Tile:
    """Another tile of the same sums in workgroups of twice the threads, which load twice the depth at once, where so
    few tiles run at the same time; measured on an H200: a tenth to a third faster.  shared: bytes of workgroup
    memory."""
    if min(points(product.rows), points(product.columns)) < SQUARE or min(tile.rows, tile.columns) < SQUARE:
        return tile
    depth = 2 * tile.depth if tile.thread_rows == THREAD_SIZE else tile.depth
    other = Tile(SQUARE, SQUARE, depth, THREAD_SIZE, SMALL_THREAD_SIZE)
    count = blocks(product, other)
    if count < TILES_TO_FILL or count > MOST_RESIDENT or 2 * 4 * SQUARE * depth > shared:
        return tile
    if (
        count > MOST_IN_PAIRS
        and not deep_neighbours(product, product.left)
        and not deep_neighbours(product, product.right)
    ):
        return tile
    return other


def deep_neighbours(product: Product, factor: Factor) -> bool:
    """Whether a factor's elements lie next to each other along the depth."""
    if len(product.depth) == 0:
        return False
    last = product.depth[len(product.depth) - 1]
    return any(last.strides[n] == 1 for n in factor.accesses)


def software_tile(rule: Schedule, product: Product) -> Tile:
    """The tile for a device of few cores: as much reuse as its registers take, however few tiles there are."""
    most = number(rule, "rows") // 2
    rows, columns = fitting(points(product.rows), most), fitting(points(product.columns), most)
    return Tile(rows, columns, number(rule, "depth"), LEAST_TILE, LEAST_TILE)


def fitting(count: int, most: int) -> int:
    """The size of tiles for so many rows or columns: the smallest power of two that takes them all, up to `most`; half
    of that where too much would be empty."""
    size = LEAST_TILE
    while size < count and size < most:
        size *= 2
    half = size // 2
    if half >= HALVED_TILE and filled(count, half) * MOST_EMPTY <= filled(count, size) * (MOST_EMPTY - 1):
        return half
    return size


def filled(count: int, size: int) -> int:
    """The rows or columns of all tiles of a size that take so many."""
    return (count + size - 1) // size * size


def thread_size(own: int, other: int) -> int:
    """Rows (or columns) of a thread in a tile."""
    large = own >= SQUARE and other >= SQUARE or own >= LONG_SIDE and other >= SHORT_SIDE
    return THREAD_SIZE if large else SMALL_THREAD_SIZE


def depth_parts(product: Product, tile: Tile, depth: int, software: bool) -> int:
    """Among how many blocks the depth of each tile is divided, where there are few tiles and much depth."""
    count = max(blocks(product, tile), 1)
    most = max(min(depth // DEPTH_PART, MOST_DEPTH_PARTS), 1)
    if not software and count >= TILES_TO_FILL and depth < DEEP:
        return 1
    if tile.slices > 1:
        return fastest_parts(count, tile.rows * tile.columns, depth, most)
    threads = tile.rows // tile.thread_rows * (tile.columns // tile.thread_columns)
    fill = SMALL_BLOCKS_TO_FILL if threads <= SMALL_BLOCK and not software else BLOCKS_TO_FILL
    return max(min(fill // count, most), 1)


def fastest_parts(count: int, area: int, depth: int, most: int) -> int:
    """The number of parts, up to `most`, by which so many tiles of an area take the least time."""
    best = 1
    least = (rounds(count) + FIRST_ROUND) * depth
    for parts in range(2, most + 1):
        cost = (rounds(count * parts) + FIRST_ROUND) * depth / parts + LAUNCH_COST + SUM_COST * count * area * parts
        if cost < least:
            best = parts
            least = cost
    return best
