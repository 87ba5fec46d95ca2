"""One step of two: a map after the kernel that stores what it reads, in the place of a read, or beside another."""

from __future__ import annotations

from ..data.model import (
    Bound,
    Code,
    Step,
    StepCode,
)
from ..data.nodes import Constant, Element, Node, Result, Select, replaced
from ..planner.lines import points
from .joining import Joining, code_of, same_elements
from .pointwise import Along, Pointwise, along, axes_of, start_of
from .substitute import as_read, put_in, renamed
from .work import Work, reads_of, writes_of

# --- A map after a kernel --------------------------------------------------------------------------


def appended(base: Work, point: Work, p: Pointwise, unread: list[int]) -> Work | None:
    """The base with a map that reads what it stores.  unread: the values that nobody else reads."""
    at = -1
    for n in range(len(base.kernels)):
        if any(v in writes_of(base, base.kernels[n]) for v in reads_of(point, point.kernels[0])):
            at = n
    if at < 0:
        return None
    kernel = base.kernels[at]
    if not before_all(base, at, point):
        return None
    code = code_of(kernel)
    j = Joining(base, at, point, p, len(base.parts))
    stores: dict[int, int] = {}
    for n in range(len(kernel.steps)):
        if kernel.steps[n].target >= 0:
            value = base.values[kernel.accesses[kernel.steps[n].target].slot]
            if value in stores:
                return None
            stores[value] = n
    # The store that says where the map's points are.
    main = -1
    master: Along | None = None
    for n in p.used:
        value = point.values[point.kernels[0].accesses[n].slot]
        if master is None and value in stores:
            main = stores[value]
            step = kernel.steps[main]
            target = kernel.accesses[step.target]
            bound = base.call.slots[target.slot]
            if step.mode != "=" or code.steps[main].pred is not None:
                return None
            if any(i is not None for i in code.accesses[step.target].index):
                return None
            if count_of(bound) != points(p.lines):
                return None
            master = along(bound.axes, bound.offset, p.lines, n, p.offsets[n])
            if master is None:
                return None
    if master is None:
        return None
    like = kernel.steps[main].target
    inner = kernel.steps[main].inner
    steps = kernel.steps[:]
    elements: dict[int, Node] = {}
    dropped = -1
    for n in p.used:
        own = point.kernels[0].accesses[n]
        value = point.values[own.slot]
        if value not in stores:
            elements[n] = Element(j.access(like, master, n, False))
            continue
        s = stores[value]
        step = kernel.steps[s]
        target = kernel.accesses[step.target]
        if target.axes != kernel.accesses[like].axes or step.inner != inner or step.mode != "=":
            return None
        mine = Bound(
            point.call.slots[own.slot].dtype,
            [],
            [],
            start_of(master, p, n),
            axes_of(master, base.call.slots[kernel.accesses[like].slot].axes, p, n),
            True,
        )
        if not same_elements(base.call.slots[target.slot], mine) or code.steps[s].pred is not None:
            return None
        drop = value in unread or value in writes_of(point, point.kernels[0])
        if drop and dropped >= 0 and dropped != s:
            return None
        kind = "f" if step.value == "T" else step.value
        copied = drop or step.inner
        if drop:
            dropped = s
        if not copied:
            steps[s] = Step(
                step.kind, f"acc{s}", step.red, step.value, step.inner, step.target, step.mode, step.compared
            )
        source: Node = code.steps[s].body if copied else Result(s)
        read = as_read(source, kind, base.call.slots[target.slot].dtype, "f" if own.kind == "T" else own.kind)
        if read is None:
            return None
        elements[n] = read
    if inner and any(s.name != "" for s in point.kernels[0].steps):
        return None
    bodies = code.steps[:]
    j.store(like, master, elements, inner, steps, bodies)
    if dropped >= 0 and kernel.steps[dropped].name != "":
        own_body = code.steps[dropped].body
        bodies = [StepCode(b.pred, replaced(b.body, Result(dropped), own_body)) for b in bodies]
    return j.done(Code(code.accesses + j.reads, bodies), steps, kernel.left, dropped)


def before_all(base: Work, at: int, point: Work) -> bool:
    """Whether a map may run right after a kernel, before those that follow it in its step."""
    reads = reads_of(point, point.kernels[0])
    writes = writes_of(point, point.kernels[0])
    for n in range(at + 1, len(base.kernels)):
        for v in writes_of(base, base.kernels[n]):
            if v in reads or v in writes:
                return False
        for v in reads_of(base, base.kernels[n]):
            if v in writes:
                return False
    return True


