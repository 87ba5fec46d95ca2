"""The `window` strategy: reductions over windows that overlap, each element of a tensor read once for many of them.

A kernel whose input is read at places like `y * stride + k * dilation - padding`, where `y` runs along its outer lines
and `k` is reduced: pooling, convolution of each channel by itself, and their adjoints.  A workgroup takes a tile of the
last two such outer lines; the patch of the input that the tile's windows cover goes through workgroup memory, and the
reductions, written out point by point, read it there.  Where the patch is known to hold what stands outside of the
tensor, no point asks again."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.model import Code, ReadCode, is_arg
from ..data.names import safe_name
from ..data.nodes import Binary, Constant, Division, Node, Uniform, elements_of, operands_of, same, uses_loop
from .affine import Affine, affine
from .conversion import KIND_TYPES, ZEROS, converted
from .lines import Line, points
from .memory import access_kind, needed, read_lines
from .positions import decode, is_named, term, variable
from .printed import printed
from .reduction import accumulate, independent, narrowed, so_far, start, value_kind
from .reduction_stores import outer_store
from .writer import KernelWriter, Patch, bound_name, declarations, element_type, is_bound, uniform

MOST_POINTS = 64  # of a window: its points are written out
ACROSS = 32  # points across a tile of two lines: what a warp reads of one line at once
MOST_SHARED = 16384  # bytes of workgroup memory that every device has


@dataclass
class WindowTile:
    """across: threads along the last line; down: along the line before; rows: how many points down each thread has.
    lines: how many of the last outer lines, 1 or 2, the tile has."""

    across: int
    down: int
    rows: int
    lines: int


@dataclass
class Window:
    """What a kernel reads through windows.  accesses: these reads; indices: for each, what its computed indices are, in
    order; outer: all outer lines, those of windows last."""

    accesses: list[int]
    indices: list[list[WindowIndex]]
    outer: list[Line]
    tile: WindowTile


@dataclass
class PatchText:
    """A patch as window.wgsl.j2 loads it.  low: statements for its first place; place: those of element `i`; inside:
    whether that lies in the tensor; value: it, fill: what stands elsewhere."""

    name: str
    type: str
    size: int
    low: list[str]
    place: list[str]
    inside: str
    value: str
    fill: str


@dataclass
class WindowText:
    """What window.wgsl.j2 shows.  place: statements for a workgroup's tile; body: those for each point of a thread."""

    title: str
    declarations: list[str]
    helpers: str
    threads: int
    across: int
    down: int
    rows: int
    place: list[str]
    patches: list[PatchText]
    body: list[str]


# --- Whether ---------------------------------------------------------------------------------------


def window_of(k: KernelWriter, threads: int, rows: int) -> Window | None:
    """The windows of a kernel and the tile for so many threads with at most so many points each; None where there are
    none."""
    if len(k.reduce) == 0 or points(k.reduce) == 0 or points(k.reduce) > MOST_POINTS or "uniform_random" in k.helpers:
        return None
    for step in k.kernel.steps:
        if step.inner:
            return None
    out = Window([], [], [], WindowTile(1, 1, 1, 0))
    names: list[str] = []
    for n in range(len(k.kernel.accesses)):
        indices = windows_of(k, n)
        if indices is None:
            continue
        out.accesses.append(n)
        out.indices.append(indices)
        for index in indices:
            for line in k.outer:
                if line.name != "" and index.moves_with(line.name) and line.name not in names:
                    names.append(line.name)
    if len(out.accesses) == 0:
        return None
    tiled: list[Line] = []
    for line in k.outer:
        if line.name in names and line.name != "":
            tiled.append(line)
        else:
            out.outer.append(line)
    out.outer = out.outer + tiled
    out.tile = window_tile(k, out, tiled, threads, rows)
    return out if shared(k, out) <= min(MOST_SHARED, k.facts.max_shared) else None


@dataclass
class WindowIndex:
    """A sum of loops, divided by a number and rounded down."""

    sum: Affine
    divisor: int

    def moves_with(self, loop: str) -> bool:
        return self.sum.factors.get(loop, 0) != 0


def index_of(k: KernelWriter, e: Node) -> WindowIndex | None:
    """What an index is, or None if it is nothing of this form."""
    divisor = 1
    dividend = e
    match e:
        case Division(operator="//", operand=operand, divisor=by):
            divisor = by
            dividend = operand
    found = affine(dividend, lambda name: uniform_value(k, name), None)
    return None if found is None else WindowIndex(found, divisor)


