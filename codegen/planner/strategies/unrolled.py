"""The `reduce` strategy over packed elements: a row whose innermost loop is short and leaves some reads where they are,
as the codes of quantised weights lie several to a word.

A lane takes that loop at once, unrolled: what does not move along it is read once, what lies along it in vec4s where
it can be, and multiplied by what does not move along it afterwards.  A thread makes several neighbouring rows, which
share what does not change among them: a product of one row with such weights reads its input once for all of these."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import is_arg
from ...data.nodes import Node, factors_of, joined_by, uses_loop
from ..common import common
from ..conversion import KIND_TYPES
from ..lines import Line, points
from ..memory import moves, needed, read_lines, value_of
from ..positions import decode, position, variable
from ..printed import operand
from ..writer import KernelWriter, bound_name, declarations, element_type, holds_vec4s, is_bound, uniform
from .reduction import ReductionText, row_value
from .reduction_stores import outer_store
from .reduction_values import combine, joined, so_far, start, value_kind

MOST_UNROLLED = 8  # points of the loop: more would fill a kernel's text and registers
LEAST_POINTS = 8  # of a row, counted in such loops: less leaves nothing to share among lanes
LANE_POINTS = 8  # for each lane, so that reads are under way while others are used
MOST_LANE_POINTS = 32  # a lane adds 256 elements in a row at most, which keeps float sums accurate
MOST_ROWS = 4  # rows of a thread: more take registers from other threads
THREADS_TO_FILL = 32768  # threads from which making several rows with each pays


@dataclass
class Unrolled:
    """How a kernel's rows are made.  lanes: of a row; rows: of a thread; wide: the accesses read as vec4s."""

    lanes: int
    rows: int
    wide: list[int]


def unrolled_of(k: KernelWriter, threads: int) -> Unrolled | None:
    """How the rows are made with the innermost loop unrolled, None where that is not possible or gains nothing.
    threads: of a workgroup."""
    count = len(k.reduce)
    if k.op.random or len(k.kernel.steps) < 2 or count < 2:
        return None
    loop = k.reduce[count - 1]
    first = k.kernel.steps[0]
    if loop.name == "" or loop.size < 2 or loop.size > MOST_UNROLLED or first.kind != "reduce" or is_arg(first):
        return None
    if k.code.steps[0].pred is not None or value_kind(k, 0) != "f":
        return None
    for n in range(1, len(k.kernel.steps)):
        if k.kernel.steps[n].kind == "reduce" or k.kernel.steps[n].inner:
            return None
    others = k.reduce[: count - 1]
    inner = points(others)
    reads = needed(k, [k.code.steps[0].body])
    if not any(not moves(k, n, loop) and any(moves(k, n, line) for line in others) for n in reads):
        return None
    lanes = 1
    while lanes * 2 * LANE_POINTS <= inner and lanes * 2 <= threads:
        lanes *= 2
    if inner < LEAST_POINTS or inner > lanes * MOST_LANE_POINTS:
        return None
    rows = 1
    if len(k.outer) > 0:
        along = k.outer[len(k.outer) - 1].size
        while rows < MOST_ROWS and along % (2 * rows) == 0 and points(k.outer) // (2 * rows) * lanes >= THREADS_TO_FILL:
            rows *= 2
    return Unrolled(lanes, rows, [n for n in reads if takes_vec4s(k, n, loop)])


def takes_vec4s(k: KernelWriter, n: int, loop: Line) -> bool:
    """Whether the elements of access n along the loop are whole vec4s of a float tensor that nothing else reads."""
    access = k.code.accesses[n]
    slot = k.kernel.accesses[n].slot
    if not is_bound(k, n) or access.guard is not None or loop.strides[n] != 1 or loop.size % 4 != 0:
        return False
    if not holds_vec4s(k.call.slots[slot].dtype) or k.r.offsets[n] % 4 != 0:
        return False
    for index in access.index:
        if index is not None:
            return False
    for m in range(len(k.kernel.accesses)):
        if m != n and k.kernel.accesses[m].slot == slot:
            return False
    for line in k.outer + k.reduce[: len(k.reduce) - 1]:
        if line.strides[n] % 4 != 0:
            return False
    return True


