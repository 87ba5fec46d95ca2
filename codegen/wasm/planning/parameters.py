"""The parameters of a launch in their order, and its key: what is structure, and what is a number."""

from __future__ import annotations

from ...data.dtypes import number_kind
from ...data.formulas import formulas_of
from ...data.model import Env, Kernel, UniformField
from ...data.nodes import Random, elements_of, nodes_of
from ...planner.lines import points
from ...planner.writer import infinite
from .kernel_plan import BYTES, COLUMN_ARRAYS, Plan, WasmLaunch, nested, option

# Rows, columns and depth of a block: its panels and sums, 512 kB, stay in a core's second cache.
MC = 264
NC = 128
KC = 320
MOST_HELD = 4096  # of the depth: longer panels of rows are made anew for each block of columns
ROWS = 12  # what rows of a block are a multiple of: tiles of six and of four fit
LINE = 64  # bytes of a cache line


def with_parameters(k: Plan, program: int) -> WasmLaunch:
    """The launch of a kernel: its parameters in their order, and its key."""
    out = WasmLaunch(k.kernel.number, "", k, k.even.depends)
    key = [
        str(program),
        str(k.kernel.number),
        k.kernel.shape,
        k.call.dtype,
        "across" if k.across else "",
        "singles" if k.singles else "floats" if k.floats else "",
    ]
    product = k.product
    if product is not None:
        key.append(f"tiles {len(product.batch)} {len(product.rows)} {len(product.columns)} {'low' if k.low else ''}")
    for n in k.used:
        slot = k.kernel.accesses[n].slot
        if slot not in out.slots:
            out.slots.append(slot)
            out.shifts.append(k.call.slots[slot].offset * BYTES[k.types[n]])
            parameter(k, out, f"at{slot}", "i", 0)
        if k.even.said[n] != "":
            key.append(f"even{n}{k.even.said[n]}{'*' if k.even.loose[n] else ''}")
    if k.part != "":
        key.append(f"{k.part} {k.even.held}")
    if k.guard is not None:
        key.append("left out")
    margins = k.margins
    if k.product is not None or margins is not None or k.kept >= 0 or k.columns > 0:
        out.slots.append(-1)
        out.shifts.append(0)
        parameter(k, out, "scratch", "i", 0)
    for n in k.used:
        if len(k.even.axes[n]) > 0:
            parameter(k, out, f"from{n}", "i", k.even.shifts[n] * BYTES[k.types[n]])
    for n in range(len(k.types)):
        key.append(k.types[n])
    lines = k.outer + k.reduce
    for d in range(len(lines)):
        line = lines[d]
        parameter(k, out, f"size{d}", "i", line.size)
        said = line.name if d < len(k.outer) else f"{line.name}+"
        for n in k.used:
            stride = line.strides[n]
            said += "0" if stride == 0 else "1" if stride == 1 else "*"
            if stride != 0 and stride != 1:
                parameter(k, out, f"step{d}_{n}", "i", stride * BYTES[k.types[n]])
        key.append(said)
    sharing = k.sharing
    if sharing is not None:
        key.append(f"shared {sharing.line}{sharing.side}")
        out.begin = parameter(k, out, "begin", "i", 0)
        parameter(k, out, "end", "i", sharing.points)
        out.points = sharing.points
        out.grain = sharing.grain
        out.work = sharing.work
        out.shares = sharing.shares if k.margins is None else 1
        out.reads = [k.kernel.accesses[n].slot for e in formulas_of(k.code) for n in elements_of(e)]
        out.stores = [k.kernel.accesses[step.target].slot for step in k.kernel.steps if step.target >= 0]
    if product is not None:
        first = len(product.batch)
        for side in [[first, len(product.rows)], [first + len(product.rows), len(product.columns)]]:
            some = lines[side[0] : side[0] + side[1]]
            key.append("".join("n" if nested(some, n) else "-" for n in k.used))
        key.append("".join("n" if nested(k.reduce, n) else "-" for n in k.used))
        size = 8 if k.call.dtype == "float64" else 4
        parameter(k, out, "rows", "i", points(product.rows))
        parameter(k, out, "columns", "i", points(product.columns))
        parameter(k, out, "depth", "i", points(product.depth))
        windows = k.windows
        if windows is None:
            blocks = block_sizes(points(product.rows), points(product.columns), points(product.depth), 32 // size)
        else:
            rows = points(product.rows)
            blocks = [evenly(rows, rows, ROWS), windows.lines * 2 * k.outer[len(k.outer) - 1].size, k.reduce[0].size]
        parameter(k, out, "mc", "i", blocks[0])
        parameter(k, out, "nc", "i", blocks[1])
        parameter(k, out, "kc", "i", blocks[2])
        held = points(product.depth) if points(product.depth) <= MOST_HELD else blocks[2]
        parameter(k, out, "held", "i", held)
        out.scratch = size * (blocks[0] * held + blocks[2] * blocks[1] + blocks[0] * blocks[1])
        out.scratch += 4 * (blocks[2] + max(blocks[0], blocks[1]) + 32 // size)
        if windows is not None:
            tiles = (windows.lines * windows.along + 7) // 8 * 8
            parameter(k, out, "along", "i", windows.along)
            parameter(k, out, "tiles", "i", tiles)
            out.scratch = (blocks[0] + tiles) * k.reduce[0].size + blocks[0] * tiles
            out.scratch = size * (16 * out.scratch + blocks[0] * blocks[1])
            key.append("windows " + "".join("-" if back else "+" for back in windows.backwards))
    if k.kept >= 0:
        key.append(f"kept {k.kept}")
        out.scratch = k.kept_bytes() * points(k.reduce) * max(k.columns, 1)
    if k.columns > 0:
        key.append(f"columns {k.columns}")
        out.scratch += 8 * k.columns * (len(k.kernel.steps) + COLUMN_ARRAYS)
    if margins is not None:
        close = "close" if margins.source[len(margins.source) - 1] == 1 else ""
        key.append(f"margins {margins.access} {margins.before} {len(margins.sizes)} {close}")
        length = (4 * margins.length + LINE - 1) // LINE * LINE
        out.scratch += length
        parameter(k, out, "length", "i", length)
        parameter(k, out, "first", "i", 4 * margins.first)
        parameter(k, out, "into", "i", 4 * margins.into)
        parameter(k, out, "base", "i", 4 * margins.base)
        for d in range(len(margins.sizes)):
            parameter(k, out, f"copied{d}", "i", margins.sizes[d])
            parameter(k, out, f"source{d}", "i", 4 * margins.source[d])
            parameter(k, out, f"target{d}", "i", 4 * margins.target[d])
    draws = False
    for e in formulas_of(k.code):
        for x in nodes_of(e):
            draws = draws or isinstance(x, Random)
    if draws:
        for d in range(len(k.outer)):
            parameter(k, out, f"place{d}", "i", k.outer[d].strides[len(k.kernel.accesses)])
    for n in k.used:
        place = 0
        for i in range(len(k.kernel.accesses[n].axes)):
            name = k.kernel.accesses[n].axes[i]
            if name != "":
                place += 1 if is_named(k.kernel, name) else 0
                continue
            if k.code.accesses[n].index[i] is not None:
                parameter(k, out, f"by{n}_{i}", "i", k.r.steps[n][place] * BYTES[k.types[n]])
                parameter(k, out, f"length{n}_{i}", "i", k.r.lengths[n][place])
            place += 1
    for name in k.kernel.constants:
        key.append(str(option(k, name)))
    for name in k.ones:
        key.append(f"{name} 1")
    if k.split >= 0:
        key.append(f"split {k.split} {k.outer[k.split].size}")
    for w in k.kernel.uniforms:
        if w.name == "inf" or w.name == "nan":
            continue
        out.uniforms.append(w)
        kind = number_kind(k.call.dtype) if w.kind == "T" else w.kind
        k.uniforms[w.name] = number(out, "f" if kind == "l" else kind, uniform_value(w, k.call.env))
    if draws:
        out.seeds = parameter(k, out, "seed0", "i", 0)
        parameter(k, out, "seed1", "i", 0)
        parameter(k, out, "call", "i", 0)
    out.key = " ".join(key)
    return out


def block_sizes(rows: int, columns: int, depth: int, across: int) -> list[int]:
    """Rows, columns and depth of a block of a contraction in tiles."""
    return [
        evenly(rows, MC, ROWS),
        min(NC, (columns + across - 1) // across * across),
        evenly(depth, KC, 1),
    ]


def evenly(count: int, most: int, unit: int) -> int:
    """The size of parts of `count` points, all about as large, in multiples of a unit."""
    parts = (count + most - 1) // most
    part = (count + parts - 1) // parts
    return (part + unit - 1) // unit * unit


def parameter(k: Plan, out: WasmLaunch, name: str, kind: str, value: float) -> int:
    """Adds a parameter of the plan; its number."""
    k.numbers[name] = number(out, kind, value)
    return k.numbers[name]


def number(out: WasmLaunch, kind: str, value: float) -> int:
    out.kinds.append(kind)
    out.values.append(value)
    return len(out.kinds) - 1


def uniform_value(w: UniformField, env: Env) -> float:
    return w.value(env) if w.value is not None else env[w.name] if w.name in env else infinite(w.name)


def kernel_parameters(launch: WasmLaunch, env: Env) -> list[float]:
    """The values of the parameters where the environment of a call is another one."""
    out = launch.values[:]
    first = (launch.seeds if launch.seeds >= 0 else len(out)) - len(launch.uniforms)
    for n in range(len(launch.uniforms)):
        out[first + n] = uniform_value(launch.uniforms[n], env)
    return out


def rewordable(launch: WasmLaunch, before: Env, env: Env) -> bool:
    """Whether a call with another environment runs the same plan."""
    return all(uniform_value(w, before) == uniform_value(w, env) for w in launch.depends)


def is_named(kernel: Kernel, name: str) -> bool:
    return any(loop.name == name and loop.named for loop in kernel.loops + kernel.rloops)
