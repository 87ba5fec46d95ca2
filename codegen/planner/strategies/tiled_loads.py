"""How the `tiled_matmul` strategy loads blocks of its factors into workgroup memory."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.nodes import Element, Node
from ..contract import Factor
from ..conversion import KIND_TYPES, ZEROS, converted
from ..lines import Line
from ..memory import access_kind, moves, needed
from ..positions import position, variable
from ..printed import printed
from ..writer import KernelWriter, bound_name, element_type, holds_vec4s, is_bound
from .tile_memory import STRIP, WIDE, Side, Tile, kept, pieces
from .tiled_lines import bound_lines, counted, split_lines
from .tiled_places import counts, place_of, split_position


@dataclass
class Load:
    """What some of the threads load of a block.  condition: which threads, "" all; places: before the loop; fetch: from
    memory into `piece` registers; keep: those into workgroup memory."""

    condition: str
    places: list[str]
    fetch: list[str]
    keep: list[str]


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
    It must be one tensor of float32 or float16, read plainly, whose strides leave vec4s whole."""
    factor = side.factor
    if len(factor.accesses) != 1 or factor.filter is not None or len(side.outer) == side.batch or len(side.reduce) == 0:
        return ""
    n = factor.accesses[0]
    if not isinstance(factor.body, Element) or k.code.accesses[n].guard is not None or k.r.offsets[n] % 4 != 0:
        return ""
    slot = k.kernel.accesses[n].slot
    if slot not in k.slots or not holds_vec4s(k.call.slots[slot].dtype):
        return ""
    for index in k.code.accesses[n].index:
        if index is not None:
            return ""
    for m in range(len(k.kernel.accesses)):
        if m != n and k.kernel.accesses[m].slot == slot and not (m in k.wide and n in k.wide):
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


def loads_of(
    k: KernelWriter, sides: list[Side], tile: Tile, threads: int, kind: str, ragged: bool, first: int = 0
) -> list[Load]:
    """Pieces of factors, one factor after another, shared out among the threads, so many at a time.  first: the number
    of a thread's first piece."""
    out: list[Load] = []
    start = 0
    for side in sides:
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
                    f"piece{first + r}_",
                    " && ".join(conditions),
                    kind,
                    ragged,
                    [low + r * threads - start, high + r * threads - start],
                )
            )
        start = end
    return out


def load_of(
    k: KernelWriter,
    side: Side,
    tile: Tile,
    name: str,
    number: str,
    piece: str,
    condition: str,
    kind: str,
    ragged: bool,
    numbers: list[int],
) -> Load:
    """One piece for each thread.  name: of this load's variables; number: of the thread's piece, among `numbers`."""
    k.outer = side.outer
    k.reduce = side.reduce
    k.prefix = f"{side.name}_"
    out = Load(condition, [], [], [])
    vec4s = side.size // 4
    flat = side.flat
    out.places.append(f"let {name} = {number};")
    if side.load == "strip":
        out.places.append(f"let {name}_{flat} = {name} % {side.size}u;")
        first, last_one = numbers[0] // side.size, (numbers[1] - 1) // side.size
        # The same number for all threads, where the text says so, is counted once for all of them.
        deep_text = f"{first * STRIP}u" if first == last_one else f"{name} / {side.size}u * {STRIP}u"
        out.places.append(f"let {name}_deep = {deep_text};")
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
    if side.load == "strip" and not ragged and side.pitch == 0 and takes_unrolled(k, side):
        out.fetch.extend(unrolled_strip(k, side, name, piece))
        out.keep.extend(kept(side, name, piece))
        return out
    out.fetch.extend(split_lines(k, side.reduce, 0, len(side.reduce), "inner", "inner", "", "var"))
    wide = side.load in WIDE
    known: list[dict[int, str]] = []
    for c in range(own):
        known.append({} if side.load != "strip" else known_places(k, side, f"_{name}_{c}", out.places))
    for j in range(deep):
        for c in range(own):
            to = f"{piece}{c if side.load == 'depth' else j // 4 if side.load == 'strip' else j}"
            if side.load == "strip":
                to = f"{to}[{j % 4}]"
            if side.load == "piece":
                to = f"{to}[{c}]"
            out.fetch.append("{")
            out.fetch.append(f"  var value = {f'vec4<{piece_type(side, kind)}>()' if wide else ZEROS[kind]};")
            out.fetch.append(f"  if (inner + {j}u < end) {{" if ragged else "  {")
            out.fetch.extend(
                [
                    "    " + line
                    for line in bound_lines(side.outer, side.batch, len(side.outer), "outer", f"_{name}_{c}")
                ]
            )
            out.fetch.extend(
                ["    " + line for line in (wide_lines(k, side) if wide else value_lines(k, side.factor, known[c]))]
            )
            out.fetch.append("  }")
            out.fetch.append(f"  {to} = {'f16(value)' if side.halves and not wide else 'value'};")
            out.fetch.append("}")
        if j < deep - 1:
            out.fetch.extend(counted(k, side.reduce, "inner"))
    out.keep.extend(kept(side, name, piece))
    return out


