"""What a step of a captured program launches: the kernels of an op in a call, and the values that its slots hold."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.model import (
    Access,
    Axis,
    Bound,
    Call,
    Code,
    Env,
    Kernel,
    Loop,
    Op,
    ReadCode,
    Slot,
    Step,
    StepCode,
    UniformField,
)
from ..data.model import Program as OpProgram
from ..data.nodes import Constant, Element, Node, Unary, Uniform
from ..planner.lines import active
from ..planner.writer import infinite
from .settle import is_absent, settled_kernel


@dataclass
class Part:
    """A step that became part of another.  prefix: before the names of its uniforms.  uniforms: its own; constants: its
    options that are in the text."""

    step: int
    prefix: str
    uniforms: list[UniformField]
    constants: list[str]


@dataclass
class Work:
    """values: of each slot of the op, -1 for none.  wanted: the slots that its kernels write for others.  parts: the
    base's first."""

    op: Op
    call: Call
    kernels: list[Kernel]
    values: list[int]
    wanted: list[int]
    parts: list[Part]


@dataclass
class Item:
    """A step, or several as one.  step: the number of that in whose place it runs; work: None for what is left as it
    is.  reads, writes: values."""

    step: int
    work: Work | None
    reads: list[int]
    writes: list[int]


def work_of(step: int, op: Op, program: int, call: Call, wanted: list[int], values: list[int]) -> Work | None:
    """What a launch of a program of an op is; None where nothing can be joined with it."""
    if call.dtype != "float32":
        return None
    kernels: list[Kernel] = []
    stored: list[int] = []
    for kernel in op.programs[program].kernels:
        if not active(op, op.programs[program], kernel, call, wanted):
            continue
        if kernel.raw is not None or kernel.floating is None:
            return None
        kernels.append(settled_kernel(op, call, kernel, kernel.floating))
        for s in kernel.steps:
            if s.target >= 0:
                stored.append(kernel.accesses[s.target].slot)
    if len(kernels) == 0 or any(slot not in stored for slot in wanted):
        return None
    used: list[int] = []
    for kernel in kernels:
        used.extend([access.slot for access in kernel.accesses])
    held = [values[n] if n < len(values) and n in used else -1 for n in range(len(op.slots))]
    return Work(op, call, kernels, held, wanted, [part_of(step, kernels)])


def part_of(step: int, kernels: list[Kernel]) -> Part:
    """What kernels are called with.  Several may give a name to different numbers."""
    uniforms: list[UniformField] = []
    constants: list[str] = []
    for kernel in kernels:
        uniforms.extend([w for w in kernel.uniforms if w.name != "inf" and w.name != "nan"])
        constants.extend(kernel.constants)
    return Part(step, "", uniforms, constants)


def filled(step: int, value: int, length: int, number: float) -> Work:
    """A fill, as a map."""
    target = Bound("float32", [length], [1], 0, [Axis([length], [1])], True)
    body: Node = Constant("f", number)
    uniforms: list[UniformField] = []
    if number - number != 0:  # what no text of a kernel can say
        name = "inf" if number == number else "nan"
        body = Unary("-", Uniform(name)) if number < 0 else Uniform(name)
        uniforms = [UniformField(name, "f", None)]
    return mapped_onto(step, "fill", [target], [value], body, uniforms)


def copied(
    step: int, shape: list[int], values: list[int], target: list[int], at: int, source: list[int], start: int
) -> Work:
    """A copy, as a map.  values: what is copied, and what it is copied to; target, source: their strides; at, start:
    where they begin."""
    read = Bound("float32", shape, source, start, [Axis(shape, source)], True)
    written = Bound("float32", shape, target, at, [Axis(shape, target)], True)
    return mapped_onto(step, "copy", [read, written], values, Element(0), [])


def mapped_onto(
    step: int, name: str, slots: list[Bound], values: list[int], body: Node, uniforms: list[UniformField]
) -> Work:
    last = len(slots) - 1
    store = Step("store", "", "", "f", False, last, "=")
    accesses = [Access(n, ["i"], "f") for n in range(len(slots))]
    code = Code([ReadCode([None], None, None) for _ in slots], [StepCode(None, body)])
    loop = Loop("i", None, "i", False)
    kernel = Kernel("map", None, [loop], [], False, accesses, [store], [], code, None, uniforms, [], False, [], 0)
    own = [Slot(f"x{n}", "output" if n == last else "input", "float32", [], -1, False) for n in range(len(slots))]
    call = Call({}, {"i": slots[last].axes[0].sizes}, "float32", slots, [], [])
    op = Op(name, [], own, "none", [], [], [], [last], [], "", "", False, [], [])
    return Work(op, call, [kernel], values, [last], [Part(step, "", [], [])])


