"""All CPU kernels of an op: functions for each of them and class of T, and the table that finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dsl.opdef import OpDef

from ..kernels.kernel import Kernel
from . import interpreted
from .canonical import canonical, name_of
from .loops import LoopKernel
from .names import camel
from .raw import raw_function
from .text import Text, describe, open_kernel

PROGRAMS = ("", "Backward", "BackwardTwice")  # after an underscore, which no other name in a kernel has inside
WHOLE_CLASSES = ("Int", "Bits", "Bool")


@dataclass
class CpuKernels:
    """functions: JavaScript; table: for each kernel of each program the names of its functions, for a floating and a
    whole T.

    interpreted: by names of kernels what does instead of a function of that name; forms: of each function, in order,
    its canonical text; calls: those of the op's functions that each calls."""

    functions: list[str] = field(default_factory=list)
    table: list[list[tuple[str | None, str | None]]] = field(default_factory=list)
    interpreted: dict[str, str] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(f is not None and f not in self.interpreted for p in self.table for pair in p for f in set(pair))


def cpu_kernels(op: OpDef, programs: list[tuple[list[Kernel], dict | None]]) -> CpuKernels:
    """The kernels of an op's programs (forward, gradient, gradient of the gradient), each given as its kernels
    and its tensors."""
    out = CpuKernels()
    brought = [
        [interpreted.brought(op, n, tensors, p == 2) if may_be_float(op) else None for n in kernels]
        for p, (kernels, tensors) in enumerate(programs)
    ]
    spared = all(
        f is None or interpreted.small(n) for (kernels, _), row in zip(programs, brought) for n, f in zip(kernels, row)
    )
    for p, (kernels, tensors) in enumerate(programs):
        row = []
        for n, kernel in enumerate(kernels):
            name, integral = f"{camel(op.name)}_{PROGRAMS[p]}{n}", p == 0 and may_be_whole(op)
            if brought[p][n] is not None and not spared:
                out.interpreted[name] = interpreted.kernel(
                    brought[p][n], "contract" if kernel.shape == "contract" else "interpret"
                )
            elif may_be_float(op):
                floating(out, kernel, op, name, tensors)
            row.append(
                (name if may_be_float(op) else None, whole(out, kernel, op, name, tensors) if integral else None)
            )
        out.table.append(row)
    out.forms = {name_of(f): canonical(f, {}) for f in out.functions}
    out.calls = {
        name: [w for w in dict.fromkeys(re.findall(r"\w+", form)) if w in out.forms] for name, form in out.forms.items()
    }
    return out


def may_be_float(op: OpDef) -> bool:
    return op.promote == "float" or not any(
        p.kind == "tensor" and p.name in op.promoted and p.cls in WHOLE_CLASSES for p in op.params
    )


def may_be_whole(op: OpDef) -> bool:
    """Whether T may be a whole number or bool."""
    return op.promote != "float" and not any(
        p.kind == "tensor" and p.name in op.promoted and p.cls == "Float" for p in op.params
    )


def whole(out: CpuKernels, kernel: Kernel, op: OpDef, name: str, tensors) -> str:
    """Adds the function of a kernel for a whole T; answers its name, which is that for a floating T if both are the
    same."""
    if kernel.raw is not None:
        if not may_be_float(op):
            out.functions.append(raw_function(kernel, name))
        return name
    text = str(LoopKernel(kernel, op, f"{name}Whole", True, tensors).write())
    if text.replace(f"{name}Whole(", f"{name}(") in out.functions:
        return name
    out.functions.append(text)
    return f"{name}Whole"


def floating(out: CpuKernels, kernel: Kernel, op: OpDef, name: str, tensors):
    """Adds the function for a floating T, with the functions it stands on."""
    if kernel.raw is not None:
        out.functions.append(raw_function(kernel, name))
        return
    if kernel.shape == "contract" and interpreted.multiplies_elements(kernel):
        add(out, LoopKernel(kernel, op, f"{name}Plain", False, tensors))
        out.functions.append(blocked(kernel, name))
        return
    if spreads(kernel):
        add(out, LoopKernel(kernel, op, f"{name}Summed", False, tensors, spread=True))
        out.functions.append(str(LoopKernel(kernel, op, name, False, tensors, summed=f"{name}Summed").write()))
        return
    add(out, LoopKernel(kernel, op, name, False, tensors))


def blocked(kernel: Kernel, name: str) -> str:
    """The kernel of such a contraction; the loops of `{name}Plain` are for sizes too narrow to gain by blocks."""
    text = Text()
    open_kernel(text, name, describe(kernel))
    text.add(f"if (!multiplyElements(args)) {name}Plain(args);")
    text.close()
    return str(text)


def add(out: CpuKernels, kernel: LoopKernel):
    out.functions.append(str(kernel.write()))


def spreads(kernel: Kernel) -> bool:
    """Whether a map kernel may have to add along axes that its target lacks."""
    return kernel.shape == "map" and kernel.spread and len(kernel.steps) == 1