def known_places(k: KernelWriter, side: Side, suffix: str, before: list[str]) -> dict[int, str]:
    """The elements of the factor's accesses, of which what a row or column decides is computed before the loop."""
    out: dict[int, str] = {}
    for n in needed(k, [side.factor.filter, side.factor.body]):
        parts = split_position(k, side.batch, n, suffix)
        if len(parts) > 0:
            before.append(f"let from{n}{suffix} = {parts[0]};")
            out[n] = f"from{n}{suffix}" if parts[1] == "" else f"from{n}{suffix} + ({parts[1]})"
    return out


def takes_unrolled(k: KernelWriter, side: Side) -> bool:
    """Whether a strip is whole rounds of the innermost loop, which leaves a read of the factor where it is: the codes
    of quantised weights lie several to a word."""
    count = len(side.reduce)
    if count < 2 or side.factor.filter is not None:
        return False
    loop = side.reduce[count - 1]
    if loop.name == "" or loop.size < 2 or STRIP % loop.size != 0:
        return False
    return any(not moves(k, n, loop) for n in needed(k, [side.factor.body]))


def unrolled_strip(k: KernelWriter, side: Side, name: str, piece: str) -> list[str]:
    """The reads of a strip, each of them once for all points of the innermost loop that it does not move along."""
    count = len(side.reduce) - 1
    loop: Line = side.reduce[count]
    out = split_lines(k, side.reduce, 0, count, "inner", f"inner / {loop.size}u", "", "var")
    body = side.factor.body
    rounds = STRIP // loop.size
    for number in range(rounds):
        out.append("{")
        out.extend(
            ["  " + line for line in bound_lines(side.outer, side.batch, len(side.outer), "outer", f"_{name}_0")]
        )
        done = [n for n in needed(k, [body]) if moves(k, n, loop)]
        k.reduce = side.reduce[:count]
        out.extend(["  " + line for line in flat_reads(k, [body], done, "", {})])
        k.reduce = side.reduce
        still = [n for n in done if not moves(k, n, loop)]
        for point in range(loop.size):
            out.append("  {")
            out.append(f"    const {variable(loop, 'inner', count)}: i32 = {point};")
            out.extend(["    " + line for line in flat_reads(k, [body], still[:], "", {})])
            at = number * loop.size + point
            out.append(f"    {piece}{at // 4}[{at % 4}] = {printed(body)};")
            out.append("  }")
        out.append("}")
        if number < rounds - 1:
            out.extend(counted(k, side.reduce[:count], "inner"))
    return out


def value_lines(k: KernelWriter, factor: Factor, places: dict[int, str]) -> list[str]:
    """Statements that set `value` to the factor at the point that the variables name: without branches, for compilers
    take long over many of them.  places: of elements, as far as these are known."""
    done: list[int] = []
    out = flat_reads(k, [factor.filter], done, "", places)
    if factor.filter is None:
        out.extend(flat_reads(k, [factor.body], done, "", places))
        out.append(f"value = {printed(factor.body)};")
        return out
    out.append(f"let counts = {counts(k, factor.filter)};")
    out.extend(flat_reads(k, [factor.body], done, "counts", places))
    out.append(f"value = select(value, {printed(factor.body)}, counts);")
    return out


def flat_reads(
    k: KernelWriter, formulas: list[Node | None], done: list[int], condition: str, places: dict[int, str]
) -> list[str]:
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
            out.append(f"let there{n} = {counts(k, a.guard)};")
            there = f"there{n}" if condition == "" else f"there{n} & {condition}"
        place = place_of(k, n, places)
        at = place if there == "" else f"select(0u, {place}, {there})"
        text = converted(f"{bound_name(k, slot)}[{at}]", element_type(k, k.call.slots[slot].dtype), kind)
        out.append(f"let r{n} = {text if a.guard is None else f'select({other}, {text}, there{n})'};")
    return out


def piece_type(side: Side, kind: str) -> str:
    """The type of what a load has in registers.  Half numbers that were made float32 where they are read would be
    waited for there, before the sums of the last block and not beside them."""
    return "f16" if side.halves else KIND_TYPES[kind]


def wide_lines(k: KernelWriter, side: Side) -> list[str]:
    """The read of four elements."""
    n = side.factor.accesses[0]
    slot = k.kernel.accesses[n].slot
    element = element_type(k, k.call.slots[slot].dtype)
    k.elements[k.slots.index(slot)] = f"vec4<{element}>"
    text = f"{bound_name(k, slot)}[({position(k, n)}) / 4u]"
    return [f"value = {text if element == 'f32' or side.halves else f'vec4<f32>({text})'};"]
