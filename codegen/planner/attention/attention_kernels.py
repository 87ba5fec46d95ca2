"""Attention among the kernels of a program: products of queries and keys, the largest of each query's scores and the
sum of their exponentials, the weights, and the products of weights and values.

A device with workgroup memory runs them as one kernel (strategies/attention.py), without the scores and weights in
memory.  They are recognized by what their formulas say, however their op writes them, and whether the weights have a
kernel of their own; whatever else a kernel says or somebody else reads, they stay as they are."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Access, Code, Env, Kernel, Loop, Op, ReadCode, StepCode
from ...data.nodes import (
    Apply,
    Binary,
    Element,
    Index,
    Local,
    Node,
    Option,
    Result,
    Select,
    Unary,
    Uniform,
    elements_of,
    mapped,
    same,
    uses_loop,
)
from ...data.softmaxes import divisor, subtrahend, unsafe

PRODUCT, LARGEST, TOTAL = "product", "best", "total"  # what weights are made of, as variables of their formula


@dataclass
class Attention:
    """kernel: that of the products with values, which also has the accesses of the others; its code has one step more:
    a weight, of the variables `product`, `best` and `total`.  weights, value, query, key: accesses of it."""

    kernel: Kernel
    weights: int
    value: int
    query: int
    key: int
    score: Node
    exponential: str  # the functions of the formula
    quotient: str
    safe: bool  # whether a query whose scores are all minus infinity has zeros
    count: int  # kernels that it takes the place of


@dataclass
class Weights:
    """The weights' formula taken apart: quotient(exponential(score - largest), total), `weight`."""

    score: Node
    largest: int
    total: int
    exponential: str
    quotient: str
    weight: Node
    safe: bool


@dataclass
class Weighing:
    """A kernel that stores weights: their slot, axes and formula's parts.  count: kernels, with that of the rows;
    passed: the slots between these."""

    kernel: Kernel
    code: Code
    slot: int
    axes: list[str]
    parts: Weights
    count: int
    passed: list[int]


def attention_of(op: Op, kernels: list[Kernel], first: int) -> Attention | None:
    """The attention that the active kernels of a program are from the one with number `first` on; None if they are
    none, or if another kernel reads what goes from one to the next."""
    weighing = weighing_of(kernels, first + 1)
    if weighing is None or first + weighing.count + 2 > len(kernels):
        return None
    scores, products = kernels[first], kernels[first + weighing.count + 1]
    a, d = code_of(scores, "contract"), code_of(products, "contract")
    if a is None or d is None or len(a.steps) != 2 or not is_product(scores, a) or not is_product(products, d):
        return None
    if len(scores.uniforms) > 0 or len(products.uniforms) > 0:
        return None
    between = [scores.accesses[scores.steps[1].target].slot, weighing.slot]
    read = [n for n in elements_of(weighing.parts.score) if weighing.kernel.accesses[n].slot == between[0]]
    weights = [n for n in elements_of(d.steps[0].body) if products.accesses[n].slot == between[1]]
    if len(read) != 1 or len(weights) != 1:
        return None
    if not are_passed_on(op, kernels, first, weighing.count + 2, [*between, *weighing.passed]):
        return None
    return joined(scores, a, weighing, read[0], products, d, weights[0])


def weighing_of(kernels: list[Kernel], first: int) -> Weighing | None:
    """The kernel or the two kernels that make weights of scores."""
    if first >= len(kernels):
        return None
    rows = kernels[first]
    if len(rows.rloops) != 1 or len(rows.steps) < 3 or rows.steps[0].red != "max":
        return None
    if len(rows.steps) == 3:
        return weights_of_rows(rows)
    return stored_weights(rows, kernels[first + 1]) if first + 1 < len(kernels) else None


def weights_of_rows(rows: Kernel) -> Weighing | None:
    """Rows whose weights are stored where their sum is made."""
    code = rows.floating
    if code is None or rows.shape != "reduce" or rows.spread or rows.steps[1].red != "sum":
        return None
    if not rows.steps[2].inner or rows.steps[2].mode != "=" or any(s.pred is not None for s in code.steps):
        return None
    match code.steps[2].body:
        case Apply(
            name=quotient,
            operands=[
                Apply(name=exponential, operands=[Binary(operator="-", left=score, right=shift)]),
                under,
            ],
        ):
            safe = isinstance(shift, Select)
            if not same(shift, subtrahend(Result(0), safe)) or not same(under, divisor(Result(1), safe)):
                return None
            total = Apply(exponential, [Binary("-", score, shift)])
            if not same(code.steps[0].body, score) or not same(code.steps[1].body, total):
                return None
            target = rows.accesses[rows.steps[2].target]
            parts = Weights(score, -1, -1, exponential, quotient, code.steps[2].body, safe)
            return Weighing(rows, code, target.slot, target.axes, parts, 1, [])
        case _:
            return None


