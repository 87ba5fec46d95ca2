"""The `tiled_matmul` strategy for contractions: sums of A(batch, rows, depth) * B(batch, columns, depth).

A workgroup makes a tile of rows times columns; each thread a smaller one in registers.  Blocks of both
factors go through workgroup memory as vectors of four neighbouring rows or columns.  Indices, guards and
filters stay with the factor that they belong to, so a convolution is a matrix product like any other."""

from __future__ import annotations

from dataclasses import dataclass

from .kernel import (KIND_TYPES, ZEROS, Kernel, bare, bind_scratch, bound_name, declarations, decode, mentions, needed, position, read_lines,
                     texts_of, variable, word)
from .lines import Line, points
from .map import put, step_kind


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
    left: Factor
    right: Factor


@dataclass
class Tile:
    """Sizes of a workgroup's tile and of a thread's."""
    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int


@dataclass
class TiledText:
    """What tiled.wgsl.j2 shows.  number: the type of sums; load_*: statements that set `value` for one element of a
    factor, in terms of `row` or `column`, and `inner`; *_along: neighbouring threads load along the depth.
    *_wide: `value` is four elements at once, "across" rows or columns or along the "depth"; "" where it is one."""
    title: str
    declarations: list[str]
    helpers: str
    number: str
    zero: str
    fused: bool
    rows: int
    columns: int
    depth: int
    row_quads: int
    column_quads: int
    threads: int
    across: int
    left_along: bool
    right_along: bool
    left_wide: str
    right_wide: str
    batch: list[str]
    load_left: list[str]
    load_right: list[str]
    store: list[str]
    sum_name: str
    parts: int                          # of the depth, whose sums another launch adds


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
    out = Product([], [], [], left, right)
    for d in range(len(k.outer)):
        line: Line = k.outer[d]
        a = reaches(k, [left.body, left.filter], left.accesses, line, names[d])
        b = reaches(k, [right.body, right.filter], right.accesses, line, names[d])
        if a and not b: out.rows.append(line)
        elif b and not a: out.columns.append(line)
        else: out.batch.append(line)
    return out


# --- Text ------------------------------------------------------------------------------------------


