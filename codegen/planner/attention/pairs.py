"""What kernels say of *pairs* of a query and a key: products of their features, scores, weights, slopes of them; what
each query needs of all its keys; numbers of queries that are made without pairs; and sums over pairs.

Formulas of kernels are put in one another's place, until each is one of products and of what tensors of features, masks
or queries have (attention_gradient.py says when that is an attention's gradient).  Whatever else a kernel says is not
taken."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Access, Code, Kernel, Loop, UniformField
from ...data.nodes import (
    Apply,
    Binary,
    Element,
    Index,
    Local,
    Node,
    Random,
    Result,
    Select,
    elements_of,
    mapped,
    nodes_of,
    same,
)
from ...data.softmaxes import divisor, subtrahend
from .attention_kernels import by_places, code_of, is_plain, is_product, moved_axes

COLUMN = "column'"  # loops that no formula can name
FLOATS = ["T", "f"]  # kinds of accesses that are the same where T is float32


@dataclass
class PairProduct:
    """A product of a query's features and a key's: the accesses, and the loop over the features.  A formula has it as
    the variable `product` with its number."""

    query: int
    key: int
    loop: Loop


@dataclass
class QueryFacts:
    """What a query needs of all its keys: the largest score and the sum of the exponentials above it.  Slots; the
    function of the formula.  kernel: which says so; safe: whether a query without scores has zeros.  normal: whether
    the logarithm of the sum is added to the largest score, and stored instead of both."""

    score: Node
    exponential: str
    largest: int
    total: int
    kernel: Kernel
    safe: bool
    normal: bool = False


@dataclass
class WeightedSum:
    """A sum over the keys of each query (by_query), or over the queries of each key, of weights times a factor.
    stored: what becomes of it, as the value of step 0."""

    by_query: bool
    weight: Node
    factor: Access
    target: Access
    column: Loop
    stored: Node
    kernel: Kernel


@dataclass
class Pairs:
    """What is known so far.  axes: of a tensor of pairs, the query's and the key's last.  formulas: of the slots of
    pairs; rows: slots with a number for each query that is made of pairs; before: kernels that know none."""

    axes: list[str]
    loops: list[Loop]
    products: list[PairProduct]
    accesses: list[Access]
    formulas: dict[int, Node]
    rows: list[int]
    before: list[Kernel]
    facts: QueryFacts | None
    sums: list[WeightedSum]
    uniforms: list[UniformField]
    constants: list[str]


def taken(pairs: Pairs, kernel: Kernel) -> bool:
    """Adds what a kernel says; whether it says nothing else."""
    code = kernel.floating
    if code is None or kernel.raw is not None:
        return False
    for n in range(len(code.steps)):
        if code.steps[n].pred is not None or kernel.steps[n].mode != "=":
            return False
        if any(isinstance(e, Random) for e in nodes_of(code.steps[n].body)):
            return False
    if not all(is_plain(read) for read in code.accesses) or not shares_numbers(pairs, kernel):
        return False
    if kernel.shape == "contract":
        return takes_sum(pairs, kernel, code) or takes_product(pairs, kernel)
    if kernel.spread:
        return False
    if kernel.shape == "reduce":
        return takes_totals(pairs, kernel, code) or comes_before(pairs, kernel)
    return kernel.shape == "map" and len(kernel.steps) == 1 and takes_pair(pairs, kernel, code, 0, {})


def shares_numbers(pairs: Pairs, kernel: Kernel) -> bool:
    """Adds a kernel's uniforms and constants; whether no name means two things."""
    for field in kernel.uniforms:
        if field.name in [x.name for x in pairs.uniforms]:
            if field.value is not None:
                return False
        else:
            pairs.uniforms.append(field)
    pairs.constants.extend([x for x in kernel.constants if x not in pairs.constants])
    return True


# --- Accesses and formulas of pairs ----------------------------------------------------------------


def access_of(pairs: Pairs, slot: int, axes: list[str], kind: str) -> int:
    """The access to a tensor under the names of pairs, made where there is none yet."""
    for n in range(len(pairs.accesses)):
        known = pairs.accesses[n]
        if known.slot == slot and known.axes == axes and known.kind == kind:
            return n
    pairs.accesses.append(Access(slot, axes, kind))
    return len(pairs.accesses) - 1


def pair_loops(pairs: Pairs, kernel: Kernel) -> dict[str, str]:
    """The names that a kernel's loops have among those of pairs, by a tensor of pairs that it reads; {} if it reads
    none."""
    for access in kernel.accesses:
        if access.slot in pairs.formulas and len(access.axes) == len(pairs.axes):
            return by_places(access.axes, pairs.axes)
    return {}


