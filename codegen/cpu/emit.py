"""All CPU kernels of an op: functions for each nest and class of T, and the table that finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dsl.opdef import OpDef
from codegen.nests import Nest

from . import interpreted
from .canonical import canonical, name_of
from .contract import Contract
from .loops import LoopKernel
from .names import camel
from .raw import raw_function

PROGRAMS = ("", "Backward", "BackwardTwice")
WHOLE_CLASSES = ("Int", "Bits", "Bool")


@dataclass
class Kernels:
    """functions: JavaScript; table: for each nest of each program the names of its kernels, for a floating and a whole T.

    interpreted: of second derivatives what does instead of the kernel of a name, where no other op has the same kernel
    (shared.py); second: the functions of these kernels; forms: of each function, in order, its canonical text; calls: those
    of the op's functions that each calls."""
    functions: list[str] = field(default_factory=list)
    table: list[list[tuple[str | None, str | None]]] = field(default_factory=list)
    interpreted: dict[str, str] = field(default_factory=dict)
    second: list[str] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int: return sum(f is not None and f not in self.interpreted for p in self.table for pair in p for f in set(pair))


def kernels(op: OpDef, programs: list[tuple[list[Nest], dict | None]]) -> Kernels:
    """The kernels of an op's programs (forward, gradient, gradient of the gradient), each given as its nests
    and its tensors."""
    out = Kernels()
    for p, (nests, tensors) in enumerate(programs):
        row = []
        for n, nest in enumerate(nests):
            name = camel(op.name) + PROGRAMS[p] + str(n)
            if p == 2 and (functions := interpreted.brought(op, nest, tensors)) is not None:
                trial = Kernels()
                row.append(nest_kernels(trial, nest, op, name, tensors, integral=False))
                out.second += trial.functions
                out.interpreted[name] = interpreted.kernel(functions)
            else: row.append(nest_kernels(out, nest, op, name, tensors, integral=p == 0 and may_be_whole(op)))
        out.table.append(row)
    out.forms = {name_of(f): canonical(f, {}) for f in (*out.functions, *out.second)}
    out.calls = {name: [w for w in dict.fromkeys(re.findall(r"\w+", form)) if w in out.forms] for name, form in out.forms.items()}
    return out


def may_be_float(op: OpDef) -> bool:
    return not any(p.kind == "tensor" and p.name in op.promoted and p.cls in WHOLE_CLASSES for p in op.params)


def may_be_whole(op: OpDef) -> bool:
    """Whether T may be a whole number or bool."""
    return op.promote != "float" and not any(p.kind == "tensor" and p.name in op.promoted and p.cls == "Float" for p in op.params)


def nest_kernels(out: Kernels, nest: Nest, op: OpDef, name: str, tensors, integral: bool) -> tuple[str | None, str | None]:
    """Adds the functions of one nest; answers the names for a floating and for a whole T."""
    if nest.raw is not None:
        out.functions.append(raw_function(nest, name))
        return (name if may_be_float(op) else None), (name if integral else None)
    floating = None
    plain = ""
    if may_be_float(op):
        plain = floating = function(out, nest, op, name, tensors)
    if not integral: return floating, None
    whole = LoopKernel(nest, op, f"{name}Whole", True, tensors)
    text = str(whole.write())
    if plain and text.replace(f"{name}Whole(", f"{plain}(") in out.functions: return floating, plain
    out.functions.append(text)
    return floating, f"{name}Whole"


def function(out: Kernels, nest: Nest, op: OpDef, name: str, tensors) -> str:
    """The kernel for a floating T, with the functions it stands on."""
    if nest.shape == "contract" and (blocks := Contract(nest, op, name, tensors)).possible:
        functions = blocks.write_all(f"{name}Plain")
        add(out, LoopKernel(nest, op, f"{name}Plain", False, tensors))
        out.functions += functions
        return name
    if spreads(nest):
        add(out, LoopKernel(nest, op, f"{name}Summed", False, tensors, spread=True))
        out.functions.append(str(LoopKernel(nest, op, name, False, tensors, summed=f"{name}Summed").write()))
        return name
    add(out, LoopKernel(nest, op, name, False, tensors))
    return name


def add(out: Kernels, kernel: LoopKernel):
    out.functions.append(str(kernel.write()))


def spreads(nest: Nest) -> bool:
    """Whether a map nest may have to add along axes that its target lacks."""
    return nest.shape == "map" and nest.spread and len(nest.steps) == 1