def tiled_text(k: Kernel, product: Product, tile: Tile, title: str, parts: int) -> TiledText:
    """The text for lines in the order batch, rows, columns; parts: how many blocks share the depth of a tile."""
    if parts > 1:
        bind_scratch(k)
        word(k, "parts", "u", parts)
        word(k, "run", "u", (points(k.reduce) + parts * tile.depth - 1) // (parts * tile.depth) * tile.depth)
    b = len(product.batch)
    r = len(product.rows)
    word(k, "blocks", "u", blocks(product, tile) * parts)
    word(k, "tile_columns", "u", (points(product.columns) + tile.columns - 1) // tile.columns)
    word(k, "tile_rows", "u", (points(product.rows) + tile.rows - 1) // tile.rows)
    word(k, "row_count", "u", points(product.rows))
    word(k, "column_count", "u", points(product.columns))
    word(k, "depth", "u", points(k.reduce))
    kind = step_kind(k, k.nest.steps[0])
    batch = decode_some(k, 0, b, "batch", "")
    rows = decode_some(k, b, b + r, "row", "")
    columns = decode_some(k, b + r, len(k.outer), "column", "")
    depth = decode(k, k.reduce, "inner", "inner", "")
    left_wide = wide_load(k, product.left, b, b + r)
    right_wide = wide_load(k, product.right, b + r, len(k.outer))
    load_left = [*rows, *depth, *(load_lines(k, product.left, kind) if left_wide == "" else wide_lines(k, product.left))]
    load_right = [*columns, *depth, *(load_lines(k, product.right, kind) if right_wide == "" else wide_lines(k, product.right))]
    store = [*rows, *columns]
    done: list[int] = []
    for i in range(1, len(k.nest.steps)):
        step = k.nest.steps[i]
        code = k.code.steps[i]
        store.extend(read_lines(k, [code.body, *k.code.accesses[step.target].index], done, "", False))
        text = code.body
        if step.name != "":
            store.append(f"let {step.name} = {text};")
            text = step.name
        store.extend(put(k, step, text, step_kind(k, step), ""))
    threads = tile.rows // tile.thread_rows * (tile.columns // tile.thread_columns)
    return TiledText(title, declarations(k), "", KIND_TYPES[kind], ZEROS[kind], kind == "f", tile.rows, tile.columns, tile.depth,
                     tile.thread_rows // 4, tile.thread_columns // 4, threads, tile.columns // tile.thread_columns,
                     along_depth(k, product.left), along_depth(k, product.right), left_wide, right_wide, batch, load_left, load_right, store, k.nest.steps[0].name, parts)


def blocks(product: Product, tile: Tile) -> int:
    rows = (points(product.rows) + tile.rows - 1) // tile.rows
    columns = (points(product.columns) + tile.columns - 1) // tile.columns
    return rows * columns * points(product.batch)


def decode_some(k: Kernel, first: int, end: int, flat: str, indent: str) -> list[str]:
    """The variables of the outer lines first .. end - 1, from a flat index among them."""
    out: list[str] = []
    rest = flat
    if end - first > 1:
        out.append(f"{indent}var {flat}_rest = {flat};")
        rest = f"{flat}_rest"
    for n in range(end - first):
        d = end - 1 - n
        line: Line = k.outer[d]
        text = rest
        if d > first:
            word(k, f"outer_size{d}", "u", line.size)
            text = f"{rest} % p.outer_size{d}"
        out.append(f"{indent}let {variable(line, 'outer', d)} = {text if line.name == '' else f'i32({text})'};")
        if d > first: out.append(f"{indent}{rest} /= p.outer_size{d};")
    return out


def load_lines(k: Kernel, factor: Factor, kind: str) -> list[str]:
    """Statements that set `value` to the factor at the point that the variables name."""
    done: list[int] = []
    out = read_lines(k, [factor.filter], done, "", False)
    if factor.filter == "":
        out.extend(read_lines(k, [factor.body], done, "", False))
        out.append(f"value = {bare(factor.body)};")
        return out
    out.append(f"if ({bare(factor.filter)}) {{")
    out.extend(read_lines(k, [factor.body], done, "  ", False))
    out.append(f"  value = {bare(factor.body)};")
    out.append("}")
    return out


def along_depth(k: Kernel, factor: Factor) -> bool:
    """Whether the factor's elements lie next to each other along the depth."""
    if len(k.reduce) == 0: return False
    last = k.reduce[len(k.reduce) - 1]
    for n in factor.accesses:
        if last.strides[n] == 1: return True
    return False


# --- 128-bit loads ---------------------------------------------------------------------------------


def wide_load(k: Kernel, factor: Factor, first: int, end: int) -> str:
    """How a factor can be read four elements at once: "across" its own outer lines first .. end - 1, along the "depth",
    or "" not at all.  It must be one float tensor, read plainly, whose strides leave quads whole."""
    if len(factor.accesses) != 1 or factor.filter != "" or end == first or len(k.reduce) == 0: return ""
    n = factor.accesses[0]
    if factor.body != f"r{n}" or k.code.accesses[n].guard != "" or k.r.offsets[n] % 4 != 0: return ""
    slot = k.nest.accesses[n].slot
    if slot not in k.slots or k.call.slots[slot].dtype != "float32": return ""
    for text in k.code.accesses[n].index:
        if text != "": return ""
    for m in range(len(k.nest.accesses)):
        if m != n and k.nest.accesses[m].slot == slot: return ""
    own = k.outer[end - 1]
    last = k.reduce[len(k.reduce) - 1]
    unit = own if own.strides[n] == 1 else last
    if unit.strides[n] != 1 or unit.size % 4 != 0: return ""
    for line in k.outer + k.reduce:
        if line.strides[n] % 4 != 0 and (line.strides[n] != 1 or line.size != unit.size): return ""
    if own.strides[n] == 1 and last.strides[n] == 1: return ""
    return "across" if own.strides[n] == 1 else "depth"


def wide_lines(k: Kernel, factor: Factor) -> list[str]:
    """The read of four elements."""
    n = factor.accesses[0]
    slot = k.nest.accesses[n].slot
    k.elements[k.slots.index(slot)] = "vec4<f32>"
    return [f"value = {bound_name(k, slot)}[({position(k, n)}) / 4u];"]