def row_access(pairs: Pairs, slot: int) -> int:
    return access_of(pairs, slot, pairs.axes[: len(pairs.axes) - 1], "T")


def in_pairs(pairs: Pairs, kernel: Kernel, body: Node, loops: dict[str, str], results: dict[int, Node]) -> Node | None:
    """A formula of a kernel as one of a pair; results: of its earlier steps.  None if it is none."""
    elements: dict[int, Node] = {}
    for n in elements_of(body):
        access = kernel.accesses[n]
        axes = moved_axes(access.axes, loops)
        if access.slot in pairs.formulas:
            if axes != pairs.axes:
                return None
            elements[n] = pairs.formulas[access.slot]
        elif all(axis in pairs.axes for axis in axes):
            if access.slot in pairs.rows and axes != pairs.axes[: len(pairs.axes) - 1]:
                return None
            elements[n] = Element(access_of(pairs, access.slot, axes, access.kind))
        else:
            return None
    for e in nodes_of(body):
        if isinstance(e, Result) and e.step not in results:
            return None
    return renamed(body, loops, elements, results)


def renamed(e: Node, loops: dict[str, str], elements: dict[int, Node], results: dict[int, Node]) -> Node:
    """A formula with other names of loops, and nodes in the place of elements and results."""
    match e:
        case Index(loop=loop):
            return Index(loops[loop]) if loop in loops else e
        case Element(access=n):
            return elements[n]
        case Result(step=n):
            return results[n]
        case _:
            return mapped(e, lambda x: renamed(x, loops, elements, results))


# --- What kernels say ------------------------------------------------------------------------------


def takes_product(pairs: Pairs, kernel: Kernel) -> bool:
    """Products of features, the first of which says what the axes of pairs are."""
    code = code_of(kernel, "contract")
    if code is None or len(code.steps) != 2 or not is_product(kernel, code) or len(kernel.rloops) != 1:
        return False
    target = kernel.accesses[kernel.steps[1].target]
    if len(pairs.axes) == 0:
        if len(target.axes) < 2 or len(target.axes) != len(kernel.loops) or "" in target.axes:
            return False
        pairs.axes = target.axes
        pairs.loops = kernel.loops
    loops = by_places(target.axes, pairs.axes)
    depth = kernel.rloops[0]
    query, key = -1, -1
    name = f"depth{len(pairs.products)}'"
    loops[depth.name] = name
    for n in elements_of(code.steps[0].body):
        axes = moved_axes(kernel.accesses[n].axes, loops)
        is_query, is_key = pairs.axes[len(pairs.axes) - 2] in axes, pairs.axes[len(pairs.axes) - 1] in axes
        if is_query == is_key or name not in axes or kernel.accesses[n].kind not in FLOATS:
            return False
        made = access_of(pairs, kernel.accesses[n].slot, axes, kernel.accesses[n].kind)
        if is_query:
            query = made
        else:
            key = made
    if query < 0 or key < 0 or depth.named or len(target.axes) != len(pairs.axes):
        return False
    product = Local(f"product{len(pairs.products)}")
    body = in_pairs(pairs, kernel, code.steps[1].body, loops, {0: product})
    if body is None or target.slot in pairs.formulas:
        return False
    pairs.products.append(PairProduct(query, key, Loop(name, depth.extent, depth.pack, False)))
    pairs.formulas[target.slot] = body
    return True


def takes_pair(pairs: Pairs, kernel: Kernel, code: Code, step: int, results: dict[int, Node]) -> bool:
    """A store of something that each pair has."""
    target = kernel.accesses[kernel.steps[step].target]
    loops = pair_loops(pairs, kernel)
    if len(loops) == 0 or moved_axes(target.axes, loops) != pairs.axes or target.slot in pairs.formulas:
        return False
    body = in_pairs(pairs, kernel, code.steps[step].body, loops, results)
    if body is None:
        return False
    pairs.formulas[target.slot] = body
    return True


def is_over_keys(pairs: Pairs, kernel: Kernel, loops: dict[str, str]) -> bool:
    if len(loops) == 0 or len(kernel.rloops) != 1 or kernel.rloops[0].name not in loops:
        return False
    return loops[kernel.rloops[0].name] == pairs.axes[len(pairs.axes) - 1]


def stores_result(pairs: Pairs, kernel: Kernel, code: Code, step: int, loops: dict[str, str]) -> bool:
    """Whether a step stores what the one before came to, for each query."""
    store = kernel.steps[step]
    if store.target < 0 or store.inner or not same(code.steps[step].body, Result(step - 1)):
        return False
    target = kernel.accesses[store.target]
    return target.kind == "T" and moved_axes(target.axes, loops) == pairs.axes[: len(pairs.axes) - 1]