def uniform_value(k: KernelWriter, name: str) -> int | None:
    """A whole number of the uniform."""
    for n in range(len(k.names)):
        if k.names[n] == safe_name(name) and k.kinds[n] == "i":
            return int(k.values[n])
    return None


def windows_of(k: KernelWriter, n: int) -> list[WindowIndex] | None:
    """The computed indices of access n if it reads through windows: they move with outer and reduced lines, and nothing
    else of it moves with these."""
    if not is_bound(k, n) or not varies_evenly(k, n):
        return None
    for step in k.kernel.steps:
        if step.target == n:
            return None
    out: list[WindowIndex] = []
    through = False
    for e in k.code.accesses[n].index:
        if e is None:
            continue
        index = index_of(k, e)
        if index is None:
            return None
        outer = False
        reduced = False
        for name in index.sum.factors:
            if name == "":
                continue
            at = line_of(k.outer, name)
            if at >= 0 and k.outer[at].strides[n] != 0:
                return None
            if at >= 0 and index.moves_with(name):
                outer = True
            elif line_of(k.reduce, name) < 0:
                return None
            elif index.moves_with(name):
                reduced = True
        if outer and reduced:
            through = True
        out.append(index)
    return out if through else None


def varies_evenly(k: KernelWriter, n: int) -> bool:
    """Whether access n has no place or value that another read decides, and no reduced line moves it by itself."""
    for line in k.reduce:
        if line.strides[n] != 0:
            return False
    return all(len(elements_of(index)) == 0 for index in k.code.accesses[n].index)


def line_of(lines: list[Line], name: str) -> int:
    for d in range(len(lines)):
        if lines[d].name != "" and lines[d].name == name:
            return d
    return -1


# --- How large -------------------------------------------------------------------------------------


def window_tile(k: KernelWriter, w: Window, tiled: list[Line], threads: int, rows: int) -> WindowTile:
    """The tile for so many threads: as wide as the last line up to ACROSS points, with as many points down for each
    thread, up to `rows`, as workgroup memory takes."""
    last = tiled[len(tiled) - 1].size
    tile = WindowTile(8, 1, 1, min(len(tiled), 2))
    most = ACROSS if tile.lines == 2 else threads
    while tile.across < last and tile.across < most:
        tile.across *= 2
    if tile.lines == 1:
        return tile
    before = tiled[len(tiled) - 2].size
    while tile.down < before and tile.across * tile.down * 2 <= threads:
        tile.down *= 2
    w.tile = tile
    while tile.rows * 2 <= rows and tile.rows * tile.down < before:
        tile.rows *= 2
        if shared(k, w) <= min(MOST_SHARED, k.facts.max_shared):
            continue
        tile.rows = tile.rows // 2
        return tile
    while tile.down > 1 and shared(k, w) > min(MOST_SHARED, k.facts.max_shared):
        tile.down = tile.down // 2
    return tile


def extent_in(w: Window, d: int) -> int:
    """How many points of outer line d a tile has."""
    if d == len(w.outer) - 1:
        return w.tile.across
    return w.tile.down * w.tile.rows if d == len(w.outer) - 2 and w.tile.lines == 2 else 1