def count_of(bound: Bound) -> int:
    out = 1
    for axis in bound.axes:
        for size in axis.sizes:
            out *= size
    return out


# --- A map in the place of a read ------------------------------------------------------------------


def inserted(base: Work, point: Work, p: Pointwise) -> Work | None:
    """The base with what a map stores computed where it is read."""
    out = base
    values = writes_of(point, point.kernels[0])
    found = False
    for at in range(len(base.kernels)):
        turn = 0
        # Each read of each kernel in its turn: accesses change their numbers.
        while turn >= 0:
            kernel = out.kernels[at]
            turn = -1
            for n in range(len(kernel.accesses)):
                if out.values[kernel.accesses[n].slot] in values:
                    turn = n
            if turn < 0:
                continue
            new = inserted_at(out, at, turn, point, p, len(base.parts))
            if new is None:
                return None
            out = new
            found = True
    return out if found else None


def inserted_at(base: Work, at: int, n: int, point: Work, p: Pointwise, number: int) -> Work | None:
    kernel = base.kernels[at]
    code = code_of(kernel)
    access = kernel.accesses[n]
    if any(s.target == n for s in kernel.steps):
        return None
    value = base.values[access.slot]
    last = -1
    for i in range(len(p.steps)):
        if point.values[point.kernels[0].accesses[point.kernels[0].steps[i].target].slot] == value:
            last = i
    if last < 0:
        return None
    target = point.kernels[0].steps[last].target
    bound = base.call.slots[access.slot]
    where = along(bound.axes, bound.offset, p.lines, target, p.offsets[target])
    if where is None:
        return None
    guard = code.accesses[n].guard
    if kernel.shape == "contract" and (guard is not None or any(i is not None for i in code.accesses[n].index)):
        return None
    known = len(base.parts) > number
    j = Joining(base, at, point, p, number)
    elements: dict[int, Node] = {}
    added: list[int] = []
    for m in p.used:
        new = j.access(n, where, m, False)
        elements[m] = Element(new)
        added.append(new)
    results: list[Node] = []
    for i in range(last + 1):
        step = point.kernels[0].steps[i]
        body = renamed(p.steps[i].body, elements, results, j.prefix)
        kind = "f" if step.value == "T" else step.value
        dtype = point.call.slots[point.kernels[0].accesses[step.target].slot].dtype
        wanted = ("f" if access.kind == "T" else access.kind) if i == last else kind
        read = as_read(body, kind, dtype, wanted)
        if read is None:
            return None
        results.append(read)
    formula = results[last]
    if guard is not None:
        other = code.accesses[n].fallback
        kind = "f" if access.kind == "T" else access.kind
        formula = Select(guard, formula, other if other is not None else Constant(kind, 0))
    left = kernel.left + [m for m in added if m not in kernel.left] if n in kernel.left else kernel.left
    made = j.done(put_in(Code(code.accesses + j.reads, code.steps), n, formula), kernel.steps, left, -1)
    if made is None or not known:
        return made
    return Work(made.op, made.call, made.kernels, made.values, made.wanted, base.parts)


# --- A map beside another --------------------------------------------------------------------------


def beside(base: Work, q: Pointwise, point: Work, p: Pointwise) -> Work | None:
    """A map with another over as many points in the same lines, neither of which reads what the other writes."""
    if len(q.lines) != len(p.lines) or any(q.lines[i].size != p.lines[i].size for i in range(len(p.lines))):
        return None
    kernel = base.kernels[0]
    code = code_of(kernel)
    like = kernel.steps[0].target
    bound = base.call.slots[kernel.accesses[like].slot]
    where = along(bound.axes, bound.offset, q.lines, like, q.offsets[like])
    if where is None or count_of(bound) != points(q.lines):
        return None
    j = Joining(base, 0, point, p, len(base.parts))
    elements: dict[int, Node] = {}
    for n in p.used:
        elements[n] = Element(j.access(like, where, n, False))
    steps = kernel.steps[:]
    bodies = code.steps[:]
    j.store(like, where, elements, False, steps, bodies)
    return j.done(Code(code.accesses + j.reads, bodies), steps, kernel.left, -1)
