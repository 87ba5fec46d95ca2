"""The kernel of a launch, as a module."""

from __future__ import annotations

from dataclasses import dataclass

from .bodies import write_body
from .encoder import Function, module_bytes
from .planning.kernel_plan import WasmLaunch
from .printer import Printer
from .routines import bring
from .steps import Steps
from .text import function_text
from .tiles.contraction import Contraction
from .tiles.winograd import Winograd


@dataclass
class WasmKernel:
    """A kernel's own functions, and the names of those that it is given: of doubles, one answered.  tells: whether it
    may tell of a fault."""

    functions: list[Function]
    given: list[Function]
    tells: bool


def wasm_kernel(launch: WasmLaunch, relaxed: bool) -> WasmKernel:
    """The kernel of a launch that has one.  relaxed: whether the engine has relaxed SIMD."""
    k = launch.plan
    if k is None:
        raise ValueError(launch.why)
    printer = Printer(k)
    printer.w.fuses = relaxed and k.call.dtype != "float64"
    bring(printer)
    if k.kernel.raw is not None:
        write_body(printer)
        return WasmKernel(printer.functions.own, printer.functions.given, printer.w.faults)
    steps = Steps(printer)
    if k.product is not None:
        contraction = Contraction(printer, steps, k.product, relaxed)
        if k.windows is not None:
            winograd = Winograd(contraction, k.windows)
            contraction.inner = lambda scratch: winograd.write(scratch)
        contraction.write()
    else:
        steps.write()
    return WasmKernel(printer.functions.own, printer.functions.given, printer.w.faults)


def kernel_bytes(kernel: WasmKernel, shared: bool) -> list[int]:
    """shared: whether the memory is one that workers share."""
    return module_bytes(kernel.functions, kernel.given, shared)


def kernel_text(kernel: WasmKernel) -> str:
    return "\n\n".join([function_text(f) for f in kernel.functions])
