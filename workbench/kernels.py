"""The texts of the kernels of a bound call.  Needs neither numpy nor a device: the website's compiler has none."""

from __future__ import annotations

from codegen.data.model import Call, Launch, Op, Schedule
from codegen.planner.plan import plan
from codegen.planner.writer import Facts
from codegen.wasm.module import kernel_text, wasm_kernel
from codegen.wasm.planning.plan import plan_wasm
from dsl.opdef import OpDef

TYPICAL = Facts(True, True, 1 << 27, 8, 256, 16384, False)  # of a device that texts are written for where there is none


def wanted(op: OpDef, data: Op, gradient: bool) -> list[int]:
    """The slots that a call answers, or a call of its gradient."""
    names = op.outputs if not gradient else list(op.gradient.outputs) if op.gradient is not None else []
    return [i for i, s in enumerate(data.slots) if s.name in names]


def launches(
    data: Op, program: int, call: Call, slots: list[int], schedules: list[Schedule], facts: Facts = TYPICAL
) -> list[Launch]:
    """The dispatches of a program (0: forward, 1: gradient) on a GPU."""
    return plan(data, program, call, slots, facts, schedules)


def wasm(data: Op, program: int, call: Call, slots: list[int]) -> list[str]:
    """The kernels of a program for the package's CPU, as text, in order; of a body there is none."""
    found = plan_wasm(data, program, call, slots, [b.dtype for b in call.slots])
    return [kernel_text(wasm_kernel(x, False)) for x in found if x is not None and not x.why]