def spans(k: KernelWriter, w: Window, a: int) -> list[int]:
    """How many places along each computed axis a tile's windows cover, of window access number a."""
    out: list[int] = []
    for index in w.indices[a]:
        reach = 0
        for name in index.sum.factors:
            if name == "":
                continue
            at = line_of(w.outer, name)
            size = extent_in(w, at) if at >= 0 else k.reduce[line_of(k.reduce, name)].size
            reach += abs(index.sum.factors[name]) * (size - 1)
        out.append(reach // index.divisor + (1 if index.divisor == 1 else 2))
    return out


def elements(k: KernelWriter, w: Window, a: int) -> int:
    total = 1
    for span in spans(k, w, a):
        total *= span
    return total


def shared(k: KernelWriter, w: Window) -> int:
    """Bytes of workgroup memory."""
    total = 0
    for a in range(len(w.accesses)):
        total += 4 * elements(k, w, a)
    return total


def reuse(k: KernelWriter, w: Window) -> float:
    """How many points of windows read each element of the patches."""
    total = 0
    for a in range(len(w.accesses)):
        total += elements(k, w, a)
    return w.tile.across * w.tile.down * w.tile.rows * points(k.reduce) * len(w.accesses) / total


def tiles(w: Window, d: int) -> int:
    return (w.outer[d].size + extent_in(w, d) - 1) // extent_in(w, d)


def workgroups(w: Window) -> int:
    total = 1
    for d in range(len(w.outer)):
        total *= tiles(w, d)
    return total


# --- The text --------------------------------------------------------------------------------------


def window_text(k: KernelWriter, w: Window, title: str) -> WindowText:
    """The text for windows that `window_of` found."""
    k.outer = w.outer
    count = len(w.outer)
    batch = w.outer[: count - w.tile.lines]
    uniform(k, "blocks", "u", workgroups(w))
    place: list[str] = ["var batch = block;"]
    for i in range(w.tile.lines):
        axis: int = count - 1 - i
        uniform(k, f"tiles{axis}", "u", tiles(w, axis))
        place.append(f"let first{axis} = i32(batch % p.tiles{axis} * {extent_in(w, axis)}u);")
        place.append(f"batch /= p.tiles{axis};")
    place.extend(decode(k, batch, "outer", "batch", ""))
    patches: list[PatchText] = []
    for a in range(len(w.accesses)):
        patches.append(patch_text(k, w, a))
    body: list[str] = []
    live: list[str] = []
    for i in range(w.tile.lines):
        d: int = count - 1 - i
        uniform(k, f"last{d}", "i", w.outer[d].size - 1)
        own = "local_x" if i == 0 else f"local_y + turn * {w.tile.down}u"
        body.append(f"let own{d} = first{d} + i32({own});")
        body.append(f"let {variable(w.outer[d], 'outer', d)} = min(own{d}, p.last{d});")
        live.append(f"own{d} <= p.last{d}")
    body.append(f"let live = {' && '.join(live)};")
    done: list[int] = []
    at = 0
    while at < len(k.kernel.steps):
        if k.kernel.steps[at].kind == "reduce":
            end = at + 1
            while end < len(k.kernel.steps) and k.kernel.steps[end].kind == "reduce" and independent(k, at, end):
                end += 1
            body.extend(written_out(k, at, end, done))
            for n in range(at, end):
                body.extend(narrowed(k, n))
            at = end
        else:
            body.extend(outer_store(k, at, done, 1))
            at += 1
    return WindowText(
        title,
        declarations(k),
        "",
        w.tile.across * w.tile.down,
        w.tile.across,
        w.tile.down,
        w.tile.rows,
        place,
        patches,
        body,
    )


def patch_text(k: KernelWriter, w: Window, a: int) -> PatchText:
    """The patch of window access number a; from here on the kernel reads it instead of the tensor."""
    n = w.accesses[a]
    code = k.code.accesses[n]
    kind = access_kind(k, n)
    slot = k.kernel.accesses[n].slot
    spans_: list[int] = spans(k, w, a)
    out = PatchText(f"patch{n}", KIND_TYPES[kind], elements(k, w, a), [], [], "", "", ZEROS[kind])
    terms: list[str] = [f"p.at{n}"]
    uniform(k, f"at{n}", "u", k.r.offsets[n])
    for d in range(len(k.outer)):
        terms.extend(term(k, n, k.outer[d], "outer", d))
    own: list[Node] = []
    inside: list[str] = []
    patch = Patch(n, [], [], [])
    rest = "i"
    at = 0
    axis = 0
    pitch = 1
    for span in spans_:
        pitch *= span
    for i in range(len(code.index)):
        if k.kernel.accesses[n].axes[i] != "":
            if is_named(k, k.kernel.accesses[n].axes[i]):
                at += 1
            continue
        index = code.index[i]
        if index is None:
            continue  # it is computed
        low = f"low{n}_{i}"
        out.low.append(f"var {low}: i32;")
        out.low.append(" ".join(["{", *corner(k, w, w.indices[a][axis]), f"{low} = {printed(index)};", "}"]))
        pitch = pitch // spans_[axis]
        out.place.append(f"let own{i} = {low} + i32({rest if pitch == 1 else f'{rest} / {pitch}u'});")
        rest = f"{rest} % {pitch}u"
        length = f"length{n}_{i}"
        uniform(k, length, "i", k.r.lengths[n][at])
        inside.append(f"0 <= own{i} && own{i} < p.{length}")
        uniform(k, f"step{n}_{i}", "u", k.r.steps[n][at])
        terms.append(f"u32(own{i}) * p.step{n}_{i}")
        own.append(index)
        patch.indices.append(index)
        patch.lows.append(low)
        patch.pitches.append(pitch)
        at += 1
        axis += 1
    out.inside = " && ".join(inside)
    out.value = converted(
        f"{bound_name(k, slot)}[{' + '.join(terms)}]", element_type(k, k.call.slots[slot].dtype), kind
    )
    if filled(k, n, own):
        if code.fallback is not None:
            out.fill = printed(code.fallback)
        accesses = k.code.accesses[:]
        accesses[n] = ReadCode(code.index, None, None)
        k.code = Code(accesses, k.code.steps)
    k.patches.append(patch)
    return out


def corner(k: KernelWriter, w: Window, index: WindowIndex) -> list[str]:
    """The variables of an index at the point of a tile and a window where it is least."""
    out: list[str] = []
    for name in index.sum.factors:
        if name == "":
            continue
        at = line_of(w.outer, name)
        if at >= 0 and at < len(w.outer) - w.tile.lines:
            continue
        falls = index.sum.factors[name] < 0
        if at >= 0:
            out.append(f"let {safe_name(name)} = first{at}{f' + {extent_in(w, at) - 1}' if falls else ''};")
        else:
            out.append(f"let {safe_name(name)} = {k.reduce[line_of(k.reduce, name)].size - 1 if falls else 0};")
    return out


def filled(k: KernelWriter, n: int, indices: list[Node]) -> bool:
    """Whether access n asks just whether its indices lie in the tensor, and its value elsewhere is the same
    everywhere."""
    code = k.code.accesses[n]
    if len(needed(k, [code.fallback])) > 0:
        return False
    if any(line.name != "" and uses_loop(code.fallback, line.name) for line in k.outer + k.reduce):
        return False
    return all(lies_inside(k, n, condition, indices) for condition in operands_of(code.guard, "&&"))


def lies_inside(k: KernelWriter, n: int, condition: Node, indices: list[Node]) -> bool:
    """Whether a condition asks that an index is not below 0, or not beyond its axis."""
    match condition:
        case Binary(operator="<=", left=Constant(value=0), right=index):
            return any(same(index, i) for i in indices)
        case Binary(operator="<", left=index, right=Uniform(name=name)):
            for i in range(len(indices)):
                if not same(index, indices[i]):
                    continue
                for m in range(len(k.names)):
                    if k.names[m] == safe_name(name) and k.values[m] == length_of(k, n, i):
                        return True
            return False
        case _:
            return False


def length_of(k: KernelWriter, n: int, computed: int) -> int:
    """The length of the computed axis of that number."""
    at = 0
    count = 0
    for i in range(len(k.code.accesses[n].index)):
        if k.kernel.accesses[n].axes[i] != "":
            if is_named(k, k.kernel.accesses[n].axes[i]):
                at += 1
            continue
        if count == computed:
            return k.r.lengths[n][at]
        count += 1
        at += 1
    return -1


def written_out(k: KernelWriter, first: int, end: int, done: list[int]) -> list[str]:
    """The reductions first .. end - 1, point by point or, under conditions, in a loop."""
    out: list[str] = []
    formulas: list[Node | None] = []
    for n in range(first, end):
        step = k.kernel.steps[n]
        kind: str = value_kind(k, n)
        formulas.extend([k.code.steps[n].pred, k.code.steps[n].body])
        if is_arg(step):
            out.append(f"var best{n}: {KIND_TYPES[kind]} = {start(k, step.red, kind)};")
        out.append(
            f"var {step.name} = 0;"
            if is_arg(step)
            else f"var {so_far(k, n)}: {KIND_TYPES[kind]} = {start(k, step.red, kind)};"
        )
    out.extend(read_lines(k, formulas, done, "", True))
    if branches(k, first, end):
        return out + counted_through(k, first, end, done)
    for point in range(points(k.reduce)):
        out.append("{")
        rest = point
        for i in range(len(k.reduce)):
            d = len(k.reduce) - 1 - i
            line: Line = k.reduce[d]
            out.append(f"  let {variable(line, 'inner', d)} = {rest % line.size}{'u' if line.name == '' else ''};")
            rest = rest // line.size
        inside = done[:]
        for n in range(first, end):
            out.extend(accumulate(k, n, inside, "  ", False))
        out.append("}")
    return out


def branches(k: KernelWriter, first: int, end: int) -> bool:
    """Whether a point of the reductions is under a condition.  Such points stay a loop: written out, compilers take
    minutes over them."""
    for n in range(first, end):
        if is_arg(k.kernel.steps[n]) or k.code.steps[n].pred is not None:
            return True
    return False


def counted_through(k: KernelWriter, first: int, end: int, done: list[int]) -> list[str]:
    """The reductions first .. end - 1 in a loop over as many points as the text says."""
    out = [f"for (var inner = 0u; inner < {points(k.reduce)}u; inner++) {{"]
    out.extend(decode(k, k.reduce, "inner", "inner", "  "))
    inside = done[:]
    for n in range(first, end):
        out.extend(accumulate(k, n, inside, "  ", False))
    return [*out, "}"]
