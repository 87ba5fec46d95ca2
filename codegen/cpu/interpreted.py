"""Kernels that get no function on the CPU: runtime/devices/cpu/interpreter.ts runs them from the op's data.

It computes up to a thousand points at once, in loops that are shared by all formulas, which mostly takes at most twice
as long as a function of the kernel's own, and makes bundles a fifth smaller; contractions are made in blocks
(runtime/devices/cpu/contraction.ts). Kernels are generated only for raw bodies, formulas so short that the same few
kernels serve many ops, whole numbers, and indices from tensors, which are checked.  An op of short formulas alone does
without the interpreter altogether, second derivative and all.  The interpreter computes the formulas that the GPU's
kernels are made of; here is decided whether it can, and which functions the op has to bring for it."""

from __future__ import annotations

from typing import get_args

from dsl.ir.expression import Element, Result, is_binary, is_loop, walk
from dsl.opdef import OpDef

from ..api.opdata import context
from ..data.interpreted import Interpreted
from ..data.model import formulas_of
from ..data.nodes import Binary, Unary, nodes_of
from ..kernels.formulas import code
from ..kernels.hoist import hoisted
from ..kernels.kernel import Kernel, named_loops
from ..planner.writer import kernel_functions
from .access import reads_of
from .expr import PREFIX, name_of

OWN = frozenset(get_args(Interpreted))
BITS = ("&", "|", "^", "~")
# The longest formulas that get a kernel nevertheless: `g if a > 0 else 0` at every point, `s = sum (a * b + c * d); s`
# over a row.
SMALL_POINT, SMALL_ROW = 6, 8
# Functions that only few formulas use, by their names in WGSL.
BROUGHT = {
    "erf_of": "math.erf",
    "erfc_of": "math.erfc",
    "erfinv_of": "math.erfinv",
    "lgamma_of": "math.lgamma",
    "digamma_of": "math.digamma",
    "uniform_random": "uniform",
    "tan_of": "Math.tan",
    "asin_of": "Math.asin",
    "acos_of": "Math.acos",
    "atan_of": "Math.atan",
}


def brought(op: OpDef, kernel: Kernel, tensors, second: bool) -> dict[str, str] | None:
    """The functions that the interpreter needs for a kernel, as JavaScript by their names in WGSL; None if it cannot
    run it, or not as fast as a kernel.  second: whether it belongs to a second derivative."""
    if (
        kernel.raw is not None
        or not second
        and small(kernel)
        or kernel.shape == "contract"
        and multiplies_elements(kernel)
    ):
        return None
    if not second and any(a.guard is None and reads_of(*a.index) for a in kernel.accesses):
        return None  # which are checked, point by point
    if any(l.extent is None for l in kernel.loops + kernel.rloops if l.name in named_loops(kernel)):
        return None
    made = code(context(op), hoisted(context(op), kernel)[0], tensors, integral=False)
    if any(isinstance(n, (Unary, Binary)) and n.operator in BITS for e in formulas_of(made) for n in nodes_of(e)):
        return None
    found: dict[str, str] = {}
    for name in sorted(set(kernel_functions(made)) - OWN):
        if name.endswith("_routine"):
            found[name] = PREFIX + name_of(name.removesuffix("_routine"), whole=False)
        elif name in BROUGHT:
            found[name] = BROUGHT[name]
        else:
            return None
    return found


def small(kernel: Kernel) -> bool:
    """Whether a kernel is a sum or a product: such are many ops' own, and simple ops do without the
    interpreter."""
    if any(a.guard is not None for a in kernel.accesses):
        return False
    lengths = [sum(1 for _ in walk(s.body)) for s in kernel.steps]
    return kernel.shape == "map" and max(lengths) <= SMALL_POINT or kernel.shape == "row" and sum(lengths) <= SMALL_ROW


def multiplies_elements(kernel: Kernel) -> bool:
    """Whether a contraction multiplies two accesses as they lie, and stores the sums: runtime/devices/cpu/product.ts
    needs no formula for it."""
    total, *stores = kernel.steps
    plain = lambda e: isinstance(e, (Element, Result))
    return (
        not named_loops(kernel)
        and total.pred is None
        and is_binary(total.body, "*")
        and all(map(plain, total.body.parts()))
        and len(stores) == 1
        and stores[0].pred is None
        and stores[0].body is Result(total.result)
        and stores[0].mode in ("=", "+=")
        and all(a.guard is None and all(map(is_loop, a.index)) for a in kernel.accesses)
    )


def kernel(functions: dict[str, str], name: str = "interpret") -> str:
    """The expression that stands for the kernel.  name: what runs it, `interpret` or `contract`."""
    if not functions:
        return name
    return f"/* @__PURE__ */ {name}ed({{ " + ", ".join(f"{n}: {f}" for n, f in functions.items()) + " })"
