"""The gradient of an attention among the kernels of a program: sums over pairs of a query and a key, whose weights are
made of products of their features and of what is known of each query.

All kernels between say what a *pair* has: a product, a weight, the slope of one.  Where they say no more than that, the
sums can be made without a tensor of pairs in memory (strategies/pair_blocks.py): first what each query needs of
all its keys, then each sum by itself, with the products made anew.  As in attention_kernels.py, what counts is what the
formulas say."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.model import Access, Code, Env, Kernel, Loop, Op, ReadCode, Step, StepCode
from ...data.nodes import Apply, Binary, Constant, Element, Local, Node, Select, children, mapped, same, uses_loop
from ...data.softmaxes import divisor, subtrahend
from .attention_kernels import hides_later, implies_order
from .pair_formulas import branchless, straight, unrounded
from .pairs import Pairs, QueryFacts, WeightedSum, quotient_of, row_access, taken


@dataclass
class PairKernel:
    """One launch's work: a kernel with the accesses of the products, of the formulas, and of its own.  sums: which sums
    that is, all over keys or all over queries; []: what the queries need.  factors: the accesses.  formulas: of pairs,
    as they are computed: a weight of each sum, or the score."""

    kernel: Kernel
    sums: list[WeightedSum]
    factors: list[int]
    formulas: list[Node]


@dataclass
class AttentionGradient:
    """What the kernels of a program are together, and the launches that do it, in their order."""

    pairs: Pairs
    facts: QueryFacts
    launches: list[PairKernel]


def gradient_of(op: Op, kernels: list[Kernel]) -> AttentionGradient | None:
    """What all active kernels of a program are together; None if they are something else."""
    pairs = Pairs([], [], [], [], {}, [], [], None, [], [], [])
    for kernel in kernels:
        if not taken(pairs, unrounded(kernel)):
            return None
    facts = pairs.facts
    if facts is None or len(pairs.sums) == 0:
        return None
    if len(pairs.products) == 1 and all(each.by_query for each in pairs.sums):
        return None  # an attention itself
    if any(op.slots[slot].role != "temp" for slot in pairs.rows):
        return None
    if any(op.slots[slot].role != "temp" for slot in pairs.formulas):
        return None
    if all(is_normal(pairs, facts, each.weight) for each in pairs.sums):
        for each in pairs.sums:
            each.weight = normal(pairs, facts, each.weight)
        facts.normal = True
    launches = [facts_kernel(pairs, facts), *[sums_kernel(pairs, facts, [each]) for each in pairs.sums]]
    return AttentionGradient(pairs, facts, launches)


def together(a: AttentionGradient, made: list[PairKernel]) -> PairKernel:
    """Sums of weights of the same pairs, with as many columns each, as one launch's work."""
    sums: list[WeightedSum] = []
    for each in made:
        sums.extend(each.sums)
    return sums_kernel(a.pairs, a.facts, sums)


# --- Weights of one number of each query -----------------------------------------------------------


def normal(pairs: Pairs, facts: QueryFacts, e: Node) -> Node:
    """A formula in which a weight is the exponential of the score less the logarithm of the sum of all exponentials:
    so one number of each query is enough."""
    if is_weight(pairs, facts, e):
        return Apply(facts.exponential, [Binary("-", facts.score, Element(row_access(pairs, facts.largest)))])
    return mapped(e, lambda x: normal(pairs, facts, x))


def is_weight(pairs: Pairs, facts: QueryFacts, e: Node) -> bool:
    return quotient_of(pairs, facts, e) != ""


def is_normal(pairs: Pairs, facts: QueryFacts, e: Node) -> bool:
    """Whether a formula then says nothing else of the sum, nor of the largest score."""
    total, largest = row_access(pairs, facts.total), row_access(pairs, facts.largest)
    return not any(rest_of(pairs, facts, e, n) for n in (total, largest))


def rest_of(pairs: Pairs, facts: QueryFacts, e: Node, access: int) -> bool:
    """Whether a formula reads an access outside of weights."""
    if is_weight(pairs, facts, e):
        return False
    return same(e, Element(access)) or any(rest_of(pairs, facts, x, access) for x in children(e))