def stored_weights(rows: Kernel, kernel: Kernel) -> Weighing | None:
    """A map that stores weights, after what makes the largest score and the sum of each row."""
    own, code = code_of(rows, "reduce"), code_of(kernel, "map")
    parts = None if code is None or len(code.steps) != 1 else weights_of(code.steps[0].body)
    if own is None or code is None or parts is None:
        return None
    target = kernel.accesses[kernel.steps[0].target]
    passed = [kernel.accesses[parts.largest].slot, kernel.accesses[parts.total].slot]
    out = Weighing(kernel, code, target.slot, target.axes, parts, 2, passed)
    return out if are_rows_of(rows, own, out) else None


def code_of(kernel: Kernel, shape: str) -> Code | None:
    """The formulas of a kernel of a shape that stores plainly; None if it is another."""
    if kernel.shape != shape or kernel.raw is not None or kernel.spread or kernel.floating is None:
        return None
    for n in range(len(kernel.steps)):
        if kernel.steps[n].mode != "=" or kernel.steps[n].inner or kernel.floating.steps[n].pred is not None:
            return None
    return kernel.floating


def is_plain(read: ReadCode) -> bool:
    return read.guard is None and all(i is None for i in read.index)


def is_product(kernel: Kernel, code: Code) -> bool:
    """Whether a contraction begins with the sum of the products of two tensors as they are."""
    match code.steps[0].body:
        case Binary(operator="*", left=Element(access=m), right=Element(access=n)):
            return kernel.steps[0].red == "sum" and is_plain(code.accesses[m]) and is_plain(code.accesses[n])
        case _:
            return False


def weights_of(body: Node) -> Weights | None:
    match body:
        case Apply(
            name=quotient,
            operands=[
                Apply(name=exponential, operands=[Binary(operator="-", left=score, right=shift)]),
                under,
            ],
        ):
            largest, total = unsafe(shift), unsafe(under)
            safe = isinstance(shift, Select)
            if not same(shift, subtrahend(largest, safe)) or not same(under, divisor(total, safe)):
                return None
            if not isinstance(largest, Element) or not isinstance(total, Element):
                return None
            return Weights(score, largest.access, total.access, exponential, quotient, body, safe)
        case _:
            return None


def are_passed_on(op: Op, kernels: list[Kernel], first: int, count: int, slots: list[int]) -> bool:
    """Whether tensors live only between these kernels."""
    for n in range(len(kernels)):
        if n >= first and n < first + count:
            continue
        if any(access.slot in slots for access in kernels[n].accesses):
            return False
    return all(op.slots[slot].role == "temp" for slot in slots)


def are_rows_of(rows: Kernel, code: Code, weighing: Weighing) -> bool:
    """Whether a kernel makes the largest score and the sum of the exponentials that weights are made of."""
    parts = weighing.parts
    if len(rows.steps) != 4 or len(rows.rloops) != 1 or rows.steps[0].red != "max" or rows.steps[2].red != "sum":
        return False
    stored = [rows.accesses[rows.steps[n].target].slot for n in (1, 3)]
    if stored != [weighing.kernel.accesses[n].slot for n in (parts.largest, parts.total)]:
        return False
    if not same(code.steps[1].body, Result(0)) or not same(code.steps[3].body, Result(2)):
        return False
    score = code.steps[0].body
    if not same(code.steps[2].body, Apply(parts.exponential, [Binary("-", score, subtrahend(Result(0), parts.safe))])):
        return False
    loops = by_places([loop.name for loop in rows.loops + rows.rloops], weighing.axes)
    elements: dict[int, int] = {}
    for n in elements_of(score):
        elements[n] = same_access(rows.accesses[n], code.accesses[n], weighing.kernel, weighing.code, loops)
        if elements[n] < 0:
            return False
    return same(moved(score, loops, elements), parts.score)


def by_places(a: list[str], b: list[str]) -> dict[str, str]:
    """The names of a list by those that stand at their places in another."""
    return {a[n]: b[n] for n in range(min(len(a), len(b)))}


def same_access(access: Access, read: ReadCode, kernel: Kernel, code: Code, loops: dict[str, str]) -> int:
    """The access of a kernel to the same elements, under its names of the loops; -1 if there is none."""
    for n in range(len(kernel.accesses)):
        other = kernel.accesses[n]
        if other.slot != access.slot or other.kind != access.kind:
            continue
        if is_plain(read) and is_plain(code.accesses[n]) and moved_axes(access.axes, loops) == other.axes:
            return n
    return -1


def moved_axes(axes: list[str], loops: dict[str, str]) -> list[str]:
    return [loops[axis] if axis in loops else axis for axis in axes]


def moved(e: Node, loops: dict[str, str], elements: dict[int, int]) -> Node:
    """A formula by other names of loops and numbers of accesses."""
    match e:
        case Index(loop=loop):
            return Index(loops[loop]) if loop in loops else e
        case Element(access=n):
            return Element(elements[n])
        case _:
            return mapped(e, lambda x: moved(x, loops, elements))


