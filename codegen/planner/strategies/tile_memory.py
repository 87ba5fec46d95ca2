"""A factor's block in workgroup memory: how tiles lie there, and the statements that keep what threads have loaded."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import Factor
from ..lines import Line
from .tiled_places import power_from

STRIP = 16  # elements of a row or column that a thread loads at once
WIDE = ["across", "depth"]  # loads of four elements at once
BANKS_OF_VEC4 = 8  # vec4s that lie in the 32 banks of 32 bits that workgroup memory has on the GPUs we know


@dataclass
class Tile:
    """Sizes of a workgroup's tile and of a thread's, or a subgroup's (matrix_units.py).  slices: 2 where the depth
    of each loaded block is divided among two groups of threads, which add their sums in the end."""

    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int
    slices: int = 1


@dataclass
class Side:
    """A factor as the tiles load it.  lines: of the batch, then its own rows or columns, then the depth, each joined
    where this factor walks through them as one.  strip: how far apart in vec4s of the tile a thread's vec4s are.  load:
    "across" four neighbours, along the "depth" four points at once (128 bits); a "piece" of four by four points whose
    neighbours lie along the depth; or a "strip", all the depth of one row or column.  tile: the array in workgroup
    memory.  rotated: whether vec4 n of a point of the depth lies at n XOR that point's number among eight, so that
    threads that read neighbouring points read from different banks."""

    name: str
    flat: str
    factor: Factor
    batch: int
    outer: list[Line]
    reduce: list[Line]
    size: int
    stride: int
    load: str
    tile: str
    rotated: bool = False
    halves: bool = False  # whether pieces are half numbers until they are kept
    # Elements from one line of the tile to the next where it keeps half numbers one by one, lying as in memory
    # (matrix_units.py); 0 where it keeps vec4s.
    pitch: int = 0


def pieces(side: Side, tile: Tile) -> int:
    """How many pieces of sixteen elements a block of the factor has."""
    return side.size * tile.depth // 16


def places(side: Side, tile: Tile, thread: str) -> list[str]:
    """For each point of the depth that a slice has of a block, where a thread's vec4 of it begins: vec4s are permuted
    along the depth, so that the writes of threads that read along it fall on different banks."""
    most = turned(side)
    run = tile.depth // tile.slices
    out: list[str] = []
    for d in range(run):
        place = thread
        if most > 0 and tile.slices > 1 and run % (2 * (most + 2)) != 0:
            place = f"({thread} ^ (((deep + {d}u) / 2u) & {most}u)) % {side.stride}u"
        elif most > 0 and d // 4 * 2 % (most + 2) > 0:
            place = f"({thread} ^ {d // 4 * 2 % (most + 2)}u) % {side.stride}u"
        out.append(place)
    return out


def turned(side: Side) -> int:
    """The largest such permutation: 6 where the vec4s take all banks."""
    return max(min(side.stride, BANKS_OF_VEC4) - 2, 0) if side.load == "depth" else 0


def kept(side: Side, name: str, piece: str) -> list[str]:
    """Statements that put what a thread has loaded, `piece` and a number, into the tile.  name: of the load."""
    if side.pitch > 0:
        return halves_kept(side, name, piece)
    return strip_kept(side, name, piece) if side.load == "strip" else vec4s_kept(side, name, piece)


def vec4s_kept(side: Side, name: str, piece: str) -> list[str]:
    """Four points of the depth of four rows or columns."""
    vec4s = side.size // 4
    flat = side.flat
    out: list[str] = []
    within = power_from(vec4s)
    for j in range(4):
        at = f"{side.tile}[({name}_deep + {j}u) * {vec4s}u + "
        if side.rotated:
            row = f"vec4({piece}0[{j}], {piece}1[{j}], {piece}2[{j}], {piece}3[{j}])"
            vector = row if side.load == "depth" else f"{piece}{j}"
            out.append(f"{at}(({name}_{flat} / 4u) ^ (({name}_deep + {j}u) & 7u)) % {within}u] = {vector};")
        elif side.load == "depth":
            vec4 = f"{name}_{flat} / 4u"
            if turned(side) > 0:
                vec4 = f"(({vec4}) ^ (({name}_deep / 2u) & {turned(side)}u)) % {within}u"
            vector = f"vec4({piece}0[{j}], {piece}1[{j}], {piece}2[{j}], {piece}3[{j}])"
            out.append(f"{at}{vec4}] = {f'vec4<f32>({vector})' if side.halves else vector};")
        else:
            out.append(f"{at}{name}_{flat} / 4u] = {f'vec4<f32>({piece}{j})' if side.halves else f'{piece}{j}'};")
    return out


def strip_kept(side: Side, name: str, piece: str) -> list[str]:
    """A strip into workgroup memory."""
    at = f"{side.tile}[({name}_deep + "
    vec4s = side.size // 4
    own = f"{name}_{side.flat}"
    out: list[str] = []
    for j in range(STRIP):
        vec4 = f"{own} / 4u"
        if side.rotated:
            vec4 = f"(({vec4}) ^ (({name}_deep + {j}u) & 7u)) % {power_from(vec4s)}u"
        out.append(f"{at}{j}u) * {vec4s}u + {vec4}][{own} % 4u] = {piece}{j // 4}[{j % 4}];")
    return out


def halves_kept(side: Side, name: str, piece: str) -> list[str]:
    """What a thread has loaded into a tile of single half numbers: a line of it is one point of the depth where the
    load went across, else one row or column."""
    own, deep = f"{name}_{side.flat}", f"{name}_deep"
    if side.load == "strip":
        start = f"{side.tile}[{own} * {side.pitch}u + {deep}"
        return [f"{start} + {j}u] = {piece}{j // 4}[{j % 4}];" for j in range(STRIP)]
    line, along = (deep, own) if side.load == "across" else (own, deep)
    out: list[str] = []
    for j in range(4):
        start = f"{side.tile}[({line} + {j}u) * {side.pitch}u + {along}"
        # A "piece" has the depth in its vectors' numbers, and a row or column in their elements.
        out.extend(
            [
                f"{start} + {c}u] = {f'{piece}{c}[{j}]' if side.load == 'piece' else f'{piece}{j}[{c}]'};"
                for c in range(4)
            ]
        )
    return out
