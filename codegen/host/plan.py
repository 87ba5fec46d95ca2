"""A program in a call, as launches: which nests run, over which lines, with which numbers.

`plan_cpu` answers what the generated CPU kernels need.  `plan` answers kernels for WebGPU: their text,
the tensors they bind, the words of their uniform, the workgroups.  Both run the same nests over the same
lines; how a nest runs on the GPU is chosen in strategy.py and written by kernel.py."""

from __future__ import annotations

from .lines import Line, Resolved, active, collapsed, resolve, spread_out, without_ones
from .model import Call, CpuLaunch, Dims, Nest, Op


def plan_cpu(op: Op, program: int, call: Call, wanted: list[int]) -> list[CpuLaunch | None]:
    """One launch for each nest of the program, None for those that do not run.

    wanted: the slots whose values are asked for; parameters changed in place always are."""
    out: list[CpuLaunch | None] = []
    for nest in op.programs[program].nests:
        out.append(cpu_launch(op, nest, call) if active(op, op.programs[program], nest, call, wanted) else None)
    return out


def cpu_launch(op: Op, nest: Nest, call: Call) -> CpuLaunch:
    r = resolve(nest, call)
    named: list[int] = []
    for line in r.outer:
        if line.name != "": named.append(line.strides[len(line.strides) - 1])
    if nest.spread and nest.shape in ("map", "row", "contract"): r = spread_out(nest, r)
    count = len(nest.accesses) + (1 if op.random else 0)
    axes = r.steps + ([named] if op.random else [])
    return CpuLaunch(r.offsets, dims(r.outer, count), dims(r.reduce, count), axes, r.lengths)


def dims(lines: list[Line], count: int) -> Dims:
    """The anonymous lines as sizes and strides of the first `count` accesses."""
    own = [Line("", line.size, line.strides[:count]) for line in lines if line.name == ""]
    own = collapsed(own)
    return Dims([line.size for line in own], [[line.strides[n] for line in own] for n in range(count)])
