"""Tiles of contractions beyond those of the portable table: one that a schedule names exactly, and those that are worth
a trial, of which a device's own time decides (runtime/devices/webgpu/benchmark.ts)."""

from __future__ import annotations

from ..data.model import Env, Schedule
from .strategies.tile_memory import Tile
from .strategy import BLOCKS_TO_FILL, DEPTH_PART, SMALL_TILE, number
from .writer import Facts

# Rows, columns and depth of a tile, rows and columns of a thread's, slices: from few large ones to many small ones.
TRIED = [
    [128, 128, 16, 8, 8, 1],
    [128, 64, 16, 8, 8, 1],
    [64, 128, 16, 8, 8, 1],
    [64, 64, 16, 8, 8, 1],
    [64, 64, 32, 8, 8, 2],
    [64, 64, 32, 8, 4, 1],
    [64, 64, 32, 4, 4, 1],
    [128, 32, 16, 8, 4, 1],
    [64, 32, 32, 8, 4, 2],
    [32, 64, 16, 4, 4, 1],
    [32, 32, 16, 4, 4, 1],
]
MOST_PARTS = 16  # of the depth: with more, adding them up takes longer than what they save


def named_tile(rule: Schedule) -> Tile:
    """The tile of the strategy `exact_tile`."""
    return Tile(
        number(rule, "rows"),
        number(rule, "columns"),
        number(rule, "depth"),
        number(rule, "thread_rows"),
        number(rule, "thread_columns"),
        number(rule, "slices"),
    )


def fits(tile: Tile, facts: Facts, wide: bool) -> bool:
    """Whether a device has the threads and the memory for a tile; wide: whether both factors are loaded four elements
    at once, without which there are no slices."""
    threads = tile.rows // tile.thread_rows * (tile.columns // tile.thread_columns)
    shared = 4 * (tile.rows + tile.columns) * tile.depth
    if threads * tile.slices > facts.max_threads or shared > facts.max_shared:
        return False
    # The sums of a slice go through the memory of the factors, of each as many for a thread as it has room for.
    room = tile.rows * tile.depth // 4 // threads + tile.columns * tile.depth // 4 // threads
    return tile.slices == 1 or wide and room >= tile.thread_rows * tile.thread_columns // 4


def candidates(contraction: Env, facts: Facts) -> list[dict[str, float]]:
    """The settings of `exact_tile` that are worth a trial for a contraction of these facts; none on a CPU that plays a
    GPU, whose tiles are others."""
    out: list[dict[str, float]] = []
    if facts.software:
        return out
    for x in TRIED:
        if not fits(Tile(x[0], x[1], x[2], x[3], x[4], x[5]), facts, True):
            continue
        # Of a tile that is mostly empty half does the same.
        if contraction["M"] * 2 <= x[0] and x[0] > SMALL_TILE or contraction["N"] * 2 <= x[1] and x[1] > SMALL_TILE:
            continue
        out.append(settings_of(x, 1))
        # Few tiles also with the depth in parts, as many as fill a device.
        count = contraction["M"] / x[0] * (contraction["N"] / x[1]) * contraction["batch"]
        parts = 1
        while parts < MOST_PARTS and count * parts < BLOCKS_TO_FILL and contraction["K"] >= 2 * parts * DEPTH_PART:
            parts *= 2
        if parts > 1:
            out.append(settings_of(x, parts))
    return out


def settings_of(x: list[int], parts: int) -> dict[str, float]:
    return {
        "rows": float(x[0]),
        "columns": float(x[1]),
        "depth": float(x[2]),
        "thread_rows": float(x[3]),
        "thread_columns": float(x[4]),
        "slices": float(x[5]),
        "parts": float(parts),
    }