def joined(
    scores: Kernel, a: Code, weighing: Weighing, read: int, products: Kernel, d: Code, weights: int
) -> Attention | None:
    """The kernel of the products with values, with the accesses of the others behind its own.  read: the access of the
    weights' kernel to the scores; weights: of the products' to the weights."""
    between = products.accesses[weights].axes
    if len(products.rloops) != 1 or len(between) < 2 or between[len(between) - 1] != products.rloops[0].name:
        return None
    i, j = between[len(between) - 2], between[len(between) - 1]
    # Names of loops by those of the products: of the weights, and of the scores.
    known = by_places(weighing.axes, between)
    loops = by_places(
        scores.accesses[scores.steps[1].target].axes, moved_axes(weighing.kernel.accesses[read].axes, known)
    )
    if len(known) != len(between) or len(loops) != len(between) or "" in known or "" in loops:
        return None
    inner = scores.rloops[0].name
    while inner in [loop.name for loop in products.loops + products.rloops]:
        inner = inner + "_"
    loops[scores.rloops[0].name] = inner
    accesses = products.accesses[:]
    reads = d.accesses[:]
    query, key = -1, -1
    for n in elements_of(a.steps[0].body):
        axes = moved_axes(scores.accesses[n].axes, loops)
        if i in axes and j not in axes:
            query = len(accesses)
        if j in axes and i not in axes:
            key = len(accesses)
        accesses.append(Access(scores.accesses[n].slot, axes, scores.accesses[n].kind))
        reads.append(a.accesses[n])
    if query < 0 or key < 0 or len(scores.rloops) != 1:
        return None
    body = with_product(weighing.parts.weight, read, weighing.parts)
    elements: dict[int, int] = {}
    for n in elements_of(body):
        own = weighing.kernel.accesses[n]
        if not is_plain(weighing.code.accesses[n]):
            return None
        elements[n] = len(accesses)
        accesses.append(Access(own.slot, moved_axes(own.axes, known), own.kind))
        reads.append(weighing.code.accesses[n])
    body = moved(body, known, elements)
    score = score_of(body)
    if score is None or any(uses_loop(score, name) for name in between[: len(between) - 2]):
        return None
    kernel = Kernel(
        products.shape,
        products.when,
        named(products.loops, score),
        [*named(products.rloops, score), Loop(inner, scores.rloops[0].extent, scores.rloops[0].pack, False)],
        False,
        accesses,
        products.steps,
        products.left,
        Code(reads, [*d.steps, StepCode(None, body)]),
        None,
        weighing.kernel.uniforms,
        weighing.kernel.constants + [x for x in products.constants if x not in weighing.kernel.constants],
        False,
        products.makes,
        weighing.kernel.number,
    )
    value = [n for n in elements_of(d.steps[0].body) if n != weights][0]
    parts = weighing.parts
    return Attention(
        kernel, weights, value, query, key, score, parts.exponential, parts.quotient, parts.safe, weighing.count + 2
    )


def named(loops: list[Loop], score: Node) -> list[Loop]:
    """Loops that keep variables of their own where the score uses them."""
    return [Loop(x.name, x.extent, x.pack, x.named or uses_loop(score, x.name)) for x in loops]


def with_product(body: Node, read: int, parts: Weights) -> Node:
    """The formula of a weight of variables instead of what was stored or reduced before."""
    match body:
        case Result(step=n):
            return Local(LARGEST if n == 0 else TOTAL)
        case Element(access=n):
            if n == parts.largest:
                return Local(LARGEST)
            if n == parts.total:
                return Local(TOTAL)
            return Local(PRODUCT) if n == read else body
        case _:
            return mapped(body, lambda x: with_product(x, read, parts))


def score_of(body: Node) -> Node | None:
    """The score in the formula of a weight."""
    match body:
        case Apply(operands=[Apply(operands=[Binary(left=score)]), _]):
            return score
        case _:
            return None


# --- Keys after a query ----------------------------------------------------------------------------


def hides_later(score: Node, query: str, key: str, env: Env) -> bool:
    """Whether a score is minus infinity wherever the key stands behind the query."""
    match score:
        case Select(condition=condition, no=Unary(operator="-", operand=Uniform(name="inf"))):
            return implies_order(condition, query, key, env)
        case _:
            return False


def implies_order(e: Node, query: str, key: str, env: Env) -> bool:
    """Whether a condition holds only where the key does not stand behind the query."""
    match e:
        case Binary(operator="<=", left=Index(loop=a), right=Index(loop=b)):
            return a == key and b == query
        case Binary(operator="&&", left=left, right=right):
            return implies_order(left, query, key, env) or implies_order(right, query, key, env)
        case Binary(operator="||", left=left, right=right):
            if never(left, env):
                return implies_order(right, query, key, env)
            return implies_order(left, query, key, env) and (never(right, env) or implies_order(right, query, key, env))
        case _:
            return False


def never(e: Node, env: Env) -> bool:
    """Whether options say that a condition does not hold."""
    match e:
        case Option(name=name):
            return name not in env or env[name] == 0
        case Unary(operator="!", operand=Option(name=name)):
            return name in env and env[name] != 0
        case _:
            return False
