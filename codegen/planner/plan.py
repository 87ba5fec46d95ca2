"""A program in a call, as launches: which kernels run, over which lines, with which numbers.

`plan_cpu` answers what the CPU's interpreter needs.  `plan` answers kernels for WebGPU: their text,
the tensors they bind, the numbers of their uniform, the workgroups.  Both run the same kernels over the same
lines; how a kernel runs on the GPU is chosen in strategy.py and written by the module of its strategy."""

from __future__ import annotations

from ..data.dtypes import compute_class
from ..data.formulas import chosen_accesses
from ..data.model import Call, Code, CpuLaunch, Dims, Kernel, Launch, Op, Raw, Schedule, Step, StepCode
from ..data.nodes import Result
from .attention.attention_kernels import attention_of
from .attention.attention_launches import attention_launch, gradient_launches
from .contract_launches import contract_launches
from .launches import check_bindings, launch, title
from .lines import Line, Resolved, active, collapsed, points, resolve, spread_out
from .render import map_kernel, prelude_text, raw_kernel, scan_kernel
from .residues import Part, divided, guarded, parts_of, with_guard
from .row_launches import row_launches
from .strategies.map import THREADS, lanes_possible, map_text
from .strategies.raw import raw_kernel_of, raw_steps, raw_text, raw_uniforms
from .strategies.scan import block_possible, scan_text
from .strategy import chosen, threads_of, unit
from .writer import PLAIN_THREADS, Facts, KernelWriter, kernel_functions, new_kernel, uniform

LONG_CALLED = 12  # functions, each as often as it is called
WORTH_PARTS = 1 << 26  # products, some tens of microseconds of a large GPU, of which parts leave out most


def plan_cpu(op: Op, program: int, call: Call, wanted: list[int]) -> list[CpuLaunch | None]:
    """One launch for each kernel of the program, None for those that do not run.

    wanted: the slots whose values are asked for; parameters changed in place always are."""
    out: list[CpuLaunch | None] = []
    for kernel in op.programs[program].kernels:
        out.append(cpu_launch(op, kernel, call) if active(op, op.programs[program], kernel, call, wanted) else None)
    return out


def cpu_launch(op: Op, kernel: Kernel, call: Call) -> CpuLaunch:
    r = resolve(kernel, call)
    named: list[int] = []
    for line in r.outer:
        if line.name != "":
            named.append(line.strides[len(line.strides) - 1])
    if kernel.spread and kernel.shape in ("map", "reduce", "contract"):
        r = spread_out(kernel, r)
    count = len(kernel.accesses) + (1 if op.random else 0)
    axes = r.steps + ([named] if op.random else [])
    return CpuLaunch(r.offsets, dims(r.outer, count), dims(r.reduce, count), axes, r.lengths)


def dims(lines: list[Line], count: int) -> Dims:
    """The anonymous lines as sizes and strides of the first `count` accesses."""
    own = [Line("", line.size, line.strides[:count]) for line in lines if line.name == ""]
    own = collapsed(own)
    return Dims([line.size for line in own], [[line.strides[n] for line in own] for n in range(count)])


# --- WebGPU ----------------------------------------------------------------------------------------


def plan(op: Op, program: int, call: Call, wanted: list[int], facts: Facts, rules: list[Schedule]) -> list[Launch]:
    """The launches of a program, in order; none for what is empty.

    wanted: the slots whose values are asked for.  rules: schedules for shapes of kernels; [] runs everything
    plainly."""
    out: list[Launch] = []
    kernels = [k for k in op.programs[program].kernels if active(op, op.programs[program], k, call, wanted)]
    gradient = gradient_launches(op, kernels, call, facts, rules)
    if gradient is not None:
        for kernel in gradient.before:
            out.extend(kernel_launches(op, kernel, call, facts, rules))
        out.extend(gradient.launches)
        return out
    n = 0
    while n < len(kernels):
        together = attention_of(op, kernels, n) if len(rules) > 0 and call.dtype == "float32" else None
        made = None if together is None else attention_launch(op, together, call, facts, rules)
        if together is not None and made is not None:
            out.append(made)
            n += together.count
        else:
            out.extend(kernel_launches(op, kernels[n], call, facts, rules))
            n += 1
    return out


