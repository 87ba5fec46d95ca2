"""What an op brings for the CPU beside its formulas: the routines that these call, and functions of raw bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..data import model
from ..data.nodes import Apply, nodes_of
from ..kernels.kernel import Kernel
from .expr import PREFIX, name_of
from .names import camel
from .raw import raw_function

ROUTINE, WHOLE = "_routine", "_routine_whole"  # how their names end in WGSL


@dataclass
class Brought:
    """functions: JavaScript by names in WGSL; raw: for each program, for each kernel, the name of its body's function,
    None for others."""

    functions: dict[str, str] = field(default_factory=dict)
    raw: list[list[str | None]] = field(default_factory=list)

    def text(self) -> str:
        """As a literal; "" where there is nothing."""
        parts = []
        if self.functions:
            parts.append("functions: { " + ", ".join(f"{n}: {f}" for n, f in self.functions.items()) + " }")
        if self.raw:
            rows = (f"[{', '.join(f'bodies.{n}' if n else 'null' for n in row)}]" for row in self.raw)
            parts.append(f"raw: [{', '.join(rows)}]")
        return f"{{ {', '.join(parts)} }}" if parts else ""


def brought(op: model.Op, programs: list[list[Kernel]], bodies: dict[str, str]) -> Brought:
    """bodies: the functions of raw bodies by their names, to which those of this op are added."""
    raw = [[named(k, bodies) if k.raw is not None else None for k in kernels] for kernels in programs]
    return Brought(functions(op), raw if any(any(row) for row in raw) else [])


def functions(op: model.Op) -> dict[str, str]:
    codes = [c for p in op.programs for k in p.kernels for c in (k.floating, k.integral) if c is not None]
    called = {n.name for c in codes for e in model.formulas_of(c) for n in nodes_of(e) if isinstance(n, Apply)}
    found = {}
    for name in sorted(called):
        if name.endswith(WHOLE):
            found[name] = PREFIX + name_of(name.removesuffix(WHOLE), whole=True)
        elif name.endswith(ROUTINE):
            found[name] = PREFIX + name_of(name.removesuffix(ROUTINE), whole=False)
    return found


def named(kernel: Kernel, bodies: dict[str, str]) -> str:
    """The name of the function of a kernel's body: the same text has one name."""
    name, n = camel(kernel.raw.body.op), 1
    while bodies.setdefault(name, text := raw_function(kernel, name)) != text:
        n += 1
        name = f"{camel(kernel.raw.body.op)}{n}"
    return name
