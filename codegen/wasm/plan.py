"""A program in a call, as WebAssembly: for each kernel its structure, and the numbers that a call tells it.

See the package's docstring for how they are called.  Kernels of equal keys are the same bytes: sizes, strides and
options that are numbers are in its block of parameters; which strides are 0 or 1, how many lines there are, types and
options that are choices are structure."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.ir.dtypes import TYPES

from ..data.dtypes import compute_class
from ..data.model import Call, Code, Env, Kernel, Op, UniformField, formulas_of, is_arg, needed_accesses
from ..data.nodes import (
    Apply,
    Binary,
    Constant,
    Element,
    Node,
    Option,
    Random,
    Result,
    Select,
    Uniform,
    contains,
    elements_of,
    nodes_of,
)
from ..data.unsigned import check_unsigned
from ..planner.contract import Product, product_of
from ..planner.lines import Line, Resolved, active, collapsed, points, resolve, spread_out
from ..planner.plan import ordered, summed
from ..planner.writer import Facts, KernelWriter, infinite, is_bool
from .margins import Margins, margins_of
from .residues import guarded, parts_of, with_guard
from .sharing import Sharing, sharing_of
from .straight import Evenness, Straight, straightened

TILE_ROWS = 4  # of a tile of a contraction, which has two vectors of columns
MC = 512  # rows, columns and depth of its blocks: panels stay in a cache
NC = 256
KC = 256
COSTLY = ["exp_of", "exp2_of", "expm1_of", "log_of", "log1p_of", "tanh_of", "erf_of", "sin_of", "cos_of", "power"]
MOST_KEPT = 1 << 16  # points of a row whose values are kept, as doubles
SHORT = 16  # a row of fewer points is not worth lanes of its own


@dataclass
class Plan:
    """What a kernel is printed from.  types: for each access how its elements lie in memory, "" where there is no
    tensor; used: the accesses that formulas need and those that are written; names: of the parameters; across: whether
    the last outer line is taken several points at once, reductions and all.  product: of a contraction in tiles, whose
    lines are those of batch, rows, columns and depth.  even: which indices became strides of the lines.
    singles: whether products are added up in single floats, several at once; margins: the copy that one of them is
    read from.  left_out: the access whose guard says which products are left out of the sum, or -1.  sharing: what
    threads share out, if anything.  kept: the reduction of a row whose values a later step asks for again, or -1."""

    op: Op
    kernel: Kernel
    call: Call
    code: Code
    outer: list[Line]
    reduce: list[Line]
    r: Resolved
    types: list[str]
    used: list[int]
    names: list[str]
    across: bool
    product: Product | None
    even: Straight
    singles: bool
    margins: Margins | None
    left_out: int
    sharing: Sharing | None
    kept: int


@dataclass
class WasmLaunch:
    """A kernel in a call.  why: "", or why it is not to be had as WebAssembly.  slots: tensors, whose addresses
    in bytes are the first parameters: that of the storage + shifts[n].  kinds, values: the parameters, "i" int32 and
    "f" float64.
    seeds: the place of seed0, seed1 and the call's number, or -1.
    uniforms: the parameters that the environment of a call decides, the last before the seeds.
    scratch: bytes of memory, 16-aligned, that slot -1 stands for and nobody else uses meanwhile.
    depends: the parameters that must be the same where another call runs the same plan (`rewordable`).
    plan: what it is printed from.
    more: launches that go with it, in which other points of the kernel are computed.
    begin: the number of the parameter that says the first point of the part that is computed; that of its end follows;
    -1: see Sharing for the other four."""

    kernel: int
    why: str
    key: str
    slots: list[int]
    shifts: list[int]
    kinds: list[str]
    values: list[float]
    seeds: int
    uniforms: list[UniformField]
    scratch: int
    depends: list[UniformField]
    plan: Plan | None
    more: list[WasmLaunch]
    begin: int
    points: int
    grain: int
    work: int
    shares: int


BYTES: dict[str, int] = {name: TYPES[name].bytes for name in TYPES}


def plan_wasm(op: Op, program: int, call: Call, wanted: list[int], types: list[str]) -> list[WasmLaunch | None]:
    """One launch for each kernel of the program, None for those that do not run.

    types: for each slot how its elements lie in memory; a temporary may be kept wider than its type."""
    out: list[WasmLaunch | None] = []
    for kernel in op.programs[program].kernels:
        running = active(op, op.programs[program], kernel, call, wanted)
        out.append(wasm_launch(op, program, kernel, call, types) if running else None)
    return out


def wasm_launch(op: Op, program: int, kernel: Kernel, call: Call, types: list[str]) -> WasmLaunch | None:
    code = kernel.floating if compute_class(call.dtype) == "f" else kernel.integral
    if code is None:
        why = f"not implemented for {call.dtype}"
        return WasmLaunch(kernel.number, why, "", [], [], [], [], -1, [], 0, [], None, [], -1, 0, 0, 0, 0)
    check_unsigned(op.name, kernel, code, call.dtype)
    if kernel.raw is not None:
        return with_parameters(body_plan(op, kernel, call, code, types), program)
    r = resolve(kernel, call)
    if kernel.spread and (kernel.shape == "map" or kernel.shape == "reduce" or kernel.shape == "contract"):
        r = spread_out(kernel, r)
        if kernel.shape == "map" and len(r.reduce) > 0:
            kernel = summed(kernel)
            code = kernel.floating if compute_class(call.dtype) == "f" else kernel.integral
    if points(r.outer) == 0 or code is None:
        return None
    stored: list[str] = []
    for access in kernel.accesses:
        bound = call.slots[access.slot]
        stored.append(types[access.slot] if bound.given or bound.fresh else "")
    left_out = guarded(kernel, code)
    if left_out >= 0 and compute_class(call.dtype) == "f" and all(step.mode == "=" for step in kernel.steps):
        launches: list[WasmLaunch] = []
        parts = parts_of(kernel, with_guard(code, left_out), r, call.env, left_out)
        for part in parts:
            k = planned(op, kernel, part.kernel, part.code, part.lines, call, stored, left_out)
            if k.product is not None:
                launches.append(with_parameters(k, program))
        if len(launches) == len(parts):
            launches[0].more = launches[1:]
            return launches[0]
    return with_parameters(planned(op, kernel, kernel, code, r, call, stored, -1), program)


def planned(
    op: Op, whole: Kernel, kernel: Kernel, code: Code, r: Resolved, call: Call, stored: list[str], left_out: int
) -> Plan:
    """The plan of a kernel, or of what is a part of it."""
    even = straightened(kernel, code, r, call.env, [type_ != "" for type_ in stored])
    r = even.lines
    code = even.code
    if kernel.shape == "map" or kernel.shape == "reduce" or kernel.shape == "contract":
        r.outer = ordered(whole, r.outer)
    outer = collapsed(r.outer)
    reduce = collapsed(r.reduce)
    used = [n for n in needed_accesses(kernel.steps, code.steps, code.accesses) if stored[n] != ""]
    k = Plan(
        op, kernel, call, code, outer, reduce, r, stored, used, [], False, None, even, False, None, left_out, None, -1
    )
    product = tiles(k)
    if product is not None:
        k.product = product
        k.outer = product.batch + product.rows + product.columns
        k.singles = in_singles(k, 1)
    else:
        k.singles = in_singles(k, 0)
        if k.singles:
            with_margins(k)
        k.across = goes_across(k)
        if not k.across:
            k.kept = kept_step(k)
    lanes = 8 if product is not None else 4 if k.singles else 1
    k.sharing = sharing_of(
        kernel.shape, kernel.steps, kernel.accesses, k.code, k.used, k.outer, k.reduce, product, lanes
    )
    return k


def in_singles(k: Plan, first: int) -> bool:
    """Whether a contraction is a sum of products of single floats, stored as it is or with one of them added; of its
    steps from `first` on."""
    if k.kernel.shape != "contract" or k.call.dtype != "float32" or len(k.outer) == 0 or len(k.reduce) == 0:
        return False
    steps = k.kernel.steps
    written: list[int] = []
    reads: list[int] = []
    for n in range(first, len(steps)):
        code = k.code.steps[n]
        if code.pred is not None or steps[n].inner or (steps[n].kind == "reduce") != (n == 0) or steps[n].mode != "=":
            return False
        if roundings(k, code.body) > 1 or n == 0 and steps[n].red != "sum":
            return False
        reads.extend(elements_of(code.body))
        if steps[n].target >= 0:
            written.append(steps[n].target)
    slots = [k.kernel.accesses[n].slot for n in written]
    for n in reads + written:
        if n in k.used and (k.types[n] != "float32" or any(e is not None for e in k.code.accesses[n].index)):
            return False
        if n in reads and k.kernel.accesses[n].slot in slots:
            return False
    return True


def roundings(k: Plan, e: Node) -> int:
    """How often a formula of single floats is rounded; 9 for what is none."""
    match e:
        case Element() | Result() | Constant(value=0):
            return 0
        case Binary(operator="+" | "-" | "*", left=left, right=right):
            return 1 + roundings(k, left) + roundings(k, right)
        case Select(condition=Option(name=name), yes=yes, no=no):
            return roundings(k, yes if option(k, name) != 0 else no)
        case _:
            return 9


def kept_step(k: Plan) -> int:
    """The reduction of a row whose values cost more than to keep them, and are asked for again; -1 for none."""
    steps = k.kernel.steps
    if k.kernel.shape != "reduce" or compute_class(k.call.dtype) != "f":
        return -1
    if points(k.reduce) < 2 or points(k.reduce) > MOST_KEPT:  # rows of one element are gone over side by side
        return -1
    for n in range(len(steps)):
        body = k.code.steps[n].body
        if steps[n].kind != "reduce" or is_arg(steps[n]) or k.code.steps[n].pred is not None:
            continue
        if any(isinstance(e, Apply) and e.name in COSTLY for e in nodes_of(body)):
            for later in range(n + 1, len(steps)):
                if (steps[later].kind == "reduce" or steps[later].inner) and contains(k.code.steps[later].body, body):
                    return n
    return -1


def with_margins(k: Plan) -> None:
    found = margins_of(k.even, k.code, k.outer, k.reduce, elements_of(k.code.steps[0].body))
    if found is not None:
        k.margins = found.margins
        k.code = found.code
        k.outer = found.outer
        k.reduce = found.reduce


def body_plan(op: Op, kernel: Kernel, call: Call, code: Code, types: list[str]) -> Plan:
    """What a body needs: no lines, and all of its tensors."""
    stored = [types[access.slot] for access in kernel.accesses]
    nowhere = Resolved([], [], [], [], [])
    all_ = list(range(len(stored)))
    evenness = Evenness(kernel, call.env, [])
    even = Straight(code, nowhere, evenness, [[] for _ in all_], [0 for _ in all_], ["" for _ in all_], [], [])
    return Plan(op, kernel, call, code, [], [], nowhere, stored, all_, [], False, None, even, False, None, -1, None, -1)


def tiles(k: Plan) -> Product | None:
    """The sides of a contraction that is worth tiles; None for others."""
    steps = k.kernel.steps
    if k.kernel.shape != "contract" or compute_class(k.call.dtype) != "f" or steps[0].kind != "reduce":
        return None
    for step in steps[1:]:
        if step.kind == "reduce" or step.inner:
            return None
    facts = Facts(False, False, 0, 0, 0, False)
    writer = KernelWriter(
        k.op,
        k.kernel,
        k.call,
        k.code,
        facts,
        k.outer,
        k.reduce,
        k.r,
        [],
        [],
        [],
        [],
        [],
        [],
        [],
        [],
        -1,
        -1,
        [],
        "",
        [],
    )
    product = product_of(writer)
    if product is None:
        return None
    rows = points(product.rows)
    columns = points(product.columns)
    depth = points(product.depth)
    if rows < TILE_ROWS or columns < 8 or depth < 8 or rows * columns * depth < 8192:
        return None
    return product


def goes_across(k: Plan) -> bool:
    """Whether reductions go on side by side at neighbours of the last outer line."""
    if len(k.reduce) == 0 or len(k.outer) == 0:
        return False
    last = k.outer[len(k.outer) - 1]
    inner = k.reduce[len(k.reduce) - 1]
    along = 0
    beside = 0
    if k.singles:
        return goes_beside(k, last, inner)
    for n in k.used:
        if last.strides[n] != 0 and last.strides[n] != 1:
            return False
        along += 1 if inner.strides[n] == 1 else 0
        beside += 1 if last.strides[n] == 1 else 0
    if last.size < 4:
        return False
    return beside > along + 1 or inner.size < SHORT and beside > 0


def goes_beside(k: Plan, last: Line, inner: Line) -> bool:
    """The same of a contraction of single floats."""
    for n in range(1, len(k.kernel.steps)):
        if last.strides[k.kernel.steps[n].target] != 1:
            return False
    reads = elements_of(k.code.steps[0].body)
    along = all(inner.strides[n] == 0 or inner.strides[n] == 1 for n in reads)
    beside = any(last.strides[n] == 1 for n in reads) and all(k.code.accesses[n].guard is None for n in reads)
    scattered = any(last.strides[n] != 0 and last.strides[n] != 1 for n in reads)
    return last.size >= 4 and (beside or not along) and not (along and scattered and inner.size >= SHORT)


def with_parameters(k: Plan, program: int) -> WasmLaunch:
    """The launch of a kernel: its parameters in their order, and its key."""
    out = WasmLaunch(k.kernel.number, "", "", [], [], [], [], -1, [], 0, k.even.depends, k, [], -1, 0, 0, 0, 0)
    key = [
        str(program),
        str(k.kernel.number),
        k.kernel.shape,
        k.call.dtype,
        "across" if k.across else "",
        "singles" if k.singles else "",
    ]
    product = k.product
    if product is not None:
        key.append(f"tiles {len(product.batch)} {len(product.rows)} {len(product.columns)}")
    for n in k.used:
        slot = k.kernel.accesses[n].slot
        if slot not in out.slots:
            out.slots.append(slot)
            out.shifts.append(k.call.slots[slot].offset * BYTES[k.types[n]])
            parameter(k, out, f"at{slot}", "i", 0)
        if k.even.said[n] != "":
            key.append(f"even{n}{k.even.said[n]}{'*' if k.even.loose[n] else ''}")
    margins = k.margins
    if k.product is not None or margins is not None or k.kept >= 0:
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
    if product is not None:
        size = 8 if k.call.dtype == "float64" else 4
        parameter(k, out, "rows", "i", points(product.rows))
        parameter(k, out, "columns", "i", points(product.columns))
        parameter(k, out, "depth", "i", points(product.depth))
        blocks = block_sizes(points(product.rows), points(product.columns), points(product.depth), 32 // size)
        parameter(k, out, "mc", "i", blocks[0])
        parameter(k, out, "nc", "i", blocks[1])
        parameter(k, out, "kc", "i", blocks[2])
        out.scratch = size * (blocks[0] * blocks[2] + blocks[2] * blocks[1] + blocks[0] * blocks[1])
    if k.kept >= 0:
        key.append(f"kept {k.kept}")
        out.scratch = 8 * points(k.reduce)
    if margins is not None:
        close = "close" if margins.source[len(margins.source) - 1] == 1 else ""
        key.append(f"margins {margins.access} {margins.before} {len(margins.sizes)} {close}")
        out.scratch = 4 * margins.length
        parameter(k, out, "length", "i", out.scratch)
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
    for w in k.kernel.uniforms:
        if w.name == "inf" or w.name == "nan":
            continue
        out.uniforms.append(w)
        kind = compute_class(k.call.dtype) if w.kind == "T" else w.kind
        parameter(k, out, f"p.{w.name}", kind, uniform_value(w, k.call.env))
    if draws:
        out.seeds = parameter(k, out, "seed0", "i", 0)
        parameter(k, out, "seed1", "i", 0)
        parameter(k, out, "call", "i", 0)
    out.key = " ".join(key)
    return out


def block_sizes(rows: int, columns: int, depth: int, across: int) -> list[int]:
    """Rows, columns and depth of a block of a contraction in tiles."""
    return [
        min(MC, (rows + TILE_ROWS - 1) // TILE_ROWS * TILE_ROWS),
        min(NC, (columns + across - 1) // across * across),
        min(KC, depth),
    ]


def parameter(k: Plan, out: WasmLaunch, name: str, kind: str, value: float) -> int:
    k.names.append(name)
    out.kinds.append(kind)
    out.values.append(value)
    return len(k.names) - 1


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


def option(k: Plan, name: str) -> int:
    return int(k.call.env[name]) if name in k.call.env else 0


def is_named(kernel: Kernel, name: str) -> bool:
    return any(loop.name == name and loop.named for loop in kernel.loops + kernel.rloops)


def settled(k: Plan, e: Node) -> Node:
    """What stands for an option, or for a number that is no parameter."""
    match e:
        case Option(name=name):
            return Constant("b" if is_bool(k.op, name) else "i", option(k, name))
        case Uniform(name=name) if name == "inf" or name == "nan":
            return Constant("f", infinite(name))
        case Element(access=n) if k.types[n] == "":
            other = k.code.accesses[n].fallback
            return other if other is not None else Constant(kind_of(k, e), 0)
        case _:
            return e


def kind_of(k: Plan, e: Node) -> str:
    """The kind of a node without operands."""
    match e:
        case Element(access=n):
            kind = k.kernel.accesses[n].kind
            return compute_class(k.call.dtype) if kind == "T" else kind
        case Uniform(name=name):
            for w in k.kernel.uniforms:
                if w.name == name:
                    return compute_class(k.call.dtype) if w.kind == "T" else w.kind
            return "f"
        case Constant(kind=kind):
            return kind
        case Result(step=n):
            kind = k.kernel.steps[n].value
            return compute_class(k.call.dtype) if kind == "T" else kind
        case Random():
            return "f"
        case _:
            return "i"
