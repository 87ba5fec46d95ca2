"""What is computed of uint32: its numbers are the bits of int32, which serves whatever the sign does not change."""

from __future__ import annotations

from .errors import OpError
from .formulas import formulas_of
from .model import Code, Kernel, is_arg
from .nodes import Apply, Binary, Cast, Element, Local, Node, Uniform, children

# Functions of whole numbers whose lower 32 bits do not depend on what the uppermost bit means.
MODULAR = [
    "add_checked",
    "subtract_checked",
    "multiply_checked",
    "narrow_checked",
    "widened",
    "wide_product",
    "wide_sum",
    "wide_difference",
    "invert",
    "shift_left",
    "shift_left_checked",
]


def check_unsigned(name: str, kernel: Kernel, code: Code, dtype: str) -> None:
    """Refuses a kernel that would order, divide or convert numbers of uint32, as PyTorch does."""
    if dtype == "uint32" and (kernel.raw is not None or is_signed(kernel, code)):
        raise OpError(f"{name}: not implemented for 'uint32'")


def is_signed(kernel: Kernel, code: Code) -> bool:
    for step in kernel.steps:
        if step.value == "T" and (step.red in ["max", "min"] or step.mode == "max=" or step.mode == "min="):
            return True
    for n in range(len(kernel.steps)):
        body = code.steps[n].body
        if is_arg(kernel.steps[n]) and body is not None and of_numbers(kernel, body):
            return True
    for e in formulas_of(code):
        if e is not None and signs(kernel, e):
            return True
    return False


def signs(kernel: Kernel, e: Node) -> bool:
    match e:
        case Binary(operator="<" | "<=" | ">" | ">=") | Cast(kind="f"):
            found = True
        case Apply(name=name):
            found = name not in MODULAR
        case _:
            found = False
    parts = children(e)
    return found and any(of_numbers(kernel, p) for p in parts) or any(signs(kernel, p) for p in parts)


def of_numbers(kernel: Kernel, e: Node) -> bool:
    """Whether a formula is computed from numbers of T."""
    match e:
        case Element(access=n):
            return kernel.accesses[n].kind == "T"
        case Local():
            return True
        case Uniform(name=name):
            return any(w.name == name and w.kind == "T" for w in kernel.uniforms)
        case _:
            return any(of_numbers(kernel, p) for p in children(e))