def kernel_launches(op: Op, kernel: Kernel, call: Call, facts: Facts, rules: list[Schedule]) -> list[Launch]:
    if kernel.raw is not None:
        return raw_launches(op, kernel, kernel.raw, call, facts)
    r = resolve(kernel, call)
    if kernel.spread and kernel.shape in ("map", "reduce", "contract"):
        r = spread_out(kernel, r)
        if kernel.shape == "map" and len(r.reduce) > 0:
            kernel = summed(kernel)
    if points(r.outer) == 0:
        return []
    parts = contract_parts(kernel, r, call) if len(rules) > 0 else []
    if len(parts) > 1:
        out: list[Launch] = []
        for part in parts:
            own = divided(part, call.env)
            out.extend(line_launches(op, own.kernel, own.lines, call, facts, rules))
        return out
    return line_launches(op, kernel, r, call, facts, rules)


def contract_parts(kernel: Kernel, r: Resolved, call: Call) -> list[Part]:
    """A contraction in parts whose points all read at the same steps of what is summed, where that leaves out so many
    products that it is worth a launch for each; [] for others."""
    code = kernel.floating
    if code is None or compute_class(call.dtype) != "f" or points(r.outer) * points(r.reduce) < WORTH_PARTS:
        return []
    left_out = guarded(kernel, code)
    if left_out < 0 or any(step.mode != "=" for step in kernel.steps):
        return []
    guarding = with_guard(code, left_out)
    return parts_of(kernel, guarding, r, call.env, guarding.accesses[left_out].guard)


def line_launches(op: Op, kernel: Kernel, r: Resolved, call: Call, facts: Facts, rules: list[Schedule]) -> list[Launch]:
    """The launches of a kernel over lines."""
    if kernel.shape == "map" or kernel.shape == "reduce":
        r.outer = ordered(kernel, r.outer)
    elif kernel.shape == "scatter":
        r.outer = neighbours_last(kernel, r.outer)
    lines = Resolved(collapsed(r.outer), collapsed(r.reduce), r.offsets, r.steps, r.lengths)
    k = new_kernel(op, kernel, call, facts, lines)
    check_bindings(k)
    if kernel.shape == "map" or kernel.shape == "scatter":
        return [map_launch(k, rules)]
    if kernel.shape == "scan":
        return [scan_launch(k, rules)]
    if kernel.shape == "contract":
        tiled = contract_launches(k, lines, rules)
        if len(tiled) > 0:
            return tiled
    return row_launches(k, lines, rules)


def summed(kernel: Kernel) -> Kernel:
    """A map with axes that its target lacks: a sum over them, then the store."""
    last = kernel.steps[len(kernel.steps) - 1]
    add = Step("reduce", "acc0", "sum", last.value, False, -1, "=")
    put = Step("store", "", "", last.value, False, last.target, last.mode)
    return Kernel(
        "reduce",
        kernel.when,
        kernel.loops,
        kernel.rloops,
        kernel.spread,
        kernel.accesses,
        [add, put],
        [],
        with_sum(kernel.floating),
        with_sum(kernel.integral),
        kernel.uniforms,
        kernel.constants,
        kernel.reverse,
        kernel.makes,
        kernel.number,
    )


def with_sum(code: Code | None) -> Code | None:
    if code is None:
        return None
    return Code(code.accesses, [code.steps[len(code.steps) - 1], StepCode(None, Result(0))])


def ordered(kernel: Kernel, lines: list[Line]) -> list[Line]:
    """Outer lines as the last store's elements lie in memory, so that neighbouring threads write neighbours."""
    target = kernel.steps[len(kernel.steps) - 1].target
    for axis in kernel.accesses[target].axes:
        if axis == "":
            return lines
    return sorted(lines, key=lambda line: -line.strides[target])


def neighbours_last(kernel: Kernel, lines: list[Line]) -> list[Line]:
    """Outer lines of a scatter, those along which its target's elements lie next to each other last: so neighbouring
    threads add to neighbours, and not over and over to the one place that an index names."""
    target = kernel.steps[len(kernel.steps) - 1].target
    last = [line for line in lines if line.strides[target] == 1]
    return [line for line in lines if line.strides[target] != 1] + last


