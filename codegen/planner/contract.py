"""Contractions: sums of A(batch, rows, depth) * B(batch, columns, depth), as factors with their lines.

Here is said which of a kernel's lines are rows, columns, depth and batch (codegen/data/products.py), and what belongs
to which factor: the accesses of A are the kernel's `left`.  Indices, guards and filters stay with the factor that they
belong to, so a convolution is a matrix product like any other.  How the product runs in tiles is tiled.py's."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.nodes import Constant, Node, factors_of, joined_by, operands_of, uses_loop
from ..data.products import split_of
from .lines import Line
from .memory import formulas_at, needed
from .strategies.map import step_kind
from .writer import KernelWriter


@dataclass
class Factor:
    """One side of the product.  accesses: what it reads; filter: where it counts, None everywhere."""

    accesses: list[int]
    body: Node
    filter: Node | None


@dataclass
class Product:
    """A contraction's lines by role, and its sides."""

    batch: list[Line]
    rows: list[Line]
    columns: list[Line]
    depth: list[Line]
    left: Factor
    right: Factor


# --- Roles -----------------------------------------------------------------------------------------


def reaches(k: KernelWriter, formulas: list[Node | None], accesses: list[int], line: Line) -> bool:
    """Whether what formulas and accesses say depends on a line."""
    for n in accesses:
        if line.strides[n] != 0:
            return True
        if line.name != "" and any(uses_loop(e, line.name) for e in formulas_at(k, n)):
            return True
    return line.name != "" and any(uses_loop(e, line.name) for e in formulas)


def lines_of(k: KernelWriter, formulas: list[Node | None], accesses: list[int]) -> list[int]:
    """The outer lines that formulas and accesses depend on."""
    return [n for n in range(len(k.outer)) if reaches(k, formulas, accesses, k.outer[n])]


def product_of(k: KernelWriter) -> Product | None:
    """The contraction's sides and the roles of its lines; None if it does not split here."""
    code = k.code.steps[0]
    kind = step_kind(k, k.kernel.steps[0])
    bodies: list[list[Node]] = [[], []]
    filters: list[list[Node]] = [[], []]
    accesses: list[list[int]] = [[], []]
    for factor in factors_of(code.body, kind):
        reads: list[int] = needed(k, [factor])
        mine = len([n for n in reads if n in k.kernel.left])
        if mine > 0 and mine < len(reads):
            return None
        side = 1 if len(reads) > 0 and mine == 0 else 0
        bodies[side].append(factor)
        accesses[side].extend([n for n in reads if n not in accesses[side]])
    if len(accesses[0]) == 0 or len(accesses[1]) == 0:
        return None
    conditions = operands_of(code.pred, "&&")
    split = split_of(
        lines_of(k, [*bodies[0]], accesses[0]),
        lines_of(k, [*bodies[1]], accesses[1]),
        [lines_of(k, [condition], needed(k, [condition])) for condition in conditions],
        len(k.outer),
    )
    if split is None:
        return None
    for i in range(len(conditions)):
        side = 1 if split.right[i] else 0
        filters[side].append(conditions[i])
        accesses[side].extend([n for n in needed(k, [conditions[i]]) if n not in accesses[side]])
    left = Factor(accesses[0], product(bodies[0], kind), joined_by("&&", filters[0]))
    right = Factor(accesses[1], product(bodies[1], kind), joined_by("&&", filters[1]))
    out = Product([], [], [], k.reduce, left, right)
    for n in range(len(k.outer)):
        if n in split.a and n not in split.b:
            out.rows.append(k.outer[n])
        elif n in split.b and n not in split.a:
            out.columns.append(k.outer[n])
        else:
            out.batch.append(k.outer[n])
    return turned(k, out)


def product(factors: list[Node], kind: str) -> Node:
    out = joined_by("*", factors)
    return Constant(kind, 1) if out is None else out


def turned(k: KernelWriter, product: Product) -> Product:
    """The product with its sides exchanged where neighbours of the result lie along the rows, or closer together there:
    threads write along columns."""
    target = k.kernel.steps[len(k.kernel.steps) - 1].target
    if len(product.rows) == 0 or len(product.columns) == 0:
        return product
    across = product.columns[len(product.columns) - 1].strides[target]
    down = product.rows[len(product.rows) - 1].strides[target]
    if down == 0 or across != 0 and across <= down:
        return product
    return Product(product.batch, product.columns, product.rows, product.depth, product.right, product.left)
