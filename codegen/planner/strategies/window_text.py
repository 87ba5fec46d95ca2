"""The text of the `window` strategy: patches of tensors in workgroup memory, and the reductions over their windows."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Code, ReadCode, is_arg
from ...data.names import safe_name
from ...data.nodes import Binary, Constant, Node, Uniform, operands_of, same, uses_loop
from ..conversion import KIND_TYPES, ZEROS, converted
from ..lines import Line, points
from ..memory import access_kind, needed, read_lines
from ..positions import decode, is_named, term, variable
from ..printed import printed
from ..writer import KernelWriter, Patch, bound_name, declarations, element_type, uniform
from .reduction_stores import outer_store
from .reduction_values import accumulate, narrowed, side_by_side, so_far, start, value_kind
from .window import Window, WindowIndex, elements, extent_in, line_of, spans, tiles, workgroups


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
            end = side_by_side(k, at)
            body.extend(written_out(k, at, end, done))
            for n in range(at, end):
                body.extend(narrowed(k, n))
            at = end
        else:
            body.extend(outer_store(k, at, done, 1, ""))
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
