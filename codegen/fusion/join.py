"""One step of two: a map after the kernel that stores what it reads, or in the place of a kernel's read."""

from __future__ import annotations

from ..data.model import (
    Access,
    Bound,
    Call,
    Code,
    Env,
    Function,
    Kernel,
    Op,
    ReadCode,
    Slot,
    Step,
    StepCode,
    Word,
    formulas_of,
)
from ..data.nodes import Apply, BoundsCheck, Constant, Element, Node, Result, Select, elements_of, nodes_of
from ..planner.lines import points
from ..planner.writer import MOST_BINDINGS
from .pointwise import Along, Pointwise, along, axes_of, start_of
from .substitute import as_read, put_in, renamed, short, trimmed, without_result
from .work import Part, Work, entry_of, reads_of, value_of, writes_of

TELLING = 2  # bindings that are left to a kernel which tells what is wrong, and may share memory


class Joining:
    """A kernel that a map is being put into: what of the base it changes."""

    def __init__(self, base: Work, at: int, point: Work, p: Pointwise, number: int):
        self.base = base
        self.at = at
        self.point = point
        self.p = p
        self.prefix = f"j{number}_"
        self.kernel = base.kernels[at]
        self.accesses = self.kernel.accesses[:]
        self.reads: list[ReadCode] = []
        self.targets: list[int] = []
        self.slots: list[Slot] = base.op.slots[:]
        self.bounds: list[Bound] = base.call.slots[:]
        self.values = base.values[:]
        while len(self.bounds) < len(self.slots):  # of gradients that were never bound
            self.bounds.append(Bound("float32", [], [], 0, [], False, False))

    def access(self, like: int, at: Along, n: int, written: bool) -> int:
        """An access to what access n of the map is to, at the elements that access `like` of the kernel walks over."""
        own = self.point.kernels[0].accesses[n]
        there = self.bounds[self.accesses[like].slot]
        bound = self.point.call.slots[own.slot]
        value = self.point.values[own.slot]
        mine = Bound(
            bound.dtype,
            bound.shape,
            bound.strides,
            start_of(at, self.p, n),
            axes_of(at, there.axes, self.p, n),
            True,
            False,
        )
        slot = -1
        for i in range(len(self.values)):
            if self.values[i] == value and same_elements(self.bounds[i], mine):
                slot = i
        if slot < 0:
            slot = len(self.slots)
            self.slots.append(Slot(f"x{slot}_", "output" if written else "input", bound.dtype, [], -1, False))
            self.bounds.append(mine)
            self.values.append(value)
        axes = self.accesses[like].axes[:]
        # What is stored has an access of its own, as strategies name values by their accesses.
        for i in range(len(self.kernel.accesses), len(self.accesses)):
            if (
                not written
                and i not in self.targets
                and self.accesses[i].slot == slot
                and self.accesses[i].axes == axes
            ):
                return i
        if written:
            self.targets.append(len(self.accesses))
        kind = "f" if own.kind == "T" else own.kind
        self.accesses.append(Access(slot, axes, kind))
        code = code_of(self.kernel)
        self.reads.append(
            ReadCode([None for _ in axes], None, None)
            if written
            else ReadCode(code.accesses[like].index, code.accesses[like].guard, None)
        )
        return len(self.accesses) - 1

    def done(self, code: Code, steps: list[Step], left: list[int], drop: int) -> Work | None:
        """The base with the kernel as it is now; None where that does not do."""
        k = self.kernel
        words = k.words[:]
        known = [w.name for w in words]
        for w in self.point.kernels[0].words:
            name = w.name if w.name == "inf" or w.name == "nan" else self.prefix + w.name
            if name not in known:
                words.append(Word(name, w.kind, None))
        whole = Kernel(
            k.shape,
            k.when,
            k.loops,
            k.rloops,
            k.spread,
            self.accesses,
            steps,
            left,
            code,
            None,
            words,
            k.constants,
            k.reverse,
            k.makes,
            k.number,
        )
        kernel = trimmed(whole, code, drop)
        if (
            not short(code_of(kernel))
            or not apart(kernel, self.values)
            or bindings(kernel, self.bounds) > most_bindings(code)
        ):
            return None
        kernels = self.base.kernels[:]
        kernels[self.at] = kernel
        used: list[int] = []
        stored: list[int] = []
        for other in kernels:
            used.extend([a.slot for a in other.accesses])
            stored.extend([other.accesses[s.target].slot for s in other.steps if s.target >= 0])
        values = [self.values[i] if i in used else -1 for i in range(len(self.values))]
        wanted = [i for i in range(len(values)) if i in stored and values[i] >= 0]
        op = self.base.op
        made = Op(
            op.name,
            op.params,
            self.slots,
            op.promote,
            op.promoted,
            op.sizes,
            op.requires,
            op.outputs,
            [],
            op.drop,
            op.keepdim,
            op.random,
            op.programs,
            op.schedules,
            False,
            False,
            with_routines(op, self.point.op),
        )
        c = self.base.call
        call = Call(self.environment(), c.packs, c.dtype, self.bounds, c.kept, c.dropped)
        return Work(made, call, kernels, values, wanted, self.base.parts + self.added())

    def environment(self) -> Env:
        env: Env = {}
        for name in self.base.call.env:
            env[name] = self.base.call.env[name]
        own = self.point.call.env
        for part in self.point.parts:
            for w in part.words:
                env[self.prefix + part.prefix + w.name] = (
                    value_of(w, own) if part.prefix == "" else own[part.prefix + w.name]
                )
            for name in part.constants:
                env["constant_" + self.prefix + part.prefix + name] = (
                    entry_of(own, name) if part.prefix == "" else own["constant_" + part.prefix + name]
                )
        return env

    def added(self) -> list[Part]:
        return [Part(x.step, self.prefix + x.prefix, x.words, x.constants) for x in self.point.parts]


