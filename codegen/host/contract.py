"""Contractions: sums of A(batch, rows, depth) * B(batch, columns, depth), as factors with their lines.

Here is decided which of a nest's lines are rows, columns, depth and batch, and what belongs to which factor.
Indices, guards and filters stay with the factor that they belong to, so a convolution is a matrix product like
any other.  How the product runs in tiles is tiled.py's."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import Kernel, mentions, needed, texts_of, variable
from .lines import Line
from .map import step_kind
from .texts import bare


@dataclass
class Factor:
    """One side of the product.  accesses: what it reads; filter: where it counts, "" everywhere."""
    accesses: list[int]
    body: str
    filter: str


@dataclass
class Product:
    """A contraction's lines by role, and its sides."""
    batch: list[Line]
    rows: list[Line]
    columns: list[Line]
    depth: list[Line]
    left: Factor
    right: Factor


def factors_of(text: str) -> list[str]:
    """The factors of a product's text."""
    inner = bare(text)
    if inner.startswith("-") and not inner.startswith("-("): return ["-1", *factors_of(inner[1:])] if inner[1:].startswith("r") else [text]
    parts = split_at(inner, " * ")
    if len(parts) == 1: return [text]
    out: list[str] = []
    for part in parts: out.extend(factors_of(part))
    return out


def split_at(text: str, sign: str) -> list[str]:
    """The parts of a text between signs outside of brackets; one part if another operator is there too."""
    out: list[str] = []
    depth = 0
    begin = 0
    for i in range(len(text)):
        if text[i] == "(" or text[i] == "[": depth += 1
        if text[i] == ")" or text[i] == "]": depth -= 1
        if depth == 0 and text[i:i + len(sign)] == sign:
            out.append(text[begin:i])
            begin = i + len(sign)
        elif depth == 0 and i > 0 and text[i - 1] == " " and i + 1 < len(text) and text[i + 1] == " " and "+-<>/%|&^".find(text[i]) >= 0: return [text]
    return [*out, text[begin:]]


def conditions_of(text: str) -> list[str]:
    """The conditions that `&&` joins."""
    if text == "": return []
    parts = split_and(bare(text))
    if len(parts) == 1: return [text]
    out: list[str] = []
    for part in parts: out.extend(conditions_of(part))
    return out


def split_and(text: str) -> list[str]:
    out: list[str] = []
    depth = 0
    begin = 0
    for i in range(len(text)):
        if text[i] == "(": depth += 1
        if text[i] == ")": depth -= 1
        if depth == 0 and text[i:i + 4] == " || ": return [text]
        if depth == 0 and text[i:i + 4] == " && ":
            out.append(text[begin:i])
            begin = i + 4
    return [*out, text[begin:]]


# --- Roles -----------------------------------------------------------------------------------------


def reaches(k: Kernel, texts: list[str], accesses: list[int], line: Line, name: str) -> bool:
    """Whether what texts and accesses say depends on a line."""
    for n in accesses:
        if line.strides[n] != 0: return True
        for text in texts_of(k, n):
            if line.name != "" and mentions(text, name): return True
    for text in texts:
        if line.name != "" and mentions(text, name): return True
    return False


def product_of(k: Kernel) -> Product | None:
    """The contraction's sides and the roles of its lines; None if it does not split here."""
    code = k.code.steps[0]
    left = Factor([], "", "")
    right = Factor([], "", "")
    for text in factors_of(code.body):
        reads: list[int] = needed(k, [text])
        mine = 0
        for n in reads:
            if n in k.nest.left: mine += 1
        if mine > 0 and mine < len(reads): return None
        side: Factor = right if len(reads) > 0 and mine == 0 else left
        factor = text
        if text == "-1": factor = "(-1.0)" if step_kind(k, k.nest.steps[0]) == "f" else "(-1)"
        side.body = factor if side.body == "" else f"{side.body} * {factor}"
        for n in reads:
            if n not in side.accesses: side.accesses.append(n)
    if len(left.accesses) == 0 or len(right.accesses) == 0: return None
    names = [variable(k.outer[d], "outer", d) for d in range(len(k.outer))]
    for text in conditions_of(code.pred):
        to_left = True
        to_right = True
        reads: list[int] = needed(k, [text])
        for d in range(len(k.outer)):
            line: Line = k.outer[d]
            if not reaches(k, [text], reads, line, names[d]): continue
            if not reaches(k, [left.body], left.accesses, line, names[d]): to_left = False
            if not reaches(k, [right.body], right.accesses, line, names[d]): to_right = False
        if not to_left and not to_right: return None
        side = left if to_left else right
        side.filter = text if side.filter == "" else f"{side.filter} && {text}"
        for n in reads:
            if n not in side.accesses: side.accesses.append(n)
    out = Product([], [], [], k.reduce, left, right)
    for d in range(len(k.outer)):
        line: Line = k.outer[d]
        a = reaches(k, [left.body, left.filter], left.accesses, line, names[d])
        b = reaches(k, [right.body, right.filter], right.accesses, line, names[d])
        if a and not b: out.rows.append(line)
        elif b and not a: out.columns.append(line)
        else: out.batch.append(line)
    return turned(k, out)


def turned(k: Kernel, product: Product) -> Product:
    """The product with its sides exchanged where neighbours of the result lie along the rows: threads write along columns."""
    target = k.nest.steps[len(k.nest.steps) - 1].target
    if len(product.rows) == 0 or len(product.columns) == 0: return product
    if product.columns[len(product.columns) - 1].strides[target] == 1: return product
    if product.rows[len(product.rows) - 1].strides[target] != 1: return product
    return Product(product.batch, product.columns, product.rows, product.depth, product.right, product.left)
