"""What one op becomes: the data that the package carries of it, and what its gradients are derived from.

`codegen/api/package.py` puts the package together, `codegen/api/project.py` the modules of other projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from dsl.ir.expression import RawResult
from dsl.opdef import Library, OpDef
from dsl.text.places import OPS

from ..data import model
from ..earlier import Earlier
from ..kernels.fused import kernels
from ..kernels.kernel import Kernel
from . import docs, loop_programs, modules, opdata, report
from .literal import Identifier
from .notation import Writer


@dataclass(frozen=True)
class Made:
    """What an op becomes.  data: the literal of what the runtime knows of it; derived: whether it carries no gradient
    program, but what derives it."""

    data: str
    derived: bool
    entry: report.Entry


def programs(op: OpDef) -> list[tuple[list[Kernel], dict]]:
    """The kernels and the tensors of each program of an op."""
    made = [op.forward] + [p for p in (op.gradient, op.gradient2) if p is not None]
    return [(kernels(p), {**op.tensors, **(p.tensors if p else {})}) for p in made]


def made_of(op: OpDef, earlier: Earlier) -> Made:
    """What an op becomes; with a schedule of its own it becomes something else."""
    make_it = lambda: make(op, packaged(op, data_of(op, earlier)))
    return earlier.get(make_it, "made", op.source, op.name, repr(op.schedules), str(op.name in TRAINED))


def data_of(op: OpDef, earlier: Earlier) -> model.Op:
    """What host code and kernels know of an op."""
    return earlier.get(lambda: opdata.op_data(op), "data", op.source, op.name, repr(op.schedules))


def make(op: OpDef, data: model.Op) -> Made:
    found = with_named_bodies(op, data)
    carried, loops, callees = carried_of(op, found)
    data = modules.data_text(carried, found, loops, callees)
    forward, *backward = (Counter(n.shape for n in ns) for ns, _ in programs(op))
    return Made(
        data,
        len(carried.programs) == 1 and loops != "",
        report.Entry(
            op.name,
            op.file,
            bool(op.aliases),
            bool(op.raw),
            report.gradient(op),
            forward,
            sum(backward, Counter()),
            len(data.encode()),
        ),
    )


def carried_of(op: OpDef, data: model.Op) -> tuple[model.Op, str, list[str]]:
    """An op's data less the programs that the package derives, and what these are derived from (`loops_of`), with how
    its data names that of others; "" where it carries all."""
    loops, callees = loops_of(op)
    if not loops:
        return data, "", []
    carried = without_derived(op, data)
    # Singular values have a long loop program, and short gradients; but who runs a body asks for its loop program.
    names, text = modules.callee_names(op, callees), modules.data_text
    if callees and op.name not in callees and len(text(data, data)) <= len(text(carried, data, loops, names)):
        return data, "", []
    return carried, loops, names


def loops_of(op: OpDef) -> tuple[str, list[str]]:
    """The loop program from which an op's gradients can be derived, and the ops whose bodies it runs."""
    if op.gradient is None:
        return "", []
    assert op.derivable is not None
    w = loop_programs.Writer(op.name, [*opdata.all_tensors(op, 1)])
    return w.derivable(op.derivable), w.callees


CARRIED = 200  # bytes of a gradient program that is carried; a longer one is derived when it is first needed
# But for those of a list: deriving one takes some ten milliseconds, once.
TRAINED = frozenset((OPS / "trained.names").read_text(encoding="utf-8").partition("\n\n")[2].split())


def gradient_size(data: model.Op) -> int:
    """Bytes of the first gradient program."""
    w, p = Writer(data), data.programs[1]
    return sum(map(len, (w.program(p), *map(w.kernel, p.kernels))))


def without_derived(op: OpDef, data: model.Op) -> model.Op:
    """The data without the programs that the package derives, and their slots."""
    count = 2 if op.name in TRAINED or gradient_size(data) <= CARRIED else 1
    there = opdata.all_tensors(op, count)
    return replace(data, programs=data.programs[:count], slots=data.slots[: len(there)])


def op_data(op: OpDef) -> model.Op:
    """The op as the package has it: under the name its users know, gradients for a floating T only."""
    return packaged(op, opdata.op_data(op))


def packaged(op: OpDef, data: model.Op) -> model.Op:
    """`op_data` of what `opdata.op_data` made."""
    floating = [replace(p, kernels=[replace(k, integral=None) for k in p.kernels]) for p in data.programs[1:]]
    return replace(data, name=docs.shown_name(op), programs=[*data.programs[:1], *floating])


def with_named_bodies(op: OpDef, data: model.Op, named: Callable[[str], Identifier] = modules.body_text) -> model.Op:
    """`data` with the names of bodies of steps, which stand in ops/data/bodies.ts, instead of their texts.  named: the
    name of the body that was written for an op."""
    for program, (made, _) in zip(data.programs, programs(op)):
        for kernel, source in zip(program.kernels, made):
            if source.raw is not None:
                kernel.raw = replace(kernel.raw, text=named(source.raw.body.op))
    return data


def bodies(library: Library) -> dict[str, tuple[model.Raw, list[model.UniformField]]]:
    """What all bodies of steps are to kernels, by the op that each was written for."""
    raws = [s.body.raw for op in library.ops.values() for s in op.forward.stmts if isinstance(s.body, RawResult)]
    return {raw.body.op: (opdata.body(raw), opdata.body_uniforms(raw)) for raw in raws}
