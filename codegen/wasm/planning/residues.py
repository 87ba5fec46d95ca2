"""Sums with conditions.  Where one asks whether a place is a multiple of a stride, points that read at the same steps
of what is summed go together: as many kernels as there are residues, with nothing in between that does not count.  In
contractions, conditions that decide whether one read counts guard that read, as tiles need it."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.formulas import formulas_of
from ...data.model import Access, Code, Env, Kernel, ReadCode, StepCode, is_arg
from ...data.nodes import (
    Apply,
    Binary,
    Constant,
    Element,
    Index,
    Node,
    Random,
    elements_of,
    factors_of,
    nodes_of,
    operands_of,
    replaced,
    uses_loop,
)
from ...planner.affine import Affine
from ...planner.lines import Line, Resolved
from .straight import Evenness

MOST_PARTS = 64  # kernels that a launch is split into: eight residues of each of two axes


@dataclass
class Part:
    """Some of a kernel's points.  said: which, for a key."""

    kernel: Kernel
    code: Code
    lines: Resolved
    said: str


@dataclass
class Split:
    """outer * a + inner * b + c is to be a multiple of m."""

    outer: str
    inner: str
    a: int
    b: int
    c: int
    m: int


def guarded(kernel: Kernel, code: Code) -> int:
    """The access that the conditions of the sum can guard instead, or -1: a factor, whose indices use all the loops
    that they do."""
    pred = code.steps[0].pred
    if kernel.shape != "contract" or pred is None or len(elements_of(pred)) > 0:
        return -1
    loops = [x.loop for x in nodes_of(pred) if isinstance(x, Index)]
    found: list[int] = []
    for factor in factors_of(code.steps[0].body, "f"):
        match factor:
            case Element(access=n):
                a = code.accesses[n]
                if a.guard is None and any(e is not None for e in a.index):
                    if all(any(e is not None and uses_loop(e, loop) for e in a.index) for loop in loops):
                        found.append(n)
    if len(found) != 1 or len([n for n in elements_of(code.steps[0].body) if n == found[0]]) != 1:
        return -1
    return found[0]


def with_guard(code: Code, access: int) -> Code:
    reads = code.accesses[:]
    reads[access] = ReadCode(reads[access].index, code.steps[0].pred, None)
    return Code(reads, [StepCode(None, code.steps[0].body), *code.steps[1:]])


def sparse(kernel: Kernel, code: Code) -> bool:
    """Whether a reduction may be split, which asks for each place whether it counts."""
    if kernel.shape != "reduce" or code.steps[0].pred is None or kernel.steps[0].kind != "reduce":
        return False
    if is_arg(kernel.steps[0]) or any(isinstance(x, Random) for e in formulas_of(code) for x in nodes_of(e)):
        return False
    return all(step.kind != "reduce" and not step.inner and step.mode == "=" for step in kernel.steps[1:])


def parts_of(kernel: Kernel, code: Code, r: Resolved, env: Env, guard: Node | None) -> list[Part]:
    """The kernel in parts, one for all residues of the places that a condition asks for."""
    evenness = Evenness(kernel, env, r.outer + r.reduce)
    splits: list[Split] = []
    count = 1
    for condition in operands_of(guard, "&&"):
        found = split_of(evenness, condition, r)
        if found is not None and not any(s.outer == found.outer or s.inner == found.inner for s in splits):
            splits.append(found)
            count *= period(found.a, found.m)
    out = [Part(kernel, code, r, "")]
    if count > MOST_PARTS:
        return out
    for split in splits:
        parts: list[Part] = []
        for part in out:
            for residue in range(period(split.a, split.m)):
                parts.extend(residue_of(part, split, residue))
        out = parts
    return out


def period(factor: int, m: int) -> int:
    """The least positive number of which the product with a factor is a multiple of m."""
    out = 1
    while factor * out % m != 0:
        out += 1
    return out


