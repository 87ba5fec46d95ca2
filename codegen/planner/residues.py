"""Sums with conditions.  Where one asks whether a place is a multiple of a stride, points that read at the same steps
of what is summed go together: as many kernels as there are residues, with nothing in between that does not count.  In
contractions, conditions that decide whether one read counts guard that read, as tiles need it.  On every device, for
a stride of two in two axes leaves a quarter of the products."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.formulas import formulas_of
from ..data.model import Access, Code, Env, Kernel, ReadCode, StepCode, is_arg
from ..data.nodes import (
    Apply,
    Binary,
    Constant,
    Element,
    Index,
    Node,
    Random,
    elements_of,
    factors_of,
    joined_by,
    mapped,
    nodes_of,
    operands_of,
    replaced,
    uses_loop,
)
from .affine import Affine
from .evenness import Evenness
from .lines import Line, Resolved

# Kernels that a launch is split into: 32 residues of each of two axes, as of a picture cut into patches of 32 x 32.
# Each takes microseconds; as one, the points ask at 1024 places of the window for the one that counts.
MOST_PARTS = 1024


@dataclass
class Part:
    """Some of a kernel's points.  said: which, for a key."""

    kernel: Kernel
    code: Code
    lines: Resolved
    said: str


@dataclass
class Split:
    """outer * a + inner * b + c is to be a multiple of m; inner: "" where no loop that is summed over has a say."""

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
        if found is not None and not any(shares_loop(s, found) for s in splits):
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


def shares_loop(a: Split, b: Split) -> bool:
    return a.outer == b.outer or a.inner == b.inner and a.inner != ""


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
    if len(outer) == 1 and len(inner) == 0:
        return Split(outer[0], "", even.factors[outer[0]], 0, even.factors[""], m)
    if len(outer) != 1 or len(inner) != 1:
        return None
    return Split(outer[0], inner[0], even.factors[outer[0]], even.factors[inner[0]], even.factors[""], m)


def divided(part: Part, env: Env) -> Part:
    """A part whose kernel says what it does by itself: without the divisions that come out even at its points, without
    loops of one point, and without conditions that hold at all of them; where one holds at none, it sums nothing.
    What is read or stored at steps of outer lines is walked along."""
    evenness = Evenness(part.kernel, env, part.lines.outer + part.lines.reduce)
    reads: list[ReadCode] = []
    none = False
    for a in part.code.accesses:
        conditions = operands_of(a.guard, "&&")
        none = none or any(evenness.never(c) for c in conditions)
        left = [undivided(c, evenness) for c in conditions if not evenness.holds(c)]
        index = [None if e is None else undivided(e, evenness) for e in a.index]
        reads.append(ReadCode(index, joined_by("&&", left), a.fallback))
    lines = part.lines
    for n in range(len(reads)):
        lines = walked(part.kernel, reads[n], n, lines, evenness)
    if none:
        nothing = [Line(line.name, 0, line.strides) for line in lines.reduce]
        lines = Resolved(lines.outer, nothing, lines.offsets, lines.steps, lines.lengths)
    code = Code(reads, part.code.steps)
    return Part(with_accesses(part.kernel, part.kernel.accesses, code), code, lines, part.said)


def walked(kernel: Kernel, read: ReadCode, n: int, r: Resolved, evenness: Evenness) -> Resolved:
    """The lines with the even indices of an access as strides."""
    named = [loop.name for loop in kernel.loops + kernel.rloops if loop.named]
    offsets = r.offsets[:]
    outer = [Line(line.name, line.size, line.strides[:]) for line in r.outer]
    place = 0
    for i in range(len(read.index)):
        axis = kernel.accesses[n].axes[i]
        if axis != "":
            place += 1 if axis in named else 0
            continue
        e = read.index[i]
        even = None if e is None else evenness.of(e)
        if even is not None and read.guard is None and forwards(even, outer):
            for line in outer:
                if line.name != "":
                    line.strides[n] += even.factors.get(line.name, 0) * r.steps[n][place]
            offsets[n] += even.factors[""] * r.steps[n][place]
            read.index[i] = None
        place += 1
    return Resolved(outer, r.reduce, offsets, r.steps, r.lengths)


def forwards(even: Affine, lines: list[Line]) -> bool:
    """Whether an index never falls along any of the lines, and moves along no other loop."""
    for name in even.factors:
        if even.factors[name] < 0 or name != "" and not any(line.name == name for line in lines):
            return False
    return True


def undivided(e: Node, evenness: Evenness) -> Node:
    match e:
        case Index(loop=loop) if loop in evenness.single:
            return Constant("i", 0)
        case Apply(name="floor_divide_int"):
            even = evenness.of(e)
            return mapped(e, lambda x: undivided(x, evenness)) if even is None else even_sum(even)
        case _:
            return mapped(e, lambda x: undivided(x, evenness))


def even_sum(even: Affine) -> Node:
    terms: list[Node] = []
    for loop in even.factors:
        by = even.factors[loop]
        if loop != "" and by != 0:
            terms.append(Index(loop) if by == 1 else Binary("*", Index(loop), Constant("i", by)))
    if len(terms) == 0 or even.factors[""] != 0:
        terms.append(Constant("i", even.factors[""]))
    out = joined_by("+", terms)
    return Constant("i", 0) if out is None else out


def residue_of(part: Part, split: Split, residue: int) -> list[Part]:
    """The points at which the outer loop has a residue: none, or one part."""
    outer = [line for line in part.lines.outer if line.name == split.outer][0].size
    turn = period(split.a, split.m)
    if residue >= outer:
        return []
    every = stepped(part, split.outer, residue, turn, (outer - residue + turn - 1) // turn)
    if split.inner == "":
        return [every]
    inner = [line for line in part.lines.reduce if line.name == split.inner][0].size
    first = 0
    while first < inner and (split.a * residue + split.b * first + split.c) % split.m != 0:
        first += 1
    by = period(split.b, split.m)
    if first == inner:  # no product counts: one is left, whose guard says so
        first = 0
        by = inner
    return [stepped(every, split.inner, first, by, (inner - first + by - 1) // by)]


def stepped(part: Part, loop: str, first: int, by: int, size: int) -> Part:
    """The points at which a loop is first, first + by, ...: as many as `size`."""
    place = even_sum(Affine({"": first, loop: by}))
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
    return Part(
        with_accesses(part.kernel, accesses, part.kernel.floating),
        Code(reads, steps),
        with_size(part.lines, loop, size),
        said,
    )


def placed(e: Node | None, loop: str, place: Node) -> Node | None:
    return None if e is None else replaced(e, Index(loop), place)


def with_size(r: Resolved, loop: str, size: int) -> Resolved:
    outer = [resized(line, loop, size) for line in r.outer]
    return Resolved(outer, [resized(line, loop, size) for line in r.reduce], r.offsets, r.steps, r.lengths)


def resized(line: Line, loop: str, size: int) -> Line:
    """All accesses take the loop in their indices."""
    return Line(loop, size, [0 for _ in line.strides]) if line.name == loop else line


def with_accesses(kernel: Kernel, accesses: list[Access], code: Code | None) -> Kernel:
    return Kernel(
        kernel.shape,
        kernel.when,
        kernel.loops,
        kernel.rloops,
        kernel.spread,
        accesses,
        kernel.steps,
        kernel.left,
        code,
        kernel.integral,
        kernel.uniforms,
        kernel.constants,
        kernel.reverse,
        kernel.makes,
        kernel.number,
    )
