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


class LaunchWriter:
    """Writes the launch of a plan: its parameters in their order, and its key, which says all that the kernel's
    instructions depend on."""

    def __init__(self, k: Plan, program: int):
        self.k = k
        self.launch = WasmLaunch(k.kernel.number, "", k, k.even.depends)
        self.key = [
            str(program),
            str(k.kernel.number),
            k.kernel.shape,
            k.call.dtype,
            "across" if k.across else "",
            "singles" if k.singles else "floats" if k.floats else "",
        ]
        self.draws = any(isinstance(x, Random) for e in formulas_of(k.code) for x in nodes_of(e))

    def write(self) -> WasmLaunch:
        self.tensors()
        self.lines()
        self.sharing()
        self.tiles()
        self.scratch()
        self.margins()
        self.coordinates()
        self.indices()
        self.options()
        self.uniforms()
        self.launch.key = " ".join(self.key)
        return self.launch

    def integer(self, name: str, value: float) -> int:
        """Adds a parameter of the plan; its number."""
        self.k.numbers[name] = self.number("i", value)
        return self.k.numbers[name]

    def number(self, kind: str, value: float) -> int:
        self.launch.kinds.append(kind)
        self.launch.values.append(value)
        return len(self.launch.kinds) - 1

    def tensors(self) -> None:
        """Where the tensors and the scratch memory begin."""
        k = self.k
        product = k.product
        if product is not None:
            few = "low" if k.low else ""
            self.key.append(f"tiles {len(product.batch)} {len(product.rows)} {len(product.columns)} {few}")
        for n in k.used:
            slot = k.kernel.accesses[n].slot
            if slot not in self.launch.slots:
                self.launch.slots.append(slot)
                self.launch.shifts.append(k.call.slots[slot].offset * BYTES[k.types[n]])
                self.integer(f"at{slot}", 0)
            if k.even.said[n] != "":
                self.key.append(f"even{n}{k.even.said[n]}{'*' if k.even.loose[n] else ''}")
        if k.part != "":
            self.key.append(f"{k.part} {k.even.held}")
        if k.guard is not None:
            self.key.append("left out")
        if product is not None or k.margins is not None or k.kept >= 0 or k.columns > 0:
            self.launch.slots.append(-1)
            self.launch.shifts.append(0)
            self.integer("scratch", 0)
        for n in k.used:
            if len(k.even.axes[n]) > 0:
                self.integer(f"from{n}", k.even.shifts[n] * BYTES[k.types[n]])
        for n in range(len(k.types)):
            self.key.append(k.types[n])

    def lines(self) -> None:
        """The lines' lengths, and how far apart elements lie along them."""
        k = self.k
        lines = k.outer + k.reduce
        for d in range(len(lines)):
            line = lines[d]
            self.integer(f"size{d}", line.size)
            said = line.name if d < len(k.outer) else f"{line.name}+"
            for n in k.used:
                stride = line.strides[n]
                said += "0" if stride == 0 else "1" if stride == 1 else "*"
                if stride != 0 and stride != 1:
                    self.integer(f"step{d}_{n}", stride * BYTES[k.types[n]])
            self.key.append(said)

    def sharing(self) -> None:
        """Which part of its points a thread computes."""
        k = self.k
        launch = self.launch
        sharing = k.sharing
        if sharing is None:
            return
        self.key.append(f"shared {sharing.line}{sharing.side}")
        launch.begin = self.integer("begin", 0)
        self.integer("end", sharing.points)
        launch.points = sharing.points
        launch.grain = sharing.grain
        launch.work = sharing.work
        launch.shares = sharing.shares if k.margins is None else 1
        launch.reads = [k.kernel.accesses[n].slot for e in formulas_of(k.code) for n in elements_of(e)]
        launch.stores = [k.kernel.accesses[step.target].slot for step in k.kernel.steps if step.target >= 0]

    def tiles(self) -> None:
        """Blocks of a contraction, whose panels and sums lie in scratch memory."""
        k = self.k
        product = k.product
        if product is None:
            return
        lines = k.outer + k.reduce
        first = len(product.batch)
        for side in [[first, len(product.rows)], [first + len(product.rows), len(product.columns)]]:
            some = lines[side[0] : side[0] + side[1]]
            self.key.append("".join("n" if nested(some, n) else "-" for n in k.used))
        self.key.append("".join("n" if nested(k.reduce, n) else "-" for n in k.used))
        size = 8 if k.call.dtype == "float64" else 4
        rows = points(product.rows)
        depth = points(product.depth)
        self.integer("rows", rows)
        self.integer("columns", points(product.columns))
        self.integer("depth", depth)
        windows = k.windows
        if windows is None:
            blocks = block_sizes(rows, points(product.columns), depth, 32 // size)
        else:
            blocks = [evenly(rows, rows, ROWS), windows.lines * 2 * k.outer[len(k.outer) - 1].size, k.reduce[0].size]
        self.integer("mc", blocks[0])
        self.integer("nc", blocks[1])
        self.integer("kc", blocks[2])
        held = depth if depth <= MOST_HELD else blocks[2]
        self.integer("held", held)
        self.launch.scratch = size * (blocks[0] * held + blocks[2] * blocks[1] + blocks[0] * blocks[1])
        self.launch.scratch += 4 * (blocks[2] + max(blocks[0], blocks[1]) + 32 // size)
        if windows is not None:
            tiles = (windows.lines * windows.along + 7) // 8 * 8
            self.integer("along", windows.along)
            self.integer("tiles", tiles)
            panels = (blocks[0] + tiles) * k.reduce[0].size + blocks[0] * tiles
            self.launch.scratch = size * (16 * panels + blocks[0] * blocks[1])
            self.key.append("windows " + "".join("-" if back else "+" for back in windows.backwards))

    def scratch(self) -> None:
        """Values of rows and of columns that are kept."""
        k = self.k
        if k.kept >= 0:
            self.key.append(f"kept {k.kept}")
            self.launch.scratch = k.kept_bytes() * points(k.reduce) * max(k.columns, 1)
        if k.columns > 0:
            self.key.append(f"columns {k.columns}")
            self.launch.scratch += 8 * k.columns * (len(k.kernel.steps) + COLUMN_ARRAYS)

    def margins(self) -> None:
        """The copy, with margins, of what is read beyond its edges."""
        margins = self.k.margins
        if margins is None:
            return
        close = "close" if margins.source[len(margins.source) - 1] == 1 else ""
        self.key.append(f"margins {margins.access} {margins.before} {len(margins.sizes)} {close}")
        length = (4 * margins.length + LINE - 1) // LINE * LINE
        self.launch.scratch += length
        self.integer("length", length)
        self.integer("first", 4 * margins.first)
        self.integer("into", 4 * margins.into)
        self.integer("base", 4 * margins.base)
        for d in range(len(margins.sizes)):
            self.integer(f"copied{d}", margins.sizes[d])
            self.integer(f"source{d}", 4 * margins.source[d])
            self.integer(f"target{d}", 4 * margins.target[d])

    def coordinates(self) -> None:
        """What says which point it is, for random draws."""
        if self.draws:
            for d in range(len(self.k.outer)):
                self.integer(f"place{d}", self.k.outer[d].strides[len(self.k.kernel.accesses)])

    def indices(self) -> None:
        """Strides and lengths of the axes that formulas index."""
        k = self.k
        for n in k.used:
            axis = 0
            for i in range(len(k.kernel.accesses[n].axes)):
                name = k.kernel.accesses[n].axes[i]
                if name != "":
                    axis += 1 if is_named(k.kernel, name) else 0
                    continue
                if k.code.accesses[n].index[i] is not None:
                    self.integer(f"by{n}_{i}", k.r.steps[n][axis] * BYTES[k.types[n]])
                    self.integer(f"length{n}_{i}", k.r.lengths[n][axis])
                axis += 1

    def options(self) -> None:
        """Numbers that instructions are printed with."""
        k = self.k
        for name in k.kernel.constants:
            self.key.append(str(option(k, name)))
        for name in k.ones:
            self.key.append(f"{name} 1")
        if k.split >= 0:
            self.key.append(f"split {k.split} {k.outer[k.split].size}")

    def uniforms(self) -> None:
        """What formulas take, then the seeds of random draws."""
        k = self.k
        for w in k.kernel.uniforms:
            if w.name == "inf" or w.name == "nan":
                continue
            self.launch.uniforms.append(w)
            kind = number_kind(k.call.dtype) if w.kind == "T" else w.kind
            k.uniforms[w.name] = self.number("f" if kind == "l" else kind, uniform_value(w, k.call.env))
        if self.draws:
            self.launch.seeds = self.integer("seed0", 0)
            self.integer("seed1", 0)
            self.integer("call", 0)


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