def split_of(evenness: Evenness, condition: Node, r: Resolved) -> Split | None:
    match condition:
        case Binary(operator="==", left=Apply(name="remainder_int", operands=operands), right=Constant(value=0)):
            by = evenness.of(operands[1])
            even = evenness.of(operands[0])
            if by is None or even is None or not by.is_number() or by.factors[""] < 2:
                return None
            return split_between(even, by.factors[""], r)
        case _:
            return None


def split_between(even: Affine, m: int, r: Resolved) -> Split | None:
    outer = [line.name for line in r.outer if line.name != "" and even.factors.get(line.name, 0) != 0]
    inner = [line.name for line in r.reduce if line.name != "" and even.factors.get(line.name, 0) != 0]
    if len(outer) != 1 or len(inner) != 1:
        return None
    return Split(outer[0], inner[0], even.factors[outer[0]], even.factors[inner[0]], even.factors[""], m)


def residue_of(part: Part, split: Split, residue: int) -> list[Part]:
    """The points at which the outer loop has a residue: none, or one part."""
    outer = [line for line in part.lines.outer if line.name == split.outer][0].size
    inner = [line for line in part.lines.reduce if line.name == split.inner][0].size
    turn = period(split.a, split.m)
    if residue >= outer:
        return []
    first = 0
    while first < inner and (split.a * residue + split.b * first + split.c) % split.m != 0:
        first += 1
    by = period(split.b, split.m)
    if first == inner:  # no product counts: one is left, whose guard says so
        first = 0
        by = inner
    every = stepped(part, split.outer, residue, turn, (outer - residue + turn - 1) // turn)
    return [stepped(every, split.inner, first, by, (inner - first + by - 1) // by)]


def stepped(part: Part, loop: str, first: int, by: int, size: int) -> Part:
    """The points at which a loop is first, first + by, ...: as many as `size`."""
    place: Node = Binary("+", Binary("*", Index(loop), Constant("i", by)), Constant("i", first))
    accesses: list[Access] = []
    reads: list[ReadCode] = []
    for n in range(len(part.kernel.accesses)):
        access = part.kernel.accesses[n]
        code = part.code.accesses[n]
        index = [placed(e, loop, place) for e in code.index]
        for i in range(len(access.axes)):
            if access.axes[i] == loop:
                index[i] = place
        accesses.append(Access(access.slot, ["" if name == loop else name for name in access.axes], access.kind))
        reads.append(ReadCode(index, placed(code.guard, loop, place), placed(code.fallback, loop, place)))
    steps: list[StepCode] = []
    for s in part.code.steps:
        body = placed(s.body, loop, place)
        steps.append(StepCode(placed(s.pred, loop, place), s.body if body is None else body))
    said = f"{part.said} {loop}*{by}+{first}"
    return Part(with_accesses(part.kernel, accesses), Code(reads, steps), with_size(part.lines, loop, size), said)


def placed(e: Node | None, loop: str, place: Node) -> Node | None:
    return None if e is None else replaced(e, Index(loop), place)


def with_size(r: Resolved, loop: str, size: int) -> Resolved:
    outer = [resized(line, loop, size) for line in r.outer]
    return Resolved(outer, [resized(line, loop, size) for line in r.reduce], r.offsets, r.steps, r.lengths)


def resized(line: Line, loop: str, size: int) -> Line:
    """All accesses take the loop in their indices."""
    return Line(loop, size, [0 for _ in line.strides]) if line.name == loop else line


def with_accesses(kernel: Kernel, accesses: list[Access]) -> Kernel:
    return Kernel(
        kernel.shape,
        kernel.when,
        kernel.loops,
        kernel.rloops,
        kernel.spread,
        accesses,
        kernel.steps,
        kernel.left,
        kernel.floating,
        kernel.integral,
        kernel.uniforms,
        kernel.constants,
        kernel.reverse,
        kernel.makes,
        kernel.number,
    )