def takes_totals(pairs: Pairs, kernel: Kernel, code: Code) -> bool:
    """The largest score of each query, and the sum of the exponentials above it."""
    loops = pair_loops(pairs, kernel)
    if len(kernel.steps) != 4 or pairs.facts is not None or not is_over_keys(pairs, kernel, loops):
        return False
    if kernel.steps[0].red != "max" or kernel.steps[2].red != "sum":
        return False
    if not stores_result(pairs, kernel, code, 1, loops) or not stores_result(pairs, kernel, code, 3, loops):
        return False
    score = in_pairs(pairs, kernel, code.steps[0].body, loops, {})
    above = in_pairs(pairs, kernel, code.steps[2].body, loops, {0: Local("best")})
    if score is None or above is None:
        return False
    match above:
        case Apply(name=exponential, operands=[Binary(operator="-", left=own, right=shift)]):
            safe = isinstance(shift, Select)
            if not same(own, score) or not same(shift, subtrahend(Local("best"), safe)):
                return False
            largest = kernel.accesses[kernel.steps[1].target].slot
            total = kernel.accesses[kernel.steps[3].target].slot
            pairs.rows.extend([largest, total])
            pairs.facts = QueryFacts(score, exponential, largest, total, kernel, safe)
            return True
        case _:
            return False


def comes_before(pairs: Pairs, kernel: Kernel) -> bool:
    """A kernel over other rows, which no pair has a say in: of a query, its result times what reaches it."""
    made = [*pairs.formulas, *pairs.rows, *[each.target.slot for each in pairs.sums]]
    if any(access.slot in made for access in kernel.accesses):
        return False
    pairs.before.append(kernel)
    return True


def quotient_of(pairs: Pairs, facts: QueryFacts, e: Node) -> str:
    """The function that divides, where a formula is the weight of a pair; else ""."""
    match e:
        case Apply(name=quotient, operands=[Apply(name=name, operands=[inner]), under]):
            largest, total = Element(row_access(pairs, facts.largest)), Element(row_access(pairs, facts.total))
            above = Binary("-", facts.score, subtrahend(largest, facts.safe))
            is_weight = name == facts.exponential and same(inner, above)
            return quotient if is_weight and same(under, divisor(total, facts.safe)) else ""
        case _:
            return ""


def takes_sum(pairs: Pairs, kernel: Kernel, code: Code) -> bool:
    """A sum over the keys or the queries of something of pairs times a tensor."""
    loops = pair_loops(pairs, kernel)
    if len(loops) == 0 or len(kernel.rloops) != 1 or len(kernel.steps) != 2 or kernel.steps[0].red != "sum":
        return False
    match code.steps[0].body:
        case Binary(operator="*", left=Element(access=m), right=Element(access=n)):
            of_pairs = m if kernel.accesses[m].slot in pairs.formulas else n
            other = n if of_pairs == m else m
        case _:
            return False
    columns = [loop for loop in kernel.loops if loop.name not in loops]
    if len(columns) != 1 or columns[0].named or columns[0].extent is None or kernel.rloops[0].name not in loops:
        return False
    weighted, factor = kernel.accesses[of_pairs], kernel.accesses[other]
    target = kernel.accesses[kernel.steps[1].target]
    if weighted.slot not in pairs.formulas or factor.slot in pairs.formulas or factor.slot in pairs.rows:
        return False
    if moved_axes(weighted.axes, loops) != pairs.axes or factor.kind not in FLOATS:
        return False
    reduced = loops[kernel.rloops[0].name]
    by_query = reduced == pairs.axes[len(pairs.axes) - 1]
    own = pairs.axes[len(pairs.axes) - 2] if by_query else pairs.axes[len(pairs.axes) - 1]
    if not by_query and reduced != pairs.axes[len(pairs.axes) - 2]:
        return False
    loops[columns[0].name] = COLUMN
    factor_axes, target_axes = moved_axes(factor.axes, loops), moved_axes(target.axes, loops)
    if own in factor_axes or reduced not in factor_axes or COLUMN not in factor_axes:
        return False
    if own not in target_axes or reduced in target_axes or COLUMN not in target_axes:
        return False
    stored = code.steps[1].body
    if len(elements_of(stored)) > 0 or any(isinstance(e, Index) for e in nodes_of(stored)):
        return False
    pairs.sums.append(
        WeightedSum(
            by_query,
            pairs.formulas[weighted.slot],
            Access(factor.slot, factor_axes, factor.kind),
            Access(target.slot, target_axes, target.kind),
            Loop(COLUMN, columns[0].extent, columns[0].pack, False),
            stored,
            kernel,
        )
    )
    return True
