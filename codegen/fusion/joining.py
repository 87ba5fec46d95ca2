"""A kernel that a map is being put into: the accesses, steps and uniforms that it gets, and when that does not do."""

from __future__ import annotations

from ..data.formulas import formulas_of
from ..data.functions import may_report
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
    UniformField,
)
from ..data.nodes import Apply, BoundsCheck, Node, Result, elements_of, nodes_of
from ..planner.writer import MOST_BINDINGS
from .pointwise import Along, Pointwise, axes_of, start_of
from .substitute import renamed, short, trimmed, without_zeros
from .work import Part, Work, entry_of, value_of

REPORTING = 2  # bindings that are left to a kernel which tells what is wrong, and may share memory


class Joining:
    """A kernel that a map is being put into: what of the base it changes.  number: the map's among the parts, by which
    its uniforms are named, so that the same maps put into the same kernels anywhere in a program are one text."""

    def __init__(self, base: Work, at: int, point: Work, p: Pointwise, number: int):
        self.base = base
        self.at = at
        self.point = point
        self.p = p
        self.prefix = f"j{number}_"
        self.kernel = base.kernels[at]
        self.shape = self.kernel.shape
        self.accesses = self.kernel.accesses[:]
        self.reads: list[ReadCode] = []
        self.targets: list[int] = []
        self.slots: list[Slot] = base.op.slots[:]
        self.bounds: list[Bound] = base.call.slots[:]
        self.values = base.values[:]
        while len(self.bounds) < len(self.slots):  # of gradients that were never bound
            self.bounds.append(Bound("float32", [], [], 0, [], False))

    def access(self, like: int, at: Along, n: int, written: bool) -> int:
        """An access to what access n of the map is to, at the elements that access `like` of the kernel walks over."""
        own = self.point.kernels[0].accesses[n]
        there = self.bounds[self.accesses[like].slot]
        bound = self.point.call.slots[own.slot]
        mine = Bound(
            bound.dtype,
            bound.shape,
            bound.strides,
            start_of(at, self.p, n),
            axes_of(at, there.axes, self.p, n),
            True,
        )
        code = code_of(self.kernel)
        axes = self.accesses[like].axes[:]
        read = ReadCode([None for _ in axes], None, None)
        if not written:
            read = ReadCode(code.accesses[like].index, code.accesses[like].guard, None)
        return self.take(n, mine, axes, read, written)

    def take(self, n: int, mine: Bound, axes: list[str], read: ReadCode, written: bool) -> int:
        """An access to what access n of the map is to, at elements by axes of the kernel."""
        own = self.point.kernels[0].accesses[n]
        value = self.point.values[own.slot]
        slot = -1
        for i in range(len(self.values)):
            if self.values[i] == value and same_elements(self.bounds[i], mine):
                slot = i
        if slot < 0:
            slot = len(self.slots)
            self.slots.append(Slot(f"x{slot}_", "output" if written else "input", mine.dtype, [], -1, False))
            self.bounds.append(mine)
            self.values.append(value)
        # What is stored has an access of its own, as strategies name values by their accesses.
        kind = "f" if own.kind == "T" else own.kind
        for i in range(len(self.kernel.accesses), len(self.accesses)):
            known = self.accesses[i]
            same = known.slot == slot and known.axes == axes and known.kind == kind
            if not written and i not in self.targets and same:
                return i
        if written:
            self.targets.append(len(self.accesses))
        self.accesses.append(Access(slot, axes, kind))
        self.reads.append(read)
        return len(self.accesses) - 1

    def store(
        self,
        like: int,
        at: Along,
        elements: dict[int, Node],
        inner: bool,
        steps: list[Step],
        bodies: list[StepCode],
    ) -> None:
        """Adds what the map stores to the steps of the kernel.  elements: what stands for its accesses."""
        results: list[Node] = []
        for n in range(len(self.p.steps)):
            own = self.point.kernels[0].steps[n]
            put = self.access(like, at, own.target, True)
            results.append(Result(len(steps)))
            bodies.append(StepCode(None, renamed(self.p.steps[n].body, elements, results, self.prefix)))
            name = f"acc{len(steps)}" if own.name != "" else ""
            steps.append(Step("store", name, "", own.value, inner, put, "="))

    def done(self, code: Code, steps: list[Step], left: list[int], drop: int) -> Work | None:
        """The base with the kernel as it is now; None where that does not do."""
        k = self.kernel
        if self.shape != "contract":  # whose products stay such
            code = Code(code.accesses, [StepCode(s.pred, without_zeros(s.body)) for s in code.steps])
        uniforms = k.uniforms[:]
        known = [w.name for w in uniforms]
        for w in self.point.kernels[0].uniforms:
            name = w.name if w.name == "inf" or w.name == "nan" else self.prefix + w.name
            if name not in known:
                uniforms.append(UniformField(name, w.kind, None))
        whole = Kernel(
            self.shape,
            k.when,
            k.loops,
            k.rloops,
            k.spread,
            self.accesses,
            steps,
            left,
            code,
            None,
            uniforms,
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
            for w in part.uniforms:
                env[self.prefix + part.prefix + w.name] = (
                    value_of(w, own) if part.prefix == "" else own[part.prefix + w.name]
                )
            for name in part.constants:
                env["constant_" + self.prefix + part.prefix + name] = (
                    entry_of(own, name) if part.prefix == "" else own["constant_" + part.prefix + name]
                )
        return env

    def added(self) -> list[Part]:
        return [Part(x.step, self.prefix + x.prefix, x.uniforms, x.constants) for x in self.point.parts]


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
        if a.slot not in out and bounds[a.slot].given:
            out.append(a.slot)
    return len(out)


def most_bindings(code: Code) -> int:
    """How many it may bind."""
    return MOST_BINDINGS - REPORTING if tells(code) else MOST_BINDINGS


def tells(code: Code) -> bool:
    """Whether a kernel finds out what is wrong with elements."""
    for e in formulas_of(code):
        for x in nodes_of(e):
            match x:
                case BoundsCheck():
                    return True
                case Apply(name=name) if may_report(name):
                    return True
                case _:
                    pass
    return False


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
