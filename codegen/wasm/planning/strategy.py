"""How a kernel is computed on a CPU: in tiles, side by side, with values kept or a line printed point by point."""

from __future__ import annotations

from ...data.dtypes import compute_class
from ...data.formulas import formulas_of
from ...data.model import Call, Kernel, is_arg
from ...data.nodes import (
    Apply,
    Binary,
    Constant,
    Element,
    Index,
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
from ...planner.contract import Product, product_of
from ...planner.lines import Line, points
from ...planner.writer import Facts, KernelWriter
from .kernel_plan import Plan, option
from .parameters import uniform_value
from .straight import Straight

LEAST_LINES = 4  # rows of a product
LEAST_COLUMNS = 8  # two vectors of single floats
LEAST_DEPTH = 8  # products of a sum: fewer do not pay for the panels that are made of both factors
# Products of all: from here on tiles take as long as plain sums, about a microsecond (wasmtime), or a tenth where rows
# are few and columns many.
LEAST_PRODUCTS = 8192
COSTLY = ["exp_of", "exp2_of", "expm1_of", "log_of", "log1p_of", "tanh_of", "erf_of", "sin_of", "cos_of", "power"]
MOST_KEPT = 1 << 16  # points of a row whose values are kept, as doubles
MOST_SPLIT = 8  # points of a line that is printed point by point
LEAST_ROWS = 8  # of a reduction that goes through its rows with many columns at once
LEAST_BESIDE = 32  # columns that pay for it
LEAST_PLANE = 1 << 15  # elements: a single pass down each few columns of a smaller one finds the others in the cache
MOST_COLUMNS = 256  # of a block: what is kept of them stays in a core's first cache
MOST_KEPT_BESIDE = 1 << 15  # values that are kept of a block, as doubles in a core's second cache
SHORT = 16  # a row of fewer points is not worth lanes of its own


def tiles(k: Plan) -> Product | None:
    """The sides of a contraction that is worth tiles; None for others."""
    steps = k.kernel.steps
    if k.kernel.shape != "contract" or compute_class(k.call.dtype) != "f" or steps[0].kind != "reduce":
        return None
    for step in steps[1:]:
        if step.kind == "reduce" or step.inner:
            return None
    facts = Facts(False, False, 0, 0, 0, 0, False)
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
    few = rows < LEAST_LINES or columns < LEAST_COLUMNS or depth < LEAST_DEPTH
    return None if few or rows * columns * depth < LEAST_PRODUCTS else product


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
        case Uniform(name=name):
            return 0 if any(w.name == name and w.kind == "T" for w in k.kernel.uniforms) else 9
        case Binary(operator="*", left=Uniform(name=name), right=right) if name in k.ones:
            return roundings(k, right)
        case Binary(operator="+" | "-" | "*", left=left, right=right):
            return 1 + roundings(k, left) + roundings(k, right)
        case Select(condition=Option(name=name), yes=yes, no=no):
            return roundings(k, yes if option(k, name) != 0 else no)
        case _:
            return 9


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
    whole = all(k.code.accesses[n].guard is None for n in reads)
    beside = whole and any(last.strides[n] == 1 for n in reads)
    scattered = any(last.strides[n] != 0 and last.strides[n] != 1 for n in reads)
    narrow = whole and inner.size < 4  # too short a line for lanes of its own
    return last.size >= 4 and (beside or narrow or not along) and not (along and scattered and inner.size >= SHORT)


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


def columns_of(k: Plan) -> int:
    """How many reductions side by side go together through the rows, for Plan.columns."""
    rows = points(k.reduce)
    if not k.across or k.singles or k.kernel.shape != "reduce" or k.kernel.reverse or rows < LEAST_ROWS:
        return 0
    if k.outer[len(k.outer) - 1].size < LEAST_BESIDE or any(isinstance(x, Random) for x in nodes_in(k)):
        return 0
    if len(k.kernel.steps) == 2 and rows * k.outer[len(k.outer) - 1].size < LEAST_PLANE:
        return 0
    if k.kept < 0:
        return MOST_COLUMNS
    width = MOST_COLUMNS
    while width > LEAST_BESIDE // 2 and width * rows > MOST_KEPT_BESIDE:
        width //= 2
    return width


def nodes_in(k: Plan) -> list[Node]:
    return [x for e in formulas_of(k.code) for x in nodes_of(e)]


def ones_of(kernel: Kernel, call: Call, even: Straight) -> list[str]:
    """The parameters that are 1 and scale numbers of T, as `alpha` mostly is; the plan then depends on them."""
    out: list[str] = []
    if compute_class(call.dtype) == "f":
        for w in kernel.uniforms:
            if w.kind == "T" and w.name != "inf" and w.name != "nan" and uniform_value(w, call.env) == 1:
                out.append(w.name)
                even.depends.append(w)
    return out


def split_line(k: Plan) -> int:
    """The line of Plan.split: several steps of a network's gates, say, each with a costly formula of its own."""
    nodes = [x for step in k.code.steps for x in nodes_of(step.body)]
    if not any(isinstance(x, Apply) and x.name in COSTLY for x in nodes):
        return -1
    for d in range(len(k.outer) - 1):
        shared = k.sharing is not None and k.sharing.line == d
        if k.outer[d].name != "" and k.outer[d].size <= MOST_SPLIT and not shared:
            if any(asks_which(x, k.outer[d].name) for x in nodes):
                return d
    return -1


def asks_which(e: Node, loop: str) -> bool:
    """Whether a condition compares a loop with a number."""
    match e:
        case Binary(operator="==", left=Index(loop=name), right=Constant()) if name == loop:
            return True
        case Binary(operator="==", left=Constant(), right=Index(loop=name)) if name == loop:
            return True
        case _:
            return False