def with_routines(a: Op, b: Op) -> list[Function]:
    known = [f.name for f in a.routines]
    return a.routines + [f for f in b.routines if f.name not in known]


def code_of(kernel: Kernel) -> Code:
    return kernel.floating if kernel.floating is not None else Code([], [])


def same_elements(a: Bound, b: Bound) -> bool:
    """Whether two tensors are the same elements by the same axes."""
    if a.dtype != b.dtype or a.offset != b.offset or len(a.axes) != len(b.axes):
        return False
    for i in range(len(a.axes)):
        if a.axes[i].sizes != b.axes[i].sizes:
            return False
        for d in range(len(a.axes[i].sizes)):
            if a.axes[i].sizes[d] > 1 and a.axes[i].strides[d] != b.axes[i].strides[d]:
                return False
    return True


def bindings(kernel: Kernel, bounds: list[Bound]) -> int:
    """How many tensors a kernel binds."""
    out: list[int] = []
    for a in kernel.accesses:
        if a.slot not in out and (bounds[a.slot].given or bounds[a.slot].fresh):
            out.append(a.slot)
    return len(out)


def most_bindings(code: Code) -> int:
    """How many it may bind."""
    for e in formulas_of(code):
        for x in nodes_of(e):
            match x:
                case BoundsCheck():
                    return MOST_BINDINGS - TELLING
                case Apply(name=name) if name.endswith("_checked") or name == "allowed":
                    return MOST_BINDINGS - TELLING
                case _:
                    pass
    return MOST_BINDINGS


def apart(kernel: Kernel, values: list[int]) -> bool:
    """Whether what a kernel changes is nothing that it reads elsewhere, in another manner, or again later."""
    code = code_of(kernel)
    for i in range(len(kernel.steps)):
        if kernel.steps[i].target < 0:
            continue
        t = kernel.accesses[kernel.steps[i].target]
        for n in range(len(kernel.accesses)):
            a = kernel.accesses[n]
            if values[a.slot] != values[t.slot] or n == kernel.steps[i].target:
                continue
            if a.slot != t.slot or a.axes != t.axes or kernel.shape != "map":
                return False
            for later in range(i + 1, len(kernel.steps)):
                if n == kernel.steps[later].target or n in elements_of(code.steps[later].body):
                    return False
    return True


# --- A map after a kernel --------------------------------------------------------------------------


def appended(base: Work, point: Work, p: Pointwise, unread: list[int], number: int) -> Work | None:
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
    j = Joining(base, at, point, p, number)
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
            False,
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
    bodies = code.steps[:]
    results: list[Node] = []
    for n in range(len(p.steps)):
        own_step = point.kernels[0].steps[n]
        put = j.access(like, master, own_step.target, True)
        results.append(Result(len(steps)))
        bodies.append(StepCode(None, renamed(p.steps[n].body, elements, results, j.prefix)))
        name = f"acc{len(steps)}" if own_step.name != "" else ""
        if inner and name != "":
            return None
        steps.append(Step("store", name, "", own_step.value, inner, put, "="))
    if dropped >= 0 and kernel.steps[dropped].name != "":
        own_body = code.steps[dropped].body
        bodies = [StepCode(b.pred, without_result(b.body, dropped, own_body)) for b in bodies]
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


def inserted(base: Work, point: Work, p: Pointwise, number: int) -> Work | None:
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
            new = inserted_at(out, at, turn, point, p, number)
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
    known = any(x.prefix == f"j{number}_{point.parts[0].prefix}" for x in base.parts)
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


def beside(base: Work, q: Pointwise, point: Work, p: Pointwise, number: int) -> Work | None:
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
    j = Joining(base, 0, point, p, number)
    elements: dict[int, Node] = {}
    for n in p.used:
        elements[n] = Element(j.access(like, where, n, False))
    steps = kernel.steps[:]
    bodies = code.steps[:]
    results: list[Node] = []
    for n in range(len(p.steps)):
        own = point.kernels[0].steps[n]
        put = j.access(like, where, own.target, True)
        results.append(Result(len(steps)))
        bodies.append(StepCode(None, renamed(p.steps[n].body, elements, results, j.prefix)))
        steps.append(Step("store", f"acc{len(steps)}" if own.name != "" else "", "", own.value, False, put, "="))
    return j.done(Code(code.accesses + j.reads, bodies), steps, kernel.left, -1)
