"""The lines of a launch over pairs by role, and what its formulas read along them."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Call
from ...data.nodes import Element, Node
from ..attention.attention_gradient import PairKernel
from ..attention.pairs import COLUMN, Pairs
from ..lines import Line, Resolved, collapsed
from ..memory import access_kind, moves, needed, read_lines
from ..positions import variable
from ..printed import printed
from ..writer import KernelWriter, is_bound


@dataclass
class PairLines:
    """The lines of a launch by role; depths: of each product."""

    batch: list[Line]
    rows: list[Line]
    columns: list[Line]
    others: list[Line]
    depths: list[list[Line]]


@dataclass
class Ahead:
    """An element in a formula of pairs that only the row or only the other decides: it is read where these are known,
    since reads of each pair are waited for.  number: of the access; read: statements for the row `row` or the other
    `at`."""

    number: int
    read: list[str]


def pair_lines(pairs: Pairs, made: PairKernel, call: Call, r: Resolved) -> PairLines:
    """The lines by role."""
    query, key = pairs.axes[len(pairs.axes) - 2], pairs.axes[len(pairs.axes) - 1]
    own = key if len(made.sums) > 0 and not made.sums[0].by_query else query
    out = PairLines([], [], [], r.reduce[:1], [[line] for line in r.reduce[1:]])
    at = 0
    for loop in made.kernel.loops:
        count = 1 if loop.extent is not None else len(call.packs[loop.pack])
        lines = r.outer[at : at + count]
        at += count
        if loop.name == COLUMN:
            out.columns.extend(lines)
        elif loop.name == own:
            out.rows.extend(lines)
        else:
            out.batch.extend(lines)
    out.batch = collapsed(out.batch)
    return out


def pair_places(k: KernelWriter, lines: PairLines) -> None:
    """Formulas of pairs are read with these lines from now on."""
    k.outer = lines.batch + lines.rows
    k.reduce = lines.others
    k.prefix = "pair_"


def row_variables(lines: PairLines) -> list[str]:
    """The variables of the row `row`."""
    out: list[str] = []
    d = len(lines.batch)
    for line in lines.rows:
        flat = "min(row, p.row_count - 1u)"
        out.append(f"let {variable(line, 'outer', d)} = {flat if line.name == '' else f'i32({flat})'};")
        d += 1
    return out


def other_variables(lines: PairLines) -> list[str]:
    """The variables of the other `at`."""
    return [f"let {variable(line, 'inner', 0)} = {'at' if line.name == '' else 'i32(at)'};" for line in lines.others]


def ahead_of(
    k: KernelWriter, bodies: list[Node], along: list[Line], across: list[Line], variables: list[str]
) -> list[Ahead]:
    """The elements that formulas of pairs read along some lines and not along others; variables: of the former."""
    out: list[Ahead] = []
    for n in needed(k, [*bodies]):
        if not is_bound(k, n) or access_kind(k, n) != "f" or any(moves(k, n, line) for line in across):
            continue
        if any(moves(k, n, line) for line in along):
            out.append(Ahead(n, [*variables, *read_lines(k, [Element(n)], [], "", False)]))
    return out


def pair_function(k: KernelWriter, lines: PairLines, bodies: list[Node], ahead: list[Ahead]) -> list[str]:
    """Statements that set `value` and a number to each formula of the row `row` and the other `at`, by variables of
    their products and of what was read ahead."""
    out = [*row_variables(lines), *other_variables(lines)]
    out.extend(read_lines(k, [*bodies], [each.number for each in ahead], "", False))
    for n in range(len(bodies)):
        out.append(f"let value{n} = {printed(bodies[n])};")
    return out