def unrolled_text(k: KernelWriter, title: str, u: Unrolled, columns: int) -> ReductionText:
    """The text: u.lanes * columns threads in a workgroup, each with u.rows neighbouring rows."""
    uniform(k, "rows", "u", points(k.outer) // u.rows)
    reduce = k.reduce
    loop = reduce[len(reduce) - 1]
    k.reduce = reduce[: len(reduce) - 1]
    uniform(k, "inner_points", "u", points(k.reduce))
    for n in u.wide:
        slot = k.kernel.accesses[n].slot
        k.elements[k.slots.index(slot)] = f"vec4<{element_type(k, k.call.slots[slot].dtype)}>"
    formula = k.code.steps[0].body
    factors = factors_along(k, formula, loop)
    name = so_far(k, 0)
    type_ = KIND_TYPES[value_kind(k, 0)]
    body = decode(k, k.outer, "outer", "row" if u.rows == 1 else f"row * {u.rows}u", "")
    for r in range(u.rows):
        body.append(f"var {name}_{r}: {type_} = {start(k, k.kernel.steps[0].red, value_kind(k, 0))};")
    shared = [n for n in needed(k, [formula]) if not of_row(k, n, u)]
    body.append(f"for (var inner = lane; inner < p.inner_points; inner += {u.lanes}u) {{")
    body.extend(decode(k, k.reduce, "inner", "inner", "  "))
    done: list[int] = []
    body.extend(resting_reads(k, formula, loop, u, shared, done, "  "))
    k.reduce = reduce
    for r in range(u.rows):
        body.append("  {")
        body.extend(["    " + line for line in row_lines(k, u, r)])
        inside = done[:]
        body.extend(resting_reads(k, formula, loop, u, needed(k, [formula]), inside, "    "))
        total = f"{name}_{r}"
        if factors.still is not None:
            total = "word"
            body.append(f"    var word: {type_} = {start(k, k.kernel.steps[0].red, value_kind(k, 0))};")
        for point in range(loop.size):
            body.append("    {")
            body.append(f"      const {variable(loop, 'inner', len(reduce) - 1)}: i32 = {point};")
            own = inside[:]
            for n in u.wide:
                body.append(f"      let r{n} = {value_of(k, n, f'v{n}_{point // 4}[{point % 4}]')};")
            body.extend(read_lines(k, [formula], own, "      ", False))
            value = common(factors.moving, "common0")
            body.extend(["      " + line for line in value.lines])
            text = joined(k, k.kernel.steps[0].red, value_kind(k, 0), total, operand(value.formula))
            body.append(f"      {total} = {text};")
            body.append("    }")
        if factors.still is not None:
            body.append(f"    {name}_{r} += word * {operand(factors.still)};")
        body.append("  }")
    body.append("}")
    for r in range(u.rows):
        body.append("{")
        lines = row_lines(k, u, r)
        lines.append(f"var {name} = {name}_{r};")
        lines.extend(row_value(k, 0, u.lanes))
        stored: list[int] = []
        for i in range(1, len(k.kernel.steps)):
            lines.extend(outer_store(k, i, stored, u.lanes, ""))
        body.extend(["  " + line for line in lines])
        body.append("}")
    combines = combine(k, 0, u.lanes, columns, True) if u.lanes > 1 else []
    return ReductionText(title, declarations(k), "", combines, u.lanes * columns, columns, u.lanes, True, body)


@dataclass
class Factors:
    """What is added up, as a factor that moves along the loop and one that does not; None where there is none."""

    moving: Node
    still: Node | None


def factors_along(k: KernelWriter, formula: Node, loop: Line) -> Factors:
    if k.kernel.steps[0].red != "sum":
        return Factors(formula, None)
    moving: list[Node] = []
    still: list[Node] = []
    for factor in factors_of(formula, "f"):
        if uses_loop(factor, loop.name) or any(moves(k, n, loop) for n in needed(k, [factor])):
            moving.append(factor)
        else:
            still.append(factor)
    product = joined_by("*", moving)
    if product is None or len(still) == 0:
        return Factors(formula, None)
    return Factors(product, joined_by("*", still))


def of_row(k: KernelWriter, n: int, u: Unrolled) -> bool:
    """Whether what access n reads differs among the rows of a thread."""
    return u.rows > 1 and moves(k, n, k.outer[len(k.outer) - 1])


def row_lines(k: KernelWriter, u: Unrolled, r: int) -> list[str]:
    """Row r of a thread: the variables of the outer lines are those of its first."""
    if u.rows == 1 or r == 0:
        return []
    last = k.outer[len(k.outer) - 1]
    name = variable(last, "outer", len(k.outer) - 1)
    return [f"let {name} = {name} + {r}{'u' if last.name == '' else ''};"]


def resting_reads(
    k: KernelWriter, formula: Node, loop: Line, u: Unrolled, wanted: list[int], done: list[int], indent: str
) -> list[str]:
    """The reads of some accesses that the unrolled loop leaves where they are, and the vec4s that lie along it."""
    out: list[str] = []
    later: list[int] = []
    for n in needed(k, [formula]):
        if n in done:
            continue
        if n in wanted and n in u.wide:
            done.append(n)
            for q in range(loop.size // 4):
                at = f"({position(k, n)}) / 4u + {q}u"
                out.append(f"{indent}let v{n}_{q} = {bound_name(k, k.kernel.accesses[n].slot)}[{at}];")
        elif n not in wanted or moves(k, n, loop):
            later.append(n)
    passed = done + later
    before = len(passed)
    out.extend(read_lines(k, [formula], passed, indent, False))
    done.extend(passed[before:])
    return out
