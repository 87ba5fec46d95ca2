"""How a sum of products splits into A(batch, rows, depth) * B(batch, columns, depth).

Rows are the outer loops that only A depends on, columns those that only B depends on; a condition goes with the factor
whose loops it needs.  codegen/kernels/contraction.py asks it of the loops of a definition, which are numbered,
codegen/planner/contract.py of the lines of a call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Split:
    """a, b: what each factor depends on, its conditions included.  right: for each condition whether it goes with
    B."""

    a: list[int]
    b: list[int]
    right: list[bool]


def split_of(a: list[int], b: list[int], conditions: list[list[int]], outer: int) -> Split | None:
    """a, b, conditions: the loops that each depends on, outer ones by the numbers below `outer`.  None: a condition
    depends on rows and columns."""
    rows = [n for n in a if n < outer and n not in b]
    columns = [n for n in b if n < outer and n not in a]
    out = Split(a[:], b[:], [])
    for condition in conditions:
        of_rows = any(n in rows for n in condition)
        of_columns = any(n in columns for n in condition)
        if of_rows and of_columns:
            return None
        out.right.append(of_columns)
        side = out.b if of_columns else out.a
        side.extend([n for n in condition if n not in side])
    return out
