"""A program in a call, as WebAssembly: for each kernel its structure, and the numbers that a call tells it.

See the package's docstring for how they are called.  Kernels of equal keys are the same bytes: sizes, strides and
options that are numbers are in its block of parameters; which strides are 0 or 1, how many lines there are, types and
options that are choices are structure."""

from __future__ import annotations

from ...data.dtypes import compute_class
from ...data.formulas import needed_accesses, settled_in
from ...data.model import Call, Code, Kernel, Op
from ...data.nodes import elements_of
from ...data.unsigned import check_unsigned
from ...planner.evenness import Evenness
from ...planner.lines import Resolved, active, collapsed, points, resolve, spread_out
from ...planner.plan import ordered, summed
from ...planner.residues import Part, guarded, parts_of, sparse, with_guard
from .kernel_plan import FEW_ROWS, Plan, WasmLaunch
from .margins import margins_of
from .parameters import LaunchWriter
from .rows import in_floats
from .sharing import sharing_of
from .small_windows import in_pairs, small_windows_of
from .straight import Straight, straightened
from .strategy import columns_of, goes_across, in_singles, kept_step, ones_of, split_line, tiles


def plan_wasm(op: Op, program: int, call: Call, wanted: list[int], types: list[str]) -> list[WasmLaunch | None]:
    """One launch for each kernel of the program, None for those that do not run.

    types: for each slot how its elements lie in memory; a temporary may be kept wider than its type."""
    out: list[WasmLaunch | None] = []
    for kernel in op.programs[program].kernels:
        running = active(op, op.programs[program], kernel, call, wanted)
        out.append(wasm_launch(op, program, kernel, call, types) if running else None)
    return out


def wasm_launch(op: Op, program: int, kernel: Kernel, call: Call, types: list[str]) -> WasmLaunch | None:
    code = kernel.floating if compute_class(call.dtype) == "f" else kernel.integral
    if code is None:
        why = f"not implemented for {call.dtype}"
        return WasmLaunch(kernel.number, why, None)
    check_unsigned(op.name, kernel, code, call.dtype)
    code = settled_in(code, call.dtype)
    if kernel.raw is not None:
        return LaunchWriter(body_plan(op, kernel, call, code, types), program).write()
    r = resolve(kernel, call)
    if kernel.spread and (kernel.shape == "map" or kernel.shape == "reduce" or kernel.shape == "contract"):
        r = spread_out(kernel, r)
        if kernel.shape == "map" and len(r.reduce) > 0:
            kernel = summed(kernel)
            code = kernel.floating if compute_class(call.dtype) == "f" else kernel.integral
            code = None if code is None else settled_in(code, call.dtype)
    if points(r.outer) == 0 or code is None:
        return None
    stored: list[str] = []
    for access in kernel.accesses:
        bound = call.slots[access.slot]
        stored.append(types[access.slot] if bound.given else "")
    if compute_class(call.dtype) == "f":
        found = in_parts(op, kernel, code, r, call, stored)
        if all(k.product is not None or k.singles or kernel.shape == "reduce" for k in found) and len(found) > 0:
            launches = [LaunchWriter(k, program).write() for k in found]
            launches[0].more = launches[1:]
            return launches[0]
    return LaunchWriter(planned(op, kernel, Part(kernel, code, r, ""), call, stored, -1), program).write()


def in_parts(op: Op, kernel: Kernel, code: Code, r: Resolved, call: Call, stored: list[str]) -> list[Plan]:
    """The plans of a kernel whose sums leave points out, part by part; none for others."""
    left_out = guarded(kernel, code)
    if left_out >= 0 and all(step.mode == "=" for step in kernel.steps):
        code = with_guard(code, left_out)
        parts = parts_of(kernel, code, r, call.env, code.accesses[left_out].guard)
    elif sparse(kernel, code):
        parts = parts_of(kernel, code, r, call.env, code.steps[0].pred)
    else:
        return []
    return [planned(op, kernel, part, call, stored, left_out) for part in parts]


def planned(op: Op, whole: Kernel, part: Part, call: Call, stored: list[str], left_out: int) -> Plan:
    """The plan of some of a kernel's points."""
    kernel = part.kernel
    even = straightened(kernel, part.code, part.lines, call.env, [type_ != "" for type_ in stored], part.said != "")
    r = even.lines
    code = even.code
    if kernel.shape == "map" or kernel.shape == "reduce" or kernel.shape == "contract":
        r.outer = ordered(whole, r.outer)
    outer = collapsed(r.outer)
    reduce = collapsed(r.reduce)
    used = [n for n in needed_accesses(kernel.steps, code.steps, code.accesses) if stored[n] != ""]
    ones = ones_of(kernel, call, even)
    k = Plan(op, kernel, call, code, outer, reduce, r, stored, used, even, ones)
    k.part = part.said
    product = tiles(k)
    if product is not None:
        k.product = product
        k.outer = product.batch + product.rows + product.columns
        k.singles = in_singles(k, 1)
        k.low = points(product.rows) <= 2 * FEW_ROWS
    else:
        k.singles = in_singles(k, 0)
    if left_out >= 0 and (k.singles or product is not None):
        k.guard = k.code.accesses[left_out].guard
    if product is not None and call.dtype == "float32" or k.singles:
        with_margins(k)
    if product is None:
        k.across = goes_across(k)
        k.kept = kept_step(k)
        k.columns = columns_of(k)
        if k.across and k.columns == 0:
            k.kept = -1
    lanes = 8 if product is not None else 4 if k.singles else 1
    k.sharing = sharing_of(
        kernel.shape, kernel.steps, kernel.accesses, k.code, k.used, k.outer, k.reduce, product, lanes
    )
    k.windows = small_windows_of(k)
    if k.windows is not None and product is not None:
        k.sharing = in_pairs(k.sharing, product, k.outer)
    if kernel.shape == "map":
        k.split = split_line(k)
    k.floats = product is None and k.split < 0 and in_floats(k)
    return k


def with_margins(k: Plan) -> None:
    around = len(k.outer) if k.product is None else len(k.product.batch)
    found = margins_of(k.even, k.code, k.outer, k.reduce, elements_of(k.code.steps[0].body), around)
    if found is not None and k.types[found.margins.access] == "float32":
        k.margins = found.margins
        k.code = found.code
        k.outer = found.outer
        k.reduce = found.reduce


def body_plan(op: Op, kernel: Kernel, call: Call, code: Code, types: list[str]) -> Plan:
    """What a body needs: no lines, and all of its tensors."""
    stored = [types[access.slot] for access in kernel.accesses]
    nowhere = Resolved([], [], [], [], [])
    all_ = list(range(len(stored)))
    evenness = Evenness(kernel, call.env, [])
    even = Straight(code, nowhere, evenness, [[] for _ in all_], [0 for _ in all_], ["" for _ in all_], [], "", [])
    return Plan(op, kernel, call, code, [], [], nowhere, stored, all_, even)