def apart(work: Work) -> list[Work]:
    """The kernels of a step, each by itself; the whole step where they share more than values."""
    if len(work.kernels) == 1:
        return [work]
    out: list[Work] = []
    for kernel in work.kernels:
        stored: list[int] = []
        for access in kernel.accesses:
            if work.values[access.slot] < 0 and not is_absent(work.call, access.slot):
                return [work]
        for s in kernel.steps:
            if s.mode != "=":
                return [work]
            if s.target >= 0:
                stored.append(kernel.accesses[s.target].slot)
        used = [access.slot for access in kernel.accesses]
        values = [work.values[n] if n in used else -1 for n in range(len(work.values))]
        out.append(Work(work.op, work.call, [kernel], values, stored, [part_of(work.parts[0].step, [kernel])]))
    return out


# --- What is read and written ----------------------------------------------------------------------


def reads_of(work: Work, kernel: Kernel) -> list[int]:
    """The values that a kernel reads, each once."""
    targets = [s.target for s in kernel.steps]
    added = [s.target for s in kernel.steps if s.mode != "="]
    out: list[int] = []
    for n in range(len(kernel.accesses)):
        value = work.values[kernel.accesses[n].slot]
        if value >= 0 and value not in out and (n not in targets or n in added):
            out.append(value)
    return out


def writes_of(work: Work, kernel: Kernel) -> list[int]:
    out: list[int] = []
    for s in kernel.steps:
        if s.target < 0:
            continue
        value = work.values[kernel.accesses[s.target].slot]
        if value >= 0 and value not in out:
            out.append(value)
    return out


def item_of(step: int, work: Work) -> Item:
    out = Item(step, work, [], [])
    for kernel in work.kernels:
        out.reads.extend([v for v in reads_of(work, kernel) if v not in out.reads])
        out.writes.extend([v for v in writes_of(work, kernel) if v not in out.writes])
    return out


# --- As an op --------------------------------------------------------------------------------------


def as_op(work: Work) -> Op:
    """The op whose first program is a joined step."""
    op = work.op
    kernels: list[Kernel] = []
    for n in range(len(work.kernels)):
        k = work.kernels[n]
        kernels.append(
            Kernel(
                k.shape,
                k.when,
                k.loops,
                k.rloops,
                k.spread,
                k.accesses,
                k.steps,
                k.left,
                k.floating,
                None,
                k.uniforms,
                k.constants,
                k.reverse,
                work.wanted,
                n,
            )
        )
    # What another kernel of the same op has made is given to this one.
    slots: list[Slot] = []
    for n in range(len(op.slots)):
        s = op.slots[n]
        role = "input"
        if work.values[n] < 0 or n in work.wanted:
            role = "output" if s.role == "temp" and n in work.wanted else s.role
        slots.append(Slot(s.name, role, s.dtype, s.dims, s.like, s.mut))
    inputs = [n for n in range(len(work.values)) if work.values[n] >= 0 and n not in work.wanted]
    program = OpProgram(inputs, work.wanted, [], kernels)
    return Op(
        op.name,
        op.params,
        slots,
        op.promote,
        op.promoted,
        op.sizes,
        op.requires,
        work.wanted,
        [],
        op.drop,
        op.keepdim,
        op.random,
        [program],
        op.schedules,
        routines=op.routines,
    )


def rebound(work: Work, calls: list[Call]) -> Call | None:
    """The call of a joined step where its parts are called with other numbers; None where that changes more than
    uniforms.  calls: of each part."""
    env: Env = {}
    for name in work.call.env:
        env[name] = work.call.env[name]
    for n in range(len(work.parts)):
        part = work.parts[n]
        if n == 0:
            for name in calls[0].env:
                env[name] = calls[0].env[name]
            continue
        for name in part.constants:
            if env["constant_" + part.prefix + name] != entry_of(calls[n].env, name):
                return None
        for w in part.uniforms:
            env[part.prefix + w.name] = value_of(w, calls[n].env)
    c = work.call
    return Call(env, c.packs, c.dtype, c.slots, c.kept, c.dropped)


def value_of(w: UniformField, env: Env) -> float:
    return w.value(env) if w.value is not None else env[w.name] if w.name in env else infinite(w.name)


def entry_of(env: Env, name: str) -> float:
    return env[name] if name in env else 0