def map_launch(k: KernelWriter, rules: list[Schedule]) -> Launch:
    facts = {"outer": float(points(k.outer)), "inner": 1.0, "vector": 1.0 if lanes_possible(k) else 0.0}
    rule = chosen(k.op, k.kernel, k.kernel.shape, rules, facts, k.call.env)
    lanes = 4 if rule is not None and lanes_possible(k) and not long_called(k) else 1
    count = points(k.outer) // lanes
    strategy = "map" if lanes == 1 else "map, four elements a thread"
    if k.kernel.shape == "scatter":
        strategy = "scatter, atomic"
    text = map_text(k, title(k, strategy), lanes)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    return launch(k, strategy, map_kernel(text), (count + THREADS - 1) // THREADS)


def long_called(k: KernelWriter) -> bool:
    """Whether formulas call so much that four copies of it, as drivers put it in their place, take seconds to
    compile."""
    if len(k.op.routines) == 0:
        return False
    inlined: dict[str, int] = {}  # functions in the place of a call
    for f in k.op.routines:  # each stands after those that it calls
        inlined[f.name] = 1 + sum([inlined.get(name, 1) for name in f.calls])
    return sum([inlined.get(name, 1) for name in kernel_functions(k.code)]) > LONG_CALLED


def scan_launch(k: KernelWriter, rules: list[Schedule]) -> Launch:
    facts = {
        "outer": float(points(k.outer)),
        "inner": float(points(k.reduce)),
        "unit": 1.0 if unit(k) else 0.0,
        "vector": 0.0,
    }
    rule = chosen(k.op, k.kernel, "scan", rules, facts, k.call.env)
    lanes = threads_of(rule, k.facts) if rule is not None and block_possible(k) else 1
    strategy = "scan, a thread for each row" if lanes == 1 else f"scan, {lanes} runs of each row"
    text = scan_text(k, title(k, strategy), lanes)
    text.helpers = prelude_text(k.helpers, k.op.routines)
    groups = points(k.outer) if lanes > 1 else (points(k.outer) + PLAIN_THREADS - 1) // PLAIN_THREADS
    return launch(k, strategy, scan_kernel(text), groups)


def raw_launches(op: Op, kernel: Kernel, raw: Raw, call: Call, facts: Facts) -> list[Launch]:
    """The functions of a body in their order; none over nothing."""
    env = raw_uniforms(kernel, call.env)
    out: list[Launch] = []
    for x in raw.launches:
        for step in range(raw_steps(x, env)):
            k = raw_kernel_of(op, kernel, call, facts)
            for y in raw.launches:
                if y.step != "":
                    uniform(k, y.step, "i", step if y.step == x.step else 0)
            if x.step != "":
                env[x.step] = step
            count = int(x.over(env))
            if count <= 0:
                continue
            strategy = f"body, {x.name}"
            text = raw_text(k, x, raw, title(k, strategy), count)
            text.helpers = prelude_text(k.helpers, k.op.routines)
            check_bindings(k)
            out.append(
                launch(
                    k, strategy, raw_kernel(text), count if x.lanes > 0 else (count + text.threads - 1) // text.threads
                )
            )
    return out


def zeroed(op: Op, program: int, call: Call, wanted: list[int]) -> list[int]:
    """The slots that must hold zeros before a program runs: those first added to, but what is changed in place; those
    asked for that no kernel writes; and temporaries that a kernel reads and none before it writes.  Such are sums of
    gradients all of whose parts depend on an option, where that is off."""
    out: list[int] = []
    seen: list[int] = []
    for kernel in op.programs[program].kernels:
        if not active(op, op.programs[program], kernel, call, wanted):
            continue
        code = kernel.floating if compute_class(call.dtype) == "f" else kernel.integral
        if code is not None and kernel.raw is None:
            own = [kernel.accesses[step.target].slot for step in kernel.steps if step.target >= 0]
            for n in chosen_accesses(code.steps, call.env):
                slot = kernel.accesses[n].slot
                if op.slots[slot].role == "temp" and slot not in seen and slot not in own and slot not in out:
                    out.append(slot)
        for step in kernel.steps:
            if step.target < 0:
                continue
            slot = kernel.accesses[step.target].slot
            if slot in seen:
                continue
            seen.append(slot)
            if step.mode == "+=" and op.slots[slot].role != "input":
                out.append(slot)
    for slot in wanted:
        if slot not in seen and op.slots[slot].role != "input":
            out.append(slot)
    return out