# --- Kernels of the launches -----------------------------------------------------------------------


def facts_kernel(pairs: Pairs, facts: QueryFacts) -> PairKernel:
    """Stores what each query needs of its keys, by the variables `best` and `total`."""
    slots = [facts.largest] if facts.normal else [facts.largest, facts.total]
    exponential = branchless(facts.exponential)
    score = straight(facts.score, facts.exponential)
    stored: list[Node] = [Local("best"), Local("total")]
    if facts.normal:
        logarithm = Apply("log_of", [divisor(Local("total"), facts.safe)])
        stored = [Binary("+", subtrahend(Local("best"), facts.safe), logarithm)]
    targets = [row_access(pairs, slot) for slot in slots]
    steps = [Step("store", "", "", "f", False, target, "=") for target in targets]
    key = pairs.axes[len(pairs.axes) - 1]
    outer = [x for x in pairs.loops if x.name != key]
    inner = [x for x in pairs.loops if x.name == key]
    bodies = [*stored, score, Apply(exponential, [Local("best")])]
    return PairKernel(launched(pairs, facts.kernel, outer, inner, [], steps, bodies), [], [], [score])


def sums_kernel(pairs: Pairs, facts: QueryFacts, sums: list[WeightedSum]) -> PairKernel:
    query, key = pairs.axes[len(pairs.axes) - 2], pairs.axes[len(pairs.axes) - 1]
    reduced = key if sums[0].by_query else query
    outer = [x for x in pairs.loops if x.name != reduced]
    inner = [x for x in pairs.loops if x.name == reduced]
    own: list[Access] = []
    steps: list[Step] = []
    bodies: list[Node] = []
    factors: list[int] = []
    weights = [straight(each.weight, facts.exponential) for each in sums]
    for each in sums:
        factor = len(pairs.accesses) + len(own)
        own.extend([each.factor, each.target])
        steps.extend([each.kernel.steps[0], Step("store", "", "", each.kernel.steps[1].value, False, factor + 1, "=")])
        bodies.extend([Local("weight"), each.stored])
        factors.append(factor)
    made = launched(pairs, sums[0].kernel, [*outer, sums[0].column], inner, own, steps, [*bodies, *weights])
    return PairKernel(made, sums, factors, weights)


def launched(
    pairs: Pairs,
    kernel: Kernel,
    outer: list[Loop],
    inner: list[Loop],
    own: list[Access],
    steps: list[Step],
    bodies: list[Node],
) -> Kernel:
    """A kernel over pairs, which stands for another in the program.  bodies: of its steps, then what else it needs."""
    accesses = pairs.accesses + own
    reads = [ReadCode([None for axis in access.axes], None, None) for access in accesses]
    return Kernel(
        "contract",
        kernel.when,
        as_used(outer, bodies),
        [*as_used(inner, bodies), *[product.loop for product in pairs.products]],
        kernel.spread,
        accesses,
        steps,
        [],
        Code(reads, [StepCode(None, body) for body in bodies]),
        None,
        pairs.uniforms,
        pairs.constants,
        False,
        kernel.makes,
        kernel.number,
    )


def as_used(loops: list[Loop], bodies: list[Node]) -> list[Loop]:
    """Loops that keep variables of their own where a formula uses them."""
    return [Loop(x.name, x.extent, x.pack, any(uses_loop(body, x.name) for body in bodies)) for x in loops]


# --- Keys after a query ----------------------------------------------------------------------------


def vanishes_later(weight: Node, facts: QueryFacts, query: str, key: str, env: Env) -> bool:
    """Whether a weight is 0 wherever the key stands behind the query."""
    match weight:
        case Select(condition=condition, no=Constant(value=0)):
            return implies_order(condition, query, key, env)
        case Apply(operands=[Apply(name=name, operands=[Binary(operator="-", left=score)]), _]):
            return name == facts.exponential and hides_later(score, query, key, env)
        case Apply(name=name, operands=[Binary(operator="-", left=score)]):
            return name == facts.exponential and hides_later(score, query, key, env)
        case _:
            return False
